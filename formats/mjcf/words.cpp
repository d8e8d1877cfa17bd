#include "formats/mjcf/words.hpp"

#include <string_view>

namespace espalier::mjcf {

namespace {

using formats::Words;
using formats::words_of;

/// Attributes of what has a pose.
Words placed(std::string_view others) {
  static constexpr std::string_view pose = "pos quat axisangle xyaxes zaxis euler ";
  Words all = words_of(pose);
  for (const std::string_view word : words_of(others)) all.push_back(word);
  return all;
}

formats::Grammar make_grammar() {
  const Words in_body = words_of(
      "inertial joint freejoint geom attach site camera light plugin composite flexcomp body "
      "frame replicate include");
  const Words tendon = words_of(
      "name class group limited actuatorfrclimited range actuatorfrcrange solreflimit solimplimit "
      "solreffriction solimpfriction frictionloss springlength width material rgba stiffness "
      "damping armature margin user");
  const Words actuator = words_of(
      "name class group ctrllimited forcelimited actlimited ctrlrange forcerange actrange "
      "lengthrange gear cranklength joint jointinparent tendon slidersite refsite cranksite site "
      "body user actdim dyntype gaintype biastype dynprm gainprm biasprm actearly kp kv dampratio "
      "timeconst inheritrange");
  return {
      {"mujoco", {{}, words_of("model")}},  // the reader tells of all unknown elements in it
      {"compiler",
       {words_of("lengthrange"),
        words_of("autolimits boundmass boundinertia settotalmass balanceinertia strippath "
                 "coordinate angle fitaabb eulerseq meshdir texturedir assetdir discardvisual "
                 "usethread fusestatic inertiafromgeom inertiagrouprange exactmeshinertia "
                 "alignfree saveinertial convexhull")}},
      {"option",
       {words_of("flag"),
        words_of("timestep apirate impratio gravity wind magnetic density viscosity o_margin "
                 "o_solref o_solimp o_friction integrator collision cone jacobian solver "
                 "iterations tolerance ls_iterations ls_tolerance noslip_iterations "
                 "noslip_tolerance mpr_iterations mpr_tolerance ccd_iterations ccd_tolerance "
                 "sdf_iterations sdf_initpoints actuatorgroupdisable")}},
      {"flag",
       {{},
        words_of("constraint equality frictionloss limit contact passive spring damper gravity "
                 "clampctrl warmstart filterparent actuation refsafe sensor midphase eulerdamp "
                 "autoreset nativeccd island override energy fwdinv invdiscrete multiccd")}},
      {"worldbody", {in_body, {}}},
      {"body", {in_body, placed("name childclass mocap gravcomp user")}},
      {"frame", {in_body, placed("name childclass")}},
      {"inertial", {{}, placed("mass diaginertia fullinertia")}},
      {"joint",
       {{},
        words_of("name class type pos axis springdamper limited actuatorfrclimited "
                 "actuatorgravcomp range actuatorfrcrange solreflimit solimplimit solreffriction "
                 "solimpfriction stiffness ref springref armature damping frictionloss margin "
                 "group user")}},
      {"freejoint", {{}, words_of("name group align")}},
      {"geom",
       {words_of("plugin"),
        placed("name class type contype conaffinity condim group priority size material rgba "
               "friction mass density shellinertia solmix solref solimp margin gap fromto hfield "
               "mesh fitscale user fluidshape fluidcoef")}},
      {"site", {{}, placed("name class type group material size fromto rgba user")}},
      {"asset", {words_of("texture hfield mesh skin material model"), {}}},
      {"mesh",
       {words_of("plugin"),
        words_of("name class content_type file vertex normal texcoord face refpos refquat scale "
                 "smoothnormal maxhullvert inertia builtin params material")}},
      {"hfield", {{}, words_of("name content_type file nrow ncol size elevation")}},
      {"equality", {words_of("connect weld joint tendon flex flexvert flexstrain distance"), {}}},
      {"connect", {{}, words_of("name class active solref solimp body1 body2 anchor site1 site2")}},
      {"weld",
       {{},
        words_of("name class active solref solimp body1 body2 anchor site1 site2 relpose "
                 "torquescale")}},
      {"equality/joint", {{}, words_of("name class active solref solimp joint1 joint2 polycoef")}},
      {"equality/tendon",
       {{}, words_of("name class active solref solimp tendon1 tendon2 polycoef")}},
      {"contact", {words_of("pair exclude"), {}}},
      {"pair",
       {{},
        words_of(
            "name class geom1 geom2 condim friction solref solreffriction solimp gap margin")}},
      {"exclude", {{}, words_of("name body1 body2")}},
      {"tendon", {words_of("spatial fixed"), {}}},
      {"fixed", {words_of("joint"), tendon}},
      {"spatial", {words_of("site geom pulley"), tendon}},
      {"default/tendon", {{}, tendon}},
      {"spatial/site", {{}, words_of("site")}},
      {"spatial/geom", {{}, words_of("geom sidesite")}},
      {"fixed/joint", {{}, words_of("joint coef")}},
      {"actuator",
       {words_of("general motor position velocity intvelocity damper cylinder muscle adhesion "
                 "plugin dcmotor"),
        {}}},
      {"general", {{}, actuator}},
      {"motor", {{}, actuator}},
      {"position", {{}, actuator}},
      {"velocity", {{}, actuator}},
      {"keyframe", {words_of("key"), {}}},
      {"key", {{}, words_of("name time qpos qvel act ctrl mpos mquat")}},
      {"default",
       {words_of("default mesh material joint geom site camera light pair equality tendon "
                 "general motor position velocity intvelocity damper cylinder muscle adhesion "
                 "plugin dcmotor"),
        words_of("class")}},
      {"default/equality", {{}, words_of("active solref solimp")}}};
}

}  // namespace

const formats::Grammar& grammar() {
  static const formats::Grammar known = make_grammar();
  return known;
}

}  // namespace espalier::mjcf
