#pragma once

#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"

namespace espalier {

/// The generalized forces of dampers, dry friction and springs in the joints: on each rate of a
/// joint -damping qd - friction sign(qd), sign(0) = 0, and on joints of one position
/// -stiffness (q - rest). Forces of dependent joints are generalized by G^T (theory/clusters 5.1).
/// They act only where a caller adds them to tau; no algorithm does. Belongs to one thread.
class ESPALIER_API PassiveForces {
 public:
  /// @param friction_rate  above 0: dry friction is friction tanh(qd / friction_rate), which
  ///                       integrators can follow, instead of friction sign(qd) [rad/s, m/s]
  explicit PassiveForces(ModelPtr model, double friction_rate = 0.0);

  /// @param q         spanning positions, size nq
  /// @param v         independent rates, size nv
  /// @param[out] tau  generalized forces, size nv [N·m, N]
  void evaluate(const double* q, const double* v, double* tau);
  /// Adds the forces on spanning rates.
  /// @param qd              spanning rates, size spanning_nv
  /// @param[in,out] forces  on spanning rates, size spanning_nv [N·m, N]
  void add(const double* q, const double* qd, double* forces) const;
  /// Energy in the springs [J].
  double energy(const double* q) const;
  /// Whether any joint has any.
  bool any() const { return any_; }

 private:
  ModelPtr model_;
  SpanningMotion<double> motion_;
  std::vector<double> forces_;
  double friction_rate_;
  bool any_ = false;
};

/// The same for one call; allocates.
ESPALIER_API void passive_forces(const ModelPtr& model, const double* q, const double* v,
                                 double* tau);

}  // namespace espalier
