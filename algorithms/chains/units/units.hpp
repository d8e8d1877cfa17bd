#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/chains/attachments.hpp"
#include "algorithms/chains/columns/row_lanes.hpp"
#include "algorithms/chains/model_frame.hpp"
#include "algorithms/chains/units/ask_ahead.hpp"
#include "algorithms/chains/units/unit_layout.hpp"
#include "espalier/kernel/model/motion/joint_turns.hpp"

namespace espalier {

/// State exchanged at a chain's boundary: of a parent, or of an attachment body.
/// Frame: the model's. The ground's stays zero but for `a`, and its IA and pA are never read.
template <class T>
struct BoundaryState {
  Vec3<T> omega, alpha, a;   ///< as in BodyMotion
  ArticulatedInertia<T> IA;  ///< of what hangs on the body,
  Force<T> pA;               ///< and the wrench that it needs
  Motion<T> da;              ///< acceleration beyond that at vdot = 0
};

/// The chains of a robot as recursive algorithms pass them (chains/sweeps.hpp): constants and
/// states laid out body by body. Where T is double, several chains are the lanes of a pack.
template <class T>
class ChainUnits {
 public:
  /// @param watched  bodies whose motion others read in any case
  ChainUnits(const Model& model, ChainPlan plan, const std::vector<int>& watched);

  const ChainPlan& plan() const { return plan_; }
  bool contains(int body) const { return plan_.chain_of[body] >= 0; }
  /// Whether body is in a chain, or a rotor that one carries along.
  bool passes(int body) const { return plan_.passes(body); }
  /// Per active run of the model: whether all its bodies are passed.
  const std::vector<bool>& whole_runs() const { return whole_runs_; }
  /// Per cluster of the model, likewise.
  const std::vector<bool>& whole_clusters() const { return whole_clusters_; }
  const ChainAttachments& attachments() const { return chain_attachments_; }
  /// Whether a group has parents or attachment bodies.
  bool meets_others(int group) const { return units_[group].meets_others; }
  BoundaryState<T>& boundary(int body) { return boundaries_[boundary_of_[body]]; }
  /// Sets what the chains on the ground read.
  /// @param a  acceleration of the ground against gravity
  void set_ground(const Vec3<T>& a) { boundaries_.front().a = a; }

  /// Asks for the first line of each array that a pass reads, and for some of the first chain's
  /// bodies. Without a branch, which would wait for what it depends on.
  ESPALIER_ALWAYS_INLINE void ask_for_numbers() const {
    constexpr int apart = 1024;
    ask_for(units_.data(), singles_.data(), boundaries_.data(), boundary_of_.data(),
            turning_.data(), own_sine_.data());
    ask_for(first_bodies_, first_bodies_ + apart, first_bodies_ + 2 * apart);
  }
  /// Adds a run of the model, of joints that turn about z, to those that turn() evaluates.
  void turn_too(const BodyRun& run) {
    for (const RunTurns<T>& known : turning_) {
      if (known.first() == run.first) return;
    }
    turning_.emplace_back(run);
  }
  /// Sine and cosine of all joints.
  /// @param q      spanning positions
  /// @param turns  of q, which then stay where they are, or nullptr
  void turn(const T* q, const JointTurns<T>* turns = nullptr) {
    if (turns != nullptr) {
      sine_ = turns->sine(), cosine_ = turns->cosine();
      return;
    }
    for (const RunTurns<T>& run : turning_) run.update(q, own_sine_.data(), own_cosine_.data());
    sine_ = own_sine_.data(), cosine_ = own_cosine_.data();
  }
  const T& sine(int body) const { return sine_[body]; }
  const T& cosine(int body) const { return cosine_[body]; }
  /// Calls f(rotor, from its parent's frame to its own) for rotors that chains carry, after turn().
  template <class F>
  void for_each_rotor(const Model& model, F&& f) const {
    for (const AsymmetricRotor& rotor : plan_.asymmetric) {
      const Transform<double>& placement = model.body(rotor.body).placement;
      f(rotor, Transform<T>{
                   rotate_rows(sine_[rotor.body], cosine_[rotor.body], Mat3<T>::from(placement.E)),
                   Vec3<T>::from(placement.r)});
    }
  }
  /// World to a body's frame in the model, after turn().
  /// @param E  the same of the parent of its chain
  Mat3<T> attitude(int body, const Mat3<T>& E) {
    const Chain& chain = plan_.chains[plan_.chain_of[body]];
    Mat3<T> at = rotate_rows(T(chain.sin_base), T(chain.cos_base), E);
    for (int k = 0; k <= plan_.index_in[body]; ++k) {
      const ChainBody& b = chain.bodies[k];
      const T c = cosine_[b.body] * b.cos_theta - sine_[b.body] * b.sin_theta;
      const T s = sine_[b.body] * b.cos_theta + cosine_[b.body] * b.sin_theta;
      const Vec3<T> y = at.row[1], z = at.row[2];
      at.row[1] = scale(b.cos_alpha, y) + scale(b.sin_alpha, z);
      at.row[2] = scale(b.cos_alpha, z) - scale(b.sin_alpha, y);
      at = rotate_rows(s, c, at);
    }
    return Mat3<T>::from(plan_.body(body).F.E.transposed()) * at;
  }

