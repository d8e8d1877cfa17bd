#pragma once

#include <utility>
#include <vector>

#include "espalier/kernel/problems/end_effector.hpp"
#include "espalier/kernel/problems/named_results.hpp"

/// Derivatives of the dynamics by the state, and the matrices that come with them.
///
/// Derivatives by q are along the tangent of the independent coordinates on the right, the
/// components of v and vdot held: d/de of q moved by e v as Model::integrate() does, loops closed;
/// for a floating joint e is the body's twist, angular part first. Matrices are nv x nv, row-major,
/// entry (i, j) the derivative of component i by coordinate j (theory/derivatives 11).
/// Results are one-sided where a load is not smooth (dry friction at rest).

namespace espalier {

/// What stays constant of an external wrench while the robot moves. The three are the same wrench
/// and differ in derivatives by q (theory/derivatives 14).
enum class WrenchFrame {
  link,         ///< moment about the link's origin and force, link axes: a thruster, a sole
  world,        ///< moment about the world's origin and force, world axes
  world_at_point  ///< moment about a point of the link and force, world axes: a push at a point
};

/// External wrenches with the frames in which they are constant.
template <class T>
class FramedWrenches {
 public:
  /// One wrench.
  struct Item {
    int body = 0;                           ///< that it acts on
    WrenchFrame frame = WrenchFrame::link;  ///< in which it is constant
    Force<T> wrench;      ///< body frame for `link`, else as in the frame
    Vec3<double> point;   ///< body frame, of world_at_point
  };
  /// None yet.
  explicit FramedWrenches(ModelPtr model) : model_(std::move(model)) {}

  /// Adds a wrench on a link.
  /// @param link    that it acts on
  /// @param frame   in which it is constant
  /// @param wrench  components in the frame [N·m, N]
  /// @param point   on the link, link axes, for world_at_point [m]
  /// @throws UnknownName
  void add(std::string_view link, WrenchFrame frame, const Force<T>& wrench,
           const Vec3<double>& point = {0, 0, 0}) {
    const Link& l = model_->link(link);
    Item item{l.body, frame, wrench, l.X.r + transpose_times(l.X.E, point)};
    if (frame == WrenchFrame::link) item.wrench = l.X.transpose_times_force(wrench);
    items_.push_back(item);
  }
  /// Adds a wrench on a body.
  void add_item(const Item& item) { items_.push_back(item); }
  /// Takes all wrenches off.
  void clear() { items_.clear(); }
  /// In the order of adding.
  const std::vector<Item>& items() const { return items_; }

