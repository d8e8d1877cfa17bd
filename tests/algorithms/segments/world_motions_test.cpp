#include "algorithms/kinematics/world_motions.hpp"

#include <gtest/gtest.h>

#include "algorithms/kinematics/kinematics.hpp"
#include "tests/support/random_models.hpp"

/// Motions in world axes against the recursion in body frames, and what is summed over them against
/// sums over that.

namespace espalier::test::world_motions_test {
namespace {

/// Both carry motions over at most some tens of bodies.
constexpr double rounding = 1e-12;

void expect_near(const Motion<double>& a, const Motion<double>& b, double size) {
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(a[k], b[k], rounding * size) << k;
}
double size_of(const std::vector<Motion<double>>& all) {
  double size = 1.0;
  for (const Motion<double>& m : all) {
    for (int k = 0; k < 6; ++k) size = std::max(size, std::abs(m[k]));
  }
  return size;
}

void expect_as_in_body_frames(const ModelPtr& model, const State& s) {
  BodyMotions<double> plain(*model);
  plain.forward_pass(*model, s.q.data(), s.v.data(), s.vdot.data());
  WorldMotions<double> motions(*model);
  motions.accelerate(s.q.data(), s.v.data(), s.vdot.data());
  const double fastest = size_of(plain.v), most = size_of(plain.a);
  Vec3<double> momentum = Vec3<double>::zero();
  double kinetic = 0.0;
  for (int i = 1; i <= model->body_count(); ++i) {
    SCOPED_TRACE(i);
    const Transform<double> X = motions.placement(i);
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 3; ++l) EXPECT_NEAR(X.E(k, l), plain.X[i].E(k, l), rounding);
      EXPECT_NEAR(X.r[k], plain.X[i].r[k], 10 * rounding);
    }
    expect_near(motions.twist(i), plain.v[i], fastest);
    expect_near(motions.acceleration(i), plain.a[i], most);
    const RigidInertia<double>& I = model->body(i).inertia;
    const Force<double> p = I * plain.v[i];
    kinetic += 0.5 * dot(plain.v[i], p);
    momentum += transpose_times(plain.X[i].E, p.f);
  }
  if (!model->bodies_with_equations().empty()) return;
  for (const auto& [rate, inertia] : model->armature()) {
    kinetic += 0.5 * inertia * motions.rates()[rate] * motions.rates()[rate];
  }
  const auto energy = any<Energy<double>>(model)->evaluate(s.q, s.v);
  EXPECT_NEAR(energy.kinetic, kinetic, rounding * (kinetic + 1.0));
  const auto center = any<CenterOfMass<double>>(model)->evaluate(s.q, s.v, s.vdot);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(model->mass() * center.velocity[k], momentum[k],
                rounding * fastest * (model->mass() + 1.0));
  }
}

TEST(WorldMotionsTest, TreesOfAllJointsMoveAsInBodyFrames) {
  for_each_random_tree(40, [](const ModelPtr& model, int seed) {
    expect_as_in_body_frames(model, random_state(*model, seed));
  });
}

TEST(WorldMotionsTest, RobotsWithLoopsMoveAsInBodyFrames) {
  for_each_random_cluster_robot(60, [](const ModelPtr& model, int seed) {
    expect_as_in_body_frames(model, random_cluster_state(*model, seed));
  });
}

// Packs go another way: vectors of three numbers instead of registers.
TEST(WorldMotionsTest, PacksMoveAsSingleStates) {
  for_each_random_cluster_robot(20, [](const ModelPtr& model, int seed) {
    std::vector<State> states;
    for (int k = 0; k < Pack::size; ++k) states.push_back(random_cluster_state(*model, seed + k));
    const auto packed = [&](std::vector<double> State::*of) {
      std::vector<Pack> out((states[0].*of).size());
      for (std::size_t i = 0; i < out.size(); ++i) {
        for (int k = 0; k < Pack::size; ++k) out[i].set(k, (states[k].*of)[i]);
      }
      return out;
    };
    const std::vector<Pack> q = packed(&State::q), v = packed(&State::v),
                            vdot = packed(&State::vdot);
    WorldMotions<Pack> all(*model);
    all.accelerate(q.data(), v.data(), vdot.data());
    WorldMotions<double> one(*model);
    for (int k = 0; k < Pack::size; ++k) {
      const State& s = states[k];
      one.accelerate(s.q.data(), s.v.data(), s.vdot.data());
      for (int i = 1; i <= model->body_count(); ++i) {
        const Motion<double> twist = one.twist(i), a = one.acceleration(i);
        const Motion<Pack> twists = all.twist(i), as = all.acceleration(i);
        for (int c = 0; c < 6; ++c) {
          EXPECT_NEAR(twists[c][k], twist[c], 1e-10 * (1.0 + std::abs(twist[c])));
          EXPECT_NEAR(as[c][k], a[c], 1e-9 * (1.0 + std::abs(a[c])));
        }
      }
    }
  });
}

}  // namespace
}  // namespace espalier::test::world_motions_test
