#include <cmath>

#include "espalier/kernel/problems/dynamics/bias_force.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"
#include "espalier/kernel/problems/dynamics/inverse_dynamics.hpp"
#include "espalier/kernel/problems/dynamics/lower_triangle.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"
#include "espalier/kernel/problems/kinematics/center_of_mass.hpp"
#include "espalier/kernel/problems/kinematics/energy.hpp"
#include "espalier/kernel/problems/kinematics/forward_kinematics.hpp"
#include "espalier/kernel/problems/kinematics/jacobian.hpp"
#include "espalier/kernel/problems/named_results.hpp"
#include "espalier/kernel/scalar/scalar.hpp"

namespace espalier {

LowerTriangle::~LowerTriangle() = default;

namespace {

/// Quaternion x y z w (link to world) of E (world to link), w >= 0.
void quaternion_of(const Mat3<double>& E, double* out) {
  // The largest of the four squared components is found first, so that no small divisor occurs.
  const double xx = E(0, 0), yy = E(1, 1), zz = E(2, 2);
  const double four[4] = {1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz, 1 + xx + yy + zz};
  int k = 0;
  for (int i = 1; i < 4; ++i)
    if (four[i] > four[k]) k = i;
  const double s = 0.5 * std::sqrt(four[k]), t = 0.25 / s;
  // E is the transpose of the rotation from link to world.
  const double off[3][3] = {
      {0, E(1, 0) + E(0, 1), E(2, 0) + E(0, 2)}, {0, 0, E(2, 1) + E(1, 2)}, {0, 0, 0}};
  const double skew[3] = {E(1, 2) - E(2, 1), E(2, 0) - E(0, 2), E(0, 1) - E(1, 0)};
  if (k == 3) {
    for (int i = 0; i < 3; ++i) out[i] = skew[i] * t;
    out[3] = s;
  } else {
    for (int i = 0; i < 3; ++i) out[i] = i == k ? s : off[std::min(i, k)][std::max(i, k)] * t;
    out[3] = skew[k] * t;
  }
  if (out[3] < 0) {
    for (int i = 0; i < 4; ++i) out[i] = -out[i];
  }
}

template <class T>
Mat3<double> lane_of(const Mat3<T>& E, int l) {
  Mat3<double> out;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out(i, j) = lane(E(i, j), l);
  return out;
}

[[noreturn]] void refuse_packs(int robots, const char* scalar) {
  throw Unsupported("algorithm: solving for " + std::to_string(robots) +
                    " robots at once is asked of one that does not, expected an algorithm at the "
                    "scalar " +
                    scalar);
}

}  // namespace

void detail::refuse_named_inputs() {
  throw Unsupported(
      "algorithm: solving for named inputs is asked of packs, expected double or count "
      "(use solve_packs())");
}

void Algorithm::solve_packs(const PackInputViews& /*in*/, PackResults& /*out*/) {
  refuse_packs(Pack::size, "pack");
}
void Algorithm::solve_packs(const FloatPackInputViews& /*in*/, FloatPackResults& /*out*/) {
  refuse_packs(FloatPack::size, "float-pack");
}

template <class T>
void AlgorithmAt<T>::solve(const InputViews& in, Results& out) {
  if constexpr (std::is_same_v<Value, double>) {
    by_name(in, out);
  } else {
    detail::refuse_named_inputs();
  }
}

template <class T>
void AlgorithmAt<T>::solve_packs(const PackInputViews& in, PackResults& out) {
  if constexpr (std::is_same_v<Value, Pack>) {
    by_name(in, out);
  } else {
    Algorithm::solve_packs(in, out);
  }
}

template <class T>
void AlgorithmAt<T>::solve_packs(const FloatPackInputViews& in, FloatPackResults& out) {
  if constexpr (std::is_same_v<Value, FloatPack>) {
    by_name(in, out);
  } else {
    Algorithm::solve_packs(in, out);
  }
}

template <class T>
void ForwardDynamics<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  BasicResult<Value>& r = detail::result(out, 0, "vdot");
  r.shape(ResultAxis::rates, model().nv(), ResultAxis::one, 1);
  detail::answer<T>(
      r, [&](Out<T> vdot) __attribute__((always_inline)) {
        evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.tau), vdot,
                 detail::lifted<T>(in.wrenches));
      });
}

