#include "cli/output/csv_rows.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/output/shortest_text.hpp"

namespace espalier::cli {

namespace {

/// Numbers of a block: a tenth of a millisecond of work, a hundred times what handing over costs.
constexpr std::size_t block_numbers = 4096;

void format(RowBlocks::Block& block, std::size_t columns, std::size_t rows) {
  if (block.bytes == nullptr) {
    block.bytes = std::make_unique_for_overwrite<char[]>(rows * columns * longest_text);
  }
  char* end = block.bytes.get();
  std::size_t column = 0;
  for (const double x : block.numbers) {
    end = write_shortest(x, end);
    *end++ = ++column == columns ? '\n' : ',';
    if (column == columns) column = 0;
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
