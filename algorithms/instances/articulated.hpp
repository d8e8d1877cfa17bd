#pragma once

#include "algorithms/instances/passes.hpp"
#include "algorithms/segments/articulated/chain_group.hpp"
#include "algorithms/segments/articulated/floating_base.hpp"
#include "algorithms/segments/articulated/geared_body.hpp"

/// Instances of the articulated-body algorithm's three passes over chains, runs of bodies, the
/// floating base and geared bodies.

namespace espalier {

#define ESPALIER_THREE_PASSES(INSTANCE, T, Segment, State)      \
  INSTANCE void forward_velocities(const Segment&, State<T>&);  \
  INSTANCE void eliminate(const Segment&, State<T>&, const T*); \
  INSTANCE void forward_accelerations(const Segment&, State<T>&, T*);
#define ESPALIER_PASSES(INSTANCE, T)                                                \
  INSTANCE void take_parents_motion(const ChainGroup&, ArticulatedState<T>&);       \
  INSTANCE void show_motion(const ChainGroup&, ArticulatedState<T>&);               \
  INSTANCE void take_inertias(const ChainGroup&, ArticulatedState<T>&);             \
  INSTANCE void propagate_to_parents(const ChainGroup&, ArticulatedState<T>&);      \
  INSTANCE void take_parents_acceleration(const ChainGroup&, ArticulatedState<T>&); \
  INSTANCE void show_acceleration(const ChainGroup&, ArticulatedState<T>&);         \
  ESPALIER_THREE_PASSES(INSTANCE, T, ChainGroup, ArticulatedState)                  \
  ESPALIER_THREE_PASSES(INSTANCE, T, PlainRun, ArticulatedState)                    \
  ESPALIER_THREE_PASSES(INSTANCE, T, FloatingBase, ArticulatedState)                \
  ESPALIER_THREE_PASSES(INSTANCE, T, GearedBody, ClusterState)
ESPALIER_INSTANCES(ESPALIER_PASSES)
#undef ESPALIER_PASSES
#undef ESPALIER_THREE_PASSES

}  // namespace espalier
