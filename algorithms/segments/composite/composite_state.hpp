#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/linear_algebra/zeros.hpp"
#include "algorithms/segments/composite/composite_body.hpp"
#include "algorithms/segments/composite/structural_zeros.hpp"
#include "algorithms/segments/composite/ways_inward.hpp"
#include "algorithms/segments/schedule.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"

namespace espalier {

/// State of the composite-rigid-body recursion: what segments write and read.
///
/// Frames: world axes; inertias and J at body origins. Where F meets the J of many ancestors, both
/// are taken about the first body of the way, whose columns lie in memory one beside the other.
/// Where all of the robot hangs on one floating body, its axes stand for the world's: its J is the
/// identity, F itself is what its rates meet, and its block of M is its composite inertia. For what
/// hangs on a chain, the body of the chain that carries it stands for the world.
template <class T>
struct CompositeState {
  using Way = typename WaysInward<T>::Way;
  struct OfCluster {
    int ways = 0;      ///< of which its first body has the first one
    int identity = 0;  ///< start of its G there
  };

  /// @param segments  whose bodies these are
  /// @param layout    whose chains become those of the state
  /// @param rates     of M
  template <class Segments>
  CompositeState(const Model& m, const Segments& segments, ScheduleLayout& layout, int rates)
      : model(m),
        size(rates),
        root(layout.floating_base),
        inward(rates),
        body(layout.chains->inertia.size()),
        armature(m.spanning_nv(), 0.0),
        of_cluster(m.clusters().size()) {
    for (const auto& [rate, value] : m.armature()) armature[rate] = value;
    for (std::size_t i = 0; i < body.size(); ++i) {
      CompositeBody<T>& b = body[i];
      b.inertia = layout.chains->inertia[i];
      b.E = Mat3<T>::identity();  // of what stands for the world
      b.x = Vec3<T>::zero();
      if (i == 0) continue;
      b.parent = m.body(static_cast<int>(i)).parent, b.rate = m.body(static_cast<int>(i)).v;
    }
    if (!layout.chains->chains.empty()) {
      chains = std::make_unique<ChainComposites<T>>(m, std::move(*layout.chains));
    }
    layout.chains.reset();
    segments.outward([&](const auto& s) { lay_out(s); });
    long met = 0;
    for (Way& way : ways) met += static_cast<long>(way.rates) * follow(way);
    sparse = chains != nullptr || 8 * met < static_cast<long>(size) * size;
    has_zeros = sparse && !is_chain();
    if (is_pack<T> && has_zeros) zeros = StructuralZeros(m, size);
    if (sparse) segments.outward([&](const auto& s) { divide_ways(s); });
    follow_from_chains();
    inward.lay_out(root, chains.get(), sparse);
  }

  /// Base to tips: attitude, place, and the inertia in world axes.
  /// @param X  the body's placement on its parent
  void place(CompositeBody<T>& b, const Transform<T>& X) const {
    const CompositeBody<T>& p = body[b.parent];
    b.E = X.E * p.E;
    b.r = transpose_times(p.E, X.r);
    b.x = b.parent == 0 ? Vec3<T>::zero() : p.x + b.r;
    b.from_support = b.parent == b.support ? b.r : p.from_support + b.r;
    b.Ic = {T(b.inertia.m), transpose_times(b.E, b.inertia.h), congruence(b.E, b.inertia.I)};
  }
  /// Adds a body's composite inertia, which is complete, to that of its support.
  void propagate_to_support(const CompositeBody<T>& b) {
    if (b.support == 0) return;
    add_shifted(b.Ic, b.from_support,
                in_chain(b.support) ? chains->attachment(b.support).composite : body[b.support].Ic);
  }
  /// Before the backward pass. @param q  spanning positions
  void start(const T* q, T* M) {
    if (lower) {
      // Nobody reads what is zero.
    } else if constexpr (is_pack<T>) {
      zeros.write(M);
    } else if (has_zeros) {
      write_zeros(M, static_cast<long>(size) * size);
    }
    if (chains != nullptr) chains->start(q, motion->turns());
  }

  bool in_chain(int i) const { return chains != nullptr && chains->contains(i); }
  MassEntries<T> entries(T* M) const { return {M, size, !lower}; }
  T* row(T* M, int rate) const { return M + static_cast<long>(rate) * size; }
  int ways_of(const Cluster& c) const { return of_cluster[&c - model.clusters().data()].ways; }
  const T* G(const Cluster& c) const {
    if (c.constrained) return motion->G(c);
    return identity.data() + of_cluster[&c - model.clusters().data()].identity;
  }

