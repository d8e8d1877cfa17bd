#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/simple_robot.hpp"

// Facts of physics on random robots with transmissions and loops: what does not depend on how the
// robot is described, where the power goes, and what approximations lose.

namespace espalier::test::cluster_physics_test {
namespace {

using Numbers = std::vector<double>;
constexpr double agreed = 1e-9;  // as in cluster_agreement_test.cpp

Description robot(unsigned long long seed, std::vector<std::string> kinds = {}, int parts = 5) {
  ClusterRobotOptions options;
  options.seed = seed;
  options.parts = parts;
  options.floating_base = seed % 3 == 0;
  options.kinds = std::move(kinds);
  return random_cluster_robot(host().registry(), options);
}

/// What every tree joint does, by name.
using ByRate = std::map<std::string, double>;
std::string rate_name(const Model& model, int rate) {
  const Joint& joint = model.joint_of_rate(rate);
  return joint.name + "/" + std::to_string(rate - joint.v);
}
ByRate by_rate(const Model& model, const double* x) {
  ByRate out;
  for (int k = 0; k < model.spanning_nv(); ++k) out[rate_name(model, k)] = x[k];
  return out;
}

/// Spanning accelerations of a robot by forward dynamics, the forces being given on rates of the
/// tree.
class Motion {
 public:
  Motion(ModelPtr model, const std::map<std::string, Numbers>& q) : model_(std::move(model)) {
    q_.resize(model_->nq());
    for (const Joint& joint : model_->joints()) {
      std::copy(q.at(joint.name).begin(), q.at(joint.name).end(), q_.begin() + joint.q);
    }
  }
  ByRate accelerations(const ByRate& qd, const ByRate& force, const State& wrenches) const {
    const Model& m = *model_;
    Numbers v(m.nv()), span(m.spanning_nv()), tau(m.nv()), vdot(m.nv());
    for (int k = 0; k < m.nv(); ++k) v[k] = qd.at(rate_name(m, m.independent_rates()[k]));
    SpanningMotion<double> motion(m);
    motion.update(q_.data(), v.data());
    for (int k = 0; k < m.spanning_nv(); ++k) {
      const auto f = force.find(rate_name(m, k));
      span[k] = f == force.end() ? 0.0 : f->second;
    }
    motion.reduce(span.data(), tau.data());
    const Wrenches<double> w = wrenches.wrenches(model_);
    host().create<ForwardDynamics<double>>("c-aba", model_)->evaluate(q_, v, tau, vdot, &w);
    motion.expand(vdot.data(), span.data());
    for (int k = 0; k < m.spanning_nv() && motion.g() != nullptr; ++k) span[k] += motion.g()[k];
    return by_rate(m, span.data());
  }

