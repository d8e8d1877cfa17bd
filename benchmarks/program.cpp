#include "benchmarks/program.hpp"

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace espalier::bench {

void save(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error(path + ": file cannot be written");
}

int run_guarded(const char* name, int (*run)(int, char**), int count, char** words) {
  try {
    return run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace espalier::bench
