#pragma once

#include "espalier/kernel/algorithm.hpp"

/// The problems that algorithms solve, one interface each. evaluate() checks sizes and hands plain
/// pointers to compute(), which an algorithm implements. Arrays are those of the Model: q spanning
/// positions (nq), v, vdot, tau independent rates, accelerations and forces (nv).

namespace espalier {

namespace detail {
/// Result number k of a list, made on first use.
template <class V>
BasicResult<V>& result(BasicResults<V>& out, std::size_t k, const char* name) {
  if (out.size() <= k) out.resize(k + 1);
  if (out[k].name != name) out[k].name = name;
  return out[k];
}
[[noreturn]] ESPALIER_API void refuse_named_inputs();
/// Named inputs as an algorithm's scalar wants them: themselves, or variables to be counted.
template <class T, class V>
decltype(auto) lifted(const std::vector<V>& x) {
  if constexpr (std::is_same_v<T, V>) {
    return (x);
  } else {
    std::vector<T> variables;
    for (const double value : x) variables.push_back(T::variable(value));
    return variables;
  }
}
template <class T, class V>
const Wrenches<T>* lifted(const Wrenches<V>* wrenches) {
  if constexpr (std::is_same_v<T, V>) {
    return wrenches;
  } else {
    return nullptr;
  }
}
/// A number of an answer as results have it.
template <class V, class T>
V lowered(const T& x) {
  if constexpr (std::is_same_v<T, V>) {
    return x;
  } else {
    return lane(x, 0);
  }
}
/// Has f(Out<T>) write a result's values.
template <class T, class V, class F>
void answer(BasicResult<V>& r, F&& f) {
  if constexpr (std::is_same_v<T, V>) {
    f(Out<T>(r.values));
  } else {
    std::vector<T> values(r.values.size());
    f(Out<T>(values));
    for (std::size_t i = 0; i < values.size(); ++i) r.values[i] = lowered<V>(values[i]);
  }
}
/// @throws SizeMismatch if the wrenches were made for another model
template <class T>
void expect_wrenches(const char* who, const Wrenches<T>* wrenches, const Model& model) {
  if (wrenches == nullptr) return;
  expect_size(who, "wrenches", wrenches->size(), model.body_count() + 1);
}
}  // namespace detail

/// vdot of a robot under given forces.
template <class T>
class ESPALIER_API ForwardDynamics : public AlgorithmAt<T> {
 public:
  static constexpr std::string_view problem = "forward-dynamics";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes generalized accelerations.
  /// @param q          spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v          independent rates, size nv [rad/s, m/s]
  /// @param tau        generalized forces, size nv [N·m, N]
  /// @param[out] vdot  accelerations, size nv: derivatives of v's components [rad/s², m/s²]
  /// @param wrenches   external wrenches on bodies, or nullptr
  /// @throws SizeMismatch
  void evaluate(In<T> q, In<T> v, In<T> tau, Out<T> vdot, const Wrenches<T>* wrenches = nullptr) {
    const Model& m = model();
    expect_size("forward dynamics", "q", q.size(), m.nq());
    expect_size("forward dynamics", "v", v.size(), m.nv());
    expect_size("forward dynamics", "tau", tau.size(), m.nv());
    expect_size("forward dynamics", "vdot", vdot.size(), m.nv());
    detail::expect_wrenches("forward dynamics", wrenches, m);
    compute(q.data(), v.data(), tau.data(), vdot.data(), wrenches);
  }

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override {
    BasicResult<Value>& r = detail::result(out, 0, "vdot");
    r.shape(ResultAxis::rates, model().nv(), ResultAxis::one, 1);
    detail::answer<T>(r, [&](Out<T> vdot) {
      evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.tau), vdot,
               detail::lifted<T>(in.wrenches));
    });
  }
  virtual void compute(const T* q, const T* v, const T* tau, T* vdot,
                       const Wrenches<T>* wrenches) = 0;
};

/// Forces that give a robot wanted accelerations.
template <class T>
class ESPALIER_API InverseDynamics : public AlgorithmAt<T> {
 public:
  static constexpr std::string_view problem = "inverse-dynamics";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes tau for the accelerations vdot; arguments as in ForwardDynamics.
  void evaluate(In<T> q, In<T> v, In<T> vdot, Out<T> tau, const Wrenches<T>* wrenches = nullptr) {
    const Model& m = model();
    expect_size("inverse dynamics", "q", q.size(), m.nq());
    expect_size("inverse dynamics", "v", v.size(), m.nv());
    expect_size("inverse dynamics", "vdot", vdot.size(), m.nv());
    expect_size("inverse dynamics", "tau", tau.size(), m.nv());
    detail::expect_wrenches("inverse dynamics", wrenches, m);
    compute(q.data(), v.data(), vdot.data(), tau.data(), wrenches);
  }

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override {
    BasicResult<Value>& r = detail::result(out, 0, "tau");
    r.shape(ResultAxis::rates, model().nv(), ResultAxis::one, 1);
    detail::answer<T>(r, [&](Out<T> tau) {
      evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot), tau,
               detail::lifted<T>(in.wrenches));
    });
  }
  virtual void compute(const T* q, const T* v, const T* vdot, T* tau,
                       const Wrenches<T>* wrenches) = 0;
};

