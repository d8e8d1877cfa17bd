#include "espalier/host/output_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace espalier {

namespace {

/// Rows wait until there are so many bytes of them.
constexpr std::size_t buffered = 1 << 16;
/// What the disk is asked to write at once.
constexpr std::uint64_t begin_by = 8 << 20;
/// What move() and scratch files are read by.
constexpr std::size_t piece_size = 1 << 20;

std::string reason(int error) { return std::generic_category().message(error); }

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// What a new file may be read and written by.
mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

OutputError::~OutputError() = default;

OutputFile::OutputFile(const std::string& path, const std::vector<std::string>& inputs)
    : path_(path), target_(path) {
  if (path == "-") {
    throw OutputError(
        "-: output file is '-', expected the name of a file (/dev/stdout is standard output, and "
        "./- a file of that name)");
  }
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    throw OutputError(path + ": output file is a folder, expected a file");
  }
  if (exists && S_ISREG(status.st_mode)) {
    for (const std::string& input : inputs) {
      struct stat other {};
      if (::stat(input.c_str(), &other) != 0 || !same_file(status, other)) continue;
      throw OutputError(path + ": output file is the input '" + input +
                        "', expected another file (--overwrite replaces it)");
    }
    // Who may not write a file may not replace it either, whatever its folder allows.
    if (::access(path.c_str(), W_OK) != 0) fail(errno);
  }
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, ignored);
  if (!ignored) target_ = real.string();
  beside_ = target_ + ".XXXXXX";
  descriptor_ = ::mkostemp(beside_.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
  renamed_ = true;
  if (::fchmod(descriptor_, exists ? status.st_mode & 07777 : usual_mode()) != 0) {
    // A file system without modes.
  }
}

OutputFile::~OutputFile() {
  if (scratch_ >= 0) ::close(scratch_);
  if (descriptor_ >= 0) ::close(descriptor_);
  if (renamed_) ::unlink(beside_.c_str());
}

void OutputFile::fail(int error) const {
  throw OutputError(path_ + ": output file is not writable (" + reason(error) +
                    "), expected a writable one");
}

void OutputFile::write(std::string_view rows) {
  if (rows.size() >= buffered) {
    flush();
    return write_all(rows);
  }
  buffer_ += rows;
  if (buffer_.size() >= buffered) flush();
}

void OutputFile::flush() {
  write_all(buffer_);
  buffer_.clear();
}

void OutputFile::write_all(std::string_view rows) {
  while (!rows.empty()) {
    const ssize_t n = ::write(descriptor_, rows.data(), rows.size());
    if (n >= 0) {
      rows.remove_prefix(static_cast<std::size_t>(n));
      written_ += static_cast<std::uint64_t>(n);
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
  if (renamed_ && written_ - begun_ >= begin_by) begin_writeback();
}

/// The disk writes while rows come, so that commit() waits for less of it.
void OutputFile::begin_writeback() {
  const auto from = static_cast<off_t>(begun_), size = static_cast<off_t>(written_ - begun_);
  // A file system need not know it, and what it fails at commit() finds.
  ::sync_file_range(descriptor_, from, size, SYNC_FILE_RANGE_WRITE);
  begun_ = written_;
}

int OutputFile::seekable() {
  if (renamed_) return descriptor_;
  if (scratch_ < 0) scratch_ = ::memfd_create("espalier output", MFD_CLOEXEC);
  if (scratch_ < 0) fail(errno);
  return scratch_;
}

void OutputFile::write_at(std::uint64_t at, std::string_view bytes) {
  const int file = seekable();
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
      at += static_cast<std::uint64_t>(n);
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

std::size_t OutputFile::read_at(std::uint64_t at, char* to, std::size_t size) const {
  const int file = renamed_ ? descriptor_ : scratch_;
  for (std::size_t read = 0; read < size;) {
    const ssize_t n = ::pread(file, to + read, size - read, static_cast<off_t>(at + read));
    if (n == 0) return read;
    if (n > 0) {
      read += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
  return size;
}

void OutputFile::move(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  if (from == to) return;
  std::string piece;
  // From the end that is not written over before it is read.
  for (std::uint64_t done = 0; done < size; done += piece.size()) {
    piece.resize(std::min<std::uint64_t>(piece_size, size - done));
    const std::uint64_t at = to < from ? done : size - done - piece.size();
    if (read_at(from + at, piece.data(), piece.size()) < piece.size()) fail(EIO);
    write_at(to + at, piece);
  }
}

void OutputFile::resize(std::uint64_t size) {
  const int file = seekable();
  while (::ftruncate(file, static_cast<off_t>(size)) != 0) {
    if (errno != EINTR) fail(errno);
  }
}

void OutputFile::copy_scratch() {
  std::string piece(piece_size, '\0');
  for (std::uint64_t at = 0;;) {
    const std::size_t n = read_at(at, piece.data(), piece.size());
    if (n == 0) return;
    write_all({piece.data(), n});
    at += n;
  }
}

void OutputFile::commit() {
  flush();
  if (scratch_ >= 0) copy_scratch();
  // A disk may tell only here that it is full, and a name must not get ahead of its contents.
  if (renamed_ && ::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(errno);
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 && errno != EINTR) fail(errno);
  if (!renamed_) return;
  if (::rename(beside_.c_str(), target_.c_str()) != 0) fail(errno);
  renamed_ = false;
}

void write_file(const std::string& path, std::string_view text,
                const std::vector<std::string>& inputs) {
  OutputFile file(path, inputs);
  file.write(text);
  file.commit();
}

}  // namespace espalier
