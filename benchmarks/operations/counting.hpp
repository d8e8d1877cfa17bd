#pragma once

#include <map>
#include <string>
#include <vector>

#include "benchmarks/operations/mechanisms.hpp"
#include "espalier/espalier.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/scalar/count.hpp"

namespace espalier::bench {

/// Operations of one algorithm on one mechanism.
struct Counted {
  OperationCounts folded;  ///< without what is known before: zeros, ones, products of parameters
  OperationCounts all;     ///< with it

  /// Additions, multiplications, divisions, square roots, sines and cosines, one each.
  static std::int64_t total(const OperationCounts& counts);
};

/// What was counted on a mechanism.
struct Tally {
  std::string name;
  int bodies = 0, nv = 0, rows = 0;
  std::map<std::string, Counted> algorithms;

  /// Total of an algorithm.
  double total(const std::string& algorithm, bool folded) const;
};

/// Counts at two random states by every algorithm of problem inverse-osim that is asked for.
/// @throws std::runtime_error where counts depend on the state, or results differ by more than
///         1e-9 of the largest entry
Tally count(const Host& host, const Mechanism& mechanism,
            const std::vector<std::string>& algorithms);

/// Share of zeros [%] that branches make in the joint-space inertia matrix, and of entries in
/// columns of zeros in the Jacobian of the end-effectors' links.
struct Sparsity {
  int bodies = 0, nv = 0;
  double inertia = 0.0, jacobian = 0.0;
};
Sparsity sparsity(const Host& host, const Mechanism& mechanism);

/// Least squares: y as a sum of columns times coefficients.
struct Fit {
  std::vector<double> coefficients;
  double largest = 0.0;  ///< deviation of a point [% of its y]
};
/// @param columns  of as many points each as y
Fit fit(const std::vector<std::vector<double>>& columns, const std::vector<double>& y);

}  // namespace espalier::bench
