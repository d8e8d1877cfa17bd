#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "algorithms/chains/sweeps.hpp"

namespace espalier {

/// Chains that carry nothing, passed by many right-hand sides at once: wrenches and forces on rates
/// go inward, motions outward, after articulated inertias have been found by ChainSweeps. A block
/// of right-hand sides stands in the lanes of a V.
/// With U and D of the articulated-body algorithm, U about the origin of the body before:
///   inward:   z = D^-1 (S^T K + tau),  K of the body before += X^T K - U z
///   outward:  ydd = z - D^-1 U^T a of the body before,  a = X a + S ydd.
/// Frames: ChainBody::F; parents in world axes.  Cost: O(1) per body and block.
/// Source: theory/input-matrix 3.1, theory/chains 6 for geared rotors and belt pairs.
template <class T>
class ChainColumns : public ChainSweeps<T> {
  using Base = ChainSweeps<T>;

 public:
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;
  /// Six unit motions, in lanes.
  static constexpr int unit_blocks = (6 + lanes - 1) / lanes;

  /// A body, with its numbers in all lanes.
  struct Body {
    int body, rate;
    ChainKind kind;
    ChainPlacement<V> P;
    Turn<V> t;
    Force<V> U;                                ///< IA S / D
    V D;                                       ///< its inverse
    T u;                                       ///< of the free motion: z
    bool leads_pair = false, coupled = false;  ///< as in ChainUnitBody
    V coupling = V(0.0), coupling_over_D = V(0.0);
  };
  struct Column {
    int parent;  ///< 0: the ground, where nothing moves
    Vec3<double> base_r;
    double cos_base, sin_base;
    Mat3<T> E;  ///< world to chain base frame
    Vec3<T> r;  ///< of the chain base frame from the parent's origin
    std::vector<Body> bodies;
  };

  ChainColumns(const Model& model, ChainPlan plan) : Base(model, std::move(plan), {}) {
    for (std::size_t l = 0; l < this->plan_.chains.size(); ++l) {
      columns_.push_back(lay_out(model, static_cast<int>(l)));
    }
  }

  /// The longest chains that carry nothing, neither bodies nor rotors of others.
  /// @param rotors  folded ones whose joints are to be in no chain
  static ChainPlan leaf_chains(const Model& model, std::span<const int> rotors) {
    ChainJoints joints = ChainJoints::of(model);
    const auto keep_out = [&](int body) {
      const Cluster& c = model.clusters()[model.body(body).cluster];
      for (int i = c.first; i < c.first + c.count; ++i) joints.turning[i] = false;
    };
    for (const int rotor : rotors) keep_out(rotor);
    for (;;) {
      ChainPlan plan(model, joints, ChainPlan::Branches::end);
      std::vector<bool> carries(plan.chains.size(), false);
      for (std::size_t l = 0; l < carries.size(); ++l) carries[l] = !plan.chains[l].leaf;
      for (const Cluster& c : model.clusters()) {
        for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
          const int on = plan.chain_of[model.rotors()[r].parent];
          if (on >= 0 && on != plan.chain_of[c.first]) carries[on] = true;
        }
      }
      bool any = false;
      for (std::size_t l = 0; l < carries.size(); ++l) {
        for (const ChainBody& b : plan.chains[l].bodies) {
          if (carries[l]) any = true, keep_out(b.body);
        }
      }
      if (!any) return plan;
    }
  }

  int group_count() const { return static_cast<int>(this->groups_.groups.size()); }
  const std::vector<Column>& columns() const { return columns_; }

  /// Copies turns, U and D of a group from its units, after inward_inertia().
  void take(int group) {
    Body* chain[lanes];
    this->with_unit(group, [&](auto& unit) {
      for (int k = 0; k < unit.used; ++k) {
        chain[k] = columns_[this->groups_.groups[group][k]].bodies.data();
      }
      for (std::size_t i = 0; i < unit.bodies.size(); ++i) take(unit, i, chain);
    });
  }
  /// @param E  world to the parent's axes
  void place(int chain, const Mat3<T>& E) {
    Column& c = columns_[chain];
    c.E = rotate_rows(T(c.sin_base), T(c.cos_base), E);
    c.r = transpose_times(E, c.base_r);
  }

