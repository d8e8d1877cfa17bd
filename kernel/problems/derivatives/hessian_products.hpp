#pragma once

#include <initializer_list>
#include <utility>

#include "espalier/kernel/problems/derivatives/derivative_results.hpp"
#include "espalier/kernel/problems/loads.hpp"

namespace espalier {

namespace detail {

/// @throws SizeMismatch naming the first vector that has not nv numbers
inline void expect_rates(const char* who, const Model& model,
                         std::initializer_list<std::pair<const char*, long>> sizes) {
  for (const auto& [name, size] : sizes) expect_size(who, name, size, model.nv());
}

}  // namespace detail

/// How the gradient of lambda^T tau(q, v, vdot) changes along a direction of (q, v, vdot), lambda
/// held: the product of a Hessian with a vector, without the Hessian.
///
/// The gradient is that of InverseDynamicsAdjoint: its components by q are along the tangent on the
/// right. On spherical and floating joints these directions turn as q moves along them, so that the
/// Hessian is not symmetric there (theory/derivatives 19.2).
template <class T>
class ESPALIER_API InverseDynamicsHessianProduct : public AlgorithmAt<T>,
                                                   public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "inverse-dynamics-hessian-product";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// A direction.
  struct Along {
    In<T> q;     ///< size nv, tangent on the right
    In<T> v;     ///< size nv
    In<T> vdot;  ///< size nv
  };
  /// Differentiates the gradient.
  /// @param q, v, vdot    as in InverseDynamics
  /// @param lambda        multipliers, size nv
  /// @param along         direction
  /// @param[out] by_q     derivative of the gradient by q, size nv
  /// @param[out] by_v     of that by v, size nv
  /// @param[out] by_vdot  of that by vdot, size nv
  /// @param loads         what acts besides tau and gravity, or nullptr; forces of joints are taken
  ///                      as linear in position and rate
  /// Cost: O(n).
  /// @throws SizeMismatch
  void evaluate(In<T> q, In<T> v, In<T> vdot, In<T> lambda, const Along& along, Out<T> by_q,
                Out<T> by_v, Out<T> by_vdot, const Loads<T>* loads = nullptr) {
    const char* who = "inverse dynamics hessian product";
    const Model& m = model();
    expect_size(who, "q", q.size(), m.nq());
    detail::expect_rates(who, m,
                         {{"v", v.size()},
                          {"vdot", vdot.size()},
                          {"lambda", lambda.size()},
                          {"along.q", along.q.size()},
                          {"along.v", along.v.size()},
                          {"along.vdot", along.vdot.size()},
                          {"by_q", by_q.size()},
                          {"by_v", by_v.size()},
                          {"by_vdot", by_vdot.size()}});
    detail::expect_loads(who, loads, m);
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data(), v.data(), vdot.data(), lambda.data(), along, by_q.data(), by_v.data(),
            by_vdot.data(), loads);
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  /// At the inputs' multipliers, or ones, along ones.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override {
    const std::vector<T> ones(model().nv(), T(1.0));
    const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
    detail::rate_results<T>(
        out, model().nv(), {{"by_q", false}, {"by_v", false}, {"by_vdot", false}},
        [&](const auto& r) {
          evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot),
                   detail::multipliers<T>(in, model().nv()), {ones, ones, ones}, r[0], r[1], r[2],
                   &loads);
        });
    this->add_margin(model(), out, 3);
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* vdot, const T* lambda, const Along& along,
                       T* by_q, T* by_v, T* by_vdot, const Loads<T>* loads) = 0;
};

/// The same of nu^T vdot(q, v, tau), nu held.
template <class T>
class ESPALIER_API ForwardDynamicsHessianProduct : public AlgorithmAt<T>,
                                                   public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "forward-dynamics-hessian-product";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// A direction.
  struct Along {
    In<T> q;    ///< size nv, tangent on the right
    In<T> v;    ///< size nv
    In<T> tau;  ///< size nv
  };
  /// Differentiates the gradient.
  /// @param q, v, tau    as in ForwardDynamics
  /// @param nu           multipliers, size nv
  /// @param along        direction
  /// @param[out] by_q    derivative of the gradient by q, size nv
  /// @param[out] by_v    of that by v, size nv
  /// @param[out] by_tau  of that by tau, size nv
  /// @param loads        as in InverseDynamicsHessianProduct
  /// Cost: O(n d^2).
  /// @throws SizeMismatch; SingularMechanism where some motion has no inertia
  void evaluate(In<T> q, In<T> v, In<T> tau, In<T> nu, const Along& along, Out<T> by_q, Out<T> by_v,
                Out<T> by_tau, const Loads<T>* loads = nullptr) {
    const char* who = "forward dynamics hessian product";
    const Model& m = model();
    expect_size(who, "q", q.size(), m.nq());
    detail::expect_rates(who, m,
                         {{"v", v.size()},
                          {"tau", tau.size()},
                          {"nu", nu.size()},
                          {"along.q", along.q.size()},
                          {"along.v", along.v.size()},
                          {"along.tau", along.tau.size()},
                          {"by_q", by_q.size()},
                          {"by_v", by_v.size()},
                          {"by_tau", by_tau.size()}});
    detail::expect_loads(who, loads, m);
    this->expect_inertia(problem, q.data());
    compute(q.data(), v.data(), tau.data(), nu.data(), along, by_q.data(), by_v.data(),
            by_tau.data(), loads);
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  /// At the inputs' multipliers, or ones, along ones.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override {
    const std::vector<T> ones(model().nv(), T(1.0));
    const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
    detail::rate_results<T>(
        out, model().nv(), {{"by_q", false}, {"by_v", false}, {"by_tau", false}},
        [&](const auto& r) {
          evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.tau),
                   detail::multipliers<T>(in, model().nv()), {ones, ones, ones}, r[0], r[1], r[2],
                   &loads);
        });
    this->add_margin(model(), out, 3);
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* tau, const T* nu, const Along& along,
                       T* by_q, T* by_v, T* by_tau, const Loads<T>* loads) = 0;
};

// One copy of the interfaces, in the kernel.
#define ESPALIER_EXTERN(T)                                \
  extern template class InverseDynamicsHessianProduct<T>; \
  extern template class ForwardDynamicsHessianProduct<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
