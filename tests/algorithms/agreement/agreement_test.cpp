#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <functional>
#include <limits>
#include <ostream>

#include "espalier/kernel/model/joint.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/state.hpp"

// Every registered method for a problem against every other, on random trees.

namespace espalier::test::agreement_test {
namespace {

using Shape = RobotOptions::Shape;

/// A kind of robot.
struct RobotKind {
  const char* name;
  Shape shape;
  int bodies;
  bool floating_base;
};
std::ostream& operator<<(std::ostream& out, const RobotKind& kind) { return out << kind.name; }

ModelPtr model_of(const RobotKind& kind, unsigned long long seed) {
  RobotOptions options;
  options.shape = kind.shape;
  options.bodies = kind.bodies;
  options.floating_base = kind.floating_base;
  options.seed = seed;
  // Large trees of joints of one rate keep the dense oracle affordable.
  if (kind.bodies > 100) options.several_rates = 0.05;
  return host().compile(random_robot(host().registry(), options));
}
/// More samples of what is cheap.
int samples(const RobotKind& kind) { return kind.bodies <= 10 ? 20 : kind.bodies <= 40 ? 4 : 1; }

std::vector<double> matrix(MassMatrix<double>& algorithm, const State& s) {
  const int nv = algorithm.model().nv();
  std::vector<double> M(static_cast<std::size_t>(nv) * nv);
  algorithm.evaluate(s.q, M);
  return M;
}

/// Ratio of the extreme eigenvalues of the mass matrix after its diagonal was scaled to 1: what
/// limits forward dynamics whatever the units of the rates are.
double condition(const ModelPtr& model, const State& s) {
  const int nv = model->nv();
  const std::vector<double> M = matrix(*any<MassMatrix<double>>(model), s);
  Eigen::MatrixXd A = Eigen::Map<const Eigen::MatrixXd>(M.data(), nv, nv);
  const Eigen::VectorXd d = A.diagonal().cwiseSqrt().cwiseInverse();
  A = d.asDiagonal() * A * d.asDiagonal();
  const Eigen::VectorXd e = eigenvalues_of_symmetric(A);
  return e[nv - 1] / e[0];
}

/// Largest difference of any algorithm's answer from the first one's; `solve` runs one algorithm.
template <class P, class Solve>
void expect_agreement(const ModelPtr& model, double tolerance, Solve&& solve) {
  const auto all = every<P>(model);
  ASSERT_GE(all.size(), 2u) << "nothing to compare for " << P::problem;
  const std::vector<double> reference = solve(*all[0].algorithm);
  for (std::size_t k = 1; k < all.size(); ++k) {
    EXPECT_LE(relative_difference(solve(*all[k].algorithm), reference), tolerance)
        << all[k].name << " against " << all[0].name << " on " << model->name();
  }
}

auto forward(const State& s, const Wrenches<double>& wrenches) {
  return [&](ForwardDynamics<double>& algorithm) {
    std::vector<double> vdot(s.v.size());
    algorithm.evaluate(s.q, s.v, s.tau, vdot, &wrenches);
    return vdot;
  };
}
auto inverse(const State& s, const Wrenches<double>& wrenches) {
  return [&](InverseDynamics<double>& algorithm) {
    std::vector<double> tau(s.v.size());
    algorithm.evaluate(s.q, s.v, s.vdot, tau, &wrenches);
    return tau;
  };
}
auto bias(const State& s, const Wrenches<double>& wrenches) {
  return [&](BiasForce<double>& algorithm) {
    std::vector<double> out(s.v.size());
    algorithm.evaluate(s.q, s.v, out, &wrenches);
    return out;
  };
}

class RandomTreeTest : public testing::TestWithParam<RobotKind> {
 protected:
  /// Calls f(model, state, wrenches) for several robots of the kind.
  template <class F>
  void for_each_robot(F&& f) {
    for (int k = 0; k < samples(GetParam()); ++k) {
      const ModelPtr model = model_of(GetParam(), 100 + k);
      const State s = random_state(*model, 17 + k);
      f(model, s, s.wrenches(model));
    }
  }
};

// Agreed in the project's specification; rounding of these trees is far below.
constexpr double agreed = 1e-9;

TEST_P(RandomTreeTest, AllForwardAlgorithmsAgree) {
  for_each_robot([](const ModelPtr& model, const State& s, const Wrenches<double>& wrenches) {
    expect_agreement<ForwardDynamics<double>>(model, agreed, forward(s, wrenches));
  });
}

TEST_P(RandomTreeTest, AllInverseAlgorithmsAgree) {
  for_each_robot([](const ModelPtr& model, const State& s, const Wrenches<double>& wrenches) {
    expect_agreement<InverseDynamics<double>>(model, agreed, inverse(s, wrenches));
  });
}

TEST_P(RandomTreeTest, AllBiasAlgorithmsAgree) {
  for_each_robot([](const ModelPtr& model, const State& s, const Wrenches<double>& wrenches) {
    expect_agreement<BiasForce<double>>(model, agreed, bias(s, wrenches));
  });
}

TEST_P(RandomTreeTest, AllMassMatrixAlgorithmsAgree) {
  for_each_robot([](const ModelPtr& model, const State& s, const Wrenches<double>&) {
    expect_agreement<MassMatrix<double>>(
        model, agreed, [&](MassMatrix<double>& algorithm) { return matrix(algorithm, s); });
  });
}

TEST_P(RandomTreeTest, ForwardInvertsInverseForAllPairs) {
  for_each_robot([](const ModelPtr& model, const State& s, const Wrenches<double>& wrenches) {
    const auto all_back = every<ForwardDynamics<double>>(model);
    for (const auto& [name, algorithm] : every<InverseDynamics<double>>(model)) {
      State driven = s;
      driven.tau = inverse(s, wrenches)(*algorithm);
      for (const auto& [other, back] : all_back) {
        const std::vector<double> vdot = forward(driven, wrenches)(*back);
        EXPECT_LE(relative_difference(vdot, s.vdot), agreed) << name << " then " << other;
      }
    }
  });
}

TEST_P(RandomTreeTest, BiasIsInverseDynamicsAtZeroAcceleration) {
  for_each_robot([](const ModelPtr& model, const State& s, const Wrenches<double>& wrenches) {
    State still = s;
    still.vdot.assign(s.vdot.size(), 0.0);
    const auto b = bias(s, wrenches)(*any<BiasForce<double>>(model));
    EXPECT_LE(
        relative_difference(inverse(still, wrenches)(*any<InverseDynamics<double>>(model)), b),
        agreed);
  });
}

TEST_P(RandomTreeTest, MassMatrixIsSymmetricAndPositiveDefinite) {
  for_each_robot([](const ModelPtr& model, const State& s, const Wrenches<double>&) {
    const int nv = model->nv();
    for (const auto& [name, algorithm] : every<MassMatrix<double>>(model)) {
      const std::vector<double> values = matrix(*algorithm, s);
      const auto M = Eigen::Map<const Eigen::MatrixXd>(values.data(), nv, nv);
      // Products in another order: rounding only.
      EXPECT_LE((M - M.transpose()).cwiseAbs().maxCoeff(), 1e-13 * M.cwiseAbs().maxCoeff()) << name;
      EXPECT_TRUE(is_positive_definite(M)) << name;
    }
  });
}

TEST_P(RandomTreeTest, ColumnsOfTheMassMatrixAreDifferencesOfInverseDynamics) {
  for_each_robot([](const ModelPtr& model, const State& s, const Wrenches<double>& wrenches) {
    const int nv = model->nv();
    const std::vector<double> M = matrix(*any<MassMatrix<double>>(model), s);
    for (const auto& [name, algorithm] : every<InverseDynamics<double>>(model)) {
      State unit = s;
      unit.vdot.assign(nv, 0.0);
      const std::vector<double> b = inverse(unit, wrenches)(*algorithm);
      // A few columns of large robots.
      for (int j = 0; j<nv; j += nv> 100 ? nv / 3 : 1) {
        unit.vdot.assign(nv, 0.0);
        unit.vdot[j] = 1.0;
        const auto column = combined(inverse(unit, wrenches)(*algorithm), -1.0, b);
        const std::vector<double> wanted(M.begin() + static_cast<long>(j) * nv,
                                         M.begin() + static_cast<long>(j + 1) * nv);
        // The difference loses what the bias is larger than the column.
        EXPECT_LE(relative_difference(column, wanted), agreed * std::max(1.0, largest(b))) << name;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(AllShapes, RandomTreeTest,
                         testing::Values(RobotKind{"OneBody", Shape::random, 1, false},
                                         RobotKind{"OneFloatingBody", Shape::random, 1, true},
                                         RobotKind{"TwoBodies", Shape::random, 2, false},
                                         RobotKind{"FiveBodies", Shape::random, 5, false},
                                         RobotKind{"TenBodiesFloating", Shape::random, 10, true},
                                         RobotKind{"FortyBodies", Shape::random, 40, false},
                                         RobotKind{"HundredBodiesFloating", Shape::random, 100,
                                                   true},
                                         RobotKind{"FiveHundredBodies", Shape::random, 500, false},
                                         RobotKind{"Star", Shape::star, 30, false},
                                         RobotKind{"BinaryTree", Shape::binary, 63, true},
                                         RobotKind{"ShortChain", Shape::chain, 8, false}),
                         [](const auto& kind) { return std::string(kind.param.name); });

// The mass matrix of a long chain is badly conditioned: cond(M) grows with the fourth power of the
// length where all axes are parallel. Backward stable methods may then be apart by a small multiple
// of cond(M) times the rounding of doubles; what is seen is a tenth of it.
void expect_agreement_within_condition(const ModelPtr& model) {
  const State s = random_state(*model, 3);
  const Wrenches<double> wrenches = s.wrenches(model);
  const double bound = std::numeric_limits<double>::epsilon() * condition(model, s);
  expect_agreement<ForwardDynamics<double>>(model, std::max(agreed, bound), forward(s, wrenches));
}

TEST(LongChainTest, ForwardAlgorithmsAgreeWithinTheConditionOfTheMassMatrix) {
  for (const int bodies : {16, 32, 64, 128, 256}) {
    expect_agreement_within_condition(model_of({"", Shape::chain, bodies, false}, 7));
  }
}

TEST(LongChainTest, ForwardAlgorithmsAgreeOnStraightChainsWithParallelAxes) {
  for (const int bodies : {16, 64, 256}) {
    Description robot = ground();
    for (int i = 1; i <= bodies; ++i) {
      const std::string number = std::to_string(i);
      const std::string parent = i == 1 ? "base" : "link" + std::to_string(i - 1);
      add_link(robot, "link" + number, 1.0, {0.5, 0, 0}, {0.01, 0, 0, 0.1, 0, 0.1});
      add_joint(robot, "joint" + number, "revolute", parent, "link" + number, {0, 0, 1},
                {{i == 1 ? 0.0 : 1.0, 0, 0}, {}});
    }
    expect_agreement_within_condition(host().compile(robot));
  }
}

TEST(LongChainTest, InverseAlgorithmsAgree) {
  for (const int bodies : {16, 64, 256}) {
    const ModelPtr model = model_of({"", Shape::chain, bodies, false}, 7);
    const State s = random_state(*model, 3);
    const Wrenches<double> wrenches = s.wrenches(model);
    expect_agreement<InverseDynamics<double>>(model, agreed, inverse(s, wrenches));
    expect_agreement<MassMatrix<double>>(
        model, agreed, [&](MassMatrix<double>& algorithm) { return matrix(algorithm, s); });
  }
}

// One joint type at a time, so that runs of every type and every length meet the vector code.
TEST(SingleTypeTest, AllAlgorithmsAgreeOnRunsOfOneJointType) {
  for (const Entry* e : host().registry().entries(Kind::joint)) {
    if (e->joint->nv() == 0) continue;
    for (int bodies = 1; bodies <= 9; ++bodies) {
      RobotOptions options;
      options.bodies = bodies;
      options.types = {e->about.name};
      options.seed = bodies;
      const ModelPtr model = host().compile(random_robot(host().registry(), options));
      ASSERT_EQ(model->runs().size(), 1u);
      const State s = random_state(*model, bodies);
      const Wrenches<double> wrenches = s.wrenches(model);
      SCOPED_TRACE(e->about.name);
      expect_agreement<ForwardDynamics<double>>(model, agreed, forward(s, wrenches));
      expect_agreement<InverseDynamics<double>>(model, agreed, inverse(s, wrenches));
    }
  }
}

}  // namespace
}  // namespace espalier::test::agreement_test
