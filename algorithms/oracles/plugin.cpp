#include "espalier/plugins/plugin.hpp"
#include "algorithms/oracles/dense.hpp"
#include "algorithms/oracles/dense_constrained_dynamics.hpp"
#include "algorithms/oracles/dense_input_matrix.hpp"
#include "algorithms/oracles/dense_operational_space.hpp"
#include "algorithms/oracles/dense_osim.hpp"
#include "algorithms/oracles/kkt.hpp"

// Dense linear algebra for every problem. One plugin has all of it, so that Eigen's decompositions
// are compiled once.
ESPALIER_PLUGIN("oracles", "0.2.0") {
  using namespace espalier;
  const Capabilities all{
      .couplings = true, .loops = true, .several_supports = true, .joint_supplied_dynamics = true};
  const auto dense = [](const char* summary, const char* source, const char* cost) {
    return About{.name = "dense", .summary = summary, .source = source, .cost = cost};
  };
  const char* by_jacobians = "oracle: explicit Jacobians; allocates";
  const char* by_a_solve = "oracle: explicit Jacobians and a dense solve; allocates";
  const char* featherstone = "Featherstone (2008), section 3.2";
  registrar.algorithm_at_double<DenseForwardDynamics>(dense(by_a_solve, featherstone, "O(n^3)"),
                                                      all);
  registrar.algorithm_at_double<Kkt>(
      {.name = "kkt",
       .summary = "oracle: all spanning rates and constraint forces at once; allocates",
       .source = "Featherstone (2008), sections 8.1 and 8.5",
       .cost = "O(n^3)"},
      all);
  registrar.algorithm_at_double<DenseInverseDynamics>(dense(by_jacobians, featherstone, "O(n^3)"),
                                                      all);
  registrar.algorithm_at_double<DenseBias>(dense(by_jacobians, featherstone, "O(n^3)"), all);
  registrar.algorithm_at_double<DenseMassMatrix>(
      dense("oracle: sum of J^T I J with explicit Jacobians; allocates", featherstone, "O(n^3)"),
      all);
  registrar.algorithm_at_double<DenseInverseOsim>(dense(by_a_solve, "Khatib (1987)", "O(n^3)"),
                                                  all);
  registrar.algorithm_at_double<DenseInputMatrix>(
      dense(by_a_solve, featherstone, "O(n^3 + nv^2 m)"), all);
  registrar.algorithm_at_double<DenseOperationalSpace>(
      dense("oracle: explicit matrices; allocates", "Khatib (1987)", "O(n^3 + m^3)"), all);
  registrar.algorithm_at_double<DenseConstrainedDynamics>(
      dense("oracle: explicit matrices and eigenvalues; allocates",
            "Featherstone (2008), section 8.5", "O(n^3 + m^3)"),
      all);
}
