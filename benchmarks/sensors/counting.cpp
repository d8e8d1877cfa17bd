#include "benchmarks/sensors/counting.hpp"

#include <cmath>
#include <stdexcept>

#include "benchmarks/sensors/matrix_form.hpp"
#include "charts/format.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/uniform.hpp"
#include "sensing/solvers/fixed_lu.hpp"
#include "sensing/solvers/sensor_pivots.hpp"

namespace espalier::bench {

namespace {

using charts::format;

std::string link_name(int i) { return "link_" + std::to_string(i); }

/// A chain of revolute joints about z as URDF. @param floating  its first link is the root
std::string chain(int bodies, Geometry geometry, bool floating) {
  UniformNumbers uniform(11);
  std::string urdf = "<robot name=\"chain\">\n";
  if (!floating) urdf += "<link name=\"link_0\"/>\n";
  for (int i = 1; i <= bodies; ++i) {
    const double offset = 0.02 * uniform();
    urdf += "<link name=\"" + link_name(i) + "\"><inertial>" +
            format("<origin xyz=\"%.6f 0.02 0.1\"/><mass value=\"1.5\"/>", 0.03 + offset) +
            "<inertia ixx=\"0.02\" iyy=\"0.025\" izz=\"0.03\" ixy=\"0.002\" ixz=\"-0.001\" "
            "iyz=\"0.0015\"/></inertial></link>\n";
    if (floating && i == 1) continue;
    const double roll = 1.0 + 0.5 * uniform(), pitch = uniform(), yaw = uniform();
    const double a = 0.2 + 0.1 * uniform(), d = 0.1 * uniform();
    // Denavit and Hartenberg (modified): along and about x, then along and about z.
    const std::string origin =
        geometry == Geometry::denavit_hartenberg
            ? format("xyz=\"%.17g %.17g %.17g\" rpy=\"%.17g 0 0\"", a, -d * std::sin(roll),
                     d * std::cos(roll), roll)
            : format("xyz=\"%.9f %.9f 0.2\" rpy=\"%.9f %.9f %.9f\"", a, d, roll, pitch, yaw);
    urdf += "<joint name=\"joint_" + std::to_string(i) + "\" type=\"continuous\"><parent link=\"" +
            link_name(i - 1) + "\"/><child link=\"" + link_name(i) + "\"/><origin " + origin +
            "/><axis xyz=\"0 0 1\"/></joint>\n";
  }
  return urdf + "</robot>\n";
}

ModelPtr compile(const Host& host, int bodies, Geometry geometry, bool floating) {
  CompileOptions options;
  if (floating) options.root = CompileOptions::Root::floating;
  return host.compile(
      host.registry().format_for("chain.urdf").read(chain(bodies, geometry, floating), "chain"),
      options);
}

LuCount counts(const SparsePattern& pattern, const PivotOrder& order) {
  if (order.size() != pattern.size()) {
    throw std::runtime_error("no order of pivots is good at all samples, expected one");
  }
  const FixedLu lu(pattern, order);
  return {lu.factor_multiplications() + lu.solve_multiplications(),
          lu.factor_additions() + lu.solve_additions()};
}

/// f_i on rows (f_i), a_i on rows (a_i), qdd_i on row (tau_i), from the tip to the base, after what
/// is measured, torques first: all in one block.
PivotOrder plain_safe_order(const SensorSystem& system) {
  PivotOrder order;
  const auto take = [&](int row, int column) {
    order.rows.push_back(row);
    order.columns.push_back(column);
  };
  const Model& model = system.model();
  int row = system.model_rows();
  for (int rate = 0; rate < model.nv(); ++rate) take(row++, system.torque(rate));
  for (const SensorSystem::Contact& contact : system.contacts()) {
    for (int k = 0; k < 6; ++k) take(row++, contact.first + k);
  }
  for (int i = model.body_count(); i >= 1; --i) {
    for (int k = 0; k < 6; ++k) take(system.force_row(i) + k, system.joint_wrench(i) + k);
    for (int k = 0; k < 6; ++k) take(system.acceleration_row(i) + k, system.acceleration(i) + k);
    take(system.torque_row(model.body(i).v), system.qdd(model.body(i).v));
  }
  order.block_start = {0, order.size()};
  order.row_exponent.assign(order.size(), 0);
  order.column_exponent.assign(order.size(), 0);
  return order;
}

/// Pivots of which nothing is known beforehand.
PivotOrder threshold_order(SensorSystem& system) {
  std::vector<std::vector<double>> samples;
  const std::vector<double> rest(system.model().nv(), 0.0);
  for (const unsigned long long seed : {21, 22, 23, 24}) {
    system.update(system.sample_position(seed).data(), rest.data(), nullptr, {0, 0, 0}, nullptr);
    samples.push_back(system.values());
  }
  return find_pivots(pattern_of(system), samples, {});
}

OperationCounts count(const Host& host, const ModelPtr& model, const std::string& problem,
                      const std::string& name) {
  const auto algorithm = host.registry().create(host.registry().find_algorithm(problem, name),
                                                Setup{model}, ScalarTraits<Count>::index);
  Inputs in;
  in.q.resize(model->nq());
  model->random(1, in.q.data());
  in.v.assign(model->nv(), 0.5);
  in.tau.assign(model->nv(), 1.0);
  in.vdot.assign(model->nv(), 1.0);
  Results out;
  fold_constants() = true;
  operation_counts() = {};
  algorithm->solve(in, out);
  fold_constants() = false;
  return operation_counts();
}

void add_measured_wrenches(const Model& model, std::vector<Sensor>& sensors, int first, int last) {
  for (int i = first; i <= last; ++i) {
    sensors.push_back({.kind = Sensor::Kind::wrench, .link = model.body_names()[i]});
  }
}

}  // namespace

ChainCounts count_chain(const Host& host, int bodies, Geometry geometry) {
  const ModelPtr model = compile(host, bodies, geometry, false);
  ChainCounts out;
  out.bodies = bodies;
  std::vector<Sensor> torques = forward_sensors(*model), accelerations = inverse_sensors(*model);
  add_measured_wrenches(*model, torques, 1, bodies);
  add_measured_wrenches(*model, accelerations, 1, bodies);
  SensorSystem forward(*model, torques), inverse(*model, accelerations);
  const SparsePattern pattern = pattern_of(forward);
  out.ours = counts(pattern, order_for(forward, {}));
  out.safe = counts(pattern, plain_safe_order(forward));
  out.threshold = counts(pattern, threshold_order(forward));
  out.matrix_form = count_matrix_form(*model);
  out.inverse = counts(pattern_of(inverse), order_for(inverse, {}));
  out.aba = count(host, model, "forward-dynamics", "aba");
  out.rnea = count(host, model, "inverse-dynamics", "rnea");
  return out;
}

StandingCounts count_standing(const Host& host, int bodies, Geometry geometry) {
  const ModelPtr model = compile(host, bodies, geometry, true);
  StandingCounts out;
  out.bodies = bodies;
  // Four joints, spread over the chain, have no encoder.
  std::vector<Sensor> sensors;
  int joint = 0;
  for (const Coordinate& c : model->coordinates()) {
    const bool known = joint == 0 || 4 * joint / (bodies - 1) == 4 * (joint - 1) / (bodies - 1);
    if (known) sensors.push_back({.kind = Sensor::Kind::acceleration, .joint = c.joint});
    ++joint;
  }
  for (const int foot : {1, bodies}) {
    Sensor cell{.kind = Sensor::Kind::wrench, .link = model->body_names()[foot]};
    for (const char* c : {"mx", "my", "fx", "fy", "fz"}) cell.rows.push_back(Sensor::row_of(c));
    sensors.push_back(cell);
  }
  add_measured_wrenches(*model, sensors, 2, bodies - 1);
  SensorSystem system(*model, sensors);
  if (!system.square()) {
    throw std::runtime_error(
        format("standing chain: equations are %d, expected %d", system.rows(), system.unknowns()));
  }
  out.unknowns = system.unknowns();
  const double n = out.unknowns;
  out.dense = n * n * n / 3.0 + n * n;
  out.ours = counts(pattern_of(system), order_for(system, {}));
  out.threshold = counts(pattern_of(system), threshold_order(system));
  out.rnea = count(host, model, "inverse-dynamics", "rnea");
  return out;
}

}  // namespace espalier::bench
