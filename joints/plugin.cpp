#include <espalier/plugin.hpp>

#include "joints/continuous.hpp"
#include "joints/cylindrical.hpp"
#include "joints/fixed.hpp"
#include "joints/floating.hpp"
#include "joints/helical.hpp"
#include "joints/planar.hpp"
#include "joints/prismatic.hpp"
#include "joints/revolute.hpp"
#include "joints/spherical.hpp"
#include "joints/universal.hpp"

ESPALIER_PLUGIN("joints", "0.2.0") {
  using namespace espalier;
  const char* const table = "Featherstone (2008), Table 4.1";
  const char* const quaternions = "Featherstone (2008), Table 4.1 and section 4.5";
  registrar.joint<Revolute>(
      {.name = "revolute", .summary = "rotation about the axis", .source = table, .cost = "O(1)"});
  const std::shared_ptr<const JointType> revolute = registrar.entries().back()->joint;
  registrar
      .add(Kind::joint, {.name = "continuous",
                         .summary = "rotation about the axis without end stops",
                         .source = table,
                         .cost = "O(1)"})
      .joint = continuous(revolute);
  registrar.joint<Prismatic>({.name = "prismatic",
                              .summary = "translation along the axis",
                              .source = table,
                              .cost = "O(1)"});
  registrar.joint<Helical>(
      {.name = "helical",
       .summary = "screw: rotation about the axis that advances by pitch [m/rad] along it",
       .source = table,
       .cost = "O(1)"});
  registrar.joint<Cylindrical>({.name = "cylindrical",
                                .summary = "rotation about and translation along the axis",
                                .source = table,
                                .cost = "O(1)"});
  registrar.joint<Universal>(
      {.name = "universal",
       .summary = "rotation about axis, then about axis2 (default: perpendicular)",
       .source = "two revolute joints, Featherstone (2008), section 4.4",
       .cost = "O(1)"});
  registrar.joint<Planar>(
      {.name = "planar",
       .summary =
           "motion perpendicular to the axis: q = [x y theta], v = [omega vx vy] of the body",
       .source = table,
       .cost = "O(1)"});
  registrar.joint<Spherical>(
      {.name = "spherical",
       .summary = "rotation about a point: q = quaternion x y z w, v in the body frame",
       .source = quaternions,
       .cost = "O(1)"});
  registrar.joint<Floating>(
      {.name = "floating",
       .summary = "free motion: q = [x y z qx qy qz qw], v = [omega; v] in the body frame",
       .source = quaternions,
       .cost = "O(1)"});
  registrar.joint<Fixed>(
      {.name = "fixed", .summary = "weld: no motion", .source = "trivial", .cost = "O(1)"});
}
