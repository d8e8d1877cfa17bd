#include "benchmarks/machine.hpp"

#include <fstream>
#include "espalier/plugins/loader.hpp"

namespace espalier::bench {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

std::string instruction_set(const Host& host, const std::string& problem, const std::string& name) {
  const std::string origin = host.registry().find_algorithm(problem, name).origin;
  for (const LoadedPlugin& plugin : host.loader().loaded()) {
    if (plugin.file == origin) return plugin.instruction_set;
  }
  return "unknown";
}

}  // namespace espalier::bench
