#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "espalier/espalier.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/simulation/contact/problems/collision.hpp"
#include "espalier/simulation/contact/problems/contact_impulses.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random.hpp"

namespace espalier::test {

using contact::Shape;
using contact::Touch;

inline Transform<double> random_pose(Rng& random, double size) {
  Pose pose;
  pose.xyz = random.vec3(size);
  pose.rpy = random.vec3(3.0);
  return pose.transform();
}

/// The same pose in all lanes but those that `other` fills.
template <class F>
Transform<Pack> in_lanes(F&& pose_of_lane) {
  Transform<Pack> X = Transform<Pack>::from(pose_of_lane(0));
  for (int k = 1; k < Pack::size; ++k) {
    const Transform<double> x = pose_of_lane(k);
    for (int i = 0; i < 3; ++i) {
      X.r[i].set(k, x.r[i]);
      for (int j = 0; j < 3; ++j) X.E(i, j).set(k, x.E(i, j));
    }
  }
  return X;
}

/// One body that flies: what problems without a robot are bound to.
inline ModelPtr flying_body() {
  Description d;
  d.name = "body";
  Inertial inertial;
  inertial.mass = 1.0;
  inertial.I = {0.01, 0, 0, 0.01, 0, 0.01};
  d.links = {{"body", inertial, {}}};
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  return host().compile(d, options);
}

}  // namespace espalier::test
