#include <espalier/plugin.hpp>

#include "subsystems/belt_transmission.hpp"
#include "subsystems/bevel_differential.hpp"
#include "subsystems/cam.hpp"
#include "subsystems/elastic_beam.hpp"
#include "subsystems/elastic_drive.hpp"
#include "subsystems/elastic_joint.hpp"
#include "subsystems/four_bar.hpp"
#include "subsystems/gear_train.hpp"
#include "subsystems/geared_joint.hpp"
#include "subsystems/linear_laws.hpp"
#include "subsystems/planetary_stage.hpp"
#include "subsystems/rod.hpp"
#include "subsystems/rod_ankle.hpp"
#include "subsystems/slider_crank.hpp"
#include "subsystems/tello.hpp"
#include "subsystems/trammel.hpp"

ESPALIER_PLUGIN("subsystems", "0.2.0") {
  using namespace espalier;
  const char* const gears =
      "Featherstone (2008), section 9.6; Chignoli et al. (2023), section II-B; theory/clusters 5.5";
  const char* const belts = "Chignoli et al. (2023), section IX; theory/clusters 5.5";
  const char* const tello = "Sim et al. (2022), Tello Leg; theory/tello";
  registrar.sub_mechanism<GearedJoint>({.name = "geared_joint",
                                        .summary = "link and motor rotor: q_rotor = ratio q_link",
                                        .source = gears});
  registrar.sub_mechanism<GearTrain>(
      {.name = "gear_train",
       .summary = "link, motor rotor and idlers, each carried by the base or by the link",
       .source = gears});
  registrar.sub_mechanism<PlanetaryStage>(
      {.name = "planetary_stage",
       .summary = "sun, ring, carrier and planets; one of the first three may be fixed",
       .source = "Willis (1841)"});
  registrar.sub_mechanism<BevelDifferential>(
      {.name = "bevel_differential",
       .summary = "two side gears move a carrier by their mean and an output by their difference",
       .source = "Willis (1841)"});
  registrar.sub_mechanism<ElasticJoint>(
      {.name = "elastic_joint",
       .summary = "link and motor rotor, with gear, spring and damper between them",
       .source = "theory/clusters 5.5"});
  registrar.joint<ElasticDriveJoint>(
      {.name = "elastic_drive",
       .summary = "revolute, with motor, gear and spring as equations of its own",
       .source = "theory/clusters 5.4, 5.5; Spong (1987)",
       .cost = "O(1)"});
  registrar.sub_mechanism<ElasticDrive>(
      {.name = "elastic_drive",
       .summary = "the same as elastic_joint, without bodies for rotor and gear",
       .source = "theory/clusters 5.4, 5.5; Spong (1987)"});
  registrar.joint<ElasticBeamJoint>(
      {.name = "elastic_beam",
       .summary = "beam that bends in two planes and twists, from clamped end to tip",
       .source = "Bremer (2008); Przemieniecki (1968)",
       .cost = "O(1)"});
  registrar.sub_mechanism<ElasticBeam>({.name = "elastic_beam",
                                        .summary = "elastic beam with a link at its tip",
                                        .source = "Bremer (2008); Przemieniecki (1968)"});
  registrar.sub_mechanism<BeltPair>(
      {.name = "belt_pair",
       .summary = "two links in series, driven by motors on the base through gears and belts",
       .source = belts});
  registrar.sub_mechanism<BeltTriple>(
      {.name = "belt_triple",
       .summary = "three links in series, driven by motors on the base through gears and belts",
       .source = belts});
  registrar.sub_mechanism<TelloHip>({.name = "tello_hip",
                                     .summary = "Tello's hip differential: gimbal and thigh, two "
                                                "motors",
                                     .source = tello});
  registrar.sub_mechanism<TelloKneeAnkle>({.name = "tello_knee_ankle",
                                           .summary = "Tello's knee-ankle differential: shin and "
                                                      "foot, two motors",
                                           .source = tello});
  registrar.sub_mechanism<FourBar>({.name = "four_bar",
                                    .summary = "planar four-bar: crank, coupler and rocker",
                                    .source = "theory/clusters 5.5"});
  registrar.sub_mechanism<SliderCrank>({.name = "slider_crank",
                                        .summary = "crank, rod and slider",
                                        .source = "theory/clusters 5.5"});
  registrar.sub_mechanism<RodAnkle>(
      {.name = "rod_ankle",
       .summary = "foot that two cranks on the shank move in pitch and roll through rods",
       .source = "theory/clusters 5.1, 5.7"});
  registrar.sub_mechanism<Cam>({.name = "cam",
                                .summary = "eccentric cam with roller follower (gives gamma alone)",
                                .source = "slider-crank"});
  registrar.sub_mechanism<Trammel>(
      {.name = "trammel",
       .summary = "two perpendicular sliders and a rod between them (gives phi alone)",
       .source = "trammel of Archimedes"});
  const char* const mjcf = "MJCF, equality constraints";
  registrar.sub_mechanism<Polynomial>({.name = "polynomial",
                                       .summary = "one joint's position as polynomial of another's",
                                       .source = mjcf});
  const auto sum = [&](auto type, const char* name) {
    registrar.sub_mechanism<typename decltype(type)::type>(
        {.name = name, .summary = "weighted sum of joint positions is constant", .source = mjcf});
  };
  sum(std::type_identity<WeightedSum<2>>{}, "weighted_sum_2");
  sum(std::type_identity<WeightedSum<3>>{}, "weighted_sum_3");
  sum(std::type_identity<WeightedSum<4>>{}, "weighted_sum_4");
  sum(std::type_identity<WeightedSum<5>>{}, "weighted_sum_5");
  sum(std::type_identity<WeightedSum<6>>{}, "weighted_sum_6");
  sum(std::type_identity<WeightedSum<7>>{}, "weighted_sum_7");
  sum(std::type_identity<WeightedSum<8>>{}, "weighted_sum_8");
  registrar.loop_joint<Rod>({.name = "rod",
                             .summary = "massless rod with ball joints: constant distance `length`",
                             .source = "Featherstone (2008), section 8.2"});
}
