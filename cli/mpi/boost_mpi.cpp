// Loaded by the command line when mpirun started it, so that nobody else pays for MPI.
#include <boost/mpi.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>

#include "cli/processes.hpp"

namespace espalier::cli {

namespace {

class MpiProcesses final : public Processes {
 public:
  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }
  std::vector<std::vector<std::string>> gather(const std::vector<std::string>& mine) override {
    std::vector<std::vector<std::string>> all;
    boost::mpi::gather(world_, mine, all, 0);
    return all;
  }
  int first_failed(bool failed) override {
    const int none = world_.size();
    const int first =
        boost::mpi::all_reduce(world_, failed ? world_.rank() : none, boost::mpi::minimum<int>());
    return first == none ? -1 : first;
  }

 private:
  // Threads compute, this one alone sends.
  boost::mpi::environment environment_{boost::mpi::threading::funneled, false};
  boost::mpi::communicator world_;
};

}  // namespace

}  // namespace espalier::cli

extern "C" __attribute__((visibility("default"))) espalier::cli::Processes*
espalier_make_processes() {
  return new espalier::cli::MpiProcesses;
}
