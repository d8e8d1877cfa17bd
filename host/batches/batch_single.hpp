#pragma once

#include <array>
#include <memory>

#include "espalier/host/batches/batch_impl.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"

/// Single states of a batch by calls at the scalar double. Belongs to one thread. Not for plugins.

namespace espalier::detail {

class BatchSingle {
 public:
  /// @param algorithm  at the scalar double
  /// @param like       some state with what the problem asks for; it is solved once, so that calls
  ///                   find all their memory
  /// @param shapes     of the results
  BatchSingle(std::unique_ptr<Algorithm> algorithm, const ModelPtr& model, const Inputs& like,
              const Results& shapes);

  void set_gravity(const Vec3<double>& g) { algorithm_->set_gravity(g); }
  /// Numbers of an input, to be set before solve().
  double* input(int role) { return numbers_[static_cast<std::size_t>(role)]; }
  /// Six numbers for each of Model::links().
  void set_wrenches(const double* row, const Strides& at);
  void take_off_wrenches() { in_.wrenches = nullptr; }
  /// What is singular gives results that are NaN.
  void solve();
  const Results& results() const { return out_; }

 private:
  std::unique_ptr<Algorithm> algorithm_;
  ModelPtr model_;
  Wrenches<double> wrenches_;
  Inputs in_;
  std::array<double*, role_count> numbers_;  ///< of in_, by role
  Results out_;
};

}  // namespace espalier::detail