  /// World to the axes of a body's frame in its chain, after take() and place().
  Mat3<T> attitude(int chain, int index) const {
    const Column& c = columns_[chain];
    // Columns of the matrix turn as vectors do, side by side.
    Vec3<V> columns[(2 + lanes) / lanes];
    for (Vec3<V>& x : columns) x = Vec3<V>::zero();
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) row_of<T>(&columns[j / lanes][i], j % lanes) = c.E(i, j);
    }
    for (int k = 0; k <= index; ++k) {
      const Body& b = c.bodies[k];
      with_placement(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
        for (Vec3<V>& x : columns) x = rotate_to_child<kind>(b.P, b.t, x);
      });
    }
    Mat3<T> E;
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) E(i, j) = row_of<T>(&columns[j / lanes][i], j % lanes);
    }
    return E;
  }

  /// Blocks [begin, end) inward through a body.
  /// @param forces     on the rate, per block
  /// @param[in,out] K  wrenches on the body, then on the one before; per block
  /// @param[in,out] z  S^T K + forces, at z[k * stride + block]; of the body beyond before
  /// @param divided    z times D^-1, as outward() wants it
  ESPALIER_ALWAYS_INLINE
  static void inward(const Column& c, int k, int begin, int end, const V* forces, Force<V>* K, V* z,
                     std::size_t stride, bool divided = true) {
    const Body& b = c.bodies[k];
    V* own = z + k * stride;
    if (b.leads_pair) {
      const Body& next = c.bodies[k + 1];
      const V coupling = divided ? next.coupling : next.coupling * next.D;
      for (int i = begin; i < end; ++i) own[i] = forces[i] - coupling * own[stride + i];
      forces = own;
    }
    const V D = divided ? b.D : V(1.0);
    if (k == 0 && c.parent == 0) {
      for (int i = begin; i < end; ++i) own[i] = D * (K[i].n.z + forces[i]);
      return;
    }
    with_placement(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
      const Turn<V> t = b.t;
      for (int i = begin; i < end; ++i) {
        Force<V> f = K[i];
        const V Kq = f.n.z + forces[i];
        own[i] = D * Kq;
        to_parent<kind>(b.P, t, f);
        K[i] = {f.n - scale(Kq, b.U.n), f.f - scale(Kq, b.U.f)};
      }
    });
  }
  /// A wrench at the chain base frame, moved to the parent's origin and world axes.
  ESPALIER_ALWAYS_INLINE static Force<V> on_parent(const Column& c, const Force<V>& K) {
    Force<V> f{transpose_times(c.E, K.n), transpose_times(c.E, K.f)};
    f.n += cross(c.r, f.f);
    return f;
  }

  /// The motion of the parent's origin, world axes, at the chain base frame.
  static Motion<V> at_base(const Column& c, const Motion<V>& a) {
    if (c.parent == 0) return Motion<V>::zero();
    return {c.E * a.w, c.E * (a.v + cross(a.w, c.r))};
  }
  /// Blocks [begin, end) outward through the first body, whose parent is at rest.
  /// @param z  of inward()  @param[out] m  motion of the body, per block  @param[out] ydd  as below
  static void start(const Column& c, int begin, int end, const V* z, Motion<V>* m, V* ydd,
                    std::size_t stride) {
    V* own = ydd + c.bodies[0].rate * stride;
    for (int i = begin; i < end; ++i) {
      own[i] = z[i];
      m[i] = Motion<V>::zero();
      m[i].w.z = z[i];
    }
  }
  /// Blocks [begin, end) outward through a body.
  /// @param z          of inward(), per block
  /// @param[in,out] m  motion of the body before, then of the body; per block
  /// @param[out] ydd   at ydd[rate * stride + block]
  /// @param moves      whether anybody asks for the motion of the body
  static void outward(const Column& c, int k, int begin, int end, const V* z, Motion<V>* m, V* ydd,
                      std::size_t stride, bool moves) {
    const Body& b = c.bodies[k];
    V* own = ydd + b.rate * stride;
    if (b.coupled) {
      const V* before = ydd + c.bodies[k - 1].rate * stride;
      for (int i = begin; i < end; ++i) own[i] = z[i] - b.coupling_over_D * before[i];
      z = own;
    }
    if (!moves) {
      for (int i = begin; i < end; ++i) own[i] = z[i] - dot(m[i], b.U);
      return;
    }
    with_placement(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
      const Turn<V> t = b.t;
      for (int i = begin; i < end; ++i) {
        const Motion<V> before = m[i];
        const V rate = z[i] - dot(before, b.U);
        own[i] = rate;
        Motion<V> at{rotate_to_child<kind>(b.P, t, before.w),
                     rotate_to_child<kind>(b.P, t, shifted_velocity<kind>(b.P, before))};
        at.w.z += rate;
        m[i] = at;
      }
    });
  }

 private:
  Column lay_out(const Model& model, int l) const {
    const Chain& chain = this->plan_.chains[l];
    Column c;
    c.parent = chain.parent, c.base_r = chain.r;
    c.cos_base = chain.cos_base, c.sin_base = chain.sin_base;
    c.E = Mat3<T>::identity(), c.r = Vec3<T>::zero();
    for (std::size_t i = 0; i < chain.bodies.size(); ++i) {
      const ChainBody& from = chain.bodies[i];
      const auto& body = model.body(from.body);
      const Cluster& cluster = model.clusters()[body.cluster];
      Body b;
      b.body = from.body, b.rate = cluster.v + (body.v - cluster.spanning_v);
      b.kind = ChainUnitLayout::common_kind(this->plan_, {l}, i);
      b.kind.geared = false;  // U and D say all
      b.t = {V(1.0), V(0.0), V(0.0), V(0.0)};
      b.P = {{V(from.cos_alpha), V(from.sin_alpha), V(0.0), V(0.0)}, V(from.a), V(from.d)};
      b.coupled = from.coupling != 0.0, b.coupling = V(from.coupling);
      if (b.coupled) c.bodies.back().leads_pair = true;
      c.bodies.push_back(b);
    }
    return c;
  }

  template <class Unit>
  void take(Unit& unit, std::size_t i, Body* const* chain) {
    using S = typename Unit::S;
    auto& b = unit.bodies[i];
    Force<S> U = plain(b.U());
    if constexpr (!Unit::Body::paired) {
      // U of the unit is in the body's own axes, but for one that stands on the ground.
      if (!turns_first<Unit>(b.kind) && !(i == 0 && unit.on_ground)) {
        with_kind(b.kind, [&]<ChainKind kind>()
                              ESPALIER_INLINED { to_parent<kind>(b.P, Turn<S>::of(b.c, b.s), U); });
      }
    }
    for (int k = 0; k < unit.used; ++k) {
      if (b.y[k] < 0) continue;
      Body& to = chain[k][i];
      to.t.c = V(Base::lane_of(b.c, k)), to.t.s = V(Base::lane_of(b.s, k));
      for (int a = 0; a < 6; ++a) to.U[a] = V(Base::lane_of(U[a], k));
      to.D = V(Base::lane_of(b.D_inverse, k)), to.u = Base::lane_of(b.u, k);
      if (to.coupled) {
        to.coupling_over_D = V(Base::lane_of(unit.gears[b.gear].coupling_over_D, k));
      }
    }
  }

  std::vector<Column> columns_;  ///< per chain
};

}  // namespace espalier
