#include "cli/output/csv_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cli/add_row.hpp"

/// Lines of CSV from several threads.

namespace espalier::cli::csv_rows_test {
namespace {

using test::add;

std::vector<std::vector<double>> random_rows(std::size_t count, std::size_t columns) {
  std::mt19937 generator(7);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> rows(count, std::vector<double>(columns));
  for (std::vector<double>& row : rows) {
    for (double& x : row) x = normal(generator) * std::exp(20.0 * normal(generator));
  }
  return rows;
}

TEST(CsvRowsTest, LinesComeInTheOrderOfRowsWhateverTheThreads) {
  constexpr std::size_t columns = 7;
  // More blocks than may wait, and a last one that is not full.
  const auto rows = random_rows(30001, columns);
  for (const int threads : {0, 1, 3}) {
    std::string text;
    CsvRows lines(
        columns, [&](std::string_view more) { text += more; }, threads);
    for (const std::vector<double>& row : rows) add(lines, row);
    lines.finish();
    std::istringstream stream(text);
    std::string line;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      ASSERT_TRUE(std::getline(stream, line)) << k << " on " << threads;
      const char* at = line.c_str();
      for (std::size_t i = 0; i < columns; ++i) {
        char* end = nullptr;
        ASSERT_EQ(std::strtod(at, &end), rows[k][i]) << line << " on " << threads;
        ASSERT_EQ(*end, i + 1 < columns ? ',' : '\0') << line;
        at = end + 1;
      }
    }
    EXPECT_FALSE(std::getline(stream, line)) << line;
  }
}

TEST(CsvRowsTest, NumbersAreTheShortestThatReadBackAsTheSame) {
  std::string text;
  CsvRows lines(4, [&](std::string_view more) { text += more; });
  add(lines, {0.1, -2.0, std::numeric_limits<double>::infinity(),
              std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(text, "");
  for (int k = 0; k < 2; ++k) {
    lines.finish();
    EXPECT_EQ(text, "0.1,-2,inf,nan\n");
  }
}

TEST(CsvRowsTest, NumbersThatABlockLacksAreCompletedBeforeTheirText) {
  const std::vector<double> row{1.0, std::numeric_limits<double>::quiet_NaN()};
  for (const int threads : {0, 2}) {
    std::string text, wanted;
    CsvRows lines(
        2, [&](std::string_view more) { text += more; }, threads,
        [](RowBlocks::Block& block) {
          for (std::size_t k = 1; k < block.numbers.size(); k += 2) {
            block.numbers[k] = static_cast<double>(block.first + k / 2);
          }
        });
    for (int k = 0; k < 20000; ++k) {  // blocks, and some of one
      add(lines, row);
      wanted += "1," + std::to_string(k) + "\n";
    }
    lines.finish();
    EXPECT_EQ(text, wanted) << threads;
  }
}

TEST(CsvRowsTest, RowsThatNobodyWaitsForAreForgotten) {
  const auto rows = random_rows(20000, 3);
  CsvRows lines(
      3, [](std::string_view) {}, 2);
  for (const std::vector<double>& row : rows) add(lines, row);
}

// As a full disk does, after some blocks; whatever thread wrote them.
TEST(CsvRowsTest, WhatWritingThrowsIsThrownByALaterCallAndNothingIsWrittenAfterIt) {
  const auto rows = random_rows(180000, 3);
  for (const int threads : {0, 1, 3}) {
    int calls = 0;
    CsvRows lines(
        3,
        [&](std::string_view) {
          if (++calls == 4) throw std::runtime_error("full");
        },
        threads);
    std::size_t taken = 0;
    EXPECT_THROW(
        {
          for (; taken < rows.size(); ++taken) add(lines, rows[taken]);
          lines.finish();
        },
        std::runtime_error)
        << threads;
    EXPECT_LT(taken, rows.size()) << "told while rows come";
    EXPECT_THROW(lines.finish(), std::runtime_error) << threads;
    EXPECT_EQ(calls, 4) << threads;
  }
}

}  // namespace
}  // namespace espalier::cli::csv_rows_test
