#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/chains/units.hpp"

namespace espalier {

/// A composite body of a chain. Bodies of the chain have no mass, by regrouping (chains/plan.hpp):
/// it has the mass of what the chain carries.
template <class S>
using CompositeMoments = Moments<S, S>;

template <class S, class C>
ESPALIER_ALWAYS_INLINE void add_body(const ChainMoments<C>& b, CompositeMoments<S>& I) {
  I.h.x += b.x, I.h.y += b.y;
  I.Sigma.xx += b.xx, I.Sigma.xy += b.xy, I.Sigma.xz += b.xz;
  I.Sigma.yy += b.yy, I.Sigma.yz += b.yz;
}
template <int i, int j, class S, class C>
ESPALIER_ALWAYS_INLINE void rotate_to_parent(CompositeMoments<S>& I, const Turn<C>& t) {
  rotate_to_parent(I.h[i], I.h[j], t);
  rotate_to_parent<i, j, false>(I.Sigma, t);
}
/// Moments about the origin of the body before, in its axes: h' = h + m r,
/// Sigma' = Sigma + r h^T + h' r^T.
template <ChainKind kind, class S, class C>
ESPALIER_ALWAYS_INLINE void to_parent(const ChainPlacement<C>& P, const Turn<S>& t,
                                      CompositeMoments<S>& I) {
  rotate_to_parent<0, 1>(I, t);
  Vec3<S>& h = I.h;
  Sym3<S>& m = I.Sigma;
  if constexpr (kind.twist == Twist::right) {
    h = {h.x, -h.z, h.y};
    m = Sym3<S>(m.xx, -m.xz, m.xy, m.zz, -m.yz, m.yy);
  }
  if constexpr (kind.twist == Twist::any) rotate_to_parent<1, 2>(I, P.alpha);
  if constexpr (kind.offset) {  // r = (a, 0, d); parallel: (a, 0, 0)
    const S x = h.x + P.a * I.m;
    m.xx += P.a * (h.x + x);
    m.xy += P.a * h.y;
    m.xz += P.a * h.z;
    if constexpr (kind.twist != Twist::parallel) {
      const S z = h.z + P.d * I.m;
      m.zz += P.d * (h.z + z);
      m.xz += P.d * x;
      m.yz += P.d * h.y;
      h.z = z;
    }
    h.x = x;
  }
}
/// Moments about a point from which their own is seen at r.
template <class S, class C>
inline void shift(CompositeMoments<S>& I, const Vec3<C>& r) {
  const Vec3<S> h = I.h, g = h + Vec3<S>{r.x * I.m, r.y * I.m, r.z * I.m};
  I.Sigma += Sym3<S>{r.x * (h.x + g.x), r.x * h.y + g.x * r.y, r.x * h.z + g.x * r.z,
                     r.y * (h.y + g.y), r.y * h.z + g.y * r.z, r.z * (h.z + g.z)};
  I.h = g;
}

/// The chains of a robot (chains/plan.hpp) in the composite-rigid-body algorithm. From a chain's
/// tip on, the wrenches of unit accelerations of its joints pass from body to body and meet each
/// joint's axis; then those of what it carries, as many at once as a vector register
/// holds.
///
/// Frames: ChainBody::F.  Cost: O(L) for every rate of a chain of L bodies, and every one it
/// carries.
///
/// Source: Featherstone (2008), Table 6.2; theory/clusters 5.4.
template <class T>
class ChainComposites : public ChainUnits<T> {
 public:
  using V = typename RowLanes<T>::V;
  static constexpr int width = RowLanes<T>::size;

  /// Composite inertia and rates on a body of a chain; model's frame. Each rate comes once
  /// (chains_of()).
  struct Attachment {
    RigidInertia<T> composite;
    std::vector<int> rates;          ///< independent ones, in the order in which they came
    std::vector<Force<V>> wrenches;  ///< that unit accelerations of these take, side by side

    void operator()(const RigidInertia<T>& I) { composite += I; }
    void operator()(int rate, const Force<T>& f) {
      const int n = static_cast<int>(rates.size()), lane_of_n = n % width;
      if (lane_of_n == 0) wrenches.push_back({Vec3<V>::zero(), Vec3<V>::zero()});
      Force<V>& to = wrenches.back();
      for (int a = 0; a < 6; ++a) row_of<T>(&to[a], lane_of_n) = f[a];
      rates.push_back(rate);
    }
  };

