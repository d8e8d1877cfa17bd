#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/chains/carried_wrenches.hpp"
#include "algorithms/chains/columns/wrench_columns.hpp"
#include "algorithms/chains/composites/composite_moments.hpp"
#include "algorithms/chains/composites/composite_plan.hpp"
#include "algorithms/chains/units/units.hpp"

namespace espalier {

/// The chains of a robot (chains/plan.hpp) in the composite-rigid-body algorithm. From a chain's
/// tip on, the wrenches of unit accelerations of its joints pass from body to body and meet each
/// joint's axis; then those of what it carries, as many at once as a vector register holds. Those
/// of a chain that is computed alone go side by side, too. Frames: ChainBody::F.  Cost: O(L) for
/// every rate of a chain of L bodies, and every one it carries.  Source: Featherstone (2008),
/// Table 6.2; theory/clusters 5.4.
template <class T>
class ChainComposites : public ChainUnits<T> {
 public:
  using Attachment = CompositeAttachment<T>;

  /// @param plan  composite_chains_of()
  ChainComposites(const Model& model, ChainPlan plan) : ChainUnits<T>(model, std::move(plan), {}) {
    attachments_.resize(this->boundaries_.size());
    std::vector<int> rates(attachments_.size(), 0);
    for_passed_attachments(model, this->plan_,
                           [&](int body, int nv) { rates[this->boundary_of_[body]] += nv; });
    for (std::size_t k = 0; k < attachments_.size(); ++k) {
      attachments_[k].rates.reserve(rates[k]);
      attachments_[k].wrenches.reserve(blocks_of<T>(rates[k]));
      carries_ = carries_ || rates[k] > 0;
    }
    if constexpr (width > 1) {
      for (const auto& unit : this->singles_) {
        const int blocks = blocks_of<T>(static_cast<int>(unit.bodies.size()));
        blocks_.resize(std::max(blocks_.size(), static_cast<std::size_t>(blocks)));
        rates_ascend_ = rates_ascend_ && ascend(unit);
      }
    }
  }

  /// Of a body of a chain that something hangs on.
  Attachment& attachment(int body) { return attachments_[this->boundary_of_[body]]; }

  /// Before the groups.
  /// @param q      spanning positions
  /// @param turns  of q, or nullptr
  void start(const T* q, const JointTurns<T>* turns) {
    this->turn(q, turns);
    for (Attachment& attachment : attachments_) {
      attachment.composite = RigidInertia<T>::zero();
      attachment.rates.clear(), attachment.wrenches.clear();
    }
  }
  /// The chains of a group, after all that hangs on them has come to their attachments.
  /// @param M  takes entries of rates of a chain, and of those that it carries, with rates of the
  ///   chain
  /// @param parents  parents.with_parent(chain, f), for a chain that is not on the ground or on
  ///   another, calls f(to), where to(I) and to(rate, F) take its composite inertia and the
  ///   wrenches of its rates and of those that it carries; in the model's frame of the parent
  template <class Parents>
  void inward(int group, const MassEntries<T>& M, Parents&& parents) {
    this->with_unit(group, [&](auto& unit) ESPALIER_INLINED {
      auto moments = [&] {
        if constexpr (is_alone<decltype(unit)>) {
          return inward_alone(unit, M);
        } else {
          return inward(unit, M);
        }
      }();
      if (!unit.on_ground) {
        propagate_to_parents(unit, moments, this->groups_.groups[group], parents);
      }
      carry(unit, this->groups_.groups[group], M, parents);
    });
  }

 private:
  using Base = ChainUnits<T>;
  static constexpr int width = Attachment::width;
  template <class Unit>
  static constexpr bool is_alone = std::decay_t<Unit>::lanes == 1 && (width > 1);

