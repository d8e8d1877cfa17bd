#include "benchmarks/program.hpp"

#include <cstdio>
#include <exception>

#include "espalier/host/output_file.hpp"

namespace espalier::bench {

void save(const std::string& path, const std::string& text) { write_file(path, text); }

void OwnRobots::add_to(CLI::App& app, const std::string& files) {
  app.add_option("--robot", fixed, files + " with a fixed root, instead of the usual robots");
  app.add_option("--floating", floating, files + " with a floating root, likewise");
}

std::optional<int> parse(CLI::App& app, const std::vector<char*>& words) {
  app.footer("Options of Google Benchmark (--benchmark_filter=...) are understood, too.");
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return std::nullopt;
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
