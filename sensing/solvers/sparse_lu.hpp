#pragma once

#include "espalier/sensing/sensor_dynamics.hpp"
#include "sensing/solvers/sensor_pivots.hpp"

namespace espalier {

/// As many sensors as unknowns: the sparse system in an order of pivots that is settled once for
/// the robot and its sensors, from block triangular form, pivots that are good at every position,
/// and a search over sampled positions; one step of refinement. A pivot that is too small at some
/// position leads to a factorisation anew there, and only that allocates.
/// Frame: body.  Cost: O(n) with sensors that determine each branch for itself.
/// Source: Nori (2017); theory/sparse 6.
template <class T>
class SparseLu final : public SensorDynamics<T> {
 public:
  using typename SensorDynamics<T>::Answer;
  using typename SensorDynamics<T>::Operations;

  /// @throws SingularMechanism for sensors that determine too little; Unsupported for redundant
  ///         ones; InvalidModel for a symbolic result that does not fit
  explicit SparseLu(const Setup& setup)
      : SensorDynamics<T>(setup), solver_(pattern(), order(setup.symbolic)) {}

  std::string symbolic() const override {
    return solver_.lu().order().text(this->system().fingerprint());
  }
  Operations operations() const override { return operations_of(solver_.lu()); }
  const FixedSolver& solver() const { return solver_; }

 private:
  SparsePattern pattern() {
    SensorSystem& system = this->equations();
    if (system.rows() < system.unknowns()) expect_well_posed(system);
    expect_square("sparse-lu", system);
    return pattern_of(system);
  }
  PivotOrder order(const std::string& symbolic) {
    SensorSystem& system = this->equations();
    if (symbolic.empty()) expect_well_posed(system);
    return order_for(system, symbolic);
  }
  void compute(double* d, Answer&) override {
    const SensorSystem& system = this->system();
    if (solver_.solve(system.values().data(), system.right_side().data(), d)) return;
    give_up(system, &solver_, d);
  }

  FixedSolver solver_;
};

/// The same with an order and pivots that a library chooses for every matrix. Allocates.
template <class T, class Lu>
class FreshLu : public SensorDynamics<T> {
 public:
  using typename SensorDynamics<T>::Answer;

  explicit FreshLu(const Setup& setup, const char* name) : SensorDynamics<T>(setup) {
    SensorSystem& system = this->equations();
    expect_well_posed(system);
    expect_square(name, system);
    pattern_ = pattern_of(system);
    lu_ = std::make_unique<Lu>(pattern_);
  }

 private:
  void compute(double* d, Answer&) override {
    const SensorSystem& system = this->system();
    if (lu_->solve(system.values().data(), system.right_side().data(), d)) return;
    give_up(system, nullptr, d);
  }

  SparsePattern pattern_;
  std::unique_ptr<Lu> lu_;
};

#ifdef ESPALIER_UMFPACK
template <class T>
class Umfpack final : public FreshLu<T, UmfpackLu> {
 public:
  explicit Umfpack(const Setup& setup) : FreshLu<T, UmfpackLu>(setup, "umfpack") {}
};
#endif
template <class T>
class EigenSparseLu final : public FreshLu<T, EigenLu> {
 public:
  explicit EigenSparseLu(const Setup& setup) : FreshLu<T, EigenLu>(setup, "eigen-sparse-lu") {}
};

}  // namespace espalier
