#pragma once

#include "espalier/kernel/problems/named_results.hpp"

namespace espalier {

/// What every physical joint transmits, the ones that close loops included: the forces that
/// bearings, rods and gear meshes have to bear.
template <class T>
class ESPALIER_API JointWrenches : public Algorithm {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "joint-wrenches";
  using Algorithm::Algorithm;

  /// One joint's answer.
  struct Reaction {
    std::string joint;  ///< of the file, loops included
    Force<T> wrench;    ///< on the child (successor), its link's axes, about the joint's origin
    /// Whether the motion determines it. Where a loop has more constraints than it needs (a planar
    /// loop with pins in space), a part of what its joints bear depends on how stiff they are; then
    /// the smallest forces that do are given and this is false.
    bool determined = true;
  };

  /// Computes what joints transmit; actuators act on the independent rates.
  /// @param q     spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v     independent rates, size nv [rad/s, m/s]
  /// @param vdot  accelerations, size nv [rad/s², m/s²]
  /// @param wrenches    external wrenches on bodies, or nullptr
  /// @returns one reaction for each joint that moves and for each loop, valid until the next call
  /// @throws SizeMismatch
  const std::vector<Reaction>& evaluate(In<T> q, In<T> v, In<T> vdot,
                                        const Wrenches<T>* wrenches = nullptr) {
    const Model& m = model();
    expect_size("joint wrenches", "q", q.size(), m.nq());
    expect_size("joint wrenches", "v", v.size(), m.nv());
    expect_size("joint wrenches", "vdot", vdot.size(), m.nv());
    detail::expect_wrenches("joint wrenches", wrenches, m);
    this->expect_closed_in_debug(problem, q.data());
    return compute(q.data(), v.data(), vdot.data(), wrenches);
  }
  ESPALIER_CALLS_AT_STATES
  /// One result "wrench of <joint>" for each joint: moment, force, and 1 if it is determined.
  void solve(const InputViews& in, Results& out) override {
    if constexpr (std::is_same_v<T, double>) {
      std::size_t k = 0;
      for (const Reaction& reaction : evaluate(in.q, in.v, in.vdot, in.wrenches)) {
        Result& r = detail::result(out, k++, "wrench of " + reaction.joint);
        r.shape(Result::Axis::one, 1, Result::Axis::components, 7);
        for (int i = 0; i < 6; ++i) r.values[i] = reaction.wrench[i];
        r.values[6] = reaction.determined ? 1.0 : 0.0;
      }
    } else {
      detail::refuse_named_inputs();
    }
  }

 protected:
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual const std::vector<Reaction>& compute(const T* q, const T* v, const T* vdot,
                                               const Wrenches<T>* wrenches) = 0;
};

}  // namespace espalier
