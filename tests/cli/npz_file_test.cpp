#include "cli/output/npz_file.hpp"

#include <gtest/gtest.h>
#include <zlib.h>
#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "tests/cli/add_row.hpp"
#include "tests/support/contents.hpp"
#include "tests/support/temporary_folder.hpp"

/// Archives of columns, read back by the places that their directory has.

namespace espalier::cli::npz_file_test {
namespace {

using test::add;
using test::contents;
using test::TemporaryFolder;

std::uint32_t number(const std::string& text, std::size_t at, int size) {
  std::uint32_t x = 0;
  for (int k = 0; k < size; ++k) x |= static_cast<std::uint32_t>(text[at + k] & 0xff) << (8 * k);
  return x;
}

/// Columns by name. Checksums, sizes and both copies of each entry are looked at.
std::map<std::string, std::vector<double>> read(const std::string& path) {
  std::map<std::string, std::vector<double>> columns;
  const std::string text = contents(path);
  const std::size_t end = text.size() - 22;
  EXPECT_EQ(text.substr(end, 4), "PK\5\6");
  std::size_t at = number(text, end + 16, 4);
  const std::uint32_t count = number(text, end + 10, 2);
  for (std::uint32_t k = 0; k < count; ++k) {
    EXPECT_EQ(text.substr(at, 4), "PK\1\2");
    const std::uint32_t sum = number(text, at + 16, 4), size = number(text, at + 20, 4);
    const std::uint32_t name_size = number(text, at + 28, 2), local = number(text, at + 42, 4);
    const std::string name = text.substr(at + 46, name_size);
    EXPECT_EQ(text.substr(local, 4), "PK\3\4") << name;
    EXPECT_EQ(text.substr(local + 4, 24), text.substr(at + 6, 24)) << name;
    EXPECT_EQ(text.substr(local + 30, name_size), name);
    const std::uint32_t extra = number(text, local + 28, 2), start = local + 30 + name_size;
    // Fields of a kind and a size each.
    std::size_t field = start;
    while (field < start + extra) field += 4 + number(text, field + 2, 2);
    EXPECT_EQ(field, start + extra) << name;
    const std::string array = text.substr(start + extra, size);
    EXPECT_EQ(crc32(0, reinterpret_cast<const Bytef*>(array.data()), size), sum) << name;
    const std::size_t data = 10 + number(array, 8, 2);
    const std::size_t rows = (size - data) / sizeof(double);
    if (rows >= 4096) EXPECT_EQ((start + extra + data) % 4096, 0u) << name;
    EXPECT_NE(array.find("'shape': (" + std::to_string(rows) + ",), }"), std::string::npos);
    std::vector<double>& column = columns[name];
    column.resize(rows);
    std::memcpy(column.data(), array.data() + data, rows * sizeof(double));
    at += 46 + name_size;
  }
  EXPECT_EQ(at, end);
  return columns;
}

double entry(std::size_t row, std::size_t column) { return 1e6 * column + row / 3.0; }

// None, one, rows around the ends of pages and blocks, and several of these; more and fewer rows
// than expected; on the caller's thread and on others.
TEST(NpzFileTest, ColumnsHaveTheNumbersOfTheRowsInTheirOrder) {
  const TemporaryFolder folder;
  const std::string path = folder / "rows.npz";
  const std::vector<std::string> names{"time", "q.knee", "a name that is longer than others"};
  for (const std::size_t rows : {0u, 1u, 4095u, 4096u, 87040u, 87041u}) {
    for (const std::size_t expected : {rows, std::size_t{0}, 3 * rows, ~std::size_t{0}}) {
      for (const int threads : {0, 2}) {
        SCOPED_TRACE(::testing::Message() << rows << " of " << expected << " on " << threads);
        NpzFile file(path, names, {}, expected, threads);
        for (std::size_t k = 0; k < rows; ++k) {
          add(file, {entry(k, 0), entry(k, 1), entry(k, 2)});
        }
        file.close();
        const auto columns = read(path);
        ASSERT_EQ(columns.size(), names.size());
        for (std::size_t c = 0; c < names.size(); ++c) {
          const std::vector<double>& column = columns.at(names[c] + ".npy");
          ASSERT_EQ(column.size(), rows);
          for (std::size_t k = 0; k < rows; ++k) ASSERT_EQ(column[k], entry(k, c)) << c << " " << k;
        }
      }
    }
  }
}

TEST(NpzFileTest, NumbersThatABlockLacksAreCompletedBeforeTheyAreWritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "rows.npz";
  NpzFile file(path, {"x"}, {}, 5000, 1, [](RowBlocks::Block& block) {
    for (double& x : block.numbers) x += 0.5;
  });
  for (int k = 0; k < 5000; ++k) add(file, {1.0 * k});
  file.close();
  const std::vector<double> x = read(path).at("x.npy");
  ASSERT_EQ(x.size(), 5000u);
  for (int k = 0; k < 5000; ++k) EXPECT_EQ(x[k], k + 0.5);
}

TEST(NpzFileTest, WhatIsNotClosedLeavesNothing) {
  const TemporaryFolder folder;
  const std::string path = folder / "rows.npz";
  {
    NpzFile file(path, {"x"}, {}, 500000, 1);
    for (int k = 0; k < 400000; ++k) add(file, {1.0 * k});
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{});
}

}  // namespace
}  // namespace espalier::cli::npz_file_test
