#pragma once

#include <vector>

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"

namespace espalier {

/// Sine and cosine of every joint that turns about z (JointRun::turns_about_z), at one position:
/// evaluated once where several algorithms work on one state (AlgorithmAt::share_turns).
template <class T>
class JointTurns {
 public:
  explicit JointTurns(const Model& model)
      : model_(model), sine_(model.body_count() + 1), cosine_(model.body_count() + 1) {}

  /// @param q  spanning positions
  void update(const T* q) {
    for (const BodyRun& run : model_.runs()) {
      if (!run.joints->turns_about_z()) continue;
      run.joints->turns(q + run.q, sine_.data() + run.first, cosine_.data() + run.first);
    }
  }

  /// Per body, of the last update; of other joints it means nothing.
  const T* sine() const { return sine_.data(); }
  const T* cosine() const { return cosine_.data(); }  ///< likewise

 private:
  const Model& model_;
  std::vector<T> sine_, cosine_;
};

}  // namespace espalier