 private:
  ModelPtr model_;
  std::vector<Item> items_;
};

/// Forces on spanning joints besides tau: springs, dampers, friction, motors on dependent joints.
/// Entries per spanning rate; the force of a joint depends on its own position and rate alone.
template <class T>
struct JointForces {
  std::vector<T> force;        ///< along the rate [N·m, N], size spanning_nv
  std::vector<T> by_position;  ///< its derivative by the position, along the rate; empty: 0
  std::vector<T> by_rate;      ///< its derivative by the rate; empty: 0
};

/// All that acts on a robot besides gravity and tau; null where there is none.
template <class T>
struct Loads {
  const Wrenches<T>* wrenches = nullptr;      ///< constant in link frames
  const FramedWrenches<T>* framed = nullptr;  ///< constant in frames of their own
  const JointForces<T>* joints = nullptr;     ///< M vdot + bias = tau + G^T force
};

/// The forces of a model's springs, dampers and dry friction (PassiveForces) with their
/// derivatives. Friction is friction tanh(qd / friction_rate); at rate 0 of `friction_rate` it is
/// friction sign(qd) with derivative 0, which is one-sided at rest.
ESPALIER_API void passive_joint_forces(const Model& model, const double* q, const double* qd,
                                       double friction_rate, JointForces<double>& out);

namespace detail {
template <class T>
void expect_loads(const char* who, const Loads<T>* loads, const Model& model) {
  if (loads == nullptr) return;
  expect_wrenches(who, loads->wrenches, model);
  if (loads->joints == nullptr) return;
  const JointForces<T>& j = *loads->joints;
  expect_size(who, "joint forces", static_cast<long>(j.force.size()), model.spanning_nv());
  if (!j.by_position.empty()) {
    expect_size(who, "joint forces' derivatives by position",
                static_cast<long>(j.by_position.size()), model.spanning_nv());
  }
  if (!j.by_rate.empty()) {
    expect_size(who, "joint forces' derivatives by rate", static_cast<long>(j.by_rate.size()),
                model.spanning_nv());
  }
}
/// Where a problem that has several vectors and matrices over rates writes its results.
template <class T>
struct RateViews {
  static constexpr int most = 4;
  T* data[most];
  long size[most];
  /// Result k, as a vector or as a matrix that stands row after row.
  struct View {
    T* data;
    long size;
    operator Out<T>() const { return {data, size}; }        // NOLINT(google-explicit-constructor)
    operator OutMatrix<T>() const { return {data, size}; }  // NOLINT(google-explicit-constructor)
  };
  View operator[](int k) const { return {data[k], size[k]}; }
};
/// Has f(RateViews) write results; the name of each, and whether it is a matrix.
template <class T, class V, class F>
void rate_results(BasicResults<V>& out, int nv,
                  std::initializer_list<std::pair<const char*, bool>> names, F&& f) {
  RateViews<T> views;
  std::vector<std::vector<T>> lifted;
  if (out.size() < names.size()) out.resize(names.size());
  int k = 0;
  for (const auto& [name, is_matrix] : names) {
    BasicResult<V>& r = result(out, static_cast<std::size_t>(k), name);
    r.shape(ResultAxis::rates, nv, is_matrix ? ResultAxis::rates : ResultAxis::one,
            is_matrix ? nv : 1);
    views.size[k] = static_cast<long>(r.values.size());
    if constexpr (std::is_same_v<T, V>) {
      views.data[k] = r.values.data();
    } else {
      views.data[k] = lifted.emplace_back(r.values.size()).data();
    }
    ++k;
  }
  f(views);
  if constexpr (!std::is_same_v<T, V>) {
    for (int i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < lifted[i].size(); ++j) {
        out[i].values[j] = lowered<V>(lifted[i][j]);
      }
    }
  }
}
/// lambda of an adjoint: ones where the input has none.
template <class T, class V>
std::vector<T> multipliers(const BasicInputs<V>& in, int nv) {
  if (in.multipliers.empty()) return std::vector<T>(nv, T(1.0));
  return lifted<T>(in.multipliers);
}
}  // namespace detail

/// What algorithms for derivatives say of their answers besides the numbers. Derivatives through
/// loops grow like powers of the inverse of the loops' margin, and lose as many digits.
template <class T>
class ESPALIER_API DifferentiatesLoops {
 public:
  /// Below this margin is_near_dead_point(): cond(K) of dependent joints above 1e8.
  static constexpr double least_margin = 1e-8;
  virtual ~DifferentiatesLoops() = default;

  /// Smallest singular value of the loops' dependent columns over the largest of all, bounded from
  /// below, at the position of the last evaluate(): 1 where there are no loops, 0 at a dead point.
  virtual T margin() = 0;
  /// Whether derivatives of the last evaluate() may be far off since loops are near a dead point;
  /// one or zero for each lane. Declare other joints independent there (better_independents()).
  T is_near_dead_point() {
    return select_less(margin(), T(least_margin), T(1.0), T(0.0));
  }

 protected:
  /// Appends both to named results, where a model has loops.
  template <class V>
  void add_margin(const Model& model, BasicResults<V>& out, std::size_t first) {
    if (!model.has_variable_constraints()) return;
    detail::result(out, first + 1, "near_dead_point").shape(ResultAxis::one, 1, ResultAxis::one, 1);
    detail::result(out, first, "singularity_margin").shape(ResultAxis::one, 1, ResultAxis::one, 1);
    out[first].values[0] = detail::lowered<V>(margin());
    out[first + 1].values[0] = detail::lowered<V>(is_near_dead_point());
  }
};

