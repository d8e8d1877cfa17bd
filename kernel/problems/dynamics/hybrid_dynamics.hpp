#pragma once

#include <algorithm>

#include "espalier/kernel/problems/named_results.hpp"
#include "espalier/kernel/problems/setup.hpp"

namespace espalier {

/// Of some joints accelerations are known, of the others torques, and the rest is wanted. Which
/// joints' accelerations are known is said by those sensors of the setup that measure accelerations
/// of joints; its other sensors mean nothing here.
template <class T>
class ESPALIER_API HybridDynamics : public Algorithm {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "hybrid-dynamics";
  /// The setup has to name sensors.
  static constexpr bool needs_sensors = true;

  /// @throws UnknownName for joints; InvalidModel for joints that follow others
  explicit HybridDynamics(const Setup& setup)
      : Algorithm(setup.model), is_accelerated_(setup.model->nv(), false) {
    for (const Sensor& s : setup.sensors) {
      if (s.kind == Sensor::Kind::acceleration) joints_.push_back(s.joint);
    }
    hybrid_sensors(model(), joints_);  // checks the names
    for (const Coordinate& c : model().coordinates()) {
      const bool known = std::find(joints_.begin(), joints_.end(), c.joint) != joints_.end();
      for (int k = 0; k < c.size; ++k) is_accelerated_[c.start + k] = known;
    }
  }

  /// Joints whose accelerations are known, as the setup names them.
  const std::vector<std::string>& accelerated_joints() const { return joints_; }
  /// Whether the acceleration of an independent rate is known.
  bool is_accelerated(int rate) const { return is_accelerated_[rate]; }

  /// Computes what is not known.
  /// @param q          spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v          independent rates, size nv [rad/s, m/s]
  /// @param known      by independent rates: accelerations where is_accelerated(), else torques
  /// @param[out] tau   size nv, those that are known included
  /// @param[out] vdot  size nv, likewise
  /// @param wrenches   external wrenches on bodies, or nullptr
  /// @throws SizeMismatch
  void evaluate(In<T> q, In<T> v, In<T> known, Out<T> tau, Out<T> vdot,
                const Wrenches<T>* wrenches = nullptr) {
    const Model& m = model();
    expect_size("hybrid dynamics", "q", q.size(), m.nq());
    expect_size("hybrid dynamics", "v", v.size(), m.nv());
    expect_size("hybrid dynamics", "known", known.size(), m.nv());
    expect_size("hybrid dynamics", "tau", tau.size(), m.nv());
    expect_size("hybrid dynamics", "vdot", vdot.size(), m.nv());
    detail::expect_wrenches("hybrid dynamics", wrenches, m);
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data(), v.data(), known.data(), tau.data(), vdot.data(), wrenches);
    this->expect_answer(problem, wrenches, vdot, T(0.0), q, v, known);
  }
  ESPALIER_CALLS_AT_STATES
  void solve(const InputViews& in, Results& out) override {
    if constexpr (std::is_same_v<T, double>) {
      using Axis = Result::Axis;
      const int nv = model().nv();
      expect_size("hybrid dynamics", "tau", in.tau.size(), nv);
      expect_size("hybrid dynamics", "vdot", in.vdot.size(), nv);
      std::vector<double> known(nv);
      for (int j = 0; j < nv; ++j) known[j] = is_accelerated_[j] ? in.vdot[j] : in.tau[j];
      detail::result(out, 0, "tau").shape(Axis::rates, nv, Axis::one, 1);
      detail::result(out, 1, "vdot").shape(Axis::rates, nv, Axis::one, 1);
      evaluate(in.q, in.v, known, Out<T>(out[0].values), Out<T>(out[1].values), in.wrenches);
    } else {
      detail::refuse_named_inputs();
    }
  }

 protected:
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* known, T* tau, T* vdot,
                       const Wrenches<T>* wrenches) = 0;

 private:
  std::vector<std::string> joints_;
  std::vector<bool> is_accelerated_;
};

}  // namespace espalier
