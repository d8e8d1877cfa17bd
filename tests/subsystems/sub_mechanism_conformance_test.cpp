#include <set>

#include "tests/subsystems/bench.hpp"

/// What every registered sub-mechanism has to satisfy, as a robot on a base with the parameters of
/// its sample(). A sub-mechanism that is registered is tested here.

namespace espalier::sub_mechanism_conformance_test {
namespace {

using namespace test;

/// Fourth-order differences at a step of 1e-3 of positions that are closed to 1e-15; per unit of
/// the largest entry (ratios are up to 50).
constexpr double differences = 1e-9;
/// Numbers that went through the elimination of a few well-conditioned rows; per unit of the
/// largest.
constexpr double rounding = 1e-12;

class SubMechanismConformanceTest : public ::testing::TestWithParam<std::string> {
 protected:
  const SubMechanism& type() const { return mechanism(GetParam()); }
  ModelPtr model(CompileOptions options = {}) const {
    return compile(GetParam(), type().sample(), options);
  }
  Rng rng_{5};
};

TEST(SubMechanismRegistryTest, SubMechanismsOfTheIssueAreRegistered) {
  for (const char* name :
       {"geared_joint", "gear_train", "planetary_stage", "belt_pair", "belt_triple",
        "bevel_differential", "tello_hip", "tello_knee_ankle", "four_bar", "slider_crank",
        "rod_ankle", "elastic_joint", "cam", "trammel"}) {
    EXPECT_NO_THROW(registry().find(Kind::sub_mechanism, name)) << name;
  }
  EXPECT_NO_THROW(registry().find(Kind::loop_joint, "rod"));
}

TEST_P(SubMechanismConformanceTest, ExplainsItself) {
  const Entry& e = registry().find(Kind::sub_mechanism, GetParam());
  EXPECT_FALSE(e.about.summary.empty());
  EXPECT_FALSE(e.about.source.empty());
}

TEST_P(SubMechanismConformanceTest, PortsAreFramesOnItsLinks) {
  const Assembly a = type().assemble(spec_of("x", type().sample()));
  EXPECT_FALSE(type().inputs().empty());
  EXPECT_FALSE(type().outputs().empty());
  std::set<std::string> links, outputs;
  for (const auto& link : a.parts.links) links.insert(link.name);
  for (const auto& output : a.outputs) {
    EXPECT_TRUE(links.contains(output.link)) << output.link;
    outputs.insert(output.name);
  }
  for (const std::string_view output : type().outputs()) {
    EXPECT_TRUE(outputs.contains(std::string(output))) << output;
  }
  EXPECT_EQ(outputs.size(), type().outputs().size());
  for (const std::string_view input : type().inputs()) {
    EXPECT_FALSE(links.contains(std::string(input))) << input;
  }
}

TEST_P(SubMechanismConformanceTest, SampleHasParametersThatItReads) {
  const auto known = type().parameter_names();
  for (const auto& [name, value] : type().sample()) {
    EXPECT_NE(std::find(known.begin(), known.end(), name), known.end()) << name;
  }
  EXPECT_EQ(std::set(known.begin(), known.end()).size(), known.size()) << "a name is given twice";
}

TEST_P(SubMechanismConformanceTest, IsARobotOnAFixedAndOnAFloatingBase) {
  const ModelPtr fixed = model();
  const ModelPtr floating = model({.root = CompileOptions::Root::floating});
  EXPECT_GT(fixed->nv(), 0);
  EXPECT_EQ(floating->nv(), fixed->nv() + 6);
}

TEST_P(SubMechanismConformanceTest, GivesNoCauseForWarnings) {
  for (const Finding& f : diagnose(on_base(type(), type().sample()), registry())) {
    ADD_FAILURE() << f.text;
  }
}

TEST_P(SubMechanismConformanceTest, IsAssembledAtOrNearItsZeroPosition) {
  const ModelPtr m = model();
  std::vector<double> neutral(m->nq()), zero(m->nq());
  m->neutral(neutral.data());
  for (const BodyRun& run : m->runs()) run.joints->neutral(zero.data() + run.q);
  EXPECT_LT(examine(*m, neutral.data()).residual, 1e-12);
  // Most close there by their choice of zeros or lengths. Tello's zeros are those of its published
  // equations: thigh and foot are some tenths of a radian away.
  const double near = GetParam().starts_with("tello") ? 0.5 : 1e-12;
  EXPECT_LT(largest_difference(neutral, zero), near);
}

TEST_P(SubMechanismConformanceTest, ClosesAtSeveralIndependentPositions) {
  const ModelPtr m = model();
  for (int sample = 0; sample < 10; ++sample) {
    const auto q = closed_position(*m, rng_, 0.6);
    EXPECT_LT(examine(*m, q.data()).residual, 1e-12);
  }
}

TEST_P(SubMechanismConformanceTest, GIsTheDerivativeOfClosedPositions) {
  for (const auto rotors : {CompileOptions::Rotors::fold, CompileOptions::Rotors::keep}) {
    const ModelPtr m = model({.rotors = rotors});
    SpanningMotion<double> motion(*m);
    for (int sample = 0; sample < 5; ++sample) {
      const auto q = closed_position(*m, rng_, 0.4), v = rng_.vector(m->nv());
      motion.update(q.data(), v.data());
      const std::vector<double> qd(motion.qd(), motion.qd() + m->spanning_nv());
      const auto expected = derivative([&](double t) {
        const auto moved = closed_motion(*m, q, v, t);
        std::vector<double> way(m->spanning_nv());
        m->difference(q.data(), moved.data(), way.data());
        return way;
      });
      EXPECT_LT(relative_difference(qd, expected), differences);
    }
  }
}

TEST_P(SubMechanismConformanceTest, LittleGIsTheDerivativeOfGTimesTheRates) {
  for (const auto rotors : {CompileOptions::Rotors::fold, CompileOptions::Rotors::keep}) {
    const ModelPtr m = model({.rotors = rotors});
    SpanningMotion<double> motion(*m), there(*m);
    for (int sample = 0; sample < 5; ++sample) {
      const auto q = closed_position(*m, rng_, 0.4), v = rng_.vector(m->nv());
      motion.update(q.data(), v.data());
      std::vector<double> g(m->spanning_nv(), 0.0);
      if (motion.g() != nullptr) g.assign(motion.g(), motion.g() + m->spanning_nv());
      const auto expected = derivative([&](double t) {
        const auto moved = closed_motion(*m, q, v, t);
        there.update(moved.data(), v.data());
        return std::vector<double>(there.qd(), there.qd() + m->spanning_nv());
      });
      EXPECT_LT(relative_difference(g, expected), differences);
    }
  }
}

TEST_P(SubMechanismConformanceTest, PowerOfJointForcesIsThatOfTheirGeneralizedForces) {
  const ModelPtr m = model();
  SpanningMotion<double> motion(*m);
  for (int sample = 0; sample < 10; ++sample) {
    const auto q = closed_position(*m, rng_, 0.4), v = rng_.vector(m->nv());
    const auto forces = rng_.vector(m->spanning_nv());
    motion.update(q.data(), v.data());
    std::vector<double> tau(m->nv());
    motion.reduce(forces.data(), tau.data());
    // The work that constant joint forces do along the closed motion.
    const double power = derivative([&](double t) {
      const auto moved = closed_motion(*m, q, v, t);
      std::vector<double> way(m->spanning_nv());
      m->difference(q.data(), moved.data(), way.data());
      return inner(forces, way);
    });
    const double size = std::max(1.0, largest(tau));
    EXPECT_NEAR(inner(tau, v), power, size * differences);
    double sum = 0.0;
    for (int i = 0; i < m->spanning_nv(); ++i) sum += forces[i] * motion.qd()[i];
    EXPECT_NEAR(inner(tau, v), sum, size * rounding);
  }
}

TEST_P(SubMechanismConformanceTest, PackLanesAndCountsAgreeWithDoubles) {
  const ModelPtr m = model();
  SpanningMotion<double> motion(*m);
  SpanningMotion<Pack> packs(*m);
  SpanningMotion<Count> counts(*m);
  std::vector<std::vector<double>> q, v;
  std::vector<Pack> pack_q(m->nq()), pack_v(m->nv());
  for (int lane = 0; lane < Pack::size; ++lane) {
    q.push_back(closed_position(*m, rng_, 0.4)), v.push_back(rng_.vector(m->nv()));
    for (int i = 0; i < m->nq(); ++i) pack_q[i].set(lane, q.back()[i]);
    for (int i = 0; i < m->nv(); ++i) pack_v[i].set(lane, v.back()[i]);
  }
  packs.update(pack_q.data(), pack_v.data());
  for (int lane = 0; lane < Pack::size; ++lane) {
    motion.update(q[lane].data(), v[lane].data());
    const std::vector<Count> count_q(q[lane].begin(), q[lane].end());
    const std::vector<Count> count_v(v[lane].begin(), v[lane].end());
    counts.update(count_q.data(), count_v.data());
    double size = 1.0;
    for (int i = 0; i < m->spanning_nv(); ++i) size = std::max(size, std::abs(motion.qd()[i]));
    for (int i = 0; i < m->spanning_nv(); ++i) {
      EXPECT_NEAR(packs.qd()[i][lane], motion.qd()[i], size * rounding);
      EXPECT_NEAR(counts.qd()[i].value(), motion.qd()[i], size * rounding);
      if (motion.g() == nullptr) continue;
      EXPECT_NEAR(packs.g()[i][lane], motion.g()[i], size * size * rounding);
      EXPECT_NEAR(counts.g()[i].value(), motion.g()[i], size * size * rounding);
    }
  }
}

TEST_P(SubMechanismConformanceTest, NamesWhatIsMissing) {
  for (const auto& [name, value] : type().sample()) {
    Parameters without = type().sample();
    without.erase(name);
    try {
      type().assemble(spec_of("left.knee", without));
    } catch (const InvalidModel& error) {
      EXPECT_NE(std::string(error.what()).find("sub-mechanism 'left.knee'"), std::string::npos)
          << error.what();
      EXPECT_NE(std::string(error.what()).find("parameter '"), std::string::npos) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SubMechanismConformanceTest,
                         ::testing::ValuesIn(names_of(Kind::sub_mechanism)), name_of);

}  // namespace
}  // namespace espalier::sub_mechanism_conformance_test
