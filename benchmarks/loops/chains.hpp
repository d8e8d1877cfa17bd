#pragma once

#include <string>

/// Robots of any length for benchmarks and tests, as Espalier YAML composed of registered
/// sub-mechanisms: the same text for the same number. All hang on the link `base`; joint frames are
/// turned and offset, links have general inertias, rotors turn about axes of symmetry.

namespace espalier::bench {

/// Links on revolute joints about x, y, z in turn, each with a motor rotor on the link before it:
/// subsystems link_1, link_2, ... of type geared_joint, gear ratios from 5 to 9.
/// @param links  at least 1
std::string geared_chain_yaml(int links);

/// Links in pairs with parallel axes, both motors of a pair on the link before it: subsystems
/// pair_1, pair_2, ... of type belt_pair, about x, y, z in turn. The last link of an odd number is
/// geared alone (subsystem `last`).
/// @param links  at least 1
std::string belt_chain_yaml(int links);

/// Planar four-bars in space, the base of each on the coupler of the one before: subsystems bar_1,
/// bar_2, ... of type four_bar. Cranks turn fully and are independent.
/// @param four_bars  at least 1
std::string four_bar_chain_yaml(int four_bars);

/// Lengths of their bars [m]: the tips of coupler and rocker, on x of their frames, are joined.
inline constexpr double four_bar_crank = 0.1, four_bar_coupler = 0.25, four_bar_rocker = 0.2;

}  // namespace espalier::bench
