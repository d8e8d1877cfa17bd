#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "tests/support/host.hpp"
#include "tests/support/state.hpp"

// Every exact algorithm against results of programs that share no code with this one (README.md).

namespace espalier::test::results_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Values = std::vector<double>;

// Both sides work in doubles; inertias reach over ratios of 50 squared and condition numbers of
// 1e6, and stored positions close their loops to 1e-13.
constexpr double tolerance = 1e-9;
// MuJoCo turns inertias onto principal axes and stops within 1e-6 rad of them.
constexpr double of_mujoco = 1e-5;

const fs::path folder = ESPALIER_SOURCE_DIR "/tests/reference/results";

std::vector<std::string> files() {
  std::vector<std::string> all;
  for (const auto& file : fs::directory_iterator(folder)) all.push_back(file.path().filename());
  std::sort(all.begin(), all.end());
  return all;
}

/// Rows of a matrix, one after the other.
Values flat(const Json& rows) {
  Values out;
  for (const Json& row : rows) {
    for (const double x : row) out.push_back(x);
  }
  return out;
}

/// A stored state in the model's order.
struct Case {
  const Json& json;
  Values q, v, tau, wanted;
  Wrenches<double> wrenches;
};

class ResultsTest : public testing::TestWithParam<std::string> {
 protected:
  ResultsTest() : json_(Json::parse(std::ifstream(folder / GetParam()))) {
    const std::string file = ESPALIER_SOURCE_DIR "/" + json_["robot"].get<std::string>();
    const bool floating = json_["floating"];
    model_ = host().load(
        file, {.root = floating ? CompileOptions::Root::floating : CompileOptions::Root::fixed});
    motion_.emplace(*model_);
  }

  /// Vectors by joint, as one over spanning rates.
  Values spanning(const Json& by_joint) const {
    Values out(model_->spanning_nv());
    EXPECT_EQ(by_joint.size(), model_->joints().size());
    for (const auto& [name, values] : by_joint.items()) {
      const Joint& joint = model_->joint(name);
      EXPECT_EQ(values.size(), static_cast<std::size_t>(joint.nv)) << name;
      for (int k = 0; k < joint.nv; ++k) out[joint.v + k] = values[k];
    }
    return out;
  }
  Values independent(const Values& spanning) const {
    Values out;
    for (const int rate : model_->independent_rates()) out.push_back(spanning[rate]);
    return out;
  }
  /// G^T of forces on spanning rates, at the last update of motion_.
  Values reduced(const Json& by_joint) {
    Values out(model_->nv());
    motion_->reduce(spanning(by_joint).data(), out.data());
    return out;
  }

  /// Calls f(case) for every state, with motion_ at it.
  template <class F>
  void for_each_state(F&& f) {
    ASSERT_GE(json_["states"].size(), 3u);
    for (const Json& s : json_["states"]) {
      Case c{s,  Values(model_->nq()),    independent(spanning(s["v"])), {},
             {}, Wrenches<double>(model_)};
      for (const auto& [name, values] : s["q"].items()) {
        const Joint& joint = model_->joint(name);
        for (int k = 0; k < joint.nq; ++k) c.q[joint.q + k] = values[k];
      }
      motion_->update(c.q.data(), c.v.data());
      c.tau = reduced(s["tau"]);
      c.wanted = independent(spanning(s["wanted"]));
      for (const auto& [name, w] : s["wrenches"].items()) {
        c.wrenches.add(name, Force<double>{{w[0], w[1], w[2]}, {w[3], w[4], w[5]}});
      }
      f(c);
    }
  }
  /// Accelerations of all spanning rates.
  Values expanded(const Values& vdot) const {
    Values out(model_->spanning_nv());
    motion_->expand(vdot.data(), out.data());
    for (std::size_t i = 0; motion_->g() != nullptr && i < out.size(); ++i)
      out[i] += motion_->g()[i];
    return out;
  }

  Json json_;
  ModelPtr model_;
  std::optional<SpanningMotion<double>> motion_;
};

TEST_P(ResultsTest, RatesOfAllJointsFollowTheIndependentOnes) {
  for_each_state([&](const Case& c) {
    const Values qd(motion_->qd(), motion_->qd() + model_->spanning_nv());
    EXPECT_LE(relative_difference(qd, spanning(c.json["v"])), tolerance);
  });
}

TEST_P(ResultsTest, ForwardDynamics) {
  const auto all = every<ForwardDynamics<double>>(model_);
  ASSERT_GE(all.size(), 4u);
  for_each_state([&](const Case& c) {
    Values vdot(c.v.size());
    for (const auto& [name, algorithm] : all) {
      algorithm->evaluate(c.q, c.v, c.tau, vdot, &c.wrenches);
      EXPECT_LE(relative_difference(expanded(vdot), spanning(c.json["vdot"])), tolerance) << name;
    }
  });
}

TEST_P(ResultsTest, ForwardDynamicsByMujoco) {
  const bool tree = model_->is_tree() && json_.contains("tree_by");
  for_each_state([&](const Case& c) {
    EXPECT_EQ(c.json.contains("vdot_without_wrenches"), tree);
    if (!tree) return;
    const Values wanted = spanning(c.json["vdot_without_wrenches"]);
    Values vdot(c.v.size());
    for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model_)) {
      algorithm->evaluate(c.q, c.v, c.tau, vdot);
      EXPECT_LE(relative_difference(vdot, wanted), of_mujoco) << name;
    }
  });
}

