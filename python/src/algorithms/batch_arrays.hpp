#pragma once

#include "algorithm.hpp"

namespace espalier::python {

using Plain = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// What a batch reads and writes; rows of states.
struct BoundAlgorithm::BatchArrays {
  long N = 0;
  std::array<const double*, 4> inputs{};  ///< (N, size) or, if `same`, (size); null: zeros
  std::array<bool, 4> same{};
  const double* wrenches = nullptr;  ///< (N, links, 6)
  std::vector<double> acceleration;
  const double* measurements = nullptr;  ///< (N, rows)
  long measurement_rows = 0;
  const double* multipliers = nullptr;  ///< (N, multiplier_rows) or, if the same, one row
  long multiplier_rows = 0;
  bool same_multipliers = false;
  std::array<const double*, 4> direction{};  ///< by role (N, nv) or, if the same, (nv); null: ones
  std::array<bool, 4> same_direction{};
  double time_step = Inputs{}.time_step;
  std::vector<int> variant;
  /// Results that are wanted, by their index, and where they go.
  std::vector<int> results;
  std::vector<double*> values;
  std::vector<BatchStatus> status;
};

}  // namespace espalier::python
