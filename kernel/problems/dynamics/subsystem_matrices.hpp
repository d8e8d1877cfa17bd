#pragma once

#include "espalier/kernel/problems/named_results.hpp"

namespace espalier {

/// The equations of motion of a robot's subsystems in the sense of Bremer, each for itself: what a
/// paper prints of them. Subsystems are the groups of the setup, and single clusters elsewhere.
///
/// With describing velocities y_i and independent rates qd_i of subsystem i, y_p of its parent,
///   y_i  = T_ip y_p + F_i qd_i,   yd_i = T_ip yd_p + F_i qdd_i + c_i,
///   sum over i of (dy_i/dqd)^T (M_i yd_i + h_i - B_i u_i) = 0.
/// y_i holds the twists of the subsystem's supporting bodies (the bodies outside that it hangs on,
/// mostly one; each twist angular first, in the frame and at the origin of the body's first link)
/// and then its independent rates. The ground's frame is the world. Matrices are row-major.
/// Source: Bremer (2008); Krög et al., section 3.1; theory/template 2, instance C.
template <class Scalar>
class ESPALIER_API SubsystemMatrices : public Algorithm {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "subsystem-matrices";

  /// One subsystem's matrices, row-major.
  struct Subsystem {
    std::string name;                  ///< of the group, or of the cluster
    int parent = -1;                   ///< subsystem; -1: the ground, whose y_p is the twist zero
    int parent_size = 6;               ///< s_p, of y_p
    std::vector<std::string> outputs;  ///< first links of the supporting bodies; the ground's name
    std::vector<int> rates;            ///< independent rates of the model, in the order of y
    std::vector<std::string> inputs;   ///< columns of B: u_i
    std::vector<Scalar> y;             ///< s = 6 outputs + rates [rad/s, m/s]
    std::vector<Scalar> M;   ///< s x s, symmetric positive semidefinite [kg, kg·m, kg·m²]
    std::vector<Scalar> h;   ///< s: gravity, velocity terms, external wrenches [N·m, N]
    std::vector<Scalar> B;   ///< s x inputs
    std::vector<Scalar> T;   ///< s x s_p
    std::vector<Scalar> F;   ///< s x rates: [0; 1], so that its rate is zero
    std::vector<Scalar> dT;  ///< s x s_p, rate of T; by differences: 1e-6 or better
    std::vector<Scalar> c;  ///< s: (dT_ip/dt) y_p, of which the rates' part is zero [rad/s², m/s²]

    /// s, of y.
    int size() const { return static_cast<int>(6 * outputs.size() + rates.size()); }
  };

  using Algorithm::Algorithm;

  /// @param q, v      as in ForwardDynamics
  /// @param wrenches  external wrenches on bodies, or nullptr
  /// @returns the subsystems, parents first; valid until the next call  @throws SizeMismatch
  const std::vector<Subsystem>& evaluate(In<Scalar> q, In<Scalar> v,
                                         const Wrenches<Scalar>* wrenches = nullptr) {
    const Model& m = model();
    expect_size("subsystem matrices", "q", q.size(), m.nq());
    expect_size("subsystem matrices", "v", v.size(), m.nv());
    detail::expect_wrenches("subsystem matrices", wrenches, m);
    this->expect_closed_in_debug(problem, q.data());
    return compute(q.data(), v.data(), wrenches);
  }
  ESPALIER_CALLS_AT_STATES
  /// The subsystems; their numbers are those of the last call.
  virtual const std::vector<Subsystem>& subsystems() const = 0;

  /// Results "y of <subsystem>", then "M of ", "h of ", "B of ", "T of ", "dT of ", "F of " and
  /// "c of ".
  void solve(const InputViews& in, Results& out) override {
    if constexpr (std::is_same_v<Scalar, double>) {
      std::size_t k = 0;
      for (const Subsystem& s : evaluate(in.q, in.v, in.wrenches)) {
        const auto put = [&](const char* what, const std::vector<double>& x, int columns) {
          Result& r = detail::result(out, k++, what + (" of " + s.name));
          r.shape(Result::Axis::components, s.size(),
                  columns < 0 ? Result::Axis::one : Result::Axis::components, std::abs(columns));
          r.values = x;
        };
        constexpr int vector = -1;
        put("y", s.y, vector);
        put("M", s.M, s.size());
        put("h", s.h, vector);
        put("B", s.B, static_cast<int>(s.inputs.size()));
        put("T", s.T, s.parent_size);
        put("dT", s.dT, s.parent_size);
        put("F", s.F, static_cast<int>(s.rates.size()));
        put("c", s.c, vector);
      }
    } else {
      detail::refuse_named_inputs();
    }
  }

 protected:
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual const std::vector<Subsystem>& compute(const Scalar* q, const Scalar* v,
                                                const Wrenches<Scalar>* wrenches) = 0;
};

}  // namespace espalier
