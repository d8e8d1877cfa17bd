#include "algorithms/segments/composite/structural_zeros.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/kernel/problems/dynamics/lower_triangle.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_models.hpp"

namespace espalier::test::structural_zeros_test {
namespace {

std::vector<double> zeroed(const Model& model, int rates) {
  std::vector<double> M(static_cast<std::size_t>(rates) * rates, 7.0);
  StructuralZeros(model, rates).write(M.data());
  return M;
}
ModelPtr floating(const char* file) {
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  return host().load(std::string(ESPALIER_SOURCE_DIR "/robots/") + file, options);
}

TEST(StructuralZerosTest, LegsOfAQuadrupedMeetAtItsTrunkAlone) {
  const ModelPtr model = floating("solo12.urdf");
  const std::vector<double> M = zeroed(*model, 18);
  const auto leg = [&](int rate) {  // -1: the trunk
    int body = model->joint_of_rate(rate).body, below = body;
    while (body > 1) below = body, body = model->body(body).parent;
    return below > 1 ? below : -1;
  };
  int zeros = 0;
  for (int i = 0; i < 18; ++i) {
    for (int j = 0; j < 18; ++j) {
      const bool apart = leg(i) != leg(j) && leg(i) > 0 && leg(j) > 0;
      EXPECT_EQ(M[18 * i + j], apart ? 0.0 : 7.0) << i << ", " << j;
      zeros += apart;
    }
  }
  EXPECT_EQ(zeros, 12 * 9);
}

TEST(StructuralZerosTest, AChainHasNone) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/ur5.urdf");
  for (const double x : zeroed(*model, model->nv())) EXPECT_EQ(x, 7.0);
}

TEST(StructuralZerosTest, AllOfAMatrixWhereClustersHaveSeveralBodies) {
  const ModelPtr model = floating("tello.yaml");
  for (const double x : zeroed(*model, model->nv())) EXPECT_EQ(x, 0.0);
}

/// Where nothing is zeroed, algorithms write: of a matrix of NaN, none is left.
void expect_all_written(const ModelPtr& model, const State& s) {
  const std::vector<Pack> q(s.q.begin(), s.q.end());
  const std::size_t n = static_cast<std::size_t>(model->nv()) * model->nv();
  std::vector<double> expected(n), M(n);
  host().create<MassMatrix<double>>("c-crba", model)->evaluate(s.q, expected);
  for (const auto& [name, algorithm] : every<MassMatrix<Pack>>(model)) {
    std::vector<Pack> packs(n, Pack(std::numeric_limits<double>::quiet_NaN()));
    algorithm->evaluate(q, packs);
    for (std::size_t i = 0; i < n; ++i) M[i] = lane(packs[i], 3);
    // A sum of some hundred products, where rotors' large ratios cancel four digits.
    EXPECT_LE(relative_difference(M, expected), 1e-11) << name;
  }
}

TEST(StructuralZerosTest, AllEntriesOfPacksAreWritten) {
  for (const char* file : {"solo12.urdf", "humanoid.urdf", "mini_cheetah_geared.yaml",
                           "mit_humanoid.yaml", "tello.yaml", "jvrc1_geared.yaml"}) {
    SCOPED_TRACE(file);
    const ModelPtr model = floating(file);
    expect_all_written(
        model, model->is_tree() ? random_state(*model, 1) : random_cluster_state(*model, 1));
  }
  for_each_random_tree(25, [](const ModelPtr& model, int seed) {
    expect_all_written(model, random_state(*model, seed));
  });
  for_each_random_cluster_robot(40, [](const ModelPtr& model, int seed) {
    expect_all_written(model, random_cluster_state(*model, seed));
  });
}

/// The lower triangle alone, twice into what was zeroed once; what is above may stay NaN.
template <class T>
void expect_lower_triangle(const ModelPtr& model, const State& one, const State& other) {
  const int n = model->nv();
  const auto full = host().create<MassMatrix<T>>("c-crba", model);
  const auto part = host().create<MassMatrix<T>>("c-crba", model);
  auto* lower = dynamic_cast<LowerTriangle*>(part.get());
  ASSERT_NE(lower, nullptr);
  lower->write_lower_triangle_alone();
  std::vector<T> expected(n * n), M(n * n, T(0.0));
  for (int i = 0; i < n; ++i) {
    std::fill(M.begin() + i * n + i + 1, M.begin() + (i + 1) * n,
              T(std::numeric_limits<double>::quiet_NaN()));
  }
  for (const State* s : {&one, &other}) {
    const std::vector<T> q(s->q.begin(), s->q.end());
    full->evaluate(q, expected);
    part->evaluate(q, M);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j <= i; ++j) {
        EXPECT_EQ(lane(M[i * n + j], 3), lane(expected[i * n + j], 3)) << i << ", " << j;
      }
    }
  }
}

TEST(StructuralZerosTest, TheLowerTriangleAloneIsThatOfAll) {
  const auto any_state = [](const ModelPtr& model, int seed) {
    return model->is_tree() ? random_state(*model, seed) : random_cluster_state(*model, seed);
  };
  const auto expect = [&](const ModelPtr& model, int seed) {
    const State one = any_state(model, seed), other = any_state(model, seed + 100);
    expect_lower_triangle<double>(model, one, other);
    expect_lower_triangle<Pack>(model, one, other);
  };
  for (const char* file : {"solo12.urdf", "humanoid.urdf", "mini_cheetah_geared.yaml",
                           "mit_humanoid.yaml", "tello.yaml", "jvrc1_geared.yaml"}) {
    SCOPED_TRACE(file);
    expect(floating(file), 1);
  }
  for_each_random_tree(25, expect);
  for_each_random_cluster_robot(40, expect);
}

/// Trees that branch at every body.
TEST(StructuralZerosTest, AllEntriesOfBushyTreesAreWritten) {
  for (int seed = 0; seed < 6; ++seed) {
    RobotOptions options;
    options.seed = seed;
    options.bodies = 40;
    options.floating_base = seed % 2 == 1;
    if (seed % 3 != 0) options.types = {"revolute"};
    options.shape = RobotOptions::Shape::binary;
    const ModelPtr model = host().compile(random_robot(host().registry(), options));
    expect_all_written(model, random_state(*model, seed));
  }
}

}  // namespace
}  // namespace espalier::test::structural_zeros_test
