#pragma once

#include <vector>

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/spatial/quad_frame.hpp"

/// Forward kinematics of positions alone: X_i = X_J(q_i) X_parent. Not for plugins.

namespace espalier::detail {

/// Bodies of a spanning tree and where they are, the ground first.
struct BodyPlacements {
  /// How a body hangs on its parent.
  struct Joint {
    Transform<double> placement;
    int parent = 0;
    bool turns = false;  ///< by sine and cosine about z after `placement`; else by `X`
  };

  explicit BodyPlacements(const Model& model)
      : joints(model.body_count() + 1),
        sine(joints.size()),
        cosine(joints.size()),
        X(joints.size()),
        rows(joints.size(), QuadFrame::identity()),
        placed(joints.size(), Transform<double>::identity()) {
    for (const BodyRun& run : model.runs()) {
      for (int i = run.first; i < run.first + run.count; ++i) {
        joints[i] = {model.body(i).placement, model.body(i).parent, run.joints->turns_about_z()};
      }
    }
  }

  std::vector<Joint> joints;              ///< per body
  std::vector<double> sine, cosine;       ///< per body that turns
  std::vector<Transform<double>> X;       ///< per other body: from its parent
  std::vector<QuadFrame> rows;            ///< per body: from the world, as the next ones read it
  std::vector<Transform<double>> placed;  ///< the same, as others do
};

/// From the ground on, by what the joints say.
static inline void place_bodies(BodyPlacements& b) {
  QuadFrame F = QuadFrame::identity();  // of the body before: most bodies hang on it
  const int count = static_cast<int>(b.joints.size());
  for (int i = 1; i < count; ++i) {
    const BodyPlacements::Joint& joint = b.joints[i];
    if (joint.parent != i - 1) F = b.rows[joint.parent];
    F = joint.turns ? turned(b.sine[i], b.cosine[i], joint.placement * F) : b.X[i] * F;
    b.rows[i] = F;
    store(F, b.placed[i]);
  }
}

}  // namespace espalier::detail
