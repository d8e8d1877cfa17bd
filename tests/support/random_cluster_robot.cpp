#include "tests/support/random_cluster_robot.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "espalier/kernel/model/closure.hpp"
#include "tests/support/composed_robot.hpp"

namespace espalier::test {
namespace {

/// Whether a sub-mechanism is made of joints with equations of their own, which not all algorithms
/// take.
bool brings_equations(const Registry& registry, const SubMechanism& mechanism) {
  PartSpec spec;
  spec.what = "sub-mechanism", spec.name = "sample", spec.parameters = mechanism.sample();
  const Assembly a = mechanism.assemble(spec);
  return std::any_of(a.parts.joints.begin(), a.parts.joints.end(), [&](const auto& joint) {
    return registry.joint_type(joint.type).has_equations();
  });
}

/// Builds a robot part by part. Links are placed at the neutral position, where every joint's frame
/// coincides with its link's: loops close there by construction.
class ClusterRobot {
 public:
  ClusterRobot(const Registry& registry, const ClusterRobotOptions& options)
      : registry_(registry), rng_(options.seed) {
    robot_.name = "cluster_robot" + std::to_string(options.seed);
    robot_.gravity = rng_.vec3(10.0);
    add_link("world", false);
    place_["world"] = Transform<double>::identity();
    attachable_ = {"world"};
    if (options.floating_base) attachable_ = {body("floating", "world")};
    std::vector<std::string> kinds = options.kinds;
    if (kinds.empty()) kinds = part_names(registry);
    for (int k = 0; k < options.parts; ++k) {
      add(kinds[rng_.below(static_cast<int>(kinds.size()))]);
    }
  }

  const Description& robot() const { return robot_; }

  /// Hand-made parts, then the registered sub-mechanisms.
  static std::vector<std::string> part_names(const Registry& registry) {
    std::vector<std::string> names{"body",           "geared",          "mimic",
                                   "train",          "two_parents",     "across",
                                   "layers",         "planar_loop",     "loop_fixed",
                                   "loop_revolute",  "loop_prismatic",  "loop_cylindrical",
                                   "loop_universal", "loop_spherical",  "loop_planar",
                                   "loop_rod",       "floating_inside", "four_bar_with_gears"};
    for (const Entry* e : registry.entries(Kind::sub_mechanism)) {
      if (!brings_equations(registry, *e->sub_mechanism)) names.push_back(e->about.name);
    }
    return names;
  }

