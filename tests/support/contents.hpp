#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace espalier::test {

/// Bytes of a file; none of one that cannot be read.
inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace espalier::test