 private:
  ModelPtr model_;
  Numbers q_;
};

std::map<std::string, Numbers> positions(const Model& model, const Numbers& q) {
  std::map<std::string, Numbers> out;
  for (const Joint& joint : model.joints()) {
    out[joint.name] = {q.begin() + joint.q, q.begin() + joint.q + joint.nq};
  }
  return out;
}

/// Largest difference of the accelerations of two descriptions of one robot.
double difference(const ModelPtr& first, const ModelPtr& second, unsigned long long seed) {
  const State s = random_cluster_state(*first, seed);
  SpanningMotion<double> motion(*first);
  motion.update(s.q.data(), s.v.data());
  Numbers zero(first->spanning_nv(), 0.0);
  const ByRate qd = by_rate(*first, motion.qd() == nullptr ? zero.data() : motion.qd());
  ByRate force;
  for (int k = 0; k < first->nv(); ++k) {
    force[rate_name(*first, first->independent_rates()[k])] = s.tau[k];
  }
  const auto q = positions(*first, s.q);
  const ByRate a = Motion(first, q).accelerations(qd, force, s);
  const ByRate b = Motion(second, q).accelerations(qd, force, s);
  double size = 1.0, off = 0.0;
  for (const auto& [rate, x] : a) {
    size = std::max(size, std::abs(x));
    const double d = std::abs(x - b.at(rate));
    if (!(d <= off)) off = d;
  }
  return off / size;
}

TEST(ClusterInvarianceTest, FoldedRotorsMoveAsThoseThatAreBodies) {
  int folded = 0;
  for (int seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Description r = robot(seed, {"geared", "train", "two_parents", "across", "layers",
                                       "four_bar_with_gears", "belt_pair", "gear_train"});
    CompileOptions keep;
    keep.rotors = CompileOptions::Rotors::keep;
    const ModelPtr one = host().compile(r), other = host().compile(r, keep);
    folded += static_cast<int>(one->rotors().size());
    EXPECT_TRUE(other->rotors().empty());
    // Agreed in the specification.
    EXPECT_LE(difference(one, other, seed), 1e-12);
  }
  EXPECT_GT(folded, 100);
}

TEST(ClusterInvarianceTest, OrderOfLinksAndJointsDoesNotMatter) {
  for (int seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Description r = robot(seed);
    const ModelPtr one = host().compile(r);
    Rng rng(seed);
    rng.shuffle(r.links);
    rng.shuffle(r.joints);
    rng.shuffle(r.couplings);
    rng.shuffle(r.loops);
    EXPECT_LE(difference(one, host().compile(r), seed), agreed);
  }
}

TEST(ClusterInvarianceTest, ChoiceOfIndependentCoordinatesDoesNotMatter) {
  int changed = 0;
  for (int seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Description r = robot(seed, {"planar_loop", "loop_spherical", "loop_universal", "two_parents",
                                 "floating_inside", "tello_hip", "slider_crank"});
    const ModelPtr one = host().compile(r);
    // A dependent joint of one rate becomes independent.
    for (JointDescription& joint : r.joints) {
      joint.independent.reset();
      const Joint& there = one->joint(joint.name);
      if (there.nv != 1 || there.independent >= 0 || (seed + changed) % 2 == 0) continue;
      Description other = r;
      other.joints[&joint - r.joints.data()].independent = true;
      try {
        const ModelPtr second = host().compile(other);
        const State s = random_cluster_state(*one, seed);
        if (examine(*second, s.q.data()).margin < 1e-2) break;  // it determines the rest badly
        EXPECT_LE(difference(one, second, seed), agreed) << joint.name;
        ++changed;
      } catch (const InvalidModel&) {  // it does not determine the others
      }
      break;
    }
  }
  EXPECT_GT(changed, 20);
}

TEST(ClusterPhysicsTest, PowerOfForcesIsTheRateOfEnergy) {
  for (int seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const ModelPtr model = host().compile(robot(seed));
    const State s = random_cluster_state(*model, seed);
    Numbers vdot(model->nv());
    host().create<ForwardDynamics<double>>("c-aba", model)->evaluate(s.q, s.v, s.tau, vdot);
    SpanningMotion<double> motion(*model);
    motion.update(s.q.data(), s.v.data());
    const auto energy = any<Energy<double>>(model);
    // Along the motion: positions to second order in spanning rates, rates to first order. What is
    // left of phi(q) is of third order in h.
    Numbers qdd(model->spanning_nv());
    motion.expand(vdot.data(), qdd.data());
    for (std::size_t k = 0; k < qdd.size() && motion.g() != nullptr; ++k) qdd[k] += motion.g()[k];
    const double h = 1e-4;
    const auto at = [&](double t) {
      Numbers step(qdd.size()), q(model->nq());
      for (std::size_t k = 0; k < step.size(); ++k) {
        step[k] = t * (motion.qd()[k] + 0.5 * t * qdd[k]);
      }
      model->integrate(s.q.data(), step.data(), q.data());
      project(*model, q.data());
      const auto e = energy->evaluate(q, combined(s.v, t, vdot));
      return e.kinetic + e.potential;
    };
    const double power = inner(s.tau, s.v), rate = (at(h) - at(-h)) / (2.0 * h);
    const auto e = energy->evaluate(s.q, s.v);
    // Truncation is h^2 times third derivatives, which grow with the accelerations; rounding of
    // energies over h.
    const double size = std::max({1.0, std::abs(power), largest(qdd)});
    EXPECT_NEAR(rate, power, 1e-5 * size * size + 1e-11 * (e.kinetic + std::abs(e.potential)) / h);
  }
}

TEST(ClusterPhysicsTest, JacobiansTimesRatesAreVelocities) {
  for (int seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const ModelPtr model = host().compile(robot(seed));
    const State s = random_cluster_state(*model, seed);
    const auto kinematics = any<Kinematics<double>>(model);
    const auto jacobians = any<BodyJacobians<double>>(model);
    kinematics->evaluate(s.q, s.v, s.vdot);
    jacobians->evaluate(s.q);
    const int nv = model->nv();
    for (const Link& link : model->links()) {
      Numbers J(6 * nv), Jv(6, 0.0), v(6);
      jacobians->jacobian(link, J);
      for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < nv; ++k) Jv[i] += J[i * nv + k] * s.v[k];
        v[i] = kinematics->velocity(link)[i];
      }
      EXPECT_LE(relative_difference(Jv, v), agreed) << link.name;
    }
  }
}