 private:
  void add(const std::string& kind) {
    part_ = "p" + std::to_string(parts_++) + "_";
    const std::string on = any_link();
    if (kind == "body") {
      static const char* const types[] = {"revolute",  "prismatic", "helical",   "cylindrical",
                                          "universal", "planar",    "spherical", "floating"};
      attachable_.push_back(body(types[rng_.below(8)], on));
    } else if (kind == "geared") {
      const std::string link = body("revolute", on);
      gear(link, rotor(on));
      attachable_.push_back(link);
    } else if (kind == "mimic") {
      const std::string first = body("revolute", on);
      const std::string second =
          body(rng_.chance(0.5) ? "revolute" : "prismatic", rng_.chance(0.5) ? first : on);
      robot_.joints.back().mimic = Mimic{"joint_" + first, ratio(), rng_.uniform(-0.3, 0.3)};
      attachable_.push_back(second);
    } else if (kind == "train") {  // motor, idlers on either side, link
      const std::string link = body("revolute", on);
      std::string last = link;
      for (int k = 1 + rng_.below(3); k-- > 0;) {
        const std::string next = rotor(last == link || rng_.chance(0.7) ? on : link);
        gear(last, next);
        last = next;
      }
      attachable_.push_back(link);
    } else if (kind == "two_parents") {  // the knee's motor sits two links above
      const std::string thigh = body("revolute", on), shin = body("revolute", thigh);
      gear(thigh, rotor(on));
      gear(shin, rotor(on));
      attachable_.push_back(shin);
    } else if (kind == "parallel_parents") {  // the same about parallel axes
      const std::string thigh = body("revolute", on);
      const Pose hip = robot_.joints.back().origin;
      reorient(hip.rpy, {0, 0, 1});
      const std::string shin = body("revolute", thigh);
      reorient({0, 0, rng_.uniform(-3.0, 3.0)}, {0, 0, rng_.chance(0.5) ? 1.0 : -1.0});
      for (const std::string& link : {thigh, shin}) {
        const std::string motor = rotor(on);
        reorient(hip.rpy, robot_.joints.back().axis);
        gear(link, motor);
      }
      if (rng_.chance(0.3)) gear(shin, rotor(thigh));
      attachable_.insert(attachable_.end(), {thigh, shin});
    } else if (kind == "across") {  // joints far apart on two chains
      const std::string a = chain(on, 2), b = chain(on, 2);
      couple(a, b, ratio());
      attachable_.insert(attachable_.end(), {a, b});
    } else if (kind == "layers") {  // a second cluster whose outputs are two bodies of the first
      const std::string a = body("revolute", on), b = body("revolute", on);
      couple(a, b, ratio());
      const std::string c = body("revolute", a), d = body("revolute", b);
      robot_.joints.back().mimic = Mimic{"joint_" + c, ratio(), 0.1};
      const std::string e = body("prismatic", c), f = body("revolute", d);
      robot_.joints.back().mimic = Mimic{"joint_" + e, ratio(), 0.0};
      if (rng_.chance(0.5)) gear(e, rotor(d));  // over the path between the parents
      attachable_.insert(attachable_.end(), {e, f});
    } else if (kind == "planar_loop") {
      planar_loop(on, 3 + rng_.below(4));
    } else if (kind == "four_bar_with_gears") {
      const auto [crank, rocker] = planar_loop(on, 3);
      gear(crank, rotor(on));
      // A cluster on two bodies of the four-bar.
      const std::string a = body("revolute", crank), b = body("revolute", rocker);
      robot_.joints.back().mimic = Mimic{"joint_" + a, ratio(), 0.0};
      attachable_.push_back(b);
    } else if (kind == "floating_inside") {  // a platform on rods
      const std::string platform = body("floating", on);
      for (int k = 2 + rng_.below(3); k-- > 0;) close_rod(on, platform);
      attachable_.push_back(platform);
    } else if (kind.starts_with("loop_")) {
      spatial_loop(on, kind.substr(5));
    } else {
      const Entry& e = registry_.find(Kind::sub_mechanism, kind);
      const SubMechanism& mechanism = *e.sub_mechanism;
      for (const auto& output :
           attach(robot_, mechanism, mechanism.sample(), part_, on, random_pose(rng_, 0.2))) {
        free_ends_.push_back(output.link);
      }
    }
  }

  /// Half of the time a link to hang something on whose place is not known.
  std::string any_link() {
    if (!free_ends_.empty() && rng_.chance(0.3)) {
      const std::string link = free_ends_[rng_.below(static_cast<int>(free_ends_.size()))];
      place_[link] = Transform<double>::identity();  // loops are closed relative to it
      return link;
    }
    return attachable_[rng_.below(static_cast<int>(attachable_.size()))];
  }

  double ratio() {
    static const double ratios[] = {1.0, -1.0, 6.0, -9.5, 100.0, 0.01, -0.3, 2.5};
    return ratios[rng_.below(8)];
  }

  void add_link(const std::string& name, bool massive) {
    LinkDescription link;
    link.name = name;
    if (massive) link.inertial = random_inertial(rng_, 0.2);
    robot_.links.push_back(link);
  }

  /// A link on a joint of its own, named joint_<link>.
  std::string body(const std::string& type, const std::string& on) {
    const std::string name = part_ + "l" + std::to_string(robot_.links.size());
    add_link(name, true);
    robot_.joints.push_back(
        random_joint(rng_, registry_.joint_type(type), "joint_" + name, on, name, 0.3));
    if (rng_.chance(0.2)) robot_.joints.back().armature = rng_.uniform(0.001, 0.1);
    place_[name] = robot_.joints.back().origin.transform() * place_.at(on);
    return name;
  }

