#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "algorithms/derivatives/variation/lanes/lane_derivatives.hpp"
#include "espalier/kernel/problems/derivatives/derivatives.hpp"
#include "tests/derivatives/oracle.hpp"

namespace espalier::test::lane_derivatives_test {
namespace {

/// Everything that the problems write.
struct Answers {
  std::vector<std::vector<double>> of;

  Answers(const ModelPtr& model, const State& s, const Loads<double>* loads) {
    const std::size_t n = model->nv();
    std::vector<double> vector(n), by_q(n * n), by_v(n * n), matrix(n * n);
    host()
        .create<InverseDynamicsDerivatives<double>>("c-rnea-derivatives", model)
        ->evaluate(s.q, s.v, s.vdot, vector, by_q, by_v, matrix, loads);
    of = {vector, by_q, by_v, matrix};
    std::vector<double> q_gradient(n), v_gradient(n), vdot_gradient(n);
    host()
        .create<InverseDynamicsAdjoint<double>>("c-rnea-adjoint", model)
        ->evaluate(s.q, s.v, s.vdot, s.tau, q_gradient, v_gradient, vdot_gradient, loads);
    for (const auto& x : {q_gradient, v_gradient, vdot_gradient}) of.push_back(x);
    host()
        .create<ForwardDynamicsDerivatives<double>>("c-aba-derivatives", model)
        ->evaluate(s.q, s.v, s.tau, vector, by_q, by_v, matrix, loads);
    for (const auto& x : {vector, by_q, by_v, matrix}) of.push_back(x);
  }
};

ModelPtr tree(unsigned long long seed) {
  RobotOptions options;
  options.seed = seed, options.bodies = 6 + static_cast<int>(seed * 7 % 40);
  options.floating_base = seed % 2 == 0;
  options.shape = seed % 3 == 0 ? RobotOptions::Shape::star : RobotOptions::Shape::binary;
  options.types = {"revolute", "revolute", "continuous"};
  if (seed % 5 == 0) options.types[1] = "prismatic";
  return host().compile(random_robot(host().registry(), options));
}

// Loads of zero keep branches from being lanes.
void expect_lanes_to_change_nothing(const ModelPtr& model, unsigned long long seed) {
  const State s = random_state(*model, seed);
  JointForces<double> none;
  none.force.assign(model->spanning_nv(), 0.0);
  Loads<double> loads;
  loads.joints = &none;
  const Answers fast(model, s, nullptr), plain(model, s, &loads);
  for (std::size_t k = 0; k < fast.of.size(); ++k) {
    // Sums in another order; accelerations lose what the mass matrix's condition takes.
    EXPECT_LT(largest_difference(fast.of[k], plain.of[k]),
              (k < 7 ? 1e-13 : 1e-10) * std::max(1.0, largest(plain.of[k])))
        << "answer " << k;
  }
}

TEST(LaneDerivativesTest, LimbsAsLanesAreBodiesOneByOne) {
  int lanes = 0;
  for (unsigned long long seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("tree of seed " + std::to_string(seed));
    const ModelPtr model = tree(seed);
    expect_lanes_to_change_nothing(model, seed);
    lanes += LaneDerivatives::pays(*model);
  }
  EXPECT_GT(lanes, 20);
}

ModelPtr serial_arm(int bodies) {
  RobotOptions options;
  options.seed = bodies, options.bodies = bodies, options.shape = RobotOptions::Shape::chain;
  options.types = {"revolute", "revolute", "prismatic"};
  return host().compile(random_robot(host().registry(), options));
}

TEST(LaneDerivativesTest, ArmsOfAnyLengthAreBodiesOneByOne) {
  int lanes = 0;
  // Registers have four numbers; a block of columns ends behind 64.
  for (const int bodies : {2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 31, 63, 64, 65}) {
    SCOPED_TRACE(std::to_string(bodies) + " bodies");
    const ModelPtr model = serial_arm(bodies);
    ASSERT_EQ(model->nv(), bodies);
    expect_lanes_to_change_nothing(model, bodies);
    lanes += LaneDerivatives::pays(*model);
  }
  EXPECT_GE(lanes, 13);
}

TEST(LaneDerivativesTest, NothingIsWrittenBehindTheMatricesOfAnArm) {
  constexpr double untouched = 12345.0;
  for (const int n : {2, 3, 4, 5, 6, 7, 8, 9, 64, 65}) {
    const ModelPtr model = serial_arm(n);
    const State s = random_state(*model, n);
    std::vector<double> tau(n);
    std::array<std::vector<double>, 3> of;
    for (auto& x : of) x.assign(n * n + 16, untouched);
    host()
        .create<InverseDynamicsDerivatives<double>>("rnea-derivatives", model)
        ->evaluate(s.q, s.v, s.vdot, tau, OutMatrix<double>(of[0].data(), n * n),
                   OutMatrix<double>(of[1].data(), n * n), OutMatrix<double>(of[2].data(), n * n));
    for (const auto& x : of) {
      EXPECT_EQ(std::count(x.begin(), x.begin() + n * n, untouched), 0) << n;
      EXPECT_EQ(std::count(x.begin() + n * n, x.end(), untouched), 16) << n;
    }
  }
}

TEST(LaneDerivativesTest, NumbersThatAreNoneDoNotStay) {
  const ModelPtr model = tree(4);
  ASSERT_TRUE(LaneDerivatives::pays(*model));
  const std::size_t n = model->nv();
  const State s = random_state(*model, 4);
  State none = s;
  none.q.back() = std::nan("");
  const auto used = host().create<ForwardDynamicsDerivatives<double>>("aba-derivatives", model);
  const auto fresh = host().create<ForwardDynamicsDerivatives<double>>("aba-derivatives", model);
  std::array<std::vector<double>, 2> vdot, by_q, by_v, inverse;
  for (int k = 0; k < 2; ++k) {
    vdot[k].resize(n), by_q[k].resize(n * n), by_v[k].resize(n * n), inverse[k].resize(n * n);
  }
  used->evaluate(none.q, s.v, s.tau, vdot[0], by_q[0], by_v[0], inverse[0]);
  EXPECT_TRUE(std::isnan(vdot[0].back()) && std::isnan(by_v[0].back()));
  used->evaluate(s.q, s.v, s.tau, vdot[0], by_q[0], by_v[0], inverse[0]);
  fresh->evaluate(s.q, s.v, s.tau, vdot[1], by_q[1], by_v[1], inverse[1]);
  EXPECT_EQ(by_q[0], by_q[1]);
  EXPECT_EQ(by_v[0], by_v[1]);
}

TEST(LaneDerivativesTest, InverseMassMatrixIsThatOfForwardDynamics) {
  for (unsigned long long seed = 1; seed <= 30; ++seed) {
    const ModelPtr model = tree(seed);
    const int n = model->nv();
    const State s = random_state(*model, seed);
    std::vector<double> inverse(n * n), M(n * n);
    host()
        .create<InverseMassMatrix<double>>("ltl-inverse-mass-matrix", model)
        ->evaluate(s.q, inverse);
    host().create<MassMatrix<double>>("crba", model)->evaluate(s.q, M);
    using Matrix = Eigen::Map<const Eigen::MatrixXd>;  // both are symmetric
    const Eigen::MatrixXd product = Matrix(M.data(), n, n) * Matrix(inverse.data(), n, n);
    EXPECT_LT((product - Eigen::MatrixXd::Identity(n, n)).cwiseAbs().maxCoeff(),
              1e-13 * largest(M) * largest(inverse))
        << "tree of seed " << seed;
  }
}

// Rotors, folded into the bodies that carry their joints, on the ground too.
TEST(LaneDerivativesTest, GearedLimbsAsLanesAreBodiesOneByOne) {
  for (const char* file : {"jvrc1_geared.yaml", "mini_cheetah_geared.yaml"}) {
    for (const CompileOptions::Root root :
         {CompileOptions::Root::floating, CompileOptions::Root::fixed}) {
      const ModelPtr model = host().compile(
          host().read(std::string(ESPALIER_SOURCE_DIR "/robots/") + file), {.root = root});
      SCOPED_TRACE(file);
      EXPECT_TRUE(LaneDerivatives::pays(*model));
      expect_lanes_to_change_nothing(model, 3);
    }
  }
}

// A lone arm fills registers with its own joints. Loops are another way, and a joint alone is.
TEST(LaneDerivativesTest, TreesOfTwoJointsAndMoreAreLanes) {
  const auto pays = [](const char* file) {
    return LaneDerivatives::pays(
        *host().compile(host().read(std::string(ESPALIER_SOURCE_DIR "/robots/") + file)));
  };
  EXPECT_TRUE(pays("humanoid.urdf"));
  EXPECT_TRUE(pays("ur5.urdf"));
  EXPECT_FALSE(pays("tello.yaml"));
  RobotOptions options;
  options.bodies = 1, options.floating_base = false;
  EXPECT_FALSE(LaneDerivatives::pays(*host().compile(random_robot(host().registry(), options))));
}

// Rows of matrices go over several blocks of numbers, and last rows are shorter than a register.
TEST(LaneDerivativesTest, LongAndShortChainsAreBodiesOneByOne) {
  for (const int bodies : {3, 4, 6, 63, 64, 65, 131}) {
    for (const bool floating : {false, true}) {
      RobotOptions options;
      options.seed = bodies, options.bodies = bodies, options.floating_base = floating;
      options.shape = bodies > 6 ? RobotOptions::Shape::binary : RobotOptions::Shape::chain;
      options.types = {"revolute", "prismatic"};
      const ModelPtr model = host().compile(random_robot(host().registry(), options));
      SCOPED_TRACE(std::to_string(bodies) + " bodies");
      EXPECT_TRUE(LaneDerivatives::pays(*model));
      expect_lanes_to_change_nothing(model, 5);
    }
  }
}

// (19.1a) reads neither the rate of the inertia nor its momentum, of which (11.1) is made.
TEST(InertiaRateTest, HalfOfItsTransposeNeedsNoRate) {
  Rng rng(1);
  for (int k = 0; k < 20; ++k) {
    const std::vector<double> J = rng.vector(6);
    const RigidInertia<double> I{
        rng.uniform(0.0, 2.0), rng.vec3(1.0), {J[0], J[1], J[2], J[3], J[4], J[5]}};
    const Motion<double> v{rng.vec3(2.0), rng.vec3(2.0)}, w{rng.vec3(2.0), rng.vec3(2.0)};
    const Vec3<double> half = half_inertia_rate_transpose_times(I, v, w, I * w);
    const Vec3<double> whole = InertiaRate<double>{inertia_rate(I, v), I * v}.transpose_times(w);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(2.0 * half[i], whole[i], 1e-13);  // rounding
  }
}

}  // namespace
}  // namespace espalier::test::lane_derivatives_test
