#pragma once

#include "espalier/kernel/problems/named_results.hpp"
#include "espalier/kernel/problems/task.hpp"

namespace espalier {

/// Inverse inertia as it is felt at the end-effectors, J M^-1 J^T, also called Delassus matrix.
template <class T>
class ESPALIER_API InverseOsim : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "inverse-osim";
  /// The setup has to name end-effectors.
  static constexpr bool needs_end_effectors = true;

  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// @throws SizeMismatch, UnknownName, InvalidModel for unusable end-effectors
  explicit InverseOsim(const Setup& setup)
      : AlgorithmAt<T>(setup.model), task_(*setup.model, setup.end_effectors) {}

  /// Rows that the setup\'s end-effectors make.
  const Task& task() const { return task_; }

  /// Computes the inverse operational-space inertia; singular where rows of J are dependent.
  /// @param q                  spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param[out] inverse_osim  m x m, m the rows of the task; row-major or an Eigen matrix [1/kg,
  ///                           1/(kg·m), 1/(kg·m²)]
  /// @throws SizeMismatch; SingularMechanism as ForwardDynamics
  void evaluate(In<T> q, OutMatrix<T> inverse_osim) {
    expect_size("inverse osim", "q", q.size(), model().nq());
    inverse_osim.expect("inverse osim", "inverse_osim", task_.size(), task_.size());
    const T doubt = this->expect_inertia(problem, q.data());
    compute(q.data(), inverse_osim.data());
    this->expect_semidefinite(problem, inverse_osim, task_.size(), doubt, q);
    inverse_osim.finish();
  }
  ESPALIER_CALLS_AT_POSITIONS

 protected:
  /// solve() at this scalar: named inputs in, named results out.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override {
    BasicResult<Value>& r = detail::result(out, 0, "inverse_osim");
    r.shape(ResultAxis::task, task_.size(), ResultAxis::task, task_.size());
    detail::answer<T>(r, [&](Out<T> x) { evaluate(detail::lifted<T>(in.q), x); });
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, T* inverse_osim) = 0;

 private:
  Task task_;
};

}  // namespace espalier
