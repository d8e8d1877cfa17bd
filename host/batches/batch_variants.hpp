#pragma once

#include <span>
#include <string>
#include <vector>

#include "espalier/kernel/model/model.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"

/// States of a batch in the order of the robots that they are of. Not for plugins.

namespace espalier::detail {

/// @throws InvalidModel unless a variant has the links, joints and coordinates of the robot
/// @param who  for errors
void expect_alike(const std::string& who, const Model& robot, const Model& variant, int number);

/// Slots for states such that the lanes of each pack are of one variant. What is left of a
/// variant's last pack repeats its last state.
class BatchVariants {
 public:
  /// @param variant_of  per state  @param variants  how many there are  @param lanes  of a pack
  void order(std::span<const int> variant_of, int variants, int lanes);

  int slots() const { return static_cast<int>(state_.size()); }
  /// Variant of each pack of slots.
  const std::vector<int>& of_packs() const { return of_packs_; }

  /// Numbers of states into rows of slots, and back.
  void take(const double* from, const Strides& at, long rows, std::vector<double>& to) const;
  template <class X>
  void give(const std::vector<X>& from, long rows, int N, const Strides& at, X* to) const {
    for (long i = 0; i < rows; ++i) {
      const X* row = from.data() + i * slots();
      for (int k = 0; k < N; ++k) to[i * at.number + k * at.state] = row[slot_[k]];
    }
  }

 private:
  std::vector<int> first_, slot_, state_, of_packs_;
};

}  // namespace espalier::detail
