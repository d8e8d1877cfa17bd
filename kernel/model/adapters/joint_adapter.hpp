#pragma once

#include <algorithm>
#include <type_traits>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/scalar/dual.hpp"
#include "espalier/kernel/scalar/functions.hpp"

/// From one author's class to a JointType at every scalar.
///
/// The class J has
///   static constexpr int nq, nv;                        sizes of position and velocity
///   using Subspace = Axes<...> | Dense<nv>;             columns of S in the body frame
///   explicit J(const JointSpec&);                       reads its parameters
///   template <class T> auto position(const T* q) const; X_J(q): Transform, RotationZ, ...
/// and where they differ from the default
///   static Mat3<double> alignment(const JointSpec&);    default: axis onto z
///   static constexpr std::array<std::string_view, k> parameters;
///   static std::vector<LoopRow> loop_rows(const JointSpec&);  if it can close a loop
///   template <class T> void subspace(const T* q, Motion<T>* S) const;              (Dense only)
///   template <class T> Motion<T> bias(const T* q, const T* qd) const;              default 0
///   template <class T> void integrate(const T* q, const T* v, T* q_out) const;     default q + v
///   template <class T> void difference(const T* q0, const T* q1, T* v) const;      default q1 - q0
///   template <class T> void normalize(T* q) const;                                 default nothing
///   void neutral(double* q) const;                                                 default 0
///   static Parameters sample();     parameters of a working joint, where not any positive ones do
/// and, to bring equations of motion with it (JointType::has_equations), in the joint's frame,
///   template <class T> void equations(const T* q, const T* qd, const Vec3<T>& w, T* M, T* h)
///   const;
///     w: angular velocity of the parent body; M: lower triangle, row-major, of size 6 + nv, and h,
///     to be added to
///   static constexpr std::array<std::string_view, m> inputs;  names, where the inputs are not
///   static constexpr std::array<double, nv * m> B;            forces on its rates

namespace espalier {

namespace detail {

template <class J>
class JointRunOf final : public JointRun {
 public:
  JointRunOf(std::span<const JointSpec> joints, std::span<const Transform<double>> placements)
      : placements_(placements.begin(), placements.end()) {
    joints_.reserve(joints.size());
    for (const JointSpec& joint : joints) joints_.emplace_back(joint);
  }

#define ESPALIER_OVERRIDE(T)                                                                    \
  void kinematics(const T* q, const T* qd, const JointKinematics<T>& out) const override {      \
    kinematics_at<T>(q, qd, out);                                                               \
  }                                                                                             \
  void integrate(const T* q, const T* v, T* q_out) const override {                             \
    integrate_at<T>(q, v, q_out);                                                               \
  }                                                                                             \
  void difference(const T* q0, const T* q1, T* v) const override {                              \
    for (std::size_t k = 0; k < joints_.size(); ++k, q0 += J::nq, q1 += J::nq, v += J::nv) {    \
      if constexpr (requires { joints_[k].difference(q0, q1, v); }) {                           \
        joints_[k].difference(q0, q1, v);                                                       \
      } else {                                                                                  \
        static_assert(J::nq == J::nv, "a joint with nq != nv needs its own difference");        \
        for (int i = 0; i < J::nq; ++i) v[i] = q1[i] - q0[i];                                   \
      }                                                                                         \
    }                                                                                           \
  }                                                                                             \
  void normalize(T* q) const override {                                                         \
    if constexpr (requires { joints_[0].normalize(q); }) {                                      \
      for (std::size_t k = 0; k < joints_.size(); ++k, q += J::nq) joints_[k].normalize(q);     \
    }                                                                                           \
  }                                                                                             \
  void equations(int k, const T* q, const T* qd, const Vec3<T>& w, T* M, T* h) const override { \
    equations_at<T>(k, q, qd, w, M, h);                                                         \
  }                                                                                             \
  void turns(const T* q, T* sine, T* cosine) const override { turns_at<T>(q, sine, cosine); }   \
  void vary(int k, const T* q, const T* qd, const T* x, const T* xd, Motion<T>* dS,             \
            Motion<T>& dbias) const override {                                                  \
    vary_at<T>(k, q, qd, x, xd, dS, dbias);                                                     \
  }                                                                                             \
  void vary_integration(int k, const T* q, const T* d, const T* x, const T* xd, T* out)         \
      const override {                                                                          \
    vary_integration_at<T>(k, q, d, x, xd, out);                                                \
  }
  ESPALIER_SCALARS(ESPALIER_OVERRIDE)
#undef ESPALIER_OVERRIDE
  using Along = Dual<double>;
  void kinematics(const Along* q, const Along* qd,
                  const JointKinematics<Along>& out) const override {
    kinematics_at<Along>(q, qd, out);
  }
  void integrate(const Along* q, const Along* v, Along* q_out) const override {
    integrate_at<Along>(q, v, q_out);
  }
  void vary(int k, const Along* q, const Along* qd, const Along* x, const Along* xd,
            Motion<Along>* dS, Motion<Along>& dbias) const override {
    vary_at<Along>(k, q, qd, x, xd, dS, dbias);
  }

