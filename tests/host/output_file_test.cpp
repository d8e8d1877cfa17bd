#include "espalier/host/output_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/contents.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::test::output_file_test {
namespace {

// Small pieces wait in a buffer, large ones go past it.
TEST(OutputFileTest, PiecesOfAllSizesComeInTheirOrder) {
  const TemporaryFolder folder;
  const std::string path = folder / "file.txt";
  std::string expected;
  {
    OutputFile file(path);
    for (int k = 0; k < 40; ++k) {
      const std::size_t size = k % 7 == 3 ? 200000u + k : k % 5 == 0 ? 0u : 1000u * k;
      const std::string piece(size, static_cast<char>('a' + k % 26));
      file.write(piece);
      expected += piece;
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  EXPECT_EQ(contents(path), expected);
}

TEST(OutputFileTest, WhatIsNotCommittedLeavesNothing) {
  const TemporaryFolder folder;
  const std::string path = folder / "left.txt";
  std::string beside;
  {
    OutputFile file(path);
    beside = file.beside();
    file.write(std::string(100000, 'x'));
    EXPECT_TRUE(std::filesystem::exists(beside));
  }
  EXPECT_FALSE(std::filesystem::exists(beside));
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace espalier::test::output_file_test
