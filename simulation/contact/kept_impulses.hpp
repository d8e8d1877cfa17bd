#pragma once

#include <algorithm>
#include <vector>

#include "espalier/host/batches/packed_numbers.hpp"
#include "espalier/simulation/contact/problems/step.hpp"

/// Not for plugins.

namespace espalier::contact {

/// StepState::memory of all robots of a batch. Points of a robot that may touch itself are many, of
/// which few touch: numbers of the others are zero and stay where they are.
class KeptImpulses {
 public:
  void assign(const Plan& plan, int N) {
    points_ = plan.points();
    scalars_ = 4 * static_cast<std::size_t>(points_);
    turning_ = scalars_ + plan.scalar_rows();
    turning_rows_ = plan.turning_rows();
    numbers_.assign(plan.memory_size(), N);
    kept_.assign((N + Pack::size - 1) / Pack::size, {});
    for (std::vector<int>& points : kept_) points.reserve(points_);
  }
  const Pack& pack(std::size_t i, int first) const { return numbers_.pack(i, first); }

  /// @param first      robot of the pack's first lane
  /// @param[in,out] s  memory and kept: on entry, kept lists the points of memory that are not zero
  void load(int first, StepState<Pack>& s) const {
    for (const int point : s.kept) {
      each_part(point, [&](std::size_t i, std::size_t count) {
        std::fill_n(s.memory.begin() + i, count, Pack(0.0));
      });
    }
    s.kept = kept_[first / Pack::size];
    const auto take = [&](std::size_t i, std::size_t count) {
      numbers_.load(first, i, count, s.memory.data() + i);
    };
    for (const int point : s.kept) each_part(point, take);
    take(scalars_, turning_ - scalars_);
  }
  void store(int first, const StepState<Pack>& s) {
    std::vector<int>& points = kept_[first / Pack::size];
    const auto put = [&](std::size_t i, std::size_t count) {
      numbers_.store(first, i, count, s.memory.data() + i);
    };
    for (const int point : points) each_part(point, put);  // zero now, unless they touch again
    for (const int point : s.kept) each_part(point, put);
    put(scalars_, turning_ - scalars_);
    points = s.kept;
  }

  /// One robot's numbers, one after the other. @returns  beyond the last
  double* read(int robot, double* to) const { return numbers_.read(robot, to); }
  const double* write(int robot, const double* from) {
    from = numbers_.write(robot, from);
    std::vector<int>& points = kept_[robot / Pack::size];
    for (int point = 0; point < points_; ++point) {
      bool zero = true;
      each_part(point, [&](std::size_t i, std::size_t count) {
        for (; count > 0; ++i, --count) zero = zero && numbers_.get(i, robot) == 0.0;
      });
      if (zero || std::find(points.begin(), points.end(), point) != points.end()) continue;
      points.push_back(point);
    }
    return from;
  }
  void clear(int robot) { numbers_.clear(robot); }

 private:
  /// f(first, count) for the numbers of a point.
  template <class F>
  void each_part(int point, F&& f) const {
    f(4 * static_cast<std::size_t>(point), 4);
    if (turning_rows_ > 0) {
      f(turning_ + turning_rows_ * static_cast<std::size_t>(point), turning_rows_);
    }
  }

  int points_ = 0;
  std::size_t scalars_ = 0, turning_ = 0, turning_rows_ = 0;  ///< where these begin, and how many
  detail::PackedNumbers numbers_;
  std::vector<std::vector<int>> kept_;  ///< of each pack: points that are not zero in some lane
};

}  // namespace espalier::contact
