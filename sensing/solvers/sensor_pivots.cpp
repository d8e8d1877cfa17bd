#include "sensing/solvers/sensor_pivots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/sensing/sensor_verdict.hpp"

namespace espalier {

SparsePattern pattern_of(const SensorSystem& system) {
  return {system.column_start(), system.row_index()};
}

std::vector<PivotStep> safe_pivots(const SensorSystem& system) {
  const Model& model = system.model();
  std::vector<PivotStep> steps;
  // Ones and articulated inertias are good however small beside their columns they are, as long as
  // rounding of the others does not drown them.
  constexpr double least = 1e-3;
  const auto one = [&](int row, int column) { steps.push_back({{row}, {column}, least}); };
  const auto measured = [&](int unknown) {
    const int row = system.direct_row(unknown);
    if (row >= 0) one(row, unknown);
    return row >= 0;
  };

  std::vector<int> coupling(model.spanning_nv(), -1);  // of a dependent rate
  const int multipliers = system.unknowns() - system.multipliers();
  for (int m = 0; m < multipliers; ++m) {
    if (system.coupled_rate(m) >= 0) coupling[system.coupled_rate(m)] = m;
  }
  for (int i = model.body_count(); i >= 1; --i) {
    const Body& body = model.body(i);
    for (int k = 0; k < 6; ++k) one(system.force_row(i) + k, system.joint_wrench(i) + k);
    for (int k = 0; k < 6; ++k) one(system.acceleration_row(i) + k, system.acceleration(i) + k);
    PivotStep rest;
    for (int k = 0; k < 6; ++k) {
      rest.rows.insert(rest.rows.end(), {system.force_row(i) + k, system.acceleration_row(i) + k});
      rest.columns.insert(rest.columns.end(),
                          {system.acceleration(i) + k, system.joint_wrench(i) + k});
    }
    for (int r = body.v; r < body.v + body.nv; ++r) {
      const int torque = system.torque(r);
      const bool torque_known = torque < 0 || measured(torque);
      measured(system.qdd(r));
      if (coupling[r] >= 0 && torque_known) {
        one(system.torque_row(r), system.multipliers() + coupling[r]);
        one(system.constraint_row(coupling[r]), system.qdd(r));
      } else if (torque_known) {
        one(system.torque_row(r), system.qdd(r));
      } else {
        one(system.torque_row(r), torque);
      }
    }
    rest.threshold = least;
    steps.push_back(std::move(rest));
    const Cluster& cluster = model.clusters()[body.cluster];
    const auto [first, count] = system.multipliers_of(body.cluster);
    if (cluster.first != i || count == 0) continue;
    PivotStep loops;
    for (int m = first; m < first + count; ++m) {
      loops.rows.push_back(system.constraint_row(m));
      loops.columns.push_back(system.multipliers() + m);
    }
    steps.push_back(std::move(loops));
  }
  return steps;
}

PivotOrder order_for(SensorSystem& system, const std::string& symbolic) {
  const SparsePattern pattern = pattern_of(system);
  if (!symbolic.empty()) return PivotOrder::parse(symbolic, system.fingerprint(), pattern);
  std::vector<std::vector<double>> samples;
  const std::vector<double> rest(system.model().nv(), 0.0);
  for (const unsigned long long seed : {21, 22, 23, 24}) {
    system.update(system.sample_position(seed).data(), rest.data(), nullptr, {0, 0, 0}, nullptr);
    samples.push_back(system.values());
  }
  PivotOrder order = find_pivots(pattern, samples, safe_pivots(system));
  if (order.size() < pattern.size()) {
    throw Unsupported("sensors of '" + system.model().name() +
                      "': no order of pivots is good at all sampled positions, expected sensors "
                      "that determine the dynamics better (algorithms umfpack and eigen-sparse-lu "
                      "choose pivots anew at each position)");
  }
  return order;
}

void expect_square(const char* algorithm, const SensorSystem& system) {
  if (system.square()) return;
  throw Unsupported(std::string(algorithm) + ": number of equations is " +
                    std::to_string(system.rows()) + ", expected as many as unknowns, " +
                    std::to_string(system.unknowns()) + " (algorithm map takes redundant sensors)");
}

SensorDynamics<double>::Operations operations_of(const FixedLu& lu) {
  return {lu.factor_multiplications() + lu.solve_multiplications(),
          lu.factor_additions() + lu.solve_additions(), lu.divisions(), lu.entries()};
}

void expect_well_posed(SensorSystem& system) {
  if (system.unknowns() == 0) return;  // nothing moves
  SensorVerdictOptions options;
  options.special_positions = false;
  const SensorVerdict verdict = judge(system, options);
  if (verdict.well_posed()) return;
  throw SingularMechanism("sensors of '" + system.model().name() +
                          "': what they say of the dynamics is " + verdict.text() +
                          "expected sensors that determine everything");
}

void give_up(const SensorSystem& system, const FixedSolver* solver, double* d) {
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(system.values().begin(), system.values().end(), finite) ||
      !std::all_of(system.right_side().begin(), system.right_side().end(), finite)) {
    std::fill(d, d + system.unknowns(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  std::string at;
  if (solver != nullptr && solver->weak_pivot() >= 0) {
    const int unknown = solver->lu().order().columns[solver->weak_pivot()];
    if (unknown < system.unknowns())
      at = " (near " + text::quoted(system.unknown_names()[unknown]) + ")";
  }
  throw SingularMechanism("sensor dynamics of '" + system.model().name() +
                          "': the matrix of this position is singular" + at +
                          ", expected a position where the sensors determine the dynamics (judge() "
                          "names what no sensor sees)");
}

}  // namespace espalier
