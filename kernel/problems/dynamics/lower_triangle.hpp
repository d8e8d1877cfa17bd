#pragma once

#include "espalier/kernel/export.hpp"

namespace espalier {

/// What an algorithm of a MassMatrix has besides if it can leave out what a factorisation does not
/// read: of packs these are most of the stores, to more memory than the nearest cache has.
class ESPALIER_API LowerTriangle {
 public:
  virtual ~LowerTriangle();

  /// From now on evaluate() writes the lower triangle alone, and there may not touch entries that
  /// are zero at every position: zero M once before the first call.
  virtual void write_lower_triangle_alone() = 0;
};

}  // namespace espalier
