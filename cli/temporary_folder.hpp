#pragma once

#include <filesystem>
#include <string>

namespace espalier::cli {

/// A folder for files that go when the command ends.
class TemporaryFolder {
 public:
  /// @param purpose  part of its name
  /// @throws Failure where no folder can be made
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace espalier::cli
