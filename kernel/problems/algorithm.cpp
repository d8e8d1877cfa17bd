#include "espalier/kernel/problems/algorithm.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/motion/quaternions.hpp"
#include "espalier/kernel/problems/open_loops.hpp"
#include "espalier/kernel/problems/position_guard.hpp"
#include "espalier/kernel/scalar/scalar.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

void detail::PositionGuard::expect_inertia(std::string_view who, const double* q) {
  if (!(guard<double>().least_pivot(q) < smallest_pivot<double>)) return;
  const WeightlessMotion motion = guard<double>().weightless_motion(q);
  const std::string joints = motion.rates.empty() ? "its joints" : motion.text(model_);
  throw SingularMechanism(std::string(who) + ": inertia of '" + model_.name() +
                          "' along a motion of " + joints +
                          " is not positive at this position, expected some (links without mass, "
                          "or with the inertia of no body, line up there: give them the <inertial> "
                          "of a body, or the joints an armature)");
}

namespace {
#ifdef NDEBUG
constexpr bool debug = false;
#else
constexpr bool debug = true;
#endif
}  // namespace

Algorithm::Algorithm(ModelPtr model)
    : model_(std::move(model)),
      nq_(model_->nq()),
      nv_(model_->nv()),
      gravity_(model_->gravity()),
      has_loops_(model_->has_variable_constraints()),
      debug_(debug) {
  const auto& groups = model_->inertia_groups();
  const bool guarded = std::any_of(groups.begin(), groups.end(),
                                   [](const detail::InertiaGroup& group) { return group.guarded; });
  if (guarded) guard_ = std::make_unique<detail::PositionGuard>(*model_);
}

Algorithm::~Algorithm() = default;

void Algorithm::expect_closed(std::string_view who, In<double> q) const {
  expect_size(std::string(who).c_str(), "q", q.size(), model_->nq());
  detail::expect_closed(who, *model_, q.data());
}

void detail::expect_same_bodies(const char* who, const Model& of_wrenches, const Model& model) {
  expect_size(who, "wrenches", of_wrenches.body_count() + 1, model.body_count() + 1);
  const auto others = of_wrenches.body_names(), own = model.body_names();
  for (int i = 1; i <= model.body_count(); ++i) {
    if (others[i] == own[i]) continue;
    throw Unsupported(std::string(who) + ": wrenches are of the robot '" + of_wrenches.name() +
                      "', expected those of '" + model.name() + "' (body " + std::to_string(i) +
                      " is '" + others[i] + "' there and '" + own[i] + "' here)");
  }
}

void Algorithm::expect_state(std::string_view who, const State& state) const {
  if (&state.model() == model_.get()) {
    state.expect_closed(who);
    return;
  }
  const auto own = model_->joints(), others = state.model().joints();
  const auto differ = [](const Joint& a, const Joint& b) {
    return a.name != b.name || a.nq != b.nq || a.nv != b.nv || a.independent != b.independent;
  };
  for (std::size_t i = 0; i < std::max(own.size(), others.size()); ++i) {
    if (i < std::min(own.size(), others.size()) && !differ(own[i], others[i])) continue;
    throw Unsupported(std::string(who) + ": state is of the robot '" + state.model().name() +
                      "', expected one of '" + model_->name() + "' (joint " + std::to_string(i) +
                      " is " + (i < others.size() ? "'" + others[i].name + "'" : "missing") +
                      " there and " + (i < own.size() ? "'" + own[i].name + "'" : "missing") +
                      " here: State state(algorithm.model_ptr()))");
  }
  expect_closed(who, state.q());
}

namespace {
thread_local int open_loops = 0;
}  // namespace

OpenLoops::OpenLoops() { ++open_loops; }
OpenLoops::~OpenLoops() { --open_loops; }

void Algorithm::debug_closed(std::string_view who, const double* q) const {
  if (open_loops > 0) return;
  const auto finite = [](double x) { return std::isfinite(x); };
  if (std::all_of(q, q + model_->nq(), finite)) detail::expect_closed(who, *model_, q);
}

double Algorithm::look_at_inertia(std::string_view who, const double* q) {
  guard_->expect_inertia(who, q);
  return 0.0;
}
Pack Algorithm::look_at_inertia(std::string_view /*who*/, const Pack* q) {
  return guard_->doubt(q);
}
FloatPack Algorithm::look_at_inertia(std::string_view /*who*/, const FloatPack* q) {
  return guard_->doubt(q);
}
/// Whoever counts operations asks for those of the algorithm.
Count Algorithm::look_at_inertia(std::string_view /*who*/, const Count* /*q*/) {
  return Count(0.0);
}

void Algorithm::refuse_answer(std::string_view who, std::initializer_list<In<double>> inputs,
                              const Wrenches<double>* wrenches, In<double> answer) const {
  // Numbers so large that their squares overflow are no state of a robot: NaN in, NaN out.
  const auto modest = [](double x) { return std::abs(x) < 1e100; };
  for (const In<double>& input : inputs) {
    if (!std::all_of(input.data(), input.data() + input.size(), modest)) return;
  }
  for (int i = 0; wrenches != nullptr && i < wrenches->size(); ++i) {
    for (int k = 0; k < 6; ++k) {
      if (!modest((*wrenches)[i][k])) return;
    }
  }
  long at = 0;
  while (at < answer.size() && std::isfinite(answer[at])) ++at;
  if (at == answer.size()) return;  // their sum alone overflowed
  if (const std::string fault = fault_of_quaternions(*model_, inputs.begin()->data());
      !fault.empty()) {
    throw SingularMechanism(std::string(who) + ": " + fault);
  }
  const Closure closure = examine(*model_, inputs.begin()->data());
  const std::string cause = closure.verdict == Closure::Verdict::closed
                                ? "the mechanism is singular in this state, or numbers overflow"
                                : closure.text();
  throw SingularMechanism(std::string(who) + ": number " + std::to_string(at) +
                          " of the answer is " + text::number(answer[at], 3) +
                          ", expected a finite one (" + cause + ")");
}

}  // namespace espalier
