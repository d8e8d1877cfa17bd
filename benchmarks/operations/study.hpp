#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/operations/counting.hpp"

namespace espalier::bench {

/// Figure 3 of Sathya et al. (2023).
inline constexpr std::array<int, 5> branch_numbers{1, 2, 4, 7, 10};
inline constexpr int longest_stem = 100, stem_step = 5;

/// Everything that is counted for the figures.
struct Study {
  /// By number of branches, then by length of the stem.
  struct Stem {
    int branches;
    std::vector<Tally> lengths;
  };
  std::vector<Stem> stems;
  std::vector<double> stem_lengths;

  // Figures 4 and 5 of Sathya et al. and the caveat of their section IV-E.
  Tally feet_6, feet_12, feet_12_link_axes, hand, one_hand, two_hands, hands_and_feet,
      wrists_and_feet;

  // Figures 5 and 6 of Wensing et al. (2012).
  Sparsity asimo, asimo_more_chains;
  Tally base, head, fingers, longer_arms, longer_legs, longer_fingers, four_fingers, more_chains,
      one_foot;
  Tally on_torso;                    ///< end-effector on the floating body alone
  std::vector<Tally> one_by_one;     ///< hands and feet, one end-effector at a time
  std::vector<Tally> longer_chains;  ///< by further joints in each arm and leg, from 0

  // Growth with the number of rows, nothing else being changed.
  std::vector<Tally> held_branches;  ///< 1 to 10 on either end of a stem of 50 links
  std::vector<Tally> held_links;     ///< 1 to 20 of a chain of 120 links

  std::vector<const Tally*> humanoids() const;
  std::vector<const Tally*> asimos() const;
  /// Every mechanism on which pv-osimr, pv-osim and efpa were counted.
  std::vector<const Tally*> all() const;
};

inline constexpr int more_joints = 3;        ///< in each arm, leg or finger of the longer ones
inline constexpr int most_more_joints = 10;  ///< of Study::longer_chains
inline constexpr int growth_stem = 50, growth_branches = 10, growth_chain = 120, growth_held = 20;

/// Counts everything; takes some seconds. @param progress  is told what comes next
Study study(const Host& host, const std::function<void(const std::string&)>& progress);

/// "mechanism: pv-osimr needs ..." for every mechanism on which it needs more operations than
/// pv-osim or efpa, folded or not.
std::vector<std::string> where_dearer(const Study& study);

}  // namespace espalier::bench