 protected:
  using Single = ChainUnit<T, double, 1>;
  using Side = std::conditional_t<
      RowLanes<T>::size == 1, Single,
      ChainUnit<typename RowLanes<T>::V, typename RowLanes<T>::V, RowLanes<T>::size>>;
  struct Place {
    int group = 0, index = 0, lane = 0;
  };
  struct UnitRef {
    bool side, meets_others;
    int index;
  };

  template <class F>
  ESPALIER_ALWAYS_INLINE void with_unit(int group, F&& f) {
    const UnitRef& unit = units_[group];
    if constexpr (RowLanes<T>::size > 1) {
      if (unit.side) return f(sides_[unit.index]);
    }
    f(singles_[unit.index]);
  }

  /// Sine and cosine of q + theta of a body, after turn().
  template <class Unit>
  ESPALIER_ALWAYS_INLINE void turn_body(typename Unit::Body& b) const {
    const auto c = gather<Unit::lanes>(cosine_, b.body), s = gather<Unit::lanes>(sine_, b.body);
    b.c = c * b.cos_theta - s * b.sin_theta;
    b.s = s * b.cos_theta + c * b.sin_theta;
  }

  // --- lanes ------------------------------------------------------------------------------------

  template <class S>
  static T& lane_of(S& x, int k) {
    return reinterpret_cast<T*>(&x)[k];
  }
  template <int lanes>
  static auto gather(const T* x, const int* at) {
    return side_by_side<T, lanes>([&](int k) { return x[at[k]]; });
  }
  template <int lanes, class S>
  static void scatter(S x, T* out, const int* at) {
    for (int k = 0; k < lanes; ++k) {
      if (lanes == 1 || at[k] >= 0) out[at[k]] = lane_of(x, k);
    }
  }
  /// Vectors of the parents' or bodies' boundaries, side by side.
  template <int lanes, class Part>
  auto gather_vector(const int* boundary, Part&& part) {
    const auto number = [&](auto&& component) {
      return side_by_side<T, lanes>(
          [&](int k) { return component(part(boundaries_[boundary[k]])); });
    };
    using S = decltype(number([](const Vec3<T>& v) { return v.x; }));
    return Vec3<S>{number([](const Vec3<T>& v) { return v.x; }),
                   number([](const Vec3<T>& v) { return v.y; }),
                   number([](const Vec3<T>& v) { return v.z; })};
  }
  /// Calls f(lane, boundary, frame) for the bodies of a unit that have one.
  template <class Body, class Do>
  ESPALIER_ALWAYS_INLINE void for_boundaries(const Body& b, Do&& f) {
    if (!b.boundaries) return;
    for (std::size_t k = 0; k < std::size(b.boundary); ++k) {
      if (b.boundary[k] >= 0)
        f(static_cast<int>(k), boundaries_[b.boundary[k]], ModelFrame(*b.F[k]));
    }
  }
  /// One lane of a vector.
  template <class S>
  static Vec3<T> of_lane(Vec3<S> v, int k) {
    return {lane_of(v.x, k), lane_of(v.y, k), lane_of(v.z, k)};
  }
  /// Calls f(number of a, number of b) for all numbers of two vectors, inertias and so on.
  template <class A, class B, class F>
  ESPALIER_ALWAYS_INLINE static void for_numbers(Vec3<A>& a, Vec3<B>& b, F&& f) {
    f(a.x, b.x), f(a.y, b.y), f(a.z, b.z);
  }
  template <class A, class B, class F>
  ESPALIER_ALWAYS_INLINE static void for_numbers(Force<A>& a, Force<B>& b, F&& f) {
    for_numbers(a.n, b.n, f), for_numbers(a.f, b.f, f);
  }
  template <class A, class B, class F>
  ESPALIER_ALWAYS_INLINE static void for_numbers(Sym3<A>& a, Sym3<B>& b, F&& f) {
    f(a.xx, b.xx), f(a.xy, b.xy), f(a.xz, b.xz), f(a.yy, b.yy), f(a.yz, b.yz), f(a.zz, b.zz);
  }
  template <class A, class B, class F>
  ESPALIER_ALWAYS_INLINE static void for_numbers(ArticulatedInertia<A>& a, ArticulatedInertia<B>& b,
                                                 F&& f) {
    for_numbers(a.A, b.A, f), for_numbers(a.C, b.C, f);
    for (int i = 0; i < 3; ++i) for_numbers(a.B.row[i], b.B.row[i], f);
  }

