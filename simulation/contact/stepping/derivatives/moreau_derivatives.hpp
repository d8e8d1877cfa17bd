#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <numeric>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/simulation/contact/problems/step_derivatives.hpp"
#include "simulation/contact/stepping/derivatives/end_variation.hpp"
#include "simulation/contact/stepping/derivatives/row_variation.hpp"
#include "simulation/contact/stepping/open_moreau.hpp"
#include "simulation/contact/stepping/rows/mode_response.hpp"
#include "simulation/contact/stepping/rows/row_modes.hpp"

namespace espalier::contact {

/// Derivatives of Moreau's step by the implicit function theorem.
///
/// With w = v+ before the axes turn, p = w - v and a = p / h, the step solves
///   h ID(q, v, a + rest(v)) + G^T W G p - h G^T F(q, G v) = h tau + J^T lam
/// and the modes of its rows Q (J w + b) + D lam = 0; both are differentiated with the modes held,
/// ID by an algorithm of the registry and J by RowVariation. Rows that are redundant share their
/// variation by least norm: that of the motion is unique. The correction of depths is a problem of
/// the same kind without rates.
/// Source: theory/contact 8.
class MoreauDerivatives final : public ContactStepDerivatives<double> {
 public:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  explicit MoreauDerivatives(ModelPtr model)
      : ContactStepDerivatives<double>(model), step_(std::move(model)) {}

  void bind(Parts parts) override {
    inverse_dynamics_ = std::move(parts.inverse_dynamics);
    step_.bind(std::move(parts.step));
    rows_ = std::make_unique<RowVariation>(plan());
    modes_ = std::make_unique<RowModes>(plan());
    response_ = std::make_unique<ModeResponse>(state_, step_.tree());
    end_ = std::make_unique<EndVariation>(model());
    refuse_what_is_not_known();
    step_.resize(state_);
  }
  const Plan& plan() const override { return step_.plan(); }
  void set_step_gravity(const Vec3<double>& g) override {
    step_.set_step_gravity(g);
    inverse_dynamics_->set_gravity(g);
  }

  void differentiate(const StepState<double>& s, double h, StepDerivatives& out) override {
    h_ = h;
    response_->restart();
    take(s);
    step_.prepare(state_, h);
    // As exact as it gets: what is left of the residual is left of the modes' conditions.
    step_.solve_impulses(state_, {.tolerance = exact});
    step_.respond(state_, h);
    complete(state_.problem);
    after_ = motion_after();
    vary_motion();
    vary_correction();
    write(out);
    judge(out);
  }

 private:
  static constexpr double exact = 1e-12;
  enum { by_q, by_v, by_tau, by_friction };

  int nv() const { return model().nv(); }
  int columns() const { return 3 * nv() + 1; }
  static std::size_t entry(int row, int n, int column) {
    return static_cast<std::size_t>(row) * n + column;
  }

  void refuse_what_is_not_known() const {
    const ClosedForm<double> closed(plan().model_ptr());
    const auto runs = [](const Plan::Solid& solid) { return solid.runs; };
    if (plan().turning_rows() > 0 ||
        std::any_of(plan().solids().begin(), plan().solids().end(), runs)) {
      throw Unsupported(
          "contact step derivatives: some surface has torsional or rolling friction or a velocity, "
          "expected none (their derivatives are not known)");
    }
    for (const Plan::Pair& pair : plan().pairs()) {
      const Plan::Solid &a = plan().solids()[pair.a], &b = plan().solids()[pair.b];
      if (closed.points(a.placed.shape, b.placed.shape) == pair.count) continue;
      throw Unsupported(
          "contact step derivatives: pair of shapes is " + text::quoted(a.name) + " and " +
          text::quoted(b.name) +
          ", expected one of the collider 'closed-form' (others have no derivatives)");
    }
    if (plan().places_rotors()) {
      throw Unsupported(
          "contact step derivatives: a shape is on a folded rotor, expected shapes on other links "
          "(compile with rotors kept)");
    }
    for (const Joint& joint : model().joints()) {
      if (joint.nq == joint.nv) continue;
      for (const int rate : model().independent_rates()) {
        if (&model().joint_of_rate(rate) == &joint && joint.independent < 0) {
          throw Unsupported("contact step derivatives: joint '" + joint.name +
                            "' has some independent rates, expected all or none");
        }
      }
    }
  }

