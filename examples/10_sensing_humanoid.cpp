// JVRC-1 sways on two feet. Its joint torques and the wrenches on its feet are estimated from noisy
// joint encoders, an inertial measurement unit in the chest and load cells below the feet; nobody
// has to know where the robot is or how it leans. Writes a plot: docs/sensors.md.
//
//   10_sensing_humanoid robots/jvrc1_geared.yaml plot.svg
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <random>

#include "charts/chart.hpp"
#include "espalier/host/output_file.hpp"
#include "espalier/sensing/sensor_dynamics.hpp"
#include "espalier/sensing/sensor_verdict.hpp"
#include "sway.hpp"

using namespace espalier;
using namespace espalier::sway;

namespace {

using Kind = Sensor::Kind;
using Dynamics = SensorDynamics<double>;

const std::string chest = "waist_roll.link";
constexpr double step = 0.05, duration = 6.0;
/// Readings are differentiated over this time before and after [s]; no reading is used twice.
constexpr double span = 0.02;

// Standard deviations of the noise of one reading.
constexpr double encoder_noise = 1e-5;        // [rad]
constexpr double gyroscope_noise = 2e-3;      // [rad/s]
constexpr double accelerometer_noise = 0.05;  // [m/s²]
constexpr double force_noise = 10.0;          // of load cells [N]
constexpr double moment_noise = 1.0;          // [N·m]

/// Middle of the sole on the foot; its height is assumed, the model has no soles.
const Pose sole{{0.03, 0, -0.1}, {0, 0, 0}};
const Pose imu{{0.02, 0, 0.25}, {0, 0, 0}};

/// Accelerations of all joints from their encoders, and what the chest feels.
std::vector<Sensor> encoders_and_imu(const Model& robot) {
  std::vector<Sensor> sensors;
  for (const Coordinate& c : robot.coordinates()) {
    if (c.joint == base) continue;  // nothing measures that
    sensors.push_back({.kind = Kind::acceleration,
                       .joint = c.joint,
                       .covariance = {6.0 * square(encoder_noise / square(span))}});
  }
  sensors.push_back({.kind = Kind::angular_acceleration,
                     .link = chest,
                     .frame = imu,
                     .covariance = {square(gyroscope_noise / span) / 2.0}});
  sensors.push_back({.kind = Kind::accelerometer,
                     .link = chest,
                     .frame = imu,
                     .covariance = {square(accelerometer_noise)}});
  sensors.push_back({.kind = Kind::gyroscope, .link = chest, .frame = imu});
  return sensors;
}

/// Adds a load cell below a foot. @param components  that it measures; none: the ground pushes, and
/// nothing measures it
void add_cell(std::vector<Sensor>& sensors, const std::string& side,
              const std::vector<std::string>& components) {
  if (components.empty()) {
    sensors.push_back({.kind = Kind::contact, .link = foot(side)});
    return;
  }
  Sensor cell{.kind = Kind::wrench, .name = side + " cell", .link = foot(side), .frame = sole};
  for (const std::string& c : components) {
    cell.rows.push_back(Sensor::row_of(c));
    cell.covariance.push_back(square(c[0] == 'm' ? moment_noise : force_noise));
  }
  sensors.push_back(cell);
}
std::vector<Sensor> with_cells(const Model& robot, const std::vector<std::string>& left,
                               const std::vector<std::string>& right) {
  std::vector<Sensor> sensors = encoders_and_imu(robot);
  add_cell(sensors, "left", left);
  add_cell(sensors, "right", right);
  return sensors;
}

/// What really acts: of all wrenches on the feet that carry the robot the smallest, and the torques
/// that go with them.
class Truth {
 public:
  Truth(const Host& host, const ModelPtr& robot)
      : model_(robot),
        inverse_(host.create<InverseDynamics<double>>("c-rnea", robot)),
        jacobians_(host.create<BodyJacobians<double>>("body-jacobians", robot)),
        dynamics_(host.create<Dynamics>("sparse-lu", {.model = robot, .sensors = known(*robot)})) {}

