#include "espalier/simulation/batch_simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "espalier/host/batch_loops.hpp"
#include "espalier/host/block_threads.hpp"
#include "espalier/kernel/model/loop_projector.hpp"
#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/kernel/problems/forward_dynamics.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/plugins/registry.hpp"

namespace espalier {

namespace {

using detail::gather;
using detail::scatter;
using text::number;
using Packs = std::vector<Pack>;

/// An explicit method of up to four stages: where and when forces are asked for, and how the
/// robots get there. Positions move by flows of weighted sums of the stages' rates.
struct Stages {
  std::string_view name;
  int count;
  std::array<double, 4> at;  ///< in steps
};
constexpr std::array<Stages, 2> methods{
    {{"semi-implicit-euler", 1, {0.0}}, {"rk4", 4, {0.0, 0.5, 0.5, 1.0}}}};

const Stages& method_named(const std::string& name) {
  std::vector<std::string> known;
  for (const Stages& stages : methods) {
    if (stages.name == name) return stages;
    known.emplace_back(stages.name);
  }
  throw UnknownName("batch simulation: integrator is '" + name + "'" + suggest(name, known));
}

/// Damping, dry friction and a spring on one rate.
struct Passive {
  int rate = 0, position = -1;
  PassiveDynamics is{};
};

/// Loops that are open by more at the start were not meant to be closed.
constexpr double largest_gap = 1e-3;

Pack tanh(Pack x) {
  for (int k = 0; k < Pack::size; ++k) x.set(k, std::tanh(x[k]));
  return x;
}

}  // namespace

class BatchSimulation::Impl {
 public:
  Impl(const Registry& registry, const ModelPtr& model, const BatchSimulationOptions& options);

  void start(int N, In<double> q, In<double> v, double t);
  void step(double h);

  ModelPtr model_;
  detail::BlockThreads threads_;
  BatchController controller_;
  double t_ = 0.0;
  int N_ = 0;
  std::vector<double> q_, v_;  ///< structures of arrays, at the stage that is under way
  std::vector<unsigned char> stuck_;  ///< robots whose loops could not be closed

  /// What one thread owns.
  struct alignas(64) Worker {
    Worker(const ModelPtr& model, const CloseOptions& closing)
        : motion(*model, SpanningMotion<Pack>::Rotors::skip),
          loops(model),
          projector(model, closing),
          one(model->nq()),
          q(model->nq()),
          v(model->nv()),
          tau(model->nv()),
          driven(model->nv()),
          forces(model->spanning_nv()),
          move(model->spanning_nv()) {}
    std::unique_ptr<ForwardDynamics<Pack>> dynamics;
    SpanningMotion<Pack> motion;
    detail::BatchLoops loops;
    LoopProjector projector;
    std::vector<double> one;  ///< positions of one robot
    Packs q, v, tau, driven, forces, move;
  };
  std::vector<std::unique_ptr<Worker>> workers_;

 private:
  /// A pack of robots in the middle of a step.
  struct Block {
    Packs q, v;   ///< at its start
    Packs q2;     ///< at the second stage
    std::array<Packs, 4> qd, vdot;
  };
  using Weights = std::array<double, 4>;
  static constexpr int blocks_at_once = 8;

  void add_passive(Worker& w);
  void advance(Worker& w, Block& block, int first, int stage, double h);
  void flow(Worker& w, const Block& block, const Pack* from, const Weights& weights, Pack* to);
  void rates(Worker& w, const Block& block, const Weights& weights);
  void settle(Worker& w, const Block& block, int first);
  static bool finite(const Worker& w, int robot);
  bool close(Worker& w, int robot);
  void load(Worker& w, int first) const;
  void save(const Worker& w, int first);

