#include "espalier/simulation/contact/contact_batch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "espalier/host/batch_loops.hpp"
#include "espalier/host/block_threads.hpp"
#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/loop_projector.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/simulation/contact/gathered_robots.hpp"
#include "espalier/simulation/contact/packed_numbers.hpp"

namespace espalier::contact {

namespace {

using espalier::detail::gather;
using espalier::detail::scatter;
using text::number;

/// Loops that are open by more at the start were not meant to be closed.
constexpr double largest_gap = 1e-3;
/// Packs that one thread takes at once: states that need more work are gathered from them.
constexpr int packs_at_once = 8;
/// Newton rounds of a pack as it comes; what is then unsolved is gathered.
constexpr int first_rounds = 2, more_rounds = 10;

}  // namespace

std::string_view to_string(RobotStatus status) {
  switch (status) {
    case RobotStatus::ok:
      return "ok";
    case RobotStatus::contact_unsolved:
      return "contact_unsolved";
    case RobotStatus::too_deep:
      return "too_deep";
    case RobotStatus::loop_open:
      return "loop_open";
    case RobotStatus::not_finite:
      return "not_finite";
  }
  return "unknown";
}

class ContactBatch::Impl {
 public:
  Impl(const Registry& registry, const ModelPtr& model, const World& world,
       const ContactBatchOptions& options)
      : plan_(make_plan(registry, model, world, options.step, options.names)),
        threads_(options.threads),
        closes_(model->has_variable_constraints()) {
    for (int k = 0; k < threads_.count(); ++k) {
      workers_.push_back(std::make_unique<Worker>(model, options.step.closing));
      Worker& w = *workers_.back();
      w.step = make_step<Pack>(registry, plan_, options.names);
      w.solver = registry.create<ContactImpulses<Pack>>(options.names.solver, Setup{model});
      w.packs.resize(packs_at_once);
      for (StepState<Pack>& s : w.packs) w.step->resize(s);
    }
    loop_memory_size_ = workers_.front()->projector.memory_size();
  }

  void start(int N, In<double> q, In<double> v, double t);
  void reset(int robot, In<double> q, In<double> v);
  void step(double h);

  std::shared_ptr<const Plan> plan_;
  espalier::detail::BlockThreads threads_;
  bool closes_;
  double t_ = 0.0, last_step_ = 0.0;
  int N_ = 0;
  bool pushed_ = false;  ///< forces on independent rates have been set: else they are zero
  std::vector<double> q_, v_, friction_, loop_memory_;
  PackedNumbers tau_, target_, memory_;
  std::vector<double> forces_, residual_;
  std::vector<RobotStatus> status_;
  std::vector<unsigned char> stuck_;
  std::size_t loop_memory_size_ = 0;

  /// What one thread owns.
  struct alignas(64) Worker {
    Worker(const ModelPtr& model, const CloseOptions& closing)
        : loops(model), projector(model, closing), one(model->nq()) {}
    std::unique_ptr<ContactStep<Pack>> step;
    std::unique_ptr<ContactImpulses<Pack>> solver;
    std::vector<StepState<Pack>> packs;
    GatheredRobots open;  ///< those that are not solved
    espalier::detail::BatchLoops loops;
    LoopProjector projector;
    std::vector<double> one;  ///< positions of one robot
    std::vector<Pack> force;  ///< on all solids, of one pack after the other
    double rounds = 0.0;
  };
  std::vector<std::unique_ptr<Worker>> workers_;

