#include "espalier/simulation/batch_simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "batch_simulation_impl.hpp"
#include "espalier/kernel/model/motion/quaternions.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/plugins/registry.hpp"
#include "espalier/simulation/messages.hpp"

namespace espalier {

namespace {

using detail::gather;
using detail::scatter;
using text::number;
using Packs = std::vector<Pack>;

constexpr std::array<BatchStages, 2> methods{
    {{"semi-implicit-euler", 1, {0.0}}, {"rk4", 4, {0.0, 0.5, 0.5, 1.0}}}};

const BatchStages& method_named(const std::string& name) {
  std::vector<std::string> known;
  for (const BatchStages& stages : methods) {
    if (stages.name == name) return stages;
    known.emplace_back(stages.name);
  }
  throw UnknownName("batch simulation: integrator is '" + name + "'" + suggest(name, known));
}

/// Loops that are open by more at the start were not meant to be closed.
constexpr double largest_gap = 1e-3;

Pack tanh(Pack x) {
  for (int k = 0; k < Pack::size; ++k) x.set(k, std::tanh(x[k]));
  return x;
}

}  // namespace

BatchSimulation::Impl::Impl(const Registry& registry, const ModelPtr& model,
                            const BatchSimulationOptions& options)
    : model_(model),
      threads_(options.threads),
      method_(method_named(options.integrator)),
      friction_rate_(options.friction_rate),
      closes_(model->has_variable_constraints()),
      changes_(closes_ && options.past_dead_points),
      registry_(registry),
      options_(options),
      gravity_(model->gravity()),
      alternatives_(Alternatives::of(model)),
      models_{model} {
  if (!(friction_rate_ > 0.0)) {
    throw InvalidModel("batch simulation: friction_rate is " + number(friction_rate_) +
                       ", expected a positive rate");
  }
  for (int k = 0; k < threads_.count(); ++k) {
    workers_.push_back(std::make_unique<Worker>(model));
    workers_.back()->forms.resize(detail::most_forms);
    form_in(*workers_.back(), 0);
  }
  models_.reserve(detail::most_forms);
  const LoopProjector& projector = workers_.front()->forms.front()->projector;
  memory_size_ = projector.memory_size();
  for (const auto& worker : workers_) {
    worker->one_memory.resize(memory_size_), worker->memory.resize(memory_size_);
  }
  loop_count_ = projector.loop_count();
  for (const Joint& joint : model->joints()) {
    const PassiveDynamics& p = joint.passive;
    if (!options.passive || (p.damping == 0.0 && p.friction == 0.0 && p.stiffness == 0.0)) continue;
    for (int k = 0; k < joint.nv; ++k) {
      passive_.push_back({joint.v + k, joint.nq == 1 ? joint.q : -1, p});
    }
  }
}

void BatchSimulation::Impl::load(Worker& w, int first) const {
  for (std::size_t i = 0; i < w.q.size(); ++i) w.q[i] = gather<Pack>(q_.data() + i * N_, first, N_);
  for (std::size_t i = 0; i < w.v.size(); ++i) w.v[i] = gather<Pack>(v_.data() + i * N_, first, N_);
}

void BatchSimulation::Impl::save(Worker& w, int first) {
  for (std::size_t i = 0; i < w.q.size(); ++i) scatter(w.q[i], q_.data() + i * N_, first, N_);
  for (std::size_t i = 0; i < w.v.size(); ++i) scatter(w.v[i], v_.data() + i * N_, first, N_);
  if (own_v_.empty()) return;
  // Rates in the model's coordinates, which are dependent ones where a robot is in others.
  w.driven = w.v;
  each_form(w, first, [&](Form& form, int number, bool, const auto& in) {
    if (number == 0) return;
    form.motion.update(w.q.data(), nullptr);
    form.motion.expand(w.v.data(), w.move.data());
    const std::span<const int> rates = model_->independent_rates();
    for (std::size_t i = 0; i < rates.size(); ++i) {
      for (int k = 0; k < Pack::size; ++k) {
        if (in(k)) w.driven[i].set(k, w.move[rates[i]][k]);
      }
    }
  });
  for (std::size_t i = 0; i < w.v.size(); ++i) {
    scatter(w.driven[i], own_v_.data() + i * N_, first, N_);
  }
}

void BatchSimulation::Impl::set_gravity(const Vec3<double>& gravity) {
  gravity_ = gravity;
  for (const auto& worker : workers_) {
    for (const auto& form : worker->forms) {
      if (form != nullptr) form->dynamics->set_gravity(gravity);
    }
  }
}

void BatchSimulation::Impl::start(int N, In<double> q, In<double> v, double t) {
  if (N < 1) {
    throw SizeMismatch("batch simulation: number of robots is " + std::to_string(N) +
                       ", expected at least 1");
  }
  expect_size("batch simulation", "q", q.size(), static_cast<long>(model_->nq()) * N);
  expect_size("batch simulation", "v", v.size(), static_cast<long>(model_->nv()) * N);
  for (int robot = 0; robot < N; ++robot) {
    expect_directions("batch simulation: robot " + std::to_string(robot), *model_, q.data() + robot,
                      N);
  }
  N_ = N, t_ = t;
  q_.assign(q.data(), q.data() + q.size());
  v_.assign(v.data(), v.data() + v.size());
  tau_.resize(v_.size());
  blocks_.resize((N + Pack::size - 1) / Pack::size);
  for (Block& block : blocks_) {
    block.q.resize(model_->nq());
    block.v.resize(model_->nv());
    block.q2.resize(method_.count > 1 ? model_->nq() : 0);
    for (int k = 0; k < method_.count; ++k) {
      block.qd[k].resize(model_->spanning_nv());
      block.vdot[k].resize(model_->nv());
    }
  }
  stuck_.assign(N, 0);
  memory_.assign(memory_size_, N);
  form_of_.assign(N, 0);
  levels_.assign(static_cast<std::size_t>(loop_count_) * N, 0.0);
  events_.clear();
  if (changes_) own_v_ = v_, events_.reserve(detail::most_batch_events);
  Worker& w = *workers_.front();
  for (int first = 0; first < N; first += Pack::size) {
    load(w, first);
    put_on_loops(w, first, std::min(N, first + Pack::size));
    save(w, first);
  }
}

/// Robots [begin, end) of the loaded pack as they start.
void BatchSimulation::Impl::put_on_loops(Worker& w, int begin, int end) {
  model_->normalize(w.q.data());
  w.loops.follow(w.q.data());
  const Pack residual = closes_ ? w.loops.residual(w.q.data()) : Pack(0.0);
  for (int robot = begin; closes_ && robot < end; ++robot) {
    if (!finite(w, robot)) continue;
    stuck_[robot] = residual[robot % Pack::size] > largest_gap || !close(w, robot, nullptr);
  }
}

void BatchSimulation::Impl::reset(int robot, In<double> q, In<double> v) {
  if (robot < 0 || robot >= N_) {
    throw SizeMismatch("batch simulation: robot is " + std::to_string(robot) +
                       ", expected a number from 0 to " + std::to_string(N_ - 1));
  }
  expect_size("batch simulation", "q of one robot", q.size(), model_->nq());
  expect_size("batch simulation", "v of one robot", v.size(), model_->nv());
  expect_directions("batch simulation: robot " + std::to_string(robot), *model_, q.data());
  const auto put = [&](const auto& from, std::vector<double>& rows) {
    for (long i = 0; i < from.size(); ++i) rows[i * N_ + robot] = from[i];
  };
  put(q, q_);
  put(v, v_);
  if (!own_v_.empty()) put(v, own_v_);
  stuck_[robot] = 0;
  form_of_[robot] = 0;
  memory_.clear(robot);
  std::fill_n(levels_.begin() + static_cast<std::ptrdiff_t>(loop_count_) * robot, loop_count_, 0.0);
  Worker& w = *workers_.front();
  const int lane = robot % Pack::size;
  load(w, robot - lane);
  put_on_loops(w, robot, robot + 1);
  // The others of its pack stay as they are, to the bit.
  for (std::size_t i = 0; i < w.q.size(); ++i) q_[i * N_ + robot] = w.q[i][lane];
}

void BatchSimulation::Impl::step(double h) {
  const double begin = t_;
  const int count = static_cast<int>(blocks_.size());
  for (int stage = 0; stage < method_.count; ++stage) {
    t_ = begin + method_.at[stage] * h;
    std::fill(tau_.begin(), tau_.end(), 0.0);
    if (controller_) controller_({t_, N_, q_, own_v()}, tau_);
    threads_.run((count + blocks_at_once - 1) / blocks_at_once, [&](int worker, int piece) {
      const int end = std::min(count, (piece + 1) * blocks_at_once);
      for (int b = piece * blocks_at_once; b < end; ++b) {
        advance(*workers_[worker], blocks_[b], b * Pack::size, stage, h);
      }
    });
  }
  t_ = begin + h;
}

/// Rates of all joints and accelerations at w.q and w.v, of the lanes that are in a form.
void BatchSimulation::Impl::evaluate(Worker& w, Form& form, bool own, Pack* qd, Pack* vdot) {
  if (closes_) form.motion.update(w.q.data(), nullptr);
  form.motion.expand(w.v.data(), qd);
  w.applied = w.tau;
  if (!own || !passive_.empty()) {
    std::fill(w.forces.begin(), w.forces.end(), Pack(0.0));
    if (!own) {  // the caller's forces act on the joints that its coordinates belong to
      const std::span<const int> rates = model_->independent_rates();
      for (std::size_t i = 0; i < rates.size(); ++i) w.forces[rates[i]] += w.tau[i];
    }
    add_passive(w, qd);
    form.motion.reduce(w.forces.data(), w.driven.data());
    for (std::size_t i = 0; i < w.tau.size(); ++i) {
      w.applied[i] = own ? w.tau[i] + w.driven[i] : w.driven[i];
    }
  }
  form.dynamics->evaluate(w.q, w.v, w.applied, Out<Pack>(vdot, w.v.size()));
}

/// Forces of dampers, friction and springs.
void BatchSimulation::Impl::add_passive(Worker& w, const Pack* qd) {
  for (const BatchPassive& p : passive_) {
    const Pack rate = qd[p.rate];
    Pack& force = w.forces[p.rate];
    force -= Pack(p.is.damping) * rate;
    if (p.is.friction != 0.0) force -= Pack(p.is.friction) * tanh(rate / Pack(friction_rate_));
    if (p.position >= 0) force -= Pack(p.is.stiffness) * (w.q[p.position] - Pack(p.is.rest));
  }
}

/// Takes over the lanes of a form.
template <class In>
static void merge(const Packs& from, const In& in, Packs& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (int k = 0; k < Pack::size; ++k) {
      if (in(k)) to[i].set(k, from[i][k]);
    }
  }
}

