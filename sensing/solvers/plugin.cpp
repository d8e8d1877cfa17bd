#include "espalier/plugins/plugin.hpp"
#include "sensing/solvers/dense_sensors.hpp"
#include "sensing/solvers/instances.hpp"
#include "sensing/solvers/map.hpp"
#include "sensing/solvers/sparse_lu.hpp"

ESPALIER_PLUGIN("sensor-dynamics", "0.2.0") {
  using namespace espalier;
  const Capabilities loops{
      .couplings = true, .loops = true, .several_supports = true, .joint_supplied_dynamics = true};
  registrar.algorithm_at_double<SparseLu>(
      {.name = "sparse-lu",
       .summary = "as many sensors as unknowns: sparse LU in an order of pivots settled off-line",
       .source = "Nori (2017), section VI; theory/sparse 6",
       .cost = "O(n)"},
      loops);
  registrar.algorithm_at_double<MaximumAPosteriori>(
      {.name = "map",
       .summary = "redundant sensors: least squares weighted with covariance, with variances",
       .source = "Nori (2017), section VI; Björck (1996), section 2.6",
       .cost = "O(n), variances O(n^2)"},
      loops);
#ifdef ESPALIER_UMFPACK
  registrar.algorithm_at_double<Umfpack>(
      {.name = "umfpack",
       .summary = "sparse LU that pivots anew at each position, by SuiteSparse; allocates",
       .source = "Davis (2004)",
       .cost = "O(n)"},
      loops);
#endif
  registrar.algorithm_at_double<EigenSparseLu>(
      {.name = "eigen-sparse-lu",
       .summary = "sparse LU that pivots anew at each position, by Eigen; allocates",
       .source = "Li, Demmel (2011), SuperLU",
       .cost = "O(n)"},
      loops);
  registrar.algorithm_at_double<DenseSensors>(
      {.name = "dense",
       .summary = "oracle: null space and orthogonal least squares; allocates",
       .source = "Björck (1996), section 5.1",
       .cost = "O(n^3)"},
      loops);
  registrar.algorithm_at_double<SparseForward>(
      {.name = "sparse-forward",
       .summary = "dynamics as one sparse system, torques known",
       .source = "Nori (2017), section V; theory/sparse 6",
       .cost = "O(n)"},
      loops);
  registrar.algorithm_at_double<SparseInverse>(
      {.name = "sparse-inverse",
       .summary = "dynamics as one sparse system, accelerations known: triangular on trees",
       .source = "Nori (2017), section IV; theory/sparse 6",
       .cost = "O(n)"},
      loops);
  registrar.algorithm_at_double<SparseHybrid>(
      {.name = "sparse-hybrid",
       .summary = "dynamics as one sparse system, accelerations of some joints known, else torques",
       .source = "Featherstone (2008), section 9.2; theory/sparse 6",
       .cost = "O(n)"},
      loops);
  registrar.algorithm_at_double<DenseHybrid>(
      {.name = "dense",
       .summary = "oracle: explicit mass matrix, sorted; allocates",
       .source = "Featherstone (2008), section 9.1",
       .cost = "O(n^3)"},
      loops);
}
