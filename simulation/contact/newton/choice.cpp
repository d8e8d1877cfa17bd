#include "simulation/contact/newton/choice.hpp"

#include <algorithm>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier::contact {

std::string_view to_string(NewtonWay way) {
  switch (way) {
    case NewtonWay::cheapest:
      return "cheapest";
    case NewtonWay::dense:
      return "dense";
    case NewtonWay::twist_space:
      return "twist-space";
    case NewtonWay::tree:
      return "tree";
    case NewtonWay::rate_space:
      return "rate-space";
  }
  return "unknown";
}

namespace {

constexpr const char* two_ways = "two moving links may touch each other";

/// What keeps the recursion from a model.
std::string tree_obstacle(const Plan& plan) {
  const Model& model = plan.model();
  if (plan.forks()) return two_ways;
  if (!model.bodies_with_equations().empty()) {
    return "joint '" +
           std::string(model.joints()[model.body(model.bodies_with_equations()[0]).joint].name) +
           "' brings equations of its own";
  }
  for (const Cluster& c : model.clusters()) {
    const int support = c.supports.empty() ? 0 : c.supports.front();
    bool one = c.supports.size() <= 1;
    for (int k = 0; k < c.rotors; ++k) {
      const int parent = model.rotors()[c.rotor + k].parent;
      one = one && (parent == support || parent >= c.first);
    }
    if (!one) return "cluster '" + c.name + "' hangs on several bodies";
  }
  return "";
}

/// Of folding the rows into twists and back.
double folding_cost(const Plan& plan) {
  const double links = plan.links_of_contact();
  return plan.points() * links * (40.0 + 36.0 + links * 162.0) + 100.0 * plan.held().size();
}

double dense_cost(const Plan& plan) {
  const double m = 3.0 * plan.points() + plan.scalar_rows(plan.points());
  return m * m * m / 3.0 + 3.0 * m * m;
}

double twist_cost(const Plan& plan) {
  const double r = 6.0 * plan.sites().size() + plan.joint_rows();
  double depth = 0.0;
  for (const Plan::Site& site : plan.sites()) {
    depth = std::max(depth, static_cast<double>(site.support.size()));
  }
  const double a_step = r * depth * (depth / 2.0 + r / 2.0);
  return folding_cost(plan) + r * r * r / 3.0 + 7.0 * r * r + a_step / 2.0;
}

double tree_cost(const Plan& plan) {
  const Model& model = plan.model();
  double a_round = 0.0, a_step = 0.0;
  for (const Cluster& c : model.clusters()) {
    const double n = c.nv;
    // Bodies into rates, rates eliminated with seven columns, and what is left into the parent.
    const double all = c.count * n * (78.0 + 6.0 * n) + n * n * n / 3.0 + 7.0 * n * n + 42.0 * n;
    a_step += all + c.count * 60.0, a_round += all + c.count * 36.0;
  }
  return folding_cost(plan) + a_round + a_step / 2.0;
}

double rate_cost(const Plan& plan) {
  const auto fold = [](double d, double rows) { return rows * d * d + (rows * rows + 3.0) * d; };
  double sum = 0.0;
  for (const Plan::Pair& pair : plan.pairs()) {
    sum += pair.count * fold(static_cast<double>(pair.support.size()), 3.0);
  }
  for (const Plan::HeldRow& held : plan.held()) {
    sum += fold(static_cast<double>(plan.sites()[held.site].support.size()), 1.0);
  }
  for (int k = 0; k < plan.model().nv(); ++k) {
    const double d = plan.forks() ? k : static_cast<double>(plan.ancestors(k).size());
    sum += d * d + 4.0 * d;
  }
  return sum;
}

}  // namespace

std::string newton_obstacle(const Plan& plan, NewtonWay way) {
  if (way == NewtonWay::dense || way == NewtonWay::cheapest) return "";
  if (plan.turning_rows() > 0) return "contacts have torsional or rolling friction";
  for (const Plan::HeldRow& held : plan.held()) {
    if (held.site < 0) return "the ground itself is held";
  }
  return way == NewtonWay::tree ? tree_obstacle(plan) : "";
}

double newton_cost(const Plan& plan, NewtonWay way) {
  switch (way) {
    case NewtonWay::twist_space:
      return twist_cost(plan);
    case NewtonWay::tree:
      return tree_cost(plan);
    case NewtonWay::rate_space:
      return rate_cost(plan);
    default:
      return dense_cost(plan);
  }
}

NewtonWay choose_newton_way(const Plan& plan, NewtonWay asked) {
  if (asked != NewtonWay::cheapest) {
    const std::string obstacle = newton_obstacle(plan, asked);
    if (!obstacle.empty()) {
      throw Unsupported("contact: way of the Newton system is '" + std::string(to_string(asked)) +
                        "', expected another one: " + obstacle + " (take 'cheapest')");
    }
    return asked;
  }
  NewtonWay best = NewtonWay::dense;
  for (const NewtonWay way : {NewtonWay::twist_space, NewtonWay::tree, NewtonWay::rate_space}) {
    if (!newton_obstacle(plan, way).empty()) continue;
    if (newton_cost(plan, way) < newton_cost(plan, best)) best = way;
  }
  return best;
}

}  // namespace espalier::contact