/// Positions moved for unit time by the weighted sum of the stages' rates.
void BatchSimulation::Impl::flow(Worker& w, const Block& block, const Pack* from,
                                 const Weights& weights, Pack* to) {
  for (std::size_t i = 0; i < w.move.size(); ++i) {
    Pack sum(0.0);
    for (int k = 0; k < method_.count; ++k) {
      if (weights[k] != 0.0) sum += Pack(weights[k]) * block.qd[k][i];
    }
    w.move[i] = sum;
  }
  model_->integrate(from, w.move.data(), to);
}

/// w.v = v + weighted sum of the stages' accelerations.
void BatchSimulation::Impl::rates(Worker& w, const Block& block, const Weights& weights) {
  for (std::size_t i = 0; i < w.v.size(); ++i) {
    Pack sum = block.v[i];
    for (int k = 0; k < method_.count; ++k) {
      if (weights[k] != 0.0) sum += Pack(weights[k]) * block.vdot[k][i];
    }
    w.v[i] = sum;
  }
}

/// One stage of a pack of robots, as algorithms/integrators/ do it for one: from the state in q_
/// and v_ to that of the next stage, or of the end of the step.
void BatchSimulation::Impl::advance(Worker& w, Block& block, int first, int stage, double h) {
  load(w, first);
  for (std::size_t i = 0; i < w.tau.size(); ++i) {
    w.tau[i] = gather<Pack>(tau_.data() + i * N_, first, N_);
  }
  if (stage == 0) block.q = w.q, block.v = w.v;
  each_form(w, first, [&](Form& form, int number, bool alone, const auto& in) {
    if (alone) {
      return evaluate(w, form, number == 0, block.qd[stage].data(), block.vdot[stage].data());
    }
    evaluate(w, form, number == 0, w.move.data(), w.vdot.data());
    merge(w.move, in, block.qd[stage]);
    merge(w.vdot, in, block.vdot[stage]);
  });
  if (method_.count == 1) {
    rates(w, block, {h});
    each_form(w, first, [&](Form& form, int, bool, const auto& in) {
      form.motion.expand(w.v.data(), w.move.data());
      merge(w.move, in, block.qd[0]);
    });
    flow(w, block, block.q.data(), {h}, w.q.data());
  } else if (stage == 0) {
    flow(w, block, block.q.data(), {h / 2}, block.q2.data());
    rates(w, block, {h / 2});
    w.q = block.q2;
  } else if (stage == 1) {
    flow(w, block, block.q.data(), {0, h / 2}, w.q.data());
    rates(w, block, {0, h / 2});
  } else if (stage == 2) {
    flow(w, block, block.q2.data(), {-h / 2, 0, h}, w.q.data());
    rates(w, block, {0, 0, h});
  } else {
    flow(w, block, block.q.data(), {h / 4, h / 6, h / 6, -h / 12}, block.q2.data());
    flow(w, block, block.q2.data(), {-h / 12, h / 6, h / 6, h / 4}, w.q.data());
    rates(w, block, {h / 6, h / 3, h / 3, h / 6});
  }
  if (stage + 1 == method_.count) {
    model_->normalize(w.q.data());
    w.loops.follow(w.q.data());
    if (closes_) settle(w, block, first);
  }
  save(w, first);
}

