#include "cli/output/column_store.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace espalier::cli::column_store_test {
namespace {

// None, one, and rows around the ends of blocks.
TEST(ColumnStoreTest, ColumnsHaveTheNumbersOfTheRowsInTheirOrder) {
  constexpr std::size_t columns = 3;
  for (const std::size_t rows : {0u, 1u, 999u, 1000u, 1001u, 2500u}) {
    ColumnStore store(columns);
    for (std::size_t k = 0; k < rows; ++k) {
      const double row[] = {1.0 * k, 1e6 + k, -0.5 * k};
      store.add(row);
    }
    EXPECT_EQ(store.rows(), rows);
    for (std::size_t c = 0; c < columns; ++c) {
      std::string bytes = "head";
      store.append_column(c, bytes);
      ASSERT_EQ(bytes.size(), 4 + 8 * rows);
      EXPECT_EQ(bytes.substr(0, 4), "head");
      for (std::size_t k = 0; k < rows; ++k) {
        double x = 0.0;
        std::memcpy(&x, bytes.data() + 4 + 8 * k, 8);
        ASSERT_EQ(x, c == 0 ? 1.0 * k : c == 1 ? 1e6 + k : -0.5 * k) << c << " " << k;
      }
    }
  }
}

}  // namespace
}  // namespace espalier::cli::column_store_test
