#include <numbers>

#include "espalier/kernel/model/motion/passive.hpp"
#include "tests/subsystems/bench.hpp"

/// Mechanisms whose ratios, forces and inertias are known by hand.

namespace espalier::worked_examples_test {
namespace {

using namespace test;

/// Results of some ten operations on numbers of order one.
constexpr double rounding = 1e-13;

/// Rates of all joints for independent rates v at q.
struct Moving {
  Moving(const Moving&) = delete;  // motion points into itself
  Moving(const ModelPtr& model_, const std::vector<double>& q, const std::vector<double>& v)
      : model(model_), motion(*model_) {
    motion.update(q.data(), v.data());
  }
  double operator[](const std::string& joint) const { return rate_of(*model, motion, joint); }
  /// Velocity of a point of a link; both in base axes, `at` relative to the base.
  Vec3<double> velocity_at(const std::string& link, const Vec3<double>& at) const {
    const Link& l = model->link(link);
    Transform<double> X = Transform<double>::identity();
    Motion<double> v = Motion<double>::zero();
    std::vector<int> path;
    for (int b = l.body; b != 0; b = model->body(b).parent) path.insert(path.begin(), b);
    for (const int b : path) {  // joints of one rate about z
      X = motion.joints.X[b] * X;
      v = motion.joints.X[b] * v;
      v.w.z += motion.qd()[model->body(b).v];
    }
    const Motion<double> at_base = X.inverse_times(v);
    return at_base.v + cross(at_base.w, at);
  }
  ModelPtr model;
  SpanningMotion<double> motion;
};

std::vector<double> neutral(const Model& model) {
  std::vector<double> q(model.nq());
  model.neutral(q.data());
  return q;
}

int independent_index(const Model& model, const std::string& joint) {
  return model.joint(joint).independent;
}

/// Kinetic energy for independent rates v, all bodies one by one, rotors too.
double kinetic_energy(const Model& model, const std::vector<double>& q,
                      const std::vector<double>& v) {
  SpanningMotion<double> motion(model);
  motion.update(q.data(), v.data());
  std::vector<Motion<double>> twist(model.body_count() + 1, Motion<double>::zero());
  double energy = 0.0;
  for (int i = 1; i <= model.body_count(); ++i) {
    const Body& body = model.body(i);
    twist[i] = motion.joints.X[i] * twist[body.parent];
    twist[i].w.z += motion.qd()[body.v];
    energy += 0.5 * dot(twist[i], body.inertia * twist[i]);
  }
  return energy;
}

TEST(GearedJointTest, ReflectedInertiaIsRatioSquared) {
  const double N = 7.0, J = 2e-4, I = 3e-2;
  const ModelPtr m = compile("geared_joint", {{"ratio", {N}},
                                              {"link_mass", {1}},
                                              {"link_inertia", {0.1, 0.1, I, 0, 0, 0}},
                                              {"rotor_mass", {0.1}},
                                              {"rotor_inertia", {1e-4, 1e-4, J, 0, 0, 0}},
                                              {"rotor_xyz", {0.1, 0, 0}}});
  ASSERT_EQ(m->nv(), 1);
  EXPECT_EQ(m->joint("link").independent, 0);
  EXPECT_NEAR(2.0 * kinetic_energy(*m, neutral(*m), {1.0}), I + N * N * J, rounding);
}

TEST(GearedJointTest, TurnsTheRotorAboutItsOwnAxis) {
  const ModelPtr m = compile("geared_joint",
                             changed("geared_joint", {{"rotor_axis", {1, 0, 0}}, {"ratio", {-4}}}));
  EXPECT_NEAR(Moving(m, neutral(*m), {0.5})["rotor"], -2.0, rounding);
}

TEST(GearedJointTest, CarriesLimitsAndPassiveForces) {
  const ModelPtr m = compile("geared_joint", changed("geared_joint", {{"lower", {-1}},
                                                                      {"upper", {2}},
                                                                      {"velocity", {9}},
                                                                      {"effort", {30}},
                                                                      {"damping", {0.3}},
                                                                      {"rotor_friction", {0.01}}}));
  EXPECT_EQ(m->joint("link").limits.lower, -1.0);
  EXPECT_EQ(m->joint("link").limits.upper, 2.0);
  EXPECT_EQ(m->joint("link").limits.velocity, 9.0);
  EXPECT_EQ(m->joint("link").limits.effort, 30.0);
  EXPECT_EQ(m->joint("link").passive.damping, 0.3);
  EXPECT_EQ(m->joint("rotor").passive.friction, 0.01);
}

TEST(GearTrainTest, WheelsTurnByTheirRatiosWhoeverCarriesThem) {
  const ModelPtr m = compile("gear_train", mechanism("gear_train").sample());
  ASSERT_EQ(m->nv(), 1);
  ASSERT_EQ(m->joint("link").independent, 0);
  const Moving moving(m, neutral(*m), {2.0});
  EXPECT_NEAR(moving["rotor"], -60.0, 60.0 * rounding);
  EXPECT_NEAR(moving["idler1"], 12.0, 12.0 * rounding);
  EXPECT_NEAR(moving["idler2"], -8.0, 8.0 * rounding);
  EXPECT_EQ(m->body(m->joint("idler2").body).parent, m->joint("link").body);
}

TEST(PlanetaryStageTest, FixedElementsGiveTheRatiosOfTheTextbook) {
  const double Zs = 24, Zr = 72;
  const auto ratio = [](double fixed, const char* of, const char* to) {
    const ModelPtr m = compile("planetary_stage", changed("planetary_stage", {{"fixed", {fixed}}}));
    EXPECT_EQ(m->nv(), 1);
    const Moving moving(m, neutral(*m), {1.0});
    return moving[of] / moving[to];
  };
  EXPECT_NEAR(ratio(1, "ring", "carrier"), 1.0 + Zs / Zr, rounding);
  EXPECT_NEAR(ratio(2, "sun", "carrier"), 1.0 + Zr / Zs, rounding);
  EXPECT_NEAR(ratio(3, "ring", "sun"), -Zs / Zr, rounding);
}

TEST(PlanetaryStageTest, ObeysWillisWithNothingFixed) {
  const double Zs = 24, Zr = 72;
  const ModelPtr m = compile("planetary_stage", mechanism("planetary_stage").sample());
  ASSERT_EQ(m->nv(), 2);
  const Moving moving(m, neutral(*m), {0.7, -1.3});
  EXPECT_NEAR(Zs * moving["sun"] + Zr * moving["ring"], (Zs + Zr) * moving["carrier"],
              100 * rounding);
}

TEST(PlanetaryStageTest, TeethMeetWithoutSlip) {
  // Pitch circles: planet axes at 0.024 m = (Zs + Zp) module / 2 with Zp = 24, so module 1 mm.
  const double sun_radius = 0.012, ring_radius = 0.036;
  for (const double fixed : {0.0, 1.0, 2.0, 3.0}) {
    const ModelPtr m = compile("planetary_stage", changed("planetary_stage", {{"fixed", {fixed}}}));
    const Moving moving(m, neutral(*m), m->nv() == 2 ? std::vector{0.7, -1.3} : std::vector{0.9});
    for (int planet = 1; planet <= 3; ++planet) {
      const double angle = 2.0 * std::numbers::pi * (planet - 1) / 3.0;
      const Vec3<double> out{std::cos(angle), std::sin(angle), 0};
      const std::string name = "planet" + std::to_string(planet);
      for (const auto& [gear, radius] : {std::pair{"sun", sun_radius}, {"ring", ring_radius}}) {
        const Vec3<double> at = scale(radius, out);
        const Vec3<double> slip = moving.velocity_at(name, at) - moving.velocity_at(gear, at);
        EXPECT_LT(std::sqrt(dot(slip, slip)), rounding) << name << " on " << gear << ", " << fixed;
      }
    }
  }
}

TEST(BevelDifferentialTest, CarrierIsTheMeanAndOutputTheDifference) {
  const ModelPtr m = compile("bevel_differential", mechanism("bevel_differential").sample());
  ASSERT_EQ(m->nv(), 2);
  std::vector<double> v(2);
  v[independent_index(*m, "left")] = 0.8, v[independent_index(*m, "right")] = -0.2;
  const Moving moving(m, neutral(*m), v);
  EXPECT_NEAR(moving["carrier"], 0.3, rounding);
  EXPECT_NEAR(moving["output"], -1.5 * 0.5, rounding);
}

TEST(BevelDifferentialTest, TeethMeetWithoutSlip) {
  // Side gears of radius 0.03 at y = +-0.02, output gear of radius 0.02 at x = 0.03: ratio 1.5. The
  // teeth meet at x = 0.03, y = +-0.02.
  const ModelPtr m = compile("bevel_differential", mechanism("bevel_differential").sample());
  std::vector<double> v(2);
  v[independent_index(*m, "left")] = 0.8, v[independent_index(*m, "right")] = -0.2;
  const Moving moving(m, neutral(*m), v);
  for (const auto& [side, y] : {std::pair{"left", 0.02}, {"right", -0.02}}) {
    const Vec3<double> at{0.03, y, 0};
    const Vec3<double> slip = moving.velocity_at(side, at) - moving.velocity_at("output", at);
    EXPECT_LT(std::sqrt(dot(slip, slip)), rounding) << side;
  }
}

TEST(BeltTest, RotorsTurnByGearRatioTimesBeltProducts) {
  // G of theory/clusters 5.5: r1 [b11 0], r2 [b21 b22].
  const ModelPtr pair = compile("belt_pair", mechanism("belt_pair").sample());
  ASSERT_EQ(pair->nv(), 2);
  std::vector<double> v(2);
  v[independent_index(*pair, "link1")] = 0.3, v[independent_index(*pair, "link2")] = -0.5;
  const Moving two(pair, neutral(*pair), v);
  EXPECT_NEAR(two["rotor1"], 6 * 2 * 0.3, 10 * rounding);
  EXPECT_NEAR(two["rotor2"], 7.5 * (1.5 * 0.3 + 3 * -0.5), 10 * rounding);

  const ModelPtr triple = compile("belt_triple", mechanism("belt_triple").sample());
  ASSERT_EQ(triple->nv(), 3);
  v.resize(3);
  v[independent_index(*triple, "link1")] = 0.3, v[independent_index(*triple, "link2")] = -0.5;
  v[independent_index(*triple, "link3")] = 0.9;
  const Moving three(triple, neutral(*triple), v);
  EXPECT_NEAR(three["rotor3"], 9 * (1.2 * 0.3 - 1.8 * -0.5 + 2.4 * 0.9), 50 * rounding);
}

TEST(BeltTest, HasAConstantGAndNoMassInThePulleys) {
  const ModelPtr m = compile("belt_triple", mechanism("belt_triple").sample());
  EXPECT_FALSE(m->has_variable_constraints());
  EXPECT_EQ(m->link("pulley3_1").mass, 0.0);
}

TEST(ElasticJointTest, SpringAndDamperActOnTheDifference) {
  const double N = 50, stiffness = 300, damping = 0.5;
  const ModelPtr m = compile("elastic_joint", mechanism("elastic_joint").sample());
  ASSERT_EQ(m->nv(), 2);
  const int l = m->joint("link").independent, r = m->joint("rotor").independent;
  std::vector<double> q = neutral(*m), v(2), tau(2);
  q[m->joint("link").q] = 0.2, q[m->joint("rotor").q] = 13.0;
  m->apply_couplings(q.data());
  v[l] = -0.4, v[r] = 8.0;
  const double deflection = 13.0 / N - 0.2, rate = 8.0 / N + 0.4;
  passive_forces(m, q.data(), v.data(), tau.data());
  const double spring = stiffness * deflection + damping * rate;
  EXPECT_NEAR(tau[l], spring, 100 * rounding);
  EXPECT_NEAR(tau[r], -spring / N, 100 * rounding);
  EXPECT_NEAR(PassiveForces(m).energy(q.data()), 0.5 * stiffness * deflection * deflection,
              100 * rounding);
}

TEST(ElasticJointTest, LinkAndRotorMoveIndependently) {
  const ModelPtr m = compile("elastic_joint", mechanism("elastic_joint").sample());
  std::vector<double> v(2);
  v[independent_index(*m, "link")] = 1.0;
  const double link = 2.0 * kinetic_energy(*m, neutral(*m), v);
  EXPECT_NEAR(link, 8e-3 + 0.15 * 0.15, rounding);  // izz + m x²
  std::swap(v[0], v[1]);
  EXPECT_NEAR(2.0 * kinetic_energy(*m, neutral(*m), v), 2e-5, rounding);
}

Parameters parallelogram(double angle) {
  return changed("four_bar", {{"crank", {0.2}},
                              {"rocker", {0.2}},
                              {"coupler", {0.3}},
                              {"pivot", {0.3, 0}},
                              {"angle", {angle}}});
}

TEST(FourBarTest, ParallelogramCarriesTheCouplerWithoutTurningIt) {
  for (const double angle : {0.4, 1.2, 2.5}) {
    const ModelPtr m = compile("four_bar", parallelogram(angle));
    ASSERT_EQ(m->nv(), 1);
    ASSERT_EQ(m->joint("crank").independent, 0);
    const Moving moving(m, neutral(*m), {1.0});
    // G = [1, 1, -1] for crank, rocker and coupler (relative to the crank).
    EXPECT_NEAR(moving["rocker"], 1.0, rounding);
    EXPECT_NEAR(moving["coupler"], -1.0, rounding);
  }
}

TEST(FourBarTest, OtherBranchOfTheParallelogramIsTheAntiparallelogram) {
  const auto law = make_law(
      "four_bar", {{"crank", {0.2}}, {"rocker", {0.2}}, {"coupler", {0.3}}, {"pivot", {0.3, 0}}});
  std::vector<double> q{1.2, 0, 0}, other{1.2, 0, 0};
  ASSERT_TRUE(law->solve(q.data(), 0));
  ASSERT_TRUE(law->solve(other.data(), 1));
  EXPECT_NEAR(q[1], 1.2, rounding);
  EXPECT_NEAR(q[2], -1.2, rounding);
  // Mirrored at the diagonal from the rocker's pivot to the crank's tip.
  const double diagonal = std::atan2(0.2 * std::sin(1.2), 0.2 * std::cos(1.2) - 0.3);
  EXPECT_NEAR(std::remainder(other[1] - (2.0 * diagonal - 1.2), 2.0 * std::numbers::pi), 0.0,
              rounding);
}

TEST(FourBarTest, PinnedInSpaceMovesAsTheLawSays) {
  const Parameters p = mechanism("four_bar").sample();
  const ModelPtr law = compile("four_bar", p);
  Description robot = on_base(mechanism("four_bar"), p);
  robot.laws.clear();
  LoopDescription pin;
  pin.name = "pin";
  pin.type = "revolute";
  pin.predecessor = "coupler", pin.successor = "rocker";
  pin.predecessor_origin.xyz = {p.at("coupler")[0], 0, 0};
  pin.successor_origin.xyz = {p.at("rocker")[0], 0, 0};
  pin.axis = {0, 0, 1};
  robot.loops.push_back(pin);
  const ModelPtr loop = Model::compile(robot, registry());
  Rng rng(3);
  for (int sample = 0; sample < 10; ++sample) {
    const auto q = closed_position(*law, rng, 0.5), v = rng.vector(1);
    std::vector<double> same(loop->nq());
    for (const Joint& joint : law->joints()) same[loop->joint(joint.name).q] = q[joint.q];
    EXPECT_LT(examine(*loop, same.data()).residual, 1e-12);
    const Moving a(law, q, v), b(loop, same, v);
    for (const char* joint : {"crank", "rocker", "coupler"}) {
      EXPECT_NEAR(a[joint], b[joint], 10 * rounding);
      EXPECT_NEAR(a.motion.g()[law->joint(joint).v], b.motion.g()[loop->joint(joint).v],
                  10 * rounding);
    }
  }
}

TEST(SliderCrankTest, SliderMovesAsTheTextbookSays) {
  // x = r cos a + sqrt(l² - (r sin a)²).
  const double r = 0.08, l = 0.2;
  const ModelPtr m = compile("slider_crank", changed("slider_crank", {{"offset", {0}}}));
  const double a = 0.7, s = r * std::sin(a);
  const double slope = -s - s * r * std::cos(a) / std::sqrt(l * l - s * s);
  EXPECT_NEAR(Moving(m, neutral(*m), {1.0})["slider"], slope, rounding);
}

TEST(CamTest, FollowsAsTheSliderOfACrankDoes) {
  const auto cam = make_law("cam", {{"eccentricity", {0.01}}, {"radius", {0.04}}});
  const auto crank = make_law("slider_crank", {{"crank", {0.01}}, {"rod", {0.04}}, {"angle", {0}}});
  for (const double angle : {0.0, 0.5, 2.0, 4.0}) {
    std::vector<double> follower{angle, 0}, slider{angle, 0, 0};
    ASSERT_TRUE(cam->solve(follower.data(), 0));
    ASSERT_TRUE(crank->solve(slider.data(), 0));
    EXPECT_NEAR(follower[1], slider[1], rounding);
  }
}

TEST(TrammelTest, SlidersMoveInverselyToTheirDistances) {
  const ModelPtr m = compile("trammel", mechanism("trammel").sample());
  ASSERT_EQ(m->nv(), 1);
  const Moving moving(m, neutral(*m), {1.0});
  EXPECT_NEAR(0.3 * moving["slider_x"] + 0.4 * moving["slider_y"], 0.0, rounding);
}

TEST(RodAnkleTest, MassOfTheRodsDoesNotChangeTheMotion) {
  const ModelPtr massive = compile("rod_ankle", mechanism("rod_ankle").sample());
  const ModelPtr massless = compile("rod_ankle", changed("rod_ankle", {{"rod_mass", {0}}}));
  ASSERT_EQ(massive->nv(), 2);
  ASSERT_EQ(massless->nv(), 2);
  EXPECT_EQ(massive->body_count(), massless->body_count() + 2);
  Rng rng(8), same(8);
  for (int sample = 0; sample < 5; ++sample) {
    const auto q = closed_position(*massive, rng, 0.5), p = closed_position(*massless, same, 0.5);
    const auto v = rng.vector(2);
    EXPECT_EQ(v, same.vector(2));
    const Moving a(massive, q, v), b(massless, p, v);
    for (const char* joint : {"crank1", "crank2", "cross", "foot"}) {
      // Positions are closed to 1e-12.
      EXPECT_NEAR(q[massive->joint(joint).q], p[massless->joint(joint).q], 1e-10) << joint;
      EXPECT_NEAR(a[joint], b[joint], 1e-10) << joint;
    }
  }
}

TEST(RodAnkleTest, CranksInStepPitchAndAgainstEachOtherRoll) {
  const ModelPtr m = compile("rod_ankle", mechanism("rod_ankle").sample());
  const Moving step(m, neutral(*m), {1.0, 1.0}), against(m, neutral(*m), {1.0, -1.0});
  EXPECT_NEAR(step["foot"], 0.0, 10 * rounding);
  EXPECT_GT(std::abs(step["cross"]), 0.1);
  EXPECT_NEAR(against["cross"], 0.0, 10 * rounding);
  EXPECT_GT(std::abs(against["foot"]), 0.1);
}

}  // namespace
}  // namespace espalier::worked_examples_test
