#include "algorithms/segments/clusters/cluster_costs.hpp"

#include <algorithm>
#include <utility>

namespace espalier {
namespace {

/// Multiplications of a body's part of Mqq, Moq and r by columns.
double columns_of_body(int nv, bool articulated, bool moving) {
  return nv * (39 + (articulated ? 12 : 0) + (moving ? 12 : 0)) + 3.0 * nv * (nv + 1);
}

/// With fewer independent rates G is small, and code of fixed sizes is faster than any count says.
constexpr int fewest_rates_of_fronts = 6;

/// Time of a multiplication in fronts, over one with G, whose loops are longer.
constexpr double fronts_over_G = 1.5;

}  // namespace

double saved_by_columns(const Model& m, const Cluster& c, const std::vector<bool>& articulated) {
  // Few rates have code of their own, which looks for no unit rows.
  std::vector<bool> unit(m.spanning_nv(), false);
  for (int j = 0; c.nv > 3 && j < c.nv; ++j) unit[m.independent_rates()[c.v + j]] = true;
  double saved = 0.0;
  const double n = c.nv, square = n * (n + 1);
  const auto of_pair = [&](int a, int b) {
    return 9 + (unit[a] && unit[b] ? 1 : unit[a] || unit[b] ? 2 * n : n + n * n);
  };
  for (int i = c.first; i < c.first + c.count; ++i) {
    const Body& body = m.body(i);
    const double columns = columns_of_body(c.nv, articulated[i], c.supports[0] != 0);
    double rates = 0.0;
    for (int rate = body.v; rate < body.v + body.nv; ++rate) {
      rates += 12 + (articulated[i] ? 90 : 24) + (unit[rate] ? 7 : 6 * n + square);
      for (int l = body.v; l < rate; ++l) rates += of_pair(rate, l);
      for (int at = body.parent; at >= c.first; at = m.body(at).parent) {
        for (int k = 0; k < m.body(at).nv; ++k) rates += of_pair(rate, m.body(at).v + k);
      }
    }
    saved += rates - columns;
  }
  return saved;
}

std::vector<bool> supporting_bodies(const Model& m) {
  std::vector<bool> out(m.body_count() + 1, false);
  for (const Cluster& c : m.clusters()) {
    for (const int o : c.supports) out[o] = true;
  }
  return out;
}

std::optional<FrontPlan> fronts_that_pay(const Model& m, const Cluster& c) {
  if (c.constraint == nullptr || !c.constraint->blocks || c.rotors > 0 ||
      c.nv < fewest_rates_of_fronts) {
    return std::nullopt;
  }
  const std::vector<bool> articulated = supporting_bodies(m);
  const bool moving = c.supports[0] != 0;
  const double n = c.nv, saved = saved_by_columns(m, c, articulated);
  double by_G = n * n * n / 6 + 3 * n * c.rows() + std::min(0.0, saved);
  for (int i = c.first; i < c.first + c.count; ++i) {
    by_G += columns_of_body(c.nv, articulated[i], moving);
  }
  for (const LoopBlocks::Block& block : c.constraint->blocks->blocks) {
    by_G += n * (block.outside_end - block.outside + block.size * block.size);
  }
  std::vector<std::pair<int, int>> pairs;
  for_each_inertia(m, c, [&](int row, int column) { pairs.emplace_back(row, column); });
  FrontPlan plan = plan_fronts(*c.constraint, moving ? 6 : 0, pairs);
  const double by_fronts = plan.multiplications + 10.0 * pairs.size() + 40.0 * c.rows();
  if (by_fronts * fronts_over_G > by_G) return std::nullopt;
  return plan;
}

}  // namespace espalier
