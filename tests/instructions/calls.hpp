#pragma once

#include <functional>
#include <string>
#include <vector>

#include "espalier/espalier.hpp"
#include "espalier/kernel/model/layout.hpp"

namespace espalier::test {

/// One of the calls whose instructions are counted.
struct Call {
  std::string name;                ///< algorithm and robot: "aba, humanoid"
  std::function<void(int k)> run;  ///< from state k; a few states take turns
};

/// How often each is called before and while instructions are counted.
inline constexpr int warming_calls = 4, counted_calls = 8;

/// The fixed set: what every kernel for speed goes through, on trees and on robots with rotors and
/// loops, one robot at a time and eight in the lanes of a pack, and the way to a Model.
/// @param host  outlives the calls
std::vector<Call> fixed_calls(const Host& host);

}  // namespace espalier::test