  bool turns_about_z() const override { return turning; }
  bool subspace_varies() const override { return varying; }
  void neutral(double* q) const override {
    for (std::size_t k = 0; k < joints_.size(); ++k, q += J::nq) {
      if constexpr (requires { joints_[k].neutral(q); }) {
        joints_[k].neutral(q);
      } else {
        for (int i = 0; i < J::nq; ++i) q[i] = 0.0;
      }
    }
  }

 private:
  static constexpr bool turning = requires(const J& j, const double* q) {
    { j.position(q) } -> std::same_as<RotationZ<double>>;
  };
  static constexpr bool varying = requires(const J& j, const double* q) { j.bias(q, q); };
  /// Joints of one coordinate and no parameters: several are computed as the lanes of one.
  static constexpr bool alike = turning && J::nq == 1 && std::is_empty_v<J>;

  template <class T>
  void turns_at([[maybe_unused]] const T* q, [[maybe_unused]] T* sine,
                [[maybe_unused]] T* cosine) const {
    if constexpr (std::is_same_v<T, double> && alike) {
      const int count = static_cast<int>(joints_.size());
      if (count >= Quad::size) {
        for (int k = 0; k < count; k += Quad::size) {
          const int first = std::min(k, count - Quad::size);  // up to three are done twice
          const Quad angles = Quad::load(q + first);
          const RotationZ<Quad> R = joints_[first].position(&angles);
          R.s.store(sine + first), R.c.store(cosine + first);
        }
        return;
      }
      Quad angles = 0.0;
      for (int k = 0; k < count; ++k) angles.set(k, q[k]);
      const RotationZ<Quad> R = joints_.front().position(&angles);
      for (int k = 0; k < count; ++k) sine[k] = R.s[k], cosine[k] = R.c[k];
    } else if constexpr (turning) {
      for (std::size_t k = 0; k < joints_.size(); ++k) {
        const RotationZ<T> R = joints_[k].position(q + k * J::nq);
        sine[k] = R.s, cosine[k] = R.c;
      }
    }
  }

  template <class T>
  void integrate_at(const T* q, const T* v, T* q_out) const {
    for (std::size_t k = 0; k < joints_.size(); ++k, q += J::nq, v += J::nv, q_out += J::nq) {
      if constexpr (requires { joints_[k].integrate(q, v, q_out); }) {
        joints_[k].integrate(q, v, q_out);
      } else {
        static_assert(J::nq == J::nv, "a joint with nq != nv needs its own integrate");
        for (int i = 0; i < J::nq; ++i) q_out[i] = q[i] + v[i];
      }
    }
  }

