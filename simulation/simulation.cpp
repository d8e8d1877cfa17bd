#include "espalier/simulation/form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/host/exact_algorithm.hpp"
#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/motion/quaternions.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/simulation/messages.hpp"

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
  if (!(options.loop_error >= 0.0)) {
    refuse("loop_error is " + number(options.loop_error) + ", expected a number not below zero");
  }
  return parts;
}

}  // namespace

Simulation::Simulation(SimulationParts parts, const SimulationOptions& options)
    : parts_(checked(std::move(parts), options)),
      options_(options),
      model_(parts_.dynamics->model_ptr()),
      passive_(model_, options.friction_rate),
      alternatives_(Alternatives::of(model_)),
      sum_(model_),
      q_(model_->nq()),
      v_(model_->nv(), 0.0),
      own_v_(v_),
      constant_(v_),
      forces_(model_->spanning_nv(), 0.0),
      tau_(v_),
      stage_v_(v_),
      qd_(forces_),
      q_before_(q_),
      v_before_(v_),
      predicted_(q_),
      between_(forces_),
      coarse_{q_, v_, forces_, forces_} {
  gravity_ = parts_.dynamics->gravity();
  forms_.push_back(std::make_unique<Form>(model_, std::move(parts_.dynamics),
                                          std::move(parts_.energy),
                                          options_.passive ? parts_.make_dynamics : MakeDynamics{},
                                          options_.closing, options_.friction_rate));
  form_ = form_before_ = forms_.front().get();
  const std::span<const int> rates = model_->independent_rates();
  rates_of_forms_.emplace_back(rates.begin(), rates.end());
  levels_.assign(form_->loops.loop_count(), 0.0);
  model_->neutral(q_.data());
  constexpr double rounding = 1e-9;
  for (const Joint& joint : model_->joints()) {
    if (joint.nq != 1 || (!joint.limits.lower && !joint.limits.upper)) continue;
    limits_.push_back({static_cast<int>(&joint - model_->joints().data()), joint.q,
                       joint.limits.lower.value_or(-HUGE_VAL) - rounding,
                       joint.limits.upper.value_or(HUGE_VAL) + rounding, false});
  }
  constexpr std::size_t kinds = 5;
  events_.reserve(kinds * most_events);
}

Simulation::~Simulation() = default;

void Simulation::start(In<double> q, In<double> v, double t) {
  expect_size("simulation", "q", q.size(), model_->nq());
  expect_size("simulation", "v", v.size(), model_->nv());
  expect_directions("simulation", *model_, q.data());
  std::copy_n(q.data(), q.size(), q_.begin());
  std::copy_n(v.data(), v.size(), v_.begin());
  own_v_ = v_;
  form_ = forms_.front().get();
  t_ = t;
  least_margin_ = 1.0;
  events_.clear();
  for (Limited& limited : limits_) limited.told = false;
  steps_ = 0;
  decay_ = 0.0;
  implicit_ = turned_ = false;
  expect_finite();
  const double residual = form_->loops.residual(q_.data());
  if (!(residual <= 1e-3)) {
    throw SingularMechanism("simulation: residual of the loops at the start is " +
                            number(residual) +
                            ", expected at most 0.001 (see close() and assemble())");
  }
  start_loops();
  if (!leaves_energies_) (void)present_energy();  // steps take nothing from the heap
  started_ = true;
}

void Simulation::start_if_new() {
  if (started_) return;
  const std::vector<double> q = q_, v = v_;
  start(q, v, t_);
}

void Simulation::set_gravity(const Vec3<double>& gravity) {
  gravity_ = gravity;
  for (const auto& form : forms_) take_gravity(*form);
}

void Simulation::take_gravity(Form& form) const {
  form.dynamics->set_gravity(gravity_);
  form.damping.set_gravity(gravity_), form.friction.set_gravity(gravity_);
  if (form.energy != nullptr) form.energy->set_gravity(gravity_);
}

void Simulation::set_forces(In<double> tau) {
  expect_size("simulation", "tau", tau.size(), model_->nv());
  detail::expect_finite_tau("simulation", *model_, {tau.data(), constant_.size()});
  std::copy_n(tau.data(), tau.size(), constant_.begin());
}

void Simulation::set_wrenches(const Wrenches<double>* wrenches) { wrenches_ = wrenches; }

void Simulation::evaluate(double t, const double* q, const double* v, double* qd, double* vdot) {
  accelerations(*form_->dynamics, t, q, v, qd, vdot);
}

