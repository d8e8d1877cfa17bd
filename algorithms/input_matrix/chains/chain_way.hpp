#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/input_matrix/chains/chain_contacts.hpp"

namespace espalier {

/// Blocks of the columns that act on a serial chain, decided once per model and inputs. Columns
/// stand in the order of the bodies that they act on, base to tip.
template <class T>
struct ChainWay {
  using V = typename RowLanes<T>::V;
  using Column = typename ChainColumns<T>::Column;
  static constexpr int lanes = RowLanes<T>::size;

  /// @param node      of each column: that of the body or rate on which it acts
  /// @param is_first  is_first(body, block) says whether nobody has written there, and notes it
  template <class IsFirst>
  void find_blocks(const Column& chain, const ArticulatedTree<T>& tree, const ColumnPlan& plan,
                   const std::vector<int>& node, IsFirst&& is_first) {
    const int count = static_cast<int>(chain.bodies.size());
    begin.assign(count, 0);
    std::vector<int> outermost(plan.blocks, -1);
    for (std::size_t c = 0; c < node.size(); ++c) {
      int& at = outermost[plan.place[c] / lanes];
      for (int k = 0; k < count; ++k) {
        if (tree.node_of(chain.bodies[k].body) != node[c]) continue;
        at = std::max(at, k);
        end = std::max(end, plan.place[c] / lanes + 1);
      }
    }
    for (int k = 0; k < count; ++k) {
      begin[k] = end;
      while (begin[k] > 0 && outermost[begin[k] - 1] >= k) --begin[k];
    }
    for (int b = begin[0]; b < end && chain.parent != 0; ++b) {
      first.push_back(is_first(chain.parent, b));
    }
    z.assign(static_cast<std::size_t>(count) * plan.blocks, V(0.0));
    g.assign(std::max(end - begin[0], count), Force<V>::zero());
    for (const auto& body : chain.bodies) rate.push_back(body.rate * plan.blocks);
  }
  /// @param all  stamps of all chains
  void find_stamps(int chain, const std::vector<typename ChainContacts<T>::Stamp>& all) {
    for (std::size_t s = 0; s < all.size(); ++s) {
      if (all[s].chain == chain) stamps.push_back(static_cast<int>(s));
    }
    std::stable_sort(stamps.begin(), stamps.end(),
                     [&](int a, int b) { return all[a].index > all[b].index; });
  }
  /// What a unit force on a rate does to the parent is what the parent's motion does to the rate.
  /// Where a rate has no motor, six unit motions of the parent are to say it, each in a block of
  /// its own in g.
  void find_unit_forces(const Column& chain, const Model& model, const ColumnPlan& plan,
                        std::span<const InputColumns::Motor> motors) {
    for (const auto& body : chain.bodies) {
      const auto at = std::find_if(motors.begin(), motors.end(), [&](const auto& motor) {
        return motor.rate == model.body(body.body).v;
      });
      if (at == motors.end()) break;
      unit_row.push_back(plan.place[at->column]);
    }
    driven = unit_row.size() == chain.bodies.size();
    for (std::size_t k = 0; k < chain.bodies.size(); ++k) {
      const int place = driven ? unit_row[k] - begin[0] * lanes : static_cast<int>(k) * lanes;
      unit_force.push_back(place / lanes * 6 * lanes + place % lanes);
    }
    by_factors = driven && !watched && chain.bodies.size() <= longest_by_factors;
    for (int b = begin[0]; b < end; ++b) {
      acted_on.push_back(
          std::count_if(begin.begin(), begin.end(), [&](int at) { return at <= b; }));
    }
  }

  /// A chain of so many bodies passes motions outward in as many instructions as the factors of its
  /// inverse inertia take, which grow with the square.
  static constexpr std::size_t longest_by_factors = 40;

  std::vector<int> begin;  ///< per body: [begin, end) act on it or beyond
  int end = 0;
  std::vector<char> first;  ///< of the blocks: to write on the parent
  std::vector<int> stamps;  ///< of contacts, from the tip to the base
  bool watched = false;
  std::vector<int> shown;     ///< poses of watched bodies
  std::vector<V> z;           ///< per body and block; zero where nothing acts
  std::vector<int> rate;      ///< per body: where the accelerations of its rate start
  bool driven = false;        ///< each rate has a column that is a motor
  std::vector<int> unit_row;  ///< per body: place of that column
  /// Wrenches of the blocks on the parent, of [begin[0], end); those of unit forces on the rates
  /// are the rates for unit motions of the parent. Not driven: these alone.
  std::vector<Force<V>> g;
  std::vector<int> unit_force;  ///< per body: where its six numbers start in g, `lanes` apart
  bool by_factors = false;      ///< rates come from these columns, z is not divided
  std::vector<int> acted_on;    ///< per block of [begin[0], end): bodies on which it acts or beyond
};

}  // namespace espalier
