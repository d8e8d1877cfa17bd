#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "tests/support/end_effectors.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"

// Algorithms as they are printed (algorithms/reference) and the fast ones give one answer on every
// robot of robots/, standing on the ground and floating. Random robots: agreement_test.cpp and
// cluster_agreement_test.cpp, which take every registered algorithm.

namespace espalier::test::reference_test {
namespace {

namespace fs = std::filesystem;
using Root = CompileOptions::Root;

// Inertias reach over gear ratios of 100 squared and condition numbers of 1e6; rounding of 1e-16
// times that.
constexpr double tolerance = 1e-9;

const std::string suffix = "-reference";

bool is_reference(const std::string& name) { return name.ends_with(suffix); }

/// Whether the link that no joint moves has mass: then the robot may float.
bool may_float(const Description& robot) {
  return std::any_of(robot.links.begin(), robot.links.end(), [&](const LinkDescription& link) {
    const bool moved =
        std::any_of(robot.joints.begin(), robot.joints.end(),
                    [&](const JointDescription& joint) { return joint.child == link.name; });
    return !moved && link.inertial && link.inertial->mass > 0.0;
  });
}

/// Files of robots/. They are read by the tests, not here, where every test of this program passes.
std::vector<std::string> robots() {
  std::vector<std::string> all;
  for (const auto& file : fs::directory_iterator(ESPALIER_SOURCE_DIR "/robots")) {
    if (!file.is_regular_file() || file.path().extension() == ".md") continue;
    all.push_back(file.path().filename().string());
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// A robot on the ground and, where it may, floating.
class ReferenceTest : public testing::TestWithParam<std::string> {
 protected:
  ReferenceTest() {
    const std::string file = ESPALIER_SOURCE_DIR "/robots/" + GetParam();
    add(host().load(file, {.root = Root::fixed}));
    if (may_float(host().read(file))) add(host().load(file, {.root = Root::floating}));
  }

  void add(const ModelPtr& model) { setups_.push_back(with_tips(model)); }

  template <class P, class Solve>
  void expect_agreement(Solve&& solve) {
    for (const espalier::Setup& setup : setups_) expect_agreement_on<P>(setup, solve);
  }

  /// Holds every exact algorithm for a problem to the references, at several states; all run on
  /// the same setup.
  /// @param solve  what an algorithm answers at a state
  template <class P, class Solve>
  void expect_agreement_on(const espalier::Setup& setup, Solve& solve) {
    const Model& model = *setup.model;
    SCOPED_TRACE(std::to_string(model.nv()) + " degrees of freedom");
    const auto all = every<P>(setup);
    int references = 0;
    for (const auto& [name, reference] : all) {
      if (!is_reference(name)) continue;
      ++references;
      int others = 0;
      for (const auto& [other, algorithm] : all) {
        if (is_reference(other)) continue;
        ++others;
        for (int seed = 0; seed < 3; ++seed) {
          const State s = random_cluster_state(model, seed);
          EXPECT_LE(relative_difference(solve(*algorithm, s), solve(*reference, s)), tolerance)
              << other << " against " << name << ", seed " << seed;
        }
      }
      EXPECT_GE(others, 1) << "nothing to compare with " << name;
    }
    // Robots whose joints bring equations of their own are beyond what is printed.
    EXPECT_EQ(references > 0, model.bodies_with_equations().empty());
  }

  std::vector<espalier::Setup> setups_;
};

TEST_P(ReferenceTest, ForwardDynamicsAgree) {
  expect_agreement<ForwardDynamics<double>>([&](auto& algorithm, const State& s) {
    const Wrenches<double> wrenches = s.wrenches(algorithm.model_ptr());
    std::vector<double> vdot(s.v.size());
    algorithm.evaluate(s.q, s.v, s.tau, vdot, &wrenches);
    return vdot;
  });
}

TEST_P(ReferenceTest, InverseDynamicsAgree) {
  expect_agreement<InverseDynamics<double>>([&](auto& algorithm, const State& s) {
    const Wrenches<double> wrenches = s.wrenches(algorithm.model_ptr());
    std::vector<double> tau(s.v.size());
    algorithm.evaluate(s.q, s.v, s.vdot, tau, &wrenches);
    return tau;
  });
}

TEST_P(ReferenceTest, MassMatricesAgree) {
  // Composite rigid bodies are printed for trees.
  if (!setups_.front().model->is_tree()) return;
  expect_agreement<MassMatrix<double>>([](auto& algorithm, const State& s) {
    std::vector<double> M(s.v.size() * s.v.size());
    algorithm.evaluate(s.q, M);
    return M;
  });
}

TEST_P(ReferenceTest, InverseOperationalSpaceInertiasAgree) {
  for (espalier::Setup& setup : setups_) {
    setup.end_effectors = random_end_effectors(*setup.model, 6);  // nested, on rotors, the ground
    for (const EndEffector& tip : tips(*setup.model)) setup.end_effectors.push_back(tip);
  }
  expect_agreement<InverseOsim<double>>([](auto& algorithm, const State& s) {
    std::vector<double> out(algorithm.task().size() * algorithm.task().size());
    algorithm.evaluate(s.q, out);
    return out;
  });
}

TEST_P(ReferenceTest, InputMatricesAgree) {
  for (espalier::Setup& setup : setups_) {
    for (Input& input : setup.inputs) {
      if (input.joint.empty()) input.name = "contact on " + input.contact.link;
    }
  }
  expect_agreement<InputMatrix<double>>([&](auto& algorithm, const State& s) {
    const Wrenches<double> wrenches = s.wrenches(algorithm.model_ptr());
    const auto& a = algorithm.evaluate(s.q, s.v, s.tau, &wrenches);
    std::vector<double> out;
    for (const auto* part :
         {&a.input_matrix, &a.free_acceleration, &a.task_input_matrix, &a.task_free_acceleration}) {
      out.insert(out.end(), part->begin(), part->end());
    }
    return out;
  });
}

std::string name_of(const testing::TestParamInfo<std::string>& robot) {
  std::string name = robot.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(AllRobots, ReferenceTest, testing::ValuesIn(robots()), name_of);

}  // namespace
}  // namespace espalier::test::reference_test