  void take(const StepState<double>& s) {
    state_.q = q_ = s.q;
    state_.v = v_ = s.v;
    state_.forces = s.forces, state_.tau = s.tau, state_.target = s.target;
    state_.held_rate = s.held_rate, state_.memory = s.memory, state_.kept = s.kept;
    state_.friction = s.friction, state_.wrenches = s.wrenches;
  }

  /// v+ in the axes of the step's start.
  std::vector<double> motion_after() const {
    std::vector<double> change(nv(), 0.0);
    const ImpulseProblem<double>& p = state_.problem;
    for (int i = 0; i < p.size(); ++i) {
      state_.each_entry(i, [&](int k, std::size_t at) { change[k] += state_.Y[at] * p.lam[i]; });
    }
    step_.tree().solve(state_.factor.data(), change.data());
    for (int i = 0; i < nv(); ++i) change[i] += state_.vf[i];
    return change;
  }

  /// dw_ (nv x columns) and dlam_.
  void vary_motion() {
    const int n = nv(), m = state_.problem.size();
    rows_->start(q_.data());
    now_.rates = v_, now_.impulses.assign(m, 0.0);
    rows_->vary(state_, q_.data(), now_, gaps_);
    then_.rates = after_, then_.impulses = state_.problem.lam;
    rows_->vary(state_, q_.data(), then_, gaps_);

    Matrix r = Matrix::Zero(n, columns());
    vary_dynamics(r);
    Matrix c = Matrix::Zero(m, columns());
    for (int i = 0; i < m; ++i) {
      for (int k = 0; k < n; ++k) {
        c(i, by_q * n + k) = then_.along[entry(i, n, k)];
      }
      state_.each_entry(i, [&](int k, std::size_t at) { c(i, by_v * n + k) = state_.J[at]; });
    }
    modes_->find(state_, q_, h_);
    vary_offsets(c);
    Matrix F = modes_->Q * c;
    for (int i = 0; i < state_.problem.contacts; ++i) {
      if (modes_->modes[i] != RowModes::Mode::slip || state_.problem.mu[i] == 0.0) continue;
      for (int k = 1; k < 3; ++k) {
        F(3 * i + k, 3 * n) -= modes_->scale[i] * state_.problem.lam[3 * i + k] / state_.friction;
      }
    }
    dw_ = response_->respond(r, F, whole_problem());
    dw_.block(0, by_v * n, n, n).diagonal().array() += 1.0;
  }

