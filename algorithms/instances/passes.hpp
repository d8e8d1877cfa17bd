#pragma once

#include "algorithms/chains/sweeps.hpp"
#include "algorithms/instances/instance.hpp"
#include "algorithms/segments/composite/composite_cluster.hpp"
#include "algorithms/segments/composite/composite_run.hpp"
#include "algorithms/segments/newton_euler/newton_euler_run.hpp"

/// Instances of passes over serial chains, runs of bodies and clusters.

namespace espalier {

#define ESPALIER_PASSES(INSTANCE, T)                                             \
  INSTANCE void forward_motion(const PlainRun&, NewtonEulerState<T>&, const T*); \
  INSTANCE void collect_forces(const PlainRun&, NewtonEulerState<T>&, T*);       \
  INSTANCE void place(const PlainRun&, CompositeState<T>&);                      \
  INSTANCE void collect(const PlainRun&, CompositeState<T>&, T*);                \
  INSTANCE void place_cluster(const Cluster&, CompositeState<T>&);               \
  INSTANCE void collect_cluster(const Cluster&, CompositeState<T>&, T*);
#define ESPALIER_CHAINS(INSTANCE, T, Unit)                                                      \
  INSTANCE void ChainSweeps<T>::backward_force_pass(Unit&, T*);                                 \
  INSTANCE void ChainSweeps<T>::forward_pass<true>(Unit&, const T*, const T*);                  \
  INSTANCE void ChainSweeps<T>::forward_pass<false>(Unit&, const T*, const T*);                 \
  INSTANCE void ChainSweeps<T>::show_motion(const Unit::Body&, BodyMotion<Unit::S>);            \
  INSTANCE void ChainSweeps<T>::backward_pass(Unit&, const T*);                                 \
  INSTANCE void eliminate_joint_on_ground(Unit&, Unit::S, Unit::S);                             \
  INSTANCE void ChainSweeps<T>::add_boundaries(const Unit::Body&, ArticulatedInertia<Unit::S>&, \
                                               Force<Unit::S>&);                                \
  INSTANCE void ChainSweeps<T>::add_boundaries(const Unit::Body&, Force<Unit::S>&);             \
  INSTANCE void ChainSweeps<T>::propagate_to_parents(const Unit&, ArticulatedInertia<Unit::S>,  \
                                                     Force<Unit::S>);                           \
  INSTANCE void ChainSweeps<T>::accelerate(Unit&, T*);                                          \
  INSTANCE void ChainSweeps<T>::show_acceleration(const Unit::Body&, Motion<Unit::S>);
#define ESPALIER_UNITS(INSTANCE, T)                                                              \
  ESPALIER_INSTANCE ChainUnits<T>::ChainUnits(const Model&, ChainPlan, const std::vector<int>&); \
  ESPALIER_CHAINS(INSTANCE, T, ChainUnits<T>::Single)                                            \
  INSTANCE void ChainUnits<T>::turn(const T*, const JointTurns<T>*);
ESPALIER_INSTANCES(ESPALIER_PASSES)
ESPALIER_CHAINS(ESPALIER_SINGLE, double, ChainUnits<double>::Side)
ESPALIER_INSTANCES(ESPALIER_UNITS)
#undef ESPALIER_PASSES
#undef ESPALIER_CHAINS
#undef ESPALIER_UNITS

}  // namespace espalier
