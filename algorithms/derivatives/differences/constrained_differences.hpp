#pragma once

#include "algorithms/constrained_dynamics/dense.hpp"
#include "algorithms/derivatives/differences/differences.hpp"
#include "espalier/kernel/problems/derivatives/constrained_dynamics_derivatives.hpp"

namespace espalier {

/// Derivatives of constrained dynamics by central differences of the dense oracle with loops
/// closed. Allocates.
template <class T>
class DifferenceConstrained final : public ConstrainedDynamicsDerivatives<T> {
 public:
  explicit DifferenceConstrained(const Setup& setup)
      : ConstrainedDynamicsDerivatives<T>(setup), dynamics_(setup), differences_(this->model()) {}

  T margin() override { return differences_.margin(); }

 private:
  using Answer = typename ConstrainedDynamicsDerivatives<T>::Answer;

  const Answer& compute(const double* q, const double* v, const double* tau,
                        const double* acceleration, const Loads<double>* loads) override {
    const Model& model = this->model();
    const int n = model.nv(), m = this->task().size();
    ClosedDifferences::expect_plain(loads);
    differences_.start(q);
    dynamics_.set_gravity(this->gravity());
    dynamics_.set_compliance(this->compliance());
    // Accelerations, and forces behind them.
    const auto at = [&](const double* position, const double* rates, const double* forces) {
      const auto& answer =
          dynamics_.evaluate({position, model.nq()}, {rates, n}, {forces, n}, {acceleration, m},
                             loads == nullptr ? nullptr : loads->wrenches);
      std::vector<double> both = answer.vdot;
      both.insert(both.end(), answer.force.begin(), answer.force.end());
      return both;
    };
    const auto& here = dynamics_.evaluate({q, model.nq()}, {v, n}, {tau, n}, {acceleration, m},
                                          loads == nullptr ? nullptr : loads->wrenches);
    answer_.vdot = here.vdot, answer_.force = here.force;
    answer_.rank = here.rank, answer_.conflict = here.conflict;
    std::vector<double> all(static_cast<std::size_t>(n + m) * n);
    differences_.matrix(
        [&](double t, int k) { return at(differences_.moved(q, k, t).data(), v, tau); }, all.data(),
        n + m);
    split(all, n, answer_.dvdot_dq, answer_.dforce_dq);
    differences_.matrix(
        [&](double t, int k) { return at(q, ClosedDifferences::shifted(v, n, k, t).data(), tau); },
        all.data(), n + m);
    split(all, n, answer_.dvdot_dv, answer_.dforce_dv);
    differences_.matrix(
        [&](double t, int k) { return at(q, v, ClosedDifferences::shifted(tau, n, k, t).data()); },
        all.data(), n + m);
    split(all, n, answer_.dvdot_dtau, answer_.dforce_dtau);
    return answer_;
  }
  /// The first nv rows, and the others.
  void split(const std::vector<double>& all, int columns, std::vector<double>& first,
             std::vector<double>& others) const {
    const auto middle = all.begin() + static_cast<long>(this->model().nv()) * columns;
    first.assign(all.begin(), middle);
    others.assign(middle, all.end());
  }

  DenseConstrainedDynamics<double> dynamics_;
  ClosedDifferences differences_;
  Answer answer_;
};

}  // namespace espalier
