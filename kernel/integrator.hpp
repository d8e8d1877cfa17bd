#pragma once

#include "espalier/kernel/model/model.hpp"

namespace espalier {

/// The equations of motion as an integrator sees them: positions move on their manifold with the
/// spanning rates qd = G(q) v, rates with vdot = f(t, q, v).
class ESPALIER_API EquationsOfMotion {
 public:
  virtual ~EquationsOfMotion();
  /// @param t          time [s]
  /// @param q          spanning positions, size nq
  /// @param v          independent rates, size nv
  /// @param[out] qd    spanning rates, size spanning_nv
  /// @param[out] vdot  independent accelerations, size nv
  virtual void evaluate(double t, const double* q, const double* v, double* qd, double* vdot) = 0;
  /// qd = G x with the G of the last evaluate().
  virtual void expand(const double* x, double* qd) = 0;
  /// To be called with the positions at the end of every step that is taken: puts what has drifted
  /// from the loops by the error of the step back on them.
  /// @throws SingularMechanism if the loops cannot be closed there on their branch
  virtual void settle(double t, double* q) = 0;
};

/// Advances a robot's state by one time step; owns its workspace, belongs to one thread.
///
/// Positions change by Model::integrate alone, the flow of constant rates, so that they stay on
/// their manifold. An author's class I derives from it and has
///   I(ModelPtr model, const PartSpec& options);
///   static constexpr std::array<std::string_view, k> parameters;  names of options, if any
class ESPALIER_API Integrator {
 public:
  explicit Integrator(ModelPtr model) : model_(std::move(model)) {}  ///< for one model
  virtual ~Integrator();
  Integrator(const Integrator&) = delete;
  Integrator& operator=(const Integrator&) = delete;

  const Model& model() const { return *model_; }  ///< whose state it advances

  /// Takes a step of `motion` from t to t + h [s].
  /// q (size nq) and v (size nv) hold the state at t and are overwritten by that at t + h.
  /// @throws SingularMechanism where EquationsOfMotion::settle() does, or where the state of a
  ///         variable step cannot be had to the tolerance that is asked for
  virtual void step(EquationsOfMotion& motion, double t, double h, double* q, double* v) = 0;

 private:
  ModelPtr model_;
};

}  // namespace espalier
