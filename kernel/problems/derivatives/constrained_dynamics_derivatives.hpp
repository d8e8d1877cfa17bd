#pragma once

#include <vector>

#include "espalier/kernel/problems/derivatives/derivative_results.hpp"
#include "espalier/kernel/problems/loads.hpp"
#include "espalier/kernel/problems/task.hpp"

namespace espalier {

/// Derivatives of forward dynamics with held end-effectors, of accelerations and of constraint
/// forces:
///   M vdot + C = tau + J^T f  and  J vdot + (dJ/dt) v = a - c f,  c the compliance.
/// Rows in link axes hold components of the spatial acceleration of the point's frame, and their
/// forces turn with the link; rows in world axes hold the ordinary acceleration of a point that is
/// fixed in the link, and their forces keep their direction (setup.hpp). Derivatives by q
/// are those of kernel/problems/derivatives/derivatives.hpp; a, the rows and the compliance are
/// held.
///
/// Where rows are redundant, f is the shortest one, as in ConstrainedDynamics, and derivatives are
/// those of that f: they hold where the number of independent rows is the same all around. At a
/// position where rows become dependent f is not smooth; `rank` tells.
template <class T>
class ESPALIER_API ConstrainedDynamicsDerivatives : public Algorithm,
                                                    public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "constrained-dynamics-derivatives";
  /// The setup has to name end-effectors.
  static constexpr bool needs_end_effectors = true;

  /// Accelerations, constraint forces and their derivatives; matrices are row-major.
  struct Answer {
    std::vector<T> vdot;         ///< nv [rad/s², m/s²]
    std::vector<T> force;        ///< f by rows, m [N, N·m]
    std::vector<T> dvdot_dq;     ///< nv x nv
    std::vector<T> dvdot_dv;     ///< nv x nv
    std::vector<T> dvdot_dtau;   ///< nv x nv
    std::vector<T> dforce_dq;    ///< m x nv
    std::vector<T> dforce_dv;    ///< m x nv
    std::vector<T> dforce_dtau;  ///< m x nv
    int rank = 0;                ///< independent rows; m - rank are redundant
    T conflict = T(0.0);         ///< as in ConstrainedDynamics
  };

  /// Binds to a model and its end-effectors.  @throws as Task
  explicit ConstrainedDynamicsDerivatives(const Setup& setup)
      : Algorithm(setup.model), task_(*setup.model, setup.end_effectors) {}

  /// Rows that the setup's end-effectors make.
  const Task& task() const { return task_; }
  /// Compliance of the constraints for the following calls, as in ConstrainedDynamics; zero at
  /// first.
  void set_compliance(double c) { compliance_ = c; }
  /// As set_compliance() has it.
  double compliance() const { return compliance_; }

  /// Computes accelerations, constraint forces and their derivatives by q, v and tau.
  /// @param q             spanning positions on closed loops, size nq [rad, m, quaternions x y z w]
  /// @param v             independent rates, size nv [rad/s, m/s]
  /// @param tau           generalized forces, size nv [N·m, N]
  /// @param acceleration  a by rows, size m
  /// @param loads         what acts besides tau and gravity, or nullptr
  /// @returns an answer that is valid until the next call
  /// Cost: O(n^2 d + m n^2).
  /// @throws SizeMismatch; SingularMechanism where some motion has no inertia; Unsupported for a
  ///         wrench on a folded rotor
  const Answer& evaluate(In<T> q, In<T> v, In<T> tau, In<T> acceleration,
                         const Loads<T>* loads = nullptr) {
    const char* who = "constrained dynamics derivatives";
    const Model& m = model();
    expect_size(who, "q", q.size(), m.nq());
    expect_size(who, "v", v.size(), m.nv());
    expect_size(who, "tau", tau.size(), m.nv());
    expect_size(who, "acceleration", acceleration.size(), task_.size());
    detail::expect_loads(who, loads, m);
    this->expect_inertia(problem, q.data());
    return compute(q.data(), v.data(), tau.data(), acceleration.data(), loads);
  }
  ESPALIER_CALLS_AT_STATES
  void solve(const InputViews& in, Results& out) override;

 protected:
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual const Answer& compute(const T* q, const T* v, const T* tau, const T* acceleration,
                                const Loads<T>* loads) = 0;

 private:
  Task task_;
  double compliance_ = 0.0;
};

// One copy of the interface, in the kernel.
extern template class ConstrainedDynamicsDerivatives<double>;

}  // namespace espalier
