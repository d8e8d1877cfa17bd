#pragma once

#include <string>
#include <vector>

#include "espalier/espalier.hpp"

namespace espalier::bench {

/// Forward dynamics of a chain on the ground, torques and external wrenches measured.
struct ChainTimes {
  struct Solver {
    std::string name;
    double ns = 0.0;
  };
  int bodies = 0, unknowns = 0;
  double update_ns = 0.0, aba_ns = 0.0;  ///< of the matrix's entries; of the recursion
  std::vector<Solver> solvers;           ///< the fixed order first, dense last

  double fixed() const { return solvers.front().ns; }
  /// Of the other sparse ones.
  double fastest_other() const;
};
/// @param seconds  for all together
/// @throws std::runtime_error where one differs from a dense solution by more than 1e-9
ChainTimes measure_chain(const Host& host, int bodies, double seconds);

/// Whole calls of evaluate() for JVRC-1 on two feet.
struct HumanoidTime {
  std::string algorithm, sensors;
  int equations = 0, unknowns = 0;
  double ns = 0.0;
};
std::vector<HumanoidTime> measure_humanoid(const Host& host, double seconds);

}  // namespace espalier::bench
