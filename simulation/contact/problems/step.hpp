#pragma once

#include <array>
#include <memory>
#include <vector>

#include "espalier/kernel/problems/dynamics/inverse_dynamics.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"
#include "espalier/simulation/contact/plan.hpp"
#include "espalier/simulation/contact/problems/collision.hpp"
#include "espalier/simulation/contact/problems/contact_impulses.hpp"
#include "espalier/simulation/contact/problems/link_rows.hpp"

namespace espalier::contact {

class LinkMasses;

/// One robot, or one a lane, in the middle of a step. Plain data: what is in it is said by
/// ContactStep; a step allocates nothing once all of its points have touched.
template <class T>
struct StepState {
  // In: the state, forces, and what is kept from step to step.
  std::vector<T> q;          ///< spanning positions, nq; out: after the step, loops not yet closed
  std::vector<T> v;          ///< independent rates, nv; out: after the step
  std::vector<T> forces;     ///< on spanning rates, besides drives and passive ones
  std::vector<T> tau;        ///< on independent rates
  std::vector<T> target;     ///< of drives: position, rate and torque besides, 3 for each
  std::vector<T> held_rate;  ///< of held rows
  std::vector<T> memory;     ///< Plan::memory_size(), zero at first
  /// Points of which memory may have numbers that are not zero: who writes memory lists them, since
  /// batches carry these alone from step to step.
  std::vector<int> kept;
  std::vector<T> masses;             ///< factors on the pieces of set_masses()
  Vec3<T> ground = Vec3<T>::zero();  ///< where all that is fixed to the ground is moved [m]
  T friction = T(1.0);               ///< factor on all coefficients of friction
  const Wrenches<T>* wrenches = nullptr;

  // Between prepare() and respond().
  ImpulseProblem<T> problem;
  ImpulseReport<T> report;
  std::vector<int> contacts;    ///< points that some lane is near: the problem's contacts
  std::vector<Touch<T>> touch;  ///< of all points
  std::vector<Mask<T>> near;    ///< of all points: within the margin
  std::vector<Vec3<T>> t1, t2;  ///< tangents of the problem's contacts
  /// Of contacts with turning rows: the axes of these, the normal first.
  std::vector<std::array<Vec3<T>, 3>> roll;
  std::vector<T> factor;  ///< of the mass matrix: L, M = L^T L
  /// Rows of the problem, and L^-T J^T by rows: nv numbers each, of which the first are the entries
  /// at the rates of the row's support, one after the other.
  std::vector<T> J, Y;
  std::vector<const std::vector<int>*> support;  ///< of the rows
  std::vector<T> vf, qd, before;                 ///< free rates; spanning rates; J v of the rows
  std::vector<T> compliance, bounce;             ///< of contacts: R, and b of restitution
  LinkRows<T> links;                             ///< where Plan::newton_way() is not dense
  T depth = T(0.0);                    ///< largest depth at the start over what is too deep
  bool bounces = false, deep = false;  ///< whether some lane does

  /// f(rate, where its entry of J and Y is) for all entries of a row.
  template <class F>
  void each_entry(int row, F&& f) const {
    const std::size_t first = static_cast<std::size_t>(row) * vf.size();
    for (std::size_t e = 0; e < support[row]->size(); ++e) f((*support[row])[e], first + e);
  }
};

/// One time step with rigid contact: Moreau's semi-implicit Euler in independent rates, damping,
/// springs and drives implicit, loops exact. Owns its workspace, belongs to one thread.
template <class T>
class ESPALIER_API ContactStep : public Algorithm {
 public:
  static constexpr std::string_view problem = "contact-step";
  using Algorithm::Algorithm;

  /// What a step asks for.
  struct Parts {
    std::shared_ptr<const Plan> plan;
    std::unique_ptr<MassMatrix<T>> mass_matrix;
    std::unique_ptr<InverseDynamics<T>> inverse_dynamics;
    std::unique_ptr<Collision<T>> collision;
    std::unique_ptr<ContactImpulses<T>> solver;
  };
  /// Takes what it needs; before all else.
  virtual void bind(Parts parts) = 0;
  virtual const Plan& plan() const = 0;

  /// Vectors of the sizes that the plan asks for; memory is cleared.
  virtual void resize(StepState<T>& s) const = 0;
  /// From the state to the problem of its impulses, warm start included.
  /// @param h  length of the step [s]
  virtual void prepare(StepState<T>& s, double h) = 0;
  /// Solves for impulses from where the problem stands.
  virtual void solve_impulses(StepState<T>& s, const Effort& effort) = 0;
  /// From impulses to the state after the step: energy guard, rates, positions and their
  /// correction. Loops are to be closed by the caller.
  virtual void respond(StepState<T>& s, double h) = 0;
  /// The plan's way to solve Newton systems of rows that were gathered from several states, until
  /// the step's next call; null: elimination.
  virtual NewtonSystem<T>* newton_system(const LinkRows<T>& rows) = 0;
  /// Links whose masses StepState::masses multiplies in what follows; null: none.
  virtual void set_masses(std::shared_ptr<const LinkMasses> masses) = 0;
  /// Gravity for what follows [m/s²], world axes.
  virtual void set_step_gravity(const Vec3<double>& g) = 0;

  /// @throws Unsupported: the problem has no named inputs
  void solve(const InputViews& in, Results& out) override;
};

extern template class ContactStep<double>;
extern template class ContactStep<Pack>;

}  // namespace espalier::contact
