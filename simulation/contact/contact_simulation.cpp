#include "espalier/simulation/contact/contact_simulation.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/host/exact_algorithm.hpp"
#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/motion/quaternions.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/simulation/messages.hpp"

namespace espalier::contact {

namespace {

using text::number;

/// Loops that are open by more at the start were not meant to be closed.
constexpr double largest_gap = 1e-3;
constexpr const char* closed_form_collider = "closed-form";
constexpr const char* convex_collider = "bullet";

[[noreturn]] void refuse(double t, const std::string& what) {
  throw SingularMechanism("contact simulation at t = " + number(t) + " s: " + what);
}

}  // namespace

std::string_view to_string(StepStatus status) {
  switch (status) {
    case StepStatus::ok:
      return "ok";
    case StepStatus::contact_unsolved:
      return "contact_unsolved";
    case StepStatus::too_deep:
      return "too_deep";
  }
  return "unknown";
}

std::shared_ptr<const Plan> make_plan(const Registry& registry, const ModelPtr& model,
                                      const World& world, const StepOptions& options,
                                      const StepNames& names) {
  const auto plan_with = [&](const std::string& name) {
    const auto collision = registry.create<Collision<double>>(name, Setup{model});
    return std::make_shared<const Plan>(
        model, world, options, name,
        [&](const Shape& a, const Shape& b) { return collision->points(a, b); });
  };
  if (!names.collision.empty()) return plan_with(names.collision);
  for (const Entry* e : registry.algorithms(Collision<double>::problem)) {
    if (e->about.name != convex_collider) continue;
    try {
      return plan_with(closed_form_collider);
    } catch (const Unsupported&) {
      return plan_with(convex_collider);
    }
  }
  return plan_with(closed_form_collider);
}

template <class T>
static typename ContactStep<T>::Parts step_parts(const Registry& registry,
                                                 const std::shared_ptr<const Plan>& plan,
                                                 const StepNames& names) {
  const Setup setup{plan->model_ptr()};
  typename ContactStep<T>::Parts parts;
  parts.plan = plan;
  parts.mass_matrix = registry.create<MassMatrix<T>>(names.mass_matrix, setup);
  parts.inverse_dynamics = registry.create<InverseDynamics<T>>(names.inverse_dynamics, setup);
  parts.collision = registry.create<Collision<T>>(plan->collision(), setup);
  parts.solver = registry.create<ContactImpulses<T>>(names.solver, setup);
  return parts;
}

template <class T>
std::unique_ptr<ContactStep<T>> make_step(const Registry& registry,
                                          const std::shared_ptr<const Plan>& plan,
                                          const StepNames& names) {
  auto step = registry.create<ContactStep<T>>(names.step, Setup{plan->model_ptr()});
  step->bind(step_parts<T>(registry, plan, names));
  return step;
}
std::unique_ptr<ContactStepDerivatives<double>> make_step_derivatives(
    const Registry& registry, const std::shared_ptr<const Plan>& plan, const StepNames& names) {
  const Setup setup{plan->model_ptr()};
  auto derivatives = registry.create<ContactStepDerivatives<double>>(names.step_derivatives, setup);
  ContactStepDerivatives<double>::Parts parts;
  parts.step = step_parts<double>(registry, plan, names);
  parts.inverse_dynamics = registry.create<InverseDynamicsDerivatives<double>>(
      names.inverse_dynamics_derivatives, setup);
  derivatives->bind(std::move(parts));
  return derivatives;
}

template std::unique_ptr<ContactStep<double>> make_step<double>(const Registry&,
                                                                const std::shared_ptr<const Plan>&,
                                                                const StepNames&);
template std::unique_ptr<ContactStep<Pack>> make_step<Pack>(const Registry&,
                                                            const std::shared_ptr<const Plan>&,
                                                            const StepNames&);

ContactSimulation::ContactSimulation(const Registry& registry, const ModelPtr& model,
                                     const World& world, const StepOptions& options,
                                     const StepNames& names,
                                     std::vector<std::unique_ptr<Controller>> controllers)
    : plan_(make_plan(registry, model, world, options, names)),
      step_(make_step<double>(registry, plan_, names)),
      controllers_(std::move(controllers)),
      motion_(*model, SpanningMotion<double>::Rotors::place),
      passive_(model),
      loops_(model, options.closing),
      qd_(model->spanning_nv()) {
  differentiate_ = [&registry, plan = plan_, names] {
    return make_step_derivatives(registry, plan, names);
  };
  if (const Entry* energy = exact_algorithm(registry, Energy<double>::problem, *model)) {
    energy_ = registry.create<Energy<double>>(energy->about.name, Setup{model});
  }
  gravity_ = model->gravity();
  step_->resize(state_);
  contacts_.reserve(plan_->points());
  model->neutral(state_.q.data());
}

ContactSimulation::~ContactSimulation() = default;

void ContactSimulation::start(In<double> q, In<double> v, double t) {
  if (!std::isfinite(t)) {
    throw InvalidModel("contact simulation: t is " + number(t) + ", expected a finite number");
  }
  expect_size("contact simulation", "q", q.size(), model().nq());
  expect_size("contact simulation", "v", v.size(), model().nv());
  expect_directions("contact simulation", model(), q.data());
  std::copy_n(q.data(), q.size(), state_.q.begin());
  std::copy_n(v.data(), v.size(), state_.v.begin());
  std::fill(state_.memory.begin(), state_.memory.end(), 0.0);
  contacts_.clear();
  t_ = t, least_margin_ = 1.0, last_step_ = 0.0;
  unsolved_ = deep_ = 0;
  expect_finite();
  model().normalize(state_.q.data());
  loops_.restart(), margins_.restart();
  const double residual = loops_.residual(state_.q.data());
  if (!(residual <= largest_gap)) {
    refuse(t_, "residual of the loops at the start is " + number(residual) +
                   ", expected at most 0.001 (see close() and assemble())");
  }
  close();
}

void ContactSimulation::set_gravity(const Vec3<double>& gravity) {
  step_->set_step_gravity(gravity);
  if (derivatives_ != nullptr) derivatives_->set_step_gravity(gravity);
  gravity_ = gravity;
  if (energy_ != nullptr) energy_->set_gravity(gravity);
}

void ContactSimulation::set_forces(In<double> tau) {
  expect_size("contact simulation", "tau", tau.size(), model().nv());
  espalier::detail::expect_finite_tau("contact simulation", model(),
                                      {tau.data(), static_cast<std::size_t>(tau.size())});
  std::copy_n(tau.data(), tau.size(), state_.tau.begin());
}

void ContactSimulation::set_target(int drive, double position, double rate, double torque) {
  const int count = static_cast<int>(plan_->drives().size());
  if (drive < 0 || drive >= count) {
    throw SizeMismatch("contact simulation: drive is " + std::to_string(drive) +
                       ", expected a number from 0 to " + std::to_string(count - 1));
  }
  double* target = state_.target.data() + 3 * static_cast<std::size_t>(drive);
  target[0] = position, target[1] = rate, target[2] = torque;
}

void ContactSimulation::set_held_rates(In<double> rates) {
  expect_size("contact simulation", "held rates", rates.size(),
              static_cast<long>(state_.held_rate.size()));
  std::copy_n(rates.data(), rates.size(), state_.held_rate.begin());
}

void ContactSimulation::drive() {
  std::fill(state_.forces.begin(), state_.forces.end(), 0.0);
  if (controllers_.empty()) return;
  motion_.update(state_.q.data(), state_.v.data());
  const int count = static_cast<int>(controllers_.size());
  std::vector<double>& forces = state_.forces;
  for (int i = 0; i < count; ++i) {
    controllers_[i]->drive(t_, state_.q.data(), motion_.qd(), forces.data());
    if (espalier::detail::is_finite_sum(forces.data(), static_cast<long>(forces.size()))) continue;
    espalier::detail::refuse_controller("contact simulation at t = " + number(t_) + " s", model(),
                                        state_.q, {motion_.qd(), forces.size()}, forces, i + 1,
                                        count);
  }
}

void ContactSimulation::close() {
  Closure closure = loops_.project(state_.q.data());
  if (closure.verdict == Closure::Verdict::closed) {
    if (const int loop = margins_.passed(loops_); loop >= 0) {
      closure.verdict = Closure::Verdict::branch_lost;
      closure.margin = loops_.margin_of(loop);
      closure.cluster = model().clusters()[loops_.cluster_of(loop)].name;
    }
  }
  least_margin_ = std::min(least_margin_, closure.margin);
  if (closure.verdict == Closure::Verdict::closed) return;
  std::string advice = "take shorter steps";
  if (closure.verdict != Closure::Verdict::out_of_reach) {
    closure.better = better_independents(model(), state_.q.data(), closure.cluster);
    // A loop that turns over far from singular positions had too long a step; near them it passed
    // one, which is the mechanism's own where no other joints would be better.
    constexpr double near_singular = 0.1;
    const bool own = espalier::detail::are_independent(model(), closure.better);
    advice = own && closure.margin < near_singular
                 ? "steps with contact do not go through singular positions of the mechanism "
                   "itself: keep it off them with limits or a controller"
                 : espalier::detail::advice_past(model(), closure.better, state_.v);
  }
  refuse(t_, closure.text() + ", expected closed loops (" + advice + ")");
}

void ContactSimulation::expect_finite() const {
  const auto number_only = [](double x) { return std::isfinite(x); };
  if (std::all_of(state_.v.begin(), state_.v.end(), number_only) &&
      std::all_of(state_.q.begin(), state_.q.end(), number_only)) {
    return;
  }
  for (const Joint& joint : model().joints()) {
    for (int k = 0; k < joint.nq; ++k) {
      if (std::isfinite(state_.q[joint.q + k])) continue;
      refuse(t_, "position of joint '" + joint.name +
                     "' is not finite, expected a number (take shorter steps or smaller "
                     "gains: forces of controllers act from the start of a step to its end)");
    }
  }
  for (const Coordinate& c : model().coordinates()) {
    for (int k = c.start; k < c.start + c.size; ++k) {
      if (std::isfinite(state_.v[k])) continue;
      refuse(t_, "rate of '" + c.name +
                     "' is not finite, expected a number (look for a massless or singular "
                     "mechanism, or forces that are not finite)");
    }
  }
}

void ContactSimulation::expect_step(double h) const {
  if (!(h > 0.0) || !std::isfinite(h)) {
    throw InvalidModel("contact simulation: step is " + number(h) +
                       " s, expected a positive number");
  }
}

/// Impulses are forces times the step.
void ContactSimulation::rescale_memory(StepState<double>& state, double h) const {
  if (!(last_step_ > 0.0) || last_step_ == h) return;
  for (int k = 0; k < plan_->points(); ++k) {
    for (int i = 0; i < 3; ++i) state.memory[4 * k + i] *= h / last_step_;
  }
  for (int k = 4 * plan_->points(); k < plan_->memory_size(); ++k) {
    state.memory[k] *= h / last_step_;
  }
}

const StepDerivatives& ContactSimulation::derivatives(double h) {
  expect_step(h);
  if (derivatives_ == nullptr) {
    derivatives_ = differentiate_();
    derivatives_->set_step_gravity(gravity_);
  }
  drive();
  StepState<double> start = state_;
  rescale_memory(start, h);
  derivatives_->differentiate(start, h, derivative_);
  return derivative_;
}

StepStatus ContactSimulation::step(double h) {
  expect_step(h);
  rescale_memory(state_, h);
  last_step_ = h;
  drive();
  step_->prepare(state_, h);
  step_->solve_impulses(state_, {.tolerance = plan_->options().tolerance});
  step_->respond(state_, h);
  t_ += h;
  expect_finite();
  model().apply_couplings(state_.q.data());
  if (model().has_variable_constraints()) close();
  take_contacts(h);
  if (state_.depth > 1.0) {
    ++deep_;
    return StepStatus::too_deep;
  }
  if (!(state_.report.residual <= plan_->options().tolerance)) {
    ++unsolved_;
    return StepStatus::contact_unsolved;
  }
  return StepStatus::ok;
}

void ContactSimulation::take_contacts(double h) {
  contacts_.clear();
  for (std::size_t c = 0; c < state_.contacts.size(); ++c) {
    const int point = state_.contacts[c];
    const Plan::Pair& pair = plan_->pairs()[plan_->pair_of(point)];
    const Touch<double>& touch = state_.touch[point];
    const double* lam = state_.problem.lam.data() + 3 * c;
    const Vec3<double> impulse =
        scale(lam[0], touch.normal) + scale(lam[1], state_.t1[c]) + scale(lam[2], state_.t2[c]);
    contacts_.push_back({plan_->solids()[pair.a].name, plan_->solids()[pair.b].name, pair.a, pair.b,
                         point - pair.first, touch.point, touch.normal, touch.gap,
                         scale(1.0 / h, impulse)});
    if (state_.problem.turning == 0) continue;
    const double* turn =
        &state_.problem.lam[3 * state_.contacts.size() + state_.problem.first_turning() + 3 * c];
    for (int k = 0; k < 3; ++k) {
      contacts_.back().moment += scale(turn[k] / h, state_.roll[c][k]);
    }
  }
}

std::vector<Vec3<double>> ContactSimulation::shape_forces() const {
  std::vector<Vec3<double>> forces(plan_->solids().size(), Vec3<double>::zero());
  for (const ContactSample& c : contacts_) {
    forces[c.first_shape] += c.force;
    forces[c.second_shape] -= c.force;
  }
  return forces;
}

double ContactSimulation::limit_impulse(std::string_view joint) const {
  (void)model().joint(joint);
  double sum = 0.0;
  const double* lam = state_.problem.lam.data() + 3 * state_.problem.contacts;
  if (last_step_ == 0.0) return 0.0;
  for (std::size_t k = 0; k < plan_->limits().size(); ++k) {
    if (plan_->limits()[k].joint == joint) sum += plan_->limits()[k].side * lam[k];
  }
  return sum;
}

double ContactSimulation::friction_impulse(std::string_view joint) const {
  (void)model().joint(joint);
  if (last_step_ == 0.0) return 0.0;
  const double* lam =
      state_.problem.lam.data() + 3 * state_.problem.contacts + plan_->limits().size();
  double sum = 0.0;
  for (std::size_t k = 0; k < plan_->frictions().size(); ++k) {
    if (plan_->frictions()[k].joint == joint) sum += lam[k];
  }
  return sum;
}

std::vector<double> ContactSimulation::held_impulses() const {
  const std::size_t count = plan_->held().size();
  if (last_step_ == 0.0) return std::vector<double>(count, 0.0);
  const auto first = state_.problem.lam.begin() + 3 * state_.problem.contacts + plan_->joint_rows();
  return {first, first + static_cast<long>(count)};
}

void ContactSimulation::run(double duration, double h, int every,
                            const std::function<bool(const Sample&)>& output,
                            const std::function<bool()>& go_on) {
  const long long steps =
      detail::steps_of_run("contact simulation", duration, h, every, output != nullptr);
  const double begin = t_;
  if (!output(sample())) return;
  for (long long k = 1; k <= steps; ++k) {
    const double end = k == steps ? begin + duration : begin + static_cast<double>(k) * h;
    // Steps of one length have one rounding: the time is counted, not summed.
    const double left = end - t_;
    step(std::abs(left - h) < 1e-9 * h ? h : left);
    t_ = end;
    const bool last = k == steps || (go_on != nullptr && !go_on());
    if ((k % every == 0 || last) && !output(sample())) return;
    if (last) return;
  }
}

Sample ContactSimulation::sample() {
  Sample s;
  s.t = t_, s.q = state_.q, s.v = state_.v;
  if (energy_ != nullptr) {
    const auto [kinetic, potential] = energy_->evaluate(state_.q, state_.v);
    s.kinetic = kinetic, s.gravity = potential;
  }
  if (plan_->options().passive) s.springs = passive_.energy(state_.q.data());
  s.residual = loops_.residual(state_.q.data());
  return s;
}

}  // namespace espalier::contact
