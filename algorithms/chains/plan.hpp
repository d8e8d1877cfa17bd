#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/chains/asymmetric_rotors.hpp"
#include "algorithms/chains/geared_clusters.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"

namespace espalier {

/// Joints that chains may consist of, and the inertia reflected on each joint's rate.
struct ChainJoints {
  /// No joint of the model.
  explicit ChainJoints(const Model& model)
      : turning(model.active_body_count() + 1, false),
        inertia(turning.size(), 0.0),
        momentum(turning.size(), Vec3<double>{0, 0, 0}),
        coupling(turning.size(), 0.0),
        coupled(turning.size(), false) {}
  /// All joints that turn about z, supply no dynamics of their own, and are coupled to rotors on
  /// their parents alone, or in belt pairs.
  static ChainJoints of(const Model& model) {
    ChainJoints joints(model);
    for (const auto& [rate, armature] : model.armature()) {
      const int body = model.joint_of_rate(rate).body;
      if (body <= model.active_body_count()) joints.inertia[body] = armature;
    }
    for (const Cluster& c : model.clusters()) {
      const bool geared = is_geared_body(model, c), pair = is_belt_pair(model, c);
      bool turning = !c.constrained || geared || pair;
      for (int i = c.first; i < c.first + c.count; ++i) {
        turning = turning && are_revolute(model.runs()[model.body(i).run]);
      }
      for (int i = c.first; i < c.first + c.count; ++i) joints.turning[i] = turning;
      if (pair && turning) joints.coupled[c.first + 1] = true;
      for (int r = 0; r < c.rotors; ++r) {
        if (geared) joints.add_rotor(model, c, r, c.first);
        if (pair) joints.add_rotor_of_pair(model, c, r);
      }
    }
    for (const int i : model.bodies_with_equations()) joints.turning[i] = false;
    return joints;
  }

  /// Adds joints that drive a rotor whose inertia is not the same all around its axis.
  void add_asymmetric_rotors(const Model& model) {
    asymmetric = asymmetric_rotors(model);
    for (const AsymmetricRotor& rotor : asymmetric) {
      const Body& body = model.body(rotor.body);
      const Cluster& c = model.clusters()[body.cluster];
      turning[rotor.joint] = true;
      inertia[rotor.joint] += rotor.ratio * rotor.ratio * (body.inertia.I.zz + inertia[rotor.body]);
      momentum[rotor.joint] += scale(rotor.ratio * body.inertia.I.zz, body.placement.E.row[2]);
      for (int r = 0; r < c.rotors; ++r) add_rotor(model, c, r, rotor.joint);
    }
  }

  std::vector<bool> turning;           ///< per body: whether its joint may be in a chain
  std::vector<double> inertia;         ///< per body: armature and geared rotors [kg·m²]
  std::vector<Vec3<double>> momentum;  ///< per body: of these rotors for unit rate, parent's frame
  /// Per body: inertia between its rate and its parent's, the other one of a belt pair [kg·m²].
  std::vector<double> coupling;
  std::vector<bool>
      coupled;  ///< per body: the second one of a belt pair, which the first goes on with
  std::vector<AsymmetricRotor> asymmetric;  ///< none but after add_asymmetric_rotors()

