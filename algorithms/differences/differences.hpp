#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "algorithms/differences/halved_steps.hpp"
#include "algorithms/oracles/dense.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/motion/spanning_variation.hpp"
#include "espalier/kernel/problems/derivatives/derivatives.hpp"

/// Derivatives by central differences of order 8 of the dense algorithms, loops closed by Newton's
/// method at every point: a reference that shares no formula with the analytical ones. Of steps
/// from 1.6e-2 to 6e-5 each column takes the one that agrees best with its neighbour; that leaves
/// errors of 1e-13 to 1e-9. Allocates.

namespace espalier {

class ClosedDifferences {
 public:
  explicit ClosedDifferences(const Model& model)
      : model_(model), motion_(model), variation_(model), here_(model.nq()) {}

  /// Remembers the position that margin() speaks of.
  void start(const double* q) { std::copy_n(q, here_.size(), here_.begin()); }
  /// As analytical algorithms have it.
  double margin() {
    variation_.update(here_.data(), nullptr);
    return variation_.margin();
  }

  /// q moved by t along independent coordinate k.
  std::vector<double> moved(const double* q, int k, double t) {
    std::vector<double> unit(model_.nv(), 0.0);
    unit[k] = 1.0;
    return moved_along(q, unit.data(), t);
  }
  /// q moved along rates v for time t.
  std::vector<double> moved_along(const double* q, const double* v, double t) {
    std::vector<double> unit(v, v + model_.nv()), step(model_.spanning_nv(), 0.0), out(model_.nq());
    for (double& x : unit) x *= t;
    if (model_.is_tree()) {
      step = unit;
    } else {
      motion_.update(q, nullptr);
      motion_.expand(unit.data(), step.data());
    }
    model_.integrate(q, step.data(), out.data());
    model_.apply_couplings(out.data());
    if (model_.has_variable_constraints()) project(model_, out.data(), {.tolerance = 1e-15});
    return out;
  }
  /// Derivative of f(t), a vector, by t at 0.
  template <class F>
  static std::vector<double> along(F&& f) {
    return best_difference(f).derivative;
  }
  /// Matrix of `rows` rows whose column k is the derivative of f(t, k) by t.
  template <class F>
  void matrix(F&& f, double* out, int rows) const {
    const int n = model_.nv();
    for (int k = 0; k < n; ++k) {
      const std::vector<double> column = along([&](double t) { return f(t, k); });
      for (int i = 0; i < rows; ++i) out[static_cast<long>(i) * n + k] = column[i];
    }
  }
  template <class F>
  void matrix(F&& f, double* out) const {
    matrix(std::forward<F>(f), out, model_.nv());
  }
  static std::vector<double> shifted(const double* x, int n, int k, double t) {
    std::vector<double> out(x, x + n);
    out[k] += t;
    return out;
  }
  static void expect_plain(const Loads<double>* loads) {
    if (loads != nullptr && (loads->framed != nullptr || loads->joints != nullptr)) {
      throw Unsupported(
          "differences: loads other than wrenches in link frames are given, expected none (use an "
          "analytical algorithm)");
    }
  }

 private:
  const Model& model_;
  SpanningMotion<double> motion_;
  SpanningVariation<double> variation_;
  std::vector<double> here_;
};

template <class T>
class DifferenceInverse final : public InverseDynamicsDerivatives<T> {
 public:
  explicit DifferenceInverse(ModelPtr model)
      : InverseDynamicsDerivatives<T>(model),
        dynamics_(model),
        inertia_(model),
        differences_(this->model()) {}

  T margin() override { return differences_.margin(); }

 private:
  void compute(const double* q, const double* v, const double* vdot, double* tau, double* dtau_dq,
               double* dtau_dv, double* M, const Loads<double>* loads) override {
    const Model& model = this->model();
    const int n = model.nv();
    ClosedDifferences::expect_plain(loads);
    differences_.start(q);
    dynamics_.set_gravity(this->gravity());
    const auto tau_at = [&](const double* position, const double* rates) {
      std::vector<double> out(n);
      dynamics_.evaluate({position, model.nq()}, {rates, n}, {vdot, n}, out,
                         loads == nullptr ? nullptr : loads->wrenches);
      return out;
    };
    const std::vector<double> here = tau_at(q, v);
    std::copy(here.begin(), here.end(), tau);
    inertia_.evaluate({q, model.nq()}, Out<double>(M, static_cast<long>(n) * n));
    differences_.matrix(
        [&](double t, int k) { return tau_at(differences_.moved(q, k, t).data(), v); }, dtau_dq);
    differences_.matrix(
        [&](double t, int k) { return tau_at(q, ClosedDifferences::shifted(v, n, k, t).data()); },
        dtau_dv);
  }

  DenseInverseDynamics<double> dynamics_;
  DenseMassMatrix<double> inertia_;
  ClosedDifferences differences_;
};

template <class T>
class DifferenceForward final : public ForwardDynamicsDerivatives<T> {
 public:
  explicit DifferenceForward(ModelPtr model)
      : ForwardDynamicsDerivatives<T>(model),
        dynamics_(model),
        inertia_(model),
        differences_(this->model()) {}

  T margin() override { return differences_.margin(); }

 private:
  void compute(const double* q, const double* v, const double* tau, double* vdot, double* dvdot_dq,
               double* dvdot_dv, double* dvdot_dtau, const Loads<double>* loads) override {
    const Model& model = this->model();
    const int n = model.nv();
    ClosedDifferences::expect_plain(loads);
    differences_.start(q);
    dynamics_.set_gravity(this->gravity());
    const auto vdot_at = [&](const double* position, const double* rates) {
      std::vector<double> out(n);
      dynamics_.evaluate({position, model.nq()}, {rates, n}, {tau, n}, out,
                         loads == nullptr ? nullptr : loads->wrenches);
      return out;
    };
    const std::vector<double> here = vdot_at(q, v);
    std::copy(here.begin(), here.end(), vdot);
    inertia_.evaluate({q, model.nq()}, Out<double>(dvdot_dtau, static_cast<long>(n) * n));
    Eigen::Map<Eigen::MatrixXd> M(dvdot_dtau, n, n);
    M = M.partialPivLu().inverse().eval();
    differences_.matrix(
        [&](double t, int k) { return vdot_at(differences_.moved(q, k, t).data(), v); }, dvdot_dq);
    differences_.matrix(
        [&](double t, int k) { return vdot_at(q, ClosedDifferences::shifted(v, n, k, t).data()); },
        dvdot_dv);
  }

  DenseForwardDynamics<double> dynamics_;
  DenseMassMatrix<double> inertia_;
  ClosedDifferences differences_;
};

}  // namespace espalier
