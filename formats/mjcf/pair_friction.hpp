#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "espalier/kernel/model/description.hpp"
#include "formats/mjcf/elements.hpp"

namespace espalier::mjcf {

/// Coefficient of sliding friction, and lengths of torsional and rolling friction [m].
using Friction = std::array<double, 3>;

/// What a geom says of its contacts.
struct TouchingGeom {
  std::string name;  ///< may be empty
  std::string link;
  int body = 0;
  unsigned type = 1, affinity = 1;
  int condim = 3, priority = 0;
  Friction friction{};
  SourceLocation where;
};
TouchingGeom touching_geom(const Element& e, const std::string& link, int body);

/// What messages call it.
std::string who(const TouchingGeom& g);
/// Whether MuJoCo lets them touch, by contype and conaffinity.
bool types_meet(const TouchingGeom& a, const TouchingGeom& b);
inline bool touches_any(const TouchingGeom& g) { return g.type != 0 || g.affinity != 0; }

/// Of two geoms that MuJoCo lets touch: the larger `condim` says how many of their larger numbers
/// count, unless one has the higher `priority`.
Friction dynamic_friction(const TouchingGeom& a, const TouchingGeom& b);
/// The same here, where each geom's own `condim` says which of its lengths count.
Friction friction_here(const TouchingGeom& a, const TouchingGeom& b);
/// Of an explicit <pair>, whose numbers are its own.
Friction explicit_friction(const Element& pair);

/// A warning that names the first of the pairs whose friction is another one in MuJoCo, and says
/// how many follow.
/// @param may_touch  of two geoms, beside what their types say
std::optional<Finding> other_friction(
    const std::vector<TouchingGeom>& geoms,
    const std::function<bool(const TouchingGeom&, const TouchingGeom&)>& may_touch);
/// The same of an explicit pair.
std::optional<Finding> other_friction(const Element& pair, const TouchingGeom& a,
                                      const TouchingGeom& b);

}  // namespace espalier::mjcf