  ChainComposites(const Model& model, ChainPlan plan) : ChainUnits<T>(model, std::move(plan), {}) {
    attachments_.resize(this->boundaries_.size());
    std::vector<int> rates(attachments_.size(), 0);
    for_attachments(model, this->plan_,
                    [&](int body, int nv) { rates[this->boundary_of_[body]] += nv; });
    for (std::size_t k = 0; k < attachments_.size(); ++k) {
      attachments_[k].rates.reserve(rates[k]);
      attachments_[k].wrenches.reserve(blocks_of<T>(rates[k]));
    }
  }

  /// Chains that end where they branch, so that as many as possible are side by side. Left out are
  /// bodies that support a cluster with several supports, whose wrenches meet further in, and
  /// chains so long, or with so many rates on them, that passing each wrench from body to body
  /// costs more than taking it to the world's axes.
  static ChainPlan chains_of(const Model& model) {
    ChainJoints joints = ChainJoints::of(model);
    for (const Cluster& c : model.clusters()) {
      if (joints.turning[c.first]) continue;
      std::vector<int> on(c.supports.begin(), c.supports.end());
      for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
        if (model.rotors()[r].parent < c.first) on.push_back(model.rotors()[r].parent);
      }
      if (std::all_of(on.begin(), on.end(), [&](int o) { return o == on.front(); })) continue;
      for (int o : on) {
        for (; o != 0; o = model.body(o).parent) keep_out(model, o, joints);
      }
    }
    for (;;) {
      ChainPlan plan(model, joints, ChainPlan::Branches::end);
      std::vector<int> carried(plan.chains.size(), 0);
      for_attachments(model, plan, [&](int body, int nv) { carried[plan.chain_of[body]] += nv; });
      bool too_much = false;
      for (std::size_t l = 0; l < plan.chains.size(); ++l) {
        const std::vector<ChainBody>& bodies = plan.chains[l].bodies;
        if (static_cast<int>(bodies.size()) <= longest && carried[l] <= longest) continue;
        too_much = true;
        for (const ChainBody& b : bodies) keep_out(model, b.body, joints);
      }
      if (!too_much) return plan;
    }
  }

  int group_count() const { return static_cast<int>(this->units_.size()); }
  /// As in ChainPlan, the highest one of its chains.
  int level(int group) const { return this->groups_.levels[group]; }
  /// Of a body of a chain that something hangs on.
  Attachment& attachment(int body) { return attachments_[this->boundary_of_[body]]; }

  /// Before the groups. @param q  spanning positions
  void start(const Model& model, const T* q) {
    this->turn(model, q);
    for (Attachment& attachment : attachments_) {
      attachment.composite = RigidInertia<T>::zero();
      attachment.rates.clear(), attachment.wrenches.clear();
    }
  }
  /// The chains of a group, after all that hangs on them has come to their attachments.
  /// @param[out] M   size x size; entries of rates of a chain, and of those that it carries, with
  ///   rates of the chain, both triangles
  /// @param hang_on  hang_on.with_parent(chain, f), for a chain of the plan that is not on the
  ///   ground or on another, calls f(to), where to(I) and to(rate, F) take its composite inertia
  ///   and the wrenches of its rates and of those that it carries; in the model's frame of the
  ///   parent
  template <class HangOn>
  void inward(int group, T* M, long size, HangOn&& hang_on) {
    this->with_unit(group, [&](auto& unit) {
      const auto moments = inward(unit, M, size);
      propagate_to_parents(unit, moments, this->groups_.groups[group], hang_on);
      carry(unit, this->groups_.groups[group], M, size, hang_on);
    });
  }

 private:
  using Base = ChainUnits<T>;
  /// Rates of a chain, and on it, at which both cost about the same in single calls.
  static constexpr int longest = 20;

  /// Calls f(body, rates) for every attachment body that the wrenches of a cluster pass, with the
  /// cluster's number of rates.
  template <class F>
  static void for_attachments(const Model& model, const ChainPlan& plan, F&& f) {
    for (const Cluster& c : model.clusters()) {
      for (int i = model.body(c.first).parent, chain = plan.chain_of[c.first]; i != 0;) {
        const int met = plan.chain_of[i];
        if (met >= 0 && met != chain) f(i, c.nv);
        chain = met;
        i = model.body(met >= 0 ? i : model.clusters()[model.body(i).cluster].first).parent;
      }
    }
  }

