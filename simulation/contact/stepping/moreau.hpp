#pragma once

#include <algorithm>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/dynamics/lower_triangle.hpp"
#include "espalier/simulation/contact/problems/step.hpp"
#include "simulation/contact/newton/rate_space.hpp"
#include "simulation/contact/newton/tree_recursion.hpp"
#include "simulation/contact/newton/twist_space.hpp"
#include "simulation/contact/stepping/implicit_forces.hpp"
#include "simulation/contact/stepping/mass_change.hpp"
#include "simulation/contact/stepping/rows/contact_rows.hpp"
#include "simulation/contact/stepping/rows/row_response.hpp"
#include "simulation/contact/stepping/tree_factor.hpp"

namespace espalier::contact {

/// Moreau's time stepping.
///
///   vf = v + h Mh^-1 (tau + tau_passive - C(q, v)),  Mh = M + G^T diag(h d + h^2 k) G
///   u  = J Mh^-1 J^T lam + J vf + b
///   v+ = vf + Mh^-1 J^T lam,  q+ = q (+) h G v+, and depth is cured at positions apart
///
/// Dampers d and springs k, also those of drives, act with the rates of the step's end. The mass
/// matrix is factored with the sparsity of the tree and J Mh^-1 J^T is (L^-T J^T)^T (L^-T J^T).
/// Cost: O(n d^2 + m d + m^2 d), d the depth, m the rows.
/// Source: Moreau (1988); theory/contact 2.
template <class T>
class Moreau : public ContactStep<T> {
 public:
  explicit Moreau(ModelPtr model)
      : ContactStep<T>(std::move(model)),
        nv_(this->model().nv()),
        turns_(this->model()),
        motion_(this->model(), SpanningMotion<T>::Rotors::place) {
    // Of one robot, kinematics and turns() may differ in the last bit.
    if (is_pack<T>) motion_.use(&turns_);
  }

  void bind(typename ContactStep<T>::Parts parts) override {
    parts_ = std::move(parts);
    parts_.mass_matrix->share_turns(&turns_);
    if (auto* lower = dynamic_cast<LowerTriangle*>(parts_.mass_matrix.get())) {
      lower->write_lower_triangle_alone();
    }
    parts_.inverse_dynamics->share_turns(&turns_);
    const Plan& p = plan();
    rows_ = std::make_unique<ContactRows<T>>(p);
    forces_ = std::make_unique<ImplicitForces<T>>(p);
    tree_ = std::make_unique<TreeFactor<T>>(p);
    response_ = std::make_unique<RowResponse<T>>(p, *tree_);
    if (p.newton_way() == NewtonWay::tree) way_ = std::make_unique<TreeRecursion<T>>(p);
    if (p.newton_way() == NewtonWay::twist_space) way_ = std::make_unique<TwistSpace<T>>(p);
    if (p.newton_way() == NewtonWay::rate_space) way_ = std::make_unique<RateSpace<T>>(p);
    const Model& m = this->model();
    rest_.assign(nv_, T(0.0)), bias_.resize(nv_), load_.resize(nv_);
    move_.resize(m.spanning_nv()), spanning_.resize(m.spanning_nv());
    leave_out_joints();
    Mh_.assign(static_cast<std::size_t>(nv_) * nv_, T(0.0));
    const int contacts = p.usual_contacts(), limits = static_cast<int>(p.limits().size());
    const int scalars = p.scalar_rows(contacts);
    const std::size_t rows = 3 * static_cast<std::size_t>(contacts) + scalars;
    parts_.solver->reserve(contacts, scalars);
    parts_.solver->reserve(0, contacts + limits);  // correct()
    calm_.reserve(contacts, scalars), push_.reserve(0, contacts + limits);
    for (std::vector<T>* x : {&gained_, &dead_, &impulse_, &depth_}) x->reserve(rows);
    deep_rows_.reserve(contacts + limits), next_.reserve(m.nq());
    free_.clear();
    for (const Joint& joint : m.joints()) {
      if (joint.type == "floating" && joint.independent >= 0) {
        free_.push_back({joint.q, joint.v, joint.independent});
      }
    }
  }
  const Plan& plan() const override { return *parts_.plan; }
  void set_step_gravity(const Vec3<double>& g) override { parts_.inverse_dynamics->set_gravity(g); }
  void set_masses(std::shared_ptr<const LinkMasses> masses) override {
    masses_.reset();
    if (masses != nullptr) {
      masses_ = std::make_unique<MassChange<T>>(this->model(), std::move(masses));
    }
    leave_out_joints();
  }

