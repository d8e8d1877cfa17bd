#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/problems/open_loops.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/simulation/form.hpp"
#include "espalier/simulation/messages.hpp"
#include "espalier/simulation/reselection.hpp"

/// How a simulation gets past dead points of its coordinates and singular positions of the
/// mechanism: docs/theory/dead-points.md.

namespace espalier {

namespace {

using text::number;
using text::quoted;

using detail::look_again;
using detail::look_below;
using detail::worthwhile;

/// A step that takes the margin below this part of it is taken in parts: the stages of an explicit
/// method lie off the loops by the square of their length, which near a singular position turns
/// G by as much over the distance from it.
constexpr double fall = 0.25;
/// A stability limit on the negative real axis above this one is that of order 3 (2.51) or 4
/// (2.79), not of order 1 or 2 (2), whose steps are not taken in parts for their error's sake.
constexpr double order_three = 2.3;
/// Corrections that are no error [rad or m]: what rounding leaves.
constexpr double no_error = 1e-11;
/// The error of parts that are shorter than this share of a step is borne.
constexpr double shortest = 1e-3;
/// Parts of a step that are taken again for their error's sake, after which it is borne.
constexpr int most_split = 300;
/// Twice as long a part has 16 times the share of error in its motion.
constexpr double may_double = 1.0 / 32.0;

/// How long a part is whose share of error is `error` times too large at length h.
double shorter(double h, double error) {
  const double halvings = std::clamp(std::ceil(0.25 * std::log2(error)), 1.0, 4.0);
  return std::ldexp(h, -static_cast<int>(halvings));
}
}  // namespace

void Simulation::start_loops() {
  now_ = t_;
  if (form_->loops.loop_count() == 0) {
    form_->loops.project(q_.data());
    return;
  }
  form_->loops.restart();
  const double least = options_.closing.least_margin;
  Closure closure = form_->loops.project(q_.data());
  least_margin_ = std::min(least_margin_, closure.margin);
  for (int loop = 0; loop < form_->loops.loop_count(); ++loop) {
    if (form_->loops.look(loop).present() < least && form_->loops.look(loop).best() >= least) {
      const Cluster& c = model_->clusters()[form_->loops.cluster_of(loop)];
      const auto moves = [](double x) { return x != 0.0; };
      if (std::any_of(v_.begin() + c.v, v_.begin() + c.v + c.nv, moves)) {
        closure.verdict = Closure::Verdict::singular;
        closure.cluster = c.name;
        closure.better = better_independents(*model_, q_.data(), c.name);
        stop(closure, t_);  // rates of its coordinates do not say how it moves
      }
    }
    if (options_.past_dead_points && form_->loops.look(loop).present() < least) {
      change_form(loop, worthwhile);
    }
  }
  if (form_ != forms_.front().get()) closure = form_->loops.project(q_.data());
  if (closure.verdict != Closure::Verdict::closed) stop(closure, t_);
  for (int loop = 0; loop < form_->loops.loop_count(); ++loop) {
    const IndependentChoice& choice = form_->loops.look(loop);
    const bool poor = choice.best() > worthwhile * choice.present();
    levels_[loop] = (poor ? detail::poor_start : look_below) * form_->loops.margin_of(loop);
  }
  list_own_rates();
}

/// Rates in the caller's coordinates, which are dependent ones like others where the simulation
/// computes in others.
void Simulation::list_own_rates() {
  if (form_ == forms_.front().get()) {
    own_v_ = v_;
    return;
  }
  form_->motion.update(q_.data(), nullptr);
  form_->motion.expand(v_.data(), qd_.data());
  rates_in(*model_, qd_.data(), own_v_.data());
}

std::vector<Coordinate> Simulation::present_coordinates() const {
  return form_->model->coordinates();
}

/// The form with the present independent joints, but for one cluster; null if there can be none.
Simulation::Form* Simulation::form_with(int cluster, std::span<const int> columns) {
  const Cluster& c = model_->clusters()[cluster];
  const std::span<const int> now = form_->model->independent_rates();
  const auto same = [&](const std::unique_ptr<Form>& form) {
    const std::span<const int> other = form->model->independent_rates();
    for (int i = 0; i < static_cast<int>(now.size()); ++i) {
      const bool here = i >= c.v && i < c.v + c.nv;
      if (other[i] != (here ? c.constraint->rate[columns[i - c.v]] : now[i])) return false;
    }
    return true;
  };
  const auto known = std::find_if(forms_.begin(), forms_.end(), same);
  if (known != forms_.end()) return known->get();
  if (!parts_.make_dynamics) return nullptr;
  const ModelPtr model = alternatives_->with(*form_->model, cluster, columns);
  auto made = std::make_unique<Form>(model, parts_.make_dynamics(model), nullptr,
                                     options_.passive ? parts_.make_dynamics : MakeDynamics{},
                                     options_.closing, options_.friction_rate);
  take_gravity(*made);
  made->number = static_cast<int>(rates_of_forms_.size());
  const std::span<const int> rates = model->independent_rates();
  rates_of_forms_.emplace_back(rates.begin(), rates.end());
  if (forms_.size() >= detail::most_forms) {
    const auto idle = std::find_if(forms_.begin() + 1, forms_.end(), [&](const auto& form) {
      return form.get() != form_ && form.get() != form_before_;
    });
    forms_.erase(idle);
  }
  forms_.push_back(std::move(made));
  return forms_.back().get();
}

/// Goes on in other independent joints of one loop if they are `gain` times better at q_, where
/// loops were evaluated last: positions stay, rates are those of the same motion.
bool Simulation::change_form(int loop, double gain) {
  const IndependentChoice& choice = form_->loops.look(loop);
  const int cluster = form_->loops.cluster_of(loop);
  Form* const next =
      choice.best() > gain * choice.present() && choice.best() >= options_.closing.least_margin
          ? form_with(cluster, choice.columns())
          : nullptr;
  if (next == nullptr || next == form_) {
    levels_[loop] = look_again * form_->loops.margin_of(loop);
    return false;
  }
  const double margin = choice.best();
  const Cluster& c = model_->clusters()[cluster];
  const auto own = std::span(v_).subspan(c.v, c.nv);
  const bool rests = std::all_of(own.begin(), own.end(), [](double x) { return x == 0.0; });
  form_->motion.update(q_.data(), nullptr);
  form_->motion.expand(v_.data(), qd_.data());
  rates_in(*next->model, qd_.data(), v_.data());
  if (rests) std::fill(own.begin(), own.end(), 0.0);  // also at a dead point, where G is NaN
  form_ = next;
  form_->loops.restart();
  form_->loops.project(q_.data());
  levels_[loop] = look_below * form_->loops.margin_of(loop);
  note({SimulationEvent::Kind::coordinates, now_, cluster, -1, margin, form_->number});
  return true;
}

/// Before a part is taken again: where it went wrong, less than usual is worthwhile.
bool Simulation::change_to_better() {
  bool changed = false;
  for (int i = 0; i < form_->loops.loop_count(); ++i) changed = change_form(i, 1.5) || changed;
  return changed;
}

/// At the end of a step.
void Simulation::change_forms() {
  if (!options_.past_dead_points) return;
  for (int loop = 0; loop < static_cast<int>(levels_.size()); ++loop) {
    const double margin = form_->loops.margin_of(loop);
    levels_[loop] = std::max(levels_[loop], look_below * margin);
    if (margin < levels_[loop]) change_form(loop, worthwhile);
  }
}

double Simulation::moved(const std::vector<double>& from, const double* to) {
  model_->difference(from.data(), to, between_.data());
  double largest = 0.0;
  for (const double x : between_) largest = std::max(largest, std::abs(x));
  return largest;
}

/// What closing the loops has moved since the prediction, over what is allowed of it.
double Simulation::loop_error(const double* q) {
  return moved(predicted_, q) / std::max(no_error, options_.loop_error * moved(q_before_, q));
}

void Simulation::settle(double t, double* q) {
  now_ = t;
  if (levels_.empty()) {
    form_->loops.project(q);
    return;
  }
  if (follows_ || sees_error_) std::copy_n(q, predicted_.size(), predicted_.begin());
  if (follows_) form_->loops.restart();  // signs of determinants change at a singular position
  Closure closure = form_->loops.project(q);
  if (follows_ && closure.verdict == Closure::Verdict::closed) {
    // On the same branch the correction is of the order of the step's error.
    const bool jumped = !(moved(predicted_, q) <= detail::same_branch * moved(q_before_, q));
    if (jumped) closure.verdict = Closure::Verdict::branch_lost;
  }
  least_margin_ = std::min(least_margin_, closure.margin);
  const bool closed = closure.verdict == Closure::Verdict::closed;
  const bool falls = closed && !follows_ && !bears_falls_ && std::isfinite(parts_.stability) &&
                     closure.margin < fall * margin_before_;
  if (may_retry_ && (!closed || falls)) throw Stuck{closure, closed};
  if (closed && sees_error_) error_ = loop_error(q);
  if (error_ > 1.0 && may_split_) return;  // nothing is thrown, which takes from the heap
  if (!closed) stop(closure, t);
  change_forms();
}

void Simulation::attempt(double h) {
  const OpenLoops stages;
  if (implicit_) {
    damped_step(h);
  } else {
    parts_.integrator->step(*this, t_, h, q_.data(), v_.data());
  }
}

/// To the start of the part of the step that is under way.
void Simulation::restore() {
  q_ = q_before_, v_ = v_before_, form_ = form_before_;
  form_->loops.restart();
  form_->loops.project(q_.data());
}

/// One step, in parts where it leads past what the present coordinates or the mechanism itself
/// cannot be taken past at once.
void Simulation::advance(double h) {
  if (levels_.empty()) return attempt(h);
  double done = 0.0, part = h;
  int rejected = 0, split = 0;
  const bool splits = options_.loop_error > 0.0 && !implicit_ && std::isfinite(parts_.stability) &&
                      parts_.stability > order_three;
  follows_ = bears_falls_ = false;
  while (h - done > 1e-9 * h) {
    part = std::min(part, h - done);
    if (h - done - part < 1e-9 * h) part = h - done;
    q_before_ = q_, v_before_ = v_, form_before_ = form_;
    margin_before_ = 1.0;
    for (int i = 0; i < form_->loops.loop_count(); ++i) {
      margin_before_ = std::min(margin_before_, form_->loops.margin_of(i));
    }
    constexpr int most_rejected = 60;
    may_retry_ = options_.past_dead_points && rejected < most_rejected;
    sees_error_ = splits && !follows_;
    may_split_ = sees_error_ && part > shortest * h && split < most_split;
    error_ = 0.0;
    const double energy = follows_ ? energy_now() : 0.0;
    try {
      attempt(part);
    } catch (const Stuck& stuck) {
      ++rejected;
      restore();
      part = retry(stuck, part, h - done);
      continue;
    } catch (const SingularMechanism&) {  // of a stage that met a dead point
      if (!may_retry_) throw;
      ++rejected;
      restore();
      follows_ = false;
      part *= 0.7;
      continue;
    }
    if (error_ > 1.0 && may_split_) {
      ++split;
      restore();
      if (!options_.past_dead_points || !change_to_better()) part = shorter(part, error_);
      continue;
    }
    t_ += part;
    done += part;
    bears_falls_ = false;
    if (follows_) {
      follows_ = false;
      note({SimulationEvent::Kind::singularity, t_, -1, -1, energy_now() - energy});
      for (int i = 0; i < form_->loops.loop_count(); ++i) {
        levels_[i] = look_below * form_->loops.margin_of(i);
        change_form(i, worthwhile);
      }
    }
    if (split == 0 || split == most_split) {
      part = h - done;
    } else if (error_ < may_double) {
      part *= 2.0;
    }
  }
}

/// How long the next attempt is, after one of length `h` that did not do. @param left  of the step
double Simulation::retry(const Stuck& stuck, double h, double left) {
  const bool followed = follows_;
  follows_ = false;
  if (!followed && change_to_better()) return h;
  const auto still = [](double x) { return x == 0.0; };
  if (std::all_of(v_.begin(), v_.end(), still)) stop(stuck.closure, t_);
  // It is the mechanism that is singular there, since no choice of joints is better. The margin
  // goes to zero there like the way to it: `to` is when.
  const double before = margin_before_, after = stuck.closure.margin;
  if (stuck.closed) {
    bears_falls_ = h < 1e-3 * left;
    return 0.5 * h;
  }
  if (stuck.closure.verdict != Closure::Verdict::branch_lost || followed) {
    follows_ = followed;
    return 0.7 * h;
  }
  const double to = h * before / (before + after);
  // Stages at 0, 1/2 and 1 of the part are far from it where it lies at 1/4 or 3/4.
  for (const double part : {4.0 * to, 4.0 / 3.0 * to}) {
    if (part > left) continue;
    follows_ = true;
    return part;
  }
  return 0.7 * to;
}

void Simulation::stop(const Closure& closure, double t) const {
  Closure said = closure;
  std::string advice = "take shorter steps";
  if (closure.verdict != Closure::Verdict::out_of_reach) {
    said.better = better_independents(*form_->model, q_.data(), closure.cluster);
    advice = detail::advice_past(*model_, said.better, v_);
  }
  throw SingularMechanism("simulation at t = " + number(t) + " s: " + said.text() +
                          ", expected closed loops (" + advice + ")");
}

double Simulation::energy_now() {
  double sum = options_.passive ? passive_.energy(q_.data()) : 0.0;
  if (Energy<double>* const energy = present_energy()) {
    const auto [kinetic, potential] = energy->evaluate(q_, v_);
    sum += kinetic + potential;
  }
  return sum;
}

}  // namespace espalier