BatchSimulation::BatchSimulation(const Registry& registry, const ModelPtr& model,
                                 const BatchSimulationOptions& options)
    : impl_(std::make_unique<Impl>(registry, model, options)) {}

BatchSimulation::~BatchSimulation() = default;

const Model& BatchSimulation::model() const { return *impl_->model_; }

void BatchSimulation::set_controller(BatchController controller) {
  impl_->controller_ = std::move(controller);
}

void BatchSimulation::set_gravity(const Vec3<double>& gravity) { impl_->set_gravity(gravity); }

void BatchSimulation::start(int N, In<double> q, In<double> v, double t) {
  impl_->start(N, q, v, t);
}

void BatchSimulation::reset(int robot, In<double> q, In<double> v) { impl_->reset(robot, q, v); }

void BatchSimulation::step(double h) { impl_->step(h); }

void BatchSimulation::run(double duration, double h, int every,
                          const std::function<bool(const BatchSample&)>& output) {
  const long long steps =
      detail::steps_of_run("batch simulation", duration, h, every, output != nullptr);
  const double begin = impl_->t_;
  if (!output(sample())) return;
  for (long long k = 1; k <= steps; ++k) {
    const double end = k == steps ? begin + duration : begin + static_cast<double>(k) * h;
    step(end - impl_->t_);
    impl_->t_ = end;  // without the rounding of many sums
    if ((k % every == 0 || k == steps) && !output(sample())) return;
  }
}

