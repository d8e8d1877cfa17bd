#include "espalier/kernel/model/recognise.hpp"

#include <cmath>

namespace espalier::detail {

namespace {

std::string count(int n, const char* one, const char* several) {
  return std::to_string(n) + " " + (n == 1 ? one : several);
}

/// Bars of a single planar loop, the output body among them.
std::string loops_text(const ClusterConstraint& constraint) {
  if (!constraint.planar) {
    return constraint.loops.size() == 1 ? "spatial loop" : "spatial loops";
  }
  if (constraint.loops.size() > 1) return "planar linkage of parallel revolute joints";
  const int bars = static_cast<int>(constraint.loops[0].path.size()) + 1;
  return (bars == 4 ? "planar four-bar" : "planar " + std::to_string(bars) + "-bar") +
         std::string(" of parallel revolute joints");
}

}  // namespace

std::string recognise(const Model& /*model*/, const Cluster& c) {
  std::string text;
  if (c.constraint == nullptr) {
    text = c.rows() == 2 && c.nv == 1 ? "gear (one constant ratio"
                                      : "gear train, belt or differential (constant ratios";
    text += ": G does not depend on the position)";
  } else {
    if (!c.constraint->loops.empty()) text = loops_text(*c.constraint);
    if (!c.constraint->laws.empty()) text += (text.empty() ? "" : " and ") + std::string("laws");
    if (!c.constraint->linear.empty()) text += " and constant ratios";
    const int loops = static_cast<int>(c.constraint->loops.size());
    const int laws = static_cast<int>(c.constraint->laws.size());
    text += "; " + count(c.constraint->rows(), "independent row", "independent rows") + " of K from " +
            count(loops, "loop", "loops") + " and " + count(laws, "law", "laws");
  }
  if (c.rotors > 0) {
    text += "; " + count(c.rotors, "axisymmetric rotor is", "axisymmetric rotors are") +
            " folded into " + (c.rotors == 1 ? "its carrier" : "their carriers");
  }
  return text;
}

}  // namespace espalier::detail
