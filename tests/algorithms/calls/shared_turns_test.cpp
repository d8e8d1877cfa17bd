#include <gtest/gtest.h>

#include <cstring>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_models.hpp"

// AlgorithmAt::share_turns: algorithms that read sines and cosines of joints from their caller.

namespace espalier::test::shared_turns_test {
namespace {

template <class T>
std::vector<T> of(const std::vector<double>& x) {
  return {x.begin(), x.end()};
}
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Trees of all joints, robots with loops, and what stands in robots/.
template <class F>
void for_robots(F&& f) {
  const auto any_state = [](const ModelPtr& model, int seed) {
    return model->is_tree() ? random_state(*model, seed) : random_cluster_state(*model, seed);
  };
  for_each_random_tree(8, [&](const ModelPtr& model, int seed) {
    f(model, any_state(model, seed), any_state(model, seed + 100));
  });
  for_each_random_cluster_robot(8, [&](const ModelPtr& model, int seed) {
    f(model, any_state(model, seed), any_state(model, seed + 100));
  });
  for (const char* file : {"solo12.urdf", "humanoid.urdf", "mini_cheetah_geared.yaml"}) {
    SCOPED_TRACE(file);
    CompileOptions options;
    options.root = CompileOptions::Root::floating;
    const ModelPtr model = host().load(std::string(ESPALIER_SOURCE_DIR "/robots/") + file, options);
    f(model, any_state(model, 1), any_state(model, 2));
  }
}

template <class T>
std::vector<T> mass_matrix(MassMatrix<T>& algorithm, const State& s) {
  std::vector<T> M(s.v.size() * s.v.size());
  algorithm.evaluate(of<T>(s.q), M);
  return M;
}
template <class T>
std::vector<T> forces(InverseDynamics<T>& algorithm, const State& s) {
  std::vector<T> tau(s.v.size());
  const Wrenches<T> wrenches = s.wrenches<T>(algorithm.model_ptr());
  algorithm.evaluate(of<T>(s.q), of<T>(s.v), of<T>(s.vdot), tau, &wrenches);
  return tau;
}

/// The answers at two states with turns of the caller's, and those without.
template <class P, class T>
void expect_same_answers(const ModelPtr& model, const State& one, const State& other,
                         std::vector<T> (*call)(P&, const State&)) {
  JointTurns<T> turns(*model);
  for (const auto& [name, algorithm] : every<P>(model)) {
    SCOPED_TRACE(name);
    const std::vector<T> at_one = call(*algorithm, one), at_other = call(*algorithm, other);
    algorithm->share_turns(&turns);
    turns.update(of<T>(one.q).data());
    EXPECT_TRUE(same_bits(call(*algorithm, one), at_one));
    turns.update(of<T>(other.q).data());
    EXPECT_TRUE(same_bits(call(*algorithm, other), at_other));
    algorithm->share_turns(nullptr);  // turns are of another position now
    EXPECT_TRUE(same_bits(call(*algorithm, one), at_one));
  }
}

TEST(SharedTurnsTest, PacksHaveTheSameBits) {
  for_robots([](const ModelPtr& model, const State& one, const State& other) {
    expect_same_answers(model, one, other, mass_matrix<Pack>);
    expect_same_answers(model, one, other, forces<Pack>);
  });
}

/// One robot's joints outside of chains are evaluated by the C library where nobody shares turns.
TEST(SharedTurnsTest, OneRobotHasTheSameAnswersToRounding) {
  for_robots([](const ModelPtr& model, const State& one, const State& /*other*/) {
    JointTurns<double> turns(*model);
    turns.update(one.q.data());
    for (const auto& [name, algorithm] : every<InverseDynamics<double>>(model)) {
      const std::vector<double> alone = forces(*algorithm, one);
      algorithm->share_turns(&turns);
      EXPECT_LE(relative_difference(forces(*algorithm, one), alone), 1e-11) << name;
    }
  });
}

/// In axes of its root, a robot's mass matrix depends on its joints alone: it is that of the turns.
TEST(SharedTurnsTest, TheyAreReadNotTheAngles) {
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/solo12.urdf", options);
  const State one = random_state(*model, 1), other = random_state(*model, 2);
  const auto crba = host().create<MassMatrix<Pack>>("crba", model);
  const std::vector<Pack> at_one = mass_matrix(*crba, one), at_other = mass_matrix(*crba, other);
  EXPECT_FALSE(same_bits(at_one, at_other));
  JointTurns<Pack> turns(*model);
  turns.update(of<Pack>(other.q).data());
  crba->share_turns(&turns);
  EXPECT_TRUE(same_bits(mass_matrix(*crba, one), at_other));
}

TEST(SharedTurnsTest, PlacementsOfPacksHaveTheSameBits) {
  for_robots([](const ModelPtr& model, const State& one, const State& /*other*/) {
    const std::vector<Pack> q = of<Pack>(one.q), v = of<Pack>(one.v);
    SpanningMotion<Pack> alone(*model), shared(*model);
    JointTurns<Pack> turns(*model);
    turns.update(q.data());
    shared.use(&turns);
    EXPECT_EQ(shared.turns(), &turns);
    alone.update(q.data(), v.data());
    shared.update(q.data(), v.data());
    for (int i = 1; i <= model->body_count(); ++i) {
      const Transform<Pack>&a = alone.joints.X[i], &b = shared.joints.X[i];
      for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(lane(a.r[k], 5), lane(b.r[k], 5));
        for (int l = 0; l < 3; ++l) EXPECT_EQ(lane(a.E.row[k][l], 5), lane(b.E.row[k][l], 5));
      }
    }
    for (int k = 0; k < model->spanning_nv(); ++k) {
      EXPECT_EQ(lane(alone.qd()[k], 5), lane(shared.qd()[k], 5));
    }
  });
}

}  // namespace
}  // namespace espalier::test::shared_turns_test