 private:
  /// @param joint  body whose rate is the independent one
  void add_rotor(const Model& model, const Cluster& c, int r, int joint) {
    const Rotor& rotor = model.rotors()[c.rotor + r];
    const double rho = c.G[c.spanning_nv + r];
    inertia[joint] += rho * rho * rotor.inertia;
    momentum[joint] += scale(rho, rotor.momentum);
  }
  /// A rotor on the parent that the second body drives counts as one on the first body: about the
  /// same axis, its rate differs by the first body's, which changes the coupling alone.
  void add_rotor_of_pair(const Model& model, const Cluster& c, int r) {
    const Rotor& rotor = model.rotors()[c.rotor + r];
    const double* rho = c.G.data() + 2 * (2 + r);
    const int first = c.first, second = c.first + 1;
    inertia[first] += rho[0] * rho[0] * rotor.inertia;
    inertia[second] += rho[1] * rho[1] * rotor.inertia;
    coupling[second] += rho[0] * rho[1] * rotor.inertia;
    if (rotor.parent == first) {
      momentum[second] += scale(rho[1], rotor.momentum);
      return;
    }
    momentum[first] += scale(rho[0], rotor.momentum);
    const double axial = rho[1] * dot(model.body(first).placement.E.row[2], rotor.momentum);
    momentum[second].z += axial;
    coupling[second] -= axial;
  }
};

/// A body of a chain and its frame there: the model's, turned about z by gamma and moved along z,
/// so that the joint's axis stays z, its x-axis points along the common normal to the axis of the
/// next body, and its placement on the body before is
///   E = Rz(q + theta) Rx(alpha),  r = (a, 0, d):
/// four numbers, most of which are 0 or a right angle in a real robot (modified Denavit-Hartenberg
/// parameters; Khalil, Kleinfinger 1986; Craig 2005, section 3.4).
struct ChainBody {
  int body = 0;
  int asymmetric = -1;  ///< rotor that its joint drives, in ChainPlan::asymmetric
  Transform<double> F = Transform<double>::identity();  ///< from the model's frame to this one
  double cos_alpha = 1.0, sin_alpha = 0.0;
  double cos_theta = 1.0, sin_theta = 0.0;
  double a = 0.0, d = 0.0;
  double reflected = 0.0;  ///< inertia on its rate: armature and geared rotors
  /// Of these rotors for unit rate: along the joint's axis, and transverse of it in the frame of
  /// the body before.
  double axial = 0.0;
  Vec3<double> momentum{0, 0, 0};
  double coupling = 0.0;  ///< inertia between its rate and that of the body before
};

/// A chain of bodies on revolute joints.
struct Chain {
  int parent = 0;  ///< of its first body (0: the ground)
  /// From the parent's frame in the model to the chain base frame, in which the first body is
  /// placed: a shift by r, then a turn about z.
  Vec3<double> r{0, 0, 0};
  double cos_base = 1.0, sin_base = 0.0;
  std::vector<ChainBody> bodies;
  int level = 0;     ///< most chains that are passed on a way to the ground
  bool leaf = true;  ///< nothing hangs on it
};

/// Divides bodies of a model on revolute joints into chains, as long as can be, and chooses frames.
///
/// Inertias become regrouped base parameters (theory/chains 2). Mass on a joint's axis stays where
/// it is when the joint turns, so that the body before can carry it: each body of a chain passes on
/// its mass, its first moment along the axis and its second moment along it. Two first and five
/// second moments remain; forces on joints are the same (Khalil, Dombre 2002, section 9.4).
class ChainPlan {
 public:
  /// Where a body carries several chains, its own continues with the longest one, or ends. (Belt
  /// pairs are never divided.)
  enum class Branches { longest, end };

  ChainPlan(const Model& model, const ChainJoints& joints, Branches branches = Branches::longest)
      : ChainPlan(model, joints, branches, folded_inertias(model)) {}
  /// @param bodies  per body, from the ground on: its inertia, in the model's frame
  ChainPlan(const Model& model, const ChainJoints& joints, Branches branches,
            const std::vector<RigidInertia<double>>& bodies)
      : chain_of(model.active_body_count() + 1, -1),
        index_in(chain_of.size(), -1),
        inertia(chain_of.size(), RigidInertia<double>::zero()) {
    const int n = model.active_body_count();
    std::vector<const AsymmetricRotor*> rotor_of(n + 1, nullptr);  // per body that drives one
    for (const AsymmetricRotor& rotor : joints.asymmetric) rotor_of[rotor.joint] = &rotor;
    std::vector<int> next_in_chain(n + 1, 0), chain_length(n + 1, 0);  // along the longest way
    std::vector<int> children(n + 1, 0);
    for (int i = n; i > 0; --i) {
      if (!joints.turning[i]) continue;
      if (branches == Branches::end && children[i] > 1 && !joints.coupled[next_in_chain[i]])
        next_in_chain[i] = 0;
      chain_length[i] = 1 + (next_in_chain[i] > 0 ? chain_length[next_in_chain[i]] : 0);
      const int p = model.body(i).parent;
      if (p == 0 || !joints.turning[p]) continue;
      ++children[p];
      if (joints.coupled[i] ||
          (!joints.coupled[next_in_chain[p]] &&
           (next_in_chain[p] == 0 || chain_length[i] >= chain_length[next_in_chain[p]])))
        next_in_chain[p] = i;
    }
    for (int i = 1; i <= n; ++i) {
      if (!joints.turning[i] || chain_of[i] >= 0) continue;
      const int parent = model.body(i).parent;
      const bool alone = chain_length[i] < 2 && chain_of[parent] < 0;
      if (alone && rotor_of[i] == nullptr) continue;  // going there would cost more
      for (int first = i; first > 0;) first = add(model, first, next_in_chain, joints, rotor_of);
    }
    level.assign(n + 1, 0);
    for (const Cluster& c : model.clusters()) {
      int of_cluster = 0;  // chains that its supports have passed
      for (const int o : c.supports) of_cluster = std::max(of_cluster, passed(o));
      for (int i = c.first; i < c.first + c.count; ++i) {
        if (chain_of[i] == carried) continue;
        if (chain_of[i] < 0) {
          const int p = model.body(i).parent;
          level[i] = std::max(of_cluster, passed(p));
          if (chain_of[p] >= 0) chains[chain_of[p]].leaf = false;
          for (const int o : c.supports) {
            if (chain_of[o] >= 0) chains[chain_of[o]].leaf = false;
          }
          continue;
        }
        Chain& chain = chains[chain_of[i]];
        if (index_in[i] == 0) {
          chain.level = passed(chain.parent);
          if (chain_of[chain.parent] >= 0) chains[chain_of[chain.parent]].leaf = false;
        }
        level[i] = chain.level;
      }
    }
    regroup(model, bodies);
  }

