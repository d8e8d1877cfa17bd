#include "espalier/simulation/messages.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier::detail {

void refuse_controller(const std::string& who, const Model& model, std::span<const double> q,
                       std::span<const double> qd, std::span<const double> forces, int number,
                       int count) {
  if (!std::all_of(q.begin(), q.end(), is_finite) ||
      !std::all_of(qd.begin(), qd.end(), is_finite)) {
    return;
  }
  for (const Joint& joint : model.joints()) {
    for (int k = joint.v; k < joint.v + joint.nv; ++k) {
      if (is_finite(forces[k])) continue;
      const std::string which =
          count > 1 ? "controller " + std::to_string(number) + " of " + std::to_string(count)
                    : std::string("a controller");
      throw InvalidModel(who + ": force on joint " + text::quoted(joint.name) + " is " +
                         text::number(forces[k]) + ", expected a finite number (" + which +
                         " added it)");
    }
  }
}

long long steps_of_run(const std::string& who, double duration, double h, int every, bool output) {
  using text::number;
  if (!output) throw InvalidModel(who + ": output is empty, expected a function");
  if (!(h > 0.0) || !(duration >= 0.0) || every < 1) {
    throw InvalidModel(who + ": duration, step and output interval are " + number(duration) +
                       " s, " + number(h) + " s and " + std::to_string(every) +
                       ", expected numbers not below zero, above zero and above zero");
  }
  // Beyond, times of neighbouring steps are the same number.
  constexpr double most_steps = 0x1.0p50;
  if (!(duration / h <= most_steps)) {
    throw InvalidModel(who + ": duration of " + number(duration) + " s takes " +
                       number(duration / h, 3) + " steps of " + number(h) +
                       " s, expected at most 1.1e15, which time in double precision can tell apart "
                       "(take longer steps, or a shorter duration)");
  }
  // A last step of a millionth is rounding of duration / h.
  return static_cast<long long>(std::ceil(duration / h - 1e-6));
}

void expect_finite_tau(const std::string& who, const Model& model, std::span<const double> tau) {
  for (const Coordinate& c : model.coordinates()) {
    for (int k = c.start; k < c.start + c.size; ++k) {
      if (is_finite(tau[k])) continue;
      throw InvalidModel(who + ": tau of " + text::quoted(c.name) + " is " + text::number(tau[k]) +
                         ", expected a finite number");
    }
  }
}

bool are_independent(const Model& model, std::span<const std::string> names) {
  const auto coordinates = model.coordinates();
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::any_of(coordinates.begin(), coordinates.end(),
                       [&](const Coordinate& c) { return c.name == name; });
  });
}

std::string advice_past(const Model& model, std::span<const std::string> better,
                        std::span<const double> v) {
  if (better.empty()) {
    const bool rests = std::all_of(v.begin(), v.end(), [](double x) { return x == 0.0; });
    return rests ? "the mechanism itself is singular where it stands: start it elsewhere, or with "
                   "a rate"
                 : "take shorter steps, or keep the motion off this position, where the mechanism "
                   "itself is singular";
  }
  return are_independent(model, better) ? "take shorter steps; these joints are independent already"
                                        : "take shorter steps, or declare these joints independent";
}

}  // namespace espalier::detail
