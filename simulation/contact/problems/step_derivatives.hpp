#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/problems/derivatives/inverse_dynamics_derivatives.hpp"
#include "espalier/simulation/contact/problems/step.hpp"

namespace espalier::contact {

/// The state after a step, and how it varies with the one before. Matrices nv x nv, row-major,
/// entry (i, j) the derivative of component i by coordinate j.
///
/// Derivatives by and of q are along the tangents of the independent coordinates, as in
/// problems/derivatives/derivatives.hpp; those of v+ are of its components, which for a floating
/// joint are in the axes after the step.
struct StepDerivatives {
  enum class Verdict {
    smooth,
    near_switch,  ///< the matrices are one-sided: a row is about to change its mode
    /// Redundant points slip: how they share the load, and with it the motion, is not unique.
    indeterminate,
    mixed_impact,  ///< the energy guard mixed two impacts, which is not differentiated
    unsolved       ///< no impulses were found to the tolerance
  };
  Verdict verdict = Verdict::smooth;
  std::vector<double> q, v;  ///< after the step, loops not yet closed
  std::vector<double> dq_dq, dq_dv, dq_dtau, dv_dq, dv_dv, dv_dtau;
  std::vector<double> dq_dfriction, dv_dfriction;  ///< by the factor on all friction, size nv
  /// How far the nearest row is from another mode, as a rate of that row [m/s, rad/s]; infinite
  /// where there are no rows.
  double margin = 0.0;
  std::string nearest;  ///< what that row is
};
ESPALIER_API std::string_view to_string(StepDerivatives::Verdict verdict);

/// Derivatives of one step with rigid contact: by q, v, tau and friction, exact where no row is
/// about to change its mode. Owns its workspace, belongs to one thread.
template <class T>
class ESPALIER_API ContactStepDerivatives : public Algorithm {
 public:
  static constexpr std::string_view problem = "contact-step-derivatives";
  using Algorithm::Algorithm;

  /// Rates of rows that are nearer to another mode make a verdict of it [m/s, rad/s].
  static constexpr double switch_margin = 1e-5;

  /// What a step asks for, and the derivatives of what is smooth in it.
  struct Parts {
    typename ContactStep<T>::Parts step;
    std::unique_ptr<InverseDynamicsDerivatives<T>> inverse_dynamics;
  };
  /// Takes what it needs; before all else.
  /// @throws Unsupported naming the pair of solids that has no closed form, or the joint whose
  ///         positions are curved and not all independent
  virtual void bind(Parts parts) = 0;
  virtual const Plan& plan() const = 0;
  /// Gravity for what follows [m/s²], world axes.
  virtual void set_step_gravity(const Vec3<double>& g) = 0;

  /// Differentiates the step that starts at a state.
  /// @param s         as ContactStep takes it; not moved
  /// @param h         length of the step [s]
  /// @param[out] out  keeps its storage
  /// Cost: O(nv (n + m) + m^3).
  virtual void differentiate(const StepState<T>& s, double h, StepDerivatives& out) = 0;

  /// @throws Unsupported: the problem has no named inputs
  void solve(const InputViews& in, Results& out) override;
};

extern template class ContactStepDerivatives<double>;

}  // namespace espalier::contact
