#include <gtest/gtest.h>

#include "espalier/sensing/sensor_dynamics.hpp"
#include "espalier/sensing/sensor_verdict.hpp"
#include "tests/support/sensor_robots.hpp"
#include "tests/support/sensor_sets.hpp"

// Random sets of sensors: good ones are solved, bad ones are refused and say what is not seen.

namespace espalier::test::sensor_sets_test {
namespace {

#ifdef ESPALIER_UMFPACK
constexpr const char* fresh = "umfpack";  // pivots anew for every matrix
constexpr int registered = 5;             // algorithms for dynamics from sensors
#else
constexpr const char* fresh = "eigen-sparse-lu";
constexpr int registered = 4;
#endif

/// A robot moves under known forces; its sensors read what they must, and the rest is to be found.
struct Truth {
  Truth(const ModelPtr& model, const std::vector<Sensor>& sensors, unsigned long long seed)
      : state(model->is_tree() ? random_state(*model, seed) : random_cluster_state(*model, seed)),
        system(*model, sensors) {
    // Forward dynamics under the torques, and wrenches where links are touched.
    std::vector<Sensor> known;
    Rng rng(seed);
    std::vector<double> y;
    for (const Joint& joint : model->joints()) {
      known.push_back({.kind = Sensor::Kind::torque, .joint = joint.name});
      for (int k = 0; k < joint.nv; ++k) y.push_back(rng.uniform(-3.0, 3.0));
    }
    for (const SensorSystem::Contact& c : system.contacts()) {
      known.push_back({.kind = Sensor::Kind::wrench, .link = c.link});
      for (int k = 0; k < 6; ++k) y.push_back(rng.uniform(-3.0, 3.0));
    }
    const auto forward = host().create<SensorDynamics<double>>(
        fresh, espalier::Setup{.model = model, .sensors = known});
    answer = forward->evaluate(state.q, state.v, y);
    y_measured = simulated_measurements(system, *forward, state.q, state.v);
  }

  test::State state;
  SensorSystem system;
  SensorDynamics<double>::Answer answer;
  std::vector<double> y_measured;
};

ModelPtr robot(unsigned long long seed) {
  return seed % 3 == 2 ? random_cluster_tree(seed, 1)
                       : random_tree(seed, 1 + static_cast<int>(seed % 4));
}

TEST(SensorSetsTest, AThousandWellPosedSetsAreSolved) {
  SensorVerdictOptions quick;
  quick.special_positions = false;
  int solved = 0;
  double worst = 0.0;
  for (unsigned long long seed = 1; solved < 1000; ++seed) {
    ASSERT_LT(seed, 400u) << "sets are not found";
    const ModelPtr model = robot(seed);
    if (model->nv() == 0) continue;
    SensorSets sets(model, seed);
    for (int k = 0; k < 10 && solved < 1000; ++k) {
      const auto sensors = sets.well_posed();
      if (!sensors) continue;
      const SensorVerdict verdict = judge(*model, *sensors, quick);
      ASSERT_EQ(verdict.kind, SensorVerdict::Kind::well_posed) << model->name() << "\n"
                                                               << verdict.text();
      const auto sparse = host().create<SensorDynamics<double>>(
          "sparse-lu", espalier::Setup{.model = model, .sensors = *sensors});
      Truth truth(model, *sensors, 1000 * seed + static_cast<unsigned>(k));
      const auto& answer = sparse->evaluate(truth.state.q, truth.state.v, truth.y_measured);
      const double off = std::max(relative_difference(answer.tau, truth.answer.tau),
                                  relative_difference(answer.qdd, truth.answer.qdd));
      // A sensor that adds little (1e-3, and less away from where it was chosen) costs digits.
      EXPECT_LT(off, 1e-6) << model->name() << " seed " << seed << ", margin " << verdict.margin;
      worst = std::max(worst, off);
      ++solved;
    }
  }
  EXPECT_EQ(solved, 1000);
  RecordProperty("worst", std::to_string(worst));
}

TEST(SensorSetsTest, AThousandIllPosedSetsAreRefusedAndSayWhatIsNotSeen) {
  SensorVerdictOptions quick;
  quick.special_positions = false;
  int refused = 0;
  for (unsigned long long seed = 1; refused < 1000; ++seed) {
    ASSERT_LT(seed, 400u) << "sets are not found";
    const ModelPtr model = robot(seed);
    if (model->nv() == 0) continue;
    SensorSets sets(model, seed + 5000);
    for (int k = 0; k < 10 && refused < 1000; ++k) {
      const auto sensors = sets.ill_posed();
      if (!sensors) continue;
      const SensorVerdict verdict = judge(*model, *sensors, quick);
      ASSERT_EQ(verdict.kind, SensorVerdict::Kind::singular_everywhere) << model->name() << "\n"
                                                                        << verdict.text();
      EXPECT_EQ(verdict.rank, verdict.unknowns - 1) << verdict.text();
      ASSERT_EQ(verdict.unseen.size(), 1u);
      ASSERT_FALSE(verdict.unseen[0].terms.empty());
      EXPECT_FALSE(verdict.unseen[0].text.empty());
      EXPECT_FALSE(verdict.undetermined.empty());
      try {
        host().create<SensorDynamics<double>>("sparse-lu",
                                              espalier::Setup{.model = model, .sensors = *sensors});
        ADD_FAILURE() << "not refused: " << verdict.text();
      } catch (const SingularMechanism& error) {
        EXPECT_NE(std::string(error.what()).find(verdict.unseen[0].text), std::string::npos)
            << error.what();
      }
      // One more sensor is enough, and each that is offered is one.
      ASSERT_FALSE(verdict.cures.empty()) << verdict.text();
      std::vector<Sensor> cured = *sensors;
      cured.push_back(verdict.cures[static_cast<std::size_t>(refused) % verdict.cures.size()]);
      cured.back().name = "the cure";
      const SensorVerdict after = judge(*model, cured, quick);
      EXPECT_TRUE(after.well_posed()) << after.text() << to_string(cured.back().kind);
      ++refused;
    }
  }
  EXPECT_EQ(refused, 1000);
}

TEST(SensorSetsTest, AlgorithmsAgreeOnTreesAndLoops) {
  for (unsigned long long seed = 1; seed <= 40; ++seed) {
    const ModelPtr model = robot(seed);
    if (model->nv() == 0) continue;
    SensorSets sets(model, seed + 9000);
    const auto sensors = sets.well_posed();
    if (!sensors) continue;
    Truth truth(model, *sensors, seed);
    const espalier::Setup setup{.model = model, .sensors = *sensors};
    int algorithms = 0;
    for (const auto& [name, algorithm] : every<SensorDynamics<double>>(setup)) {
      const auto& answer = algorithm->evaluate(truth.state.q, truth.state.v, truth.y_measured);
      EXPECT_LT(relative_difference(answer.tau, truth.answer.tau), 1e-6)
          << name << " seed " << seed;
      EXPECT_LT(relative_difference(answer.vdot, truth.answer.vdot), 1e-6) << name;
      ++algorithms;
    }
    EXPECT_EQ(algorithms, registered);
  }
}

}  // namespace
}  // namespace espalier::test::sensor_sets_test
