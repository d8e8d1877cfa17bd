#include "espalier/simulation/simulation.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

Controller::~Controller() = default;
Environment::~Environment() = default;

namespace {

using text::number;

SimulationParts checked(SimulationParts parts, const SimulationOptions& options) {
  const auto refuse = [](const std::string& what) { throw InvalidModel("simulation: " + what); };
  if (parts.dynamics == nullptr) refuse("forward dynamics is null, expected an algorithm");
  if (parts.integrator == nullptr) refuse("integrator is null, expected one");
  const Model* model = &parts.dynamics->model();
  if (&parts.integrator->model() != model ||
      (parts.energy != nullptr && &parts.energy->model() != model)) {
    refuse("parts are bound to several models, expected one model for all");
  }
  if (!(options.friction_rate > 0.0)) {
    refuse("friction_rate is " + number(options.friction_rate) + ", expected a positive rate");
  }
  return parts;
}

}  // namespace

Simulation::Simulation(SimulationParts parts, const SimulationOptions& options)
    : parts_(checked(std::move(parts), options)),
      options_(options),
      model_(parts_.dynamics->model_ptr()),
      motion_(*model_, SpanningMotion<double>::Rotors::skip),
      passive_(model_, options.friction_rate),
      loops_(model_, options.closing),
      sum_(model_),
      q_(model_->nq()),
      v_(model_->nv(), 0.0),
      constant_(model_->nv(), 0.0),
      forces_(model_->spanning_nv(), 0.0),
      tau_(model_->nv()) {
  model_->neutral(q_.data());
}

void Simulation::start(In<double> q, In<double> v, double t) {
  expect_size("simulation", "q", q.size(), model_->nq());
  expect_size("simulation", "v", v.size(), model_->nv());
  std::copy_n(q.data(), q.size(), q_.begin());
  std::copy_n(v.data(), v.size(), v_.begin());
  t_ = t;
  least_margin_ = 1.0;
  expect_finite();
  loops_.restart();
  const double residual = loops_.residual(q_.data());
  if (!(residual <= 1e-3)) {
    throw SingularMechanism("simulation: residual of the loops at the start is " +
                            number(residual) +
                            ", expected at most 0.001 (see close() and assemble())");
  }
  settle(t_, q_.data());
}

void Simulation::set_gravity(const Vec3<double>& gravity) {
  parts_.dynamics->set_gravity(gravity);
  if (parts_.energy != nullptr) parts_.energy->set_gravity(gravity);
}

void Simulation::set_forces(In<double> tau) {
  expect_size("simulation", "tau", tau.size(), model_->nv());
  std::copy_n(tau.data(), tau.size(), constant_.begin());
}

void Simulation::set_wrenches(const Wrenches<double>* wrenches) { wrenches_ = wrenches; }

void Simulation::evaluate(double t, const double* q, const double* v, double* qd, double* vdot) {
  if (model_->has_variable_constraints()) motion_.update(q, nullptr);
  motion_.expand(v, qd);
  std::fill(forces_.begin(), forces_.end(), 0.0);
  if (options_.passive) passive_.add(q, qd, forces_.data());
  for (const auto& controller : parts_.controllers) controller->drive(t, q, qd, forces_.data());
  motion_.reduce(forces_.data(), tau_.data());
  for (std::size_t i = 0; i < tau_.size(); ++i) tau_[i] += constant_[i];
  parts_.dynamics->evaluate(In<double>(q, model_->nq()), In<double>(v, model_->nv()), tau_,
                            Out<double>(vdot, model_->nv()), all_wrenches(t, q, v));
}

const Wrenches<double>* Simulation::all_wrenches(double t, const double* q, const double* v) {
  if (parts_.environments.empty()) return wrenches_;
  if (wrenches_ == nullptr) {
    sum_.clear();
  } else {
    sum_ = *wrenches_;
  }
  for (const auto& environment : parts_.environments) environment->act(t, q, v, sum_);
  return &sum_;
}

void Simulation::expand(const double* x, double* qd) { motion_.expand(x, qd); }