  /// -h times the derivatives of the dynamics with p and lam held, + h dtau.
  void vary_dynamics(Matrix& r) {
    const int n = nv(), spanning = model().spanning_nv();
    std::vector<double> p(n), a(n), Gp(spanning, 0.0);
    for (int i = 0; i < n; ++i) {
      p[i] = after_[i] - v_[i];
      a[i] = p[i] / h_ + step_.rest()[i];
      for (int j = 0; j < spanning; ++j) Gp[j] += rows_->direction(i)[j] * p[i];
    }
    joints_.force = step_.force();
    step_.force_slopes(h_, joints_.by_position, joints_.by_rate);
    for (int j = 0; j < spanning; ++j) joints_.force[j] -= step_.weight()[j] * Gp[j] / h_;
    int row = 3 * state_.problem.contacts;
    for (const auto* list : {&plan().limits(), &plan().frictions()}) {
      for (const Plan::JointRow& joint : *list) {
        const double sign = joint.side == 0 ? 1.0 : joint.side;
        // A limit that is far away has no impulse.
        joints_.force[joint.rate] += sign * state_.problem.lam[row++] / h_;
      }
    }
    FramedWrenches<double> framed(plan().model_ptr());
    add_wrenches(state_.problem.lam, 1.0 / h_, framed);
    const Loads<double> loads{state_.wrenches, &framed, &joints_};
    Matrix tau_q(n, n), tau_v(n, n), M(n, n);
    std::vector<double> tau(n);
    inverse_dynamics_->evaluate(q_, v_, a, tau, tau_q, tau_v, M, &loads);
    // Axes of floating joints that stand still: rest = v x omega.
    for (const OpenMoreau::Free& f : step_.floating()) {
      const double* v = v_.data() + f.rate;
      const Vec3<double> w(v[0], v[1], v[2]), linear(v[3], v[4], v[5]);
      for (int k = 0; k < 3; ++k) {
        Vec3<double> e = Vec3<double>::zero();
        e[k] = 1.0;
        const Vec3<double> by_w = cross(linear, e), by_linear = cross(e, w);
        for (int i = 0; i < 3; ++i) {
          tau_v.col(f.rate + k) += M.col(f.rate + 3 + i) * by_w[i];
          tau_v.col(f.rate + 3 + k) += M.col(f.rate + 3 + i) * by_linear[i];
        }
      }
    }
    r.block(0, by_q * n, n, n) = -h_ * tau_q;
    r.block(0, by_v * n, n, n) = -h_ * tau_v;
    r.block(0, by_tau * n, n, n).diagonal().setConstant(h_);
    add_moving_wrenches(then_, r);
    // G^T W times the variation of G p.
    for (int j = 0; j < spanning; ++j) {
      const double w = step_.weight()[j];
      if (w == 0.0) continue;
      for (int k = 0; k < n; ++k) {
        const double d = then_.spanning[entry(j, n, k)] - now_.spanning[entry(j, n, k)];
        for (int i = 0; i < n; ++i) r(i, by_q * n + k) -= rows_->direction(i)[j] * w * d;
      }
    }
  }
  /// World wrenches of impulses on the bodies that they act on.
  void add_wrenches(const std::vector<double>& impulses, double part,
                    FramedWrenches<double>& framed) {
    rows_->wrenches(state_, impulses, wrenches_);
    for (int b = 1; b <= model().body_count(); ++b) {
      const Force<double>& w = wrenches_[b];
      if (dot(w.n, w.n) + dot(w.f, w.f) == 0.0) continue;
      framed.add_item({b, WrenchFrame::world, {scale(part, w.n), scale(part, w.f)}, {}});
    }
  }
  void add_moving_wrenches(const RowVariation::Case& c, Matrix& r) const {
    const int n = nv();
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < n; ++k) r(i, by_q * n + k) += c.forces[entry(i, n, k)];
    }
  }

  /// Derivatives of b.
  void vary_offsets(Matrix& c) {
    const int n = nv(), contacts = state_.problem.contacts;
    for (int i = 0; i < contacts; ++i) {
      const Plan::Pair& pair = plan().pairs()[plan().pair_of(state_.contacts[i])];
      const Surface& surface = pair.surface;
      const double gap = state_.touch[state_.contacts[i]].gap;
      double by_gap = gap > 0.0 ? 1.0 / h_ : 0.0;
      if (surface.stiffness > 0.0 && gap < 0.0) {
        by_gap = surface.stiffness / (h_ * surface.stiffness + surface.damping);
      }
      if (state_.bounce[i] != 0.0) {
        for (int k = 0; k < n; ++k) {
          c(3 * i, by_q * n + k) += surface.restitution * now_.along[entry(3 * i, n, k)];
        }
        state_.each_entry(3 * i, [&](int k, std::size_t at) {
          c(3 * i, by_v * n + k) += surface.restitution * state_.J[at];
        });
        continue;
      }
      for (int k = 0; k < n; ++k) c(3 * i, by_q * n + k) += by_gap * gaps_[entry(i, n, k)];
    }
    for (std::size_t k = 0; k < plan().limits().size(); ++k) {
      const int row = 3 * contacts + static_cast<int>(k);
      if (!(modes_->limit_gap(plan().limits()[k]) > 0.0)) continue;
      state_.each_entry(row,
                        [&](int i, std::size_t at) { c(row, by_q * n + i) += state_.J[at] / h_; });
    }
  }
  ModeResponse::System whole_problem() const {
    const int m = state_.problem.size();
    ModeResponse::System system;
    const Eigen::Map<const Matrix> G(state_.problem.G.data(), m, m);
    system.Q = modes_->Q;
    system.A = modes_->Q * G + modes_->D;
    system.rows.resize(m);
    std::iota(system.rows.begin(), system.rows.end(), 0);
    return system;
  }

  /// Displacement by the correction of depths, and its variation along q.
  void vary_correction() {
    const int n = nv(), m = state_.problem.size();
    shift_.assign(n, 0.0);
    dshift_ = Matrix::Zero(n, columns());
    modes_->near_slop();
    if (!state_.deep) return;
    std::vector<int> active;
    then_.impulses.assign(m, 0.0);
    for (std::size_t i = 0; i < step_.pushed_rows().size(); ++i) {
      const double push = step_.push().lam[i];
      const int row = step_.pushed_rows()[i];
      if (push > 0.0) active.push_back(static_cast<int>(i)), then_.impulses[row] = push;
    }
    modes_->near_push(step_);
    for (int i = 0; i < m; ++i) {
      state_.each_entry(
          i, [&](int k, std::size_t at) { shift_[k] += state_.Y[at] * then_.impulses[i]; });
    }
    step_.tree().solve(state_.factor.data(), shift_.data());
    then_.rates = shift_;
    rows_->vary(state_, q_.data(), then_, gaps_);
    Matrix r = Matrix::Zero(n, columns());
    vary_inertia(r);
    ModeResponse::System system;
    const int count = static_cast<int>(active.size());
    system.Q = Matrix::Identity(count, count);
    system.A = Matrix::Zero(count, count);
    Matrix F = Matrix::Zero(count, columns());
    for (int i = 0; i < count; ++i) {
      const int row = step_.pushed_rows()[active[i]];
      system.rows.push_back(row);
      for (int j = 0; j < count; ++j) {
        system.A(i, j) = state_.problem.G[entry(row, m, step_.pushed_rows()[active[j]])];
      }
      const bool deeper = step_.pushed_depths()[active[i]] > plan().options().slop;
      for (int k = 0; k < n; ++k) {
        F(i, by_q * n + k) = then_.along[entry(row, n, k)];
        if (deeper) F(i, by_q * n + k) += plan().options().correction * gap_rate(row, k);
      }
    }
    dshift_ = response_->respond(r, F, system);
  }
  double gap_rate(int row, int k) const {
    const int n = nv(), contacts = state_.problem.contacts;
    if (row < 3 * contacts) return gaps_[entry(row / 3, n, k)];
    return support_entry(row, k);
  }
  double support_entry(int row, int k) const {
    double x = 0.0;
    state_.each_entry(row, [&](int i, std::size_t at) { x = i == k ? state_.J[at] : x; });
    return x;
  }
  /// r = -d(Mh x) + dJ^T p for the displacement x and its impulses p.
  void vary_inertia(Matrix& r) {
    const int n = nv(), spanning = model().spanning_nv();
    std::vector<double> still(n, 0.0), tau(n), Gx(spanning, 0.0);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < spanning; ++j) Gx[j] += rows_->direction(i)[j] * shift_[i];
    }
    joints_.by_position.clear(), joints_.by_rate.clear();
    for (int j = 0; j < spanning; ++j) joints_.force[j] = -step_.weight()[j] * Gx[j];
    int row = 3 * state_.problem.contacts;
    for (const Plan::JointRow& limit : plan().limits()) {
      joints_.force[limit.rate] += limit.side * then_.impulses[row++];
    }
    FramedWrenches<double> framed(plan().model_ptr());
    add_wrenches(then_.impulses, 1.0, framed);
    const Loads<double> loads{nullptr, &framed, &joints_};
    Matrix moving(n, n), resting(n, n), ignored(n, n), M(n, n);
    inverse_dynamics_->evaluate(q_, still, shift_, tau, moving, ignored, M, &loads);
    inverse_dynamics_->evaluate(q_, still, still, tau, resting, ignored, M);  // gravity
    r.block(0, by_q * n, n, n) = resting - moving;
    add_moving_wrenches(then_, r);
    for (int j = 0; j < spanning; ++j) {
      const double w = step_.weight()[j];
      if (w == 0.0) continue;
      for (int k = 0; k < n; ++k) {
        for (int i = 0; i < n; ++i) {
          r(i, by_q * n + k) -= rows_->direction(i)[j] * w * then_.spanning[entry(j, n, k)];
        }
      }
    }
  }

  /// From v+ and the displacement to the state after the step.
  void write(StepDerivatives& out) {
    const int n = nv();
    out.q = state_.q, out.v = state_.v;
    std::vector<double> move(n);
    for (int i = 0; i < n; ++i) move[i] = h_ * after_[i] + shift_[i];
    const Matrix dmove = h_ * dw_ + dshift_;
    Matrix start = Matrix::Zero(n, columns()), dq, dv;
    start.block(0, by_q * n, n, n).setIdentity();
    end_->vary({q_.data(), state_.q.data(), move.data(), after_.data()}, {start, dmove, dw_}, dq,
               dv);
    const auto block = [&](const Matrix& from, int which, std::vector<double>& to, int width) {
      to.resize(static_cast<std::size_t>(n) * width);
      Eigen::Map<Matrix>(to.data(), n, width) = from.block(0, which * n, n, width);
    };
    block(dq, by_q, out.dq_dq, n), block(dq, by_v, out.dq_dv, n), block(dq, by_tau, out.dq_dtau, n);
    block(dv, by_q, out.dv_dq, n), block(dv, by_v, out.dv_dv, n), block(dv, by_tau, out.dv_dtau, n);
    block(dq, by_friction, out.dq_dfriction, 1), block(dv, by_friction, out.dv_dfriction, 1);
  }

  void judge(StepDerivatives& out) {
    for (std::size_t k = 0; k < plan().drives().size(); ++k) modes_->near_bound(k);
    out.margin = modes_->margin, out.nearest = modes_->nearest;
    out.verdict = StepDerivatives::Verdict::smooth;
    if (!(state_.report.residual <= plan().options().tolerance)) {
      out.verdict = StepDerivatives::Verdict::unsolved;
    } else if (step_.guarded()) {
      out.verdict = StepDerivatives::Verdict::mixed_impact;
    } else if (response_->indeterminate()) {
      out.verdict = StepDerivatives::Verdict::indeterminate;
    } else if (!(modes_->margin >= switch_margin)) {
      out.verdict = StepDerivatives::Verdict::near_switch;
    }
  }

  OpenMoreau step_;
  std::unique_ptr<InverseDynamicsDerivatives<double>> inverse_dynamics_;
  std::unique_ptr<RowVariation> rows_;
  StepState<double> state_;
  double h_ = 0.0;
  std::vector<double> q_, v_, after_, shift_, gaps_;
  std::unique_ptr<RowModes> modes_;
  std::unique_ptr<ModeResponse> response_;
  std::unique_ptr<EndVariation> end_;
  RowVariation::Case now_, then_;
  std::vector<Force<double>> wrenches_;
  JointForces<double> joints_;
  Matrix dw_, dshift_;
};

}  // namespace espalier::contact
