#include "espalier/kernel/scalar/dual.hpp"
#include "tests/joints/joint_bench.hpp"

/// What every registered joint type has to satisfy. A type that is registered is tested here.

namespace espalier::joint_conformance_test {
namespace {

using namespace test;

/// Numbers of order one that went through a dozen operations: a few units in the last place.
constexpr double rounding = 1e-14;
/// Finite differences of fourth order at a step of 1e-3, see twist_of(); positions here have
/// derivatives up to 10.
constexpr double differences = 1e-10;

std::vector<std::string> joint_types() {
  std::vector<std::string> names;
  for (const Entry* e : registry().entries(Kind::joint)) names.push_back(e->about.name);
  return names;
}

class JointConformanceTest : public ::testing::TestWithParam<std::string> {
 protected:
  const JointType& type() const { return registry().joint_type(GetParam()); }

  // Five joints: four that may be processed at once, and one more.
  Random random_{7};
  JointBench joints_ = JointBench::random(type(), 5, random_);
};

TEST(JointRegistryTest, JointTypesOfTheIssueAreRegisteredAndExplainThemselves) {
  for (const char* name : {"revolute", "continuous", "prismatic", "helical", "cylindrical",
                           "universal", "planar", "spherical", "floating", "fixed"}) {
    const Entry& e = registry().find(Kind::joint, name);
    EXPECT_FALSE(e.about.summary.empty()) << name;
    EXPECT_FALSE(e.about.source.empty()) << name;
    EXPECT_FALSE(e.about.cost.empty()) << name;
  }
}

TEST_P(JointConformanceTest, SizesFitTogether) {
  EXPECT_EQ(type().name(), GetParam());
  EXPECT_GE(type().nq(), type().nv());
  EXPECT_GE(type().nv(), 0);
  EXPECT_LE(type().nv(), 6);
  switch (type().subspace()) {
    case SubspaceKind::revolute_z:
    case SubspaceKind::prismatic_z:
      EXPECT_EQ(type().nv(), 1);
      break;
    case SubspaceKind::spherical:
      EXPECT_EQ(type().nv(), 3);
      break;
    case SubspaceKind::free:
      EXPECT_EQ(type().nv(), 6);
      break;
    case SubspaceKind::dense:
      break;
  }
}

TEST_P(JointConformanceTest, AlignmentIsAProperRotation) {
  for (const JointSpec& spec : joints_.specs()) {
    const Eigen::Matrix3d A = matrix(type().alignment(spec));
    EXPECT_LT((A * A.transpose() - Eigen::Matrix3d::Identity()).norm(), rounding);
    EXPECT_NEAR(A.determinant(), 1.0, rounding);
  }
}

TEST_P(JointConformanceTest, NeutralLeavesTheBodyAtItsPlacement) {
  const auto X = joints_.X(joints_.neutral());
  for (int k = 0; k < joints_.count(); ++k) {
    EXPECT_LT(largest_difference(X[k], joints_.placements()[k]), rounding);
  }
}

TEST_P(JointConformanceTest, TransformIsRigidOnTheManifold) {
  for (int sample = 0; sample < 20; ++sample) {
    for (const Transform<double>& X : joints_.X(joints_.random_position(random_))) {
      const Eigen::Matrix3d E = matrix(X.E);
      EXPECT_LT((E * E.transpose() - Eigen::Matrix3d::Identity()).norm(), rounding);
      EXPECT_GT(E.determinant(), 0.0);
      EXPECT_TRUE(vector(X.r).allFinite());
    }
  }
}

TEST_P(JointConformanceTest, SubspaceIsTheDerivativeOfTheTransform) {
  for (int sample = 0; sample < 10; ++sample) {
    const auto q = joints_.random_position(random_);
    const auto S = joints_.kinematics<double>(q.data(), nullptr).S;
    for (int j = 0; j < joints_.nv(); ++j) {
      const Motion<double> twist = twist_of([&](double t) {
        std::vector<double> step(joints_.nv(), 0.0);
        step[j] = t;
        return joints_.X(joints_.integrate(q, step))[j / type().nv()];
      });
      EXPECT_LT(largest_difference(S[j], twist), differences) << "rate " << j;
    }
  }
}

TEST_P(JointConformanceTest, BiasIsTheDerivativeOfTheSubspaceAtConstantRates) {
  for (int sample = 0; sample < 10; ++sample) {
    const auto q = joints_.random_position(random_);
    const auto qd = random_.vector(joints_.nv());
    const auto bias = joints_.kinematics(q, qd).bias;
    const auto S_qd = [&](double t, int k) {
      const auto S = joints_.kinematics(joints_.integrate(q, scaled(t, qd)), qd).S;
      Motion<double> sum = Motion<double>::zero();
      for (int j = k * type().nv(); j < (k + 1) * type().nv(); ++j) sum += scale(qd[j], S[j]);
      return sum;
    };
    const double h = 1e-3;
    for (int k = 0; k < joints_.count(); ++k) {
      const Motion<double> expected =
          scale(1.0 / (12.0 * h),
                scale(8.0, S_qd(h, k) - S_qd(-h, k)) - (S_qd(2 * h, k) - S_qd(-2 * h, k)));
      EXPECT_LT(largest_difference(bias[k], expected), differences);
    }
  }
}

/// X, S and bias as numbers, and once more their derivatives.
template <class T, class F>
std::vector<double> numbers(const test::Kinematics<T>& k, F&& f) {
  std::vector<double> out;
  for (const Transform<T>& X : k.X) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) out.push_back(f(X.E(i, j)));
      out.push_back(f(X.r[i]));
    }
  }
  for (const auto* list : {&k.S, &k.bias}) {
    for (const Motion<T>& m : *list) {
      for (int i = 0; i < 6; ++i) out.push_back(f(m[i]));
    }
  }
  return out;
}

