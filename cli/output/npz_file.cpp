#include "cli/output/npz_file.hpp"

#include <zlib.h>
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

namespace espalier::cli {

namespace {

/// Bytes of a block: pieces of columns that are large for the kernel, a block that the caches hold.
constexpr std::size_t block_bytes = 2 << 20;
/// Columns of at least so many rows begin at pages, and so do their pieces: the kernel takes whole
/// pages in half the time.
constexpr std::size_t page = 4096, page_rows = page / sizeof(double), aligned_rows = 8 * page_rows;
/// Bytes of an entry of the archive before its name, and of the field that fills up a page.
constexpr std::uint64_t local_size = 30, central_size = 46, end_size = 22, filler_size = 4;
/// Bytes of an .npy before its numbers; with spaces for any number of rows.
constexpr std::size_t npy_size = 128;
constexpr std::size_t line = 64;  ///< of the cache
constexpr std::uint64_t most_bytes = std::numeric_limits<std::uint32_t>::max();

/// Whole numbers as they stand in files, least byte first.
template <class... Numbers>
std::string bytes(Numbers... numbers) {
  std::string out;
  const auto add = [&](auto x) {
    for (std::size_t k = 0; k < sizeof x; ++k) {
      out += static_cast<char>(static_cast<std::uint64_t>(x) >> (8 * k) & 0xff);
    }
  };
  (add(numbers), ...);
  return out;
}

std::uint32_t checksum(std::uint32_t before, const char* data, std::size_t size) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(data), static_cast<z_size_t>(size)));
}

std::string npy_header(std::size_t rows) {
  constexpr std::size_t before = 10;
  std::string form =
      "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ",), }";
  form.resize(npy_size - before - 1, ' ');
  form += '\n';
  return "\x93NUMPY" +
         bytes(std::uint8_t{1}, std::uint8_t{0}, static_cast<std::uint16_t>(form.size())) + form;
}

/// An extra field of an entry that says nothing, in so many bytes; its kind is that of Android's
/// zipalign.
std::string page_filler(std::size_t size) {
  if (size == 0) return "";
  std::string out = bytes(std::uint16_t{0xd935}, static_cast<std::uint16_t>(size - filler_size));
  out.resize(size, '\0');
  return out;
}

/// Where a column of a block begins. Lines of the cache are whole, and columns do not compete for
/// the same few places in it, as they would a power of two apart.
const char* column_of(const RowBlocks::Block& block, std::size_t column, std::size_t most) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block.bytes.get());
  return block.bytes.get() + (line - begin % line) % line + column * (most * sizeof(double) + line);
}

/// Columns of a block one after the other.
void transpose(RowBlocks::Block& block, std::size_t columns, std::size_t most) {
  if (block.bytes == nullptr) {
    block.size = columns * (most * sizeof(double) + line) + line;
    block.bytes = std::make_unique_for_overwrite<char[]>(block.size);
  }
  const std::size_t rows = block.numbers.size() / columns;
  // Eight rows at a time: whole lines of the cache on both sides.
  constexpr std::size_t side = line / sizeof(double);
  for (std::size_t r = 0; r < rows; r += side) {
    const std::size_t count = std::min(side, rows - r);
    for (std::size_t c = 0; c < columns; ++c) {
      const double* const from = block.numbers.data() + r * columns + c;
      double at_once[side];
      for (std::size_t k = 0; k < count; ++k) at_once[k] = from[k * columns];
      char* const to = const_cast<char*>(column_of(block, c, most)) + r * sizeof(double);
      std::memcpy(to, at_once, count * sizeof(double));
    }
  }
}

std::size_t rows_of_block(std::size_t columns) {
  return std::max<std::size_t>(1, block_bytes / page / columns) * page_rows;
}

}  // namespace

NpzFile::NpzFile(const std::string& path, std::vector<std::string> names,
                 const std::vector<std::string>& inputs, std::size_t expected, int threads,
                 RowBlocks::Format complete)
    : path_(path),
      file_(path, inputs),
      names_(std::move(names)),
      checksums_(names_.size(), checksum(0, nullptr, 0)),
      block_rows_(rows_of_block(names_.size())),
      capacity_(0),
      rows_(
          names_.size(), block_rows_,
          [columns = names_.size(), most = block_rows_,
           complete = std::move(complete)](RowBlocks::Block& block) {
            if (complete) complete(block);
            transpose(block, columns, most);
          },
          [this](const RowBlocks::Block& block) { write(block); }, threads) {
  for (std::string& name : names_) name += ".npy";
  set_capacity(std::min(expected, most_rows()));
}