/// Forces that hold a moving robot at vdot = 0: Coriolis, centrifugal, gravity, external.
template <class T>
class ESPALIER_API BiasForce : public AlgorithmAt<T> {
 public:
  static constexpr std::string_view problem = "bias-force";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// @param[out] bias  size nv [N·m, N]
  void evaluate(In<T> q, In<T> v, Out<T> bias, const Wrenches<T>* wrenches = nullptr) {
    const Model& m = model();
    expect_size("bias force", "q", q.size(), m.nq());
    expect_size("bias force", "v", v.size(), m.nv());
    expect_size("bias force", "bias", bias.size(), m.nv());
    detail::expect_wrenches("bias force", wrenches, m);
    compute(q.data(), v.data(), bias.data(), wrenches);
  }

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override {
    BasicResult<Value>& r = detail::result(out, 0, "bias");
    r.shape(ResultAxis::rates, model().nv(), ResultAxis::one, 1);
    detail::answer<T>(r, [&](Out<T> bias) {
      evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), bias,
               detail::lifted<T>(in.wrenches));
    });
  }
  virtual void compute(const T* q, const T* v, T* bias, const Wrenches<T>* wrenches) = 0;
};

/// Joint-space inertia matrix M(q), symmetric, full storage.
template <class T>
class ESPALIER_API MassMatrix : public AlgorithmAt<T> {
 public:
  static constexpr std::string_view problem = "mass-matrix";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// @param[out] M  size nv * nv, all entries written [kg·m², kg·m, kg]
  void evaluate(In<T> q, Out<T> M) {
    const Model& m = model();
    expect_size("mass matrix", "q", q.size(), m.nq());
    expect_size("mass matrix", "M", M.size(), static_cast<long>(m.nv()) * m.nv());
    compute(q.data(), M.data());
  }

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override {
    BasicResult<Value>& r = detail::result(out, 0, "mass_matrix");
    r.shape(ResultAxis::rates, model().nv(), ResultAxis::rates, model().nv());
    detail::answer<T>(r, [&](Out<T> M) { evaluate(detail::lifted<T>(in.q), M); });
  }
  virtual void compute(const T* q, T* M) = 0;
};

/// Where the links are and how they move.
template <class T>
class ESPALIER_API Kinematics : public AlgorithmAt<T> {
 public:
  static constexpr std::string_view problem = "forward-kinematics";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Placements, velocities and spatial accelerations of all bodies; the accessors below speak of
  /// the last call. Gravity is not included.
  void evaluate(In<T> q, In<T> v, In<T> vdot) {
    const Model& m = model();
    expect_size("kinematics", "q", q.size(), m.nq());
    expect_size("kinematics", "v", v.size(), m.nv());
    expect_size("kinematics", "vdot", vdot.size(), m.nv());
    compute(q.data(), v.data(), vdot.data());
  }

  /// World to link frame: E takes world to link coordinates, r is the link's origin in the world.
  virtual Transform<T> placement(const Link& link) const = 0;
  /// Twist of the link, link frame, at its origin [rad/s, m/s].
  virtual Motion<T> velocity(const Link& link) const = 0;
  /// Spatial acceleration: derivative of the components of velocity() [rad/s², m/s²].
  virtual Motion<T> acceleration(const Link& link) const = 0;

 protected:
  /// Per link: x y z, qx qy qz qw, twist (6), spatial acceleration (6).
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override;
  virtual void compute(const T* q, const T* v, const T* vdot) = 0;
};

/// Jacobians of the links' twists.
template <class T>
class ESPALIER_API BodyJacobians : public AlgorithmAt<T> {
 public:
  static constexpr std::string_view problem = "jacobian";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  void evaluate(In<T> q) {
    expect_size("jacobians", "q", q.size(), model().nq());
    compute(q.data());
  }
  /// Jacobian at the last evaluate(): the link's twist (link frame, at its origin) is J v.
  /// @param[out] J  6 x nv, row-major, angular rows first
  void jacobian(const Link& link, Out<T> J) const {
    expect_size("jacobians", "J", J.size(), 6L * model().nv());
    write(link, J.data());
  }

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override;
  virtual void compute(const T* q) = 0;
  virtual void write(const Link& link, T* J) const = 0;
};

/// Centre of mass of all that moves, and its motion, world axes.
template <class T>
class ESPALIER_API CenterOfMass : public AlgorithmAt<T> {
 public:
  static constexpr std::string_view problem = "center-of-mass";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  struct Answer {
    Vec3<T> position, velocity, acceleration;  ///< [m, m/s, m/s²]
  };
  Answer evaluate(In<T> q, In<T> v, In<T> vdot) {
    const Model& m = model();
    expect_size("center of mass", "q", q.size(), m.nq());
    expect_size("center of mass", "v", v.size(), m.nv());
    expect_size("center of mass", "vdot", vdot.size(), m.nv());
    return compute(q.data(), v.data(), vdot.data());
  }

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override;
  virtual Answer compute(const T* q, const T* v, const T* vdot) = 0;
};

/// Mechanical energy [J]; potential energy is zero with all mass at the world's origin.
template <class T>
class ESPALIER_API Energy : public AlgorithmAt<T> {
 public:
  static constexpr std::string_view problem = "energy";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  struct Answer {
    T kinetic, potential;
  };
  Answer evaluate(In<T> q, In<T> v) {
    const Model& m = model();
    expect_size("energy", "q", q.size(), m.nq());
    expect_size("energy", "v", v.size(), m.nv());
    return compute(q.data(), v.data());
  }

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override;
  virtual Answer compute(const T* q, const T* v) = 0;
};

// One copy of each interface, in the kernel.
#define ESPALIER_EXTERN(T)                  \
  extern template class ForwardDynamics<T>; \
  extern template class InverseDynamics<T>; \
  extern template class BiasForce<T>;       \
  extern template class MassMatrix<T>;      \
  extern template class Kinematics<T>;      \
  extern template class BodyJacobians<T>;   \
  extern template class CenterOfMass<T>;    \
  extern template class Energy<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
