#include <Eigen/Dense>
#include <filesystem>
#include <fstream>
#include <map>

#include "formats/mjcf/mjcf.hpp"
#include "formats/sdf/sdf.hpp"
#include "formats/urdf/urdf.hpp"
#include "formats/yaml/yaml.hpp"
#include "tests/support/host.hpp"

// Robots of the repository through every format: the same mass matrix and bias forces.

namespace espalier::test {
namespace {

using Matrix = Eigen::Matrix<double, -1, -1, Eigen::RowMajor>;

/// Mass matrix and bias of a robot, by the names of its independent coordinates.
struct Numbers {
  std::vector<std::string> names;
  Matrix M;
  Eigen::VectorXd h;
};

/// A joint's name; SDF wants links and joints to differ in name and adds "_joint" where they do not.
std::string plain(const std::string& name) {
  return name.ends_with("_joint") ? name.substr(0, name.size() - 6) : name;
}

/// At positions that are given by name; those of other joints follow.
Numbers numbers(const ModelPtr& robot, const std::map<std::string, double>& positions) {
  Numbers out;
  const int nv = robot->nv();
  std::vector<double> q(robot->nq());
  robot->neutral(q.data());
  for (const Joint& joint : robot->joints()) {
    const auto given = positions.find(plain(joint.name));
    if (joint.nq == 1 && given != positions.end()) q[joint.q] = given->second;
  }
  Eigen::VectorXd v(nv);
  for (const Coordinate& c : robot->coordinates()) {
    for (int k = 0; k < c.size; ++k) {
      out.names.push_back(plain(c.joint) + "[" + std::to_string(c.component + k) + "]");
      v[c.start + k] =
          std::sin(static_cast<double>(std::hash<std::string>{}(out.names.back()) % 100));
    }
  }
  out.M.resize(nv, nv), out.h.resize(nv);
  any<MassMatrix<double>>(robot)->evaluate(q, out.M);  // symmetric: either order of storage
  any<BiasForce<double>>(robot)->evaluate(q, v, out.h);
  return out;
}

template <class F>
void expect_the_same_after(const std::string& file) {
  SCOPED_TRACE(file);
  const Description robot = host().read(file);
  const F format;
  const Description back = format.read(format.write(robot), "written", host().registry());
  const ModelPtr a = host().compile(robot), b = host().compile(back);
  // Spanning positions that close all loops, by name.
  std::vector<double> q(a->nq());
  a->random(3, q.data());
  std::map<std::string, double> positions;
  for (const Joint& joint : a->joints()) {
    if (joint.nq == 1) positions[plain(joint.name)] = q[joint.q];
  }
  const Numbers x = numbers(a, positions), y = numbers(b, positions);
  ASSERT_EQ(x.names.size(), y.names.size());
  const double size = x.M.cwiseAbs().maxCoeff(), force = 1.0 + x.h.cwiseAbs().maxCoeff();
  for (std::size_t i = 0; i < x.names.size(); ++i) {
    const auto I = std::find(y.names.begin(), y.names.end(), x.names[i]) - y.names.begin();
    ASSERT_LT(static_cast<std::size_t>(I), y.names.size()) << x.names[i];
    EXPECT_NEAR(x.h[i], y.h[I], 1e-9 * force) << x.names[i];
    for (std::size_t j = 0; j < x.names.size(); ++j) {
      const auto J = std::find(y.names.begin(), y.names.end(), x.names[j]) - y.names.begin();
      ASSERT_LT(static_cast<std::size_t>(J), y.names.size()) << x.names[j];
      EXPECT_NEAR(x.M(i, j), y.M(I, J), 1e-9 * size) << x.names[i] << ", " << x.names[j];
    }
  }
}

std::string robot(const std::string& name) { return ESPALIER_SOURCE_DIR "/robots/" + name; }

TEST(RoundTripTest, RobotsThroughMjcf) {
  // Not robots with belts: MJCF does not say which of two joints that are tied is independent.
  for (const char* name : {"panda.urdf", "humanoid.urdf", "solo12.urdf", "ur5.urdf", "tello.yaml",
                           "mini_cheetah_geared.yaml", "geared_chain.yaml",
                           "double_pendulum.yaml"}) {
    expect_the_same_after<MjcfFormat>(robot(name));
  }
}

TEST(RoundTripTest, RobotsThroughSdf) {
  for (const char* name : {"humanoid.urdf", "solo12.urdf", "ur5.urdf"}) {
    expect_the_same_after<SdfFormat>(robot(name));
  }
}

TEST(RoundTripTest, RobotsThroughUrdfAndYaml) {
  for (const char* name : {"panda.urdf", "tello.yaml", "four_bar_leg.yaml", "rod_ankle.yaml",
                           "elastic_arm.yaml", "jvrc1_geared.yaml"}) {
    expect_the_same_after<UrdfFormat>(robot(name));
    expect_the_same_after<YamlFormat>(robot(name));
  }
}

}  // namespace
}  // namespace espalier::test
