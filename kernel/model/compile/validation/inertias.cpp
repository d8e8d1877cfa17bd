#include <Eigen/Core>
#include <map>

#include "espalier/kernel/linear_algebra/decompositions.hpp"
#include "espalier/kernel/model/compile/validation/validate.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier::detail {

namespace {

/// @returns what is unlikely of it although it can be computed with; empty: nothing
std::string check_inertial(const LinkDescription& link, const CompileOptions& options,
                           Findings& findings) {
  const std::string who = "link '" + link.name + "'";
  const Inertial& in = *link.inertial;
  const Sym3<double>& I = in.I;
  if (!placed(in.origin)) {
    findings.error(link.where, who +
                                   ": centre of mass has a number that is not finite, or a length "
                                   "beyond 1e8, expected metres");
    return "";
  }
  if (!finite(in.mass) || !finite({I.xx, I.yy, I.zz}) || !finite({I.xy, I.xz, I.yz})) {
    findings.error(
        link.where,
        who + ": inertial has a number that is not finite or beyond 1e60, expected numbers");
    return "";
  }
  if (in.mass < 0.0) {
    findings.error(link.where, who + ": mass is " + text::number(in.mass) +
                                   " kg, expected a positive number (correct the file)");
    return "";
  }
  Eigen::Matrix3d M;
  M << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
  const Eigen::Vector3d e = eigenvalues_of_symmetric(M);
  const double largest = e.cwiseAbs().maxCoeff();
  // Rounded figures in files leave principal moments at zero or slightly below it: a millionth of
  // the largest one, or what a millionth of a metre of the mass's extent would be.
  const double rounding = 1e-6 * largest + 1e-12 * in.mass + 1e-18;
  if (e[0] < -rounding) {
    findings.doubt(options, link.where,
                   who + ": smallest principal moment of inertia is " + text::number(e[0]) +
                       " kg·m², expected a positive number (the inertia of no body; it is used as "
                       "written: check signs and units)");
  } else if (e[0] + e[1] < e[2] * (1.0 - 1e-3) - rounding) {
    return "principal moments of inertia are " + text::number(e[0]) + ", " + text::number(e[1]) +
           " and " + text::number(e[2]) + " kg·m², expected a smallest one of at least " +
           text::number(e[2] - e[1]) +
           ", what the others differ by (no rigid body has such an inertia; it is used as written: "
           "check signs, units and axes)";
  }
  if (in.mass == 0.0 && largest > 0.0) {
    return "mass is zero but inertia is not, expected both or neither (no body is like that; it "
           "is used as written: give it a mass)";
  }
  return "";
}

/// Links by what is unlikely of their inertia. Mass matrices stay positive definite with it.
using UnlikelyInertias = std::map<std::string, std::vector<const LinkDescription*>>;

/// One finding for links that are alike, as the legs of a robot, at the first of them.
void tell(const UnlikelyInertias& unlikely, const CompileOptions& options, Findings& findings) {
  for (const auto& [what, links] : unlikely) {
    std::string others;
    for (const LinkDescription* link : links) {
      if (link == links.front()) continue;
      others += (others.empty() ? "; so are '" : ", '") + link->name + "'";
      const std::string place = link->where.text();
      if (!place.empty() && place != links.front()->where.text()) others += " (" + place + ")";
    }
    findings.add({options.strict ? Finding::Severity::error : Finding::Severity::warning,
                  "link '" + links.front()->name + "': " + what + others,
                  links.front()->where.text(), true});
  }
}

}  // namespace

void check_inertias(const Description& robot, const CompileOptions& options, Findings& findings) {
  UnlikelyInertias unlikely;
  for (const LinkDescription& link : robot.links) {
    if (!link.inertial) continue;
    const std::string what = check_inertial(link, options, findings);
    if (!what.empty()) unlikely[what].push_back(&link);
  }
  tell(unlikely, options, findings);
}

}  // namespace espalier::detail
