#include "espalier/plugins/library_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <vector>

#include "espalier/kernel/errors.hpp"

namespace espalier::detail {

namespace {

#if defined(__x86_64__)
constexpr Elf64_Half machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half machine = EM_AARCH64;
#else
#error "unknown architecture: add its ELF machine number here"
#endif

std::string machine_name(Elf64_Half number) {
  switch (number) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "AArch64";
    case EM_386:
      return "i386";
    case EM_ARM:
      return "ARM";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "PowerPC 64";
    default:
      return "ELF machine " + std::to_string(number);
  }
}

/// A file opened for reading, closed at the end of its life.
class File {
 public:
  explicit File(const std::string& name) : name_(name) {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    descriptor_ = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) {
      const int error = errno;
      refuse(error == ENOENT ? "missing"
                             : "unreadable (" + std::generic_category().message(error) + ")");
    }
    struct stat status {};
    const bool regular = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
    if (!regular) {
      ::close(descriptor_);
      refuse(S_ISDIR(status.st_mode) ? "a folder" : "not a regular file");
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::uint64_t size() const { return size_; }

  /// Throws unless `count` records of `record` bytes at `offset` lie inside the file.
  void expect_inside(const char* what, std::uint64_t offset, std::uint64_t count,
                     std::uint64_t record = 1) const {
    const std::uint64_t most = offset > size_ ? 0 : (size_ - offset) / record;
    if (offset <= size_ && count <= most) return;
    refuse("truncated (" + std::to_string(size_) + " bytes; its " + what + " ends at byte " +
               std::to_string(offset + count * record) + ")",
           "the whole file");
  }
  void read(std::uint64_t offset, void* to, std::size_t bytes) const {
    if (::pread(descriptor_, to, bytes, static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(bytes)) {
      refuse("unreadable (" + std::generic_category().message(errno) + ")");
    }
  }
  [[noreturn]] void refuse(const std::string& is,
                           const std::string& expected = "a shared library") const {
    throw PluginError(name_ + ": plugin file is " + is + ", expected " + expected);
  }

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace

void check_library_file(const std::string& file) {
  const File library(file);
  if (library.size() == 0) library.refuse("empty");
  unsigned char identity[EI_NIDENT] = {};
  library.read(0, identity, std::min<std::uint64_t>(library.size(), sizeof identity));
  if (std::memcmp(identity, ELFMAG, SELFMAG) != 0) library.refuse("no library (not an ELF file)");
  library.expect_inside("ELF header", 0, sizeof(Elf64_Ehdr));
  if (identity[EI_CLASS] != ELFCLASS64 || identity[EI_DATA] != ELFDATA2LSB) {
    library.refuse("an ELF file that is not 64-bit little-endian",
                   "a shared library for " + machine_name(machine));
  }

  Elf64_Ehdr header{};
  library.read(0, &header, sizeof header);
  if (header.e_machine != machine) {
    library.refuse("built for " + machine_name(header.e_machine),
                   "a shared library for " + machine_name(machine));
  }
  if (header.e_type != ET_DYN) {
    library.refuse("an ELF file of type " + std::to_string(header.e_type),
                   "a shared library (type " + std::to_string(ET_DYN) + ")");
  }
  if (header.e_phnum == 0 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    library.refuse("an ELF file without program headers");
  }
  library.expect_inside("program header table", header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr));
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  library.read(header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr));
  for (const Elf64_Phdr& segment : segments) {
    library.expect_inside("segment", segment.p_offset, segment.p_filesz);
  }
  // The linker puts the table of sections last, so that any cut loses some of it.
  if (header.e_shoff != 0) {
    library.expect_inside("section header table", header.e_shoff, header.e_shnum,
                          sizeof(Elf64_Shdr));
  }
}

}  // namespace espalier::detail