/// tau(q, v, vdot) with its derivatives.
template <class T>
class ESPALIER_API InverseDynamicsDerivatives : public AlgorithmAt<T>,
                                                public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "inverse-dynamics-derivatives";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes generalized forces and their derivatives.
  /// @param q             spanning positions on closed loops, size nq [rad, m, quaternions x y z w]
  /// @param v             independent rates, size nv [rad/s, m/s]
  /// @param vdot          accelerations, size nv [rad/s², m/s²]
  /// @param[out] tau      forces that give vdot, size nv [N·m, N]
  /// @param[out] dtau_dq  size nv * nv, all entries written
  /// @param[out] dtau_dv  likewise
  /// @param[out] M        dtau_dvdot: the joint-space inertia matrix, likewise
  /// @param loads         what acts besides tau and gravity, or nullptr
  /// Frame: see the top of this file.  Cost: O(n d).
  /// @throws SizeMismatch; Unsupported for a wrench on a folded rotor
  void evaluate(In<T> q, In<T> v, In<T> vdot, Out<T> tau, OutMatrix<T> dtau_dq,
                OutMatrix<T> dtau_dv, OutMatrix<T> M, const Loads<T>* loads = nullptr) {
    const char* who = "inverse dynamics derivatives";
    const Model& m = model();
    const long nv = m.nv();
    expect_size(who, "q", q.size(), m.nq());
    expect_size(who, "v", v.size(), nv);
    expect_size(who, "vdot", vdot.size(), nv);
    expect_size(who, "tau", tau.size(), nv);
    dtau_dq.expect(who, "dtau_dq", nv, nv);
    dtau_dv.expect(who, "dtau_dv", nv, nv);
    M.expect(who, "M", nv, nv);
    detail::expect_loads(who, loads, m);
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data(), v.data(), vdot.data(), tau.data(), dtau_dq.data(), dtau_dv.data(), M.data(),
            loads);
    dtau_dq.finish(), dtau_dv.finish(), M.finish();
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override {
    const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
    detail::rate_results<T>(
        out, model().nv(),
        {{"tau", false}, {"dtau_dq", true}, {"dtau_dv", true}, {"mass_matrix", true}},
        [&](const auto& r) {
          evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot),
                   r[0], r[1], r[2], r[3], &loads);
        });
    this->add_margin(model(), out, 4);
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* vdot, T* tau, T* dtau_dq, T* dtau_dv,
                       T* M, const Loads<T>* loads) = 0;
};

/// vdot(q, v, tau) with its derivatives.
template <class T>
class ESPALIER_API ForwardDynamicsDerivatives : public AlgorithmAt<T>,
                                                public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "forward-dynamics-derivatives";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes generalized accelerations and their derivatives.
  /// @param q, v, tau        as in ForwardDynamics
  /// @param[out] vdot        accelerations, size nv [rad/s², m/s²]
  /// @param[out] dvdot_dq    size nv * nv, all entries written
  /// @param[out] dvdot_dv    likewise
  /// @param[out] dvdot_dtau  the inverse of the joint-space inertia matrix, likewise
  /// @param loads            what acts besides tau and gravity, or nullptr
  /// Frame: see the top of this file.  Cost: O(n^2).
  /// @throws SizeMismatch; Unsupported for a wrench on a folded rotor
  void evaluate(In<T> q, In<T> v, In<T> tau, Out<T> vdot, OutMatrix<T> dvdot_dq,
                OutMatrix<T> dvdot_dv, OutMatrix<T> dvdot_dtau, const Loads<T>* loads = nullptr) {
    const char* who = "forward dynamics derivatives";
    const Model& m = model();
    const long nv = m.nv();
    expect_size(who, "q", q.size(), m.nq());
    expect_size(who, "v", v.size(), nv);
    expect_size(who, "tau", tau.size(), nv);
    expect_size(who, "vdot", vdot.size(), nv);
    dvdot_dq.expect(who, "dvdot_dq", nv, nv);
    dvdot_dv.expect(who, "dvdot_dv", nv, nv);
    dvdot_dtau.expect(who, "dvdot_dtau", nv, nv);
    detail::expect_loads(who, loads, m);
    const T doubt = this->expect_inertia(problem, q.data());
    compute(q.data(), v.data(), tau.data(), vdot.data(), dvdot_dq.data(), dvdot_dv.data(),
            dvdot_dtau.data(), loads);
    this->expect_answer(problem, loads == nullptr ? nullptr : loads->wrenches, vdot, doubt, q, v,
                        tau);
    dvdot_dq.finish(), dvdot_dv.finish(), dvdot_dtau.finish();
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override {
    const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
    detail::rate_results<T>(
        out, model().nv(),
        {{"vdot", false}, {"dvdot_dq", true}, {"dvdot_dv", true}, {"dvdot_dtau", true}},
        [&](const auto& r) {
          evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.tau),
                   r[0], r[1], r[2], r[3], &loads);
        });
    this->add_margin(model(), out, 4);
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* tau, T* vdot, T* dvdot_dq, T* dvdot_dv,
                       T* dvdot_dtau, const Loads<T>* loads) = 0;
};

