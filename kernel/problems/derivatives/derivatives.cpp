#include "espalier/kernel/problems/derivatives/derivatives.hpp"

namespace espalier {

template <class T>
void StepDerivatives<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  const Model& m = model();
  const int nv = m.nv();
  const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
  std::vector<T> q_next(m.nq()), v_next(nv), A(4UL * nv * nv), B(2UL * nv * nv);
  evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.tau),
           in.time_step, q_next, v_next, A, B, &loads);
  std::size_t k = 0;
  const auto put = [&](const char* name, ResultAxis r, int rows, ResultAxis c, int columns,
                       const std::vector<T>& x) {
    BasicResult<Value>& result = detail::result(out, k++, name);
    result.shape(r, rows, c, columns);
    for (std::size_t i = 0; i < x.size(); ++i) result.values[i] = detail::lowered<Value>(x[i]);
  };
  put("q_next", ResultAxis::components, m.nq(), ResultAxis::one, 1, q_next);
  put("v_next", ResultAxis::rates, nv, ResultAxis::one, 1, v_next);
  put("A", ResultAxis::components, 2 * nv, ResultAxis::components, 2 * nv, A);
  put("B", ResultAxis::components, 2 * nv, ResultAxis::rates, nv, B);
  this->add_margin(m, out, k);
}

template <class T>
void KinematicsDerivatives<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot));
  const int nv = model().nv();
  std::size_t k = 0;
  for (const Link& link : model().links()) {
    if (link.body > model().active_body_count()) continue;  // a folded rotor has no columns
    BasicResult<Value>& r = detail::result(out, k++, link.name);
    r.shape(ResultAxis::components, 30, ResultAxis::rates, nv);
    detail::answer<T>(r, [&](Out<T> x) {
      const long n = 6L * nv;
      T* p = x.data();
      write(link, {p, p + n, p + 2 * n, p + 3 * n, p + 4 * n});
    });
  }
  this->add_margin(model(), out, k);
}

template <class T>
void CentroidalDynamics<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  const Answer& a =
      evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot));
  const int nv = model().nv();
  std::size_t k = 0;
  const auto put = [&](const char* name, int rows, int columns, const std::vector<T>& x) {
    BasicResult<Value>& r = detail::result(out, k++, name);
    r.shape(ResultAxis::components, rows, columns == 1 ? ResultAxis::one : ResultAxis::rates,
            columns);
    for (std::size_t i = 0; i < r.values.size(); ++i) r.values[i] = detail::lowered<Value>(x[i]);
  };
  put("centroidal_momentum", 6, 1, a.momentum);
  put("centroidal_momentum_rate", 6, 1, a.rate);
  put("centroidal_momentum_matrix", 6, nv, a.matrix);
  put("dmomentum_dq", 6, nv, a.momentum_by_q);
  put("drate_dq", 6, nv, a.rate_by_q);
  put("drate_dv", 6, nv, a.rate_by_v);
  put("center_of_mass", 3, 1, a.com);
  put("dcenter_of_mass_dq", 3, nv, a.com_by_q);
  this->add_margin(model(), out, k);
}

#define ESPALIER_INSTANTIATE(T)                 \
  template class InverseDynamicsDerivatives<T>; \
  template class ForwardDynamicsDerivatives<T>; \
  template class InverseMassMatrix<T>;          \
  template class InverseDynamicsAdjoint<T>;     \
  template class ForwardDynamicsAdjoint<T>;     \
  template class CoriolisMatrix<T>;             \
  template class StepDerivatives<T>;            \
  template class KinematicsDerivatives<T>;      \
  template class CentroidalDynamics<T>;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