void Simulation::accelerations(ForwardDynamics<double>& dynamics, double t, const double* q,
                               const double* v, double* qd, double* vdot) {
  if (model_->has_variable_constraints()) form_->motion.update(q, nullptr);
  form_->motion.expand(v, qd);
  std::fill(forces_.begin(), forces_.end(), 0.0);
  if (options_.passive) passive_.add(q, qd, forces_.data());
  drive(t, q, qd);
  const bool own = form_ == forms_.front().get();
  if (!own) {  // constant forces act on the joints that the caller's coordinates belong to
    const std::span<const int> rates = model_->independent_rates();
    for (std::size_t i = 0; i < rates.size(); ++i) forces_[rates[i]] += constant_[i];
  }
  form_->motion.reduce(forces_.data(), tau_.data());
  for (std::size_t i = 0; own && i < tau_.size(); ++i) tau_[i] += constant_[i];
  const Wrenches<double>* wrenches = all_wrenches(t, q, qd);
  try {
    dynamics.evaluate(In<double>(q, model_->nq()), In<double>(v, model_->nv()), tau_,
                      Out<double>(vdot, model_->nv()), wrenches);
  } catch (const SingularMechanism& error) {
    throw SingularMechanism("simulation at t = " + number(t) + " s: " + error.what());
  }
}

/// What the controllers add to the forces on spanning rates.
void Simulation::drive(double t, const double* q, const double* qd) {
  const int count = static_cast<int>(parts_.controllers.size());
  for (int i = 0; i < count; ++i) {
    parts_.controllers[i]->drive(t, q, qd, forces_.data());
    if (detail::is_finite_sum(forces_.data(), static_cast<long>(forces_.size()))) continue;
    detail::refuse_controller("simulation at t = " + number(t) + " s", *model_, {q, q_.size()},
                              {qd, qd_.size()}, forces_, i + 1, count);
  }
}

const Wrenches<double>* Simulation::all_wrenches(double t, const double* q, const double* qd) {
  if (parts_.environments.empty()) return wrenches_;
  if (wrenches_ == nullptr) {
    sum_.clear();
  } else {
    sum_ = *wrenches_;
  }
  rates_in(*model_, qd, stage_v_.data());
  for (const auto& environment : parts_.environments) {
    environment->act(t, q, stage_v_.data(), sum_);
  }
  return &sum_;
}

void Simulation::expand(const double* x, double* qd) { form_->motion.expand(x, qd); }

void Simulation::expect_finite() const {
  const double limit = parts_.stability;
  const std::string advice =
      last_step_ > 0.0 && decay_ * last_step_ > limit && !implicit_
          ? "(joint damping is stiff at this step: it decays with " + number(decay_, 3) +
                " 1/s, and steps have to be shorter than " + number(limit / decay_, 3) +
                " s; or take the integrator 'dormand-prince', or damping implicitly)"
          : "(take shorter steps, or look for a massless or singular mechanism)";
  for (const Joint& joint : model_->joints()) {
    for (int k = 0; k < joint.nq; ++k) {
      if (std::isfinite(q_[joint.q + k])) continue;
      throw SingularMechanism("simulation at t = " + number(t_) + " s: position of joint '" +
                              joint.name + "' is not finite, expected a number " + advice);
    }
  }
  for (const Coordinate& c : form_->model->coordinates()) {
    for (int k = c.start; k < c.start + c.size; ++k) {
      if (std::isfinite(v_[k])) continue;
      throw SingularMechanism("simulation at t = " + number(t_) + " s: rate of '" + c.name +
                              "' is not finite, expected a number " + advice);
    }
  }
}

void Simulation::step(double h) {
  if (!(h > 0.0) || !std::isfinite(h)) {
    throw InvalidModel("simulation: step is " + number(h) + " s, expected a positive number");
  }
  start_if_new();
  if (options_.passive && steps_ % 64 == 0) watch_damping(h);
  if (options_.passive && steps_ % 1024 == 0) watch_friction(h);
  last_step_ = h;
  const double begin = t_;
  advance(h);
  t_ = begin + h;
  ++steps_;
  list_own_rates();
  const auto finite = [](const std::vector<double>& x) {
    return detail::is_finite_sum(x.data(), static_cast<long>(x.size()));
  };
  if (!finite(v_) || !finite(q_)) expect_finite();
  watch(h);
}

