#include "cli/output/csv_rows.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/output/shortest_text.hpp"

namespace espalier::cli {

namespace {

/// Numbers of a block: a quarter of a megabyte of text, which the kernel takes for two thirds of
/// what it takes for pieces of 80 kB.
constexpr std::size_t block_numbers = 12000;

void format(RowBlocks::Block& block, std::size_t columns, std::size_t rows) {
  if (block.bytes == nullptr) {
    block.bytes = std::make_unique_for_overwrite<char[]>(rows * columns * longest_text);
  }
  char* end = block.bytes.get();
  for (std::size_t at = 0; at < block.numbers.size(); at += columns) {
    end = write_row(block.numbers.subspan(at, columns), end);
  }
  block.size = static_cast<std::size_t>(end - block.bytes.get());
}

std::size_t block_rows(std::size_t columns) {
  return std::max<std::size_t>(1, block_numbers / columns);
}

}  // namespace

CsvRows::CsvRows(std::size_t columns, std::function<void(std::string_view)> write, int threads,
                 RowBlocks::Format complete)
    : rows_(
          columns, block_rows(columns),
          [columns, complete = std::move(complete)](RowBlocks::Block& block) {
            if (complete) complete(block);
            format(block, columns, block_rows(columns));
          },
          [write = std::move(write)](const RowBlocks::Block& block) {
            write({block.bytes.get(), block.size});
          },
          threads) {}

}  // namespace espalier::cli
