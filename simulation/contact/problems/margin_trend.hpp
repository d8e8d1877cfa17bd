#pragma once

#include <algorithm>
#include <vector>

#include "espalier/kernel/model/loops/loop_projector.hpp"

/// Dead points that a step goes over. Rates act through the couplings of a step's start, which turn
/// over at a dead point of the coordinates: a loop that comes within a step of one is closed on the
/// side that it was on and thrown back, where it would have gone through.

namespace espalier::contact {

/// Whether singularity margins that fell from `before` to `last` would be below zero one step
/// later, had they fallen on. Zeros are margins that nobody knows.
template <class T>
T margin_ahead(const T& before, const T& last) {
  return last + last - before;
}

/// The last two margins of each loop of one robot.
class MarginTrend {
 public:
  void restart() { std::fill(margins_.begin(), margins_.end(), 0.0); }
  /// Takes the margins where the loops have just been closed.
  /// @returns  a loop whose margin was to pass zero within this step, or -1
  int passed(const LoopProjector& loops) {
    margins_.resize(2 * loops.loop_count());
    int passed = -1;
    for (int loop = 0; loop < loops.loop_count(); ++loop) {
      double *before = &margins_[2 * loop], *last = before + 1;
      if (margin_ahead(*before, *last) < 0.0) passed = loop;
      *before = *last, *last = loops.margin_of(loop);
    }
    return passed;
  }

 private:
  std::vector<double> margins_;
};

}  // namespace espalier::contact
