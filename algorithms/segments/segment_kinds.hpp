#pragma once

#include <vector>

#include "espalier/kernel/model/layout.hpp"

/// Kinds of segments: what a pass treats as one. Indices and constants, no state.

namespace espalier {

/// The floating body that the whole robot hangs on. Its axes stand for the world's.
struct FloatingBase {
  int body;
};
/// Bodies begin <= k < end of a run, on joints of one type that nothing ties.
struct PlainRun {
  const BodyRun* run;
  int begin, end;
  int shift;  ///< from spanning to independent rates

  int body(int k) const { return run->first + k; }
};
/// Serial chains of revolute joints, one in each lane of a pack, or a lone one. A joint may drive a
/// rotor that is no segment, symmetric about its axis or not.
struct ChainGroup {
  int group;
};
/// A body of one rate that drives rotors on its parent.
struct GearedBody {
  const Cluster* cluster;
  PlainRun joint;         ///< one body
  Vec3<double> momentum;  ///< of the rotors for unit rate, parent's frame
  double inertia;         ///< of the rotors, and the armature
};
/// A cluster with one supporting body.
struct ClusterOnOne {
  const Cluster* cluster;
  std::vector<PlainRun> bodies;
  int workspace;    ///< start of nv (nv + 1) numbers
  bool by_columns;  ///< body_columns.hpp takes fewer operations than rate by rate
};
/// A cluster with one supporting body and so many independent rates that it is passed without G.
struct ClusterByFronts {
  const Cluster* cluster;
  std::vector<PlainRun> bodies;
  int index;  ///< among clusters of this kind
};
/// A cluster with several supporting bodies, or supporting such a one, or with a joint that
/// supplies dynamics of its own. The most general kind: any body is one.
struct ClusterOnSeveral {
  const Cluster* cluster;
  std::vector<PlainRun> bodies;
  int index;  ///< among clusters of this kind
};

}  // namespace espalier
