#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"
#include "espalier/kernel/model/motion/joint_turns.hpp"

namespace espalier {

/// Sines and cosines of joints that turn about z by their position, computed when somebody asks:
/// those between one body and the ground, or all at once.
template <class T>
class PathTurns {
 public:
  explicit PathTurns(const Model& model)
      : model_(model),
        q_(model.nq()),
        joints_(model.body_count() + 1),
        sine_(joints_.size()),
        cosine_(joints_.size()) {
    for (const BodyRun& run : model.runs()) {
      runs_.push_back(are_angles(run));
      for (int i = run.first; runs_.back() && i < run.first + run.count; ++i) {
        const Cluster& c = model.clusters()[model.body(i).cluster];
        runs_.back() = c.constraint == nullptr || c.constraint->loops.empty();
      }
    }
    std::vector<int> depth(joints_.size(), 0);
    for (int i = 1; i <= model.body_count(); ++i) {
      const Body& body = model.body(i);
      joints_[i] = {body.parent, runs_[body.run] ? body.q : -1};
      depth[i] = depth[body.parent] + 1;
    }
    const std::size_t deepest = *std::max_element(depth.begin(), depth.end());
    turning_.resize(deepest + Quad::size);
    const auto turn = [](const Joint& joint) { return joint.q >= 0; };
    few_ = std::count_if(joints_.begin(), joints_.end(), turn) <= 2 * Quad::size;
  }

  /// Per run of the model: whether its joints are here; those of loops that a joint closes are not.
  const std::vector<bool>& runs() const { return runs_; }

  /// The joints have moved. @param q  spanning positions
  void move(const T* q) {
    std::copy_n(q, q_.size(), q_.begin());
    move_for_now(q_.data());
  }
  /// The same without a copy, until forget().
  void move_for_now(const T* q) {
    at_ = q;
    known_ = true, whole_ = false;
  }
  /// place_all() is refused until the next move.
  void forget() { known_ = false, whole_ = false; }
  /// Those of bodies between one, included, and the ground; all, where that is about as much.
  void place_path(int body) {
    if (whole_) return;
    if (few_) return place_all();
    int n = 0;
    for (int i = body; i != 0; i = joints_[i].parent) {
      if (joints_[i].q < 0) continue;
      turning_[n++] = i;
    }
    const auto angle = [&](int k) { return at_[joints_[turning_[k]].q]; };
    if constexpr (std::is_same_v<T, double>) {
      if (n == 0) return;
      std::fill_n(turning_.begin() + n, Quad::size, turning_[n - 1]);
      for (int k = 0; k < n; k += Quad::size) {
        // Side by side in a register: in memory they would wait for one another's stores.
        const Quad angles(angle(k), angle(k + 1), angle(k + 2), angle(k + 3));
        Quad s, c;
        sincos(angles, s, c);
        for (int l = 0; l < std::min(Quad::size, n - k); ++l) {
          sine_[turning_[k + l]] = s[l], cosine_[turning_[k + l]] = c[l];
        }
      }
    } else {
      for (int k = 0; k < n; ++k) sincos(angle(k), sine_[turning_[k]], cosine_[turning_[k]]);
    }
  }
  void place_all() {
    if (whole_) return;
    place_them();
  }
  const T& sine(int body) const { return sine_[body]; }
  const T& cosine(int body) const { return cosine_[body]; }

 private:
  /// Not inlined: what asks link by link stays small.
  [[gnu::noinline]] void place_them() {
    if (!known_) {
      throw Unsupported(
          "jacobians: jacobian() follows no position, or a call for one link alone, expected "
          "evaluate(q) before");
    }
    whole_ = true;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const BodyRun& run = model_.runs()[r];
      if (runs_[r]) run.joints->turns(at_ + run.q, &sine_[run.first], &cosine_[run.first]);
    }
  }
  struct Joint {
    int parent = 0;  ///< body
    int q = -1;      ///< -1: not here
  };

  const Model& model_;
  std::vector<bool> runs_;
  std::vector<T> q_;
  const T* at_ = nullptr;         ///< positions
  bool known_ = false;            ///< whether they still stand there
  std::vector<Joint> joints_;     ///< per body
  std::vector<T> sine_, cosine_;  ///< per body
  bool whole_ = false;
  bool few_ = false;          ///< no more joints turn than two registers hold
  std::vector<int> turning_;  ///< bodies of a path
};

}  // namespace espalier
