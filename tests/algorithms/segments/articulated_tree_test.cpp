#include "algorithms/segments/articulated_tree/articulated_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/task_robots.hpp"

// The two ways through an articulated tree, node by node: facts that hold for every kind.

namespace espalier::test::articulated_tree_test {
namespace {

using Tree = ArticulatedTree<double>;
constexpr int lanes = RowLanes<double>::size;

/// A few dozen products of a node's numbers, whose inertias span some six orders of magnitude.
constexpr double rounding = 1e-9;

template <class F>
void for_each_node(F&& f) {
  std::set<Tree::Kind> kinds;
  for (int seed = 0; seed < 2 * task_robots; seed += 3) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TaskCase c = seed % 2 == 0 ? on_tree(seed / 2) : on_clusters(seed / 2);
    Tree tree(c.model());
    tree.update(c.state.q.data());
    Rng rng(300 + seed);
    for (const auto& node : tree.nodes()) {
      kinds.insert(node.kind);
      f(tree, node, rng);
    }
  }
  EXPECT_EQ(kinds.size(), 6u);  // of TreeNode::Kind
}
Quad any(Rng& rng) { return {rng.uniform(), rng.uniform(), rng.uniform(), rng.uniform()}; }
Vec3<Quad> vec(Rng& rng) { return {any(rng), any(rng), any(rng)}; }
void expect_equal(const Quad& x, const Quad& y, const Quad& size) {
  for (int k = 0; k < lanes; ++k) {
    EXPECT_NEAR(x[k], y[k], rounding * (1.0 + std::abs(size[k])));
  }
}

// K . m = K_o . a: rows that have been taken through a node say of its supports what they said of
// its bodies, if no force acts on its rates.
TEST(ArticulatedTreeTest, RowsThroughANodeKeepTheirRateWhereNoForceActs) {
  for_each_node([](const Tree& tree, const Tree::Node& node, Rng& rng) {
    const Cluster& c = *node.cluster;
    std::vector<int> sites;
    for (int i = c.first; i < c.first + c.count; ++i) sites.push_back(i);
    std::vector<Force<Quad>> K, out(std::max<std::size_t>(1, node.supports.size()));
    for (std::size_t s = 0; s < sites.size(); ++s) K.push_back({vec(rng), vec(rng)});
    std::vector<Quad> Kq(node.n), z(node.n), eta(node.n, Quad(0.0));
    tree.inward(node, sites, 1, K.data(), Kq.data(), z.data(), out.data());
    std::vector<Motion<Quad>> a;
    for (std::size_t o = 0; o < node.supports.size(); ++o) a.push_back({vec(rng), vec(rng)});
    tree.outward(node, 1, a.data(), eta.data());
    Quad of_bodies(0.0), of_supports(0.0), size(0.0);
    for (std::size_t s = 0; s < sites.size(); ++s) {
      Motion<Quad> m;
      tree.motion_of(node, sites[s], 1, a.data(), eta.data(), &m);
      of_bodies += dot(m, K[s]);
      for (int i = 0; i < 6; ++i) size += m[i] * m[i] + K[s][i] * K[s][i];
    }
    for (std::size_t o = 0; o < node.supports.size(); ++o) of_supports += dot(a[o], out[o]);
    expect_equal(of_bodies, of_supports, size);
  });
}

// Kq . eta is the rate that rows have for the rates of a node, whose supports stand still.
TEST(ArticulatedTreeTest, RowsTimesJAreTheRatesOfRowsWhereSupportsStandStill) {
  for_each_node([](const Tree& tree, const Tree::Node& node, Rng& rng) {
    const int body = node.cluster->first;
    const Force<Quad> K{vec(rng), vec(rng)};
    std::vector<Quad> Kq(node.n), z(node.n), eta;
    for (int j = 0; j < node.n; ++j) eta.push_back(any(rng));
    std::vector<Force<Quad>> out(std::max<std::size_t>(1, node.supports.size()));
    tree.inward(node, std::span(&body, 1), 1, &K, Kq.data(), z.data(), out.data());
    const std::vector<Motion<Quad>> still(node.supports.size(), Motion<Quad>::zero());
    Motion<Quad> m;
    tree.motion_of(node, body, 1, still.data(), eta.data(), &m);
    Quad sum(0.0), size(0.0);
    for (int j = 0; j < node.n; ++j) sum += Kq[j] * eta[j], size += Kq[j] * Kq[j];
    expect_equal(dot(m, K), sum, size);
  });
}

// The power of forces on the model's rates is that of the forces on the rates used here.
TEST(ArticulatedTreeTest, PowerIsTheSameForBothKindsOfRates) {
  for_each_node([](const Tree& tree, const Tree::Node& node, Rng& rng) {
    std::vector<Quad> eta, force;
    for (int j = 0; j < node.n; ++j) eta.push_back(any(rng)), force.push_back(any(rng));
    auto yd = eta, of_eta = force;
    tree.to_rates(node, 1, yd.data());
    tree.from_rates(node, 1, of_eta.data());
    Quad before(0.0), after(0.0), size(0.0);
    for (int j = 0; j < node.n; ++j) {
      before += force[j] * yd[j], after += of_eta[j] * eta[j];
      size += yd[j] * yd[j] + of_eta[j] * of_eta[j];
    }
    expect_equal(before, after, size);
  });
}

TEST(ArticulatedTreeTest, NodesPassedAloneGiveWhatTheyGiveTogether) {
  for (int seed = 0; seed < 2 * task_robots; seed += 3) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TaskCase c = seed % 2 == 0 ? on_tree(seed / 2) : on_clusters(seed / 2);
    Tree together(c.model()), alone(c.model());
    together.update(c.state.q.data());
    alone.place(c.state.q.data());
    for (std::size_t k = alone.order().size(); k-- > 0;) alone.backward_pass(alone.order()[k]);
    std::set<int> met(alone.order().begin(), alone.order().end());
    EXPECT_EQ(met.size(), alone.nodes().size());
    for (const auto& node : alone.nodes()) {
      for (int j = 0; j < node.n; ++j) {
        EXPECT_EQ((&alone.D(node))[j], (&together.D(node))[j]);
      }
    }
  }
}

TEST(ArticulatedTreeTest, ParentsComeBeforeWhatTheyCarry) {
  for (int seed = 0; seed < 2 * task_robots; seed += 3) {
    const TaskCase c = seed % 2 == 0 ? on_tree(seed / 2) : on_clusters(seed / 2);
    const Tree tree(c.model());
    std::set<int> met;
    for (const int n : tree.order()) {
      for (const int o : tree.nodes()[n].supports) EXPECT_EQ(met.count(tree.node_of(o)), 1u);
      met.insert(n);
    }
  }
}

}  // namespace
}  // namespace espalier::test::articulated_tree_test
