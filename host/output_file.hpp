#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/export.hpp"

namespace espalier {

/// A file cannot be written: the folder, the disk, or because it would overwrite an input.
class ESPALIER_API OutputError : public Error {
 public:
  using Error::Error;
  ~OutputError() override;
};

/// A file that takes its place whole or not at all: it is written beside, and renamed by commit().
/// What stood there before stays untouched until then, also where the disk is full or the program
/// is killed. A path that names a device or a pipe is written directly, since it has no place to
/// take. Symbolic links are followed; the mode of a file that is replaced is kept.
class ESPALIER_API OutputFile {
 public:
  /// @param path    of the file
  /// @param inputs  files that were read; none of them may be replaced
  /// @throws OutputError naming the path: it is "-", or one of the inputs (by whatever name), or a
  ///         folder, or nothing can be written beside it
  explicit OutputFile(const std::string& path, const std::vector<std::string>& inputs = {});
  /// Forgets what was not committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Adds rows. They are written whole: what a program leaves beside that ends early ends with a
  /// row, unless SIGKILL stops the system in the middle of one.
  /// @throws OutputError
  void write(std::string_view rows);
  /// Hands what was written to the operating system. @throws OutputError
  void flush();
  /// Writes the rest and gives the file its name. @throws OutputError; nothing was replaced then
  void commit();

  /// Where rows go until commit().
  const std::string& beside() const { return beside_; }

 private:
  void write_all(std::string_view rows);
  [[noreturn]] void fail(int error) const;

  std::string path_;    ///< as it was given
  std::string target_;  ///< without symbolic links
  std::string beside_;
  std::string buffer_;
  int descriptor_ = -1;
  bool renamed_ = false;  ///< whether it is written beside
};

/// Writes a file at once. @throws OutputError, as OutputFile
ESPALIER_API void write_file(const std::string& path, std::string_view text,
                             const std::vector<std::string>& inputs = {});

}  // namespace espalier