  const Dynamics& at(const Instant& now) {
    const int nv = model_->nv(), root = model_->joint(base).independent;
    Numbers tau(nv);
    inverse_->evaluate(now.q, now.v, now.vdot, tau);
    // Both feet together give the base what it needs: G w = tau of the base.
    jacobians_->evaluate(now.q);
    using Matrix = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Matrix<double, 6, 12> G;
    const Transform<double> X = sole.transform();
    for (std::size_t side = 0; side < 2; ++side) {
      Matrix J(6, nv);
      jacobians_->jacobian(model_->link(foot(sides[side])), Out<double>(J.data(), J.size()));
      // From the sole to the link; moments count as much as forces at 5 cm.
      Eigen::Matrix<double, 6, 6> to_link;
      for (int k = 0; k < 6; ++k) {
        std::array<double, 6> unit{};
        unit[k] = k < 3 ? 0.05 : 1.0;
        const Force<double> f = X.transpose_times_force(
            Force<double>{{unit[0], unit[1], unit[2]}, {unit[3], unit[4], unit[5]}});
        for (int i = 0; i < 6; ++i) to_link(i, k) = f[i];
      }
      G.middleCols<6>(6 * static_cast<long>(side)) = J.middleCols<6>(root).transpose() * to_link;
      if (side == 0) to_left_foot_ = to_link;
    }
    const Eigen::Map<const Eigen::Matrix<double, 6, 1>> needed(tau.data() + root);
    const Eigen::VectorXd w = G.completeOrthogonalDecomposition().solve(needed);
    const Eigen::Matrix<double, 6, 1> left = to_left_foot_ * w.head<6>();

    Numbers y = now.vdot;
    y.insert(y.end(), left.data(), left.data() + 6);
    const Dynamics::Answer& answer = dynamics_->evaluate(now.q, now.v, y);
    // The sparse system against recursion: no force is left at the base.
    Wrenches<double> ground(model_);
    for (std::size_t k = 0; k < 2; ++k) {
      ground.add(dynamics_->system().contacts()[k].link, answer.wrench[k]);
    }
    inverse_->evaluate(now.q, now.v, now.vdot, tau, &ground);
    for (int j = 0; j < nv; ++j) {
      const double expected = answer.tau[model_->independent_rates()[j]];
      worst_ = std::max(worst_, std::abs(tau[j] - expected));
    }
    return *dynamics_;
  }
  /// Largest difference between inverse dynamics and the sparse system [N·m, N].
  double worst() const { return worst_; }

 private:
  static std::vector<Sensor> known(const Model& robot) {
    std::vector<Sensor> sensors;
    for (const Coordinate& c : robot.coordinates()) {
      sensors.push_back({.kind = Kind::acceleration, .joint = c.joint});
    }
    sensors.push_back({.kind = Kind::wrench, .link = foot("left")});
    sensors.push_back({.kind = Kind::contact, .link = foot("right")});
    return sensors;
  }

  ModelPtr model_;
  std::unique_ptr<InverseDynamics<double>> inverse_;
  std::unique_ptr<BodyJacobians<double>> jacobians_;
  std::unique_ptr<Dynamics> dynamics_;
  Eigen::Matrix<double, 6, 6> to_left_foot_;
  double worst_ = 0.0;
};

/// What the instruments say, and the state that a program knows: joints from their encoders; of the
/// base nothing.
class Instruments {
 public:
  Instruments(const ModelPtr& robot, const std::vector<Sensor>& sensors)
      : known(robot), exactly_known(robot), model_(robot), system_(*robot, sensors) {}

  /// @param around  at t - span, t, t + span
  void read(const std::array<Instant, 3>& around, Truth& truth) {
    std::array<Numbers, 3> exact;
    for (int k = 0; k < 3; ++k) {
      exact[k] = simulated_measurements(system_, truth.at(around[k]), around[k].q, around[k].v);
    }
    y = exact_y = exact[1];
    std::size_t next = 0;
    for (const Coordinate& c : model_->coordinates()) {
      if (c.joint == base) continue;
      const int at = model_->joint(c.joint).q;
      std::array<double, 3> angle;
      for (int k = 0; k < 3; ++k) angle[k] = around[k].q[at] + encoder_noise * normal_(random_);
      known.set_position(c.joint, angle[1]);
      known.set_rate(c.joint, (angle[2] - angle[0]) / (2.0 * span));
      exactly_known.set_position(c.joint, around[1].q[at]);
      exactly_known.set_rate(c.joint, around[1].v[c.start]);
      y[next++] = (angle[0] - 2.0 * angle[1] + angle[2]) / square(span);
    }
    const std::size_t accelerometer = next + 3, gyroscope = next + 6, cells = next + 9;
    for (std::size_t i = 0; i < 3; ++i) {
      std::array<double, 3> rate;
      for (int k = 0; k < 3; ++k) {
        rate[k] = exact[k][gyroscope + i] + gyroscope_noise * normal_(random_);
      }
      y[next + i] = (rate[2] - rate[0]) / (2.0 * span);
      y[gyroscope + i] = rate[1];
      y[accelerometer + i] += accelerometer_noise * normal_(random_);
    }
    for (std::size_t i = cells; i < y.size(); ++i) {
      y[i] += ((i - cells) % 6 < 3 ? moment_noise : force_noise) * normal_(random_);
    }
  }

