#include "algorithms/segments/segments.hpp"

#include <algorithm>
#include <numeric>

namespace espalier {

std::vector<std::size_t> stable_order(const std::vector<int>& numbers) {
  std::vector<std::size_t> at(numbers.size());
  std::iota(at.begin(), at.end(), 0);
  std::stable_sort(at.begin(), at.end(),
                   [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
  return at;
}

}  // namespace espalier
