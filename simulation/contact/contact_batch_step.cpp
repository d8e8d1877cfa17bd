#include <algorithm>
#include <array>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/motion/quaternions.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/simulation/contact/contact_batch_impl.hpp"
#include "espalier/simulation/contact/problems/margin_trend.hpp"

namespace espalier::contact {

namespace {

using espalier::detail::gather;
using espalier::detail::scatter;

/// Loops that are open by more at the start were not meant to be closed.
constexpr double largest_gap = 1e-3;

}  // namespace

ContactBatch::Impl::Impl(const Registry& registry, const ModelPtr& model, const World& world,
                         const ContactBatchOptions& options)
    : plan_(make_plan(registry, model, world, options.step, options.names)),
      threads_(options.threads),
      closes_(model->has_variable_constraints()) {
  const Plan& plan = *plan_;
  for (int k = 0; k < threads_.count(); ++k) {
    workers_.push_back(std::make_unique<Worker>(model, options.step.closing));
    Worker& w = *workers_.back();
    w.step = make_step<Pack>(registry, plan_, options.names);
    w.solver = registry.create<ContactImpulses<Pack>>(options.names.solver, Setup{model});
    w.solver->reserve(plan.usual_contacts(), plan.scalar_rows(plan.usual_contacts()));
    w.packs.resize(packs_at_once);
    for (StepState<Pack>& s : w.packs) w.step->resize(s);
    w.open.reserve(plan, packs_at_once * Pack::size, w.packs.front());
    w.force.reserve(3 * plan.solids().size());
  }
}

void ContactBatch::Impl::expect_robot(int robot) const {
  if (robot >= 0 && robot < N_) return;
  if (N_ == 0) {
    throw SizeMismatch("contact batch: number of robots is 0, expected start() before");
  }
  throw SizeMismatch("contact batch: robot is " + std::to_string(robot) +
                     ", expected a number from 0 to " + std::to_string(N_ - 1));
}

void ContactBatch::Impl::start(int N, In<double> q, In<double> v, double t) {
  const Model& model = plan_->model();
  if (N < 1) {
    throw SizeMismatch("contact batch: number of robots is " + std::to_string(N) +
                       ", expected at least 1");
  }
  if (!std::isfinite(t)) {
    throw InvalidModel("contact batch: t is " + text::number(t) + ", expected a finite number");
  }
  const std::size_t n = N;
  expect_size("contact batch", "q", q.size(), static_cast<long>(model.nq()) * N);
  expect_size("contact batch", "v", v.size(), static_cast<long>(model.nv()) * N);
  for (int k = 0; k < N; ++k) {
    expect_directions("contact batch: robot " + std::to_string(k), model, q.data() + k, N);
  }
  N_ = N, t_ = t, last_step_ = 0.0;
  q_.assign(model.nq(), N), v_.assign(model.nv(), N);
  q_rows_.resize(q.size()), v_rows_.resize(v.size());
  force_rows_.resize(3 * plan_->solids().size() * n);
  tau_.assign(model.nv(), N);
  target_.assign(3 * plan_->drives().size(), N);
  memory_.assign(*plan_, N);
  if (friction_.size() != n) {  // of others
    friction_.assign(n, 1.0);
    heavier_.clear(), masses_.assign(0, N), ground_.assign(0, N);
    for (const auto& w : workers_) {
      w->step->set_masses(nullptr);
      for (StepState<Pack>& s : w->packs) s.masses.clear(), s.ground = Vec3<Pack>::zero();
    }
  }
  loop_memory_.assign(workers_.front()->loop_memory.size(), N);
  margins_.assign(workers_.front()->margins.size(), N);
  residual_.assign(n, 0.0);
  status_.assign(n, RobotStatus::ok);
  stuck_.assign(n, 0);
  std::vector<double> one_q(model.nq()), one_v(model.nv());
  for (int k = 0; k < N; ++k) {
    for (int i = 0; i < model.nq(); ++i) one_q[i] = q[static_cast<long>(i) * N + k];
    for (int i = 0; i < model.nv(); ++i) one_v[i] = v[static_cast<long>(i) * N + k];
    reset(k, one_q, one_v);
  }
}

void ContactBatch::Impl::reset(int robot, In<double> q, In<double> v) {
  const Model& model = plan_->model();
  expect_robot(robot);
  expect_size("contact batch", "q of one robot", q.size(), model.nq());
  expect_size("contact batch", "v of one robot", v.size(), model.nv());
  expect_directions("contact batch: robot " + std::to_string(robot), model, q.data());
  Worker& w = *workers_.front();
  std::copy_n(q.data(), q.size(), w.one.begin());
  moved();
  stuck_[robot] = 0;
  status_[robot] = RobotStatus::ok;
  residual_[robot] = 0.0;
  loop_memory_.clear(robot), margins_.clear(robot);
  memory_.clear(robot);
  const auto finite = [](double x) { return std::isfinite(x); };
  if (std::all_of(w.one.begin(), w.one.end(), finite)) {
    model.normalize(w.one.data());
    model.apply_couplings(w.one.data());
    if (closes_ &&
        (!(w.projector.residual(w.one.data()) <= largest_gap) || !close(w, w.one.data(), robot))) {
      stuck_[robot] = 1;
      status_[robot] = RobotStatus::loop_open;
    }
  }
  q_.write(robot, w.one.data());
  v_.write(robot, v.data());
}

void ContactBatch::Impl::load(StepState<Pack>& s, int first) const {
  q_.load(first, s.q.data());
  v_.load(first, s.v.data());
  if (pushed_) tau_.load(first, s.tau.data());
  target_.load(first, s.target.data());
  memory_.load(first, s);
  s.friction = gather<Pack>(friction_.data(), first, N_);
  if (masses_.numbers() > 0) masses_.load(first, s.masses.data());
  if (ground_.numbers() > 0) {
    Pack offset[3];
    ground_.load(first, offset);
    s.ground = {offset[0], offset[1], offset[2]};
  }
}

void ContactBatch::Impl::save(const StepState<Pack>& s, int first) {
  q_.store(first, s.q.data());
  v_.store(first, s.v.data());
  memory_.store(first, s);
  judge(s, first);
}

void ContactBatch::Impl::write_state() {
  if (state_written_) return;
  state_written_ = true;
  for_pieces([&](int /*worker*/, int first, int last) {
    q_.write_rows(first, last, q_rows_.data());
    v_.write_rows(first, last, v_rows_.data());
  });
}

/// Forces of the last step's impulses on all solids.
void ContactBatch::Impl::write_forces() {
  if (forces_written_) return;
  forces_written_ = true;
  const Pack rate(last_step_ > 0.0 ? 1.0 / last_step_ : 0.0);
  for_pieces([&](int worker, int first, int last) {
    std::vector<Pack>& force = workers_[worker]->force;
    for (int robot = first; robot < last; robot += Pack::size) {
      force.assign(3 * plan_->solids().size(), Pack(0.0));
      for (int point = 0; point < plan_->points(); ++point) {
        const Plan::Pair& pair = plan_->pairs()[plan_->pair_of(point)];
        for (int i = 0; i < 3; ++i) {
          const Pack x = memory_.pack(4 * static_cast<std::size_t>(point) + i, robot) * rate;
          force[3 * pair.a + i] += x;
          force[3 * pair.b + i] -= x;
        }
      }
      for (std::size_t i = 0; i < force.size(); ++i) {
        scatter(force[i], force_rows_.data() + i * N_, robot, N_);
      }
    }
  });
}

void ContactBatch::Impl::judge(const StepState<Pack>& s, int first) {
  scatter(s.report.residual, residual_.data(), first, N_);
  const int end = std::min(N_, first + Pack::size);
  const double tolerance = plan_->options().tolerance;
  Pack zero(0.0);  // NaN in lanes with a number that is none
  for (const Pack& x : s.q) zero += Pack(0.0) * x;
  for (const Pack& x : s.v) zero += Pack(0.0) * x;
  for (int k = first; k < end; ++k) {
    const int lane = k - first;
    if (stuck_[k] != 0) {
      status_[k] = RobotStatus::loop_open;
    } else if (zero[lane] != 0.0) {
      status_[k] = RobotStatus::not_finite;
    } else if (s.depth[lane] > 1.0) {
      status_[k] = RobotStatus::too_deep;
    } else if (!(s.report.residual[lane] <= tolerance)) {
      status_[k] = RobotStatus::contact_unsolved;
    } else {
      status_[k] = RobotStatus::ok;
    }
  }
}

/// Adds the lanes of a pack's robots that are not solved to those that are open.
/// @return whether there are any
bool ContactBatch::Impl::collect(Worker& w, int pack, int first) {
  bool open = false;
  for (int k = 0; k < Pack::size && first + k < N_; ++k) {
    const double r = w.packs[pack].report.residual[k];
    // What is not finite stays so: nothing is gained by more work on it.
    if (r <= plan_->options().tolerance || !std::isfinite(r)) continue;
    w.open.add({pack, k});
    open = true;
  }
  return open;
}

void ContactBatch::Impl::solve_open(Worker& w, const Effort& effort) {
  w.open.solve(*plan_, *w.step, *w.solver, effort, w.packs);
}

bool ContactBatch::Impl::close(Worker& w, double* q, int robot) {
  loop_memory_.read(robot, w.one_memory.data());
  w.projector.restore(w.one_memory.data());
  if (w.projector.try_project(q) != Closure::Verdict::closed) return false;
  w.projector.save(w.one_memory.data());
  loop_memory_.write(robot, w.one_memory.data());
  return true;
}

/// What the margins of loops that were closed at once say of the step. w.margins follow.
/// @returns  below zero in lanes that were to pass a dead point
Pack ContactBatch::Impl::margins_ahead(Worker& w, int first) {
  margins_.load(first, w.margins.data());
  Pack ahead(1.0);
  for (int loop = 0; loop < w.projector.loop_count(); ++loop) {
    Pack *before = &w.margins[2 * static_cast<std::size_t>(loop)], *last = before + 1;
    const Pack next = margin_ahead(*before, *last);
    ahead = select_less(next, ahead, next, ahead);
    *before = *last, *last = w.lanes.margin_of(loop);
  }
  return ahead;
}

/// Closes loops: of eight robots at once, then one by one those that are left. Robots that cannot
/// be closed, or that were to pass a dead point, stay where they were, at rest.
void ContactBatch::Impl::settle(Worker& w, StepState<Pack>& s, int first) {
  loop_memory_.load(first, w.loop_memory.data());
  const Pack closed = w.lanes.project(s.q.data(), w.loop_memory.data());
  const Pack ahead = margins_ahead(w, first);
  const int robots = std::min(N_ - first, Pack::size);
  const unsigned char* const stuck = stuck_.data() + first;
  bool all = true;
  for (int k = 0; k < robots; ++k) {
    all = all && closed[k] != 0.0 && stuck[k] == 0 && ahead[k] >= 0.0;
  }
  if (all) {
    margins_.store(first, w.margins.data());
    return loop_memory_.store(first, w.loop_memory.data());
  }
  for (int k = 0; k < robots; ++k) {
    const int robot = first + k;
    if (!(ahead[k] >= 0.0)) stuck_[robot] = 1;
    for (std::size_t i = 0; i < w.margins.size(); ++i) margins_.set(i, robot, w.margins[i][k]);
    if (closed[k] != 0.0 && stuck_[robot] == 0) {
      for (std::size_t i = 0; i < w.loop_memory.size(); ++i) {
        loop_memory_.set(i, robot, w.loop_memory[i][k]);
      }
      continue;
    }
    bool finite = true;
    for (std::size_t i = 0; i < s.q.size(); ++i) {
      w.one[i] = s.q[i][k];
      finite = finite && std::isfinite(w.one[i]);
    }
    if (stuck_[robot] == 0 && finite) {
      stuck_[robot] = !close(w, w.one.data(), robot);
      if (stuck_[robot] == 0) {
        for (std::size_t i = 0; i < s.q.size(); ++i) s.q[i].set(k, w.one[i]);
        for (int loop = 0; loop < w.projector.loop_count(); ++loop) {
          margins_.set(2 * static_cast<std::size_t>(loop) + 1, robot, w.projector.margin_of(loop));
        }
      }
    }
    if (stuck_[robot] == 0) continue;
    for (std::size_t i = 0; i < s.q.size(); ++i) s.q[i].set(k, q_.get(i, robot));
    for (Pack& x : s.v) x.set(k, 0.0);
    for (Pack& x : s.memory) x.set(k, 0.0);
  }
}

/// Packs whose robots are all solved are finished at once, and the next pack takes their place:
/// what it works in is in the nearest cache. The others wait for more work, gathered from all of
/// them.
void ContactBatch::Impl::step_piece(Worker& w, int first, double h) {
  const int last = std::min(N_, first + packs_at_once * Pack::size);
  const StepOptions& o = plan_->options();
  const double ratio = last_step_ > 0.0 ? h / last_step_ : 1.0;
  std::array<int, packs_at_once> robot_of{};  // first ones of the packs that wait
  int waiting = 0;
  w.open.clear();
  for (int robot = first; robot < last; robot += Pack::size) {
    StepState<Pack>& s = w.packs[waiting];
    load(s, robot);
    if (ratio != 1.0) {  // impulses are forces times the step; multipliers of slips stay
      for (int i = 0; i < plan_->memory_size(); ++i) {
        if (i >= 4 * plan_->points() || i % 4 != 3) s.memory[i] *= Pack(ratio);
      }
    }
    w.step->prepare(s, h);
    w.step->solve_impulses(s, {.tolerance = o.tolerance, .rounds = first_rounds});
    if (collect(w, waiting, robot)) {
      robot_of[waiting++] = robot;
    } else {
      finish(w, s, robot, h);
    }
  }
  solve_open(w, {.tolerance = o.tolerance, .sweeps = 0, .rounds = more_rounds});
  w.open.clear();
  for (int p = 0; p < waiting; ++p) collect(w, p, robot_of[p]);
  solve_open(w, {.tolerance = o.tolerance});
  for (int p = 0; p < waiting; ++p) finish(w, w.packs[p], robot_of[p], h);
}

/// From the impulses of a pack to its robots after the step.
void ContactBatch::Impl::finish(Worker& w, StepState<Pack>& s, int first, double h) {
  for (int k = 0; k < Pack::size && first + k < N_; ++k) w.rounds += s.report.rounds[k];
  w.step->respond(s, h);
  w.loops.follow(s.q.data());
  if (closes_) settle(w, s, first);
  save(s, first);
}

void ContactBatch::Impl::step(double h) {
  if (!(h > 0.0) || !std::isfinite(h)) {
    throw InvalidModel("contact batch: step is " + text::number(h) +
                       " s, expected a positive number");
  }
  for (const auto& w : workers_) w->rounds = 0.0;
  for_pieces([&](int worker, int first, int /*last*/) { step_piece(*workers_[worker], first, h); });
  moved();
  last_step_ = h;
  t_ += h;
}

}  // namespace espalier::contact