  template <class T>
  void kinematics_at(const T* q, const T* qd, const JointKinematics<T>& out) const {
    std::size_t k = 0;
    if constexpr (turning) {
      if (out.sine != nullptr) {
        for (; k < joints_.size(); ++k) {
          out.X[k] = RotationZ<T>{out.sine[k], out.cosine[k]} * placements_[k];
        }
        return;
      }
    }
    // Joints about z share their sine and cosine: four joints, one call.
    if constexpr (std::is_same_v<T, double> && alike) {
      for (; k + Quad::size <= joints_.size(); k += Quad::size) {
        const Quad angles = Quad::load(q + k);
        const RotationZ<Quad> R = joints_[k].position(&angles);
        for (int l = 0; l < Quad::size; ++l) {
          out.X[k + l] = RotationZ<double>{R.s[l], R.c[l]} * placements_[k + l];
        }
      }
    }
    for (; k < joints_.size(); ++k) {
      const T* qk = q + k * J::nq;
      out.X[k] = joints_[k].position(qk) * placements_[k];
      if constexpr (subspace_kind<typename J::Subspace>() == SubspaceKind::dense) {
        Motion<T>* S = out.S + k * J::nv;
        if constexpr (requires { J::Subspace::index; }) {
          for (int i = 0; i < J::nv; ++i) {
            S[i] = Motion<T>::zero();
            S[i][J::Subspace::index[i]] = T(1.0);
          }
        } else {
          joints_[k].subspace(qk, S);
        }
        out.bias[k] = Motion<T>::zero();
        if constexpr (requires { joints_[k].bias(qk, qk); }) {
          if (qd != nullptr) out.bias[k] = joints_[k].bias(qk, qd + k * J::nv);
        }
      }
    }
  }

  /// S and bias once more over dual numbers.
  template <class T>
  void vary_at(int k, const T* q, const T* qd, const T* x, const T* xd, Motion<T>* dS,
               Motion<T>& dbias) const {
    dbias = Motion<T>::zero();
    for (int i = 0; i < J::nv; ++i) dS[i] = Motion<T>::zero();
    if constexpr (varying) {
      const J& joint = joints_[k];
      Dual<T> start[J::nq], step[J::nv], at[J::nq], rate[J::nv];
      for (int i = 0; i < J::nq; ++i) start[i] = {q[i], T(0.0)};
      for (int i = 0; i < J::nv; ++i) step[i] = {T(0.0), x[i]}, rate[i] = {qd[i], xd[i]};
      if constexpr (requires { joint.integrate(start, step, at); }) {
        joint.integrate(static_cast<const Dual<T>*>(start), static_cast<const Dual<T>*>(step), at);
      } else {
        for (int i = 0; i < J::nq; ++i) at[i] = start[i] + step[i];
      }
      const auto derivative = [](const Motion<Dual<T>>& m) -> Motion<T> {
        return {{m.w.x.d, m.w.y.d, m.w.z.d}, {m.v.x.d, m.v.y.d, m.v.z.d}};
      };
      Motion<Dual<T>> S[J::nv];
      joint.subspace(static_cast<const Dual<T>*>(at), S);
      for (int i = 0; i < J::nv; ++i) dS[i] = derivative(S[i]);
      dbias = derivative(
          joint.bias(static_cast<const Dual<T>*>(at), static_cast<const Dual<T>*>(rate)));
    }
  }

  /// The difference between the end and the varied end, over dual numbers.
  template <class T>
  void vary_integration_at(int k, const T* q, const T* d, const T* x, const T* xd, T* out) const {
    const J& joint = joints_[k];
    if constexpr (requires { joint.integrate(q, d, out); }) {
      using D = Dual<T>;
      D start[J::nq], aside[J::nv], moved[J::nq], step[J::nv], end[J::nq], fixed[J::nq],
          difference[J::nv];
      for (int i = 0; i < J::nq; ++i) start[i] = {q[i], T(0.0)};
      for (int i = 0; i < J::nv; ++i) aside[i] = {T(0.0), x[i]}, step[i] = {d[i], xd[i]};
      joint.integrate(static_cast<const D*>(start), static_cast<const D*>(aside), moved);
      joint.integrate(static_cast<const D*>(moved), static_cast<const D*>(step), end);
      for (int i = 0; i < J::nq; ++i) fixed[i] = {end[i].x, T(0.0)};
      joint.difference(static_cast<const D*>(fixed), static_cast<const D*>(end), difference);
      for (int i = 0; i < J::nv; ++i) out[i] = difference[i].d;
    } else {
      for (int i = 0; i < J::nv; ++i) out[i] = x[i] + xd[i];
    }
  }