  std::vector<Chain> chains;  ///< parents before what they carry
  /// In chain_of: an asymmetric rotor, passed with the joint that it turns with.
  static constexpr int carried = -2;
  std::vector<int> chain_of;  ///< per body: chain; -1: none; or `carried`
  std::vector<int> index_in;  ///< per body: place in its chain
  /// Asymmetric rotors, in the axes of the body before the joint.
  std::vector<AsymmetricRotor> asymmetric;
  /// Per body of a chain: its regrouped inertia, in the frame of the chain. Per other body: its own
  /// and what chains on it pass on, in the model's frame.
  std::vector<RigidInertia<double>> inertia;
  /// Per body: most chains that are passed between it and the ground. Bodies of a level that are in
  /// no chain can be computed before the chains of that level.
  std::vector<int> level;

  /// Whether a pass over chains meets body i.
  bool passes(int i) const { return chain_of[i] >= 0 || chain_of[i] == carried; }
  const ChainBody& body(int i) const { return chains[chain_of[i]].bodies[index_in[i]]; }
  /// Of the chain of body i.
  int parent(int i) const { return chains[chain_of[i]].parent; }

 private:
  static std::vector<RigidInertia<double>> folded_inertias(const Model& model) {
    std::vector<RigidInertia<double>> all;
    for (int i = 0; i <= model.active_body_count(); ++i) all.push_back(model.folded_inertia(i));
    return all;
  }
  void regroup(const Model& model, const std::vector<RigidInertia<double>>& bodies) {
    std::copy(bodies.begin(), bodies.begin() + inertia.size(), inertia.begin());
    for (const AsymmetricRotor& rotor : asymmetric) {
      const Body& b = model.body(rotor.body);
      inertia[b.parent] += congruence(b.placement, mean_about_axis(b.inertia));
    }
    for (std::size_t i = 0; i < chain_of.size(); ++i) {
      if (chain_of[i] < 0) continue;
      inertia[i] = congruence(body(static_cast<int>(i)).F.inverse(), inertia[i]);
    }
    for (std::size_t l = chains.size(); l-- > 0;) {
      const Chain& chain = chains[l];
      for (std::size_t k = chain.bodies.size(); k-- > 0;) {
        const ChainBody& b = chain.bodies[k];
        const double c = b.cos_alpha, s = b.sin_alpha;
        const Transform<double> placement{{{{1, 0, 0}, {0, c, s}, {0, -s, c}}}, {b.a, 0, b.d}};
        const RigidInertia<double> regrouped =
            congruence(placement, take_regrouped(inertia[b.body]));
        if (k > 0) {
          inertia[chain.bodies[k - 1].body] += regrouped;
          continue;
        }
        Transform<double> base_frame{rotation_z(chain.sin_base, chain.cos_base), chain.r};
        if (chain_of[chain.parent] >= 0) base_frame = base_frame * body(chain.parent).F.inverse();
        inertia[chain.parent] += congruence(base_frame, regrouped);
      }
    }
  }
  static RigidInertia<double> take_regrouped(RigidInertia<double>& I) {
    const double along = 0.5 * (I.I.xx + I.I.yy - I.I.zz);
    const RigidInertia<double> regrouped{I.m, {0, 0, I.h.z}, {along, 0, 0, along, 0, 0}};
    I.m = I.h.z = 0.0;
    I.I.xx -= along, I.I.yy -= along;
    return regrouped;
  }

  // Rounding of products of a few rotations.
  static constexpr double tiny = 2e-15;
  /// Axes that are closer to parallel, but not parallel, have a common normal too far away.
  static constexpr double nearly_parallel = 1e-2;

  /// Whether the common normal of this axis and z passes through the origin and r, to rounding: a
  /// file's 3.14159265359 leans an axis by 2e-13, mostly across the link that carries it.
  static bool is_normal_at_hand(const Vec3<double>& axis, const Vec3<double>& r) {
    const double length = std::hypot(r.x, r.y);
    return length <= tiny || std::fabs(axis.x * r.x + axis.y * r.y) < tiny * length;
  }

  int passed(int body) const { return level[body] + (chain_of[body] >= 0 ? 1 : 0); }

