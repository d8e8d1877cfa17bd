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

/// Files of robots/, on the ground and, where that is a robot, floating.
std::vector<std::pair<std::string, Root>> robots() {
  std::vector<std::pair<std::string, Root>> all;
  for (const auto& file : fs::directory_iterator(ESPALIER_SOURCE_DIR "/robots")) {
    if (!file.is_regular_file() || file.path().extension() == ".md") continue;
    all.emplace_back(file.path().filename().string(), Root::fixed);
    if (may_float(host().read(file.path().string()))) {
      all.emplace_back(file.path().filename().string(), Root::floating);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

class ReferenceTest : public testing::TestWithParam<std::pair<std::string, Root>> {
 protected:
  ReferenceTest()
      : model_(host().load(ESPALIER_SOURCE_DIR "/robots/" + GetParam().first,
                           {.root = GetParam().second})),
        setup_(with_tips(model_)) {}

  /// Holds every exact algorithm for a problem to the references, at several states; all run on
  /// the same setup.
  /// @param solve  what an algorithm answers at a state
  template <class P, class Solve>
  void expect_agreement(Solve&& solve) {
    const auto all = every<P>(setup_);
    int references = 0;
    for (const auto& [name, reference] : all) {
      if (!is_reference(name)) continue;
      ++references;
      int others = 0;
      for (const auto& [other, algorithm] : all) {
        if (is_reference(other)) continue;
        ++others;
        for (int seed = 0; seed < 3; ++seed) {
          const State s = random_cluster_state(*model_, seed);
          EXPECT_LE(relative_difference(solve(*algorithm, s), solve(*reference, s)), tolerance)
              << other << " against " << name << ", seed " << seed;
        }
      }
      EXPECT_GE(others, 1) << "nothing to compare with " << name;
    }
    // Robots whose joints bring equations of their own are beyond what is printed.
    EXPECT_EQ(references > 0, model_->bodies_with_equations().empty());
  }

  ModelPtr model_;
  espalier::Setup setup_;
};

TEST_P(ReferenceTest, ForwardDynamicsAgree) {
  expect_agreement<ForwardDynamics<double>>([&](auto& algorithm, const State& s) {
    const Wrenches<double> wrenches = s.wrenches(model_);
    std::vector<double> vdot(s.v.size());
    algorithm.evaluate(s.q, s.v, s.tau, vdot, &wrenches);
    return vdot;
  });
}

TEST_P(ReferenceTest, InverseDynamicsAgree) {
  expect_agreement<InverseDynamics<double>>([&](auto& algorithm, const State& s) {
    const Wrenches<double> wrenches = s.wrenches(model_);
    std::vector<double> tau(s.v.size());
    algorithm.evaluate(s.q, s.v, s.vdot, tau, &wrenches);
    return tau;
  });
}

TEST_P(ReferenceTest, MassMatricesAgree) {
  if (!model_->is_tree()) return;  // composite rigid bodies are printed for trees
  expect_agreement<MassMatrix<double>>([](auto& algorithm, const State& s) {
    std::vector<double> M(s.v.size() * s.v.size());
    algorithm.evaluate(s.q, M);
    return M;
  });
}

TEST_P(ReferenceTest, InverseOperationalSpaceInertiasAgree) {
  setup_.end_effectors = random_end_effectors(*model_, 6);  // nested, on rotors and on the ground
  for (const EndEffector& tip : tips(*model_)) setup_.end_effectors.push_back(tip);
  expect_agreement<InverseOsim<double>>([](auto& algorithm, const State& s) {
    std::vector<double> out(algorithm.task().size() * algorithm.task().size());
    algorithm.evaluate(s.q, out);
    return out;
  });
}

TEST_P(ReferenceTest, InputMatricesAgree) {
  for (Input& input : setup_.inputs) {
    if (input.joint.empty()) input.name = "contact on " + input.contact.link;
  }
  expect_agreement<InputMatrix<double>>([&](auto& algorithm, const State& s) {
    const Wrenches<double> wrenches = s.wrenches(model_);
    const auto& a = algorithm.evaluate(s.q, s.v, s.tau, &wrenches);
    std::vector<double> out;
    for (const auto* part :
         {&a.input_matrix, &a.free_acceleration, &a.task_input_matrix, &a.task_free_acceleration}) {
      out.insert(out.end(), part->begin(), part->end());
    }
    return out;
  });
}

std::string name_of(const testing::TestParamInfo<std::pair<std::string, Root>>& robot) {
  std::string name = robot.param.first;
  std::replace(name.begin(), name.end(), '.', '_');
  return name + (robot.param.second == Root::fixed ? "Fixed" : "Floating");
}
INSTANTIATE_TEST_SUITE_P(AllRobots, ReferenceTest, testing::ValuesIn(robots()), name_of);

TEST(ReferenceAlgorithmsTest, EightAreRegistered) {
  std::set<std::string> names;
  for (const Entry* e : host().registry().entries(Kind::algorithm)) {
    if (is_reference(e->about.name)) names.insert(e->about.name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"aba-reference", "c-aba-reference", "c-efpa-reference",
                                          "c-rnea-reference", "crba-reference", "iim-reference",
                                          "pv-osimr-reference", "rnea-reference"}));
}

TEST(ReferenceAlgorithmsTest, EachFileIsReadOnAPageOrTwo) {
  for (const std::string name :
       {"aba", "c_aba", "c_efpa", "c_rnea", "crba", "iim", "pv_osimr", "rnea"}) {
    std::ifstream file(ESPALIER_SOURCE_DIR "/algorithms/reference/" + name + ".hpp");
    int lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    EXPECT_GT(lines, 0) << name;
    EXPECT_LE(lines, 100) << name;
  }
}

TEST(ReferenceAlgorithmsTest, ThoseForTreesRefuseLoopsAndNameOthers) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml");
  try {
    host().create<ForwardDynamics<double>>("aba-reference", model);
    ADD_FAILURE() << "aba-reference took a robot with loops";
  } catch (const Unsupported& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(model->first_constrained()->name), std::string::npos) << text;
    EXPECT_NE(text.find("'c-aba'"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace espalier::test::reference_test