/// Inverse of the joint-space inertia matrix, symmetric, full storage.
template <class T>
class ESPALIER_API InverseMassMatrix : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "inverse-mass-matrix";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes M(q)^-1.
  /// @param q               spanning positions on closed loops, size nq
  /// @param[out] M_inverse  size nv * nv, all entries written
  /// Cost: O(n^2).
  /// @throws SizeMismatch
  void evaluate(In<T> q, OutMatrix<T> M_inverse) {
    const Model& m = model();
    expect_size("inverse mass matrix", "q", q.size(), m.nq());
    M_inverse.expect("inverse mass matrix", "M_inverse", m.nv(), m.nv());
    const T doubt = this->expect_inertia(problem, q.data());
    compute(q.data(), M_inverse.data());
    this->expect_semidefinite(problem, M_inverse, m.nv(), doubt, q);
    M_inverse.finish();
  }
  ESPALIER_CALLS_AT_POSITIONS

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override {
    detail::rate_results<T>(out, model().nv(), {{"inverse_mass_matrix", true}},
                            [&](const auto& r) { evaluate(detail::lifted<T>(in.q), r[0]); });
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, T* M_inverse) = 0;
};

/// Gradient of lambda^T tau(q, v, vdot), lambda held, in O(n).
template <class T>
class ESPALIER_API InverseDynamicsAdjoint : public AlgorithmAt<T>,
                                            public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "inverse-dynamics-adjoint";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes lambda^T dtau/dq, lambda^T dtau/dv and lambda^T M.
  /// @param q, v, vdot      as in InverseDynamics
  /// @param lambda          multipliers, size nv
  /// @param[out] by_q       gradient by q, size nv
  /// @param[out] by_v       gradient by v, size nv
  /// @param[out] by_vdot    gradient by vdot, size nv
  /// @param loads           what acts besides tau and gravity, or nullptr
  /// Frame: see the top of this file.  Cost: O(n).
  /// @throws SizeMismatch; Unsupported for a wrench on a folded rotor
  void evaluate(In<T> q, In<T> v, In<T> vdot, In<T> lambda, Out<T> by_q, Out<T> by_v,
                Out<T> by_vdot, const Loads<T>* loads = nullptr) {
    const char* who = "inverse dynamics adjoint";
    const Model& m = model();
    expect_size(who, "q", q.size(), m.nq());
    expect_size(who, "v", v.size(), m.nv());
    expect_size(who, "vdot", vdot.size(), m.nv());
    expect_size(who, "lambda", lambda.size(), m.nv());
    expect_size(who, "by_q", by_q.size(), m.nv());
    expect_size(who, "by_v", by_v.size(), m.nv());
    expect_size(who, "by_vdot", by_vdot.size(), m.nv());
    detail::expect_loads(who, loads, m);
    compute(q.data(), v.data(), vdot.data(), lambda.data(), by_q.data(), by_v.data(),
            by_vdot.data(), loads);
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  /// At the inputs' multipliers; ones where there are none.
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override {
    const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
    detail::rate_results<T>(
        out, model().nv(), {{"by_q", false}, {"by_v", false}, {"by_vdot", false}}, [&](const auto& r) {
          evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot),
                   detail::multipliers<T>(in, model().nv()), r[0], r[1], r[2], &loads);
        });
    this->add_margin(model(), out, 3);
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* vdot, const T* lambda, T* by_q, T* by_v,
                       T* by_vdot, const Loads<T>* loads) = 0;
};

