#include "cli/temporary_folder.hpp"

#include <cstdlib>

#include "cli/command.hpp"
#include "cli/session.hpp"

namespace espalier::cli {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  std::string name =
      ((error ? fs::path("/tmp") : place) / ("espalier-" + purpose + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Failure(unusable, "OutputError",
                  name +
                      ": folder for temporary files cannot be made, expected a writable place "
                      "(TMPDIR names another)");
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace espalier::cli
