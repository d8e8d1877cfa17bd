#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// Eccentric cam with roller follower: an example of a law that gives gamma alone. The cam, a disc,
/// turns about z of the base, `eccentricity` e away from its centre; the follower slides along x,
/// its roller rests on the disc. With R = `radius`, that of disc and roller together,
///   q_follower = e cos q_cam + sqrt(R² - e² sin² q_cam) - (e + R).
///
/// Input `base`; bodies `cam` and `follower` (origin: centre of the roller, e + R from the cam's
/// axis at zero position); output `follower`. As a law: positions (cam, follower). Source: the
/// slider-crank with crank e and rod R.
class Cam {
 public:
  static constexpr auto parameters =
      std::to_array<std::string_view>({"eccentricity", "radius", ESPALIER_INERTIA_PARAMETERS("cam"),
                                       ESPALIER_INERTIA_PARAMETERS("follower")});
  static constexpr std::array<std::string_view, 2> law_parameters{"eccentricity", "radius"};
  static constexpr std::array<std::string_view, 1> inputs{"base"}, outputs{"follower"};
  static Parameters sample() {
    return {{"eccentricity", {0.01}},
            {"radius", {0.04}},
            {"cam_mass", {0.2}},
            {"cam_com", {0.01, 0, 0}},
            {"cam_inertia", {5e-5, 5e-5, 1e-4, 0, 0, 0}},
            {"follower_mass", {0.1}}};
  }

  explicit Cam(const PartSpec& spec)
      : spec_(spec), e_(spec.positive("eccentricity")), R_(spec.positive("radius")) {
    if (!(R_ > e_)) {
      spec.refuse("radius", R_, "more than the eccentricity (the cam could not turn round)");
    }
  }

  void build(Assembly& a) const {
    a.body("cam", "continuous", "base", spec_.inertial("cam"));
    a.body("follower", "prismatic", "base", spec_.inertial("follower"), {{e_ + R_, 0, 0}, {}})
        .axis = {1, 0, 0};
    a.law<Cam>("cam", {"cam", "follower"}, spec_.parameters);
    a.output("follower");
  }

  static constexpr int independent = 1, dependent = 1;
  template <class T>
  void gamma(const T* y, T* q) const {
    const T across = e_ * sin(y[0]);
    q[0] = e_ * cos(y[0]) + sqrt(T(R_ * R_) - across * across) - (e_ + R_);
  }

 private:
  PartSpec spec_;
  double e_, R_;
};

}  // namespace espalier