/// Two halves of a step and the whole of it by linearly implicit Euler: 2 fine - coarse is of order
/// 2, and decays to zero where damping is infinitely fast. Source: Hairer, Wanner (1996), IV.9.
void Simulation::damped_step(double h) {
  const auto move = [&](int which, double t, double length, std::vector<double>& q,
                        std::vector<double>& v) {
    accelerations(form_->damping.implicit(which, length), t, q.data(), v.data(), coarse_.x.data(),
                  coarse_.y.data());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += length * coarse_.y[i];
    form_->motion.expand(v.data(), coarse_.x.data());
    for (double& x : coarse_.x) x *= length;
    model_->integrate(q.data(), coarse_.x.data(), q.data());
  };
  predicted_ = q_;  // the start
  coarse_.q = q_, coarse_.v = v_;
  move(0, t_, h, coarse_.q, coarse_.v);
  move(1, t_, h / 2, q_, v_);
  move(1, t_ + h / 2, h / 2, q_, v_);
  for (std::size_t i = 0; i < v_.size(); ++i) v_[i] = 2.0 * v_[i] - coarse_.v[i];
  model_->difference(predicted_.data(), coarse_.q.data(), coarse_.x.data());
  model_->difference(predicted_.data(), q_.data(), coarse_.y.data());
  for (std::size_t i = 0; i < coarse_.x.size(); ++i) {
    coarse_.y[i] = 2.0 * coarse_.y[i] - coarse_.x[i];
  }
  model_->integrate(predicted_.data(), coarse_.y.data(), q_.data());
  settle(t_ + h, q_.data());
}

void Simulation::run(double duration, double h, int every,
                     const std::function<bool(const Sample&)>& output,
                     const std::function<bool()>& go_on) {
  const long long steps = detail::steps_of_run("simulation", duration, h, every, output != nullptr);
  const double begin = t_;
  if (!output(sample())) return;
  for (long long k = 1; k <= steps; ++k) {
    const double end = k == steps ? begin + duration : begin + static_cast<double>(k) * h;
    step(end - t_);
    t_ = end;  // without the rounding of many sums
    const bool last = k == steps || (go_on != nullptr && !go_on());
    if ((k % every == 0 || last) && !output(sample())) return;
    if (last) return;
  }
}

Energy<double>* Simulation::present_energy() {
  if (form_->energy == nullptr && parts_.make_energy) {
    form_->energy = parts_.make_energy(form_->model);
    if (form_->energy != nullptr) form_->energy->set_gravity(gravity_);
  }
  return form_->energy.get();
}

Sample Simulation::sample() {
  start_if_new();
  Sample s;
  s.t = t_, s.q = q_, s.v = own_v_;
  if (leaves_energies_ && form_ == forms_.front().get()) {
    s.kinetic = s.gravity = std::numeric_limits<double>::quiet_NaN();
  } else if (Energy<double>* const energy = present_energy()) {
    const auto [kinetic, potential] = energy->evaluate(q_, v_);
    s.kinetic = kinetic, s.gravity = potential;
  }
  if (options_.passive) s.springs = passive_.energy(q_.data());
  s.residual = form_->loops.residual(q_.data());
  return s;
}

std::unique_ptr<Simulation> make_simulation(
    const Host& host, const ModelPtr& model, const SimulationNames& names,
    const SimulationOptions& options, std::vector<std::unique_ptr<Controller>> controllers,
    std::vector<std::unique_ptr<Environment>> environments) {
  SimulationParts parts;
  const Registry& registry = host.registry();
  parts.make_dynamics = [&registry, name = names.algorithm](const ModelPtr& form) {
    return registry.create<ForwardDynamics<double>>(name, Setup{form});
  };
  parts.dynamics = host.create<ForwardDynamics<double>>(names.algorithm, model);
  parts.integrator =
      registry.create_integrator(names.integrator, Setup{model}, names.integrator_options);
  // Another one is tried out, since some remember how long their last step was.
  parts.stability = stability_limit(
      *registry.create_integrator(names.integrator, Setup{model}, names.integrator_options));
  parts.make_energy = [&registry](const ModelPtr& form) {
    const Entry* energy = exact_algorithm(registry, Energy<double>::problem, *form);
    return energy == nullptr ? nullptr
                             : registry.create<Energy<double>>(energy->about.name, Setup{form});
  };
  parts.controllers = std::move(controllers);
  parts.environments = std::move(environments);
  return std::make_unique<Simulation>(std::move(parts), options);
}

}  // namespace espalier
