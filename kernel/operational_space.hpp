#pragma once

#include "espalier/kernel/problems.hpp"

/// Problems that speak of end-effectors. Their rows, J v, stand in the order of the setup.

namespace espalier {

/// Inverse inertia as it is felt at the end-effectors, J M^-1 J^T, also called Delassus matrix.
template <class T>
class ESPALIER_API InverseOsim : public AlgorithmAt<T> {
 public:
  static constexpr std::string_view problem = "inverse-osim";
  static constexpr bool needs_end_effectors = true;

  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// @throws SizeMismatch, UnknownName, InvalidModel for unusable end-effectors
  explicit InverseOsim(const Setup& setup)
      : AlgorithmAt<T>(setup.model), task_(*setup.model, setup.end_effectors) {}

  const Task& task() const { return task_; }

  /// Computes the inverse operational-space inertia; singular where rows of J are dependent.
  /// @param q                  spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param[out] inverse_osim  size m * m, m the rows of the task; all entries written [1/kg,
  ///                           1/(kg·m), 1/(kg·m²)]
  /// @throws SizeMismatch
  void evaluate(In<T> q, Out<T> inverse_osim) {
    expect_size("inverse osim", "q", q.size(), model().nq());
    expect_size("inverse osim", "inverse_osim", inverse_osim.size(),
                static_cast<long>(task_.size()) * task_.size());
    compute(q.data(), inverse_osim.data());
  }

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override {
    BasicResult<Value>& r = detail::result(out, 0, "inverse_osim");
    r.shape(ResultAxis::task, task_.size(), ResultAxis::task, task_.size());
    detail::answer<T>(r, [&](Out<T> x) { evaluate(detail::lifted<T>(in.q), x); });
  }
  virtual void compute(const T* q, T* inverse_osim) = 0;

 private:
  Task task_;
};

/// What a controller in operational space asks for. All matrices are row-major; m rows of the task.
/// Where rows of J are dependent, the inertia is the Moore-Penrose inverse of J M^-1 J^T.
/// Source: Khatib (1987).
template <class T>
class ESPALIER_API OperationalSpace : public Algorithm {
 public:
  static constexpr std::string_view problem = "operational-space";
  static constexpr bool needs_end_effectors = true;

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
    std::vector<T> bias_force;          ///< Lambda (J M^-1 C - (dJ/dt) v), m: to hold the task still
    int rank = 0;                       ///< of J M^-1 J^T
  };

  explicit OperationalSpace(const Setup& setup)
      : Algorithm(setup.model), task_(*setup.model, setup.end_effectors) {}

  const Task& task() const { return task_; }

  /// @param q, v, tau  as in ForwardDynamics
  /// @returns an answer that is valid until the next call  @throws SizeMismatch
  const Answer& evaluate(In<T> q, In<T> v, In<T> tau, const Wrenches<T>* wrenches = nullptr) {
    const Model& m = model();
    expect_size("operational space", "q", q.size(), m.nq());
    expect_size("operational space", "v", v.size(), m.nv());
    expect_size("operational space", "tau", tau.size(), m.nv());
    detail::expect_wrenches("operational space", wrenches, m);
    return compute(q.data(), v.data(), tau.data(), wrenches);
  }
  void solve(const Inputs& in, Results& out) override {
    if constexpr (std::is_same_v<T, double>) {
      using Axis = Result::Axis;
      const Answer& a = evaluate(in.q, in.v, in.tau, in.wrenches);
      const int m = task_.size(), nv = model().nv();
      std::size_t k = 0;
      const auto put = [&](const char* name, const std::vector<T>& x, Axis r, int nr, Axis c, int nc) {
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
  virtual const Answer& compute(const T* q, const T* v, const T* tau,
                                const Wrenches<T>* wrenches) = 0;

 private:
  Task task_;
};

/// Forward dynamics of a robot whose end-effectors are held: M vdot + C = tau + J^T f with
/// J vdot + (dJ/dt) v = a for a wanted a.
template <class T>
class ESPALIER_API ConstrainedDynamics : public Algorithm {
 public:
  static constexpr std::string_view problem = "constrained-dynamics";
  static constexpr bool needs_end_effectors = true;

  struct Answer {
    std::vector<T> vdot;   ///< nv
    std::vector<T> force;  ///< f by rows, m; the smallest where rows are redundant [N, N·m]
    int rank = 0;          ///< independent rows; m - rank are redundant
    /// Largest |J vdot + (dJ/dt) v - a|: not zero where redundant rows contradict one another. Then
    /// the sum of squares over the redundant ones is as small as it can be.
    T conflict = T(0.0);
  };

  explicit ConstrainedDynamics(const Setup& setup)
      : Algorithm(setup.model), task_(*setup.model, setup.end_effectors) {}

  const Task& task() const { return task_; }

  /// Compliance of the constraints for the following calls: J vdot + (dJ/dt) v = a - c f. Zero
  /// at first; a small one lets f be determined where rows are redundant.
  void set_compliance(double c) { compliance_ = c; }
  double compliance() const { return compliance_; }

  /// @param q, v, tau     as in ForwardDynamics
  /// @param acceleration  a by rows, size m
  /// @returns an answer that is valid until the next call  @throws SizeMismatch
  const Answer& evaluate(In<T> q, In<T> v, In<T> tau, In<T> acceleration,
                         const Wrenches<T>* wrenches = nullptr) {
    const Model& m = model();
    expect_size("constrained dynamics", "q", q.size(), m.nq());
    expect_size("constrained dynamics", "v", v.size(), m.nv());
    expect_size("constrained dynamics", "tau", tau.size(), m.nv());
    expect_size("constrained dynamics", "acceleration", acceleration.size(), task_.size());
    detail::expect_wrenches("constrained dynamics", wrenches, m);
    return compute(q.data(), v.data(), tau.data(), acceleration.data(), wrenches);
  }
  void solve(const Inputs& in, Results& out) override {
    if constexpr (std::is_same_v<T, double>) {
      using Axis = Result::Axis;
      const std::vector<T> rest(in.task_acceleration.empty() ? task_.size() : 0, 0.0);
      const Answer& a = evaluate(in.q, in.v, in.tau,
                                 in.task_acceleration.empty() ? rest : in.task_acceleration,
                                 in.wrenches);
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
  virtual const Answer& compute(const T* q, const T* v, const T* tau, const T* acceleration,
                                const Wrenches<T>* wrenches) = 0;

 private:
  Task task_;
  double compliance_ = 0.0;
};

}  // namespace espalier
