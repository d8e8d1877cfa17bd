#include <algorithm>
#include <cmath>
#include <numbers>

#include "espalier/kernel/text.hpp"
#include "espalier/simulation/form.hpp"

/// What a simulation tells besides motion: limits, turns too wide for a step, stiff damping.

namespace espalier {

namespace {

using text::number;
using text::quoted;
using Event = SimulationEvent::Kind;

/// Dampers are taken implicitly from this part of the integrator's limit on: the mass matrix, and
/// with it the rate of decay, changes with the position.
constexpr double near_limit = 0.5;

/// Energy [J] that no dead point brings into a robot in one step.
constexpr double most_jump = 1e6;

}  // namespace

void Simulation::note(SimulationEvent event) {
  const auto same = [&](const SimulationEvent& e) { return e.kind == event.kind; };
  if (std::count_if(events_.begin(), events_.end(), same) < most_events) events_.push_back(event);
}

/// After a step of length h.
void Simulation::watch(double h) {
  for (Limited& limited : limits_) {
    const double q = q_[limited.position];
    if ((q >= limited.lower && q <= limited.upper) || limited.told) continue;
    limited.told = true;
    note({Event::limit, t_, -1, limited.joint, q});
  }
  if (turned_ || !std::isfinite(parts_.stability) || steps_ % 16 != 1) return;
  if (model_->has_variable_constraints()) form_->motion.update(q_.data(), nullptr);
  form_->motion.expand(v_.data(), qd_.data());
  for (const Body& body : std::span(&model_->body(1), model_->active_body_count())) {
    const SubspaceKind kind = model_->runs()[body.run].subspace;
    if (body.nv != 1 || kind != SubspaceKind::revolute_z) continue;
    if (!(std::abs(qd_[body.v]) * h > std::numbers::pi)) continue;
    turned_ = true;
    note({Event::turn, t_, -1, body.joint, qd_[body.v]});
    return;
  }
}

/// Before a step of length h.
void Simulation::watch_damping(double h) {
  JointDamping& damping = form_->damping;
  if (!damping.any()) return;
  using Damping = SimulationOptions::Damping;
  const bool fixed_steps = std::isfinite(parts_.stability);
  if (!fixed_steps && options_.damping != Damping::implicit) return;
  if (model_->has_variable_constraints()) form_->motion.update(q_.data(), nullptr);
  decay_ = damping.decay(q_.data(), form_->motion, steps_ == 0 ? 20 : 2);
  const bool stiff = decay_ * h > near_limit * parts_.stability;
  const bool was = implicit_;
  implicit_ = damping.can_be_implicit() &&
              (options_.damping == Damping::implicit ||
               (options_.damping == Damping::automatic && (implicit_ || stiff)));
  const auto told = [](const SimulationEvent& e) { return e.kind == Event::damping; };
  if ((implicit_ && !was) || (stiff && std::none_of(events_.begin(), events_.end(), told))) {
    note({Event::damping, t_, -1, damping.joint(), decay_});
  }
}

/// Before a step of length h.
void Simulation::watch_friction(double h) {
  JointDamping& friction = form_->friction;
  if (!friction.any() || !std::isfinite(parts_.stability)) return;
  const auto told = [](const SimulationEvent& e) { return e.kind == Event::friction; };
  if (std::any_of(events_.begin(), events_.end(), told)) return;
  if (model_->has_variable_constraints()) form_->motion.update(q_.data(), nullptr);
  const double decay = friction.decay(q_.data(), form_->motion, steps_ == 0 ? 20 : 2);
  if (decay * h > parts_.stability) note({Event::friction, t_, -1, friction.joint(), decay});
}

std::string Simulation::text(const SimulationEvent& e) const {
  const std::string when = " at t = " + number(e.t) + " s";
  const auto joint = [&] { return "joint " + quoted(model_->joints()[e.joint].name); };
  switch (e.kind) {
    case Event::coordinates: {
      const Cluster& c = model_->clusters()[e.cluster];
      std::string names;
      for (int i = c.v; i < c.v + c.nv; ++i) {
        const std::string name = quoted(model_->joint_of_rate(rates_of_forms_[e.form][i]).name);
        if (!names.ends_with(name)) names += (names.empty() ? "" : ", ") + name;
      }
      return "cluster " + quoted(c.name) + ": from t = " + number(e.t) +
             " s on computes in independent joints " + names + " (singularity margin " +
             number(e.value, 3) + " there)";
    }
    case Event::singularity:
      return "the mechanism is singular" + when +
             ", expected a regular one (it went on along its branch; energy changed by " +
             number(e.value, 3) + " J there" +
             (std::abs(e.value) > most_jump ? ": this is no motion of a robot: take shorter steps, "
                                              "or smaller gains of controllers)"
                                            : ")");
    case Event::limit: {
      const Limits& limits = model_->joints()[e.joint].limits;
      const bool low = limits.lower && e.value < *limits.lower;
      return joint() + ": position is " + number(e.value) + when + ", beyond its " +
             (low ? "lower" : "upper") + " limit " + number(low ? *limits.lower : *limits.upper) +
             ", which nothing enforces (rigid stops come with rigid contact: --ground)";
    }
    case Event::turn:
      return joint() + ": turns by " + number(std::abs(e.value) * last_step_, 3) +
             " rad in one step" + when +
             ", expected much less than half a turn (take shorter "
             "steps)";
    case Event::damping: {
      const double step = std::isfinite(parts_.stability) && e.value > 0.0
                              ? near_limit * parts_.stability / e.value
                              : 0.0;
      return joint() + ": damping is stiff" + when + ": it decays with " + number(e.value, 3) +
             " 1/s, " +
             (implicit_ ? "so it is taken implicitly, by steps of order 2"
                        : "which the integrator does not bear at this step") +
             (step > 0.0 ? " (for its own order take steps below " + number(step, 2) +
                               " s, or the integrator 'dormand-prince')"
                         : "");
    }
    case Event::friction:
      return joint() + ": dry friction is stiff" + when + ": about rest it decays with " +
             number(e.value, 3) +
             " 1/s, which the integrator does not bear at this step: it drives the joint, expected "
             "steps below " +
             number(parts_.stability / e.value, 2) + " s (or a friction_rate above " +
             number(options_.friction_rate * e.value * last_step_ / parts_.stability, 2) +
             ", or rigid contact, where friction is exact: --ground)";
  }
  return "unknown event";
}

}  // namespace espalier