  void resize(StepState<T>& s) const override {
    const Plan& p = plan();
    const Model& m = this->model();
    s.q.assign(m.nq(), T(0.0)), s.v.assign(nv_, T(0.0));
    s.forces.assign(m.spanning_nv(), T(0.0)), s.tau.assign(nv_, T(0.0));
    s.target.assign(3 * p.drives().size(), T(0.0));
    s.held_rate.assign(p.held().size(), T(0.0));
    s.memory.assign(p.memory_size(), T(0.0)), s.kept.clear();
    s.masses.assign(masses_ != nullptr ? masses_->masses().pieces().size() : 0, T(1.0));
    s.touch.resize(p.points()), s.near.assign(p.points(), Mask<T>::none());
    reserve(s);
    s.factor.resize(tree_->size()), s.vf.resize(nv_), s.qd.resize(m.spanning_nv());
  }

  /// Room for the problem of the usual number of contacts.
  void reserve(StepState<T>& s) const {
    const Plan& p = plan();
    const int scalars = p.scalar_rows(p.usual_contacts());
    const std::size_t contacts = p.usual_contacts(), rows = 3 * contacts + scalars;
    s.problem.reserve(p.usual_contacts(), scalars);
    s.contacts.reserve(contacts), s.kept.reserve(contacts), s.support.reserve(rows);
    s.J.reserve(rows * nv_), s.Y.reserve(rows * nv_), s.before.reserve(rows);
    s.t1.reserve(contacts), s.t2.reserve(contacts);
    s.roll.reserve(p.turning_rows() > 0 ? contacts : 0);
    s.compliance.reserve(contacts), s.bounce.reserve(contacts);
    p.reserve(s.links);
    s.links.state.reserve(way_ != nullptr ? way_->state_size() : 0);
  }

  void prepare(StepState<T>& s, double h) override {
    placed_ = &s;
    turns_.update(s.q.data());
    motion_.update(s.q.data(), s.v.data());
    std::copy_n(motion_.qd(), s.qd.size(), s.qd.begin());
    parts_.mass_matrix->evaluate(s.q, Mh_);
    for (const Free& f : free_) {
      const T* v = s.v.data() + f.rate;
      const Vec3<T> turn = cross(Vec3<T>(v[3], v[4], v[5]), Vec3<T>(v[0], v[1], v[2]));
      for (int k = 0; k < 3; ++k) rest_[f.rate + 3 + k] = turn[k];
    }
    parts_.inverse_dynamics->evaluate(s.q, s.v, rest_, bias_, s.wrenches);
    if (masses_ != nullptr) {
      const Vec3<double> gravity = parts_.inverse_dynamics->gravity();
      masses_->add(motion_, rest_.data(), gravity, s.masses.data(), Mh_.data(), bias_.data());
    }
    free_rates(s, h);
    rows_->find(s, motion_, *parts_.collision);
    rows_->fill(s, motion_, h);
    response_->find(s);
    rows_->finish(s, h);
    if (way_ == nullptr) return;
    s.links.compliance = s.compliance;
    way_->prepare(s,
                  {motion_, *rows_, *tree_, forces_->weight().data(), Mh_.data(), masses_.get()});
  }

  void solve_impulses(StepState<T>& s, const Effort& effort) override {
    s.problem.system = newton_system(s.links);
    s.problem.factors = response_->factors(s);
    s.report = parts_.solver->solve_impulses(s.problem, effort);
  }
  NewtonSystem<T>* newton_system(const LinkRows<T>& rows) override {
    if (way_ != nullptr) way_->bind(rows);
    return way_.get();
  }

  void respond(StepState<T>& s, double h) override {
    place_again(s);
    guarded_ = s.bounces && guard_energy(s);
    // v+ = vf + L^-1 Y^T lam.
    std::copy(s.vf.begin(), s.vf.end(), s.v.begin());
    response_->add(s, s.problem.lam.data(), s.v.data());
    rows_->remember(s);
    motion_.expand(s.v.data(), move_.data());
    for (T& x : move_) x *= T(h);
    if (s.deep) correct(s);
    next_.resize(s.q.size());
    this->model().integrate(s.q.data(), move_.data(), next_.data());
    for (const Free& f : free_) move_straight(f, s);
    std::copy(next_.begin(), next_.end(), s.q.begin());
    this->model().normalize(s.q.data());
  }