/// Gradient of nu^T vdot(q, v, tau), nu held, in O(n) after the accelerations.
template <class T>
class ESPALIER_API ForwardDynamicsAdjoint : public AlgorithmAt<T>,
                                            public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "forward-dynamics-adjoint";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes nu^T dvdot/dq, nu^T dvdot/dv and nu^T M^-1, and vdot itself.
  /// @param q, v, tau     as in ForwardDynamics
  /// @param nu            multipliers, size nv
  /// @param[out] vdot     accelerations, size nv
  /// @param[out] by_q     gradient by q, size nv
  /// @param[out] by_v     gradient by v, size nv
  /// @param[out] by_tau   gradient by tau, size nv
  /// @param loads         what acts besides tau and gravity, or nullptr
  /// Frame: see the top of this file.
  /// @throws SizeMismatch; Unsupported for a wrench on a folded rotor
  void evaluate(In<T> q, In<T> v, In<T> tau, In<T> nu, Out<T> vdot, Out<T> by_q, Out<T> by_v,
                Out<T> by_tau, const Loads<T>* loads = nullptr) {
    const char* who = "forward dynamics adjoint";
    const Model& m = model();
    expect_size(who, "q", q.size(), m.nq());
    expect_size(who, "v", v.size(), m.nv());
    expect_size(who, "tau", tau.size(), m.nv());
    expect_size(who, "nu", nu.size(), m.nv());
    expect_size(who, "vdot", vdot.size(), m.nv());
    expect_size(who, "by_q", by_q.size(), m.nv());
    expect_size(who, "by_v", by_v.size(), m.nv());
    expect_size(who, "by_tau", by_tau.size(), m.nv());
    detail::expect_loads(who, loads, m);
    const T doubt = this->expect_inertia(problem, q.data());
    compute(q.data(), v.data(), tau.data(), nu.data(), vdot.data(), by_q.data(), by_v.data(),
            by_tau.data(), loads);
    this->expect_answer(problem, loads == nullptr ? nullptr : loads->wrenches, vdot, doubt, q, v,
                        tau, nu);
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  /// At the inputs' multipliers; ones where there are none.
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override {
    const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
    detail::rate_results<T>(
        out, model().nv(),
        {{"vdot", false}, {"by_q", false}, {"by_v", false}, {"by_tau", false}}, [&](const auto& r) {
          evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.tau),
                   detail::multipliers<T>(in, model().nv()), r[0], r[1], r[2], r[3], &loads);
        });
    this->add_margin(model(), out, 4);
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* tau, const T* nu, T* vdot, T* by_q,
                       T* by_v, T* by_tau, const Loads<T>* loads) = 0;
};

/// A matrix C with C v = the velocity-dependent part of the bias force and C + C^T = dM/dt, so that
/// dM/dt - 2 C is skew; on joints of one rate it is that of Christoffel's symbols.
template <class T>
class ESPALIER_API CoriolisMatrix : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "coriolis-matrix";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes C(q, v).
  /// @param q       spanning positions on closed loops, size nq
  /// @param v       independent rates, size nv
  /// @param[out] C  size nv * nv, all entries written
  /// Cost: O(n d).
  /// @throws SizeMismatch
  void evaluate(In<T> q, In<T> v, OutMatrix<T> C) {
    const Model& m = model();
    expect_size("coriolis matrix", "q", q.size(), m.nq());
    expect_size("coriolis matrix", "v", v.size(), m.nv());
    C.expect("coriolis matrix", "C", m.nv(), m.nv());
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data(), v.data(), C.data());
    C.finish();
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override {
    detail::rate_results<T>(out, model().nv(), {{"coriolis_matrix", true}}, [&](const auto& r) {
      evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), r[0]);
    });
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, T* C) = 0;
};