TEST_P(JointConformanceTest, DualNumbersAreDerivativesAlongTheJoint) {
  using D = Dual<double>;
  for (int sample = 0; sample < 10; ++sample) {
    const auto q = joints_.random_position(random_);
    const auto qd = random_.vector(joints_.nv()), x = random_.vector(joints_.nv()),
               xd = random_.vector(joints_.nv());
    const auto at = [&](double t) {
      std::vector<double> rates = qd;
      for (std::size_t i = 0; i < rates.size(); ++i) rates[i] += t * xd[i];
      return numbers(joints_.kinematics(joints_.integrate(q, scaled(t, x)), rates),
                     [](double a) { return a; });
    };
    std::vector<D> start(q.begin(), q.end()), step, rates;
    for (std::size_t i = 0; i < x.size(); ++i) {
      step.push_back({0.0, x[i]}), rates.push_back({qd[i], xd[i]});
    }
    const auto found = joints_.kinematics(joints_.integrate(start, step), rates);
    EXPECT_LT(largest_difference(numbers(found, [](const D& a) { return a.x; }), at(0.0)),
              10 * rounding);
    const double h = 1e-3;
    const auto a = at(h), b = at(-h), c = at(2 * h), d = at(-2 * h);
    std::vector<double> expected(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      expected[i] = (8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12.0 * h);
    }
    EXPECT_LT(largest_difference(numbers(found, [](const D& a) { return a.d; }), expected),
              differences);
  }
}

TEST_P(JointConformanceTest, BiasIsZeroWithoutRates) {
  const auto q = joints_.random_position(random_);
  const std::vector<double> zero(joints_.nv(), 0.0);
  const auto without = joints_.kinematics<double>(q.data(), nullptr);
  const auto at_rest = joints_.kinematics(q, zero);
  for (int k = 0; k < joints_.count(); ++k) {
    EXPECT_EQ(largest_difference(without.bias[k], Motion<double>::zero()), 0.0);
    EXPECT_EQ(largest_difference(at_rest.bias[k], Motion<double>::zero()), 0.0);
    EXPECT_EQ(largest_difference(without.X[k], at_rest.X[k]), 0.0);
  }
}

