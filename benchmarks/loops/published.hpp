#pragma once

#include <array>

/// Figures that others published, as facts to compare with.

namespace espalier::bench::published {

/// Order of the columns of tables II to IV of Chignoli et al. (2023), "Recursive rigid-body
/// dynamics algorithms for systems with kinematic loops": the labels of the authors' own plot of
/// these data (generalized_rbda, Benchmarking/plotting/time_benchmark_robots.m).
struct Column {
  const char* robot;  ///< its name here
  const char* title;
};
inline constexpr std::array<Column, 6> columns{{{"geared_chain_12", "geared chain"},
                                                {"belt_chain_12", "belt chain"},
                                                {"mini_cheetah_geared", "Mini Cheetah"},
                                                {"mit_humanoid", "MIT Humanoid"},
                                                {"tello_with_arms", "Tello"},
                                                {"jvrc1_geared", "JVRC-1"}}};

/// Difference of an alternative's time from the cluster algorithm's [%].
struct Alternative {
  const char* algorithm;  ///< its name here
  const char* title;      ///< in the paper; null: the paper has no such row
  bool exact;
  std::array<double, 6> percent;
};
inline constexpr std::array<Alternative, 3> table_2{
    {{"approximate-rnea", "approximate RNEA", false, {-40.3, -36.2, -41.0, -42.0, -59.6, -37.7}},
     {"projected-rnea", "projected RNEA", true, {38.0, 37.8, 36.7, 35.9, 22.4, 36.6}},
     {"unconstrained-rnea", nullptr, false, {}}}};
inline constexpr std::array<Alternative, 4> table_3{
    {{"approximate-aba", "approximate ABA", false, {-34.1, -34.6, -35.3, -38.6, -49.4, -38.4}},
     {"projection", "projection method", true, {86.8, 73.5, 21.0, 32.5, 22.2, 87.3}},
     {"lagrange-multiplier",
      "Lagrange multiplier method",
      true,
      {133.1, 119.8, 76.3, 106.2, 82.7, 212.8}},
     {"c-aba-stacked", nullptr, true, {}}}};
inline constexpr std::array<Alternative, 4> table_4{
    {{"approximate-efpa", "approximate EFPA", false, {-35.7, -52.1, -28.6, -37.4, -51.4, -22.54}},
     {"projected-efpa", "projection method", true, {51.8, 6.3, 19.0, 23.2, 7.80, 107.4}},
     {"c-pv-osimr", nullptr, true, {}},
     {"c-kjr", nullptr, true, {}}}};

/// Exact forward dynamics by others [µs a call], one core of a Zen 3 processor of 2.45 GHz.
struct Time {
  const char* robot;
  const char* who;
  double microseconds;
  double wanted;  ///< ratio to c-aba that Espalier sets itself
};
inline constexpr double wanted_geared = 20, wanted_tello = 50, wanted_pinocchio = 8;
inline constexpr std::array<Time, 8> times{
    {{"mini_cheetah_geared", "generalized_rbda, C-ABA", 37, wanted_geared},
     {"mit_humanoid", "generalized_rbda, C-ABA", 61, wanted_geared},
     {"jvrc1_geared", "generalized_rbda, C-ABA", 104, wanted_geared},
     {"tello_with_arms", "generalized_rbda, C-ABA (Tello)", 240, wanted_tello},
     {"tello", "generalized_rbda, C-ABA (Tello)", 240, wanted_tello},
     {"jvrc1_geared", "Pinocchio, rotors as bodies, projection", 42, wanted_pinocchio},
     {"four_bar_chain_16", "Pinocchio", 97, wanted_pinocchio},
     {"four_bar_chain_16_by_pins", "Pinocchio", 97, wanted_pinocchio}}};

/// Robots all of whose constraints are gears, and the bound for c-aba over approximate-aba there.
inline constexpr std::array<const char*, 3> geared_robots{"geared_chain_12", "mini_cheetah_geared",
                                                          "jvrc1_geared"};
inline constexpr double exact_over_approximate = 1.15;

}  // namespace espalier::bench::published