/// One time step x+ = f(x, u) with x = (q, v), u = tau, and its derivatives. Loops are closed after
/// the step (and after each stage); derivatives at the closed point follow from its tangent, and
/// nothing of Newton's method is differentiated.
template <class T>
class ESPALIER_API StepDerivatives : public AlgorithmAt<T>,
                                     public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "step-derivatives";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes a step and A = dx+/dx, B = dx+/du.
  /// @param q, v, tau     state and forces, held over the step
  /// @param h             length of the step [s]
  /// @param[out] q_next   size nq
  /// @param[out] v_next   size nv
  /// @param[out] A        size 2 nv * 2 nv: coordinates, then rates; tangents on the right at both
  ///                      ends
  /// @param[out] B        size 2 nv * nv
  /// @param loads         what acts besides tau and gravity, held over the step, or nullptr
  /// @throws SizeMismatch; SingularMechanism where loops cannot be closed on their branch
  void evaluate(In<T> q, In<T> v, In<T> tau, double h, Out<T> q_next, Out<T> v_next, OutMatrix<T> A,
                OutMatrix<T> B, const Loads<T>* loads = nullptr) {
    const char* who = "step derivatives";
    const Model& m = model();
    const long nv = m.nv();
    expect_size(who, "q", q.size(), m.nq());
    expect_size(who, "v", v.size(), nv);
    expect_size(who, "tau", tau.size(), nv);
    expect_size(who, "q_next", q_next.size(), m.nq());
    expect_size(who, "v_next", v_next.size(), nv);
    A.expect(who, "A", 2 * nv, 2 * nv);
    B.expect(who, "B", 2 * nv, nv);
    detail::expect_loads(who, loads, m);
    this->expect_inertia(problem, q.data());
    compute(q.data(), v.data(), tau.data(), h, q_next.data(), v_next.data(), A.data(), B.data(),
            loads);
    A.finish(), B.finish();
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* tau, double h, T* q_next, T* v_next, T* A,
                       T* B, const Loads<T>* loads) = 0;
};

/// Derivatives of the links' twists and accelerations, and the rate of their Jacobians.
template <class T>
class ESPALIER_API KinematicsDerivatives : public AlgorithmAt<T>,
                                           public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "kinematics-derivatives";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// All of the last evaluate(), of the components that Kinematics::velocity() and acceleration()
  /// have: link frame, angular rows first, each 6 x nv, row-major.
  struct Of {
    T* J;         ///< of velocity by v, and of acceleration by vdot
    T* J_rate;    ///< derivative of J by time
    T* v_by_q;    ///< of velocity by q
    T* a_by_q;    ///< of acceleration by q
    T* a_by_v;    ///< of acceleration by v
  };
  /// Differentiates the motion of all bodies; write() speaks of the last call.
  /// @param q     spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v     independent rates, size nv [rad/s, m/s]
  /// @param vdot  accelerations, size nv [rad/s², m/s²]
  /// @throws SizeMismatch
  void evaluate(In<T> q, In<T> v, In<T> vdot) {
    const Model& m = model();
    expect_size("kinematics derivatives", "q", q.size(), m.nq());
    expect_size("kinematics derivatives", "v", v.size(), m.nv());
    expect_size("kinematics derivatives", "vdot", vdot.size(), m.nv());
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data(), v.data(), vdot.data());
  }
  ESPALIER_CALLS_AT_STATES
  /// Derivatives of a link's motion at the last evaluate().
  /// @param link     of this model
  /// @param[out] of  five matrices of 6 * nv numbers
  virtual void write(const Link& link, const Of& of) const = 0;

 protected:
  /// Of each link one result: 30 x nv, the five matrices one below the other.
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* vdot) = 0;
};

/// Momentum of all that moves about its centre of mass, world axes, angular part first, and how it
/// varies.
template <class T>
class ESPALIER_API CentroidalDynamics : public AlgorithmAt<T>,
                                        public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "centroidal-dynamics";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Momentum and its derivatives; row-major.
  struct Answer {
    std::vector<T> momentum;       ///< 6 [N·m·s, N·s]
    std::vector<T> rate;           ///< 6: its derivative by time [N·m, N]
    std::vector<T> matrix;         ///< 6 x nv: of momentum by v, and of rate by vdot
    std::vector<T> momentum_by_q;  ///< 6 x nv
    std::vector<T> rate_by_q;      ///< 6 x nv
    std::vector<T> rate_by_v;      ///< 6 x nv
    std::vector<T> com;            ///< 3: centre of mass [m]
    std::vector<T> com_by_q;       ///< 3 x nv
  };
  /// @returns an answer that is valid until the next call  @throws SizeMismatch
  const Answer& evaluate(In<T> q, In<T> v, In<T> vdot) {
    const Model& m = model();
    expect_size("centroidal dynamics", "q", q.size(), m.nq());
    expect_size("centroidal dynamics", "v", v.size(), m.nv());
    expect_size("centroidal dynamics", "vdot", vdot.size(), m.nv());
    this->expect_closed_in_debug(problem, q.data());
    return compute(q.data(), v.data(), vdot.data());
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual const Answer& compute(const T* q, const T* v, const T* vdot) = 0;
};