  /// Adds a chain from body `first` on. @returns  the body that starts the next one, or 0
  int add(const Model& model, int first, const std::vector<int>& next_in_chain,
          const ChainJoints& joints, const std::vector<const AsymmetricRotor*>& rotor_of) {
    Chain chain;
    chain.parent = model.body(first).parent;
    const int number = static_cast<int>(chains.size());
    int next = first;
    while (next > 0) {
      const Body& body = model.body(next);
      // The placement, seen from the frame of the body before.
      Transform<double> P = body.placement;
      const bool root = next == first;
      if (!root) P = P * chain.bodies.back().F.inverse();
      const Vec3<double> axis = P.E.row[2];
      const double sine = std::hypot(axis.x, axis.y);
      const bool parallel = sine < tiny;
      const bool nearly = !root && !parallel && sine < nearly_parallel;
      if (nearly && !is_normal_at_hand(axis, P.r)) break;
      // The x-axis of the body before: along the normal of both axes, or to the other axis.
      const bool across = !parallel && !(nearly && std::hypot(P.r.x, P.r.y) > tiny);
      const Vec3<double> x = across ? Vec3<double>{-axis.y, axis.x, 0.0}
                             : root ? Vec3<double>{1.0, 0.0, 0.0}
                                    : Vec3<double>{P.r.x, P.r.y, 0.0};
      const double length = std::hypot(x.x, x.y);
      double c = 1.0, s = 0.0;
      if (length > tiny) c = rounded(x.x / length), s = rounded(x.y / length);
      const Transform<double> turn{rotation_z(s, c), Vec3<double>::zero()};
      if (root) chain.r = {rounded(P.r.x), rounded(P.r.y), rounded(P.r.z)};
      P = P * turn.inverse();
      ChainBody b;
      b.body = next;
      if (root) {
        chain.cos_base = c, chain.sin_base = s;
        b.momentum = turn.E * joints.momentum[next];
      } else {
        turn_frame(chain, turn);
        b.momentum = chain.bodies.back().F.E * joints.momentum[next];
      }
      b.cos_alpha = rounded(P.E.row[2].z), b.sin_alpha = rounded(-P.E.row[2].y);
      b.cos_theta = rounded(P.E.row[0].x), b.sin_theta = rounded(-P.E.row[1].x);
      if (!root) {  // along the axis until the shift has no y, or no z
        const double slide = parallel ? -P.r.z * b.cos_alpha : nearly ? 0.0 : P.r.y / b.sin_alpha;
        b.F.r.z = slide;
        b.a = rounded(P.r.x);
        b.d = parallel ? 0.0 : rounded(P.r.z + slide * b.cos_alpha);
      }
      if (rotor_of[next] != nullptr) {
        b.asymmetric = static_cast<int>(asymmetric.size());
        add_rotor(*rotor_of[next], root ? turn.E : chain.bodies.back().F.E);
      }
      take_axial_momentum(b);
      b.reflected = joints.inertia[next];
      b.coupling = joints.coupling[next];
      chain_of[next] = number, index_in[next] = static_cast<int>(chain.bodies.size());
      chain.bodies.push_back(b);
      next = next_in_chain[next];
    }
    chains.push_back(std::move(chain));
    return next;
  }
  /// @param E  from the model's axes of the body before to its axes here
  void add_rotor(AsymmetricRotor rotor, const Mat3<double>& E) {
    const Mat3<double> back = E.transposed();
    rotor.cosine = congruence(back, rotor.cosine), rotor.sine = congruence(back, rotor.sine);
    chain_of[rotor.body] = carried;
    asymmetric.push_back(rotor);
  }
  static void take_axial_momentum(ChainBody& b) {
    const Vec3<double> axis{0.0, -b.sin_alpha, b.cos_alpha}, all = b.momentum;
    b.axial = dot(axis, all);
    b.momentum -= scale(b.axial, axis);
    if (dot(b.momentum, b.momentum) <= 1e-28 * dot(all, all)) b.momentum = {0, 0, 0};
  }
  /// Turns the frame of the last body about z, which moves the zero of its angle.
  static void turn_frame(Chain& chain, const Transform<double>& turn) {
    ChainBody& b = chain.bodies.back();
    const double c = turn.E.row[0].x, s = turn.E.row[0].y;
    b.F = turn * b.F;
    const double cos_theta = b.cos_theta * c - b.sin_theta * s;
    b.sin_theta = rounded(b.sin_theta * c + b.cos_theta * s);
    b.cos_theta = rounded(cos_theta);
  }
  /// Right angles and zeros, freed of rounding.
  static double rounded(double x) {
    if (std::fabs(x) < tiny) return 0.0;
    if (std::fabs(x - 1.0) < tiny) return 1.0;
    if (std::fabs(x + 1.0) < tiny) return -1.0;
    return x;
  }
};

}  // namespace espalier
