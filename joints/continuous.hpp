#pragma once

#include "joints/revolute.hpp"

namespace espalier {

/// Rotation about the axis without end stops: a revolute joint whose angle counts its turns, so
/// that positions are not wrapped and couplings with other joints hold over many turns.
struct Continuous : Revolute {
  using Revolute::Revolute;
};

}  // namespace espalier
