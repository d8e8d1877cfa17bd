#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/input_matrix/column_state.hpp"
#include "algorithms/input_matrix/leaf_chains.hpp"
#include "algorithms/task_rows.hpp"
#include "espalier/kernel/problems/input_matrix.hpp"

namespace espalier {

/// Columns of an input matrix on serial chains that carry nothing. Blocks that act on a chain pass
/// it inward and outward; elsewhere it follows its parent, six numbers for each rate.
/// Frames: chains have their own, ColumnState world axes.
/// Source: theory/input-matrix 3.1.
template <class T>
class ChainInputs {
 public:
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;
  static constexpr int unit_blocks = ChainColumns<T>::unit_blocks;

  ChainInputs(LeafChains<T>& chains, const ArticulatedTree<T>& tree)
      : chains_(chains),
        columns_(chains.columns()),
        tree_(tree),
        ways_(columns_.columns().size()),
        eta_(static_cast<std::size_t>(tree.model().nv()) * unit_blocks),
        free_(tree.model().nv(), T(0.0)) {
    for (Motion<V>& m : units_) m = Motion<V>::zero();
    for (V& z : zero_) z = V(0.0);
    for (int i = 0; i < 6; ++i) row_of<T>(&units_[i / lanes][i], i % lanes) = T(1.0);
  }

  bool contains(int body) const { return chains_.contains(body); }
  /// Asks for the motion of a body of a chain.
  void watch(int body) {
    Way& way = ways_[place_of(body).chain];
    way.watched = true;
    way.shown.push_back(pose(body));
  }
  /// Rows of a contact on a body of a chain.
  void add_contact(const Task::Part& part, const ColumnPlan& plan) {
    const Place at = place_of(part.body);
    const Transform<double>& F = columns_.plan().body(part.body).F;
    for (int k = 0; k < part.size(); ++k) {
      const int place = plan.place[part.first + k], block = place / lanes;
      auto stamp = std::find_if(stamps_.begin(), stamps_.end(), [&](const Stamp& s) {
        return s.body == part.body && s.block == block && s.world == part.world;
      });
      if (stamp == stamps_.end()) {
        const int frame = part.world ? pose(part.body) : -1;
        stamps_.push_back({part.body, at.chain, at.index, block, part.world, frame, Vec3<V>::zero(),
                           Force<V>::zero()});
        stamp = stamps_.end() - 1;
      }
      const Force<double> row = part.world ? part.rows[k] : F.force_to(part.rows[k]);
      const Vec3<double> point = F.E * (part.point - F.r);
      for (int i = 0; i < 6; ++i) row_of<T>(&stamp->rows[i], place % lanes) = T(row[i]);
      for (int i = 0; i < 3; ++i) row_of<T>(&stamp->point[i], place % lanes) = T(point[i]);
    }
  }

  /// Once all contacts are there.
  /// @param node      of each column: that of the body or rate on which it acts
  /// @param motors    columns that are motors
  /// @param is_first  is_first(body, block) says whether nobody has written there, and notes it
  template <class IsFirst>
  void schedule(const ColumnPlan& plan, const std::vector<int>& node,
                std::span<const InputColumns::Motor> motors, IsFirst&& is_first) {
    for (std::size_t l = 0; l < ways_.size(); ++l) {
      const auto& chain = columns_.columns()[l];
      const int count = static_cast<int>(chain.bodies.size());
      Way& way = ways_[l];
      // Columns stand in the order of the bodies that they act on, base to tip.
      way.begin.assign(count, 0);
      std::vector<int> outermost(plan.blocks, -1);
      for (std::size_t c = 0; c < node.size(); ++c) {
        int& at = outermost[plan.place[c] / lanes];
        for (int k = 0; k < count; ++k) {
          if (tree_.node_of(chain.bodies[k].body) != node[c]) continue;
          at = std::max(at, k);
          way.end = std::max(way.end, plan.place[c] / lanes + 1);
        }
      }
      for (int k = 0; k < count; ++k) {
        way.begin[k] = way.end;
        while (way.begin[k] > 0 && outermost[way.begin[k] - 1] >= k) --way.begin[k];
      }
      for (int b = way.begin[0]; b < way.end && chain.parent != 0; ++b) {
        way.first.push_back(is_first(chain.parent, b));
      }
      way.z.assign(static_cast<std::size_t>(count) * plan.blocks, V(0.0));
      way.g.resize(count);
      way.stamps.resize(count);
      for (std::size_t s = 0; s < stamps_.size(); ++s) {
        if (stamps_[s].chain == static_cast<int>(l)) {
          way.stamps[stamps_[s].index].push_back(static_cast<int>(s));
        }
      }
    }
    K_.resize(plan.blocks), m_.resize(std::max(plan.blocks, unit_blocks));
    find_unit_forces(plan, motors);
  }

