#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "algorithms/reference/bodies.hpp"
#include "espalier/kernel/problems/kinematics/jacobian.hpp"
#include "tests/support/random_models.hpp"

// Jacobians of links against sums of dense 6 x 6 products, joint by joint from the link to the
// ground: J = sum of (body to link)X (i to body)X S_i G_i.

namespace espalier::test::jacobian_test {
namespace {

using reference::Matrix6;
using reference::Matrix6X;

/// Both carry columns over at most some tens of bodies.
constexpr double rounding = 1e-12;

class DenseJacobians {
 public:
  explicit DenseJacobians(const Model& model) : model_(model), bodies_(model) {}

  void update(const std::vector<double>& q) { bodies_.update(model_, q.data(), nullptr); }

  std::vector<double> jacobian(const Link& link) const {
    reference::RowMajor J = reference::RowMajor::Zero(6, model_.nv());
    Matrix6 X = reference::matrix(link.X);
    for (int i = link.body; i != 0; i = bodies_.lambda[i]) {
      const Body& body = model_.body(i);
      const Cluster& c = model_.clusters()[body.cluster];
      for (int k = 0; k < body.nv; ++k) {
        const reference::Vector6 column = X * bodies_.S[i].col(k);
        const int row = c.row(body.v + k);
        for (int j = 0; j < c.nv; ++j) {
          const double G = c.constrained ? bodies_.motion.G(c)[row * c.nv + j] : row == j;
          J.col(c.v + j) += G * column;
        }
      }
      X = X * bodies_.X[i];
    }
    return {J.data(), J.data() + J.size()};
  }

 private:
  const Model& model_;
  reference::Bodies bodies_;
};

/// Links in a shuffled order, some twice, at several positions: what was placed for one is used by
/// the next, and forgotten at the next position. Each link as the first one and alone, too, which
/// takes another way.
void expect_dense(const ModelPtr& model, const std::vector<std::vector<double>>& positions) {
  const auto jacobians = any<BodyJacobians<double>>(model);
  DenseJacobians dense(*model);
  const int links = static_cast<int>(model->links().size());
  Rng rng(7);
  for (const std::vector<double>& q : positions) {
    jacobians->evaluate(q);
    dense.update(q);
    for (int k = 0; k < links + 5; ++k) {
      const Link& link = model->links()[rng.below(links)];
      std::vector<double> J(6 * model->nv(), 7.0);  // what stands there before is overwritten
      jacobians->jacobian(link, J);
      EXPECT_LE(relative_difference(J, dense.jacobian(link)), rounding) << link.name;
    }
    for (const Link& link : model->links()) {
      std::vector<double> J(6 * model->nv(), 7.0);
      jacobians->evaluate(q);
      jacobians->jacobian(link, J);
      EXPECT_LE(relative_difference(J, dense.jacobian(link)), rounding) << link.name << " first";
    }
  }
  // One link at each position and nothing else.
  for (const Link& link : model->links()) {
    for (const std::vector<double>& q : positions) {
      dense.update(q);
      std::vector<double> J(6 * model->nv(), 7.0);
      jacobians->evaluate(q, link, J);
      EXPECT_LE(relative_difference(J, dense.jacobian(link)), rounding) << link.name << " alone";
    }
  }
}

TEST(JacobianTest, TreesOfAllJointsAreDense) {
  for_each_random_tree(40, [](const ModelPtr& model, int seed) {
    expect_dense(model, {random_state(*model, seed).q, random_state(*model, seed + 1).q});
  });
}

TEST(JacobianTest, RobotsWithLoopsAreDense) {
  for_each_random_cluster_robot(60, [](const ModelPtr& model, int seed) {
    expect_dense(model,
                 {random_cluster_state(*model, seed).q, random_cluster_state(*model, seed + 1).q});
  });
}

TEST(JacobianTest, AfterOneLinkOthersAskForTheirPosition) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/ur5.urdf");
  const auto jacobians = any<BodyJacobians<double>>(model);
  const std::vector<double> q = random_state(*model, 2).q, other = random_state(*model, 3).q;
  const Link& link = model->links().back();
  std::vector<double> J(6 * model->nv()), again(J);
  const auto refused = [&] {
    try {
      jacobians->jacobian(link, J);
    } catch (const Unsupported& error) {
      return std::string(error.what()).find("expected evaluate(q) before") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused()) << "no position yet";
  jacobians->evaluate(q);
  jacobians->jacobian(link, J);
  jacobians->evaluate(other, link, again);
  EXPECT_NE(J, again);
  EXPECT_TRUE(refused());
  jacobians->evaluate(q);
  jacobians->jacobian(link, again);
  EXPECT_EQ(J, again);
}

TEST(JacobianTest, FarFromTheOriginNoDigitIsLost) {
  const ModelPtr model =
      host().load(ESPALIER_SOURCE_DIR "/robots/humanoid.urdf", {.root = Root::floating});
  std::vector<double> here = random_state(*model, 3).q, away = here;
  away[0] += 1e9;  // [m]: placements in the world keep seven digits there
  const auto jacobians = any<BodyJacobians<double>>(model);
  std::vector<double> J(6 * model->nv()), far(J);
  for (const Link& link : model->links()) {
    jacobians->evaluate(here);
    jacobians->jacobian(link, J);
    jacobians->evaluate(away);
    jacobians->jacobian(link, far);
    EXPECT_EQ(J, far) << link.name;
  }
}

// Columns of three joints go by registers of four, with one of another leg.
TEST(JacobianTest, WhatIsNoNumberStaysInItsLeg) {
  const ModelPtr model =
      host().load(ESPALIER_SOURCE_DIR "/robots/solo12.urdf", {.root = Root::floating});
  const auto jacobians = any<BodyJacobians<double>>(model);
  for (const Link& other : model->links()) {
    std::vector<double> q = random_state(*model, 5).q;
    const Body& turned = model->body(other.body);
    if (turned.nq != 1) continue;
    q[turned.q] = std::numeric_limits<double>::quiet_NaN();
    jacobians->evaluate(q);
    std::vector<double> J(6 * model->nv());
    for (const Link& link : model->links()) {
      bool carried = false;
      std::vector<bool> moves(model->nv(), false);
      for (int i = link.body; i != 0; i = model->body(i).parent) {
        const Body& body = model->body(i);
        for (int k = 0; k < body.nv; ++k) moves[body.v + k] = true;
        carried = carried || i == other.body;
      }
      jacobians->jacobian(link, J);
      for (int k = 0; k < 6 * model->nv(); ++k) {
        if (!moves[k % model->nv()]) EXPECT_EQ(J[k], 0.0) << link.name;
        if (!carried) EXPECT_TRUE(std::isfinite(J[k])) << link.name;
      }
    }
  }
}

TEST(JacobianTest, TheGroundHasNone) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/panda.urdf");
  const auto jacobians = any<BodyJacobians<double>>(model);
  std::vector<double> neutral(model->nq()), J(6 * model->nv(), 7.0);
  model->neutral(neutral.data());
  jacobians->evaluate(neutral);
  jacobians->jacobian(model->links().front(), J);
  EXPECT_EQ(J, std::vector<double>(J.size(), 0.0));
}

}  // namespace
}  // namespace espalier::test::jacobian_test