void Simulation::settle(double t, double* q) {
  const Closure closure = loops_.project(q);
  least_margin_ = std::min(least_margin_, closure.margin);
  if (closure.verdict == Closure::Verdict::closed) return;
  Closure said = closure;
  if (closure.verdict != Closure::Verdict::out_of_reach) {
    said.better = better_independents(*model_, q, closure.cluster);
  }
  throw SingularMechanism("simulation at t = " + number(t) + " s: " + said.text() +
                          ", expected closed loops (take shorter steps, or declare other joints "
                          "independent near dead points)");
}

void Simulation::expect_finite() const {
  for (const Joint& joint : model_->joints()) {
    for (int k = 0; k < joint.nq; ++k) {
      if (std::isfinite(q_[joint.q + k])) continue;
      throw SingularMechanism("simulation at t = " + number(t_) + " s: position of joint '" +
                              joint.name +
                              "' is not finite, expected a number (take shorter "
                              "steps, or look for a massless or singular mechanism)");
    }
  }
  for (const Coordinate& c : model_->coordinates()) {
    for (int k = c.start; k < c.start + c.size; ++k) {
      if (std::isfinite(v_[k])) continue;
      throw SingularMechanism("simulation at t = " + number(t_) + " s: rate of '" + c.name +
                              "' is not finite, expected a number (take shorter steps, or look "
                              "for a massless or singular mechanism)");
    }
  }
}

void Simulation::step(double h) {
  parts_.integrator->step(*this, t_, h, q_.data(), v_.data());
  t_ += h;
  const auto finite = [](double x) { return std::isfinite(x); };
  if (std::all_of(v_.begin(), v_.end(), finite) && std::all_of(q_.begin(), q_.end(), finite))
    return;
  expect_finite();
}

void Simulation::run(double duration, double h, int every,
                     const std::function<bool(const Sample&)>& output) {
  if (!(h > 0.0) || !(duration >= 0.0) || every < 1) {
    throw InvalidModel("simulation: duration, step and output interval are " + number(duration) +
                       " s, " + number(h) + " s and " + std::to_string(every) +
                       ", expected numbers not below zero, above zero and above zero");
  }
  const double begin = t_;
  // A last step of a millionth is rounding of duration / h.
  const auto steps = static_cast<long long>(std::ceil(duration / h - 1e-6));
  if (!output(sample())) return;
  for (long long k = 1; k <= steps; ++k) {
    const double end = k == steps ? begin + duration : begin + static_cast<double>(k) * h;
    step(end - t_);
    t_ = end;  // without the rounding of many sums
    if ((k % every == 0 || k == steps) && !output(sample())) return;
  }
}

Sample Simulation::sample() {
  Sample s;
  s.t = t_, s.q = q_, s.v = v_;
  if (parts_.energy != nullptr) {
    const auto [kinetic, potential] = parts_.energy->evaluate(q_, v_);
    s.kinetic = kinetic, s.gravity = potential;
  }
  if (options_.passive) s.springs = passive_.energy(q_.data());
  s.residual = loops_.residual(q_.data());
  return s;
}

std::unique_ptr<Simulation> make_simulation(
    const Host& host, const ModelPtr& model, const SimulationNames& names, const SimulationOptions& options,
    std::vector<std::unique_ptr<Controller>> controllers,
    std::vector<std::unique_ptr<Environment>> environments) {
  SimulationParts parts;
  parts.dynamics = host.create<ForwardDynamics<double>>(names.algorithm, model);
  parts.integrator =
      host.registry().create_integrator(names.integrator, Setup{model}, names.integrator_options);
  for (const Entry* e : host.registry().algorithms(Energy<double>::problem)) {
    const Verdict verdict = host.registry().can(*e, *model);
    if (!verdict.ok || !verdict.exact || !e->algorithm[ScalarTraits<double>::index]) continue;
    parts.energy = host.create<Energy<double>>(e->about.name, model);
    break;
  }
  parts.controllers = std::move(controllers);
  parts.environments = std::move(environments);
  return std::make_unique<Simulation>(std::move(parts), options);
}

}  // namespace espalier
