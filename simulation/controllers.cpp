#include "espalier/simulation/controllers.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/plugins/registry.hpp"

namespace espalier {

namespace {

using text::number;

const Joint& joint_named(const std::string& who, const Model& model, const std::string& name) {
  if (const Joint* joint = model.find_joint(name)) return *joint;
  std::vector<std::string> known;
  for (const Joint& joint : model.joints()) known.push_back(joint.name);
  throw UnknownName(who + ": joint '" + name + "' is unknown or does not move" +
                    suggest(name, known));
}

void expect_finite(const std::string& who, const std::string& what, double x) {
  if (std::isfinite(x)) return;
  throw InvalidModel(who + ": " + what + " is " + number(x) + ", expected a finite number");
}

/// The spanning rate that a column name means: a joint of one rate, or "joint[k]".
int rate_named(const std::string& who, const Model& model, const std::string& name) {
  std::vector<std::string> known;
  for (const Joint& joint : model.joints()) {
    for (int k = 0; k < joint.nv; ++k) {
      known.push_back(joint.nv == 1 ? joint.name : joint.name + "[" + std::to_string(k) + "]");
      if (known.back() == name) return joint.v + k;
    }
  }
  throw UnknownName(who + ": joint '" + name + "' is unknown or does not move" +
                    suggest(name, known));
}

}  // namespace

ConstantForces::ConstantForces(
    const Model& model, const std::vector<std::pair<std::string, std::vector<double>>>& forces) {
  const std::string who = "constant forces";
  for (const auto& [name, values] : forces) {
    const Joint& joint = joint_named(who, model, name);
    expect_size(who.c_str(), ("force on joint '" + name + "'").c_str(),
                static_cast<long>(values.size()), joint.nv);
    for (int k = 0; k < joint.nv; ++k) {
      expect_finite(who, "force on joint '" + name + "'", values[k]);
      forces_.emplace_back(joint.v + k, values[k]);
    }
  }
}

void ConstantForces::drive(double /*t*/, const double* /*q*/, const double* /*qd*/,
                           double* forces) {
  for (const auto& [rate, force] : forces_) forces[rate] += force;
}

PdControl::PdControl(const Model& model, const std::vector<std::pair<std::string, Gains>>& joints) {
  const std::string who = "pd control";
  for (const auto& [name, gains] : joints) {
    const Joint& joint = joint_named(who, model, name);
    if (joint.nq != 1 || joint.nv != 1) {
      throw Unsupported(who + ": joint '" + name + "' has " + std::to_string(joint.nq) +
                        " positions and " + std::to_string(joint.nv) +
                        " rates, expected a joint of one each");
    }
    for (const auto& [what, x] : {std::pair{"kp", gains.kp}, std::pair{"kd", gains.kd}}) {
      if (x >= 0.0 && std::isfinite(x)) continue;
      throw InvalidModel(who + ": " + what + " of joint '" + name + "' is " + number(x) +
                         ", expected a finite number not below zero");
    }
    expect_finite(who, "target of joint '" + name + "'", gains.target);
    expect_finite(who, "target_rate of joint '" + name + "'", gains.target_rate);
    axes_.push_back({joint.q, joint.v, gains});
  }
}

void PdControl::drive(double /*t*/, const double* q, const double* qd, double* forces) {
  for (const Axis& axis : axes_) {
    const Gains& g = axis.gains;
    forces[axis.v] += g.kp * (g.target - q[axis.q]) + g.kd * (g.target_rate - qd[axis.v]);
  }
}

ForceTable::ForceTable(const Model& model, const std::vector<std::string>& joints,
                       std::vector<double> times, std::vector<std::vector<double>> rows)
    : times_(std::move(times)), rows_(std::move(rows)) {
  const std::string who = "force table";
  for (const std::string& name : joints) {
    const int rate = rate_named(who, model, name);
    if (std::find(rates_.begin(), rates_.end(), rate) != rates_.end()) {
      throw DuplicateName(who + ": column '" + name + "' is given twice, expected once");
    }
    rates_.push_back(rate);
  }
  if (times_.empty()) throw InvalidModel(who + ": is empty, expected at least one row");
  expect_size(who.c_str(), "rows", static_cast<long>(rows_.size()),
              static_cast<long>(times_.size()));
  for (std::size_t i = 0; i < times_.size(); ++i) {
    expect_finite(who, "time of row " + std::to_string(i + 1), times_[i]);
    if (i > 0 && !(times_[i] > times_[i - 1])) {
      throw InvalidModel(who + ": time of row " + std::to_string(i + 1) + " is " +
                         number(times_[i]) + ", expected more than " + number(times_[i - 1]) +
                         " (times increase)");
    }
    expect_size(who.c_str(), ("row " + std::to_string(i + 1)).c_str(),
                static_cast<long>(rows_[i].size()), static_cast<long>(joints.size()));
    for (const double x : rows_[i]) expect_finite(who, "force in row " + std::to_string(i + 1), x);
  }
}

void ForceTable::drive(double t, const double* /*q*/, const double* /*qd*/, double* forces) {
  const auto after = std::upper_bound(times_.begin(), times_.end(), t);
  const std::size_t next = std::min<std::size_t>(after - times_.begin(), times_.size() - 1);
  const std::size_t last = after == times_.begin() ? 0 : after - times_.begin() - 1;
  const double s = next == last ? 0.0 : (t - times_[last]) / (times_[next] - times_[last]);
  for (std::size_t k = 0; k < rates_.size(); ++k) {
    forces[rates_[k]] += (1.0 - s) * rows_[last][k] + s * rows_[next][k];
  }
}

double ControlStep::position(std::string_view name) const { return q[joint(name).q]; }
double ControlStep::rate(std::string_view name) const { return qd[joint(name).v]; }
double& ControlStep::force(std::string_view name) const { return forces[joint(name).v]; }

const Joint& ControlStep::joint(std::string_view name) const {
  const Joint& found = model_.joint(name);
  if (found.nq == 1 && found.nv == 1) return found;
  throw Unsupported("control step: number of rates of joint '" + found.name + "' is " +
                    std::to_string(found.nv) + ", expected 1 (q, qd and forces hold all)");
}

ControlFunction::ControlFunction(ModelPtr model, Function function)
    : model_(std::move(model)), function_(std::move(function)) {
  if (!function_) throw InvalidModel("control function: is empty, expected a function");
}

void ControlFunction::drive(double t, const double* q, const double* qd, double* forces) {
  const std::size_t nq = model_->nq(), n = model_->spanning_nv();
  function_(ControlStep(*model_, t, {q, nq}, {qd, n}, {forces, n}));
}

std::vector<std::unique_ptr<Controller>> controlled_by(ModelPtr model,
                                                       ControlFunction::Function function) {
  std::vector<std::unique_ptr<Controller>> list;
  list.push_back(std::make_unique<ControlFunction>(std::move(model), std::move(function)));
  return list;
}

}  // namespace espalier