std::vector<std::uint64_t> NpzFile::places(std::size_t capacity) const {
  std::vector<std::uint64_t> out;
  std::uint64_t at = 0;
  for (const std::string& name : names_) {
    at += local_size + name.size() + npy_size;
    if (capacity >= aligned_rows) at = (at + filler_size + page - 1) / page * page;
    out.push_back(at);
    at += sizeof(double) * capacity;
  }
  return out;
}

/// As many as four bytes can tell the places of.
std::size_t NpzFile::most_rows() const {
  std::uint64_t others = end_size;
  for (const std::string& name : names_) {
    others += local_size + central_size + 2 * name.size() + npy_size + filler_size + page;
  }
  return (most_bytes - std::min(others, most_bytes)) / (names_.size() * sizeof(double));
}

void NpzFile::write(const RowBlocks::Block& block) {
  const std::size_t columns = names_.size(), rows = block.numbers.size() / columns;
  if (written_ + rows > most_rows()) {
    throw OutputError(path_ + ": rows are more than " + std::to_string(most_rows()) +
                      ", expected less than 4 GiB of them in an .npz (write fewer by --every, or "
                      "a .csv)");
  }
  if (written_ + rows > capacity_) {
    set_capacity(std::clamp(2 * capacity_, written_ + rows, most_rows()));
  }
  const std::size_t size = sizeof(double) * rows;
  for (std::size_t c = 0; c < columns; ++c) {
    const char* const data = column_of(block, c, block_rows_);
    checksums_[c] = checksum(checksums_[c], data, size);
    file_.write_at(places_[c] + sizeof(double) * written_, {data, size});
  }
  written_ += rows;
}

void NpzFile::set_capacity(std::size_t capacity) {
  const std::vector<std::uint64_t> before = std::exchange(places_, places(capacity));
  // No column is written over before it moves: the first one first where all move towards it.
  const std::size_t columns = names_.size();
  for (std::size_t k = 0; k < columns && written_ > 0; ++k) {
    const std::size_t c = capacity < capacity_ ? k : columns - 1 - k;
    file_.move(before[c], places_[c], sizeof(double) * written_);
  }
  capacity_ = capacity;
}

void NpzFile::close() {
  rows_.finish();
  if (capacity_ != written_) set_capacity(written_);
  write_heads();
  file_.commit();
}

void NpzFile::write_heads() {
  const std::string npy = npy_header(written_);
  const std::uint32_t npy_checksum = checksum(checksum(0, nullptr, 0), npy.data(), npy.size());
  const std::uint64_t data_size = sizeof(double) * written_;
  const auto size = static_cast<std::uint32_t>(npy.size() + data_size);
  std::string directory;
  std::uint64_t at = 0;
  for (std::size_t c = 0; c < names_.size(); ++c) {
    const std::string& name = names_[c];
    const auto sum = static_cast<std::uint32_t>(
        crc32_combine(npy_checksum, checksums_[c], static_cast<z_off_t>(data_size)));
    // Version 2.0, names in UTF-8, stored, 1 January 1980, checksum, sizes, length of the name.
    const std::string entry =
        bytes(std::uint16_t{20}, std::uint16_t{0x800}, std::uint16_t{0}, std::uint16_t{0},
              std::uint16_t{0x21}, sum, size, size, static_cast<std::uint16_t>(name.size()));
    const std::string filler = page_filler(places_[c] - at - local_size - name.size() - npy.size());
    file_.write_at(at, bytes(std::uint32_t{0x04034b50}) + entry +
                           bytes(static_cast<std::uint16_t>(filler.size())) + name + filler + npy);
    directory += bytes(std::uint32_t{0x02014b50}, std::uint16_t{20}) + entry +
                 bytes(std::uint16_t{0}, std::uint16_t{0}, std::uint16_t{0}, std::uint16_t{0},
                       std::uint32_t{0}, static_cast<std::uint32_t>(at)) +
                 name;
    at = places_[c] + data_size;
  }
  const auto count = static_cast<std::uint16_t>(names_.size());
  const std::string end =
      directory + bytes(std::uint32_t{0x06054b50}, std::uint16_t{0}, std::uint16_t{0}, count, count,
                        static_cast<std::uint32_t>(directory.size()),
                        static_cast<std::uint32_t>(at), std::uint16_t{0});
  file_.write_at(at, end);
  file_.resize(at + end.size());
}

}  // namespace espalier::cli
