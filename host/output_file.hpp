#pragma once

#include <cstdint>
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
  /// Writes at a place of its own, for files that are not written from their beginning to their
  /// end; such a file has no write(). A device or a pipe, which may have no places, gets it all
  /// from commit(), and memory holds it until then.
  /// @param at     bytes from the beginning; what nobody writes is zeros
  /// @param bytes  to write there
  /// @throws OutputError
  void write_at(std::uint64_t at, std::string_view bytes);
  /// Copies bytes of write_at() to another place, which may overlap the first.
  /// @param from  their place, bytes from the beginning
  /// @param to    the other one
  /// @param size  how many
  /// @throws OutputError
  void move(std::uint64_t from, std::uint64_t to, std::uint64_t size);
  /// Ends a file of write_at().
  /// @param size  bytes that it has from now on
  /// @throws OutputError
  void resize(std::uint64_t size);
  /// Writes the rest and gives the file its name. @throws OutputError; nothing was replaced then
  void commit();

  /// Where rows go until commit().
  const std::string& beside() const { return beside_; }

 private:
  void write_all(std::string_view rows);
  void begin_writeback();
  int seekable();
  std::size_t read_at(std::uint64_t at, char* to, std::size_t size) const;
  void copy_scratch();
  [[noreturn]] void fail(int error) const;

  std::string path_;    ///< as it was given
  std::string target_;  ///< without symbolic links
  std::string beside_;
  std::string buffer_;
  int descriptor_ = -1;
  int scratch_ = -1;      ///< what write_at() writes where the file may have no places
  bool renamed_ = false;  ///< whether it is written beside
  std::uint64_t written_ = 0, begun_ = 0;  ///< bytes of write(), and of them those for the disk
};

/// Writes a file at once. @throws OutputError, as OutputFile
ESPALIER_API void write_file(const std::string& path, std::string_view text,
                             const std::vector<std::string>& inputs = {});

}  // namespace espalier
