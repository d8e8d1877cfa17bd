#pragma once

#include "espalier/kernel/export.hpp"

namespace espalier {

/// What an algorithm of a MassMatrix has besides if it can leave out what a factorisation does not
/// read: of packs these are most of the stores, to more memory than the nearest cache has.
class ESPALIER_API LowerTriangle {
 public:
  virtual ~LowerTriangle();

  /// From now on evaluate() writes the lower triangle, and may leave there, too, what is zero at
  /// every position: who reads that has zeroed M once.
  virtual void write_lower_triangle_alone() = 0;
};

}  // namespace espalier