/// A number of a robot's design.
struct DesignParameter {
  /// What it is a number of.
  enum class Kind {
    inertial,   ///< of a body with all that is welded to it: m, m c (3), J about the origin (xx, yy,
                ///< zz, xy, xz, yz), body frame [kg, kg·m, kg·m²]
    rotor,      ///< inertia of a folded rotor about its axis, its carrier's other moments held
    placement,  ///< of a joint: twist by which its frame on the parent moves, in the frame itself,
                ///< axis on z; not of joints in loops that a loop joint closes
    ratio       ///< entry of a constant G: rate of a joint per rate of an independent one
  };
  Kind kind = Kind::inertial;  ///< what it is a number of
  std::string name;   ///< "<owner>.<what>"
  std::string owner;  ///< body, rotor or joint
  int body = 0;       ///< of inertial and placement; rotor: which; ratio: cluster
  int component = 0;  ///< of inertial (0 to 9) and placement (0 to 5); ratio: entry of G
};
/// "inertial", "rotor", "placement", "ratio".
ESPALIER_API std::string_view to_string(DesignParameter::Kind kind);

/// Derivatives of inverse and forward dynamics by numbers of the design.
template <class T>
class ESPALIER_API DesignDerivatives : public AlgorithmAt<T>,
                                       public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "design-derivatives";
  using typename AlgorithmAt<T>::Value;
  using AlgorithmAt<T>::model;

  /// Lists the parameters of a model.
  explicit DesignDerivatives(ModelPtr model);

  /// All parameters, in the order of gradients.
  const std::vector<DesignParameter>& parameters() const { return parameters_; }

  /// Gradient of lambda^T tau(q, v, vdot) by all parameters, in O(n) besides the ratios.
  /// @param q       spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v       independent rates, size nv [rad/s, m/s]
  /// @param vdot    accelerations, size nv [rad/s², m/s²]
  /// @param lambda  weights of tau, size nv
  /// @param[out] gradient  one number per parameter
  /// @param loads          what acts besides tau and gravity, or nullptr; wrenches are held in
  ///                       their frames
  void gradient(In<T> q, In<T> v, In<T> vdot, In<T> lambda, Out<T> gradient,
                const Loads<T>* loads = nullptr) {
    const Model& m = model();
    expect_size("design derivatives", "q", q.size(), m.nq());
    expect_size("design derivatives", "v", v.size(), m.nv());
    expect_size("design derivatives", "vdot", vdot.size(), m.nv());
    expect_size("design derivatives", "lambda", lambda.size(), m.nv());
    expect_size("design derivatives", "gradient", gradient.size(),
                static_cast<long>(parameters_.size()));
    detail::expect_loads("design derivatives", loads, m);
    compute(q.data(), v.data(), vdot.data(), lambda.data(), gradient.data(), loads);
  }
  /// Columns dtau/dp of chosen parameters.
  /// @param q     spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v     independent rates, size nv [rad/s, m/s]
  /// @param vdot  accelerations, size nv [rad/s², m/s²]
  /// @param chosen  among parameters()
  /// @param[out] columns  nv x chosen, row-major
  /// @param loads   what acts besides tau and gravity, or nullptr
  void columns(In<T> q, In<T> v, In<T> vdot, const std::vector<int>& chosen, OutMatrix<T> columns,
               const Loads<T>* loads = nullptr);

 protected:
  /// The gradient at the inputs' multipliers; ones where there are none.
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* vdot, const T* lambda, T* gradient,
                       const Loads<T>* loads) = 0;

 private:
  std::vector<DesignParameter> parameters_;
};

// One copy of each interface, in the kernel.
#define ESPALIER_EXTERN(T)                              \
  extern template class InverseDynamicsDerivatives<T>; \
  extern template class ForwardDynamicsDerivatives<T>; \
  extern template class InverseMassMatrix<T>;           \
  extern template class InverseDynamicsAdjoint<T>;      \
  extern template class ForwardDynamicsAdjoint<T>;      \
  extern template class CoriolisMatrix<T>;              \
  extern template class StepDerivatives<T>;             \
  extern template class KinematicsDerivatives<T>;       \
  extern template class CentroidalDynamics<T>;          \
  extern template class DesignDerivatives<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