  const Stages& method_;
  double friction_rate_;
  std::vector<Passive> passive_;
  std::vector<double> tau_;
  std::vector<Block> blocks_;
  bool closes_;                 ///< some coupling depends on the position
  std::vector<double> memory_;  ///< of the projector, robot by robot
  std::size_t memory_size_ = 0;
};

BatchSimulation::Impl::Impl(const Registry& registry, const ModelPtr& model,
                            const BatchSimulationOptions& options)
    : model_(model),
      threads_(options.threads),
      method_(method_named(options.integrator)),
      friction_rate_(options.friction_rate),
      closes_(model->has_variable_constraints()) {
  if (!(friction_rate_ > 0.0)) {
    throw InvalidModel("batch simulation: friction_rate is " + number(friction_rate_) +
                       ", expected a positive rate");
  }
  for (int k = 0; k < threads_.count(); ++k) {
    auto dynamics = registry.create<ForwardDynamics<Pack>>(options.algorithm, Setup{model});
    workers_.push_back(std::make_unique<Worker>(model, options.closing));
    workers_.back()->dynamics = std::move(dynamics);
  }
  memory_size_ = workers_.front()->projector.memory_size();
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

void BatchSimulation::Impl::save(const Worker& w, int first) {
  for (std::size_t i = 0; i < w.q.size(); ++i) scatter(w.q[i], q_.data() + i * N_, first, N_);
  for (std::size_t i = 0; i < w.v.size(); ++i) scatter(w.v[i], v_.data() + i * N_, first, N_);
}

void BatchSimulation::Impl::start(int N, In<double> q, In<double> v, double t) {
  if (N < 1) {
    throw SizeMismatch("batch simulation: number of robots is " + std::to_string(N) +
                       ", expected at least 1");
  }
  expect_size("batch simulation", "q", q.size(), static_cast<long>(model_->nq()) * N);
  expect_size("batch simulation", "v", v.size(), static_cast<long>(model_->nv()) * N);
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
  memory_.assign(memory_size_ * N, 0.0);
  Worker& w = *workers_.front();
  for (int first = 0; first < N; first += Pack::size) {
    load(w, first);
    model_->normalize(w.q.data());
    w.loops.follow(w.q.data());
    const Pack residual = closes_ ? w.loops.residual(w.q.data()) : Pack(0.0);
    for (int robot = first; closes_ && robot < std::min(N, first + Pack::size); ++robot) {
      if (!finite(w, robot)) continue;
      stuck_[robot] = residual[robot - first] > largest_gap || !close(w, robot);
    }
    save(w, first);
  }
}

void BatchSimulation::Impl::step(double h) {
  const double begin = t_;
  const int count = static_cast<int>(blocks_.size());
  for (int stage = 0; stage < method_.count; ++stage) {
    t_ = begin + method_.at[stage] * h;
    std::fill(tau_.begin(), tau_.end(), 0.0);
    if (controller_) controller_({t_, N_, q_, v_}, tau_);
    threads_.run((count + blocks_at_once - 1) / blocks_at_once, [&](int worker, int piece) {
      const int end = std::min(count, (piece + 1) * blocks_at_once);
      for (int b = piece * blocks_at_once; b < end; ++b) {
        advance(*workers_[worker], blocks_[b], b * Pack::size, stage, h);
      }
    });
  }
  t_ = begin + h;
}

/// Whether a robot of the worker's block has numbers alone.
bool BatchSimulation::Impl::finite(const Worker& w, int robot) {
  const int k = robot % Pack::size;
  const auto number = [k](const Pack& x) { return std::isfinite(x[k]); };
  return std::all_of(w.q.begin(), w.q.end(), number) && std::all_of(w.v.begin(), w.v.end(), number);
}

/// Puts a robot of the worker's block back on its loops; false if they cannot be closed on their
/// branch, then it is left as it is.
bool BatchSimulation::Impl::close(Worker& w, int robot) {
  const int k = robot % Pack::size;
  double* const memory = memory_.data() + memory_size_ * robot;
  for (std::size_t i = 0; i < w.q.size(); ++i) w.one[i] = w.q[i][k];
  w.projector.restore(memory);
  if (w.projector.project(w.one.data()).verdict != Closure::Verdict::closed) return false;
  w.projector.save(memory);
  for (std::size_t i = 0; i < w.q.size(); ++i) w.q[i].set(k, w.one[i]);
  return true;
}

/// At the end of a step, robot by robot: loops are closed, and those that cannot be stay where they
/// were before it.
void BatchSimulation::Impl::settle(Worker& w, const Block& block, int first) {
  for (int robot = first; robot < std::min(N_, first + Pack::size); ++robot) {
    if (stuck_[robot] == 0) stuck_[robot] = finite(w, robot) && !close(w, robot);
    if (stuck_[robot] == 0) continue;
    const int k = robot - first;
    for (std::size_t i = 0; i < w.q.size(); ++i) w.q[i].set(k, block.q[i][k]);
    for (std::size_t i = 0; i < w.v.size(); ++i) w.v[i].set(k, block.v[i][k]);
  }
}

/// Forces of dampers, friction and springs, onto tau.
void BatchSimulation::Impl::add_passive(Worker& w) {
  if (passive_.empty()) return;
  std::fill(w.forces.begin(), w.forces.end(), Pack(0.0));
  w.motion.expand(w.v.data(), w.move.data());
  for (const Passive& p : passive_) {
    const Pack rate = w.move[p.rate];
    Pack& force = w.forces[p.rate];
    force -= Pack(p.is.damping) * rate;
    if (p.is.friction != 0.0) force -= Pack(p.is.friction) * tanh(rate / Pack(friction_rate_));
    if (p.position >= 0) force -= Pack(p.is.stiffness) * (w.q[p.position] - Pack(p.is.rest));
  }
  w.motion.reduce(w.forces.data(), w.driven.data());
  for (std::size_t i = 0; i < w.tau.size(); ++i) w.tau[i] += w.driven[i];
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
  if (closes_) w.motion.update(w.q.data(), nullptr);
  add_passive(w);
  w.motion.expand(w.v.data(), block.qd[stage].data());
  w.dynamics->evaluate(w.q, w.v, w.tau, block.vdot[stage]);
  if (method_.count == 1) {
    rates(w, block, {h});
    w.motion.expand(w.v.data(), block.qd[0].data());
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

void BatchSimulation::set_gravity(const Vec3<double>& gravity) {
  for (const auto& worker : impl_->workers_) worker->dynamics->set_gravity(gravity);
}

void BatchSimulation::start(int N, In<double> q, In<double> v, double t) {
  impl_->start(N, q, v, t);
}

void BatchSimulation::step(double h) { impl_->step(h); }

void BatchSimulation::run(double duration, double h, int every,
                          const std::function<bool(const BatchSample&)>& output) {
  if (!(h > 0.0) || !(duration >= 0.0) || every < 1) {
    throw InvalidModel("batch simulation: duration, step and output interval are " +
                       number(duration) + " s, " + number(h) + " s and " + std::to_string(every) +
                       ", expected numbers not below zero, above zero and above zero");
  }
  const double begin = impl_->t_;
  // A last step of a millionth is rounding of duration / h.
  const auto steps = static_cast<std::int64_t>(std::ceil(duration / h - 1e-6));
  if (!output(sample())) return;
  for (std::int64_t k = 1; k <= steps; ++k) {
    const double end = k == steps ? begin + duration : begin + static_cast<double>(k) * h;
    step(end - impl_->t_);
    impl_->t_ = end;  // without the rounding of many sums
    if ((k % every == 0 || k == steps) && !output(sample())) return;
  }
}

BatchSample BatchSimulation::sample() const {
  return {impl_->t_, impl_->N_, impl_->q_, impl_->v_};
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

std::unique_ptr<BatchSimulation> make_batch_simulation(
    const Host& host, const ModelPtr& model, const BatchSimulationOptions& options) {
  return std::make_unique<BatchSimulation>(host.registry(), model, options);
}

std::vector<BatchStatus> simulate_batch(const Host& host, const ModelPtr& model, int N, Out<double> q,
                                              Out<double> v, double duration, double h,
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