  /// Attitudes of bodies that contacts and watchers speak of. After LeafChains::eliminate().
  void place() {
    for (Pose& p : poses_) {
      const auto& plan = columns_.plan();
      p.E = columns_.attitude(p.body, tree_.attitude(plan.parent(p.body)));
      p.E_chain = plan.body(p.body).F.E * p.E;
      p.r = scale(plan.body(p.body).F.r.z, p.E.row[2]);
    }
  }
  /// World to body axes, of a body that is watched.
  const Mat3<T>& attitude(int body) const {
    return std::find_if(poses_.begin(), poses_.end(), [&](const Pose& p) { return p.body == body; })
        ->E;
  }

  /// Tips to parents: wrenches there.
  void inward(ColumnState<T>& state) {
    for (std::size_t l = 0; l < ways_.size(); ++l) {
      const auto& chain = columns_.columns()[l];
      Way& way = ways_[l];
      int begin = way.end;
      for (int k = static_cast<int>(chain.bodies.size()); k-- > 0;) {
        for (; begin > way.begin[k]; --begin) K_[begin - 1] = Force<V>::zero();
        for (const int s : way.stamps[k]) K_[stamps_[s].block] += wrench(stamps_[s]);
        if (begin == way.end) continue;
        columns_.inward(chain, k, begin, way.end, state.force(chain.bodies[k].rate), K_.data(),
                        way.z.data(), state.blocks);
      }
      if (way.watched) start_free(chain, way, state);
      if (chain.parent == 0) continue;
      for (int b = begin; b < way.end; ++b) {
        K_[b] = columns_.on_parent(chain, K_[b]);
        write(state.wrenches(chain.parent)[b], K_[b], way.first[b - begin]);
      }
      for (std::size_t k = 0; k < way.unit_force.size(); ++k) {
        // The six numbers of a wrench lie a V apart.
        const auto [block, lane] = way.unit_force[k];
        const T* f = &row_of<T>(&K_[block].n.x, lane);
        way.g[k] = {{f[0], f[lanes], f[2 * lanes]}, {f[3 * lanes], f[4 * lanes], f[5 * lanes]}};
      }
    }
  }
  /// Parents to tips: rates.
  void outward(ColumnState<T>& state) {
    for (std::size_t l = 0; l < ways_.size(); ++l) {
      const auto& chain = columns_.columns()[l];
      Way& way = ways_[l];
      const int begin = way.watched ? 0 : way.begin[0], end = way.watched ? state.blocks : way.end;
      if (chain.parent != 0 && end - begin < state.blocks) {
        if (way.unit_force.empty()) unit_motions(chain, way);
        follow(chain, way, 0, begin, state);
        follow(chain, way, end, state.blocks, state);
      }
      outward(chain, way, begin, end, state);
    }
    chains_.accelerate(
        tree_,
        [&](int body) {
          const Motion<V>& a = state.motion(body)[state.free_block()];
          Motion<T> free;
          for (int i = 0; i < 6; ++i) free[i] = row_of<T>(&a[i], state.free_lane());
          return free;
        },
        free_.data());
    for (const auto& chain : columns_.columns()) {
      for (const auto& body : chain.bodies) {
        row_of<T>(state.rate(body.rate), state.plan.free) = free_[body.rate];
      }
    }
  }

 private:
  using Chain_ = typename ChainColumns<T>::Column;
  struct Place {
    int chain, index;
  };
  /// A body whose attitude is needed.
  struct Pose {
    int body, index;
    Mat3<T> E, E_chain;  ///< world to the axes of the model, and of the chain
    Vec3<T> r;           ///< from the body's origin to that of the chain's frame, world axes
  };
  /// Rows of contacts on one body, in the lanes of one block; the other lanes are zero.
  struct Stamp {
    int body, chain, index, block;
    bool world;     ///< as in Task::Part
    int pose;       ///< if in world axes
    Vec3<V> point;  ///< chain's frame
    Force<V> rows;  ///< chain's or world axes
  };
  /// Blocks of the columns that act on a chain.
  struct Way {
    std::vector<int> begin;  ///< per body: [begin, end) act on it or beyond
    int end = 0;
    std::vector<bool> first;               ///< of the blocks: to write on the parent
    std::vector<std::vector<int>> stamps;  ///< per body
    bool watched = false;
    std::vector<int> shown;  ///< poses of watched bodies
    std::vector<V> z;        ///< per body and block; zero where nothing acts
    /// Per body: block and lane of a column that is a unit force on its rate; empty if one has
    /// none.
    std::vector<std::pair<int, int>> unit_force;
    std::vector<Force<T>> g;  ///< per body: its rate for unit motions of the parent
  };

