#pragma once

#include "espalier/kernel/problems/named_results.hpp"
#include "espalier/kernel/problems/task.hpp"

namespace espalier {

/// What a controller in operational space asks for. All matrices are row-major; m rows of the task.
/// Where rows of J are dependent, the inertia is the Moore-Penrose inverse of J M^-1 J^T.
/// Source: Khatib (1987).
template <class T>
class ESPALIER_API OperationalSpace : public Algorithm {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "operational-space";
  /// The setup has to name end-effectors.
  static constexpr bool needs_end_effectors = true;

  /// All that is asked for; row-major.
  struct Answer {
    std::vector<T> jacobian;            ///< J, m x nv
    std::vector<T> inverse_osim;        ///< J M^-1 J^T, m x m
    std::vector<T> osim;                ///< Lambda, its inverse, m x m
    std::vector<T> consistent_inverse;  ///< M^-1 J^T Lambda, nv x m
    std::vector<T> null_projector;      ///< 1 - J^T (M^-1 J^T Lambda)^T, nv x nv: forces that it
                                        ///< lets pass do not accelerate the task
    std::vector<T> task_input;          ///< J M^-1, m x nv: acceleration for forces on the rates
    std::vector<T> task_bias;           ///< (dJ/dt) v, m
    std::vector<T> free_acceleration;   ///< J vdot + (dJ/dt) v without task forces, m
    std::vector<T> bias_force;  ///< Lambda (J M^-1 C - (dJ/dt) v), m: to hold the task still
    int rank = 0;               ///< of J M^-1 J^T
  };

  /// Binds to a model and its end-effectors.  @throws as Task
  explicit OperationalSpace(const Setup& setup)
      : Algorithm(setup.model), task_(*setup.model, setup.end_effectors) {}

  /// Rows that the setup\'s end-effectors make.
  const Task& task() const { return task_; }

  /// Computes all of the answer.
  /// @param q    spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v    independent rates, size nv [rad/s, m/s]
  /// @param tau  generalized forces, size nv [N·m, N]
  /// @param wrenches  external wrenches on bodies, or nullptr
  /// @returns an answer that is valid until the next call
  /// @throws SizeMismatch; SingularMechanism where some motion has no inertia
  const Answer& evaluate(In<T> q, In<T> v, In<T> tau, const Wrenches<T>* wrenches = nullptr) {
    const Model& m = model();
    expect_size("operational space", "q", q.size(), m.nq());
    expect_size("operational space", "v", v.size(), m.nv());
    expect_size("operational space", "tau", tau.size(), m.nv());
    detail::expect_wrenches("operational space", wrenches, m);
    this->expect_inertia(problem, q.data());
    return compute(q.data(), v.data(), tau.data(), wrenches);
  }
  ESPALIER_CALLS_AT_STATES
  void solve(const InputViews& in, Results& out) override {
    if constexpr (std::is_same_v<T, double>) {
      using Axis = Result::Axis;
      const Answer& a = evaluate(in.q, in.v, in.tau, in.wrenches);
      const int m = task_.size(), nv = model().nv();
      std::size_t k = 0;
      const auto put = [&](const char* name, const std::vector<T>& x, Axis r, int nr, Axis c,
                           int nc) {
        Result& result = detail::result(out, k++, name);
        result.shape(r, nr, c, nc);
        result.values = x;
      };
      put("task_jacobian", a.jacobian, Axis::task, m, Axis::rates, nv);
      put("inverse_osim", a.inverse_osim, Axis::task, m, Axis::task, m);
      put("osim", a.osim, Axis::task, m, Axis::task, m);
      put("consistent_inverse", a.consistent_inverse, Axis::rates, nv, Axis::task, m);
      put("null_projector", a.null_projector, Axis::rates, nv, Axis::rates, nv);
      put("task_input", a.task_input, Axis::task, m, Axis::rates, nv);
      put("task_bias", a.task_bias, Axis::task, m, Axis::one, 1);
      put("task_free_acceleration", a.free_acceleration, Axis::task, m, Axis::one, 1);
      put("task_bias_force", a.bias_force, Axis::task, m, Axis::one, 1);
      put("task_rank", {static_cast<T>(a.rank)}, Axis::one, 1, Axis::one, 1);
    } else {
      detail::refuse_named_inputs();
    }
  }

 protected:
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual const Answer& compute(const T* q, const T* v, const T* tau,
                                const Wrenches<T>* wrenches) = 0;

 private:
  Task task_;
};

}  // namespace espalier
