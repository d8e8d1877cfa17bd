// The MIT Humanoid stands on two feet, on soft or on rigid ground, kept in balance by task control
// with torque limits and friction cones, while its left hand draws circles and somebody pushes it.
// Writes a plot: docs/task-control.md.
//
//   08_humanoid_balance robots/mit_humanoid.yaml plot.svg [soft|rigid]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "charts/chart.hpp"
#include "espalier/control/task_control.hpp"
#include "espalier/espalier.hpp"
#include "espalier/host/output_file.hpp"
#include "espalier/simulation/contact/contact_simulation.hpp"
#include "espalier/simulation/simulation.hpp"
#include "espalier/simulation/soft_contact.hpp"

using namespace espalier;

namespace {

using Three = std::array<double, 3>;
using Vector = Vec3<double>;

// Of the robot.
const std::string trunk = "torso", hand = "left_arm.elbow.link";
const std::array<std::string, 2> feet{"right_leg.knee_ankle.link2", "left_leg.knee_ankle.link2"};
const Vector grip{0, 0, -0.27};  // the hand's point, in the forearm
constexpr double control_step = 4e-3, duration = 4.0;
constexpr double push_start = 2.0, push_end = 2.2;
const Vector push{25, -25, 0};  // on the trunk [N], which the controller does not know of

/// The corners of a sole, on its link.
std::vector<Vector> sole() {
  return {{0.1, 0.03, -0.041}, {0.1, -0.03, -0.041}, {-0.05, 0.03, -0.041}, {-0.05, -0.03, -0.041}};
}

std::vector<ContactPoint> sole_points() {
  std::vector<ContactPoint> points;
  for (const std::string& foot : feet) {
    for (const Vector& corner : sole()) points.push_back({foot, corner});
  }
  return points;
}

/// The same corners as balls on a rigid plane.
contact::World sole_world() {
  contact::World world;
  world.shapes = {contact::World::ground({.friction = 0.7})};
  for (const ContactPoint& corner : sole_points()) {
    contact::PlacedShape ball;
    ball.link = corner.link;
    ball.shape = contact::Shape::sphere(0.005);
    ball.pose.xyz = corner.offset + Vector{0, 0, 0.005};
    world.shapes.push_back(ball);
  }
  return world;
}

/// A foot that stays where it is. The legs have five joints and no say in a foot's roll where both
/// stand side by side: asked for it, they would need any torque.
EndEffector held(const std::string& foot) {
  EndEffector rows = EndEffector::weld(foot, {0.025, 0, -0.041});
  rows.rows.erase(rows.rows.begin());
  return rows;
}

/// Motors at the rotors, contacts at the soles, and what they are for.
TaskControlSetup balance(const Model& robot) {
  TaskControlSetup setup;
  for (const Joint& joint : robot.joints()) {
    if (joint.name.find(".rotor") == std::string::npos) continue;
    // Two sizes of actuator, large ones at hip pitch and knee; their limits are assumed.
    const bool large = joint.name.find("hip_pitch") != std::string::npos ||
                       joint.name.find("rotor1") != std::string::npos;
    const double most = large ? 12.0 : 5.7;  // [N·m] at the rotor, before the gear
    setup.motors.push_back({.joint = joint.name, .lower = -most, .upper = most});
  }
  for (const std::string& foot : feet) {
    int corner = 0;
    for (const Vector& offset : sole()) {
      setup.contacts.push_back({.name = foot + ":" + std::to_string(corner++),
                                .link = foot,
                                .offset = offset,
                                .friction = 0.5,  // the ground has 0.7
                                .weight = 1e-3});
    }
  }
  const EndEffector turning{.link = trunk,
                            .rows = {{1, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0}},
                            .axes = EndEffector::Axes::world};
  setup.tasks = {
      {.name = "right foot", .rows = held(feet[0]), .priority = 0},
      {.name = "left foot", .rows = held(feet[1]), .priority = 0},
      {.name = "centre of mass", .rows = CenterOfMassRows{}, .priority = 1},
      {.name = "trunk", .rows = turning, .priority = 2},
      {.name = "hand", .rows = EndEffector::contact(hand, grip), .priority = 2},
      {.name = "posture", .rows = JointRows{}, .priority = 2, .weight = 1e-3},
  };
  return setup;
}

/// Where the hand should be, how fast and with which acceleration: a circle that starts gently.
struct Target {
  Vector position, velocity, acceleration;
};
Target circle(const Vector& start, double t) {
  constexpr double radius = 0.1, rate = 2.0 * M_PI / 1.5, rise = 0.5;
  // The angle's rate rises to `rate` within a second or so.
  const double decay = std::exp(-t / rise);
  const double angle = rate * (t - rise * (1.0 - decay)), d = rate * (1.0 - decay),
               dd = rate * decay / rise;
  const double c = std::cos(angle), s = std::sin(angle);
  return {start + Vector{radius * s, 0, radius * (1.0 - c)},
          Vector{radius * c * d, 0, radius * s * d},
          Vector{radius * (c * dd - s * d * d), 0, radius * (s * dd + c * d * d)}};
}

/// Torques that stay between two steps of control.
class Held final : public Controller {
 public:
  explicit Held(const Model& robot) : forces(robot.spanning_nv(), 0.0) {}
  void drive(double, const double*, const double*, double* out) override {
    for (std::size_t i = 0; i < forces.size(); ++i) out[i] += forces[i];
  }
  std::vector<double> forces;
};

Three pull(const Vector& error, double kp, const Vector& rate, double kd,
           const Vector& ahead = {0, 0, 0}) {
  const Vector a = ahead + scale(kp, error) - scale(kd, rate);
  return {a.x, a.y, a.z};
}

/// Knees bent, soles that deep in the ground [m].
State stance(const ModelPtr& robot, Kinematics<double>& kinematics, double depth) {
  State state(robot);
  for (const char* side : {"right", "left"}) {
    const std::string leg = std::string(side) + "_leg.", arm = std::string(side) + "_arm.";
    state.set_position(leg + "hip_pitch.link", -0.5);
    state.set_position(leg + "knee_ankle.link1", 1.0);
    state.set_position(leg + "knee_ankle.link2", -0.5);
    state.set_position(arm + "shoulder_pitch.link", -0.3);
    state.set_position(arm + "elbow.link", -1.2);
  }
  kinematics.evaluate(state.q(), state.v(), state.v());
  const Transform<double> foot = kinematics.placement(robot->link(feet[0]));
  state.q()[robot->joint("root").q + 2] -= (foot.r + transpose_times(foot.E, sole()[0])).z + depth;
  return state;
}

/// Wanted accelerations from where the robot is, and the torques that come nearest to them.
class Balance {
 public:
  Balance(const Host& host, const ModelPtr& robot, const State& start)
      : robot_(*robot),
        kinematics_(host.create<Kinematics<double>>("forward-kinematics", robot)),
        center_(host.create<CenterOfMass<double>>("center-of-mass", robot)),
        setup_(balance(*robot)),
        control_(make_task_control(host, robot, setup_, {.solver = "alglib"})),
        rest_(robot->nv(), 0.0),
        posture_(start.q()) {
    kinematics_->evaluate(start.q(), start.v(), rest_);
    hand_start = point(hand, grip).position;
    com = com_start = center_->evaluate(start.q(), start.v(), rest_).position;
    const Vector middle{0.025, 0, 0};  // of a sole
    const Vector between =
        scale(0.5, point(feet[0], middle).position + point(feet[1], middle).position);
    com_start.x = between.x, com_start.y = between.y;
  }