TEST_P(ResultsTest, InverseDynamicsBiasAndMassMatrix) {
  for_each_state([&](const Case& c) {
    const Values force = reduced(c.json["force"]), momentum = reduced(c.json["momentum"]);
    const std::size_t nv = c.v.size();
    Values tau(nv), M(nv * nv);
    for (const auto& [name, algorithm] : every<InverseDynamics<double>>(model_)) {
      algorithm->evaluate(c.q, c.v, c.wanted, tau, &c.wrenches);
      EXPECT_LE(relative_difference(tau, force), tolerance) << name;
    }
    const auto times = [&](const Values& x) {
      Values out(nv, 0.0);
      for (std::size_t i = 0; i < nv * nv; ++i) out[i / nv] += M[i] * x[i % nv];
      return out;
    };
    for (const auto& [name, algorithm] : every<MassMatrix<double>>(model_)) {
      algorithm->evaluate(c.q, M);
      EXPECT_LE(relative_difference(times(c.v), momentum), tolerance) << name;
    }
    for (const auto& [name, algorithm] : every<BiasForce<double>>(model_)) {
      algorithm->evaluate(c.q, c.v, tau, &c.wrenches);
      EXPECT_LE(relative_difference(combined(times(c.wanted), 1.0, tau), force), tolerance) << name;
    }
  });
}

TEST_P(ResultsTest, EnergyAndCentreOfMass) {
  for_each_state([&](const Case& c) {
    for (const auto& [name, algorithm] : every<Energy<double>>(model_)) {
      const auto energy = algorithm->evaluate(c.q, c.v);
      const Values wanted{c.json["kinetic"], c.json["potential"]};
      EXPECT_LE(relative_difference({energy.kinetic, energy.potential}, wanted), tolerance) << name;
    }
    const Values wanted = flat(c.json["center_of_mass"]);
    for (const auto& [name, algorithm] : every<CenterOfMass<double>>(model_)) {
      const auto motion = algorithm->evaluate(c.q, c.v, c.wanted);
      Values got;
      for (const Vec3<double>& x : {motion.position, motion.velocity, motion.acceleration}) {
        got.insert(got.end(), {x.x, x.y, x.z});
      }
      EXPECT_LE(relative_difference(got, wanted), tolerance) << name;
    }
  });
}

TEST_P(ResultsTest, MotionOfTips) {
  for_each_state([&](const Case& c) {
    for (const auto& [name, algorithm] : every<Kinematics<double>>(model_)) {
      algorithm->evaluate(c.q, c.v, c.wanted);
      for (const auto& [tip, wanted] : c.json["links"].items()) {
        const Link& link = model_->link(tip);
        const Transform<double> X = algorithm->placement(link);
        const Motion<double> v = algorithm->velocity(link), a = algorithm->acceleration(link);
        for (int i = 0; i < 3; ++i) {
          EXPECT_NEAR(X.r[i], wanted["position"][i].get<double>(), tolerance) << name;
          for (int j = 0; j < 3; ++j) {
            EXPECT_NEAR(X.E(j, i), wanted["rotation"][i][j].get<double>(), tolerance) << name;
          }
        }
        for (const auto& [got, key] : {std::pair{v, "twist"}, std::pair{a, "acceleration"}}) {
          const Values six{got.w.x, got.w.y, got.w.z, got.v.x, got.v.y, got.v.z};
          EXPECT_LE(relative_difference(six, wanted[key]), tolerance) << name << ' ' << key;
        }
      }
    }
  });
}

TEST_P(ResultsTest, InverseOperationalSpaceInertia) {
  espalier::Setup setup{model_};
  for (const auto& [tip, values] : json_["states"][0]["links"].items()) {
    setup.end_effectors.push_back(EndEffector::weld(tip));
  }
  for_each_state([&](const Case& c) {
    const Values wanted = flat(c.json["inverse_osim"]);
    for (const auto& [name, algorithm] : every<InverseOsim<double>>(setup)) {
      Values got(wanted.size());
      algorithm->evaluate(c.q, got);
      EXPECT_LE(relative_difference(got, wanted), tolerance) << name;
    }
  });
}

std::string name_of(const testing::TestParamInfo<std::string>& file) {
  std::string name = file.param.substr(0, file.param.rfind('.'));
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(AllRobots, ResultsTest, testing::ValuesIn(files()), name_of);

TEST(ResultFilesTest, AreThereForEveryRobotButTheElasticArm) {
  std::vector<std::string> wanted;
  for (const char* robots : {"/robots", "/tests/reference/robots"}) {
    for (const auto& file : fs::directory_iterator(std::string(ESPALIER_SOURCE_DIR) + robots)) {
      const std::string name = file.path().filename();
      if (!file.is_regular_file() || name == "README.md" || name == "elastic_arm.yaml") continue;
      wanted.push_back(name + ".json");
    }
  }
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(files(), wanted);
}

}  // namespace
}  // namespace espalier::test::results_test