 private:
  void step_piece(Worker& w, int first, double h);
  void load(Worker& w, int first, int packs) const;
  void save(Worker& w, int first, int packs, double h);
  void add_forces(const StepState<Pack>& s, double h, Pack* force) const;
  void judge(const StepState<Pack>& s, int first);
  void collect(Worker& w, int first, int packs);
  void solve_open(Worker& w, const Effort& effort);
  void settle(Worker& w, StepState<Pack>& s, int first);
  bool close(Worker& w, double* q, int robot);
};

void ContactBatch::Impl::start(int N, In<double> q, In<double> v, double t) {
  const Model& model = plan_->model();
  if (N < 1) {
    throw SizeMismatch("contact batch: number of robots is " + std::to_string(N) +
                       ", expected at least 1");
  }
  const std::size_t n = N;
  expect_size("contact batch", "q", q.size(), static_cast<long>(model.nq()) * N);
  expect_size("contact batch", "v", v.size(), static_cast<long>(model.nv()) * N);
  N_ = N, t_ = t, last_step_ = 0.0;
  q_.assign(q.size(), 0.0), v_.assign(v.size(), 0.0);
  tau_.assign(model.nv(), N);
  target_.assign(3 * plan_->drives().size(), N);
  memory_.assign(plan_->memory_size(), N);
  if (friction_.size() != n) friction_.assign(n, 1.0);
  loop_memory_.assign(loop_memory_size_ * n, 0.0);
  forces_.assign(3 * plan_->solids().size() * n, 0.0);
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
  if (robot < 0 || robot >= N_) {
    throw SizeMismatch("contact batch: robot is " + std::to_string(robot) +
                       ", expected a number from 0 to " + std::to_string(N_ - 1));
  }
  expect_size("contact batch", "q of one robot", q.size(), model.nq());
  expect_size("contact batch", "v of one robot", v.size(), model.nv());
  Worker& w = *workers_.front();
  std::copy_n(q.data(), q.size(), w.one.begin());
  const std::size_t N = N_;
  stuck_[robot] = 0;
  status_[robot] = RobotStatus::ok;
  residual_[robot] = 0.0;
  std::fill_n(loop_memory_.begin() + static_cast<long>(loop_memory_size_ * robot),
              loop_memory_size_, 0.0);
  for (std::size_t i = 0; i < memory_.numbers(); ++i) memory_.set(i, robot, 0.0);
  for (std::size_t i = robot; i < forces_.size(); i += N) forces_[i] = 0.0;
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
  for (int i = 0; i < model.nq(); ++i) q_[i * N + robot] = w.one[i];
  for (int i = 0; i < model.nv(); ++i) v_[i * N + robot] = v[i];
}

/// Row by row over all packs of a piece: a row of q lies far from the next.
void ContactBatch::Impl::load(Worker& w, int first, int packs) const {
  const auto rows = [&](const std::vector<double>& from, auto&& to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (i + espalier::detail::rows_ahead < count) {
        espalier::detail::prefetch(from.data() + (i + espalier::detail::rows_ahead) * N_ + first,
                                   std::min(packs * Pack::size, N_ - first));
      }
      for (int p = 0; p < packs; ++p) {
        to(w.packs[p])[i] = gather<Pack>(from.data() + i * N_, first + p * Pack::size, N_);
      }
    }
  };
  rows(
      q_, [](StepState<Pack>& s) { return s.q.data(); }, plan_->model().nq());
  rows(
      v_, [](StepState<Pack>& s) { return s.v.data(); }, plan_->model().nv());
  for (int p = 0; p < packs; ++p) {
    StepState<Pack>& s = w.packs[p];
    const int robot = first + p * Pack::size;
    if (pushed_) tau_.load(robot, s.tau.data());
    target_.load(robot, s.target.data());
    memory_.load(robot, s.memory.data());
    s.friction = gather<Pack>(friction_.data(), robot, N_);
  }
}

void ContactBatch::Impl::save(Worker& w, int first, int packs, double h) {
  const auto rows = [&](auto&& from, std::vector<double>& to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      double* row = to.data() + i * N_;
      for (int p = 0; p < packs; ++p) {
        const int robot = first + p * Pack::size;
        if (robot + Pack::size <= N_) {
          std::memcpy(row + robot, from(p) + i, sizeof(Pack));
        } else {
          scatter(from(p)[i], row, robot, N_);
        }
      }
    }
  };
  rows([&](int p) { return w.packs[p].q.data(); }, q_, plan_->model().nq());
  rows([&](int p) { return w.packs[p].v.data(); }, v_, plan_->model().nv());
  const std::size_t forces = 3 * plan_->solids().size();
  w.force.assign(forces * packs, Pack(0.0));
  for (int p = 0; p < packs; ++p) {
    const StepState<Pack>& s = w.packs[p];
    memory_.store(first + p * Pack::size, s.memory.data());
    add_forces(s, h, w.force.data() + p * forces);
    judge(s, first + p * Pack::size);
  }
  rows([&](int p) { return w.force.data() + p * forces; }, forces_, forces);
}

