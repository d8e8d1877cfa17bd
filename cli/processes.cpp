#include "cli/processes.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "cli/command.hpp"
#include "cli/session.hpp"

namespace espalier::cli {

namespace {

class Alone final : public Processes {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<std::vector<std::string>> gather(const std::vector<std::string>& mine) override {
    return {mine};
  }
  int first_failed(bool failed) override { return failed ? 0 : -1; }
};

/// Whether Open MPI, MPICH or a relative of them says that there are others.
bool under_mpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && std::atoi(value) > 1) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<Processes> processes() {
  if (!under_mpirun()) return std::make_unique<Alone>();
  // Found beside the libraries that the program is linked to. MPI's own plugins want its symbols.
  void* library = dlopen("libespalier_mpi.so." ESPALIER_SOVERSION, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    throw Failure(unusable, "Unsupported",
                  std::string("several processes are wanted, but MPI is missing (") + dlerror() +
                      "), expected Espalier built with it (Debian: apt-get install "
                      "libboost-mpi-dev openmpi-bin, and configure again)");
  }
  using Make = Processes* (*)();
  const auto make = reinterpret_cast<Make>(dlsym(library, "espalier_make_processes"));
  return std::unique_ptr<Processes>(make());
}

}  // namespace espalier::cli
