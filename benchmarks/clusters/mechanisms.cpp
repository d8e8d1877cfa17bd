#include "benchmarks/clusters/mechanisms.hpp"

#include "tests/support/big_clusters.hpp"

namespace espalier::bench {

namespace {

/// Two chains of `links` parallel links each, side by side on the ground.
Description two_chains(const std::string& name, int links) {
  Description robot = test::ground();
  robot.name = name + std::to_string(links);
  robot.gravity = {0, -9.81, 0};
  for (const char* side : {"left", "right"}) {
    std::string parent = "base";
    for (int i = 1; i <= links; ++i) {
      const std::string link = side + std::to_string(i);
      const double angle = i == 1 ? 1.2 : i % 2 == 0 ? 0.5 : -0.4;
      const double x = i > 1 ? 0.3 : side[0] == 'r' ? 0.5 : 0.0;
      test::add_rod(robot, link + "_link", 0.3, 1.0 / i);
      test::add_joint(robot, link, "revolute", parent, link + "_link", {0, 0, 1},
                      {{x, 0, 0}, {0, 0, angle}});
      parent = link + "_link";
    }
  }
  return robot;
}

/// A rod joins the tips: 2 links + 1 bodies, 2 links - 1 degrees of freedom.
Description parallel_chains(int links) {
  Description robot = two_chains("parallel_chains", links);
  const std::string tip = std::to_string(links) + "_link";
  test::add_rod(robot, "rod_link", 0.5);
  // Both chains are turned by as much; the rod lies along the ground.
  double turned = 0.0;
  for (int i = 0; i < links; ++i) turned += robot.joints[i].origin.rpy.z;
  test::add_joint(robot, "rod", "revolute", "left" + tip, "rod_link", {0, 0, 1},
                  {{0.3, 0, 0}, {0, 0, -turned}});
  test::detail::add_pin(robot, "pin", "rod_link", 0.5, "right" + tip, 0.3);
  return robot;
}

/// A belt ties how far the tips have turned: 2 links bodies, 2 links - 1 degrees of freedom.
Description parallel_belts(int links) {
  Description robot = two_chains("parallel_belts", links);
  CouplingDescription belt;
  belt.name = "belt";
  belt.predecessor = "left" + std::to_string(links) + "_link";
  belt.successor = "right" + std::to_string(links) + "_link";
  belt.ratio = 1.5;
  belt.where = {"robot.bench", 1};
  robot.couplings.push_back(belt);
  return robot;
}

std::vector<RandomState> near_neutral(const Model& model) {
  std::vector<RandomState> states;
  for (int k = 0; k < state_count; ++k) {
    const test::State s = test::big_cluster_state(model, k + 1);
    states.push_back({s.q, s.v, s.tau, s.vdot});
  }
  return states;
}

/// What loops share: all of these are closed by balls, or by pins of planar mechanisms, whose axes
/// are parallel whatever the position.
std::vector<SharedPoint> shared_points(const Model& model, const Description& description) {
  std::vector<SharedPoint> points;
  for (const LoopDescription& loop : description.loops) {
    SharedPoint& shared = points.emplace_back();
    for (const int s : {0, 1}) {
      const Link& link = model.link(s == 0 ? loop.predecessor : loop.successor);
      const Pose& origin = s == 0 ? loop.predecessor_origin : loop.successor_origin;
      shared.body[s] = link.body;
      shared.point[s] = link.X.r + transpose_times(link.X.E, origin.xyz);
    }
  }
  return points;
}

}  // namespace

std::vector<Mechanism> mechanisms(bool small) {
  std::vector<Mechanism> all;
  const auto add = [&](const char* kind, Description description) {
    all.push_back({kind, std::move(description)});
  };
  for (const int cranks : small ? std::vector{6, 16} : std::vector{6, 16, 31, 61, 121}) {
    add("ladder", test::ladder(cranks));
  }
  for (const int stages : small ? std::vector{5} : std::vector{5, 15, 30, 60}) {
    add("scissor lift", test::scissor_lift(stages));
  }
  for (const int links : small ? std::vector{5} : std::vector{2, 5, 10}) {
    add("parallel chains", parallel_chains(links));
  }
  for (const int links : small ? std::vector{5} : std::vector{2, 5, 10}) {
    add("parallel belts", parallel_belts(links));
  }
  add("Stewart platform", test::stewart_platform());
  for (const int side : small ? std::vector{2} : std::vector{2, 4, 6, 10}) {
    add("net", test::net(side, side));
  }
  for (const int bodies : small ? std::vector{20} : std::vector{20, 40, 60}) {
    add("random loops", test::random_loops(bodies, bodies / 10, bodies / 10 - 1));
  }
  return all;
}

LoopRobot robot_of(const Host& host, const Mechanism& mechanism) {
  const Description& description = mechanism.description;
  LoopRobot robot(host, description.name, description, false, near_neutral);
  robot.points = shared_points(*robot.model, description);
  return robot;
}

}  // namespace espalier::bench
