#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/chains/attachments.hpp"
#include "algorithms/chains/columns/row_lanes.hpp"
#include "algorithms/chains/model_frame.hpp"
#include "algorithms/chains/pairs.hpp"

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
  ChainUnits(const Model& model, ChainPlan plan, const std::vector<int>& watched)
      : plan_(std::move(plan)),
        groups_(plan_, RowLanes<T>::size),
        chain_attachments_(model, plan_, groups_, watched),
        place_(plan_.chain_of.size()),
        boundary_of_(plan_.chain_of.size(), -1),
        sine_(plan_.chain_of.size()),
        cosine_(plan_.chain_of.size()) {
    for (const int body : chain_attachments_.all) add_boundary(body);
    for (const Chain& chain : plan_.chains) add_boundary(chain.parent);
    for (const std::vector<int>& group : groups_.groups) {
      if (group.size() == 1) {
        units_.push_back({false, static_cast<int>(singles_.size())});
        singles_.push_back(lay_out<Single>(model, group));
      } else {
        units_.push_back({true, static_cast<int>(sides_.size())});
        sides_.push_back(lay_out<Side>(model, group));
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
      if (inside > 0) turning_.push_back(static_cast<int>(&run - model.runs().data()));
      whole_runs_.push_back(inside == run.count);
    }
    std::vector<RigidInertia<double>>().swap(plan_.inertia);  // laid out
  }

  const ChainPlan& plan() const { return plan_; }
  bool contains(int body) const { return plan_.chain_of[body] >= 0; }
  /// Whether body is in a chain, or a rotor that one carries along.
  bool passes(int body) const { return plan_.passes(body); }
  /// Per active run of the model: whether all its bodies are passed.
  const std::vector<bool>& whole_runs() const { return whole_runs_; }
  /// Per cluster of the model, likewise.
  const std::vector<bool>& whole_clusters() const { return whole_clusters_; }
  const ChainAttachments& attachments() const { return chain_attachments_; }
  BoundaryState<T>& boundary(int body) { return boundaries_[boundary_of_[body]]; }

  /// Adds a run of the model, of joints that turn about z, to those that turn() evaluates.
  void turn_too(int run) {
    if (std::find(turning_.begin(), turning_.end(), run) == turning_.end()) turning_.push_back(run);
  }
  /// Sine and cosine of all joints. @param q  spanning positions
  void turn(const Model& model, const T* q) {
    for (const int r : turning_) {
      const BodyRun& run = model.runs()[r];
      run.joints->turns(q + run.q, sine_.data() + run.first, cosine_.data() + run.first);
    }
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
  /// A body of each chain of a group: S and C as in chains/kernels.hpp.
  template <class S, class C, int lanes>
  struct UnitBody {
    static constexpr bool paired = std::is_same_v<S, double>;  ///< chains/pairs.hpp
    using Wrench = std::conditional_t<paired, PairedForce, Force<S>>;
    using Inertia = std::conditional_t<paired, PairedInertia, ArticulatedInertia<S>>;
    using InwardTurn = Turn<std::conditional_t<paired, Pair, S>>;
    ChainKind kind;
    std::conditional_t<paired, PairedPlacement, ChainPlacement<C>> P;
    C cos_theta, sin_theta;
    std::conditional_t<paired, PairedMoments, ChainMoments<C>> moments;
    C reflected;
    S c, s;  ///< of q + theta
    /// Wrench that the motion needs; once the joint is eliminated, U in the same place, so that
    /// states stay in the nearest cache.
    Wrench pA;
    /// IA S / D; geared or paired: about the origin of the body before, in its axes.
    Wrench& U() { return pA; }
    /// And in composite bodies: of a unit acceleration of its rate, at the body it has reached.
    Wrench& column() { return pA; }
    S u;  ///< (tau - S^T pA) / D
    S D_inverse;
    int body[lanes];      ///< lanes whose chain has ended repeat its last one
    int rate[lanes];      ///< independent, which is that of its joint
    int y[lanes];         ///< the same; -1: ended
    int boundary[lanes];  ///< -1: none
    bool boundaries = false;
    const Transform<double>* F[lanes];
    int gear = -1;            ///< in Unit::gears
    bool transverse = false;  ///< rotors have axes other than the joint's, or are asymmetric
    bool coupled = false;     ///< by the coupling to the body before, in one of the lanes
    bool leads_pair = false;  ///< the next one is coupled
  };
  /// Geared rotors of a joint.
  template <class S, class C>
  struct Gear {
    C axial;            ///< momentum for unit rate along the axis
    Vec3<C> momentum;   ///< and transverse of it, in the axes of the body before
    C coupling;         ///< ChainBody::coupling
    Vec3<S> couple;     ///< that the body before needs for the transverse momentum
    S force;            ///< that their own rate needs
    S coupling_over_D;  ///< coupling / D: of the rate of the body before in that of a coupled one
    int rotor = -1;     ///< asymmetric one, in Unit::rotors
  };
  /// What the elimination of a coupled rate adds to the system of the rate before.
  template <class S>
  struct CoupledPair {
    Force<S> momentum;  ///< for unit rate, of the body before, in its axes
    S inertia, force;
  };
  template <class S_, class C, int lanes_>
  struct Unit {
    using S = S_;
    using Body = UnitBody<S_, C, lanes_>;
    static constexpr int lanes = lanes_;
    std::vector<Body> bodies;
    std::vector<Gear<S_, C>> gears;
    std::vector<TurningRotor<S_, C, lanes_>> rotors;
    CoupledPair<S_> pair;  ///< of the body that was passed last
    Vec3<C> r;
    Turn<C> base_frame;
    int parent[lanes_];      ///< boundaries
    bool on_ground = false;  ///< the parent does not move, and takes no inertia and wrench
    int used = 0;            ///< lanes

    /// From the parent's axes to those of the base_frame.
    template <class V>
    Vec3<V> in_base_frame(const Vec3<V>& v) const {
      return {base_frame.c * v.x + base_frame.s * v.y, base_frame.c * v.y - base_frame.s * v.x,
              v.z};
    }
    /// A wrench at the base_frame, in the parent's axes, about its origin.
    ESPALIER_ALWAYS_INLINE void propagate_to_parent(Force<S_>& f) const {
      rotate_to_parent<0, 1>(f, base_frame);
      f.n += cross(r, f.f);
    }
  };
  using Single = Unit<T, double, 1>;
  using Side =
      std::conditional_t<RowLanes<T>::size == 1, Single,
                         Unit<typename RowLanes<T>::V, typename RowLanes<T>::V, RowLanes<T>::size>>;
  struct Place {
    int group = 0, index = 0, lane = 0;
  };
  struct UnitRef {
    bool side;
    int index;
  };

  template <class F>
  void with_unit(int group, F&& f) {
    const UnitRef& unit = units_[group];
    if constexpr (RowLanes<T>::size > 1) {
      if (unit.side) return f(sides_[unit.index]);
    }
    f(singles_[unit.index]);
  }

  /// Sine and cosine of q + theta of a body, after turn().
  template <class Unit>
  ESPALIER_ALWAYS_INLINE void turn_body(typename Unit::Body& b) const {
    const auto c = gather<Unit::lanes>(cosine_.data(), b.body),
               s = gather<Unit::lanes>(sine_.data(), b.body);
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
  void for_boundaries(const Body& b, Do&& f) {
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
  static void for_numbers(Vec3<A>& a, Vec3<B>& b, F&& f) {
    f(a.x, b.x), f(a.y, b.y), f(a.z, b.z);
  }
  template <class A, class B, class F>
  static void for_numbers(Force<A>& a, Force<B>& b, F&& f) {
    for_numbers(a.n, b.n, f), for_numbers(a.f, b.f, f);
  }
  template <class A, class B, class F>
  static void for_numbers(Sym3<A>& a, Sym3<B>& b, F&& f) {
    f(a.xx, b.xx), f(a.xy, b.xy), f(a.xz, b.xz), f(a.yy, b.yy), f(a.yz, b.yz), f(a.zz, b.zz);
  }
  template <class A, class B, class F>
  static void for_numbers(ArticulatedInertia<A>& a, ArticulatedInertia<B>& b, F&& f) {
    for_numbers(a.A, b.A, f), for_numbers(a.C, b.C, f);
    for (int i = 0; i < 3; ++i) for_numbers(a.B.row[i], b.B.row[i], f);
  }

  ChainPlan plan_;
  ChainGroups groups_;
  ChainAttachments chain_attachments_;
  std::vector<UnitRef> units_;  ///< per group
  std::vector<Single> singles_;
  std::vector<Side> sides_;
  std::vector<Place> place_;      ///< per body
  std::vector<int> boundary_of_;  ///< per body; -1: none
  std::vector<BoundaryState<T>> boundaries_;
  std::vector<T> sine_, cosine_;  ///< per body
  std::vector<int> turning_;      ///< runs with bodies in chains
  std::vector<bool> whole_runs_, whole_clusters_;

 private:
  // --- layout -----------------------------------------------------------------------------------

  void add_boundary(int body) {
    if (boundary_of_[body] >= 0) return;
    boundary_of_[body] = static_cast<int>(boundaries_.size());
    boundaries_.emplace_back();
  }

  template <class Unit>
  Unit lay_out(const Model& model, const std::vector<int>& group) {
    Unit unit;
    const int group_index = static_cast<int>(units_.size()) - 1;
    unit.used = static_cast<int>(group.size());
    std::size_t length = 0;
    for (const int l : group) length = std::max(length, plan_.chains[l].bodies.size());
    unit.bodies.resize(length);
    unit.on_ground = true;
    for (int k = 0; k < Unit::lanes; ++k) {
      const bool idle = k >= unit.used;
      const Chain& chain = plan_.chains[group[idle ? 0 : k]];
      unit.parent[k] = boundary_of_[chain.parent];
      unit.on_ground = unit.on_ground && chain.parent == 0;
      for (int a = 0; a < 3; ++a) set(unit.r[a], k, chain.r[a]);
      set(unit.base_frame, k, chain.cos_base, chain.sin_base);
      for (std::size_t i = 0; i < length; ++i) {
        const bool ended = idle || i >= chain.bodies.size();
        const ChainBody& b = chain.bodies[std::min(i, chain.bodies.size() - 1)];
        put(unit.bodies[i], k, model, b, ended);
        if (!ended) place_[b.body] = {group_index, static_cast<int>(i), k};
      }
    }
    for (std::size_t i = 0; i < length; ++i) {
      unit.bodies[i].leads_pair = i + 1 < length && unit.bodies[i + 1].coupled;
      unit.bodies[i].kind = common_kind(group, i);
      if (unit.bodies[i].leads_pair || unit.bodies[i].coupled) unit.bodies[i].kind.geared = true;
      if (!unit.bodies[i].kind.geared) continue;
      unit.bodies[i].gear = static_cast<int>(unit.gears.size());
      put_gear(unit.gears.emplace_back(), group, i);
      put_rotor(unit, group, i);
    }
    if constexpr (Unit::Body::paired) {
      for (auto& b : unit.bodies) b.P.make_pairs(), b.moments.make_pairs();
    }
    return unit;
  }
  template <class Body>
  void put(Body& to, int k, const Model& model, const ChainBody& b, bool ended) {
    set(to.P.alpha, k, b.cos_alpha, b.sin_alpha);
    set(to.P.a, k, b.a), set(to.P.d, k, b.d);
    set(to.cos_theta, k, b.cos_theta), set(to.sin_theta, k, b.sin_theta);
    const auto moments =
        Moments<double>::from(ended ? RigidInertia<double>::zero() : plan_.inertia[b.body]);
    const Sym3<double>& Sigma = moments.Sigma;
    auto& m = to.moments;
    set(m.x, k, moments.h.x), set(m.y, k, moments.h.y);
    set(m.xx, k, Sigma.xx), set(m.xy, k, Sigma.xy), set(m.xz, k, Sigma.xz);
    set(m.yy, k, Sigma.yy), set(m.yz, k, Sigma.yz);
    set(to.reflected, k, ended ? 1.0 : b.reflected);
    if (!ended) {
      const Vec3<double>& transverse = b.momentum;
      to.transverse = to.transverse || transverse.x != 0.0 || transverse.y != 0.0 ||
                      transverse.z != 0.0 || b.asymmetric >= 0;
      to.coupled = to.coupled || b.coupling != 0.0;
    }
    const auto& body = model.body(b.body);
    to.body[k] = b.body;
    const Cluster& cluster = model.clusters()[body.cluster];
    to.rate[k] = cluster.v + (body.v - cluster.spanning_v);
    to.y[k] = ended ? -1 : to.rate[k];
    to.boundary[k] = ended ? -1 : boundary_of_[b.body];
    to.boundaries = to.boundaries || to.boundary[k] >= 0;
    to.F[k] = &plan_.body(b.body).F;
  }
  template <class Gear>
  void put_gear(Gear& to, const std::vector<int>& group, std::size_t i) const {
    using C = decltype(to.axial);
    to.axial = to.coupling = C(0.0), to.momentum = Vec3<C>::zero();  // of idle and ended lanes
    for (std::size_t k = 0; k < group.size(); ++k) {
      const std::vector<ChainBody>& bodies = plan_.chains[group[k]].bodies;
      if (i >= bodies.size()) continue;
      const int lane = static_cast<int>(k);
      set(to.axial, lane, bodies[i].axial), set(to.coupling, lane, bodies[i].coupling);
      for (int a = 0; a < 3; ++a) set(to.momentum[a], lane, bodies[i].momentum[a]);
    }
  }
  /// An asymmetric rotor that body i of a chain of the group drives, if there is one.
  template <class Unit>
  void put_rotor(Unit& unit, const std::vector<int>& group, std::size_t i) const {
    for (std::size_t k = 0; k < group.size(); ++k) {
      const std::vector<ChainBody>& bodies = plan_.chains[group[k]].bodies;
      if (i >= bodies.size() || bodies[i].asymmetric < 0) continue;
      auto& gear = unit.gears.back();
      if (gear.rotor < 0) {
        gear.rotor = static_cast<int>(unit.rotors.size());
        auto& none = unit.rotors.emplace_back();
        std::fill_n(none.body, Unit::lanes, 0);
        none.cosine = none.sine = decltype(none.cosine)::zero();
        none.twice_ratio = decltype(none.twice_ratio)(0.0);
      }
      const int lane = static_cast<int>(k);
      const AsymmetricRotor& rotor = plan_.asymmetric[bodies[i].asymmetric];
      auto& to = unit.rotors.back();
      to.body[k] = rotor.body;
      set(to.cosine, lane, rotor.cosine), set(to.sine, lane, rotor.sine);
      set(to.twice_ratio, lane, 2.0 * rotor.ratio);
    }
  }
  template <class C>
  static void set(Sym3<C>& to, int k, const Sym3<double>& m) {
    set(to.xx, k, m.xx), set(to.xy, k, m.xy), set(to.xz, k, m.xz);
    set(to.yy, k, m.yy), set(to.yz, k, m.yz), set(to.zz, k, m.zz);
  }
  template <class C>
  static void set(C& x, int k, double value) {
    reinterpret_cast<double*>(&x)[k] = value;
  }
  template <class C>
  static void set(Turn<C>& turn, int k, double c, double s) {
    set(turn.c, k, c), set(turn.s, k, s), set(turn.ss, k, s * s), set(turn.sc, k, s * c);
  }

 protected:
  /// The kind that covers body i of all chains of a group.
  ChainKind common_kind(const std::vector<int>& group, std::size_t i) const {
    ChainKind kind{Twist::any, false, false};
    bool parallel = true, right = true;
    for (const int l : group) {
      const std::vector<ChainBody>& bodies = plan_.chains[l].bodies;
      if (i >= bodies.size()) continue;
      const ChainBody& b = bodies[i];
      parallel = parallel && b.cos_alpha == 1.0 && b.sin_alpha == 0.0;
      right = right && b.sin_alpha == 1.0 && b.cos_alpha == 0.0;
      kind.offset = kind.offset || b.a != 0.0 || b.d != 0.0;
      kind.geared = kind.geared || b.reflected != 0.0 || b.axial != 0.0;
    }
    if (parallel) kind.twist = Twist::parallel;
    if (right) kind.twist = Twist::right;
    return kind;
  }
};

}  // namespace espalier