  const Model& model;
  const SpanningMotion<T>* motion = nullptr;   ///< joints, and G, at the position
  int size;                                    ///< rates of M
  int root;                                    ///< FloatingBase; 0: none
  bool sparse = false;                         ///< M is zeroed, then only what is not zero written,
  bool has_zeros = false;                      ///< if anything of it is zero
  bool lower = false;                          ///< the lower triangle is enough, without its zeros
  StructuralZeros zeros;                       ///< at packs: those
  std::unique_ptr<ChainComposites<T>> chains;  ///< null if there are none
  WaysInward<T> inward;
  std::vector<CompositeBody<T>> body;
  std::vector<double> armature;  ///< per spanning rate
  std::vector<Way> ways;         ///< of bodies and clusters; those of a cluster side by side
  std::vector<OfCluster> of_cluster;
  std::vector<T> identity;        ///< G of bodies that nothing ties and that are passed as clusters
  std::vector<Way> way_of_chain;  ///< that starts from its parent
  std::vector<Motion<T>> J;       ///< of clusters' bodies about their origins
  std::vector<Force<T>> F;        ///< of one cluster, per way and rate

 private:
  void lay_out(const ChainGroup&) {}
  void lay_out(const FloatingBase& s) { body[s.body].nv = 6; }
  void lay_out(const PlainRun& s) {
    for (int k = s.begin; k < s.end; ++k) {
      CompositeBody<T>& b = body[s.body(k)];
      b.support = b.parent, b.v = b.rate + s.shift, b.nv = s.run->nv;
      b.column = inward.add_columns(b.nv);  // all have some, so that those of chains are contiguous
      b.way = way_to(b.support, b.nv, ways.size());
    }
  }
  /// Of plain bodies alone: clusters add to what their rows have.
  void divide_ways(const PlainRun& s) {
    for (int k = s.begin; k < s.end; ++k) inward.divide(ways[body[s.body(k)].way]);
  }
  template <class Other>
  void divide_ways(const Other&) {}
  /// A cluster of any kind.
  template <class Clustered>
  void lay_out(const Clustered& s) {
    const Cluster& c = *s.cluster;
    const std::size_t first = ways.size();
    std::vector<std::vector<RateRange>> moving = moving_rates(model, c);
    for (int i = c.first; i < c.first + c.count; ++i) {
      CompositeBody<T>& b = body[i];
      b.support = b.parent >= c.first ? body[b.parent].support : b.parent;
      b.v = c.v, b.nv = c.nv;
      b.way = way_to(b.support, c.nv, first);
      b.J = static_cast<int>(J.size());
      J.resize(J.size() + c.nv, Motion<T>::zero());
      b.moving = std::move(moving[i - c.first]);
    }
    for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
      const int parent = model.rotors()[r].parent;
      if (parent < c.first) way_to(parent, c.nv, first);
    }
    const std::size_t count = ways.size() - first;
    F.resize(std::max(F.size(), count * c.nv));
    OfCluster& part = of_cluster[&c - model.clusters().data()];
    part.ways = static_cast<int>(count);
    if (c.constrained) return;
    part.identity = static_cast<int>(identity.size());
    for (int k = 0; k < c.nv * c.nv; ++k) identity.push_back(T(k % (c.nv + 1) == 0 ? 1.0 : 0.0));
  }
  /// The way from a support, among those from `first` on, or a new one.
  int way_to(int support, int rates, std::size_t first) {
    std::size_t w = first;
    while (w < ways.size() && ways[w].support != support) ++w;
    if (w == ways.size()) ways.push_back({support, 0, rates, {}, {}});
    return static_cast<int>(w);
  }
  /// Finds what a way meets. @returns  how many rates
  int follow(Way& way) {
    int rates = 0;
    for (int i = way.support; i != 0; i = body[i].support) {
      if (i == root || in_chain(i)) {
        way.end = i;
        rates += 6;
        break;
      }
      CompositeBody<T>& b = body[i];
      rates += b.nv;
      if (b.column < 0) b.column = inward.add_columns(b.nv);
      way.ranges.push_back({b.column, b.v, b.nv});
    }
    WaysInward<T>::join(way);
    return rates;
  }
  void follow_from_chains() {
    if (chains == nullptr) return;
    for (const Chain& chain : chains->plan().chains) {
      Way& way = way_of_chain.emplace_back();
      way.support = chain.parent;
      if (!in_chain(chain.parent)) follow(way);
    }
  }
  /// Whether every body moves all that come after it.
  bool is_chain() const {
    for (std::size_t i = 2; i < body.size(); ++i) {
      if (model.body(static_cast<int>(i)).parent + 1 != static_cast<int>(i)) return false;
    }
    return true;
  }
};

}  // namespace espalier
