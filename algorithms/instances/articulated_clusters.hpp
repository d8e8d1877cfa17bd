#pragma once

#include "algorithms/instances/articulated.hpp"
#include "algorithms/segments/clusters/cluster_by_fronts.hpp"
#include "algorithms/segments/clusters/cluster_on_one.hpp"
#include "algorithms/segments/clusters/cluster_on_several.hpp"

/// Instances of the articulated-body algorithm's three passes over clusters.

namespace espalier {

#define ESPALIER_THREE_PASSES(INSTANCE, T, Segment)                    \
  INSTANCE void forward_velocities(const Segment&, ClusterState<T>&);  \
  INSTANCE void eliminate(const Segment&, ClusterState<T>&, const T*); \
  INSTANCE void forward_accelerations(const Segment&, ClusterState<T>&, T*);
#define ESPALIER_PASSES(INSTANCE, T)                  \
  ESPALIER_THREE_PASSES(INSTANCE, T, ClusterOnOne)    \
  ESPALIER_THREE_PASSES(INSTANCE, T, ClusterByFronts) \
  ESPALIER_THREE_PASSES(INSTANCE, T, ClusterOnSeveral)
ESPALIER_INSTANCES(ESPALIER_PASSES)
#undef ESPALIER_PASSES
#undef ESPALIER_THREE_PASSES

}  // namespace espalier
