#pragma once

#include <memory>

#include "espalier/kernel/problems/quadratic_program.hpp"

namespace espalier {

/// Quadratic programs by ALGLIB's interior-point method with dense Cholesky factors.
///
/// ALGLIB's free edition is under the GPL, version 2 or later: this wrapper is a plugin of its own,
/// so that Espalier without it is free of that licence.
/// Cost: O(n^3 + rows n^2) in each of at most some 200 iterations, usually 15 to 25. Allocates.
/// Source: Vanderbei (1999), LOQO: an interior point code for quadratic programming.
class AlglibSolver final : public QuadraticProgramSolver {
 public:
  AlglibSolver();
  ~AlglibSolver() override;

 private:
  struct State;  // ALGLIB's types are known to one file only

  void compute(const QuadraticProgram& program, Solution& solution) override;
  /// @returns whether it is solved
  bool run(const QuadraticProgram& program, Solution& solution);

  std::unique_ptr<State> state_;
};

}  // namespace espalier