 protected:
  /// Leaves out joints of bodies that no row reads, whose rates are enough: all joints of a tree
  /// that touches nothing.
  void leave_out_joints() {
    const Model& m = this->model();
    std::vector<bool> needed(m.body_count() + 1, masses_ != nullptr);
    for (const int i : plan().placed_bodies().bodies()) needed[i] = true;
    for (const Cluster& c : m.clusters()) {
      if (c.constrained) std::fill_n(needed.begin() + c.first, c.count, true);
    }
    std::vector<bool> idle;
    for (const BodyRun& run : m.active_runs()) {
      const auto first = needed.begin() + run.first, end = first + run.count;
      idle.push_back(std::find(first, end, true) == end);
    }
    motion_.leave_out(std::move(idle), std::vector<bool>(m.clusters().size(), false));
  }

  /// A floating joint, and where its position, spanning and independent rates start.
  ///
  /// Its linear rate is that of its origin in the body's axes, which turn. A step in these would
  /// gain (h omega)^2 / 2 of the speed each time and bend the way; in axes that stand still neither
  /// happens: the acceleration omega x v of the turning axes is left out, the origin goes straight,
  /// and the rate is turned into the new axes at the end.
  struct Free {
    int position, spanning, rate;
  };
  void move_straight(const Free& f, StepState<T>& s) {
    const Mat3<T> before = quaternion_to_E(s.q.data() + f.position + 3);
    const Mat3<T> after = quaternion_to_E(next_.data() + f.position + 3);
    const T* move = move_.data() + f.spanning + 3;
    T* v = s.v.data() + f.rate + 3;
    const Vec3<T> way = transpose_times(before, Vec3<T>(move[0], move[1], move[2]));
    const Vec3<T> rate = after * transpose_times(before, Vec3<T>(v[0], v[1], v[2]));
    for (int k = 0; k < 3; ++k) {
      next_[f.position + k] = s.q[f.position + k] + way[k];
      v[k] = rate[k];
    }
  }

  /// G of loops, if another state has been prepared since this one: rates are expanded by it.
  void place_again(const StepState<T>& s) {
    if (placed_ == &s || !this->model().has_variable_constraints()) return;
    placed_ = &s;
    turns_.update(s.q.data());
    motion_.update(s.q.data(), nullptr);
  }

  /// vf: forces, their implicit parts, and a second factor where motors or dry joints change sides.
  void free_rates(StepState<T>& s, double h) {
    if (forces_->bounded()) forces_->first_sides(s);
    factor(s, h, false);
    if (!forces_->bounded()) return;
    motion_.expand(s.vf.data(), move_.data());
    if (forces_->change_sides(s, move_.data())) factor(s, h, true);
  }

  /// @param again  with other forces
  void factor(StepState<T>& s, double h, bool again) {
    forces_->gather(s, h);
    motion_.reduce(forces_->force().data(), load_.data());
    for (int i = 0; i < nv_; ++i) load_[i] += s.tau[i] - bias_[i];
    forces_->add_weights(motion_, Mh_.data(), again);
    tree_->factor(Mh_.data(), s.factor.data(), load_.data());
    tree_->solve(s.factor.data(), load_.data());
    for (int i = 0; i < nv_; ++i) s.vf[i] = s.v[i] + T(h) * load_[i];
  }