  Numbers y, exact_y;          ///< by sensors; with and without noise
  State known, exactly_known;  ///< the same

 private:
  ModelPtr model_;
  SensorSystem system_;
  std::mt19937_64 random_{1};
  std::normal_distribution<double> normal_;
};

/// Estimates of one set of sensors over time, beside the truth.
struct Record {
  struct Series {
    Numbers truth, value, sigma;
  };
  std::map<std::string, Series> of;
  double chi_square = 0.0, redundancy = 0.0, worst = 0.0, sum = 0.0, count = 0.0;

  void add(const std::vector<std::string>& names, const Dynamics& truth, const Dynamics& estimate) {
    for (const std::string& name : names) {
      Series& s = of[name];
      s.truth.push_back(truth.value(name));
      s.value.push_back(estimate.value(name));
      s.sigma.push_back(std::sqrt(estimate.variance(name)));
      const double z = (s.value.back() - s.truth.back()) / s.sigma.back();
      worst = std::max(worst, std::abs(z));
      sum += z * z, count += 1.0;
    }
    chi_square += estimate.answer().chi_square;
    redundancy += estimate.answer().redundancy;
  }
  /// Of errors in units of what is predicted: 1 if the prediction is right.
  double spread() const { return std::sqrt(sum / count); }
  /// The spread's own error is 0.02 (121 instants, 12 independent errors at least in each); of 5324
  /// errors one is above 5.5 with probability 2e-4; chi-square has variance 2 redundancy.
  bool as_predicted() const {
    return std::abs(spread() - 1.0) < 0.1 && worst < 5.5 &&
           std::abs(chi_square - redundancy) <= 4.0 * std::sqrt(2.0 * redundancy);
  }
  double sigma(const std::string& name) const {
    double mean = 0.0;
    for (const double s : of.at(name).sigma) mean += s;
    return mean / static_cast<double>(of.at(name).sigma.size());
  }
};

charts::Chart plot(const Numbers& t, const Record& r) {
  charts::Chart chart;
  chart.title = "JVRC-1 swaying on two feet: estimates with two standard deviations";
  chart.label = "time [s]";
  chart.x = t;
  const auto panel = [&](const char* label, const std::string& kind, const char* place) {
    charts::Chart::Panel p{label, {}};
    const std::array<const char*, 2> colours{"#1f77b4", "#d62728"};
    for (std::size_t s = 0; s < 2; ++s) {
      const Record::Series& series = r.of.at(kind + sides[s] + "_leg." + place);
      charts::Chart::Band band{colours[s], series.value, series.value};
      for (std::size_t i = 0; i < t.size(); ++i) {
        band.low[i] -= 2.0 * series.sigma[i], band.high[i] += 2.0 * series.sigma[i];
      }
      p.bands.push_back(band);
      p.lines.push_back({sides[s], colours[s], "", series.value});
      p.lines.push_back({"truth", "#000", "5 3", series.truth});
    }
    chart.panels.push_back(p);
  };
  panel("foot, fz [N]", "wrench on ", "ankle_pitch.link[fz]");
  panel("foot, fy [N]", "wrench on ", "ankle_pitch.link[fy]");
  panel("knee [N·m]", "torque of ", "knee.link");
  panel("hip roll [N·m]", "torque of ", "hip_roll.link");
  panel("ankle pitch [N·m]", "torque of ", "ankle_pitch.link");
  return chart;
}

SensorVerdict judged(const Model& robot, const char* what, const std::vector<Sensor>& sensors) {
  SensorVerdict verdict = judge(robot, sensors);
  std::printf("%s: %s\n", what, verdict.text().c_str());
  return verdict;
}

void report(const char* what, const Record& r) {
  std::printf(
      "%s: errors are %.2f of what is predicted, the largest %.1f standard deviations; chi-square "
      "%.0f, expected %.0f. Standard deviations: knee %.1f N·m, left elbow %.2f N·m, right foot's "
      "fz %.1f N.\n",
      what, r.spread(), r.worst, r.chi_square, r.redundancy,
      r.sigma("torque of left_leg.knee.link"), r.sigma("torque of left_arm.elbow_pitch.link"),
      r.sigma("wrench on " + foot("right") + "[fz]"));
}

int run(const char* file, const char* svg) {
  const Host host;
  const ModelPtr robot = host.load(file, {.root = CompileOptions::Root::floating});
  const std::vector<std::string> three{"fz", "mx", "my"}, five{"mx", "my", "fx", "fy", "fz"},
      six{"mx", "my", "mz", "fx", "fy", "fz"};

  // Before there are numbers: which load cells does it take?
  const SensorVerdict with_three =
      judged(*robot, "Cells of three axes in both feet", with_cells(*robot, three, three));
  const SensorVerdict with_five =
      judged(*robot, "Cells of five axes in both feet, all but mz", with_cells(*robot, five, five));
  const std::vector<Sensor> all = with_cells(*robot, six, six),
                            fewest = with_cells(*robot, six, {});
  const SensorVerdict with_all = judged(*robot, "Cells of six axes in both feet", all);
  const SensorVerdict with_fewest = judged(*robot, "A cell of six axes in the left foot", fewest);

  const auto map = host.create<Dynamics>("map", {.model = robot, .sensors = all});
  const auto map_of_fewest = host.create<Dynamics>("map", {.model = robot, .sensors = fewest});
  map->set_variances(true), map_of_fewest->set_variances(true);
  const auto lu = host.create<Dynamics>("sparse-lu", {.model = robot, .sensors = fewest});
  std::vector<std::string> names;
  for (const std::string& name : map->system().unknown_names()) {
    if (name.starts_with("torque of") || name.starts_with("wrench on")) names.push_back(name);
  }

  Sway sway(host, robot);
  Truth truth(host, robot);
  Instruments instruments(robot, all);
  Record redundant, exact;
  Numbers time;
  double same = 0.0, noiseless = 0.0, lightest = 1e9, off_centre = 0.0;
  for (double t = 0.0; t < duration + step / 2; t += step) {
    const std::array<Instant, 3> around{sway.at(t - span), sway.at(t), sway.at(t + span)};
    instruments.read(around, truth);
    const Dynamics& now = truth.at(around[1]);
    const State &known = instruments.known, &exactly = instruments.exactly_known;
    const Numbers &y = instruments.y, y_fewest(y.begin(), y.end() - 6),
                  &y_exact = instruments.exact_y;

    map->evaluate(known.q(), known.v(), y);
    map_of_fewest->evaluate(known.q(), known.v(), y_fewest);
    lu->evaluate(known.q(), known.v(), y_fewest);
    time.push_back(t);
    redundant.add(names, now, *map);
    exact.add(names, now, *map_of_fewest);
    for (const std::string& name : names) {
      same = std::max(same, std::abs(lu->value(name) - map_of_fewest->value(name)));
    }
    // Without noise the answer is the truth: what is not known of the base does not matter.
    lu->evaluate(exactly.q(), exactly.v(), Numbers(y_exact.begin(), y_exact.end() - 6));
    for (const std::string& name : names) {
      noiseless = std::max(noiseless, std::abs(lu->value(name) - now.value(name)));
    }
    for (const Force<double>& on_link : now.answer().wrench) {
      const Force<double> f = sole.transform().force_to(on_link);
      lightest = std::min(lightest, f.f.z);
      off_centre = std::max({off_centre, std::abs(f.n.x / f.f.z), std::abs(f.n.y / f.f.z)});
    }
  }
  espalier::write_file(svg, plot(time, redundant).svg());
  report("map with a cell in each foot", redundant);
  report("sparse-lu with a cell in the left foot", exact);
  std::printf("Plot: %s\n", svg);

  using Verdict = SensorVerdict::Kind;
  const bool well_judged = with_three.kind == Verdict::singular_everywhere &&
                           with_five.kind == Verdict::singular_somewhere &&
                           with_all.kind == Verdict::well_posed && with_all.redundancy == 6 &&
                           with_fewest.kind == Verdict::well_posed && with_fewest.redundancy == 0;
  // The truth is one: by recursion, as a sparse system, and estimated from exact readings; the
  // robot stands: the ground does not pull, and pushes within the soles. Rounding of 1000 N.
  const bool true_to_itself = truth.worst() < 1e-9 && noiseless < 1e-9 && same < 1e-9;
  const bool stands = lightest > 0.0 && off_centre < 0.1;
  const bool as_predicted = redundant.as_predicted() && exact.as_predicted();
  if (well_judged && true_to_itself && stands && as_predicted) return 0;
  std::printf("judged %d, true to itself %d (%.1e, %.1e, %.1e), stands %d, as predicted %d\n",
              well_judged, true_to_itself, truth.worst(), noiseless, same, stands, as_predicted);
  return 1;
}

}  // namespace

int main(int, char** argv) { return run(argv[1], argv[2]); }