  /// Turns the last joint.
  void reorient(const Vec3<double>& rpy, const Vec3<double>& axis) {
    JointDescription& joint = robot_.joints.back();
    joint.origin.rpy = rpy;
    joint.axis = axis;
    place_[joint.child] = joint.origin.transform() * place_.at(joint.parent);
  }

  /// A small body that turns fast: three times out of four symmetric about its axis, so that it is
  /// folded.
  std::string rotor(const std::string& on) {
    const std::string name = body("revolute", on);
    Inertial& inertial = *robot_.links.back().inertial;
    JointDescription& joint = robot_.joints.back();
    const double a = rng_.uniform(1e-4, 1e-3), s = rng_.uniform(0.2, 1.8);
    inertial.mass = rng_.uniform(0.05, 0.5);
    if (rng_.chance(0.75)) {
      joint.axis = {0, 0, rng_.chance(0.5) ? 1.0 : -1.0};
      inertial.origin = {{0, 0, rng_.uniform(-0.05, 0.05)}, {0, 0, rng_.uniform(-3.0, 3.0)}};
      inertial.I = {a, 0, 0, a, 0, s * a};
    } else {
      inertial.origin = {rng_.vec3(0.01), rng_.vec3(3.0)};
      inertial.I = {a, 0, 0, 1.5 * a, 0, 0.9 * a};
    }
    return name;
  }
  void gear(const std::string& link, const std::string& rotor) { couple(link, rotor, ratio()); }
  void couple(const std::string& predecessor, const std::string& successor, double ratio) {
    const std::string name = part_ + "c" + std::to_string(robot_.couplings.size());
    robot_.couplings.push_back({name, predecessor, successor, ratio, {}});
  }

  /// A chain of joints of one rate; its last link.
  std::string chain(std::string on, int joints) {
    while (joints-- > 0) on = body(rng_.chance(0.7) ? "revolute" : "prismatic", on);
    return on;
  }

  /// A loop of bars in one plane, closed by a pin in space, of whose five rows two count.
  std::pair<std::string, std::string> planar_loop(const std::string& on, int joints) {
    const Pose plane = random_pose(rng_, 0.3);
    const int left = 1 + rng_.below(joints - 1);
    std::string ends[2];
    for (int side = 0; side < 2; ++side) {
      std::string last = on;
      for (int k = side == 0 ? left : joints - left; k-- > 0;) {
        const std::string name = body("revolute", last);
        JointDescription& joint = robot_.joints.back();
        joint.armature = 0.0;
        joint.axis = {0, 0, 1};
        const Pose in_plane{{rng_.uniform(-0.4, 0.4), rng_.uniform(-0.4, 0.4), 0.0},
                            {0, 0, rng_.uniform(-3.0, 3.0)}};
        joint.origin = last == on ? Pose::from(in_plane.transform() * plane.transform()) : in_plane;
        place_[name] = joint.origin.transform() * place_.at(last);
        last = name;
      }
      ends[side] = last;
    }
    LoopDescription& loop = close_loop("revolute", ends[0], ends[1]);
    // The pin stands upright on the plane.
    const Pose at{{rng_.uniform(-0.4, 0.4), rng_.uniform(-0.4, 0.4), 0.0}, {0, 0, 0}};
    loop.axis = {0, 0, 1};
    set_frames(loop, at);
    attachable_.insert(attachable_.end(), {ends[0], ends[1]});
    return {ends[0], ends[1]};
  }

