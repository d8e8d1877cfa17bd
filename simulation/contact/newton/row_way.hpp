#pragma once

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/simulation/contact/problems/newton_system.hpp"
#include "espalier/simulation/contact/problems/step.hpp"
#include "simulation/contact/stepping/mass_change.hpp"
#include "simulation/contact/stepping/rows/contact_rows.hpp"
#include "simulation/contact/stepping/tree_factor.hpp"

namespace espalier::contact {

/// A way that works on the rows themselves instead of on the matrix of all rows.
template <class T>
class RowWay : public NewtonSystem<T> {
 public:
  /// What a step knows of the robot.
  struct Robot {
    const SpanningMotion<T>& motion;
    const ContactRows<T>& rows;
    const TreeFactor<T>& factor;
    const T* weight;              ///< h d + h^2 k on spanning rates
    const T* mass;                ///< Mh, nv x nv; the lower triangle is there
    const MassChange<T>* masses;  ///< null: links are as heavy as the model's
  };
  /// Numbers of LinkRows::state.
  virtual std::size_t state_size() const = 0;
  /// Once a step, with all rows there: writes s.links.state.
  virtual void prepare(StepState<T>& s, const Robot& robot) = 0;
  /// Whose systems solve() solves, until the next call.
  void bind(const LinkRows<T>& rows) { rows_ = &rows; }

 protected:
  const LinkRows<T>* rows_ = nullptr;
};

}  // namespace espalier::contact
