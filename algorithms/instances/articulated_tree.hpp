#pragma once

#include "algorithms/instances/instance.hpp"
#include "algorithms/segments/articulated_tree/articulated_tree.hpp"
#include "algorithms/task_bias.hpp"

/// Instances of the passes of an articulated tree and its layout, and of what a task's rows
/// accelerate by.

namespace espalier {

#define ESPALIER_PASSES(INSTANCE, T)                                                             \
  ESPALIER_INSTANCE ArticulatedTree<T>::ArticulatedTree(const Model&, const LinkTree*,           \
                                                        std::span<const int>, const ChainPlan*); \
  INSTANCE void place(int, TreeState<T>&);                                                       \
  INSTANCE void place(const RevoluteRow&, TreeState<T>&);                                        \
  INSTANCE void eliminate(const RevoluteRow&, TreeState<T>&);                                    \
  INSTANCE void eliminate(const RevoluteBody&, TreeState<T>&);                                   \
  INSTANCE void eliminate(const PrismaticBody&, TreeState<T>&);                                  \
  INSTANCE void eliminate(const FreeBody&, TreeState<T>&);                                       \
  INSTANCE void eliminate(const JointBody&, TreeState<T>&);                                      \
  INSTANCE void eliminate(const TiedBodies&, TreeState<T>&);                                     \
  INSTANCE void eliminate(const TiedOnSeveral&, TreeState<T>&);                                  \
  INSTANCE void fill(const TreeNode&, const T*, TreeState<T>&, MultiSupportCluster<T>&);         \
  INSTANCE void TaskBias<T>::compute(const T*, const T*, T*);
ESPALIER_INSTANCES(ESPALIER_PASSES)
#undef ESPALIER_PASSES

}  // namespace espalier