  /// Two chains of random joints, closed by a joint: one or two rates more than it takes.
  void spatial_loop(const std::string& on, const std::string& type) {
    static const std::map<std::string, int> rows{
        {"fixed", 6},     {"revolute", 5},  {"prismatic", 5}, {"cylindrical", 4},
        {"universal", 4}, {"spherical", 3}, {"planar", 3},    {"rod", 1}};
    static const char* const types[] = {"revolute",  "revolute",  "revolute",    "prismatic",
                                        "universal", "spherical", "cylindrical", "helical"};
    int rates = rows.at(type) + 1 + rng_.below(2);
    std::string ends[2] = {on, on};
    for (int side = 0; rates > 0; side = 1 - side) {
      const JointType* joint = nullptr;
      do joint = &registry_.joint_type(types[rng_.below(8)]);
      while (joint->nv() > rates);
      rates -= joint->nv();
      ends[side] = body(std::string(joint->name()), ends[side]);
    }
    if (type == "rod") {
      close_rod(ends[0], ends[1]);
    } else {
      LoopDescription& loop = close_loop(type, ends[0], ends[1]);
      loop.axis = rng_.direction();
      set_frames(loop, random_pose(rng_, 0.3));
    }
    for (const std::string& end : ends) {
      if (end != on) attachable_.push_back(end);
    }
  }

  LoopDescription& close_loop(const std::string& type, const std::string& predecessor,
                              const std::string& successor) {
    LoopDescription loop;
    loop.name = part_ + "loop" + std::to_string(robot_.loops.size());
    loop.type = type;
    loop.predecessor = predecessor, loop.successor = successor;
    robot_.loops.push_back(loop);
    return robot_.loops.back();
  }
  /// One frame, seen from both links at the neutral position.
  void set_frames(LoopDescription& loop, const Pose& on_predecessor) {
    loop.predecessor_origin = on_predecessor;
    loop.successor_origin = Pose::from(on_predecessor.transform() * place_.at(loop.predecessor) *
                                       place_.at(loop.successor).inverse());
  }
  void close_rod(const std::string& predecessor, const std::string& successor) {
    LoopDescription& loop = close_loop("rod", predecessor, successor);
    loop.predecessor_origin = {rng_.vec3(0.3), {0, 0, 0}};
    loop.successor_origin = {rng_.vec3(0.3), {0, 0, 0}};
    const auto point = [&](const std::string& link, const Vec3<double>& at) {
      const Transform<double>& X = place_.at(link);
      return X.r + transpose_times(X.E, at);
    };
    const Vec3<double> d = point(predecessor, loop.predecessor_origin.xyz) -
                           point(successor, loop.successor_origin.xyz);
    loop.parameters["length"] = {std::sqrt(dot(d, d))};
  }

  const Registry& registry_;
  Rng rng_;
  Description robot_;
  int parts_ = 0;
  std::string part_ = "base_";
  std::vector<std::string> attachable_, free_ends_;
  std::map<std::string, Transform<double>> place_;  ///< world to link, at neutral
};

}  // namespace

Description random_cluster_robot(const Registry& registry, const ClusterRobotOptions& options) {
  return ClusterRobot(registry, options).robot();
}

State random_cluster_state(const Model& model, unsigned long long seed) {
  State s = random_state(model, seed);
  Rng rng(seed);
  std::vector<double> start(model.nq()), best;
  model.neutral(start.data());
  double best_margin = -1.0;
  for (int attempt = 0; attempt < 12 && best_margin < 1e-2; ++attempt) {
    std::vector<double> step(model.spanning_nv(), 0.0), q(model.nq());
    const double size = attempt < 11 ? std::pow(0.7, attempt) : 0.0;
    for (const int rate : model.independent_rates()) {
      const bool slides = model.joint_of_rate(rate).type == "prismatic";
      step[rate] = size * (slides ? 0.1 : 1.0) * rng.uniform();
    }
    model.integrate(start.data(), step.data(), q.data());
    model.apply_couplings(q.data());
    if (close(model, start.data(), q.data()).verdict != Closure::Verdict::closed) continue;
    const double margin = examine(model, q.data()).margin;
    if (margin > best_margin) best_margin = margin, best = q;
  }
  s.q = best.empty() ? start : best;
  return s;
}

}  // namespace espalier::test
