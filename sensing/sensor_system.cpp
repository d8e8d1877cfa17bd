#include "espalier/sensing/sensor_system.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "espalier/kernel/linear_algebra/decompositions.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/kernel/uniform.hpp"

// What a robot's sensors make of its equations once and for all: unknowns, rows and pattern.
// update() is in sensor_equations.cpp, sensors are read in sensor_readings.cpp.

namespace espalier {

namespace {

constexpr const char* motion_names[] = {"wx", "wy", "wz", "ax", "ay", "az"};
constexpr const char* force_names[] = {"mx", "my", "mz", "fx", "fy", "fz"};

/// "joint", or "joint[k]" for one rate of several.
std::string rate_name(const Model& model, int rate) {
  const Joint& joint = model.joint_of_rate(rate);
  return joint.nv == 1 ? joint.name : joint.name + "[" + std::to_string(rate - joint.v) + "]";
}

}  // namespace

SensorSystem::SensorSystem(const Model& model, const std::vector<Sensor>& sensors)
    : model_(model),
      motion_(model),
      bodies_(model.body_count()),
      v_(model.nv(), 0.0),
      velocity_(model.body_count() + 1, Motion<double>::zero()),
      gravity_on_(model.body_count() + 1),
      from_output_(model.body_count() + 1, Transform<double>::identity()) {
  if (sensors.empty() && bodies_ > 0) {
    throw SizeMismatch("sensors of '" + model.name() +
                       "': number of sensors is 0, expected at least one (joint torques, joint "
                       "accelerations, external wrenches, ...)");
  }
  std::size_t largest = 0;
  for (const int i : model.bodies_with_equations()) {
    largest = std::max<std::size_t>(largest, 6 + model.body(i).nv);
  }
  own_M_.resize(largest * largest);
  own_h_.resize(largest);
  declare(sensors);
  choose_constraint_rows();
  number_unknowns();
  tell_in_link_axes();
  direct_row_.assign(unknowns(), -1);
  for (const Sensor& sensor : sensors) read(sensor);
  record_pattern();
  write_fingerprint();
}

/// Which joints are driven and which links are touched.
void SensorSystem::declare(const std::vector<Sensor>& sensors) {
  driven_.assign(model_.spanning_nv(), false);
  for (const int rate : model_.independent_rates()) {
    const Body& body = model_.body(model_.joint_of_rate(rate).body);
    driven_[rate] = model_.runs()[body.run].subspace != SubspaceKind::free;
  }
  for (const Sensor& s : sensors) {
    if (s.kind == Sensor::Kind::torque || s.kind == Sensor::Kind::motor) {
      for (const int rate : rates_of(s)) driven_[rate] = true;
    } else if (s.kind == Sensor::Kind::wrench || s.kind == Sensor::Kind::contact) {
      const Link& link = link_of(s);
      if (link.body == 0) {
        throw InvalidModel("sensor " + text::quoted(s.label()) + ": link " + text::quoted(s.link) +
                           " is welded to the ground, expected one that moves (nothing in the "
                           "equations depends on what acts on the ground)");
      }
      const auto known = std::find_if(contacts_.begin(), contacts_.end(),
                                      [&](const Contact& c) { return c.link == link.name; });
      if (known == contacts_.end()) contacts_.push_back({link.name, link.body, link.X, 0});
    }
  }
}

/// As many constraint rows as a cluster has dependent rates.
void SensorSystem::choose_constraint_rows() {
  int next = 0;
  for (std::size_t k = 0; k < model_.clusters().size(); ++k) {
    const Cluster& c = model_.clusters()[k];
    const int first = next;
    if (c.constrained && c.constraint == nullptr) {
      for (int i = 0; i < c.rows(); ++i) {
        const auto rates = model_.independent_rates();
        if (std::find(rates.begin(), rates.end(), c.rate(i)) != rates.end()) continue;
        coupled_rate_.push_back(c.rate(i));
        multiplier_names_.push_back("constraint of " + rate_name(model_, c.rate(i)));
        ++next;
      }
    } else if (c.constraint != nullptr) {
      add_constraint(static_cast<int>(k), next);
    }
    coupled_rate_.resize(next, -1);
    multipliers_of_.emplace_back(first, next - first);
  }
}

/// A cluster whose constraint depends on the position. @param next  multiplier
void SensorSystem::add_constraint(int cluster, int& next) {
  const Cluster& c = model_.clusters()[cluster];
  c.constraint->allocate(c, work_);
  const std::vector<bool> needed = needed_rows(c);
  ClusterRows rows;
  rows.cluster = cluster;
  rows.first_loop = static_cast<int>(loops_.size());
  /// Row number k of a constraint.
  const auto add_row = [&](const std::string& name, std::size_t k) {
    const bool kept = needed[rows.multiplier.size()];
    if (kept) multiplier_names_.push_back("constraint of " + name + "[" + std::to_string(k) + "]");
    rows.multiplier.push_back(kept ? next++ : -1);
  };
  const auto name_columns = [&](const auto& columns) {
    const std::size_t start = rows.named.size();
    rows.named.resize(start + c.rows(), false);
    for (const int column : columns) rows.named[start + column] = true;
  };
  for (const auto& equation : c.constraint->linear) {
    std::vector<int> columns;
    for (const auto& term : equation.terms) columns.push_back(term.first);
    name_columns(columns);
    add_row(equation.name, 0);
  }
  for (const auto& use : c.constraint->laws) {
    for (std::size_t e = 0; e < use.kept.size(); ++e) {
      if (!use.kept[e]) continue;
      name_columns(use.columns);
      add_row(use.name, e);
    }
  }
  for (const auto& loop : c.constraint->loops) {
    Loop l;
    l.name = loop.name;
    for (std::size_t k = 0; k < loop.rows.size(); ++k) {
      add_row(loop.name, k);
      l.multiplier.push_back(rows.multiplier.back());
    }
    l.unit.assign(loop.rows.size(), Force<double>::zero());
    loops_.push_back(std::move(l));
  }
  clusters_.push_back(std::move(rows));
}

/// The rows of a cluster's K that determine its dependent rates best at a sampled position.
std::vector<bool> SensorSystem::needed_rows(const Cluster& c) const {
  const ClusterConstraint& constraint = *c.constraint;
  const std::size_t m = constraint.rows(), r = constraint.dependent.size();
  std::vector<bool> needed(m, true);
  if (m <= r) return needed;
  const std::vector<double> q = sample_position(1);
  TreeKinematics<double> joints(model_);
  joints.update(model_, q.data(), nullptr);
  ConstraintWorkspace<double> w;
  constraint.allocate(c, w);
  constraint.jacobian(model_, c, {q.data(), nullptr, joints.X.data(), joints.S.data(), nullptr}, w);
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(constraint.columns, m);
  for (std::size_t i = 0; i < m; ++i) {
    constraint.each_in_row(w, static_cast<int>(i),
                           [&](int column, double x) { all(column, i) = x; });
  }
  const Eigen::MatrixXd transposed = all(constraint.dependent, Eigen::all);
  const std::vector<int> order = detail::pivot_order(transposed);
  for (std::size_t i = r; i < m; ++i) needed[order[i]] = false;
  return needed;
}

void SensorSystem::number_unknowns() {
  const auto six = [&](const std::string& of, const char* const(&components)[6]) {
    for (const char* component : components) {
      unknown_names_.push_back(of + "[" + component + "]");
    }
  };
  for (int i = 1; i <= bodies_; ++i) six("acceleration of " + model_.body_names()[i], motion_names);
  for (int i = 1; i <= bodies_; ++i) {
    six("joint wrench of " + model_.joints()[model_.body(i).joint].name, force_names);
  }
  for (int r = 0; r < model_.spanning_nv(); ++r) {
    unknown_names_.push_back("acceleration of " + rate_name(model_, r));
  }
  torque_.assign(model_.spanning_nv(), -1);
  for (int r = 0; r < model_.spanning_nv(); ++r) {
    if (!driven_[r]) continue;
    torque_[r] = unknowns();
    unknown_names_.push_back("torque of " + rate_name(model_, r));
  }
  for (Contact& c : contacts_) {
    c.first = unknowns();
    six("wrench on " + c.link, force_names);
  }
  first_multiplier_ = unknowns();
  unknown_names_.insert(unknown_names_.end(), multiplier_names_.begin(), multiplier_names_.end());
  model_rows_ = 12 * bodies_ + model_.spanning_nv() + unknowns() - first_multiplier_;
}

void SensorSystem::tell_in_link_axes() {
  told_.resize(unknowns());
  for (int j = 0; j < unknowns(); ++j) told_[j].first = j;
  to_link_.assign(bodies_ + 1, Transform<double>::identity());
  for (int i = 1; i <= bodies_; ++i) {
    to_link_[i] = model_.link(model_.body_names()[i]).X;
    for (int k = 0; k < 6; ++k) {
      Told &a = told_[acceleration(i) + k], &f = told_[joint_wrench(i) + k];
      a.first = acceleration(i), f.first = joint_wrench(i);
      a.count = f.count = 6;
      for (int c = 0; c < 6; ++c) {
        Motion<double> motion = Motion<double>::zero();
        Force<double> force = Force<double>::zero();
        motion[c] = force[c] = 1.0;
        a.row[c] = (to_link_[i] * motion)[k];
        f.row[c] = to_link_[i].force_to(force)[k];
      }
    }
  }
}

std::vector<double> SensorSystem::sample_position(unsigned long long seed) const {
  std::vector<double> start(model_.nq()), q(model_.nq());
  if (!model_.has_variable_constraints()) {
    model_.random(seed, q.data());
    model_.apply_couplings(q.data());
    return q;
  }
  UniformNumbers uniform(seed);
  model_.neutral(start.data());
  std::vector<double> step(model_.spanning_nv(), 0.0);
  for (double size = 1.0; size > 0.02; size *= 0.7) {
    for (const int rate : model_.independent_rates()) step[rate] = size * uniform();
    model_.integrate(start.data(), step.data(), q.data());
    model_.apply_couplings(q.data());
    const Closure closure = close(model_, start.data(), q.data());
    if (closure.verdict == Closure::Verdict::closed && closure.margin > 1e-3) return q;
  }
  return start;
}

/// The worst case: entries that are zero at random positions are zero at all of them, since
/// positions enter by analytic functions; laws, which may be anything, have all that they name.
void SensorSystem::record_pattern() {
  std::vector<Recorded> recorded;
  recording_ = &recorded;
  rhs_.assign(rows(), 0.0);
  offset_.assign(sensor_rows(), 0.0);
  std::vector<double> rest(model_.nv(), 0.0), y(measurements(), 0.0);
  for (const unsigned long long seed : {11, 12, 13}) {
    // Open loops will do: they are as general as positions can be.
    UniformNumbers uniform(seed);
    std::vector<double> q(model_.nq()), step(model_.spanning_nv());
    for (double& x : step) x = uniform();
    model_.neutral(q.data());
    model_.integrate(q.data(), step.data(), q.data());
    update(q.data(), rest.data(), y.data(), {0, 0, 0}, nullptr);
  }
  recording_ = nullptr;

  // Beside the largest of its row and of its column, an entry of 1e-15 is what rounding left of a
  // zero. Rows alone do not tell: one that has an inertia of 1e30 has the ones of wrenches, too.
  std::vector<double> of_row(rows(), 0.0), of_column(unknowns(), 0.0);
  for (const Recorded& r : recorded) {
    of_row[r.row] = std::max(of_row[r.row], r.largest);
    of_column[r.column] = std::max(of_column[r.column], r.largest);
    largest_ = std::max(largest_, r.largest);
  }
  std::vector<std::pair<int, int>> entries;  // column, row
  for (const Recorded& r : recorded) {
    const double largest = std::min(of_row[r.row], of_column[r.column]);
    if (!(r.largest <= 1e-15 * largest)) entries.emplace_back(r.column, r.row);
  }
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  column_start_.assign(unknowns() + 1, 0);
  for (const auto& [column, row] : entries) {
    ++column_start_[column + 1];
    row_index_.push_back(row);
  }
  for (int j = 0; j < unknowns(); ++j) column_start_[j + 1] += column_start_[j];
  for (const Recorded& r : recorded) {
    const std::pair<int, int> entry{r.column, r.row};
    const auto at = std::lower_bound(entries.begin(), entries.end(), entry);
    slot_.push_back(at != entries.end() && *at == entry ? static_cast<int>(at - entries.begin())
                                                        : -1);
  }
  values_.assign(row_index_.size(), 0.0);
}

void SensorSystem::write_fingerprint() {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto add = [&](std::string_view bytes) {
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    hash = (hash ^ 0xffu) * 1099511628211u;
  };
  for (const std::string& name : unknown_names_) add(name);
  for (const std::string& name : measurement_names_) add(name);
  for (const int x : column_start_) add(std::to_string(x));
  for (const int x : row_index_) add(std::to_string(x));
  char text[40];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  fingerprint_ = model_.name() + ", " + std::to_string(rows()) + " x " +
                 std::to_string(unknowns()) + ", " + text;
}

}  // namespace espalier
