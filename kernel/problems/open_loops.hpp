#pragma once

#include "espalier/kernel/export.hpp"

namespace espalier {

/// While one lives, debug builds do not expect closed loops of its thread's calls: the stages of an
/// integrator lie off the loops, which are closed at the end of a step.
class ESPALIER_API OpenLoops {
 public:
  OpenLoops();
  ~OpenLoops();
  OpenLoops(const OpenLoops&) = delete;
  OpenLoops& operator=(const OpenLoops&) = delete;
};

}  // namespace espalier