TEST_P(JointConformanceTest, IntegrateMovesTheBodyWithConstantRatesAllTheWay) {
  for (int sample = 0; sample < 10; ++sample) {
    const auto q = joints_.random_position(random_);
    const auto v = random_.vector(joints_.nv(), 1.5);
    for (const double t0 : {0.3, 1.0}) {
      const auto S = joints_.kinematics(joints_.integrate(q, scaled(t0, v)), v).S;
      for (int k = 0; k < joints_.count(); ++k) {
        Motion<double> expected = Motion<double>::zero();
        for (int j = k * type().nv(); j < (k + 1) * type().nv(); ++j) {
          expected += scale(v[j], S[j]);
        }
        const Motion<double> twist = twist_of(
            [&](double t) { return joints_.X(joints_.integrate(q, scaled(t0 + t, v)))[k]; });
        EXPECT_LT(largest_difference(twist, expected), differences);
      }
    }
  }
}

TEST_P(JointConformanceTest, SixteenStepsAreOneStep) {
  for (const double size : {1e-7, 1e-3, 1.0, 6.0}) {
    const auto start = joints_.random_position(random_);
    const auto v = random_.vector(joints_.nv(), size);
    auto q = start;
    for (int i = 0; i < 16; ++i) q = joints_.integrate(q, scaled(1.0 / 16.0, v));
    const auto expected = joints_.X(joints_.integrate(start, v)), X = joints_.X(q);
    for (int k = 0; k < joints_.count(); ++k) {
      // Rounding of 16 steps over distances of up to 10.
      EXPECT_LT(largest_difference(X[k], expected[k]), 1e-13);
    }
  }
}

TEST_P(JointConformanceTest, DifferenceUndoesIntegrate) {
  for (const double size : {0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-5, 1e-3, 0.03, 0.1, 0.3, 1.0}) {
    for (int sample = 0; sample < 10; ++sample) {
      const auto q = joints_.random_position(random_);
      const auto v = random_.vector(joints_.nv(), size);
      const auto back = joints_.difference(q, joints_.integrate(q, v));
      // Positions of up to 2 + 1 are rounded before they are subtracted.
      EXPECT_LT(largest_difference(back, v), rounding) << size;
    }
  }
}

TEST_P(JointConformanceTest, DifferenceUndoesIntegrateUpToHalfATurn) {
  for (const double angle : {3.0, 3.14, std::numbers::pi - 1e-6, std::numbers::pi - 1e-10}) {
    for (int sample = 0; sample < 10; ++sample) {
      const auto q = joints_.random_position(random_);
      auto v = random_.vector(joints_.nv());
      for (int k = 0; k < joints_.count(); ++k) {
        // All rates of a joint together: at most `angle`, reached if all are angular.
        double norm = 0.0;
        for (int j = 0; j < type().nv(); ++j) norm = std::hypot(norm, v[k * type().nv() + j]);
        for (int j = 0; j < type().nv(); ++j) v[k * type().nv() + j] *= angle / norm;
      }
      const auto back = joints_.difference(q, joints_.integrate(q, v));
      EXPECT_LT(largest_difference(back, v), 10 * rounding) << angle;
    }
    for (int j = 0; j < type().nv(); ++j) {
      const auto q = joints_.random_position(random_);
      std::vector<double> v(joints_.nv(), 0.0);
      v[j] = angle;
      const auto back = joints_.difference(q, joints_.integrate(q, v));
      EXPECT_LT(largest_difference(back, v), 10 * rounding) << angle << " of rate " << j;
    }
  }
}

TEST_P(JointConformanceTest, IntegratingTheDifferenceArrives) {
  for (int sample = 0; sample < 100; ++sample) {
    const auto q0 = joints_.random_position(random_), q1 = joints_.random_position(random_);
    const auto v = joints_.difference(q0, q1);
    const auto X = joints_.X(joints_.integrate(q0, v)), expected = joints_.X(q1);
    for (int k = 0; k < joints_.count(); ++k) {
      EXPECT_LT(largest_difference(X[k], expected[k]), 10 * rounding);
    }
  }
}

TEST_P(JointConformanceTest, NoRatesMeanNoMotion) {
  const auto q = joints_.random_position(random_);
  const std::vector<double> zero(joints_.nv(), 0.0);
  EXPECT_LT(largest_difference(joints_.integrate(q, zero), q), rounding);
  EXPECT_LT(largest(joints_.difference(q, q)), rounding);
}

TEST_P(JointConformanceTest, IntegrateMayOverwriteItsInput) {
  auto q = joints_.random_position(random_);
  const auto v = random_.vector(joints_.nv());
  const auto expected = joints_.integrate(q, v);
  joints_.integrate_in_place(q, v);
  EXPECT_EQ(q, expected);
}

