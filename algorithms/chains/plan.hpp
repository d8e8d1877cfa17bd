#pragma once

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
  static ChainJoints of(const Model& model);

  /// Adds joints that drive a rotor whose inertia is not the same all around its axis.
  void add_asymmetric_rotors(const Model& model);

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
  void add_rotor(const Model& model, const Cluster& c, int r, int joint);
  /// A rotor on the parent that the second body drives counts as one on the first body: about the
  /// same axis, its rate differs by the first body's, which changes the coupling alone.
  void add_rotor_of_pair(const Model& model, const Cluster& c, int r);
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

  ChainPlan(const Model& model, const ChainJoints& joints, Branches branches = Branches::longest);
  /// @param bodies  per body, from the ground on: its inertia, in the model's frame
  ChainPlan(const Model& model, const ChainJoints& joints, Branches branches,
            const std::vector<RigidInertia<double>>& bodies);

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
  void regroup(const Model& model, const std::vector<RigidInertia<double>>& bodies);
  int passed(int body) const { return level[body] + (chain_of[body] >= 0 ? 1 : 0); }

  /// Adds a chain from body `first` on. @returns  the body that starts the next one, or 0
  int add(const Model& model, int first, const std::vector<int>& next_in_chain,
          const ChainJoints& joints, const std::vector<const AsymmetricRotor*>& rotor_of);
  /// @param E  from the model's axes of the body before to its axes here
  void add_rotor(AsymmetricRotor rotor, const Mat3<double>& E);
};

}  // namespace espalier