  /// Newton's restitution with friction may create energy: impulses are then mixed with those of
  /// an impact without restitution, as little as it needs. Cones are convex, so that the mixture
  /// is in them.
  /// @return whether some lane needs it
  bool guard_energy(StepState<T>& s) {
    const ImpulseProblem<T>& p = s.problem;
    const int m = p.size();
    gained_.resize(m), dead_.resize(m);
    const auto product = [&](const std::vector<T>& x, std::vector<T>& Gx) {
      multiply(p, x.data(), Gx.data());
      for (int i = 0; i < m; ++i) Gx[i] -= diagonal(s, i) * x[i];
    };
    const auto inner = [&](const std::vector<T>& x, const std::vector<T>& y) {
      T sum(0.0);
      for (int i = 0; i < m; ++i) sum += x[i] * y[i];
      return sum;
    };
    product(p.lam, gained_);
    const T energy = inner(p.lam, s.before) + T(0.5) * inner(p.lam, gained_);
    const Mask<T> gains = less(T(0.0), energy);
    if (!gains.any()) return false;
    calm_ = p;
    calm_.system = newton_system(s.links);
    for (int c = 0; c < p.contacts; ++c) calm_.g[3 * c] -= s.bounce[c];
    parts_.solver->solve_impulses(calm_, {.tolerance = plan().options().tolerance});
    // T(lam + x d) = T + x d.(before + G lam) + x^2 d.G d / 2 <= 0, smallest x.
    for (int i = 0; i < m; ++i) dead_[i] = calm_.lam[i] - p.lam[i];
    const T slope = inner(dead_, s.before) + inner(dead_, gained_);
    product(dead_, gained_);
    const T curve = T(0.5) * inner(dead_, gained_);
    const T root = sqrt(larger(slope * slope - T(4.0) * curve * energy, T(0.0)));
    const T x = clip(T(2.0) * energy / larger(root - slope, T(1e-300)), T(0.0), T(1.0));
    for (int i = 0; i < m; ++i) {
      s.problem.lam[i] = select(gains, p.lam[i] + x * dead_[i], p.lam[i]);
    }
    return true;
  }
  /// What G has besides J Mh^-1 J^T: compliance.
  T diagonal(const StepState<T>& s, int i) const {
    return i < 3 * s.problem.contacts && i % 3 == 0 ? s.compliance[i / 3] : T(0.0);
  }

  /// Pushes apart what overlaps, at positions: a problem of normal rows and limits alone, whose
  /// displacement is added to that of the step. No rate changes.
  void correct(StepState<T>& s) {
    rows_->depths(s, deep_rows_, depth_);
    const int count = static_cast<int>(deep_rows_.size());
    push_.resize(0, count);
    const StepOptions& o = plan().options();
    for (int i = 0; i < count; ++i) {
      // Absent where nothing touches: no row then, whatever other lanes do.
      const Mask<T> touches = less(T(-1.0), depth_[i]);
      const T depth = depth_[i] - T(o.slop);
      push_.g[i] =
          select(touches, select(less(T(0.0), depth), -T(o.correction) * depth, T(0.0)), T(1.0));
      push_.upper[i] = T(std::numeric_limits<double>::infinity());
      for (int j = 0; j < count; ++j) {
        const Mask<T> both = touches & less(T(-1.0), depth_[j]);
        push_.G[static_cast<std::size_t>(i) * count + j] =
            select(both, entry(s.problem, deep_rows_[i], deep_rows_[j]), T(i == j ? 1.0 : 0.0));
      }
    }
    // Metres, not metres per second: a nanometre is enough.
    parts_.solver->solve_impulses(push_, {.tolerance = 1e-9});
    impulse_.assign(s.problem.size(), T(0.0));
    for (int i = 0; i < count; ++i) impulse_[deep_rows_[i]] = push_.lam[i];
    std::fill(load_.begin(), load_.end(), T(0.0));
    response_->add(s, impulse_.data(), load_.data());
    motion_.expand(load_.data(), spanning_.data());
    for (std::size_t i = 0; i < move_.size(); ++i) move_[i] += spanning_[i];
  }

  int nv_;
  typename ContactStep<T>::Parts parts_;
  const StepState<T>* placed_ = nullptr;  ///< whose position turns_ and motion_ are at
  JointTurns<T> turns_;                   ///< for all that ask for it
  SpanningMotion<T> motion_;
  std::unique_ptr<ContactRows<T>> rows_;
  std::unique_ptr<ImplicitForces<T>> forces_;
  std::unique_ptr<TreeFactor<T>> tree_;
  std::unique_ptr<RowResponse<T>> response_;
  std::unique_ptr<MassChange<T>> masses_;  ///< null: links are as heavy as the model's
  std::unique_ptr<RowWay<T>> way_;         ///< of Newton systems; null: elimination
  std::vector<T> rest_, bias_, load_, move_, spanning_, Mh_, next_;
  bool guarded_ = false;  ///< the last response mixed two impacts
  std::vector<T> gained_, dead_, impulse_, depth_;
  std::vector<int> deep_rows_;
  ImpulseProblem<T> calm_, push_;
  std::vector<Free> free_;
};

}  // namespace espalier::contact
