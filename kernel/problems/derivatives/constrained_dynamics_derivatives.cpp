#include "espalier/kernel/problems/derivatives/constrained_dynamics_derivatives.hpp"

namespace espalier {

template <class T>
void ConstrainedDynamicsDerivatives<T>::solve(const InputViews& in, Results& out) {
  using Axis = Result::Axis;
  const int n = model().nv(), m = task_.size();
  const Loads<T> loads{in.wrenches, nullptr, nullptr};
  const std::vector<T> rest(in.task_acceleration.empty() ? m : 0, 0.0);
  const Answer& a =
      evaluate(in.q, in.v, in.tau,
               in.task_acceleration.empty() ? In<T>(rest) : in.task_acceleration, &loads);
  std::size_t k = 0;
  const auto put = [&](const char* name, Axis row_axis, int rows, Axis column_axis, int columns,
                       const std::vector<T>& x) {
    Result& r = detail::result(out, k++, name);
    r.shape(row_axis, rows, column_axis, columns);
    r.values = x;
  };
  put("vdot", Axis::rates, n, Axis::one, 1, a.vdot);
  put("constraint_force", Axis::task, m, Axis::one, 1, a.force);
  put("dvdot_dq", Axis::rates, n, Axis::rates, n, a.dvdot_dq);
  put("dvdot_dv", Axis::rates, n, Axis::rates, n, a.dvdot_dv);
  put("dvdot_dtau", Axis::rates, n, Axis::rates, n, a.dvdot_dtau);
  put("dforce_dq", Axis::task, m, Axis::rates, n, a.dforce_dq);
  put("dforce_dv", Axis::task, m, Axis::rates, n, a.dforce_dv);
  put("dforce_dtau", Axis::task, m, Axis::rates, n, a.dforce_dtau);
  const auto number = [&](const char* name, double x) {
    Result& r = detail::result(out, k++, name);
    r.shape(Axis::one, 1, Axis::one, 1);
    r.values[0] = x;
  };
  number("constraint_rank", a.rank);
  number("constraint_conflict", a.conflict);
  this->add_margin(model(), out, k);
}

template class ConstrainedDynamicsDerivatives<double>;

}  // namespace espalier
