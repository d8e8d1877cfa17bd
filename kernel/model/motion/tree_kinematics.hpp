#pragma once

#include <vector>

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/model/motion/joint_turns.hpp"

namespace espalier {

/// What the joints of a model's spanning tree say at one state: the first pass of every algorithm.
template <class T>
class TreeKinematics {
 public:
  explicit TreeKinematics(const Model& model)
      : X(model.body_count() + 1), S(model.spanning_nv()), bias(model.body_count() + 1) {}

  /// @param q   spanning positions
  /// @param qd  spanning rates, or nullptr: then bias is zero
  void update(const Model& model, const T* q, const T* qd) {
    for (const BodyRun& run : model.runs()) update(run, q, qd);
  }
  /// The joints of one run alone.
  /// @param turns  of q, or nullptr
  void update(const BodyRun& run, const T* q, const T* qd, const JointTurns<T>* turns = nullptr) {
    JointKinematics<T> out{X.data() + run.first, S.data() + run.v, bias.data() + run.first};
    if (turns != nullptr) {
      out.sine = turns->sine() + run.first, out.cosine = turns->cosine() + run.first;
    }
    run.joints->kinematics(q + run.q, qd == nullptr ? nullptr : qd + run.v, out);
  }

  std::vector<Transform<T>> X;  ///< per body: from the parent body's frame to the body's
  std::vector<Motion<T>> S;     ///< per rate: column of a dense motion subspace
  std::vector<Motion<T>> bias;  ///< per body of a dense subspace: (dS/dt) qd in the body frame
};

}  // namespace espalier
