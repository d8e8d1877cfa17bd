#pragma once

#include <cmath>
#include <espalier/plugin.hpp>

namespace espalier {

/// Parallel ankle: two motor cranks on the shank move the foot in pitch and roll through two rods
/// with ball joints at both ends.
///
/// Input `base`: the shank's frame. All vectors are of the zero position, axes of the shank:
/// `ankle` the point in the shank that the foot turns about, first about `pitch_axis` (y), then
/// about `roll_axis` (x); pivot1, pivot2 the cranks' pivots in the shank; crank1, crank2 from a
/// crank's pivot to its tip; foot1, foot2 from the ankle to the rods' ends on the foot. Cranks turn
/// about `crank_axis` (y). The second of each pair defaults to the first with y negated. Rods are
/// as long as the zero position asks. Bodies: `crank1`, `crank2` (frame at the pivot, shank's
/// axes), massless `cross`, `foot`; output `foot`. Rods are massless and only keep distance unless
/// `rod_mass` is given: then `rod1`, `rod2` hang on the crank's tips by universal joints (z along
/// the rod, towards the foot) and end in ball joints; rod_com defaults to their middle and
/// rod_inertia to that of a slender rod. Independent: the cranks. Source: theory/clusters 5.7
/// (two-rod parallel ankle), loops of theory/clusters 5.1.
class RodAnkle {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"ankle", "pivot1", "pivot2", "crank1", "crank2", "foot1", "foot2", "pitch_axis", "roll_axis",
       "crank_axis", ESPALIER_INERTIA_PARAMETERS("crank1"), ESPALIER_INERTIA_PARAMETERS("crank2"),
       ESPALIER_INERTIA_PARAMETERS("foot"), ESPALIER_INERTIA_PARAMETERS("rod")});
  static constexpr std::array<std::string_view, 1> inputs{"base"}, outputs{"foot"};
  static Parameters sample() {
    Parameters p{{"ankle", {0, 0, -0.3}},
                 {"pivot1", {0, 0.04, -0.1}},
                 {"crank1", {-0.05, 0.01, 0}},
                 {"foot1", {-0.05, 0.03, 0.01}},
                 {"foot_mass", {0.6}},
                 {"foot_com", {0.03, 0, -0.04}},
                 {"foot_inertia", {8e-4, 2e-3, 2e-3, 0, 1e-4, 0}},
                 {"rod_mass", {0.05}}};
    for (const std::string crank : {"crank1", "crank2"}) {
      p[crank + "_mass"] = {0.1};
      p[crank + "_com"] = {-0.02, 0, 0};
      p[crank + "_inertia"] = {2e-5, 5e-5, 5e-5, 0, 0, 0};
    }
    return p;
  }

  explicit RodAnkle(const PartSpec& spec) : spec_(spec) {}

  void build(Assembly& a) const {
    const Vec3<double> zero{0, 0, 0}, x{1, 0, 0}, y{0, 1, 0};
    const Vec3<double> ankle = spec_.vector("ankle", zero);
    const Vec3<double> crank_axis = spec_.direction("crank_axis", y);
    a.body("cross", "continuous", "base", std::nullopt, {ankle, zero}).axis =
        spec_.direction("pitch_axis", y);
    a.body("foot", "continuous", "cross", spec_.inertial("foot")).axis =
        spec_.direction("roll_axis", x);
    a.output("foot");
    for (int i = 1; i <= 2; ++i) {
      const std::string number = std::to_string(i), crank = "crank" + number, rod = "rod" + number;
      const Vec3<double> pivot = pair("pivot", i), tip = pair("crank", i), end = pair("foot", i);
      const Vec3<double> along = (ankle + end) - (pivot + tip);
      const double length = std::sqrt(dot(along, along));
      if (!(length > 1e-6)) {
        spec_.refuse("foot" + number, "at the crank's tip",
                     "another place (the rod between the two has no length)");
      }
      JointDescription& joint =
          a.body(crank, "continuous", "base", spec_.inertial(crank), {pivot, zero});
      joint.axis = crank_axis;
      joint.independent = true;
      if (spec_.number("rod_mass", 0.0) == 0.0) {
        a.loop(rod, "rod", crank, {tip, zero}, "foot", {end, zero}).parameters = {
            {"length", {length}}};
        continue;
      }
      // Turns about the crank's axis, as far as it is across the rod, and then about the other.
      const Vec3<double> z = scale(1.0 / length, along);
      Vec3<double> first = crank_axis - scale(dot(crank_axis, z), z);
      const double across = std::sqrt(dot(first, first));
      if (!(across > 1e-3)) {
        spec_.refuse("crank_axis", "along rod " + number, "a direction across it");
      }
      first = scale(1.0 / across, first);
      const Pose place = Pose::from({{{cross(first, z), first, z}}, tip});
      const double m = spec_.positive("rod_mass"), I = m * length * length / 12.0;
      const Inertial slender{{{0, 0, 0.5 * length}, zero}, m, {I, 0, 0, I, 0, 0}};
      JointDescription& universal =
          a.body(rod, "universal", crank, spec_.inertial("rod", slender), place);
      universal.axis = {0, 1, 0};
      universal.parameters = {{"axis2", {1, 0, 0}}};
      a.loop(rod + "_end", "spherical", rod, {{0, 0, length}, zero}, "foot", {end, zero});
    }
  }

 private:
  /// The vector `<what><i>`; the second mirrors the first unless given.
  Vec3<double> pair(const std::string& what, int i) const {
    const Vec3<double> first = spec_.vector(what + "1");
    return i == 1 ? first : spec_.vector(what + "2", Vec3<double>{first.x, -first.y, first.z});
  }

  PartSpec spec_;
};

}  // namespace espalier