  Place place_of(int body) const {
    return {columns_.plan().chain_of[body], columns_.plan().index_in[body]};
  }
  int pose(int body) {
    for (std::size_t k = 0; k < poses_.size(); ++k) {
      if (poses_[k].body == body) return static_cast<int>(k);
    }
    poses_.push_back(
        {body, place_of(body).index, Mat3<T>::identity(), Mat3<T>::identity(), Vec3<T>::zero()});
    return static_cast<int>(poses_.size()) - 1;
  }
  Force<V> wrench(const Stamp& s) const {
    if (!s.world) return s.rows;
    const Mat3<T>& E = poses_[s.pose].E_chain;
    Force<V> f{E * s.rows.n, E * s.rows.f};
    f.n += cross(s.point, f.f);
    return f;
  }
  /// The free motion comes with the elimination of the chain.
  void start_free(const Chain_& chain, Way& way, const ColumnState<T>& state) const {
    for (std::size_t k = 0; k < chain.bodies.size(); ++k) {
      row_of<T>(way.z.data() + k * state.blocks, state.plan.free) = chain.bodies[k].u;
    }
  }
  void outward(const Chain_& chain, const Way& way, int begin, int end, ColumnState<T>& state) {
    const Motion<V>* a = state.motion(chain.parent);
    for (int b = begin; b < end; ++b) m_[b] = columns_.at_base(chain, a[b]);
    const int last = static_cast<int>(chain.bodies.size()) - 1;
    for (int k = 0; k <= last; ++k) {
      columns_.outward(chain, k, begin, end, way.z.data() + k * state.blocks, m_.data(),
                       state.rates.data(), state.blocks, k < last || way.watched);
      for (const int s : way.shown) {
        if (poses_[s].index == k) show(poses_[s], state);
      }
    }
  }
  void show(const Pose& p, ColumnState<T>& state) const {
    Motion<V>* a = state.motion(p.body);
    for (int b = 0; b < state.blocks; ++b) {
      const Vec3<V> w = transpose_times(p.E_chain, m_[b].w);
      a[b] = {w, transpose_times(p.E_chain, m_[b].v) + cross(p.r, w)};
    }
  }
  /// What a unit force on a rate does to the parent is what the parent's motion does to the rate.
  void find_unit_forces(const ColumnPlan& plan, std::span<const InputColumns::Motor> motors) {
    const Model& model = tree_.model();
    for (std::size_t l = 0; l < ways_.size(); ++l) {
      auto& places = ways_[l].unit_force;
      for (const auto& body : columns_.columns()[l].bodies) {
        const auto at = std::find_if(motors.begin(), motors.end(), [&](const auto& motor) {
          return motor.rate == model.body(body.body).v;
        });
        if (at == motors.end()) continue;
        const int place = plan.place[at->column];
        places.push_back({place / lanes, place % lanes});
      }
      if (places.size() < columns_.columns()[l].bodies.size()) places.clear();
    }
  }
  void unit_motions(const Chain_& chain, Way& way) {
    for (int b = 0; b < unit_blocks; ++b) m_[b] = columns_.at_base(chain, units_[b]);
    for (std::size_t k = 0; k < chain.bodies.size(); ++k) {
      columns_.outward(chain, static_cast<int>(k), 0, unit_blocks, zero_, m_.data(), eta_.data(),
                       unit_blocks, true);
      const V* eta = eta_.data() + static_cast<std::size_t>(chain.bodies[k].rate) * unit_blocks;
      for (int i = 0; i < 6; ++i) way.g[k][i] = row_of<T>(eta, i);
    }
  }
  /// Rates where nothing acts on the chain, in blocks [begin, end).
  void follow(const Chain_& chain, const Way& way, int begin, int end,
              ColumnState<T>& state) const {
    const Motion<V>* a = state.motion(chain.parent);
    for (std::size_t k = 0; begin < end && k < chain.bodies.size(); ++k) {
      const Force<V> g = Force<V>::from(way.g[k]);
      V* rate = state.rate(chain.bodies[k].rate);
      for (int b = begin; b < end; ++b) rate[b] = dot(a[b], g);
    }
  }

  LeafChains<T>& chains_;
  ChainColumns<T>& columns_;
  const ArticulatedTree<T>& tree_;
  std::vector<Way> ways_;  ///< per chain
  std::vector<Stamp> stamps_;
  std::vector<Pose> poses_;
  std::vector<V> eta_;   ///< per rate and block of unit motions
  std::vector<T> free_;  ///< per rate
  std::vector<Force<V>> K_;
  std::vector<Motion<V>> m_;
  Motion<V> units_[unit_blocks];
  V zero_[unit_blocks];
};

}  // namespace espalier
