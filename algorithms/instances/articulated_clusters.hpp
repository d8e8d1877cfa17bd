#pragma once

#include "algorithms/instances/articulated.hpp"
#include "algorithms/segments/clusters/cluster_by_fronts.hpp"
#include "algorithms/segments/clusters/cluster_on_one.hpp"
#include "algorithms/segments/clusters/cluster_on_several.hpp"

/// Instances of the articulated-body algorithm's three passes over clusters.

namespace espalier {

#define ESPALIER_THREE_PASSES(T, Segment)                                       \
  ESPALIER_INSTANCE void forward_velocities(const Segment&, ClusterState<T>&);  \
  ESPALIER_INSTANCE void eliminate(const Segment&, ClusterState<T>&, const T*); \
  ESPALIER_INSTANCE void forward_accelerations(const Segment&, ClusterState<T>&, T*);
#define ESPALIER_PASSES(T)                  \
  ESPALIER_THREE_PASSES(T, ClusterOnOne)    \
  ESPALIER_THREE_PASSES(T, ClusterByFronts) \
  ESPALIER_THREE_PASSES(T, ClusterOnSeveral)
ESPALIER_SCALARS(ESPALIER_PASSES)
#undef ESPALIER_PASSES
#undef ESPALIER_THREE_PASSES

}  // namespace espalier
