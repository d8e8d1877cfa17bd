#include "espalier/plugins/plugin.hpp"
#include "algorithms/kinematics/kinematics.hpp"
#include "algorithms/kinematics/link_jacobians.hpp"

ESPALIER_PLUGIN("kinematics", "0.2.0") {
  using namespace espalier;
  const Capabilities all{
      .couplings = true, .loops = true, .several_supports = true, .joint_supplied_dynamics = true};
  registrar.algorithm<ForwardKinematics>(
      {.name = "forward-kinematics",
       .summary = "placement, twist and spatial acceleration of every link",
       .source = "Featherstone (2008), section 5.3",
       .cost = "O(n)"},
      all);
  registrar.algorithm<LinkJacobians>({.name = "body-jacobians",
                                      .summary = "6 x nv Jacobian of every link, link frame",
                                      .source = "Featherstone (2008), chapter 3",
                                      .cost = "O(d) per link of depth d"},
                                     all);
  registrar.algorithm<MassCenter>(
      {.name = "center-of-mass",
       .summary = "centre of mass of all that moves, its velocity and acceleration, world axes",
       .source = "Orin, Goswami, Lee (2013)",
       .cost = "O(n)"},
      all);
  registrar.algorithm<MechanicalEnergy>(
      {.name = "energy",
       .summary = "kinetic energy and potential energy of gravity",
       .source = "Featherstone (2008), section 2.13",
       .cost = "O(n)"},
      all);
}
