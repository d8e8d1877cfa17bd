#include "sensing/solvers/map.hpp"

#include <algorithm>

namespace espalier {

AugmentedSystem::AugmentedSystem(const SensorSystem& system)
    : unknowns_(system.unknowns()),
      model_rows_(system.model_rows()),
      sensor_rows_(system.sensor_rows()) {
  struct Entry {
    int column, row, source;
    double value;
  };
  std::vector<Entry> entries;
  for (int j = 0; j < unknowns_; ++j) {
    for (int e = system.column_start()[j]; e < system.column_start()[j + 1]; ++e) {
      const int i = row_of(system.row_index()[e]);
      entries.push_back({j, i, e, 0.0});
      entries.push_back({i, j, e, 0.0});
    }
  }
  for (const SensorSystem::Covariance& R : system.covariance()) {
    const int first = mu() + R.first;
    for (int i = 0; i < R.size; ++i) {
      for (int j = 0; j < R.size; ++j) {
        const double x = R.values[static_cast<std::size_t>(i) * R.size + j];
        if (x != 0.0) entries.push_back({first + j, first + i, -1, x});
      }
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.column, a.row) < std::pair(b.column, b.row);
  });
  const int n = unknowns_ + sensor_rows_ + model_rows_;
  pattern_.column_start.assign(n + 1, 0);
  for (const Entry& e : entries) {
    ++pattern_.column_start[e.column + 1];
    if (e.source >= 0) copies_.emplace_back(static_cast<int>(values_.size()), e.source);
    pattern_.row_index.push_back(e.row);
    values_.push_back(e.value);
  }
  for (int j = 0; j < n; ++j) pattern_.column_start[j + 1] += pattern_.column_start[j];
  rhs_.assign(n, 0.0);
}

int AugmentedSystem::row_of(int row) const {
  return row < model_rows_ ? unknowns_ + sensor_rows_ + row : unknowns_ + row - model_rows_;
}

void AugmentedSystem::update(const SensorSystem& system) {
  for (const auto& [to, from] : copies_) values_[to] = system.values()[from];
  for (int i = 0; i < system.rows(); ++i) rhs_[row_of(i)] = system.right_side()[i];
}

std::vector<PivotStep> AugmentedSystem::safe_pivots(const SensorSystem& system) const {
  std::vector<PivotStep> steps;
  for (int i = system.model().body_count(); i >= 1; --i) {
    const auto both_ways = [&](int row, int column) {
      for (int k = 0; k < 6; ++k) steps.push_back({{row_of(row + k)}, {column + k}, 1e-2});
      for (int k = 0; k < 6; ++k) steps.push_back({{column + k}, {row_of(row + k)}, 1e-2});
    };
    both_ways(system.force_row(i), system.joint_wrench(i));
    both_ways(system.acceleration_row(i), system.acceleration(i));
  }
  return steps;
}

}  // namespace espalier