// --- scalars ------------------------------------------------------------------------------------

template <template <class> class P, class Call>
void expect_scalars_agree(const Call& call) {
  for (int seed = 0; seed < 20; ++seed) {
    const ModelPtr model = host().compile(robot(seed));
    const State s = random_cluster_state(*model, seed);
    for (const auto& [name, algorithm] : every<P<Pack>>(model)) {
      SCOPED_TRACE(name + ", robot " + std::to_string(seed));
      const Numbers wanted = call(*host().create<P<double>>(name, model), s, model);
      // Sines come from another library, the rest is the same arithmetic.
      EXPECT_LE(relative_difference(call(*algorithm, s, model), wanted), agreed);
      EXPECT_LE(relative_difference(call(*host().create<P<Count>>(name, model), s, model), wanted),
                agreed);
    }
  }
}
template <class T>
std::vector<T> convert(const Numbers& in) {
  return {in.begin(), in.end()};
}
template <class T>
Numbers last_lane(const std::vector<T>& in) {
  Numbers out;
  for (const T& x : in) out.push_back(lane(x, 3));
  return out;
}

TEST(ClusterScalarTest, ForwardDynamicsAgree) {
  expect_scalars_agree<ForwardDynamics>(
      []<class T>(ForwardDynamics<T>& a, const State& s, const ModelPtr& model) {
        std::vector<T> out(s.v.size());
        const Wrenches<T> w = s.wrenches<T>(model);
        a.evaluate(convert<T>(s.q), convert<T>(s.v), convert<T>(s.tau), out, &w);
        return last_lane(out);
      });
}
TEST(ClusterScalarTest, InverseDynamicsAgree) {
  expect_scalars_agree<InverseDynamics>(
      []<class T>(InverseDynamics<T>& a, const State& s, const ModelPtr& model) {
        std::vector<T> out(s.v.size());
        const Wrenches<T> w = s.wrenches<T>(model);
        a.evaluate(convert<T>(s.q), convert<T>(s.v), convert<T>(s.vdot), out, &w);
        return last_lane(out);
      });
}
TEST(ClusterScalarTest, MassMatricesAgree) {
  expect_scalars_agree<MassMatrix>([]<class T>(MassMatrix<T>& a, const State& s, const ModelPtr&) {
    std::vector<T> out(s.v.size() * s.v.size());
    a.evaluate(convert<T>(s.q), out);
    return last_lane(out);
  });
}

// --- approximations -----------------------------------------------------------------------------

Numbers inverse(const std::string& name, const ModelPtr& model, const State& s,
                bool with_wrenches = true) {
  Numbers tau(model->nv());
  const Wrenches<double> w = s.wrenches(model);
  host()
      .create<InverseDynamics<double>>(name, model)
      ->evaluate(s.q, s.v, s.vdot, tau, with_wrenches ? &w : nullptr);
  return tau;
}

const std::vector<std::string> transmissions{"geared", "train",  "two_parents", "mimic",
                                             "across", "layers", "body",        "belt_pair"};

TEST(ApproximationTest, SaysSo) {
  int found = 0;
  for (const Entry* e : host().registry().algorithms()) {
    const bool says_so = e->about.summary.starts_with("approximates: ");
    EXPECT_EQ(e->capabilities.exact, !says_so) << e->about.name;
    found += says_so ? 1 : 0;
  }
  EXPECT_GE(found, 3);
}

TEST(ApproximationTest, ForwardAndInverseAreOfOneModel) {
  for (int seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const ModelPtr model = host().compile(robot(seed, transmissions));
    State s = random_cluster_state(*model, seed);
    s.tau = inverse("approximate-rnea", model, s);
    Numbers vdot(model->nv());
    const Wrenches<double> w = s.wrenches(model);
    host()
        .create<ForwardDynamics<double>>("approximate-aba", model)
        ->evaluate(s.q, s.v, s.tau, vdot, &w);
    EXPECT_LE(relative_difference(vdot, s.vdot), agreed * std::max(1.0, 1e-3 * largest(s.tau)));
  }
}

