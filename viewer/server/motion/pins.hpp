#pragma once

#include <string>
#include <vector>

#include "espalier/kernel/model/layout.hpp"

namespace espalier::viewer {

/// One end of a bar, on a link.
struct BarEnd {
  std::string link;
  Vec3<double> at{0, 0, 0};  ///< link axes [m]
};

/// What ties two links and is no joint of the tree: a joint that closes a loop, or the pin that an
/// equation of a linkage stands for.
struct Tie {
  std::string name, type;
  std::vector<BarEnd> ends;  ///< two, or the one that is known
};

/// Loops of the file, then pins of the laws of four-bars and slider-cranks.
std::vector<Tie> ties_of(const Description& description);

/// The description with pins in the places of the laws that stand for them: what its joints
/// transmit is what bearings bear. The laws' positions and zeros stay those of the joints.
Description with_pins(const Description& description);

}  // namespace espalier::viewer