BatchSample BatchSimulation::sample() const {
  return {impl_->t_, impl_->N_, impl_->q_, impl_->own_v()};
}

void BatchSimulation::judge(std::span<BatchStatus> status) const {
  const int N = impl_->N_;
  expect_size("batch simulation", "status", static_cast<long>(status.size()), N);
  for (int k = 0; k < N; ++k) {
    status[k] = impl_->stuck_[k] != 0 ? BatchStatus::loop_open : BatchStatus::ok;
  }
  for (const std::vector<double>* x : {&impl_->q_, &impl_->v_}) {
    for (std::size_t i = 0; i < x->size(); ++i) {
      if (!std::isfinite((*x)[i])) status[i % N] = BatchStatus::singular;
    }
  }
}

std::vector<BatchEvent> BatchSimulation::events() const { return impl_->events_; }

std::unique_ptr<BatchSimulation> make_batch_simulation(const Host& host, const ModelPtr& model,
                                                       const BatchSimulationOptions& options) {
  return std::make_unique<BatchSimulation>(host.registry(), model, options);
}

std::vector<BatchStatus> simulate_batch(const Host& host, const ModelPtr& model, int N,
                                        Out<double> q, Out<double> v, double duration, double h,
                                        BatchController controller,
                                        const BatchSimulationOptions& options) {
  const auto simulation = make_batch_simulation(host, model, options);
  simulation->set_controller(std::move(controller));
  simulation->start(N, {q.data(), q.size()}, {v.data(), v.size()});
  const int never = std::numeric_limits<int>::max();
  simulation->run(duration, h, never, [](const BatchSample&) { return true; });
  const BatchSample end = simulation->sample();
  std::copy(end.q.begin(), end.q.end(), q.data());
  std::copy(end.v.begin(), end.v.end(), v.data());
  std::vector<BatchStatus> status(N);
  simulation->judge(status);
  return status;
}

}  // namespace espalier
