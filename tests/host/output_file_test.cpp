#include "espalier/host/output_file.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <filesystem>
#include <string>
#include <thread>

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

// Of such files the disk is asked to write what is there before they are whole.
TEST(OutputFileTest, ManyMegabytesComeInTheirOrder) {
  const TemporaryFolder folder;
  const std::string path = folder / "file.txt";
  std::string expected;
  OutputFile file(path);
  for (int k = 0; k < 25; ++k) {
    const std::string piece(1000001, static_cast<char>('a' + k));
    file.write(piece);
    expected += piece;
  }
  file.commit();
  EXPECT_TRUE(contents(path) == expected);  // whose difference nobody wants to read
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

std::string digits(std::size_t size) {
  std::string text(size, ' ');
  for (std::size_t k = 0; k < size; ++k) text[k] = static_cast<char>('0' + (k * k / 7 + k) % 10);
  return text;
}

// Pieces of more than a megabyte that overlap themselves, both ways.
TEST(OutputFileTest, BytesAtPlacesOfTheirOwnMoveAndEnd) {
  const TemporaryFolder folder;
  const std::string path = folder / "places.bin", text = digits(2500000);
  for (const std::uint64_t to : {0u, 1000u, 70000u, 131000u}) {
    OutputFile file(path);
    file.write_at(70000, text);
    file.move(70000, to, text.size());
    file.write_at(to + 5, "five");
    file.resize(to + 2000000);
    file.commit();
    std::string expected = text.substr(0, 2000000);
    expected.replace(5, 4, "five");
    ASSERT_EQ(contents(path).size(), to + 2000000);
    EXPECT_TRUE(contents(path).substr(to) == expected) << to;
  }
  OutputFile file(path);
  file.write_at(3, "x");
  file.commit();
  EXPECT_EQ(contents(path), std::string(3, '\0') + "x");
}

// A pipe has no places, and gets it all from commit().
TEST(OutputFileTest, APipeGetsAFileOfPlacesWhole) {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string text = digits(1500000);
  std::string got;
  std::thread reader([&] { got = contents(path); });
  {
    OutputFile file(path);
    file.write_at(4, text);
    file.write_at(0, "head");
    file.resize(1400000);
    file.commit();
  }
  reader.join();
  EXPECT_TRUE(got == "head" + text.substr(0, 1400000 - 4));
}

}  // namespace
}  // namespace espalier::test::output_file_test