  ChainPlan plan_;
  ChainGroups groups_;
  ChainAttachments chain_attachments_;
  std::vector<UnitRef> units_;  ///< per group
  std::vector<Single> singles_;
  std::vector<Side> sides_;
  std::vector<Place> place_;                     ///< per body
  std::vector<int> boundary_of_;                 ///< per body; -1: none
  std::vector<BoundaryState<T>> boundaries_;     ///< that of the ground first
  std::vector<T> own_sine_, own_cosine_;         ///< per body
  const T *sine_ = nullptr, *cosine_ = nullptr;  ///< these, or somebody else's
  std::vector<RunTurns<T>> turning_;             ///< runs with bodies in chains
  std::vector<bool> whole_runs_, whole_clusters_;
  /// Of the first group; without chains any address.
  const std::byte* first_bodies_ = reinterpret_cast<const std::byte*>(this);

 private:
  void add_boundary(int body) {
    if (boundary_of_[body] >= 0) return;
    boundary_of_[body] = static_cast<int>(boundaries_.size());
    boundaries_.emplace_back();
  }
  void place(const std::vector<int>& group, int index) {
    for (std::size_t k = 0; k < group.size(); ++k) {
      const std::vector<ChainBody>& bodies = plan_.chains[group[k]].bodies;
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        place_[bodies[i].body] = {index, static_cast<int>(i), static_cast<int>(k)};
      }
    }
  }
};

// Below the class, so that it can be compiled once for several plugins (instances/).
template <class T>
ChainUnits<T>::ChainUnits(const Model& model, ChainPlan plan, const std::vector<int>& watched)
    : plan_(std::move(plan)),
      groups_(plan_, RowLanes<T>::size),
      chain_attachments_(model, plan_, groups_, watched),
      place_(plan_.chain_of.size()),
      boundary_of_(plan_.chain_of.size(), -1),
      own_sine_(plan_.chain_of.size()),
      own_cosine_(plan_.chain_of.size()) {
  add_boundary(0);  // the first one
  for (const int body : chain_attachments_.all) add_boundary(body);
  for (const Chain& chain : plan_.chains) add_boundary(chain.parent);
  const ChainUnitLayout layout(model, plan_, boundary_of_);
  for (const std::vector<int>& group : groups_.groups) {
    place(group, static_cast<int>(units_.size()));
    const std::size_t g = units_.size();
    const bool meets_others =
        !chain_attachments_.parents[g].empty() || !chain_attachments_.bodies[g].empty();
    if (group.size() == 1) {
      units_.push_back({false, meets_others, static_cast<int>(singles_.size())});
      singles_.push_back(layout.unit<Single>(group));
    } else {
      units_.push_back({true, meets_others, static_cast<int>(sides_.size())});
      sides_.push_back(layout.unit<Side>(group));
    }
  }
  for (const Cluster& c : model.clusters()) {
    bool inside = c.count > 0;
    for (int i = c.first; i < c.first + c.count; ++i) inside = inside && passes(i);
    whole_clusters_.push_back(inside);
  }
  for (const BodyRun& run : model.active_runs()) {
    int inside = 0;
    for (int k = 0; k < run.count; ++k) inside += passes(run.first + k) ? 1 : 0;
    if (inside > 0) turning_.emplace_back(run);
    whole_runs_.push_back(inside == run.count);
  }
  if (!units_.empty()) {
    with_unit(0, [&](auto& unit) {
      first_bodies_ = reinterpret_cast<const std::byte*>(unit.bodies.data());
    });
  }
  std::vector<RigidInertia<double>>().swap(plan_.inertia);  // laid out
}

}  // namespace espalier