  static void keep_out(const Model& model, int body, ChainJoints& joints) {
    const Cluster& c = model.clusters()[model.body(body).cluster];
    for (int i = c.first; i < c.first + c.count; ++i) joints.turning[i] = false;
  }

  /// @returns  moments at the base_frame
  template <class Unit>
  auto inward(Unit& unit, T* M, long size) {
    using S = typename Unit::S;
    constexpr int lanes = Unit::lanes;
    auto& bodies = unit.bodies;
    CompositeMoments<S> I{S(0.0), Vec3<S>::zero(), Sym3<S>::zero()};
    for (std::size_t i = bodies.size(); i-- > 0;) {
      auto& b = bodies[i];
      this->template turn_body<Unit>(b);
      if (b.boundaries) I = with_attachments(b, I);
      add_body(b.moments, I);
      // Ended lanes repeat the last rate of their chain: what they write is written over after.
      for (std::size_t j = bodies.size(); --j > i;) {
        S entry = axis_moment(bodies[j].column());
        if (j == i + 1 && bodies[j].coupled) entry += unit.gears[bodies[j].gear].coupling;
        write<lanes>(unit.used, entry, bodies[j].rate, b.rate, M, size);
      }
      const S about = I.Sigma.xx + I.Sigma.yy;
      write<lanes>(unit.used, about + b.reflected, b.rate, b.rate, M, size);
      b.column() = wrench_of<typename Unit::Body>(
          Force<S>{{-I.Sigma.xz, -I.Sigma.yz, about}, {-I.h.y, I.h.x, S(0.0)}});
      if (i == 0 && unit.on_ground) break;
      with_kind(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
        if constexpr (kind.geared) add_axis_moment(b.column(), unit.gears[b.gear].axial);
        const auto P = b.P;
        const auto t = Unit::Body::InwardTurn::of(b.c, b.s);
        for (std::size_t j = i; j < bodies.size(); ++j) {
          auto F = bodies[j].column();
          to_parent<kind>(P, t, F);
          bodies[j].column() = F;
        }
        if constexpr (kind.geared) {
          if (b.transverse) add_moment(b.column(), unit.gears[b.gear].momentum);
        }
        to_parent<kind>(P, Turn<S>::of(b.c, b.s), I);
      });
    }
    return I;
  }
  /// Adds what hangs on a body. By value, so that the numbers stay in registers elsewhere.
  template <class Body, class S>
  [[gnu::noinline]] CompositeMoments<S> with_attachments(const Body& b, CompositeMoments<S> I) {
    for (std::size_t k = 0; k < std::size(b.boundary); ++k) {
      if (b.boundary[k] < 0) continue;
      const int lane = static_cast<int>(k);
      auto on = CompositeMoments<T>::from(
          congruence(b.F[k]->inverse(), attachments_[b.boundary[k]].composite));
      const auto add = [&](S& to, const T& x) { Base::lane_of(to, lane) += x; };
      add(I.m, on.m);
      Base::for_numbers(I.h, on.h, add);
      Base::for_numbers(I.Sigma, on.Sigma, add);
    }
    return I;
  }

  /// Chains as rigid bodies, and their rates, to the parents.
  template <class Unit, class S, class HangOn>
  [[gnu::noinline]] void propagate_to_parents(Unit& unit, CompositeMoments<S> I,
                                              const std::vector<int>& chains, HangOn& hang_on) {
    if (unit.on_ground) return;
    rotate_to_parent<0, 1>(I, unit.base_frame);
    shift(I, unit.r);
    for (auto& b : unit.bodies) {
      Force<S> F = plain(b.column());
      unit.propagate_to_parent(F);
      b.column() = wrench_of<typename Unit::Body>(F);
    }
    for (int k = 0; k < unit.used; ++k) {
      CompositeMoments<T> of_chain;
      const auto take = [&](T& to, S& from) { to = Base::lane_of(from, k); };
      take(of_chain.m, I.m);
      Base::for_numbers(of_chain.h, I.h, take);
      Base::for_numbers(of_chain.Sigma, I.Sigma, take);
      with_parent(chains[k], hang_on, [&](auto&& to) ESPALIER_INLINED {
        to(RigidInertia<T>{of_chain.m, of_chain.h, of_chain.inertia()});
        for (auto& b : unit.bodies) {
          if (b.y[k] >= 0) to(b.y[k], of_lane(b.column(), k));
        }
      });
    }
  }
  /// One lane of a wrench.
  template <class S>
  ESPALIER_ALWAYS_INLINE static Force<T> of_lane(Force<S>& f, int k) {
    return {{Base::lane_of(f.n.x, k), Base::lane_of(f.n.y, k), Base::lane_of(f.n.z, k)},
            {Base::lane_of(f.f.x, k), Base::lane_of(f.f.y, k), Base::lane_of(f.f.z, k)}};
  }
  ESPALIER_ALWAYS_INLINE static Force<double> of_lane(const PairedForce& f, int) {
    return f.plain();
  }
  /// Calls f(to), where to(I) and to(rate, F) take what hangs on the parent of a chain.
  template <class HangOn, class F>
  ESPALIER_ALWAYS_INLINE void with_parent(int chain, HangOn& hang_on, F&& f) {
    const int parent = this->plan_.chains[chain].parent;
    if (parent == 0) return;  // beside it in the group are chains on others
    if (this->contains(parent)) {
      f(attachment(parent));
    } else {
      hang_on.with_parent(chain, f);
    }
  }

  /// The rates of what chains carry, past their joints.
  template <class Unit, class HangOn>
  void carry(Unit& unit, const std::vector<int>& chains, T* M, long size, HangOn& hang_on) {
    for (std::size_t i = 0; i < unit.bodies.size(); ++i) {
      const auto& b = unit.bodies[i];
      if (!b.boundaries) continue;
      for (int k = 0; k < unit.used; ++k) {
        if (b.boundary[k] >= 0) {
          carry(unit, k, static_cast<int>(i), attachments_[b.boundary[k]], chains[k], M, size,
                hang_on);
        }
      }
    }
  }
  template <class Unit, class HangOn>
  [[gnu::noinline]] void carry(Unit& unit, int lane, int body, const Attachment& attachment,
                               int chain, T* M, long size, HangOn& hang_on) {
    const int rates = static_cast<int>(attachment.rates.size());
    const int parent = this->plan_.chains[chain].parent;
    for (int first = 0; first < rates; first += width) {
      const int count = std::min(width, rates - first);
      const int* rate = attachment.rates.data() + first;
      Force<V> F = unit.bodies[body].F[lane]->force_to(attachment.wrenches[first / width]);
      for (int i = body; i >= 0; --i) {
        auto& b = unit.bodies[i];
        for (int l = 0; l < count; ++l) {
          const T x = row_of<T>(&F.n.z, l);
          M[rate[l] * size + b.y[lane]] = M[b.y[lane] * size + rate[l]] = x;
        }
        if (i == 0 && parent == 0) break;
        const ChainPlacement<double> P{turn_of(b.P.alpha, lane), number(b.P.a, lane),
                                       number(b.P.d, lane)};
        const auto t = Turn<V>::of(V(Base::lane_of(b.c, lane)), V(Base::lane_of(b.s, lane)));
        with_kind(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED { to_parent<kind>(P, t, F); });
      }
      if (parent == 0) continue;
      rotate_to_parent<0, 1>(F, turn_of(unit.base_frame, lane));
      F.n += cross(
          Vec3<double>{number(unit.r.x, lane), number(unit.r.y, lane), number(unit.r.z, lane)},
          F.f);
      with_parent(chain, hang_on, [&](auto&& to) ESPALIER_INLINED {
        for (int l = 0; l < count; ++l) to(rate[l], of_lane(F, l));
      });
    }
  }
  /// One lane of the robot's constants.
  template <class C>
  static double number(const C& x, int lane) {
    return reinterpret_cast<const double*>(&x)[lane];
  }
  template <class C>
  static Turn<double> turn_of(const Turn<C>& t, int lane) {
    return {number(t.c, lane), number(t.s, lane), number(t.ss, lane), number(t.sc, lane)};
  }

  /// An entry of each chain, and its mirror image.
  template <int lanes, class S>
  ESPALIER_ALWAYS_INLINE static void write(int used, S x, const int* row, const int* column, T* M,
                                           long size) {
    for (int k = 0; k < (lanes == 1 ? 1 : used); ++k) {
      M[row[k] * size + column[k]] = M[column[k] * size + row[k]] = Base::lane_of(x, k);
    }
  }

  std::vector<Attachment> attachments_;  ///< per boundary
};

}  // namespace espalier
