#pragma once

#include "algorithms/derivatives/adjoints.hpp"
#include "algorithms/derivatives/differences/differences.hpp"
#include "algorithms/derivatives/variation/dual_motion.hpp"
#include "espalier/kernel/problems/derivatives/hessian_products.hpp"

namespace espalier {

/// The adjoint sweep at dual numbers: gradient of lambda^T tau and its derivative along one
/// direction. Source: theory/derivatives 19.2.
class DualAdjoint {
 public:
  using D = Dual<double>;

  explicit DualAdjoint(const ModelPtr& model)
      : model_(*model),
        positions_(*model),
        loads_(model),
        state_(*model, VariationState<D>::Columns::skip),
        sweep_(*model),
        forces_(state_),
        v_(model->nv()),
        vdot_(model->nv()),
        lambda_(model->nv()),
        tau_(model->nv()) {
    for (auto& x : by_) x.resize(model->nv());
  }

  /// Takes in a state and a direction of it.
  void start(const double* q, const double* v, const double* along_q, const double* along_v,
             const Vec3<double>& gravity, const Loads<double>* loads) {
    for (int i = 0; i < model_.nv(); ++i) v_[i] = {v[i], along_v[i]};
    state_.update(positions_.update(q, along_q), v_.data(), gravity, loads_.update(loads));
    loads_.move(positions_.rates(), state_.motion.qd());
  }
  /// Derivative of tau along the direction, vdot held, after start().
  void vary_forces(const double* vdot, double* out) {
    for (int i = 0; i < model_.nv(); ++i) vdot_[i] = D(vdot[i]);
    state_.accelerate(vdot_.data());
    forces_.forces(state_, tau_.data());
    for (int i = 0; i < model_.nv(); ++i) out[i] = tau_[i].d;
  }
  /// Derivatives of the gradients by q, v and vdot, after start().
  void vary_gradient(const double* vdot, const double* along_vdot, const double* lambda,
                     double* by_q, double* by_v, double* by_vdot) {
    for (int i = 0; i < model_.nv(); ++i) {
      vdot_[i] = {vdot[i], along_vdot[i]}, lambda_[i] = D(lambda[i]);
    }
    state_.accelerate(vdot_.data());
    sweep_.evaluate(state_, lambda_.data(), by_[0].data(), by_[1].data(), by_[2].data());
    for (int i = 0; i < model_.nv(); ++i) {
      by_q[i] = by_[0][i].d, by_v[i] = by_[1][i].d, by_vdot[i] = by_[2][i].d;
    }
  }
  /// Of the loops, after the above.
  double margin() { return state_.motion.margin().x; }

 private:
  const Model& model_;
  DualPositions positions_;
  DualLoads loads_;
  VariationState<D> state_;
  AdjointSweep<D> sweep_;
  DerivativeSweep<D> forces_;
  std::vector<D> v_, vdot_, lambda_, tau_;
  std::array<std::vector<D>, 3> by_;
};

/// Hessian of lambda^T tau times a vector, in O(n).
template <class T>
class DualInverseHessian final : public InverseDynamicsHessianProduct<T> {
 public:
  explicit DualInverseHessian(ModelPtr model)
      : InverseDynamicsHessianProduct<T>(model), adjoint_(model) {}

  T margin() override { return adjoint_.margin(); }

 private:
  using typename InverseDynamicsHessianProduct<T>::Along;

  void compute(const double* q, const double* v, const double* vdot, const double* lambda,
               const Along& along, double* by_q, double* by_v, double* by_vdot,
               const Loads<T>* loads) override {
    adjoint_.start(q, v, along.q.data(), along.v.data(), this->gravity(), loads);
    adjoint_.vary_gradient(vdot, along.vdot.data(), lambda, by_q, by_v, by_vdot);
  }

  DualAdjoint adjoint_;
};

/// Hessian of nu^T vdot times a vector, (19.2): with h the derivative of the gradient of
/// (M^-1 nu)^T tau along (w, dvdot[w]), what is wanted is -h minus the gradient of h_vdot^T vdot.
/// Source: theory/derivatives 19.2.
template <class T>
class DualForwardHessian final : public ForwardDynamicsHessianProduct<T> {
 public:
  explicit DualForwardHessian(ModelPtr model)
      : ForwardDynamicsHessianProduct<T>(model), dynamics_(model), adjoint_(model) {
    for (auto* x : {&vdot_, &lambda_, &along_vdot_, &h_vdot_, &spare_q_, &spare_v_}) {
      x->resize(this->model().nv());
    }
  }

  T margin() override { return adjoint_.margin(); }

 private:
  using typename ForwardDynamicsHessianProduct<T>::Along;

  void compute(const double* q, const double* v, const double* tau, const double* nu,
               const Along& along, double* by_q, double* by_v, double* by_tau,
               const Loads<T>* loads) override {
    const long n = this->model().nv();
    const auto in = [n](const std::vector<double>& x) { return In<double>(x.data(), n); };
    const In<double> position(q, this->model().nq()), rates(v, n), forces(tau, n);
    dynamics_.set_gravity(this->gravity());
    dynamics_.evaluate(position, rates, forces, In<double>(nu, n), vdot_, spare_q_, spare_v_,
                       lambda_, loads);
    adjoint_.start(q, v, along.q.data(), along.v.data(), this->gravity(), loads);
    adjoint_.vary_forces(vdot_.data(), along_vdot_.data());
    for (long i = 0; i < n; ++i) along_vdot_[i] = along.tau.data()[i] - along_vdot_[i];
    dynamics_.apply_inverse_mass(along_vdot_.data());
    adjoint_.vary_gradient(vdot_.data(), along_vdot_.data(), lambda_.data(), by_q, by_v,
                           h_vdot_.data());
    dynamics_.evaluate(position, rates, forces, in(h_vdot_), vdot_, spare_q_, spare_v_,
                       Out<double>(by_tau, n), loads);
    for (long i = 0; i < n; ++i) {
      by_q[i] = -by_q[i] - spare_q_[i];
      by_v[i] = -by_v[i] - spare_v_[i];
      by_tau[i] = -by_tau[i];
    }
  }

  CAbaAdjoint<double> dynamics_;
  DualAdjoint adjoint_;
  std::vector<double> vdot_, lambda_, along_vdot_, h_vdot_, spare_q_, spare_v_;
};

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

/// The same by central differences of the gradients, loops closed at each. Allocates.
template <class T>
class DifferenceInverseHessian final : public InverseDynamicsHessianProduct<T> {
 public:
  explicit DifferenceInverseHessian(ModelPtr model)
      : InverseDynamicsHessianProduct<T>(model), adjoint_(model), differences_(this->model()) {}

  T margin() override { return adjoint_.margin(); }

 private:
  using typename InverseDynamicsHessianProduct<T>::Along;

  void compute(const double* q, const double* v, const double* vdot, const double* lambda,
               const Along& along, double* by_q, double* by_v, double* by_vdot,
               const Loads<T>* loads) override {
    const long n = this->model().nv();
    detail::expect_no_joint_forces(loads);
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

  T margin() override { return adjoint_.margin(); }

 private:
  using typename ForwardDynamicsHessianProduct<T>::Along;

  void compute(const double* q, const double* v, const double* tau, const double* nu,
               const Along& along, double* by_q, double* by_v, double* by_tau,
               const Loads<T>* loads) override {
    const long n = this->model().nv();
    detail::expect_no_joint_forces(loads);
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