TEST_P(JointConformanceTest, NormalizeIsIdempotentAndKeepsTheManifold) {
  for (int sample = 0; sample < 20; ++sample) {
    const auto once = joints_.random_position(random_);
    EXPECT_LT(largest_difference(joints_.normalized(once), once), rounding);
    const auto moved = joints_.integrate(once, random_.vector(joints_.nv(), 3.0));
    EXPECT_LT(largest_difference(joints_.normalized(moved), moved), rounding);
  }
  EXPECT_EQ(joints_.normalized(joints_.neutral()), joints_.neutral());
}

TEST_P(JointConformanceTest, NormalizeLeadsBackFromAnywhere) {
  for (const double size : {0.0, 5e-324, 1e-310, 1e-200, 1e-9, 1e9, 1e200}) {
    const auto q = joints_.normalized(random_.vector(joints_.nq(), size));
    for (const Transform<double>& X : joints_.X(q)) {
      const Eigen::Matrix3d E = matrix(X.E);
      EXPECT_LT((E * E.transpose() - Eigen::Matrix3d::Identity()).norm(), rounding) << size;
    }
  }
}

TEST_P(JointConformanceTest, JointInALongRunIsLikeOneAlone) {
  const auto q = joints_.random_position(random_);
  const auto qd = random_.vector(joints_.nv());
  const auto together = joints_.kinematics(q, qd);
  for (int k = 0; k < joints_.count(); ++k) {
    const JointBench alone(type(), {joints_.specs()[k]}, {joints_.placements()[k]});
    const auto one = alone.kinematics(q.data() + k * type().nq(), qd.data() + k * type().nv());
    // Sines of four joints at once are those of packs, of one joint the C library's.
    EXPECT_LT(largest_difference(together.X[k], one.X[0]), rounding);
    EXPECT_LT(largest_difference(together.bias[k], one.bias[0]), rounding);
    for (int j = 0; j < type().nv(); ++j) {
      EXPECT_LT(largest_difference(together.S[k * type().nv() + j], one.S[j]), rounding);
    }
  }
}

/// Lane `l` of numbers, twists and transforms of any scalar.
template <class T>
std::vector<double> lanes(const std::vector<T>& values, int l) {
  std::vector<double> out;
  for (const T& x : values) out.push_back(lane(x, l));
  return out;
}
template <class T>
Motion<double> lanes(const Motion<T>& m, int l) {
  Motion<double> out;
  for (int i = 0; i < 6; ++i) out[i] = lane(m[i], l);
  return out;
}
template <class T>
Transform<double> lanes(const Transform<T>& X, int l) {
  Transform<double> out;
  for (int i = 0; i < 3; ++i) {
    out.r[i] = lane(X.r[i], l);
    for (int j = 0; j < 3; ++j) out.E(i, j) = lane(X.E(i, j), l);
  }
  return out;
}

template <class P>
std::vector<P> packs(const std::vector<std::vector<double>>& of_lane) {
  std::vector<P> out(of_lane[0].size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (int l = 0; l < P::size; ++l) {
      out[i].set(l, static_cast<typename P::Element>(of_lane[l][i]));
    }
  }
  return out;
}
std::vector<Count> variables(const std::vector<double>& values) {
  std::vector<Count> out;
  for (const double x : values) out.push_back(Count::variable(x));
  return out;
}

