#pragma once

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
  /// Inputs of a batch of one: solve() reads them where they are. What the problem does not ask for
  /// stays empty.
  void set_inputs(const BatchInputs& in) {
    in_.q = {in.q.data(), in_.q.size()};
    in_.v = {in.v.data(), in_.v.size()};
    in_.tau = {in.tau.data(), in_.tau.size()};
    in_.vdot = {in.vdot.data(), in_.vdot.size()};
  }
  /// One input of another batch, whose numbers stand so far apart.
  void set_input(int role, const double* first, long apart);
  /// Six numbers for each of Model::links().
  void set_wrenches(const double* row, const Strides& at);
  void take_off_wrenches() { in_.wrenches = nullptr; }
  /// What is singular gives results that are NaN.
  void solve();
  /// Of the last solve().
  const InputViews& inputs() const { return in_; }
  const Results& results() const { return out_; }

 private:
  std::unique_ptr<Algorithm> algorithm_;
  ModelPtr model_;
  Wrenches<double> wrenches_;
  Inputs own_;     ///< memory for copies
  InputViews in_;  ///< of these, or of the caller's numbers
  Results out_;
};

}  // namespace espalier::detail
