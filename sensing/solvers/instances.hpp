#pragma once

#include <optional>

#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"
#include "espalier/kernel/problems/dynamics/hybrid_dynamics.hpp"
#include "espalier/kernel/problems/dynamics/inverse_dynamics.hpp"
#include "sensing/solvers/sensor_pivots.hpp"

// The classical problems as sensors: what is known says which problem it is.

namespace espalier {

/// A square system with its solver; none where nothing moves.
class SparseInstance {
 public:
  SparseInstance(const Model& model, const std::vector<Sensor>& sensors);

  /// Solves for measured values y, in the order of the sensors. @returns d, or nullptr where
  /// nothing moves  @throws SingularMechanism
  const double* solve(const double* q, const double* v, const double* y,
                      const Vec3<double>& gravity, const Wrenches<double>* wrenches);
  const SensorSystem& system() const { return *system_; }

 private:
  std::optional<SensorSystem> system_;
  std::optional<FixedSolver> solver_;
  std::vector<double> d_;
};

/// Forward dynamics: torques are known. The elimination is the articulated-body algorithm, written
/// as a matrix; redundant inertias of multi-body joints and all constraints of loops included.
/// Cost: O(n).  Source: Nori (2017), section V; theory/sparse 6.
template <class T>
class SparseForward final : public ForwardDynamics<T> {
 public:
  explicit SparseForward(ModelPtr model)
      : ForwardDynamics<T>(std::move(model)),
        instance_(this->model(), forward_sensors(this->model())) {}

 private:
  void compute(const double* q, const double* v, const double* tau, double* vdot,
               const Wrenches<double>* wrenches) override {
    const double* d = instance_.solve(q, v, tau, this->gravity(), wrenches);
    const auto rates = this->model().independent_rates();
    for (std::size_t j = 0; j < rates.size(); ++j) vdot[j] = d[instance_.system().qdd(rates[j])];
  }
  SparseInstance instance_;
};

/// Inverse dynamics: accelerations are known. On a tree the matrix is triangular, and there is
/// nothing to eliminate. Cost: O(n).  Source: Nori (2017), section IV; theory/sparse 6.
template <class T>
class SparseInverse final : public InverseDynamics<T> {
 public:
  explicit SparseInverse(ModelPtr model)
      : InverseDynamics<T>(std::move(model)),
        instance_(this->model(), inverse_sensors(this->model())) {}

 private:
  void compute(const double* q, const double* v, const double* vdot, double* tau,
               const Wrenches<double>* wrenches) override {
    const double* d = instance_.solve(q, v, vdot, this->gravity(), wrenches);
    const auto rates = this->model().independent_rates();
    for (std::size_t j = 0; j < rates.size(); ++j) tau[j] = d[instance_.system().torque(rates[j])];
  }
  SparseInstance instance_;
};

/// Hybrid dynamics: of each joint either torque or acceleration is known. Cost: O(n).
/// Source: Featherstone (2008), section 9.2; theory/sparse 6.
template <class T>
class SparseHybrid final : public HybridDynamics<T> {
 public:
  explicit SparseHybrid(const Setup& setup)
      : HybridDynamics<T>(setup),
        instance_(this->model(), hybrid_sensors(this->model(), this->accelerated_joints())) {}

 private:
  void compute(const double* q, const double* v, const double* known, double* tau, double* vdot,
               const Wrenches<double>* wrenches) override {
    const double* d = instance_.solve(q, v, known, this->gravity(), wrenches);
    const auto rates = this->model().independent_rates();
    for (std::size_t j = 0; j < rates.size(); ++j) {
      tau[j] = d[instance_.system().torque(rates[j])];
      vdot[j] = d[instance_.system().qdd(rates[j])];
    }
  }
  SparseInstance instance_;
};

}  // namespace espalier