  void update(double t, const std::vector<double>& q, const std::vector<double>& v) {
    kinematics_->evaluate(q, v, rest_);
    const CenterOfMass<double>::Answer center = center_->evaluate(q, v, rest_);
    com = center.position;
    control_->want("centre of mass", pull(com_start - com, 40.0, center.velocity, 12.0));

    const Mat3<double> E = kinematics_->placement(robot_.link(trunk)).E;  // world to trunk
    // Of a small rotation: half the difference of the matrix and its transpose.
    const Vector tilt{0.5 * (E.row[1].z - E.row[2].y), 0.5 * (E.row[2].x - E.row[0].z),
                      0.5 * (E.row[0].y - E.row[1].x)};
    const Vector turning = transpose_times(E, kinematics_->velocity(robot_.link(trunk)).w);
    control_->want("trunk", pull(-tilt, 100.0, turning, 20.0));

    target = circle(hand_start, t);
    reached = point(hand, grip);
    control_->want("hand", pull(target.position - reached.position, 400.0,
                                reached.velocity - target.velocity, 40.0, target.acceleration));

    std::vector<double> back;
    for (const Coordinate& c : robot_.coordinates()) {
      if (c.size != 1) continue;  // the free base has no posture
      const int at = robot_.joint(c.joint).q;
      back.push_back(50.0 * (posture_[at] - q[at]) - 10.0 * v[c.start]);
    }
    control_->want("posture", back);
    answer = &control_->evaluate(q, v, rest_);
  }
  void drive(std::vector<double>& torques) const {
    std::fill(torques.begin(), torques.end(), 0.0);
    control_->drive(torques.data());
  }

