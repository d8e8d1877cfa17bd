#pragma once

#include <memory>
#include <vector>

#include "espalier/host/batch.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"

/// Single states of a batch by calls at the scalar double. Belongs to one thread. Not for plugins.

namespace espalier::detail {

class BatchSingle {
 public:
  /// @param algorithm  at the scalar double
  BatchSingle(std::unique_ptr<Algorithm> algorithm, const ModelPtr& model);

  void set_gravity(const Vec3<double>& g) { algorithm_->set_gravity(g); }
  /// Numbers of an input, to be set before solve().
  std::vector<double>& input(std::vector<double> Inputs::*which, int rows);
  /// Six numbers for each of Model::links(), or null.
  void set_wrenches(const double* row, const Strides& at);
  /// What is singular gives results that are NaN.
  void solve();
  const Results& results() const { return out_; }

 private:
  std::unique_ptr<Algorithm> algorithm_;
  ModelPtr model_;
  Wrenches<double> wrenches_;
  Inputs in_;
  Results out_;
};

}  // namespace espalier::detail