/// Forces of a step's impulses on all solids.
void ContactBatch::Impl::add_forces(const StepState<Pack>& s, double h, Pack* force) const {
  for (const int point : s.contacts) {
    const Plan::Pair& pair = plan_->pairs()[plan_->pair_of(point)];
    const Pack* kept = s.memory.data() + 4 * static_cast<std::size_t>(point);
    for (int i = 0; i < 3; ++i) {
      const Pack x = kept[i] * Pack(1.0 / h);
      force[3 * pair.a + i] += x;
      force[3 * pair.b + i] -= x;
    }
  }
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

/// Lanes of robots that are not solved.
void ContactBatch::Impl::collect(Worker& w, int first, int packs) {
  w.open.clear();
  for (int p = 0; p < packs; ++p) {
    for (int k = 0; k < Pack::size && first + p * Pack::size + k < N_; ++k) {
      const double r = w.packs[p].report.residual[k];
      // What is not finite stays so: nothing is gained by more work on it.
      if (!(r <= plan_->options().tolerance) && std::isfinite(r)) w.open.add({p, k});
    }
  }
}

void ContactBatch::Impl::solve_open(Worker& w, const Effort& effort) {
  w.open.solve(*plan_, *w.step, *w.solver, effort, w.packs);
}

bool ContactBatch::Impl::close(Worker& w, double* q, int robot) {
  double* const memory = loop_memory_.data() + loop_memory_size_ * robot;
  w.projector.restore(memory);
  if (w.projector.project(q).verdict != Closure::Verdict::closed) return false;
  w.projector.save(memory);
  return true;
}

/// Closes loops robot by robot; those that cannot be stay where they were, at rest.
void ContactBatch::Impl::settle(Worker& w, StepState<Pack>& s, int first) {
  for (int robot = first; robot < std::min(N_, first + Pack::size); ++robot) {
    const int k = robot - first;
    bool finite = true;
    for (std::size_t i = 0; i < s.q.size(); ++i) {
      w.one[i] = s.q[i][k];
      finite = finite && std::isfinite(w.one[i]);
    }
    if (stuck_[robot] == 0 && finite) {
      stuck_[robot] = !close(w, w.one.data(), robot);
      if (stuck_[robot] == 0) {
        for (std::size_t i = 0; i < s.q.size(); ++i) s.q[i].set(k, w.one[i]);
      }
    }
    if (stuck_[robot] == 0) continue;
    for (std::size_t i = 0; i < s.q.size(); ++i) s.q[i].set(k, q_[i * N_ + robot]);
    for (Pack& x : s.v) x.set(k, 0.0);
    for (Pack& x : s.memory) x.set(k, 0.0);
  }
}

void ContactBatch::Impl::step_piece(Worker& w, int first, double h) {
  const int robots = std::min(N_ - first, packs_at_once * Pack::size);
  const int packs = (robots + Pack::size - 1) / Pack::size;
  const StepOptions& o = plan_->options();
  const double ratio = last_step_ > 0.0 ? h / last_step_ : 1.0;
  load(w, first, packs);
  for (int p = 0; p < packs; ++p) {
    StepState<Pack>& s = w.packs[p];
    if (ratio != 1.0) {  // impulses are forces times the step; multipliers of slips stay
      for (int i = 0; i < plan_->memory_size(); ++i) {
        if (i >= 4 * plan_->points() || i % 4 != 3) s.memory[i] *= Pack(ratio);
      }
    }
    w.step->prepare(s, h);
    w.step->solve_impulses(
        s, {.tolerance = o.tolerance, .sweeps = plan_->sweeps(), .rounds = first_rounds});
  }
  collect(w, first, packs);
  solve_open(w, {.tolerance = o.tolerance, .sweeps = 0, .rounds = more_rounds});
  collect(w, first, packs);
  solve_open(w, {.tolerance = o.tolerance, .sweeps = plan_->sweeps()});
  for (int p = 0; p < packs; ++p) {
    StepState<Pack>& s = w.packs[p];
    const int robot = first + p * Pack::size;
    for (int k = 0; k < Pack::size && robot + k < N_; ++k) w.rounds += s.report.rounds[k];
    w.step->respond(s, h);
    w.loops.follow(s.q.data());
    if (closes_) settle(w, s, robot);
  }
  save(w, first, packs, h);
}

void ContactBatch::Impl::step(double h) {
  if (!(h > 0.0) || !std::isfinite(h)) {
    throw InvalidModel("contact batch: step is " + number(h) + " s, expected a positive number");
  }
  for (const auto& w : workers_) w->rounds = 0.0;
  constexpr int piece = packs_at_once * Pack::size;
  threads_.run((N_ + piece - 1) / piece,
               [&](int worker, int k) { step_piece(*workers_[worker], k * piece, h); });
  last_step_ = h;
  t_ += h;
}

ContactBatch::ContactBatch(const Registry& registry, const ModelPtr& model, const World& world,
                           const ContactBatchOptions& options)
    : impl_(std::make_unique<Impl>(registry, model, world, options)) {}
ContactBatch::~ContactBatch() = default;

const Plan& ContactBatch::plan() const { return *impl_->plan_; }

void ContactBatch::start(int N, In<double> q, In<double> v, double t) { impl_->start(N, q, v, t); }
void ContactBatch::reset(int robot, In<double> q, In<double> v) { impl_->reset(robot, q, v); }

void ContactBatch::set_gravity(const Vec3<double>& gravity) {
  for (const auto& w : impl_->workers_) w->step->set_step_gravity(gravity);
}

void ContactBatch::set_friction(In<double> factors) {
  expect_size("contact batch", "friction factors", factors.size(), impl_->N_);
  for (long k = 0; k < factors.size(); ++k) {
    if (!(factors[k] >= 0.0) || !std::isfinite(factors[k])) {
      throw InvalidModel("contact batch: friction factor of robot " + std::to_string(k) + " is " +
                         number(factors[k]) + ", expected a number not below zero");
    }
  }
  impl_->friction_.assign(factors.data(), factors.data() + factors.size());
}

void ContactBatch::set_targets(In<double> positions, In<double> rates, In<double> torques) {
  const long N = impl_->N_, size = static_cast<long>(plan().drives().size()) * N;
  const In<double>* all[3] = {&positions, &rates, &torques};
  const char* names[3] = {"target positions", "target rates", "target torques"};
  for (int i = 0; i < 3; ++i) {
    if (all[i]->size() == 0) continue;
    expect_size("contact batch", names[i], all[i]->size(), size);
    for (long k = 0; k < size; ++k) {
      impl_->target_.set(3 * (k / N) + i, static_cast<int>(k % N), (*all[i])[k]);
    }
  }
}

void ContactBatch::set_forces(In<double> tau) {
  const long N = impl_->N_, size = static_cast<long>(impl_->tau_.numbers()) * N;
  impl_->pushed_ = true;
  expect_size("contact batch", "tau", tau.size(), size);
  for (long k = 0; k < size; ++k) impl_->tau_.set(k / N, static_cast<int>(k % N), tau[k]);
}

void ContactBatch::step(double h) { impl_->step(h); }

ContactBatchSample ContactBatch::sample() const {
  return {impl_->t_, impl_->N_, impl_->q_, impl_->v_};
}
std::span<const double> ContactBatch::forces() const { return impl_->forces_; }
std::span<const double> ContactBatch::residuals() const { return impl_->residual_; }
std::span<const RobotStatus> ContactBatch::status() const { return impl_->status_; }

double ContactBatch::rounds() const {
  double sum = 0.0;
  for (const auto& w : impl_->workers_) sum += w->rounds;
  return sum;
}

std::size_t ContactBatch::saved_size() const {
  return model().nq() + model().nv() + plan().memory_size() + impl_->loop_memory_size_ + 1;
}

void ContactBatch::save(int robot, std::span<double> out) const {
  expect_size("contact batch", "saved robot", static_cast<long>(out.size()),
              static_cast<long>(saved_size()));
  auto to = out.begin();
  for (const std::vector<double>* from : {&impl_->q_, &impl_->v_}) {
    for (std::size_t i = robot; i < from->size(); i += impl_->N_) *to++ = (*from)[i];
  }
  for (std::size_t i = 0; i < impl_->memory_.numbers(); ++i) *to++ = impl_->memory_.get(i, robot);
  to =
      std::copy_n(impl_->loop_memory_.begin() + static_cast<long>(impl_->loop_memory_size_ * robot),
                  impl_->loop_memory_size_, to);
  *to = impl_->stuck_[robot];
}

void ContactBatch::restore(int robot, In<double> saved) {
  expect_size("contact batch", "saved robot", saved.size(), static_cast<long>(saved_size()));
  if (robot < 0 || robot >= impl_->N_) {
    throw SizeMismatch("contact batch: robot is " + std::to_string(robot) +
                       ", expected a number from 0 to " + std::to_string(impl_->N_ - 1));
  }
  const double* from = saved.data();
  for (std::vector<double>* to : {&impl_->q_, &impl_->v_}) {
    for (std::size_t i = robot; i < to->size(); i += impl_->N_) (*to)[i] = *from++;
  }
  for (std::size_t i = 0; i < impl_->memory_.numbers(); ++i) impl_->memory_.set(i, robot, *from++);
  std::copy_n(from, impl_->loop_memory_size_,
              impl_->loop_memory_.begin() + static_cast<long>(impl_->loop_memory_size_ * robot));
  impl_->stuck_[robot] = from[impl_->loop_memory_size_] != 0.0;
}

}  // namespace espalier::contact
