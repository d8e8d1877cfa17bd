#include "benchmarks/suite/measured.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier::bench {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

const Row* Measured::find(const std::string& robot, const std::string& work,
                          const std::string& library, const std::string& algorithm) const {
  for (const Row& row : rows) {
    if (row.robot == robot && row.work == work && row.library.starts_with(library) &&
        row.algorithm == algorithm && !row.ns.empty()) {
      return &row;
    }
  }
  return nullptr;
}

double Measured::ours(const std::string& robot, const std::string& work,
                      const std::string& algorithm) const {
  const Row* row = find(robot, work, "Espalier", algorithm);
  return row == nullptr ? none : row->best();
}

double Measured::theirs(const std::string& robot, const std::string& work,
                        const std::string& library, double difference) const {
  double best = none;
  for (const Row& row : rows) {
    if (row.robot != robot || row.work != work || row.ns.empty()) continue;
    if (row.difference > difference) continue;
    if (row.library.starts_with(library)) best = std::fmin(best, row.best());
  }
  return best;
}

std::vector<std::string> Measured::robots(const std::string& work) const {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (row.work == work && !row.ns.empty()) add_new(names, row.robot);
  }
  return names;
}

std::vector<std::string> Measured::peers() const {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (row.library != "Espalier" && !row.ns.empty()) add_new(names, row.library);
  }
  return names;
}

LineFit Measured::growth(const std::string& work, const std::string& algorithm) const {
  std::vector<double> x, y;
  for (const int bodies : chain_lengths) {
    x.push_back(bodies);
    y.push_back(ours(chain_name(bodies), work, algorithm));
    if (std::isnan(y.back())) return {none, none, none};
  }
  return fit_line(x, y);
}

}  // namespace espalier::bench
