#include "espalier/kernel/model/compile/clusters/recognise.hpp"

#include <algorithm>

namespace espalier::detail {

namespace {

std::string count(int n, const char* one, const char* several) {
  return std::to_string(n) + " " + (n == 1 ? one : several);
}

/// Bars of a single planar loop, the supporting body among them.
std::string loops_text(const ClusterConstraint& constraint) {
  if (!constraint.planar) {
    return constraint.loops.size() == 1 ? "spatial loop" : "spatial loops";
  }
  if (constraint.loops.size() > 1) return "planar linkage of parallel revolute joints";
  const int bars = static_cast<int>(constraint.loops[0].path.size()) + 1;
  return (bars == 4 ? "planar four-bar" : "planar " + std::to_string(bars) + "-bar") +
         std::string(" of parallel revolute joints");
}

/// What constant ratios make of the dependent rates.
std::string ratios_text(const Model& model, const Cluster& c) {
  int followed = 0;  // most independent rates that one dependent rate is made of
  for (int row = 0; row < c.rows(); ++row) {
    const auto begin = c.G.begin() + static_cast<std::ptrdiff_t>(row) * c.nv;
    const auto zeros = std::count(begin, begin + c.nv, 0.0);
    followed = std::max(followed, c.nv - static_cast<int>(zeros));
  }
  if (followed <= 1)
    return c.rows() == 2 ? "gear (one constant ratio" : "gear train (constant ratios";
  // Sums of rates: of links in series, as over the pulleys of a belt, or of links side by side.
  const auto body = [&](int j) {
    return model.joint_of_rate(model.independent_rates()[c.v + j]).body;
  };
  bool in_series = true;
  for (int j = 1; j < c.nv; ++j) {
    int b = body(j);
    while (b > body(j - 1)) b = model.body(b).parent;
    in_series = in_series && b == body(j - 1);
  }
  return in_series ? "belt transmission (constant sums of the rates of links in series"
                   : "differential (constant sums of rates";
}

}  // namespace

std::string recognise(const Model& model, const Cluster& c) {
  std::string text;
  if (c.constraint == nullptr) {
    text = ratios_text(model, c) + ": G does not depend on the position)";
  } else {
    if (!c.constraint->loops.empty()) text = loops_text(*c.constraint);
    if (!c.constraint->laws.empty()) text += (text.empty() ? "" : " and ") + std::string("laws");
    if (!c.constraint->linear.empty()) text += " and constant ratios";
    const int loops = static_cast<int>(c.constraint->loops.size());
    const int laws = static_cast<int>(c.constraint->laws.size());
    text += "; " + count(c.constraint->rows(), "independent row", "independent rows") +
            " of K from " + count(loops, "loop", "loops") + " and " + count(laws, "law", "laws");
  }
  if (c.rotors > 0) {
    text += "; " + count(c.rotors, "axisymmetric rotor is", "axisymmetric rotors are") +
            " folded into " + (c.rotors == 1 ? "its parent" : "their parents");
  }
  return text;
}

}  // namespace espalier::detail
