#include "espalier/kernel/problems.hpp"

#include <cmath>

namespace espalier {

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
  const double off[3][3] = {{0, E(1, 0) + E(0, 1), E(2, 0) + E(0, 2)},
                            {0, 0, E(2, 1) + E(1, 2)},
                            {0, 0, 0}};
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

}  // namespace

void detail::refuse_named_inputs() {
  throw Unsupported(
      "algorithm: solving for named inputs is asked at the scalar pack, expected double or count "
      "(use evaluate())");
}

template <class T>
void Kinematics<T>::solve(const Inputs& in, Results& out) {
  if constexpr (detail::solves<T>) {
    evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot));
    const int n = static_cast<int>(model().links().size());
    Result& r = detail::result(out, 0, "links");
    r.shape(Result::Axis::links, n, Result::Axis::components, 19);
    for (int i = 0; i < n; ++i) {
      const Link& link = model().links()[i];
      double* row = r.values.data() + 19 * i;
      const Transform<T> X = placement(link);
      Mat3<double> E;
      for (int k = 0; k < 3; ++k) {
        row[k] = lane(X.r[k], 0);
        for (int l = 0; l < 3; ++l) E(k, l) = lane(X.E(k, l), 0);
      }
      quaternion_of(E, row + 3);
      const Motion<T> v = velocity(link), a = acceleration(link);
      for (int k = 0; k < 6; ++k) row[7 + k] = lane(v[k], 0), row[13 + k] = lane(a[k], 0);
    }
  } else {
    detail::refuse_named_inputs();
  }
}

template <class T>
void BodyJacobians<T>::solve(const Inputs& in, Results& out) {
  if constexpr (detail::solves<T>) {
    evaluate(detail::lifted<T>(in.q));
    const int nv = model().nv();
    std::size_t k = 0;
    for (const Link& link : model().links()) {
      Result& r = detail::result(out, k++, link.name.c_str());
      r.shape(Result::Axis::components, 6, Result::Axis::rates, nv);
      detail::answer<T>(r, [&](Out<T> J) { jacobian(link, J); });
    }
  } else {
    detail::refuse_named_inputs();
  }
}

template <class T>
void CenterOfMass<T>::solve(const Inputs& in, Results& out) {
  if constexpr (detail::solves<T>) {
    const Answer answer =
        evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot));
    const Vec3<T>* values[3] = {&answer.position, &answer.velocity, &answer.acceleration};
    const char* names[3] = {"center_of_mass", "center_of_mass_velocity",
                            "center_of_mass_acceleration"};
    for (int k = 0; k < 3; ++k) {
      Result& r = detail::result(out, k, names[k]);
      r.shape(Result::Axis::components, 3, Result::Axis::one, 1);
      for (int i = 0; i < 3; ++i) r.values[i] = lane((*values[k])[i], 0);
    }
  } else {
    detail::refuse_named_inputs();
  }
}

template <class T>
void Energy<T>::solve(const Inputs& in, Results& out) {
  if constexpr (detail::solves<T>) {
    const Answer answer = evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v));
    Result& kinetic = detail::result(out, 0, "kinetic_energy");
    kinetic.shape(Result::Axis::one, 1, Result::Axis::one, 1);
    kinetic.values[0] = lane(answer.kinetic, 0);
    Result& potential = detail::result(out, 1, "potential_energy");
    potential.shape(Result::Axis::one, 1, Result::Axis::one, 1);
    potential.values[0] = lane(answer.potential, 0);
  } else {
    detail::refuse_named_inputs();
  }
}

#define ESPALIER_INSTANTIATE(T)      \
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
