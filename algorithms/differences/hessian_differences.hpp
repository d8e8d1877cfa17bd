#pragma once

#include "algorithms/derivatives/adjoints.hpp"
#include "algorithms/differences/differences.hpp"
#include "espalier/kernel/problems/derivatives/hessian_products.hpp"

namespace espalier {

namespace detail {

/// x + t w.
inline std::vector<double> moved(const double* x, const In<double>& w, double t) {
  std::vector<double> out(x, x + w.size());
  for (long i = 0; i < w.size(); ++i) out[i] += t * w.data()[i];
  return out;
}

/// Forces of joints are given at one state.
inline void expect_no_joint_forces(const Loads<double>* loads) {
  if (loads == nullptr || loads->joints == nullptr) return;
  throw Unsupported(
      "differences: loads are forces of joints, expected wrenches alone (use 'dual-adjoint')");
}

/// Differences of a gradient with three parts of n numbers.
/// @param gradient  gradient(t, a, b, c) writes the parts at t along the direction
template <class Gradient>
void difference_gradient(long n, Gradient&& gradient, double* a, double* b, double* c) {
  const std::vector<double> all = ClosedDifferences::along([&](double t) {
    std::vector<double> g(3 * n);
    const auto part = [&](long k) { return Out<double>(g.data() + k * n, n); };
    gradient(t, part(0), part(1), part(2));
    return g;
  });
  std::copy_n(all.begin(), n, a);
  std::copy_n(all.begin() + n, n, b);
  std::copy_n(all.begin() + 2 * n, n, c);
}

}  // namespace detail

/// Hessian of lambda^T tau times a vector by central differences of the gradients, loops closed at
/// each. Allocates.
template <class T>
class DifferenceInverseHessian final : public InverseDynamicsHessianProduct<T> {
 public:
  explicit DifferenceInverseHessian(ModelPtr model)
      : InverseDynamicsHessianProduct<T>(model), adjoint_(model), differences_(this->model()) {}

  T margin() override { return differences_.margin(); }

 private:
  using typename InverseDynamicsHessianProduct<T>::Along;

  void compute(const double* q, const double* v, const double* vdot, const double* lambda,
               const Along& along, double* by_q, double* by_v, double* by_vdot,
               const Loads<T>* loads) override {
    const long n = this->model().nv();
    detail::expect_no_joint_forces(loads);
    differences_.start(q);
    adjoint_.set_gravity(this->gravity());
    const auto gradient = [&](double t, Out<double> g_q, Out<double> g_v, Out<double> g_vdot) {
      adjoint_.evaluate(differences_.moved_along(q, along.q.data(), t),
                        detail::moved(v, along.v, t), detail::moved(vdot, along.vdot, t),
                        In<double>(lambda, n), g_q, g_v, g_vdot, loads);
    };
    detail::difference_gradient(n, gradient, by_q, by_v, by_vdot);
  }

  CRneaAdjoint<double> adjoint_;
  ClosedDifferences differences_;
};

template <class T>
class DifferenceForwardHessian final : public ForwardDynamicsHessianProduct<T> {
 public:
  explicit DifferenceForwardHessian(ModelPtr model)
      : ForwardDynamicsHessianProduct<T>(model), adjoint_(model), differences_(this->model()) {}

  T margin() override { return differences_.margin(); }

 private:
  using typename ForwardDynamicsHessianProduct<T>::Along;

  void compute(const double* q, const double* v, const double* tau, const double* nu,
               const Along& along, double* by_q, double* by_v, double* by_tau,
               const Loads<T>* loads) override {
    const long n = this->model().nv();
    detail::expect_no_joint_forces(loads);
    differences_.start(q);
    adjoint_.set_gravity(this->gravity());
    std::vector<double> vdot(n);
    const auto gradient = [&](double t, Out<double> g_q, Out<double> g_v, Out<double> g_tau) {
      adjoint_.evaluate(differences_.moved_along(q, along.q.data(), t),
                        detail::moved(v, along.v, t), detail::moved(tau, along.tau, t),
                        In<double>(nu, n), vdot, g_q, g_v, g_tau, loads);
    };
    detail::difference_gradient(n, gradient, by_q, by_v, by_tau);
  }

  CAbaAdjoint<double> adjoint_;
  ClosedDifferences differences_;
};

}  // namespace espalier