  /// Largest torque as a part of what its motor can give.
  double load() const {
    double most = 0.0;
    for (std::size_t k = 0; k < setup_.motors.size(); ++k) {
      most = std::max(most, std::abs(answer->inputs[k]) / *setup_.motors[k].upper);
    }
    return most;
  }

  struct Point {
    Vector position, velocity;
  };
  Point point(const std::string& link, const Vector& offset) const {
    const Transform<double> X = kinematics_->placement(robot_.link(link));
    const Motion<double> twist = kinematics_->velocity(robot_.link(link));
    return {X.r + transpose_times(X.E, offset),
            transpose_times(X.E, twist.v + cross(twist.w, offset))};
  }

  Vector hand_start, com_start, com;
  Target target;
  Point reached;
  const TaskControl::Answer* answer = nullptr;

 private:
  const Model& robot_;
  std::unique_ptr<Kinematics<double>> kinematics_;
  std::unique_ptr<CenterOfMass<double>> center_;
  TaskControlSetup setup_;
  std::unique_ptr<TaskControl> control_;
  std::vector<double> rest_, posture_;
};

/// What is drawn: positions in mm, forces in N.
struct Record {
  void add(double time, const Balance& balance, const std::vector<Vector>& ground) {
    const Vector to = scale(1e3, balance.target.position - balance.hand_start);
    const Vector is = scale(1e3, balance.reached.position - balance.hand_start);
    const Vector com = scale(1e3, balance.com - balance.com_start);
    t.push_back(time);
    target_x.push_back(to.x), target_z.push_back(to.z);
    hand_x.push_back(is.x), hand_z.push_back(is.z);
    com_x.push_back(com.x), com_y.push_back(com.y);
    right.push_back(ground[0].z + ground[1].z + ground[2].z + ground[3].z);
    left.push_back(ground[4].z + ground[5].z + ground[6].z + ground[7].z);
    load.push_back(100.0 * balance.load());
  }

