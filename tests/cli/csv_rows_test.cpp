#include "cli/output/csv_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>

/// Lines of CSV from several threads.

namespace espalier::cli::csv_rows_test {
namespace {

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
    CsvRows lines(columns, threads);
    std::string text;
    for (const std::vector<double>& row : rows) text += lines.add(row);
    text += lines.finish();
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
  CsvRows lines(4);
  EXPECT_EQ(lines.add({0.1, -2.0, std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::quiet_NaN()}),
            "");
  EXPECT_EQ(lines.finish(), "0.1,-2,inf,nan\n");
  EXPECT_EQ(lines.finish(), "");
}

TEST(CsvRowsTest, RowsThatNobodyTakesAreForgotten) {
  const auto rows = random_rows(20000, 3);
  CsvRows lines(3, 2);
  for (const std::vector<double>& row : rows) lines.add(row);
}

}  // namespace
}  // namespace espalier::cli::csv_rows_test