  template <class T>
  void equations_at(int k, const T* q, const T* qd, const Vec3<T>& w, T* M, T* h) const {
    if constexpr (requires { joints_[0].equations(q, qd, w, M, h); }) {
      constexpr int size = 6 + J::nv;
      std::fill(M, M + size * size, T(0.0));
      std::fill(h, h + size, T(0.0));
      const Transform<double>& X = placements_[k];  // parent to joint
      const Vec3<T> w_joint = X.E * w;
      joints_[k].equations(q, qd, w_joint, M, h);
      // Where the parent's origin stands still, the joint's does not: it is pulled inwards.
      const Vec3<T> r = Vec3<T>::from(X.E * X.r), a = cross(w_joint, cross(w_joint, r));
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < 3; ++j) {
          h[i] += a[j] * M[std::max(i, 3 + j) * size + std::min(i, 3 + j)];
        }
      }
      const auto to_parent = [&](T* row) {
        const Force<T> f =
            X.transpose_times_force(Force<T>{{row[0], row[1], row[2]}, {row[3], row[4], row[5]}});
        for (int j = 0; j < 6; ++j) row[j] = f[j];
      };
      for (int i = 6; i < size; ++i) to_parent(M + i * size);
      T Moo[6][6];
      for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) Moo[i][j] = M[std::max(i, j) * size + std::min(i, j)];
      }
      for (int pass = 0; pass < 2; ++pass) {  // X^T (X^T Moo)^T
        for (auto& row : Moo) to_parent(row);
        for (int i = 0; i < 6; ++i) {
          for (int j = 0; j < i; ++j) std::swap(Moo[i][j], Moo[j][i]);
        }
      }
      for (int i = 0; i < 6; ++i) std::copy_n(Moo[i], i + 1, M + i * size);
      to_parent(h);
    }
  }

  std::vector<J> joints_;
  std::vector<Transform<double>> placements_;
};

template <class J>
class JointTypeOf final : public JointType {
 public:
  explicit JointTypeOf(std::string name) : name_(std::move(name)) {}

  std::string_view name() const override { return name_; }
  int nq() const override { return J::nq; }
  int nv() const override { return J::nv; }
  SubspaceKind subspace() const override { return subspace_kind<typename J::Subspace>(); }
  std::vector<std::string_view> parameter_names() const override {
    if constexpr (requires { J::parameters; }) {
      return {J::parameters.begin(), J::parameters.end()};
    } else {
      return {};
    }
  }
  bool has_equations() const override {
    return requires(const J& j, const double* q, const Vec3<double>& w, double* M) {
      j.equations(q, q, w, M, M);
    };
  }
  std::vector<std::string_view> inputs() const override {
    if constexpr (requires { J::inputs; }) {
      return {J::inputs.begin(), J::inputs.end()};
    } else {
      return {};
    }
  }
  std::span<const double> B() const override {
    if constexpr (requires { J::inputs; }) {
      static_assert(J::B.size() == J::nv * J::inputs.size(), "B is nv x inputs");
      return J::B;
    } else {
      return {};
    }
  }
  Parameters sample() const override {
    if constexpr (requires { J::sample(); }) {
      return J::sample();
    } else {
      return {};
    }
  }
  std::vector<LoopRow> loop_rows(const JointSpec& joint) const override {
    if constexpr (requires { J::loop_rows(joint); }) {
      return J::loop_rows(joint);
    } else {
      return {};
    }
  }
  Mat3<double> alignment(const JointSpec& joint) const override {
    if constexpr (requires { J::alignment(joint); }) {
      return J::alignment(joint);
    } else {
      return turn_onto_z(joint.axis);
    }
  }
  std::unique_ptr<JointRun> make_run(std::span<const JointSpec> joints,
                                     std::span<const Transform<double>> placements) const override {
    return std::make_unique<JointRunOf<J>>(joints, placements);
  }

 private:
  static_assert(J::Subspace::size == J::nv, "the subspace has one column per rate");
  std::string name_;
};

}  // namespace detail
}  // namespace espalier