TEST(ApproximationTest, IsExactForCoupledLinksThatCarryOthers) {
  Description r = chain_of(std::vector<std::string>(4, "revolute"), {0, 1, 0});
  r.joints[1].mimic = Mimic{"joint1", -1.5, 0.2};
  r.joints[2].mimic = Mimic{"joint4", 0.5, 0.0};
  const ModelPtr model = host().compile(r);
  ASSERT_EQ(model->nv(), 2);
  State s = random_cluster_state(*model, 1);
  const Numbers tau = inverse("c-rnea", model, s);
  EXPECT_LE(relative_difference(inverse("approximate-rnea", model, s), tau), agreed);
}

/// Two links about z and y with motors that are mounted on the ground and on the first link; the
/// second motor's axis is given.
Description geared_arm(const Vec3<double>& axis) {
  Description r = ground();
  const double J = 1e-3;
  add_link(r, "upper", 1.0, {0.2, 0, 0}, {0.01, 0, 0, 0.02, 0, 0.02});
  add_link(r, "lower", 0.5, {0.2, 0, 0}, {0.005, 0, 0, 0.01, 0, 0.01});
  for (const char* name : {"motor1", "motor2"})
    add_link(r, name, 0.1, {0, 0, 0}, {J, 0, 0, J, 0, J});
  add_joint(r, "shoulder", "revolute", "base", "upper", {0, 0, 1});
  add_joint(r, "elbow", "revolute", "upper", "lower", {0, 0, 1}, {{0.4, 0, 0}, {0, 0, 0}});
  add_joint(r, "spin1", "revolute", "base", "motor1", {1, 0, 0});
  add_joint(r, "spin2", "revolute", "upper", "motor2", axis, {{0.1, 0, 0}, {0, 0, 0}});
  r.couplings.push_back({"gear1", "upper", "motor1", 20.0, {}});
  r.couplings.push_back({"gear2", "lower", "motor2", -15.0, {}});
  return r;
}

TEST(ApproximationTest, LosesNothingOnAPlanarArmWhoseMotorsLieInItsPlane) {
  const ModelPtr model = host().compile(geared_arm({1, 0, 0}));
  ASSERT_EQ(model->rotors().size(), 2u);
  const State s = random_cluster_state(*model, 3);
  EXPECT_LE(relative_difference(inverse("approximate-rnea", model, s, false),
                                inverse("c-rnea", model, s, false)),
            1e-14);  // the same sums in another order
}

TEST(ApproximationTest, IsTheSameForRotorsThatAreKeptAsBodies) {
  CompileOptions keep;
  keep.rotors = CompileOptions::Rotors::keep;
  const ModelPtr folded = host().compile(geared_arm({0, 1, 1}));
  const ModelPtr kept = host().compile(geared_arm({0, 1, 1}), keep);
  const State s = random_cluster_state(*folded, 3);
  State t = s;  // the same by name: rotors stand elsewhere
  for (const Joint& joint : folded->joints()) t.q[kept->joint(joint.name).q] = s.q[joint.q];
  for (const char* name : {"approximate-rnea", "unconstrained-rnea"}) {
    EXPECT_LE(relative_difference(inverse(name, kept, t), inverse(name, folded, s)), 1e-13) << name;
  }
}

TEST(ApproximationTest, LosesTheSpinOfAMotorParallelToTheArm) {
  const ModelPtr model = host().compile(geared_arm({0, 0, 1}));
  const State s = random_cluster_state(*model, 3);
  const Numbers exact = inverse("c-rnea", model, s, false);
  const Numbers near = inverse("approximate-rnea", model, s, false);
  const int shoulder = model->joint("shoulder").independent,
            elbow = model->joint("elbow").independent;
  // What is lost: J rho elbow'' on the parent, and rho J shoulder'' on the elbow.
  const double coupling = 1e-3 * -15.0;
  EXPECT_NEAR(exact[shoulder] - near[shoulder], coupling * s.vdot[elbow], 1e-13);
  EXPECT_NEAR(exact[elbow] - near[elbow], coupling * s.vdot[shoulder], 1e-13);
}

TEST(ApproximationTest, UnconstrainedIgnoresTheRotorsInertia) {
  const ModelPtr model = host().compile(geared_arm({1, 0, 0}));
  const State s = random_cluster_state(*model, 3);
  const Numbers exact = inverse("c-rnea", model, s, false);
  const Numbers alone = inverse("unconstrained-rnea", model, s, false);
  const int shoulder = model->joint("shoulder").independent,
            elbow = model->joint("elbow").independent;
  EXPECT_NEAR(exact[shoulder] - alone[shoulder], 1e-3 * 400.0 * s.vdot[shoulder], 1e-12);
  EXPECT_NEAR(exact[elbow] - alone[elbow], 1e-3 * 225.0 * s.vdot[elbow], 1e-12);
}

