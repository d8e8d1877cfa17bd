#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "espalier/kernel/scalar/pack.hpp"

namespace espalier::detail {

/// So many numbers of every robot, those of eight robots side by side and a pack's numbers next to
/// each other: in rows over all robots, neighbours of one robot would be 8 N bytes apart, which for
/// N like 512 are few sets of the caches. Lanes beyond the last robot are copies of it where read.
class PackedNumbers {
 public:
  void assign(std::size_t numbers, int N) {
    numbers_ = numbers, N_ = N;
    packs_.assign(numbers * ((N + Pack::size - 1) / Pack::size), Pack(0.0));
  }
  std::size_t numbers() const { return numbers_; }
  double get(std::size_t i, int robot) const { return packs_[at(i, robot)][robot % Pack::size]; }
  void set(std::size_t i, int robot, double x) { packs_[at(i, robot)].set(robot % Pack::size, x); }
  const Pack& pack(std::size_t i, int first) const { return packs_[at(i, first)]; }
  /// @param first  robot of the pack's first lane
  void load(int first, Pack* to) const { load(first, 0, numbers_, to); }
  void store(int first, const Pack* from) { store(first, 0, numbers_, from); }
  /// Numbers [i, i + count) alone.
  void load(int first, std::size_t i, std::size_t count, Pack* to) const {
    if (count == 0) return;  // memcpy takes no null pointers
    std::memcpy(static_cast<void*>(to), packs_.data() + at(i, first), count * sizeof(Pack));
    for (int k = N_ - first; k < Pack::size; ++k) {
      for (std::size_t n = 0; n < count; ++n) to[n].set(k, to[n][N_ - 1 - first]);
    }
  }
  void store(int first, std::size_t i, std::size_t count, const Pack* from) {
    if (count == 0) return;
    std::memcpy(static_cast<void*>(packs_.data() + at(i, first)), from, count * sizeof(Pack));
  }
  /// One robot's numbers, one after the other. @returns  beyond the last
  double* read(int robot, double* to) const {
    for (std::size_t i = 0; i < numbers_; ++i) *to++ = get(i, robot);
    return to;
  }
  const double* write(int robot, const double* from) {
    for (std::size_t i = 0; i < numbers_; ++i) set(i, robot, *from++);
    return from;
  }
  /// Makes one robot's numbers zero.
  void clear(int robot) {
    for (std::size_t i = 0; i < numbers_; ++i) set(i, robot, 0.0);
  }
  /// Robots [first, last) in rows over all: number i of robot k to [i * N + k].
  /// @param first  a multiple of eight
  void write_rows(int first, int last, double* to) const {
    for (std::size_t i = 0; i < numbers_; ++i) {
      for (int k = first; k < last; k += Pack::size) {
        double* at_row = to + i * N_ + k;
        const Pack& x = packs_[at(i, k)];
        for (int l = 0; l < std::min(Pack::size, last - k); ++l) at_row[l] = x[l];
      }
    }
  }

 private:
  std::size_t at(std::size_t i, int robot) const {
    return static_cast<std::size_t>(robot / Pack::size) * numbers_ + i;
  }
  std::size_t numbers_ = 0;
  int N_ = 0;
  std::vector<Pack> packs_;
};

}  // namespace espalier::detail
