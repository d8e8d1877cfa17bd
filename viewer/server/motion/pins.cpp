#include "viewer/server/motion/pins.hpp"

#include <algorithm>
#include <array>

namespace espalier::viewer {

namespace {

/// Where laws of linkages pin bodies together: the joints whose bars meet, and the parameters of
/// their lengths along x of their links; none: at the link's origin.
struct Pin {
  const char* law;
  int joints[2];
  const char* lengths[2];
};
constexpr std::array pins{Pin{"four_bar", {1, 2}, {"rocker", "coupler"}},
                          Pin{"slider_crank", {1, 2}, {nullptr, "rod"}}};

std::vector<BarEnd> ends_of(const Description& description, const LawDescription& law) {
  const auto pin =
      std::find_if(pins.begin(), pins.end(), [&](const Pin& p) { return law.type == p.law; });
  std::vector<BarEnd> out;
  if (pin == pins.end()) return out;
  for (int k = 0; k < 2; ++k) {
    if (law.joints.size() <= static_cast<std::size_t>(pin->joints[k])) return {};
    const auto joint = std::find_if(
        description.joints.begin(), description.joints.end(),
        [&](const JointDescription& j) { return j.name == law.joints[pin->joints[k]]; });
    if (joint == description.joints.end()) return {};
    BarEnd end{joint->child, {0, 0, 0}};
    if (pin->lengths[k] != nullptr) {
      const auto length = law.parameters.find(pin->lengths[k]);
      if (length == law.parameters.end() || length->second.empty()) return {};
      end.at.x = length->second.front();
    }
    out.push_back(std::move(end));
  }
  return out;
}

}  // namespace

std::vector<Tie> ties_of(const Description& description) {
  std::vector<Tie> out;
  for (const LoopDescription& loop : description.loops) {
    out.push_back({loop.name,
                   loop.type,
                   {{loop.predecessor, loop.predecessor_origin.xyz},
                    {loop.successor, loop.successor_origin.xyz}}});
  }
  for (const LawDescription& law : description.laws) {
    std::vector<BarEnd> ends = ends_of(description, law);
    if (!ends.empty()) out.push_back({law.name, law.type, std::move(ends)});
  }
  return out;
}

Description with_pins(const Description& description) {
  Description out = description;
  std::erase_if(out.laws, [&](const LawDescription& law) {
    const std::vector<BarEnd> ends = ends_of(description, law);
    if (ends.size() != 2) return false;
    LoopDescription pin;
    pin.name = law.name, pin.type = "revolute", pin.where = law.where;
    pin.predecessor = ends[0].link, pin.predecessor_origin.xyz = ends[0].at;
    pin.successor = ends[1].link, pin.successor_origin.xyz = ends[1].at;
    pin.axis = {0, 0, 1};
    out.loops.push_back(std::move(pin));
    return true;
  });
  return out;
}

}  // namespace espalier::viewer