  /// @returns  moments at the base_frame
  template <class Unit>
  auto inward(Unit& unit, const MassEntries<T>& M) {
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
        write<T, lanes>(unit.used, entry, bodies[j].rate, b.rate, M);
      }
      const S about = I.Sigma.xx + I.Sigma.yy;
      write<T, lanes>(unit.used, about + b.reflected, b.rate, b.rate, M);
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
  /// Of a chain alone, its wrenches side by side.
  template <class Unit>
  CompositeMoments<T> inward_alone(Unit& unit, const MassEntries<T>& entries) {
    using V = typename Attachment::V;
    auto* bodies = unit.bodies.data();
    const int count = static_cast<int>(unit.bodies.size());
    T* const M = entries.M;  // both triangles: of one robot they are near
    const long size = entries.size;
    const bool in_sequence =
        rates_ascend_ && bodies[count - 1].rate[0] - bodies[0].rate[0] == count - 1;
    WrenchColumns<T> columns(blocks_.data(), count, 0);
    CompositeMoments<T> I{T(0.0), Vec3<T>::zero(), Sym3<T>::zero()};
    for (auto* body = bodies + count; body-- != bodies;) {
      auto& b = *body;
      this->template turn_body<Unit>(b);
      const T c = b.c, s = b.s;
      if (b.boundaries) I = with_attachments(b, I);
      add_body(b.moments, I);
      columns.write_moments(bodies, b, in_sequence, M, size);
      if (b.leads_pair) {
        const T coupling = unit.gears[body[1].gear].coupling;
        M[b.rate[0] * size + body[1].rate[0]] += coupling;
        M[body[1].rate[0] * size + b.rate[0]] += coupling;
      }
      const T about = I.Sigma.xx + I.Sigma.yy;
      M[b.rate[0] * (size + 1)] = about + b.reflected;
      if (&b == bodies && unit.on_ground) break;
      with_kind(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
        Vec3<T> n{-I.Sigma.xz, -I.Sigma.yz, about};
        if constexpr (kind.geared) n.z += unit.gears[b.gear].axial;
        const ChainPlacement<double>& P = b.P;  // no copy, which would go to the stack and back
        columns.template add<kind>(n, -I.h.y, I.h.x, P, Turn<V>::of(V(c), V(s)));
        if constexpr (kind.geared) {
          if (b.transverse) columns.add_moment(unit.gears[b.gear].momentum);
        }
        to_parent<kind>(P, Turn<T>::of(c, s), I);
      });
    }
    return CompositeMoments<T>(I);  // a copy: what is returned itself would stay in memory
  }
  /// All of a chain alone, after inward_alone.
  template <class Unit>
  WrenchColumns<T> columns_of(const Unit& unit) {
    const int count = static_cast<int>(unit.bodies.size());
    return {blocks_.data(), count, count};
  }
  template <class Unit>
  static bool ascend(const Unit& unit) {
    return std::is_sorted(unit.bodies.begin(), unit.bodies.end(),
                          [](const auto& a, const auto& b) { return a.rate[0] < b.rate[0]; });
  }
  /// Adds what hangs on a body. By value, so that the numbers stay in registers elsewhere.
  template <class Body, class S>
  [[gnu::noinline]] CompositeMoments<S> with_attachments(const Body& b, CompositeMoments<S> I) {
    for (std::size_t k = 0; k < std::size(b.boundary); ++k) {
      if (b.boundary[k] < 0) continue;
      const int lane = static_cast<int>(k);
      auto on = ModelFrame(*b.F[k]).to_chain(
          CompositeMoments<T>::from(attachments_[b.boundary[k]].composite));
      const auto add = [&](S& to, const T& x) { Base::lane_of(to, lane) += x; };
      add(I.m, on.m);
      Base::for_numbers(I.h, on.h, add);
      Base::for_numbers(I.Sigma, on.Sigma, add);
    }
    return I;
  }

