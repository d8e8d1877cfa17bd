#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// Gear train: a link and any number of wheels that turn with it, such as the motor's rotor and
/// idlers: q_i = ratio_i q_link, relative to the body that carries wheel i.
///
/// `ratios`: one number per wheel, the first that of the motor's rotor. `carriers`: 0 where the
/// base carries a wheel, 1 where the link does; default: the base. Per wheel, in lists one after
/// the other: `wheel_xyz`, `wheel_rpy` and `wheel_axis` (three numbers each; frames in the carrier,
/// default zero; axes in the wheel's frame, default `axis`), `wheel_mass`, `wheel_com` (three
/// numbers), `wheel_inertia` (six numbers, as for all bodies).
///
/// Input `base`: the joint frame of the link, which turns about `axis`. Bodies `link`, `rotor`,
/// `idler1`, `idler2`, ...; output `link`.
/// Source: theory/clusters 5.5 (motor, gear and link), Jain and Rodriguez (1991).
class GearTrain {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"ratios", "carriers", "axis", "wheel_xyz", "wheel_rpy", "wheel_axis", "wheel_mass",
       "wheel_com", "wheel_inertia", ESPALIER_INERTIA_PARAMETERS("link")});
  static constexpr std::array<std::string_view, 1> inputs{"base"}, outputs{"link"};
  static Parameters sample() {
    return {{"ratios", {-30, 6, -4}},
            {"carriers", {0, 0, 1}},
            {"wheel_xyz", {0.1, 0, 0, 0.04, 0, 0, 0, 0.03, 0}},
            {"wheel_mass", {0.1, 0.05, 0.04}},
            {"wheel_inertia",
             {1e-5, 1e-5, 2e-5, 0, 0, 0, 1e-5, 1e-5, 2e-5, 0, 0, 0, 8e-6, 8e-6, 1e-5, 0, 0, 0}},
            {"link_mass", {1}},
            {"link_com", {0.1, 0.02, 0.01}},
            {"link_inertia", {1e-3, 5e-3, 5e-3, 0, 0, 1e-4}}};
  }

  explicit GearTrain(const PartSpec& spec) : spec_(spec) {
    const auto given = spec.parameters.find("ratios");
    count_ = given == spec.parameters.end() ? 0 : given->second.size();
    if (count_ == 0) spec.refuse("ratios", "missing", "one number per wheel");
    ratios_ = spec.numbers("ratios", count_);
    carriers_ = spec.numbers("carriers", count_, std::vector<double>(count_, 0.0));
    for (const double ratio : ratios_) {
      if (ratio == 0.0) spec.refuse("ratios", 0.0, "numbers other than zero");
    }
    for (const double carrier : carriers_) {
      if (carrier != 0.0 && carrier != 1.0) {
        spec.refuse("carriers", carrier, "0 (the base carries the wheel) or 1 (the link does)");
      }
    }
  }

  void build(Assembly& a) const {
    const Vec3<double> axis = spec_.direction("axis", Vec3<double>{0, 0, 1});
    a.body("link", "revolute", "base", spec_.inertial("link")).axis = axis;
    a.output("link");
    for (std::size_t i = 0; i < count_; ++i) {
      const std::string name = i == 0 ? "rotor" : "idler" + std::to_string(i);
      PartSpec wheel = spec_;  // what the lists say of this one
      wheel.parameters.clear();
      take(wheel, "wheel_xyz", i, 3), take(wheel, "wheel_rpy", i, 3);
      take(wheel, "wheel_axis", i, 3), take(wheel, "wheel_mass", i, 1);
      take(wheel, "wheel_com", i, 3), take(wheel, "wheel_inertia", i, 6);
      const bool on_link = carriers_[i] == 1.0;
      JointDescription& joint = a.body(name, "continuous", on_link ? "link" : "base",
                                       wheel.inertial("wheel"), wheel.pose("wheel"));
      joint.axis = wheel.direction("wheel_axis", axis);
      // A coupling would count the link's own turn to a wheel that it carries.
      if (on_link) {
        joint.mimic = Mimic{"link", ratios_[i], 0.0};
      } else {
        a.couple("link", name, ratios_[i]);
      }
    }
  }

 private:
  /// Part i of a list with `size` numbers per wheel, if it is given.
  void take(PartSpec& wheel, const char* key, std::size_t i, std::size_t size) const {
    if (!spec_.has(key)) return;
    const auto all = spec_.numbers(key, size * count_);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(size * i);
    wheel.parameters[key] = {first, first + static_cast<std::ptrdiff_t>(size)};
  }

  PartSpec spec_;
  std::size_t count_ = 0;
  std::vector<double> ratios_, carriers_;
};

}  // namespace espalier