TEST(ApproximationTest, RefusesLoopsThatAreNoGears) {
  const ModelPtr model = host().compile(robot(1, {"planar_loop"}, 1));
  EXPECT_THROW(host().create<ForwardDynamics<double>>("approximate-aba", model), Unsupported);
  EXPECT_THROW(host().create<InverseDynamics<double>>("approximate-rnea", model), Unsupported);
}

// --- extremes -----------------------------------------------------------------------------------

TEST(ClusterExtremesTest, NotANumberStaysNotANumber) {
  for (const char* kind : {"planar_loop", "geared", "loop_spherical"}) {
    const ModelPtr model = host().compile(robot(2, {kind}, 1));
    State s = random_cluster_state(*model, 1);
    s.v[0] = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
      Numbers vdot(model->nv(), 0.0);
      algorithm->evaluate(s.q, s.v, s.tau, vdot);
      EXPECT_TRUE(std::isnan(largest_difference(vdot, Numbers(vdot.size(), 0.0)))) << name;
    }
  }
}

TEST(ClusterExtremesTest, DeadPointOfAFourBarIsRefusedByName) {
  // A parallelogram stretched out: the dependent columns are singular.
  Description r = ground();
  for (const char* name : {"crank", "rocker"}) add_solid(r, name);
  add_solid(r, "coupler");
  add_joint(r, "a", "revolute", "base", "crank").independent = true;
  add_joint(r, "b", "revolute", "base", "rocker", {0, 0, 1}, {{1, 0, 0}, {0, 0, 0}});
  add_joint(r, "c", "revolute", "crank", "coupler", {0, 0, 1}, {{0.3, 0, 0}, {0, 0, 0}});
  LoopDescription pin;
  pin.name = "pin", pin.type = "revolute", pin.axis = {0, 0, 1};
  pin.predecessor = "coupler", pin.successor = "rocker";
  pin.predecessor_origin.xyz = {1, 0, 0}, pin.successor_origin.xyz = {0.3, 0, 0};
  r.loops.push_back(pin);
  const ModelPtr model = host().compile(r);
  State s = random_cluster_state(*model, 1);
  std::fill(s.q.begin(), s.q.end(), 0.0);
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    Numbers vdot(model->nv());
    try {
      algorithm->evaluate(s.q, s.v, s.tau, vdot);
      ADD_FAILURE() << name << " answers " << vdot[0];
    } catch (const SingularMechanism& error) {
      EXPECT_NE(std::string(error.what()).find("cluster 'a+"), std::string::npos) << error.what();
    }
  }
}

TEST(ClusterExtremesTest, FiveHundredBodiesWithAHundredLoopsAgree) {
  ClusterRobotOptions options;
  options.seed = 11;
  options.parts = 110;
  options.kinds = {"planar_loop", "planar_loop", "loop_spherical", "loop_rod"};
  const ModelPtr model = host().compile(random_cluster_robot(host().registry(), options));
  EXPECT_GE(model->body_count(), 350);
  const State s = random_cluster_state(*model, 1);
  Numbers reference(model->nv()), vdot(model->nv());
  host().create<ForwardDynamics<double>>("c-aba", model)->evaluate(s.q, s.v, s.tau, reference);
  for (const char* name : {"c-aba-stacked", "projection", "lagrange-multiplier"}) {
    host().create<ForwardDynamics<double>>(name, model)->evaluate(s.q, s.v, s.tau, vdot);
    // Chains of dozens of loops in series: the condition of the mass matrix times rounding.
    EXPECT_LE(relative_difference(vdot, reference), 1e-7) << name;
  }
}

TEST(ClusterExtremesTest, RobotAtRestWithoutGravityAndForcesStaysAtRest) {
  for (int seed = 0; seed < 40; ++seed) {
    const ModelPtr model = host().compile(robot(seed));
    const State s = random_cluster_state(*model, seed);
    const Numbers zero(model->nv(), 0.0);
    for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
      Numbers vdot(model->nv(), 1.0);
      algorithm->set_gravity({0, 0, 0});
      algorithm->evaluate(s.q, zero, zero, vdot);
      EXPECT_LE(largest(vdot), 1e-14) << name << ", robot " << seed;  // nothing to round
    }
  }
}

}  // namespace
}  // namespace espalier::test::cluster_physics_test