  std::vector<double> t, target_x, target_z, hand_x, hand_z, com_x, com_y, right, left, load;
};

charts::Chart plot(const Record& r) {
  charts::Chart chart;
  chart.title = "MIT Humanoid on two feet, drawing circles, pushed at 2 s";
  chart.label = "time [s]";
  chart.x = r.t;
  chart.panels = {{"hand [mm]",
                   {{"target", "#888", "6 3", r.target_x},
                    {"forward", "#1f77b4", "", r.hand_x},
                    {"target", "#888", "6 3", r.target_z},
                    {"up", "#d62728", "", r.hand_z}}},
                  {"centre of mass [mm]",
                   {{"forward", "#1f77b4", "", r.com_x}, {"left", "#2ca02c", "", r.com_y}}},
                  {"force of the ground [N]",
                   {{"R foot", "#9467bd", "", r.right}, {"L foot", "#ff7f0e", "", r.left}}},
                  {"torque [% of its limit]", {{"motor", "#8c564b", "", r.load}}}};
  return chart;
}

/// Control every 4 ms while the simulation, on either ground, moves in steps of its own.
/// @param forces  of the ground on the corners of the soles
template <class AnySimulation, class Forces>
int stand(AnySimulation& simulation, double step, const ModelPtr& robot, Balance& balance,
          std::vector<double>& torques, Forces&& forces, const char* file) {
  Wrenches<double> shove(robot);
  shove.add(trunk, {cross(Vector{0, 0, 0.2}, push), push});  // at the breast; the trunk is upright
  Record record;
  double hand_alone = 0.0, hand_pushed = 0.0, worst_com = 0.0, worst_violation = 0.0;
  while (simulation.time() < duration - 1e-9) {
    const double t = simulation.time();
    balance.update(t, simulation.q(), simulation.v());
    balance.drive(torques);

    const Vector error = balance.reached.position - balance.target.position;
    const Vector drift = balance.com - balance.com_start;
    double& worst_hand = t <= push_start ? hand_alone : hand_pushed;
    worst_hand = std::max(worst_hand, std::sqrt(dot(error, error)));
    worst_com = std::max(worst_com, std::sqrt(dot(drift, drift)));
    worst_violation = std::max(worst_violation, balance.answer->violation);
    record.add(t, balance, forces());

    const bool pushed = t > push_start && t < push_end;
    simulation.set_wrenches(pushed ? &shove : nullptr);
    simulation.run(control_step, step, 1 << 20, [](const Sample&) { return true; });
  }
  write_file(file, plot(record).svg());
  std::printf(
      "%.1f s on two feet. Hand off its target by at most %.1f mm, when pushed by %.1f mm; "
      "centre of mass by %.1f mm; limits are missed by at most %.0e. Plot: %s\n",
      duration, 1e3 * hand_alone, 1e3 * hand_pushed, 1e3 * worst_com, worst_violation, file);
  const bool stands = worst_com < 0.03, follows = hand_alone < 0.001 && hand_pushed < 0.015;
  return stands && follows && worst_violation < 1e-6 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    return std::fputs("usage: 08_humanoid_balance ROBOT PLOT.svg [soft|rigid]\n", stderr), 2;
  }
  const bool rigid = count > 3 && std::string_view(words[3]) == "rigid";
  const Host host;
  const ModelPtr robot = host.load(words[1], {.root = CompileOptions::Root::floating});
  const auto kinematics = [&] {
    return host.create<Kinematics<double>>("forward-kinematics", robot);
  };
  // Springs have to sink in before they bear the robot.
  const State start = stance(robot, *kinematics(), rigid ? 0.0 : 0.0015);
  Balance balance(host, robot, start);
  std::vector<std::unique_ptr<Controller>> controllers;
  controllers.push_back(std::make_unique<Held>(*robot));
  std::vector<double>& torques = static_cast<Held&>(*controllers.front()).forces;
  if (rigid) {
    contact::ContactSimulation simulation(host.registry(), robot, sole_world(), {}, {},
                                          std::move(controllers));
    simulation.start(start.q(), start.v());
    const auto forces = [&] {
      const std::vector<Vector> all = simulation.shape_forces();
      return std::vector<Vector>(all.begin() + 1, all.end());  // without those on the ground
    };
    return stand(simulation, 1e-3, robot, balance, torques, forces, words[2]);
  }
  SoftContact ground(kinematics(), sole_points());  // for the plot; the simulation has its own
  std::vector<std::unique_ptr<Environment>> environments;
  environments.push_back(std::make_unique<SoftContact>(kinematics(), sole_points()));
  const auto simulation =
      make_simulation(host, robot, {}, {}, std::move(controllers), std::move(environments));
  simulation->start(start.q(), start.v());
  const auto forces = [&] { return ground.forces(simulation->q(), simulation->v()); };
  return stand(*simulation, 5e-5, robot, balance, torques, forces, words[2]);
}