  /// Chains as rigid bodies, and their rates, to the parents.
  template <class Unit, class S, class Parents>
  [[gnu::noinline]] void propagate_to_parents(Unit& unit, CompositeMoments<S>& I,
                                              const std::vector<int>& chains, Parents& parents) {
    rotate_to_parent<0, 1>(I, unit.base_frame);
    shift(I, unit.r);
    if constexpr (is_alone<Unit>) {
      columns_of(unit).for_each([&](auto& F) { F = base_to_parent(unit, 0, F); });
    } else {
      for (auto& b : unit.bodies) unit.propagate_to_parent(b.column());
    }
    for (int k = 0; k < unit.used; ++k) {
      CompositeMoments<T> of_chain;
      const auto take = [&](T& to, S& from) { to = Base::lane_of(from, k); };
      take(of_chain.m, I.m);
      Base::for_numbers(of_chain.h, I.h, take);
      Base::for_numbers(of_chain.Sigma, I.Sigma, take);
      with_parent(chains[k], parents, [&](auto&& to) ESPALIER_INLINED {
        to(RigidInertia<T>{of_chain.m, of_chain.h, of_chain.inertia()});
        if constexpr (is_alone<Unit>) {
          for (int i = 0; i < static_cast<int>(unit.bodies.size()); ++i) {
            to(unit.bodies[i].y[0], columns_of(unit).of(i));
          }
        } else {
          for (auto& b : unit.bodies) {
            if (b.y[k] >= 0) to(b.y[k], wrench_of_lane<T>(b.column(), k));
          }
        }
      });
    }
  }
  /// Calls f(to), where to(I) and to(rate, F) take what hangs on the parent of a chain.
  template <class Parents, class F>
  ESPALIER_ALWAYS_INLINE void with_parent(int chain, Parents& parents, F&& f) {
    const int parent = this->plan_.chains[chain].parent;
    if (parent == 0) return;  // beside it in the group are chains on others
    if (this->contains(parent)) {
      f(attachment(parent));
    } else {
      parents.with_parent(chain, f);
    }
  }

  /// The rates of what chains carry, past their joints.
  template <class Unit, class Parents>
  void carry(Unit& unit, const std::vector<int>& chains, const MassEntries<T>& M,
             Parents& parents) {
    if (!carries_) return;
    for (std::size_t i = 0; i < unit.bodies.size(); ++i) {
      const auto& b = unit.bodies[i];
      if (!b.boundaries) continue;
      for (int k = 0; k < unit.used; ++k) {
        if (b.boundary[k] < 0) continue;
        const Attachment& attachment = attachments_[b.boundary[k]];
        carry(unit, k, static_cast<int>(i), attachment, chains[k], M, parents);
      }
    }
  }
  template <class Unit, class Parents>
  [[gnu::noinline]] void carry(Unit& unit, int lane, int body, const Attachment& attachment,
                               int chain, const MassEntries<T>& M, Parents& parents) {
    const int rates = static_cast<int>(attachment.rates.size());
    const bool on_ground = this->plan_.chains[chain].parent == 0;
    for (int first = 0; first < rates; first += width) {
      const int count = std::min(width, rates - first);
      const int* rate = attachment.rates.data() + first;
      auto F = ModelFrame(*unit.bodies[body].F[lane]).to_chain(attachment.wrenches[first / width]);
      const auto meet = [&](const auto& b, auto& at) ESPALIER_INLINED {
        for (int l = 0; l < count; ++l) M.put(rate[l], b.y[lane], row_of<T>(&at.n.z, l));
      };
      F = carry_to_base<T>(unit, lane, body, on_ground, F, meet);
      if (on_ground) continue;
      F = base_to_parent(unit, lane, F);
      with_parent(chain, parents, [&](auto&& to) ESPALIER_INLINED {
        for (int l = 0; l < count; ++l) to(rate[l], wrench_of_lane<T>(F, l));
      });
    }
  }

  std::vector<Attachment> attachments_;                ///< per boundary
  std::vector<Force<typename Attachment::V>> blocks_;  ///< WrenchColumns, of a chain alone
  bool carries_ = false;                               ///< whether chains carry any rates
  bool rates_ascend_ = true;  ///< from the base to the tip of each chain alone
};

}  // namespace espalier
