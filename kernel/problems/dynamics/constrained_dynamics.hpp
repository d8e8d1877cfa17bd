#pragma once

#include "espalier/kernel/problems/named_results.hpp"
#include "espalier/kernel/problems/task.hpp"

namespace espalier {

/// Forward dynamics of a robot whose end-effectors are held: M vdot + C = tau + J^T f with
/// J vdot + (dJ/dt) v = a for a wanted a.
template <class T>
class ESPALIER_API ConstrainedDynamics : public Algorithm {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "constrained-dynamics";
  /// The setup has to name end-effectors.
  static constexpr bool needs_end_effectors = true;

  /// Accelerations and constraint forces.
  struct Answer {
    std::vector<T> vdot;   ///< nv
    std::vector<T> force;  ///< f by rows, m; the smallest where rows are redundant [N, N·m]
    int rank = 0;          ///< independent rows; m - rank are redundant
    /// Largest |J vdot + (dJ/dt) v - a|: not zero where redundant rows contradict one another. Then
    /// the sum of squares over the redundant ones is as small as it can be.
    T conflict = T(0.0);
  };

  /// Binds to a model and its end-effectors.  @throws as Task
  explicit ConstrainedDynamics(const Setup& setup)
      : Algorithm(setup.model), task_(*setup.model, setup.end_effectors) {}

  /// Rows that the setup\'s end-effectors make.
  const Task& task() const { return task_; }

  /// Compliance of the constraints for the following calls: J vdot + (dJ/dt) v = a - c f. Zero
  /// at first; a small one lets f be determined where rows are redundant.
  void set_compliance(double c) { compliance_ = c; }
  /// As set_compliance() has it.
  double compliance() const { return compliance_; }

  /// Computes accelerations and constraint forces.
  /// @param q             spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v             independent rates, size nv [rad/s, m/s]
  /// @param tau           generalized forces, size nv [N·m, N]
  /// @param acceleration  a by rows, size m
  /// @param wrenches      external wrenches on bodies, or nullptr
  /// @returns an answer that is valid until the next call
  /// @throws SizeMismatch; SingularMechanism where some motion has no inertia
  const Answer& evaluate(In<T> q, In<T> v, In<T> tau, In<T> acceleration,
                         const Wrenches<T>* wrenches = nullptr) {
    const Model& m = model();
    expect_size("constrained dynamics", "q", q.size(), m.nq());
    expect_size("constrained dynamics", "v", v.size(), m.nv());
    expect_size("constrained dynamics", "tau", tau.size(), m.nv());
    expect_size("constrained dynamics", "acceleration", acceleration.size(), task_.size());
    detail::expect_wrenches("constrained dynamics", wrenches, m);
    this->expect_inertia(problem, q.data());
    return compute(q.data(), v.data(), tau.data(), acceleration.data(), wrenches);
  }
  ESPALIER_CALLS_AT_STATES
  void solve(const InputViews& in, Results& out) override {
    if constexpr (std::is_same_v<T, double>) {
      using Axis = Result::Axis;
      const std::vector<T> rest(in.task_acceleration.empty() ? task_.size() : 0, 0.0);
      const Answer& a =
          evaluate(in.q, in.v, in.tau,
                   in.task_acceleration.empty() ? In<T>(rest) : in.task_acceleration, in.wrenches);
      Result& vdot = detail::result(out, 0, "vdot");
      vdot.shape(Axis::rates, model().nv(), Axis::one, 1);
      vdot.values = a.vdot;
      Result& force = detail::result(out, 1, "constraint_force");
      force.shape(Axis::task, task_.size(), Axis::one, 1);
      force.values = a.force;
      Result& rank = detail::result(out, 2, "constraint_rank");
      rank.shape(Axis::one, 1, Axis::one, 1);
      rank.values[0] = a.rank;
      Result& conflict = detail::result(out, 3, "constraint_conflict");
      conflict.shape(Axis::one, 1, Axis::one, 1);
      conflict.values[0] = a.conflict;
    } else {
      detail::refuse_named_inputs();
    }
  }

 protected:
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual const Answer& compute(const T* q, const T* v, const T* tau, const T* acceleration,
                                const Wrenches<T>* wrenches) = 0;

 private:
  Task task_;
  double compliance_ = 0.0;
};

}  // namespace espalier
