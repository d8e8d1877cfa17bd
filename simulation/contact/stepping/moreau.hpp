#pragma once

#include <algorithm>
#include <iterator>
#include <span>

#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/simulation/contact/problems/step.hpp"
#include "simulation/contact/newton/tree_recursion.hpp"
#include "simulation/contact/newton/twist_space.hpp"
#include "simulation/contact/stepping/contact_rows.hpp"
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
        motion_(this->model(), SpanningMotion<T>::Rotors::place) {}

  void bind(typename ContactStep<T>::Parts parts) override {
    parts_ = std::move(parts);
    const Plan& p = plan();
    rows_ = std::make_unique<ContactRows<T>>(p);
    tree_ = std::make_unique<TreeFactor<T>>(p);
    if (p.newton_way() == NewtonWay::tree) way_ = std::make_unique<TreeRecursion<T>>(p);
    if (p.newton_way() == NewtonWay::twist_space) way_ = std::make_unique<TwistSpace<T>>(p);
    const Model& m = this->model();
    rest_.assign(nv_, T(0.0)), bias_.resize(nv_), load_.resize(nv_), change_.resize(nv_);
    move_.resize(m.spanning_nv()), spanning_.resize(m.spanning_nv());
    force_.resize(m.spanning_nv()), weight_.resize(m.spanning_nv());
    M_.resize(static_cast<std::size_t>(nv_) * nv_);
    line_.assign(p.drives().size(), T(0.0)), side_.assign(p.drives().size(), T(0.0));
    sticks_.assign(p.dry().size(), T(0.0));
    bounded_ = !p.dry().empty() ||
               std::any_of(p.drives().begin(), p.drives().end(), [](const Plan::Drive& d) {
                 return std::isfinite(d.is.most) || d.is.stall > 0.0;
               });
    common_.reserve(nv_);
    free_.clear();
    for (const Joint& joint : m.joints()) {
      if (joint.type == "floating" && joint.independent >= 0) {
        free_.push_back({joint.q, joint.v, joint.independent});
      }
    }
  }
  const Plan& plan() const override { return *parts_.plan; }
  void set_step_gravity(const Vec3<double>& g) override { parts_.inverse_dynamics->set_gravity(g); }

  void resize(StepState<T>& s) const override {
    const Plan& p = plan();
    const Model& m = this->model();
    s.q.assign(m.nq(), T(0.0)), s.v.assign(nv_, T(0.0));
    s.forces.assign(m.spanning_nv(), T(0.0)), s.tau.assign(nv_, T(0.0));
    s.target.assign(3 * p.drives().size(), T(0.0));
    s.held_rate.assign(p.held().size(), T(0.0));
    s.memory.assign(p.memory_size(), T(0.0));
    s.touch.resize(p.points()), s.near.assign(p.points(), Mask<T>::none());
    s.factor.resize(M_.size()), s.vf.resize(nv_), s.qd.resize(m.spanning_nv());
  }

  void prepare(StepState<T>& s, double h) override {
    motion_.update(s.q.data(), s.v.data());
    std::copy_n(motion_.qd(), s.qd.size(), s.qd.begin());
    parts_.mass_matrix->evaluate(s.q, bounded_ ? M_ : s.factor);
    for (const Free& f : free_) {
      const T* v = s.v.data() + f.rate;
      const Vec3<T> turn = cross(Vec3<T>(v[3], v[4], v[5]), Vec3<T>(v[0], v[1], v[2]));
      for (int k = 0; k < 3; ++k) rest_[f.rate + 3 + k] = turn[k];
    }
    parts_.inverse_dynamics->evaluate(s.q, s.v, rest_, bias_, s.wrenches);
    free_rates(s, h);
    rows_->find(s, motion_, *parts_.collision);
    rows_->fill(s, motion_, h);
    respond_to_rows(s);
    rows_->finish(s, h);
    if (way_ == nullptr) return;
    s.links.compliance = s.compliance;
    way_->prepare(s, {motion_, *rows_, *tree_, weight_.data()});
  }

  void solve_impulses(StepState<T>& s, const Effort& effort) override {
    s.problem.system = newton_system(s.links);
    s.report = parts_.solver->solve_impulses(s.problem, effort);
  }
  NewtonSystem<T>* newton_system(const LinkRows<T>& rows) override {
    if (way_ != nullptr) way_->bind(rows);
    return way_.get();
  }

  void respond(StepState<T>& s, double h) override {
    guarded_ = s.bounces && guard_energy(s);
    // v+ = vf + L^-1 Y^T lam.
    std::copy(s.vf.begin(), s.vf.end(), s.v.begin());
    add_response(s, s.problem.lam.data(), 0, s.problem.size(), s.v.data());
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

  /// vf: forces, their implicit parts, and a second factor where motors or dry joints change sides.
  void free_rates(StepState<T>& s, double h) {
    if (bounded_) first_sides(s);
    factor(s, h);
    if (!bounded_) return;
    motion_.expand(s.vf.data(), move_.data());
    if (change_sides(s)) factor(s, h);
  }

  void factor(StepState<T>& s, double h) {
    gather_forces(s, h);
    motion_.reduce(force_.data(), load_.data());
    for (int i = 0; i < nv_; ++i) load_[i] += s.tau[i] - bias_[i];
    if (bounded_) std::copy(M_.begin(), M_.end(), s.factor.begin());
    add_weights(s.factor.data());
    tree_->factor(s.factor.data());
    tree_->solve_transposed(s.factor.data(), load_.data());
    tree_->solve(s.factor.data(), load_.data());
    for (int i = 0; i < nv_; ++i) s.vf[i] = s.v[i] + T(h) * load_[i];
  }

  /// Forces on spanning rates at the start, and what they change by with the rate, h d + h^2 k.
  void gather_forces(const StepState<T>& s, double h) {
    const Plan& plan = *parts_.plan;
    std::copy(s.forces.begin(), s.forces.end(), force_.begin());
    std::fill(weight_.begin(), weight_.end(), T(0.0));
    const auto implicit = [&](int rate, const T& stiffness, const T& stretch, const T& damping,
                              const T& slip) {
      const T& qd = s.qd[rate];
      force_[rate] -= stiffness * (stretch + T(h) * qd) + damping * slip;
      weight_[rate] += T(h) * damping + T(h * h) * stiffness;
    };
    for (const Plan::Passive& p : plan.passive()) {
      const T stretch = p.position >= 0 ? s.q[p.position] - T(p.rest) : T(0.0);
      implicit(p.rate, T(p.stiffness), stretch, T(p.damping), s.qd[p.rate]);
    }
    for (std::size_t k = 0; k < plan.drives().size(); ++k) {
      const Plan::Drive& d = plan.drives()[k];
      const T* target = s.target.data() + 3 * k;
      if (!bounded_) {
        force_[d.rate] += target[2];
        implicit(d.rate, T(d.is.kp), s.q[d.position] - target[0], T(d.is.kd),
                 s.qd[d.rate] - target[1]);
        continue;
      }
      const T side = side_[k];
      // Within its bounds a drive is a spring and a damper; on its line a damper; else constant.
      const Mask<T> inside = less(abs(side), T(0.5));
      const T zero(0.0);
      force_[d.rate] += select(inside, target[2], zero);
      implicit(d.rate, select(inside, T(d.is.kp), zero), s.q[d.position] - target[0],
               select(inside, T(d.is.kd), zero), s.qd[d.rate] - target[1]);
      const T line = line_[k];  // 1: on the torque-speed line, 0: at the largest torque
      const double slope = d.is.stall > 0.0 ? d.is.stall / d.is.no_load_rate : 0.0;
      const T on_line = select(inside, zero, line);
      force_[d.rate] += on_line * (side * T(d.is.stall) - T(slope) * s.qd[d.rate]);
      weight_[d.rate] += on_line * T(h * slope);
      if (std::isfinite(d.is.most)) {
        force_[d.rate] += select(inside, zero, (T(1.0) - line) * side * T(d.is.most));
      }
    }
    for (std::size_t k = 0; k < plan.dry().size(); ++k) {
      const Plan::Dry& dry = plan.dry()[k];
      const double damping = dry.force / plan.options().friction_rate;
      // sticks: 0; slips: the sign of the slip.
      const Mask<T> sticks = less(abs(sticks_[k]), T(0.5));
      force_[dry.rate] -= select(sticks, T(damping) * s.qd[dry.rate], sticks_[k] * T(dry.force));
      weight_[dry.rate] += select(sticks, T(h * damping), T(0.0));
    }
  }

  /// Whether a drive's command is beyond what it can do at a rate: +1, -1, else 0, and how.
  void bound(const Plan::Drive& d, const T& command, const T& rate, T& side, T& line) const {
    T most(d.is.most), least(-d.is.most);
    T line_up(0.0), line_down(0.0);
    if (d.is.stall > 0.0) {
      const T x = rate / T(d.is.no_load_rate);
      const T up = T(d.is.stall) * (T(1.0) - x), down = T(-d.is.stall) * (T(1.0) + x);
      line_up = select(less(up, most), T(1.0), T(0.0)), most = smaller(up, most);
      line_down = select(less(least, down), T(1.0), T(0.0)), least = larger(down, least);
    }
    const Mask<T> above = less(most, command), below = less(command, least);
    side = select(above, T(1.0), select(below, T(-1.0), T(0.0)));
    line = select(above, line_up, select(below, line_down, T(0.0)));
  }
  T command(const StepState<T>& s, std::size_t k, const T& rate) const {
    const Plan::Drive& d = plan().drives()[k];
    const T* target = s.target.data() + 3 * k;
    return T(d.is.kp) * (target[0] - s.q[d.position]) + T(d.is.kd) * (target[1] - rate) + target[2];
  }

  void first_sides(const StepState<T>& s) {
    for (std::size_t k = 0; k < side_.size(); ++k) {
      const Plan::Drive& d = plan().drives()[k];
      bound(d, command(s, k, s.qd[d.rate]), s.qd[d.rate], side_[k], line_[k]);
    }
    std::fill(sticks_.begin(), sticks_.end(), T(0.0));
  }
  /// With the free rates in move_.
  bool change_sides(const StepState<T>& s) {
    Mask<T> changed = Mask<T>::none();
    for (std::size_t k = 0; k < side_.size(); ++k) {
      const Plan::Drive& d = plan().drives()[k];
      T side, line;
      bound(d, command(s, k, move_[d.rate]), move_[d.rate], side, line);
      changed = changed | less(T(0.5), abs(side - side_[k])) | less(T(0.5), abs(line - line_[k]));
      side_[k] = side, line_[k] = line;
    }
    for (std::size_t k = 0; k < sticks_.size(); ++k) {
      const T rate = move_[plan().dry()[k].rate];
      const Mask<T> slips = less(T(plan().options().friction_rate), abs(rate));
      sticks_[k] = select(slips, select(less(rate, T(0.0)), T(-1.0), T(1.0)), T(0.0));
      changed = changed | slips;
    }
    return changed.any();
  }

  /// M += G^T diag(weight) G.
  void add_weights(T* M) const {
    for (const Cluster& c : this->model().clusters()) {
      if (!c.constrained) {
        for (int k = 0; k < c.nv; ++k) {
          const int i = c.v + k;
          M[static_cast<std::size_t>(i) * (nv_ + 1)] += weight_[c.rate(k)];
        }
        continue;
      }
      const T* G = motion_.G(c);
      for (int r = 0; r < c.rows(); ++r) {
        const T& w = weight_[c.rate(r)];
        const T* row = G + static_cast<std::size_t>(r) * c.nv;
        for (int a = 0; a < c.nv; ++a) {
          for (int b = 0; b <= a; ++b) {
            M[static_cast<std::size_t>(c.v + a) * nv_ + c.v + b] += w * row[a] * row[b];
          }
        }
      }
    }
  }

  /// Y = L^-T J^T by rows, and the problem's G.
  void respond_to_rows(StepState<T>& s) {
    const int m = s.problem.size();
    for (int i = 0; i < m; i += rows_of_block(s, i)) {
      rows_of_block(s, i) == 3 ? respond_to<3>(s, i) : respond_to<1>(s, i);
    }
    // The three rows of a contact have one support; a row that stands alone is a block of one.
    for (int i = 0; i < m; i += rows_of_block(s, i)) {
      for (int j = 0; j <= i; j += rows_of_block(s, j)) {
        const std::span<const int> both = common(*s.support[i], *s.support[j]);
        if (rows_of_block(s, i) == 1) {
          rows_of_block(s, j) == 1 ? write_block<1, 1>(s, i, j, both)
                                   : write_block<1, 3>(s, i, j, both);
        } else {
          write_block<3, 3>(s, i, j, both);  // contacts come first
        }
      }
    }
  }
  /// Rows [i, i + p) of Y.
  template <int p>
  void respond_to(StepState<T>& s, int i) const {
    const std::size_t start = static_cast<std::size_t>(i) * nv_;
    const std::vector<int>& support = *s.support[i];
    if (!plan().forks()) {
      tree_->template solve_transposed_on_way<p>(s.factor.data(), s.J.data() + start,
                                                 s.Y.data() + start, support);
      return;
    }
    for (int r = 0; r < p; ++r) {
      for (const int k : support) s.Y[start + r * nv_ + k] = s.J[start + r * nv_ + k];
    }
    tree_->template solve_transposed<p>(s.factor.data(), s.Y.data() + start, support);
  }
  /// Rates that are in both supports.
  std::span<const int> common(const std::vector<int>& a, const std::vector<int>& b) {
    if (&a == &b) return a;
    if (!plan().forks()) {
      const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
      return {a.begin(), end};
    }
    common_.clear();
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common_));
    return common_;
  }
  static int rows_of_block(const StepState<T>& s, int row) {
    return row < 3 * s.problem.contacts ? 3 : 1;
  }
  /// Rows [i, i + p) and columns [j, j + q) of Y Y^T and their mirror image, from the rates that
  /// move both: all sums stay in registers.
  template <int p, int q>
  void write_block(StepState<T>& s, int i, int j, std::span<const int> both) {
    const T *a = s.Y.data() + static_cast<std::size_t>(i) * nv_,
            *b = s.Y.data() + static_cast<std::size_t>(j) * nv_;
    T sum[p][q];
    for (int r = 0; r < p; ++r) std::fill_n(sum[r], q, T(0.0));
    for (const int k : both) {
      T x[p], y[q];
      for (int r = 0; r < p; ++r) x[r] = a[r * nv_ + k];
      for (int c = 0; c < q; ++c) y[c] = b[c * nv_ + k];
      for (int r = 0; r < p; ++r) {
        for (int c = 0; c < q; ++c) sum[r][c] += x[r] * y[c];
      }
    }
    const int m = s.problem.size();
    for (int r = 0; r < p; ++r) {
      for (int c = 0; c < q; ++c) {
        s.problem.G[static_cast<std::size_t>(i + r) * m + j + c] = sum[r][c];
        s.problem.G[static_cast<std::size_t>(j + c) * m + i + r] = sum[r][c];
      }
    }
  }

  /// x += L^-1 of the sum of rows [first, last) of Y times impulses.
  void add_response(const StepState<T>& s, const T* lam, int first, int last, T* x) {
    std::fill(change_.begin(), change_.end(), T(0.0));
    for (int i = first; i < last; i += rows_of_block(s, i)) {
      const T* row = s.Y.data() + static_cast<std::size_t>(i) * nv_;
      if (rows_of_block(s, i) == 1) {
        for (const int k : *s.support[i]) change_[k] += row[k] * lam[i];
        continue;
      }
      for (const int k : *s.support[i]) {
        change_[k] += row[k] * lam[i] + row[nv_ + k] * lam[i + 1] + row[2 * nv_ + k] * lam[i + 2];
      }
    }
    tree_->solve(s.factor.data(), change_.data());
    for (int i = 0; i < nv_; ++i) x[i] += change_[i];
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
      for (int i = 0; i < m; ++i) {
        T sum(0.0);
        for (int j = 0; j < m; ++j) sum += p.G[static_cast<std::size_t>(i) * m + j] * x[j];
        Gx[i] = sum - diagonal(s, i) * x[i];
      }
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
    parts_.solver->solve_impulses(
        calm_, {.tolerance = plan().options().tolerance, .sweeps = plan().sweeps()});
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
    const int count = static_cast<int>(deep_rows_.size()), m = s.problem.size();
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
        const T entry = s.problem.G[static_cast<std::size_t>(deep_rows_[i]) * m + deep_rows_[j]];
        push_.G[static_cast<std::size_t>(i) * count + j] =
            select(both, entry, T(i == j ? 1.0 : 0.0));
      }
    }
    // Metres, not metres per second: a nanometre is enough.
    parts_.solver->solve_impulses(push_, {.tolerance = 1e-9, .sweeps = plan().sweeps()});
    impulse_.assign(m, T(0.0));
    for (int i = 0; i < count; ++i) impulse_[deep_rows_[i]] = push_.lam[i];
    std::fill(load_.begin(), load_.end(), T(0.0));
    add_response(s, impulse_.data(), 0, m, load_.data());
    motion_.expand(load_.data(), spanning_.data());
    for (std::size_t i = 0; i < move_.size(); ++i) move_[i] += spanning_[i];
  }

  int nv_;
  typename ContactStep<T>::Parts parts_;
  SpanningMotion<T> motion_;
  std::unique_ptr<ContactRows<T>> rows_;
  std::unique_ptr<TreeFactor<T>> tree_;
  std::unique_ptr<LinkWay<T>> way_;  ///< of Newton systems; null: elimination
  std::vector<T> rest_, bias_, load_, change_, move_, spanning_, force_, weight_, M_, next_;
  std::vector<T> line_, side_;  ///< of drives
  bool guarded_ = false;        ///< the last response mixed two impacts
  bool bounded_ = false;   ///< drives have bounds or joints stick: a second factor may be needed
  std::vector<T> sticks_;  ///< of dry joints: 0, or the sign of the slip
  std::vector<T> gained_, dead_, impulse_, depth_;
  std::vector<int> deep_rows_;
  std::vector<int> common_;  ///< rates that move both blocks of rows
  ImpulseProblem<T> calm_, push_;
  std::vector<Free> free_;
};

}  // namespace espalier::contact
