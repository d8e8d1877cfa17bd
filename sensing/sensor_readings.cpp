#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/kernel/spatial/limits.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/sensing/sensor_system.hpp"

// Sensors as rows of the system.

namespace espalier {

namespace {

using Kind = Sensor::Kind;

constexpr const char* force_names[] = {"mx", "my", "mz", "fx", "fy", "fz"};
constexpr const char* motion_names[] = {"wx", "wy", "wz", "ax", "ay", "az"};

std::string who(const Sensor& s) {
  return "sensor " + text::quoted(s.label()) + " (" + std::string(to_string(s.kind)) + ")";
}

bool reads_joint(Kind kind) {
  return kind == Kind::acceleration || kind == Kind::torque || kind == Kind::motor ||
         kind == Kind::joint_wrench;
}
bool reads_rates(Kind kind) { return reads_joint(kind) && kind != Kind::joint_wrench; }

std::array<double, 6> six(const Motion<double>& m) {
  return {m.w.x, m.w.y, m.w.z, m.v.x, m.v.y, m.v.z};
}

/// Readings of a wrench of which a sensor sees rows. @param r  all but the rows
/// @param X  from the wrench's frame to the sensor's
template <class Reading>
std::vector<Reading> wrench_readings(Reading r, const Transform<double>& X,
                                     const std::vector<Sensor::Row>& rows) {
  std::vector<Reading> readings;
  r.count = 6;
  for (const Sensor::Row& row : rows) {
    const auto seen =
        six(X.inverse_times(Motion<double>{{row[0], row[1], row[2]}, {row[3], row[4], row[5]}}));
    std::copy(seen.begin(), seen.end(), r.row);
    readings.push_back(r);
  }
  return readings;
}

bool moved(const Pose& frame) {
  const Vec3<double>&x = frame.xyz, &r = frame.rpy;
  return dot(x, x) != 0.0 || dot(r, r) != 0.0;
}

/// Whether noise can have it: rows with zeros alone are exact, and no sum of the others is, as the
/// pivots of L D L^T say.
/// @param R  symmetric, without numbers below 0 on its diagonal
bool is_covariance(std::vector<double> R, int n) {
  std::vector<double> variance(n);
  for (int i = 0; i < n; ++i) variance[i] = R[i * n + i];
  for (int k = 0; k < n; ++k) {
    const double d = R[k * n + k];
    const bool exact = variance[k] == 0.0;
    if (!exact && !(d > n * std::numeric_limits<double>::epsilon() * variance[k])) return false;
    for (int i = 0; i < n; ++i) {
      if (exact && R[i * n + k] != 0.0) return false;
    }
    for (int i = k + 1; i < n && !exact; ++i) {
      const double l = R[i * n + k] / d;
      for (int j = k + 1; j < n; ++j) R[i * n + j] -= l * R[k * n + j];
    }
  }
  return true;
}

/// Which of six components a kind can measure.
void span_of(Kind kind, int& first, int& last) {
  first = kind == Kind::accelerometer ? 3 : 0;
  last = kind == Kind::angular_acceleration || kind == Kind::gyroscope ? 3 : 6;
}

/// The sensor's rows, all of its kind where it names none.
std::vector<Sensor::Row> rows_of(const Sensor& s) {
  int first = 0, last = 0;
  span_of(s.kind, first, last);
  std::vector<Sensor::Row> rows = s.rows;
  for (int i = first; i < last && s.rows.empty(); ++i) {
    rows.push_back({});
    rows.back()[i] = 1.0;
  }
  for (const Sensor::Row& row : rows) {
    bool any = false;
    for (int i = 0; i < 6; ++i) {
      any = any || row[i] != 0.0;
      if (std::isfinite(row[i]) && (row[i] == 0.0 || (i >= first && i < last))) continue;
      throw InvalidModel(who(s) + ": row holds " + text::number(row[i]) + " in place " +
                         std::to_string(i) + ", expected finite numbers, other than 0 in places " +
                         std::to_string(first) + " to " + std::to_string(last - 1) +
                         " only (angular components come first)");
    }
    if (!any) {
      throw InvalidModel(who(s) + ": a row is zero, expected one that measures something");
    }
  }
  return rows;
}

/// Names of rows: of components where they are unit rows, else numbers.
std::vector<std::string> components_of(const Sensor& s, const std::vector<Sensor::Row>& rows) {
  const bool wrench = s.kind == Kind::wrench || s.kind == Kind::joint_wrench;
  std::vector<std::string> names;
  for (const Sensor::Row& row : rows) {
    std::string name = std::to_string(names.size());
    for (int i = 0; i < 6; ++i) {
      Sensor::Row unit{};
      unit[i] = 1.0;
      if (row == unit) name = wrench ? force_names[i] : motion_names[i];
    }
    names.push_back(name);
  }
  return names;
}

}  // namespace

const Link& SensorSystem::link_of(const Sensor& s) const {
  if (s.link.empty()) {
    throw InvalidModel(who(s) + ": link is empty, expected the link that it stands on");
  }
  if (const Link* link = model_.find_link(s.link)) return *link;
  try {
    return model_.link(s.link);
  } catch (const UnknownName& error) {
    throw UnknownName(who(s) + ": " + error.what());
  }
}

/// Spanning rates of "joint" or "joint[k]".
std::vector<int> SensorSystem::rates_of(const Sensor& s) const {
  const Joint* joint = model_.find_joint(s.joint);
  if (joint != nullptr) {
    std::vector<int> rates(joint->nv);
    for (int k = 0; k < joint->nv; ++k) rates[k] = joint->v + k;
    return rates;
  }
  const std::size_t bracket = s.joint.rfind('[');
  if (bracket != std::string::npos && s.joint.back() == ']') {
    joint = model_.find_joint(s.joint.substr(0, bracket));
    const std::string inside = s.joint.substr(bracket + 1, s.joint.size() - bracket - 2);
    for (int k = 0; joint != nullptr && k < joint->nv; ++k) {
      if (inside == std::to_string(k)) return {joint->v + k};
    }
    if (joint != nullptr) {
      throw InvalidModel(who(s) + ": component of joint " + text::quoted(joint->name) + " is [" +
                         inside + "], expected one from [0] to [" + std::to_string(joint->nv - 1) +
                         "]");
    }
  }
  try {
    model_.joint(s.joint);
  } catch (const UnknownName& error) {
    throw UnknownName(who(s) + ": " + error.what() +
                      " (fixed joints are no joints of the model: their links are one body)");
  }
  return {};
}

void SensorSystem::read(const Sensor& s) {
  if (!reads_joint(s.kind) && !s.joint.empty()) {
    throw InvalidModel(who(s) + ": joint is " + text::quoted(s.joint) +
                       ", expected none (it stands on a link)");
  }
  if (reads_rates(s.kind) && (!s.link.empty() || !s.rows.empty() || moved(s.frame))) {
    throw InvalidModel(who(s) +
                       ": it has a link, rows or a frame, expected none of them (it speaks of a "
                       "joint's rates; \"joint[k]\" is one of several)");
  }
  if (!detail::near(s.frame.xyz) || !detail::finite(s.frame.rpy)) {
    throw InvalidModel(who(s) +
                       ": frame holds a number that is not finite, or a length beyond 1e8, "
                       "expected metres");
  }
  switch (s.kind) {
    case Kind::acceleration:
    case Kind::torque:
      return read_rates(s);
    case Kind::wrench:
      return read_contact(s);
    case Kind::joint_wrench:
      return read_joint_wrench(s);
    case Kind::accelerometer:
    case Kind::angular_acceleration:
      return read_motion(s);
    case Kind::gyroscope:
      return read_gyroscope(s);
    case Kind::motor:
    case Kind::contact:
      break;
  }
  if (!s.rows.empty() || !s.covariance.empty()) {
    throw InvalidModel(who(s) +
                       ": it has rows or a covariance, expected neither (it measures "
                       "nothing)");
  }
}

void SensorSystem::read_rates(const Sensor& s) {
  std::vector<Reading> readings;
  std::vector<std::string> components;
  for (const int rate : rates_of(s)) {
    Reading r;
    r.kind = s.kind;
    r.unknown = s.kind == Kind::torque ? torque_[rate] : qdd(rate);
    r.row[0] = 1.0;
    readings.push_back(r);
    components.push_back(std::to_string(components.size()));
  }
  add_rows(s, readings, components);
}

void SensorSystem::read_contact(const Sensor& s) {
  const Contact& contact = *std::find_if(contacts_.begin(), contacts_.end(),
                                         [&](const Contact& c) { return c.link == s.link; });
  const std::vector<Sensor::Row> rows = rows_of(s);
  Reading r;
  r.kind = s.kind;
  r.unknown = contact.first;
  add_rows(s, wrench_readings(r, s.frame.transform(), rows), components_of(s, rows));
}

void SensorSystem::read_motion(const Sensor& s) {
  const Link& link = link_of(s);
  if (link.body == 0) {
    throw InvalidModel(who(s) + ": link " + text::quoted(s.link) +
                       " is welded to the ground, expected one that moves");
  }
  const std::vector<Sensor::Row> rows = rows_of(s);
  std::vector<Reading> readings;
  for (const Sensor::Row& row : rows) {
    Reading r;
    r.kind = s.kind;
    r.body = link.body;
    r.unknown = acceleration(link.body);
    r.count = 6;
    r.X = s.frame.transform() * link.X;
    r.in_sensor = row;
    const Force<double> seen = r.X.transpose_times_force(
        Force<double>{{row[0], row[1], row[2]}, {row[3], row[4], row[5]}});
    for (int i = 0; i < 6; ++i) r.row[i] = seen[i];
    readings.push_back(r);
  }
  add_rows(s, readings, components_of(s, rows));
}

void SensorSystem::read_joint_wrench(const Sensor& s) {
  const std::vector<int> rates = rates_of(s);
  const Joint& joint = model_.joint_of_rate(rates.front());
  const int parent = model_.body(joint.body).parent;
  const Link& link = s.link.empty() ? model_.link(model_.body_names()[joint.body]) : link_of(s);
  if (link.body != joint.body && link.body != parent) {
    throw InvalidModel(who(s) + ": link is " + text::quoted(link.name) +
                       ", expected one on either side of joint " + text::quoted(joint.name) +
                       ", welded to " + text::quoted(model_.body_names()[parent]) + " or to " +
                       text::quoted(model_.body_names()[joint.body]));
  }
  const std::vector<Sensor::Row> rows = rows_of(s);
  Reading r;
  r.kind = s.kind;
  r.body = joint.body;
  r.unknown = joint_wrench(joint.body);
  r.through_joint = link.body == parent;
  add_rows(s, wrench_readings(r, s.frame.transform() * link.X, rows), components_of(s, rows));
}

void SensorSystem::read_gyroscope(const Sensor& s) {
  const Link& link = link_of(s);
  if (!gyroscope_.empty()) {
    throw Unsupported(who(s) +
                      ": it is the second gyroscope, expected one at most (it replaces the "
                      "angular velocity of the floating base)");
  }
  if (!s.rows.empty()) {
    throw Unsupported(who(s) + ": it has rows of its own, expected none: all three components");
  }
  if (!s.covariance.empty()) {
    throw Unsupported(who(s) +
                      ": it has a covariance, expected none (what it measures replaces the "
                      "angular velocity, as if it were exact)");
  }
  Gyroscope g;
  g.body = link.body;
  for (int i = link.body; i != 0; i = model_.body(i).parent) {
    const Body& body = model_.body(i);
    if (model_.runs()[body.run].subspace != SubspaceKind::free || body.parent != 0) continue;
    g.base = i;
    g.rate = model_.joints()[body.joint].independent;
  }
  if (g.base == 0 || g.rate < 0) {
    throw Unsupported(who(s) + ": link " + text::quoted(s.link) +
                      " does not hang on a floating base, expected one that does (velocity belongs "
                      "to the state; a gyroscope replaces a floating base's angular velocity)");
  }
  g.X = s.frame.transform() * link.X;
  g.first = measurements();
  gyroscope_.push_back(g);
  add_names(s, {motion_names[0], motion_names[1], motion_names[2]});
}

std::vector<double> SensorSystem::measurements_of(In<double> tau, In<double> vdot) const {
  if (!tau.empty()) expect_size("sensor dynamics", "tau", tau.size(), model_.nv());
  if (!vdot.empty()) expect_size("sensor dynamics", "vdot", vdot.size(), model_.nv());
  std::vector<double> y(measurements(), 0.0);
  const auto independent = model_.independent_rates();
  for (int j = 0; j < model_.nv(); ++j) {
    for (int k = 0; k < sensor_rows(); ++k) {
      const Reading& r = readings_[k];
      if (r.kind == Kind::torque && r.unknown == torque_[independent[j]] && !tau.empty()) {
        y[measured_[k]] = tau[j];
      } else if (r.kind == Kind::acceleration && r.unknown == qdd(independent[j]) &&
                 !vdot.empty()) {
        y[measured_[k]] = vdot[j];
      }
    }
  }
  return y;
}

void SensorSystem::add_names(const Sensor& s, const std::vector<std::string>& components) {
  for (const std::string& component : components) {
    std::string name =
        s.label() + (components.size() > 1 || !s.rows.empty() ? "[" + component + "]" : "");
    if (std::find(measurement_names_.begin(), measurement_names_.end(), name) !=
        measurement_names_.end()) {
      throw DuplicateName(who(s) + ": its value " + text::quoted(name) +
                          " has the name of another one's, expected names that differ (give one of "
                          "them a name)");
    }
    measurement_names_.push_back(std::move(name));
  }
}

void SensorSystem::add_rows(const Sensor& s, const std::vector<Reading>& readings,
                            const std::vector<std::string>& components) {
  const std::size_t n = readings.size(), given = s.covariance.size();
  if (given > 1 && given != n && given != n * n) {
    throw SizeMismatch(who(s) + ": size of covariance is " + std::to_string(given) +
                       ", expected 1, " + std::to_string(n) + " or " + std::to_string(n * n));
  }
  Covariance R;
  R.first = sensor_rows();
  R.size = static_cast<int>(n);
  R.values.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double& x = R.values[i * n + j];
      if (given == n * n && n > 1) {
        x = s.covariance[i * n + j];
      } else if (i == j) {
        x = given == 0 ? 1.0 : s.covariance[given == 1 ? 0 : i];
      }
      const bool good = std::isfinite(x) && (i != j || x >= 0.0) &&
                        (j > i || std::abs(x - R.values[j * n + i]) <= 1e-9 * std::abs(x));
      if (good) continue;
      throw InvalidModel(who(s) + ": covariance holds " + text::number(x) + " at (" +
                         std::to_string(i) + ", " + std::to_string(j) +
                         "), expected a symmetric matrix of finite numbers, none below 0 on its "
                         "diagonal");
    }
  }
  if (!is_covariance(R.values, R.size)) {
    throw InvalidModel(who(s) +
                       ": covariance is not positive definite, expected one that noise can have "
                       "(rows of zeros are exact)");
  }
  covariance_.push_back(std::move(R));
  const std::size_t first = measurement_names_.size();
  add_names(s, components);
  for (std::size_t k = 0; k < n; ++k) {
    if (readings[k].count == 1 && direct_row_[readings[k].unknown] < 0) {
      direct_row_[readings[k].unknown] = model_rows_ + sensor_rows();
    }
    measured_.push_back(static_cast<int>(first + k));
    readings_.push_back(readings[k]);
  }
}

}  // namespace espalier
