#pragma once

#include "algorithms/chains/sweeps.hpp"
#include "algorithms/instances/instance.hpp"
#include "algorithms/segments/composite/composite_cluster.hpp"
#include "algorithms/segments/composite/composite_run.hpp"
#include "algorithms/segments/newton_euler/newton_euler_run.hpp"

/// Instances of passes over serial chains, runs of bodies and clusters.

namespace espalier {

#define ESPALIER_CHAINS(T, Unit)                                                         \
  ESPALIER_INSTANCE void ChainSweeps<T>::forward_pass<false>(Unit&, const T*, const T*); \
  ESPALIER_INSTANCE void ChainSweeps<T>::forward_pass<true>(Unit&, const T*, const T*);  \
  ESPALIER_INSTANCE void ChainSweeps<T>::backward_pass(Unit&, const T*);                 \
  ESPALIER_INSTANCE void ChainSweeps<T>::accelerate(Unit&, T*);                          \
  ESPALIER_INSTANCE void ChainSweeps<T>::backward_force_pass(Unit&, T*);
#define ESPALIER_PASSES(T)                                                                       \
  ESPALIER_INSTANCE ChainUnits<T>::ChainUnits(const Model&, ChainPlan, const std::vector<int>&); \
  ESPALIER_CHAINS(T, ChainUnits<T>::Single)                                                      \
  ESPALIER_INSTANCE void forward_motion(const PlainRun&, NewtonEulerState<T>&, const T*);        \
  ESPALIER_INSTANCE void collect_forces(const PlainRun&, NewtonEulerState<T>&, T*);              \
  ESPALIER_INSTANCE void place(const PlainRun&, CompositeState<T>&);                             \
  ESPALIER_INSTANCE void collect(const PlainRun&, CompositeState<T>&, T*);                       \
  ESPALIER_INSTANCE void place_cluster(const Cluster&, CompositeState<T>&);                      \
  ESPALIER_INSTANCE void collect_cluster(const Cluster&, CompositeState<T>&, T*);
ESPALIER_SCALARS(ESPALIER_PASSES)
ESPALIER_CHAINS(double, ChainUnits<double>::Side)
#undef ESPALIER_PASSES
#undef ESPALIER_CHAINS

}  // namespace espalier
