#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"

namespace espalier {

/// Whether positions of a run's joints are the angles by which they turn about z.
ESPALIER_API bool are_angles(const BodyRun& run);

/// Sines and cosines of the joints of a run that turn about z. Where positions are the angles, at
/// double, the caller's own code computes them: their plugin is one more library to wait for where
/// caches are cold.
template <class T>
class RunTurns {
 public:
  explicit RunTurns(const BodyRun& run)
      : first_(run.first), count_(run.count), q_(run.q), joints_(run.joints.get()) {
    if (std::is_same_v<T, double> && are_angles(run)) joints_ = nullptr;
  }

  /// First body of the run.
  int first() const { return first_; }
  /// @param q  spanning positions
  /// @param[out] sine, cosine  per body of the model
  void update(const T* q, T* sine, T* cosine) const {
    q += q_, sine += first_, cosine += first_;
    if constexpr (std::is_same_v<T, double>) {
      if (joints_ == nullptr) return by_angles(q, sine, cosine);
    }
    joints_->turns(q, sine, cosine);
  }

 private:
  /// Not inlined, and without a call but the last: the constants of sines stay in registers.
  [[gnu::noinline, gnu::hot]] void by_angles(const double* q, double* sine, double* cosine) const {
    if (count_ < Quad::size) return by_few_angles(q, sine, cosine);
    Quad s, c;
    bool inside = true;
    for (int k = 0; k < count_; k += Quad::size) {
      const int first = std::min(k, count_ - Quad::size);  // up to three are done twice
      inside &= detail::all_of(detail::sincos_inside(Quad::load(q + first), s, c));
      s.store(sine + first), c.store(cosine + first);
    }
    if (!inside) [[unlikely]]
      by_large_angles(q, sine, cosine);
  }
  [[gnu::noinline]] void by_large_angles(const double* q, double* sine, double* cosine) const {
    Quad s, c;
    for (int k = 0; k < count_; ++k) {
      sincos(Quad(q[k]), s, c);
      sine[k] = s[0], cosine[k] = c[0];
    }
  }
  /// Not inlined: the rule is more.
  [[gnu::noinline]] void by_few_angles(const double* q, double* sine, double* cosine) const {
    Quad angles = 0.0, s, c;
    for (int k = 0; k < count_; ++k) angles.set(k, q[k]);
    sincos(angles, s, c);
    for (int k = 0; k < count_; ++k) sine[k] = s[k], cosine[k] = c[k];
  }

  int first_, count_, q_;
  const JointRun* joints_;  ///< null: positions are the angles
};

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
