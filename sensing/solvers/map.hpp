#pragma once

#include <utility>
#include <vector>

#include "espalier/sensing/sensor_dynamics.hpp"
#include "sensing/solvers/sensor_pivots.hpp"

namespace espalier {

/// The augmented system of least squares under equations that hold exactly. Of A = [D; C] and the
/// covariance R of the rows C,
///   [0  C^T D^T] [d ]   [0 ]
///   [C  R   0  ] [mu] = [y ],
///   [D  0   0  ] [nu]   [-b]
/// d is the least-squares estimate, mu = R^-1 (y - C d), and -(d, d) of the inverse is the
/// covariance of d. R is not inverted: a variance may be zero.
class AugmentedSystem {
 public:
  explicit AugmentedSystem(const SensorSystem& system);

  const SparsePattern& pattern() const { return pattern_; }
  /// Takes over the numbers of the system.
  void update(const SensorSystem& system);
  const std::vector<double>& values() const { return values_; }
  const std::vector<double>& right_side() const { return rhs_; }
  /// f_i on rows (f_i), a_i on rows (a_i), and the same transposed: ones.
  std::vector<PivotStep> safe_pivots(const SensorSystem& system) const;
  int mu() const { return unknowns_; }  ///< where mu starts

 private:
  int row_of(int row) const;  ///< where a row of A stands

  int unknowns_, model_rows_, sensor_rows_;
  SparsePattern pattern_;
  std::vector<double> values_, rhs_;
  std::vector<std::pair<int, int>> copies_;  ///< entry here, entry there
};

/// Any number of sensors, weighted with their covariance: the estimate of largest probability
/// a posteriori if their noise is Gaussian and nothing is known beforehand. The equations of motion
/// hold exactly. Gives variances, residual and chi-square. The augmented system is solved as by
/// sparse-lu: one order of pivots for all positions.
/// Cost: O(n) with sensors that determine each branch for itself; variances n times a solution.
/// Source: Björck, "Numerical methods for least squares problems" (1996), section 2.6 (Hachtel's
/// augmented system); Nori (2017), section VI; theory/sparse 6.
template <class T>
class MaximumAPosteriori final : public SensorDynamics<T> {
 public:
  using typename SensorDynamics<T>::Answer;
  using typename SensorDynamics<T>::Operations;

  explicit MaximumAPosteriori(const Setup& setup)
      : SensorDynamics<T>(setup, true),
        augmented_(this->equations()),
        solver_(augmented_.pattern(), order(setup.symbolic)),
        x_(augmented_.pattern().size()),
        unit_(augmented_.pattern().size(), 0.0) {}

  std::string symbolic() const override { return solver_.lu().order().text(fingerprint()); }
  /// Without variances.
  Operations operations() const override { return operations_of(solver_.lu()); }

 private:
  std::string fingerprint() const { return "map of " + this->system().fingerprint(); }

  PivotOrder order(const std::string& symbolic) {
    SensorSystem& system = this->equations();
    if (!symbolic.empty()) {
      return PivotOrder::parse(symbolic, fingerprint(), augmented_.pattern());
    }
    expect_well_posed(system);
    std::vector<std::vector<double>> samples;
    const std::vector<double> rest(system.model().nv(), 0.0);
    for (const unsigned long long seed : {21, 22, 23, 24}) {
      system.update(system.sample_position(seed).data(), rest.data(), nullptr, {0, 0, 0}, nullptr);
      augmented_.update(system);
      samples.push_back(augmented_.values());
    }
    PivotOrder found = find_pivots(augmented_.pattern(), samples, augmented_.safe_pivots(system));
    if (found.size() == augmented_.pattern().size()) return found;
    throw SingularMechanism("map: the sensors of '" + system.model().name() +
                            "' contradict or repeat one another without error, expected "
                            "covariances above 0 for sensors that are redundant");
  }

  void compute(double* d, Answer& answer) override {
    const SensorSystem& system = this->system();
    augmented_.update(system);
    const double* values = augmented_.values().data();
    if (!solver_.solve(values, augmented_.right_side().data(), x_.data())) {
      return give_up(system, &solver_, d);
    }
    const int n = system.unknowns();
    std::copy(x_.begin(), x_.begin() + n, d);

    for (int k = 0; k < system.sensor_rows(); ++k) {
      answer.residual[k] = system.right_side()[system.model_rows() + k];
    }
    for (int j = 0; j < n; ++j) {
      for (int e = system.column_start()[j]; e < system.column_start()[j + 1]; ++e) {
        const int k = system.row_index()[e] - system.model_rows();
        if (k >= 0) answer.residual[k] -= system.values()[e] * d[j];
      }
    }
    answer.chi_square = 0.0;
    for (int k = 0; k < system.sensor_rows(); ++k) {
      answer.chi_square += x_[augmented_.mu() + k] * answer.residual[k];
    }
    if (!this->gives_variances()) return;
    for (int j = 0; j < n; ++j) {
      const SensorSystem::Told& told = system.told(j);
      std::copy_n(told.row.begin(), told.count, unit_.begin() + told.first);
      solver_.solve_again(unit_.data(), x_.data());
      std::fill_n(unit_.begin() + told.first, told.count, 0.0);
      // Of what is exact, rounding leaves -1e-20.
      answer.variance[j] = std::max(0.0, -system.told(j, x_.data()));
    }
  }

  AugmentedSystem augmented_;
  FixedSolver solver_;
  std::vector<double> x_, unit_;
};

}  // namespace espalier