/// Every lane of a pack has what its own numbers give at the scalar double.
/// @param sizes  of the rates, per lane: on both sides of every case distinction
template <class P>
void expect_lanes_alone(const JointBench& joints, Random& random, const double (&sizes)[P::size],
                        double tolerance) {
  for (int sample = 0; sample < 10; ++sample) {
    std::vector<std::vector<double>> q, v, off, q1;
    for (int l = 0; l < P::size; ++l) {
      q.push_back(joints.random_position(random));
      v.push_back(random.vector(joints.nv(), sizes[l]));
      q1.push_back(joints.integrate(q[l], v[l]));
      off.push_back(random.vector(joints.nq(), l == 1 ? 0.0 : 2.0));
    }
    const auto kinematics = joints.kinematics(packs<P>(q), packs<P>(v));
    const auto moved = joints.integrate(packs<P>(q), packs<P>(v));
    const auto back = joints.difference(packs<P>(q), packs<P>(q1));
    const auto on = joints.normalized(packs<P>(off));
    for (int l = 0; l < P::size; ++l) {
      const auto expected = joints.kinematics(q[l], v[l]);
      for (int k = 0; k < joints.count(); ++k) {
        EXPECT_LT(largest_difference(lanes(kinematics.X[k], l), expected.X[k]), tolerance);
        EXPECT_LT(largest_difference(lanes(kinematics.bias[k], l), expected.bias[k]),
                  10 * tolerance);  // of rates up to 3, squared
      }
      for (int j = 0; j < joints.nv(); ++j) {
        EXPECT_LT(largest_difference(lanes(kinematics.S[j], l), expected.S[j]), tolerance);
      }
      EXPECT_LT(largest_difference(lanes(moved, l), q1[l]), tolerance);
      EXPECT_LT(largest_difference(lanes(back, l), joints.difference(q[l], q1[l])), tolerance);
      EXPECT_LT(largest_difference(lanes(on, l), joints.normalized(off[l])), tolerance);
    }
  }
}

TEST_P(JointConformanceTest, LanesOfAPackAreIndependentRobots) {
  expect_lanes_alone<Pack>(joints_, random_, {0.0, 1e-6, 0.05, 3.0}, rounding);
}

TEST_P(JointConformanceTest, LanesOfAPackOfFloatsAreIndependentRobots) {
  // Numbers of order one to ten; differences of series and closed forms cost a few digits of 6e-8.
  expect_lanes_alone<FloatPack>(joints_, random_, {0.0, 1e-8, 1e-4, 0.05, 0.3, 0.6, 1.0, 3.0},
                                2e-5);
}

TEST_P(JointConformanceTest, CountingChangesNoResultAndCounts) {
  const auto q = joints_.random_position(random_), off = random_.vector(joints_.nq());
  const auto v = random_.vector(joints_.nv());
  const auto q1 = joints_.integrate(q, v);
  operation_counts() = {};
  const auto kinematics = joints_.kinematics(variables(q), variables(v));
  const OperationCounts counts = operation_counts();
  EXPECT_GT(counts.additions, 0);
  EXPECT_GT(counts.multiplications, 0);
  const auto expected = joints_.kinematics(q, v);
  for (int k = 0; k < joints_.count(); ++k) {
    EXPECT_LT(largest_difference(lanes(kinematics.X[k], 0), expected.X[k]), rounding);
    EXPECT_LT(largest_difference(lanes(kinematics.bias[k], 0), expected.bias[k]), rounding);
  }
  for (int j = 0; j < joints_.nv(); ++j) {
    EXPECT_LT(largest_difference(lanes(kinematics.S[j], 0), expected.S[j]), rounding);
  }
  EXPECT_LT(largest_difference(lanes(joints_.integrate(variables(q), variables(v)), 0), q1),
            rounding);
  EXPECT_LT(largest_difference(lanes(joints_.difference(variables(q), variables(q1)), 0),
                               joints_.difference(q, q1)),
            rounding);
  EXPECT_LT(
      largest_difference(lanes(joints_.normalized(variables(off)), 0), joints_.normalized(off)),
      rounding);
}

TEST_P(JointConformanceTest, ResultsThatDependOnThePositionAreNoConstants) {
  // Else the operation counter would fold away what has to be computed.
  if (type().nv() == 0) GTEST_SKIP() << "a joint without position";
  const auto q = joints_.random_position(random_);
  const auto kinematics = joints_.kinematics(variables(q), variables(random_.vector(joints_.nv())));
  bool varies = false;
  for (int i = 0; i < 3; ++i) {
    varies |= !kinematics.X[0].r[i].constant();
    for (int j = 0; j < 3; ++j) varies |= !kinematics.X[0].E(i, j).constant();
  }
  EXPECT_TRUE(varies);
}

std::string test_name(const ::testing::TestParamInfo<std::string>& joint) {
  std::string name = joint.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registered, JointConformanceTest, ::testing::ValuesIn(joint_types()),
                         test_name);

}  // namespace
}  // namespace espalier::joint_conformance_test
