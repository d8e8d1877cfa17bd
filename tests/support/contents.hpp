#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace espalier::test {

/// Bytes of a file; none of one that cannot be read.
inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;  // by blocks: one byte at a time takes seconds without optimisation
  text << file.rdbuf();
  return text.str();
}

}  // namespace espalier::test