template <class T>
void InverseDynamics<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  BasicResult<Value>& r = detail::result(out, 0, "tau");
  r.shape(ResultAxis::rates, model().nv(), ResultAxis::one, 1);
  detail::answer<T>(
      r, [&](Out<T> tau) __attribute__((always_inline)) {
        evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot), tau,
                 detail::lifted<T>(in.wrenches));
      });
}

template <class T>
void BiasForce<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  BasicResult<Value>& r = detail::result(out, 0, "bias");
  r.shape(ResultAxis::rates, model().nv(), ResultAxis::one, 1);
  detail::answer<T>(
      r, [&](Out<T> bias) __attribute__((always_inline)) {
        evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), bias,
                 detail::lifted<T>(in.wrenches));
      });
}

template <class T>
void MassMatrix<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  BasicResult<Value>& r = detail::result(out, 0, "mass_matrix");
  r.shape(ResultAxis::rates, model().nv(), ResultAxis::rates, model().nv());
  detail::answer<T>(r, [&](Out<T> M) { evaluate(detail::lifted<T>(in.q), M); });
}

template <class T>
void Kinematics<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot));
  const int n = static_cast<int>(model().links().size());
  BasicResult<Value>& r = detail::result(out, 0, "links");
  r.shape(ResultAxis::links, n, ResultAxis::components, 19);
  for (int i = 0; i < n; ++i) {
    const Link& link = model().links()[i];
    Value* row = r.values.data() + 19 * i;
    const Transform<T> X = placement(link);
    for (int k = 0; k < 3; ++k) row[k] = detail::lowered<Value>(X.r[k]);
    if constexpr (std::is_same_v<Value, double>) {
      quaternion_of(lane_of(X.E, 0), row + 3);
    } else {
      for (int l = 0; l < Value::size; ++l) {
        double quaternion[4];
        quaternion_of(lane_of(X.E, l), quaternion);
        for (int k = 0; k < 4; ++k) {
          row[3 + k].set(l, static_cast<typename Value::Element>(quaternion[k]));
        }
      }
    }
    const Motion<T> v = velocity(link), a = acceleration(link);
    for (int k = 0; k < 6; ++k) {
      row[7 + k] = detail::lowered<Value>(v[k]);
      row[13 + k] = detail::lowered<Value>(a[k]);
    }
  }
}

template <class T>
void BodyJacobians<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  evaluate(detail::lifted<T>(in.q));
  const int nv = model().nv();
  std::size_t k = 0;
  for (const Link& link : model().links()) {
    BasicResult<Value>& r = detail::result(out, k++, link.name);
    r.shape(ResultAxis::components, 6, ResultAxis::rates, nv);
    detail::answer<T>(r, [&](Out<T> J) { jacobian(link, J); });
  }
}

template <class T>
void CenterOfMass<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  const Answer answer =
      evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot));
  const Vec3<T>* values[3] = {&answer.position, &answer.velocity, &answer.acceleration};
  const char* names[3] = {"center_of_mass", "center_of_mass_velocity",
                          "center_of_mass_acceleration"};
  for (int k = 0; k < 3; ++k) {
    BasicResult<Value>& r = detail::result(out, k, names[k]);
    r.shape(ResultAxis::components, 3, ResultAxis::one, 1);
    for (int i = 0; i < 3; ++i) r.values[i] = detail::lowered<Value>((*values[k])[i]);
  }
}

template <class T>
void Energy<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  const Answer answer = evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v));
  BasicResult<Value>& kinetic = detail::result(out, 0, "kinetic_energy");
  kinetic.shape(ResultAxis::one, 1, ResultAxis::one, 1);
  kinetic.values[0] = detail::lowered<Value>(answer.kinetic);
  BasicResult<Value>& potential = detail::result(out, 1, "potential_energy");
  potential.shape(ResultAxis::one, 1, ResultAxis::one, 1);
  potential.values[0] = detail::lowered<Value>(answer.potential);
}

#define ESPALIER_INSTANTIATE(T)      \
  template class AlgorithmAt<T>;     \
  template class ForwardDynamics<T>; \
  template class InverseDynamics<T>; \
  template class BiasForce<T>;       \
  template class MassMatrix<T>;      \
  template class Kinematics<T>;      \
  template class BodyJacobians<T>;   \
  template class CenterOfMass<T>;    \
  template class Energy<T>;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
