#include "algorithms/segments/clusters/moving_rates.hpp"

#include <boost/dynamic_bitset.hpp>

namespace espalier {

std::vector<std::vector<RateRange>> moving_rates(const Model& m, const Cluster& c) {
  using Rates = boost::dynamic_bitset<>;
  const ClusterConstraint* constraint = c.constraint.get();
  std::vector<std::vector<RateRange>> out(c.count);
  if (c.nv < fewest_rates_in_ranges) return out;
  const std::size_t rows = c.spanning_nv + c.rotors;
  std::vector<Rates> of_row(rows, Rates(c.nv));
  if (constraint != nullptr && constraint->blocks) {
    for (int j = 0; j < c.nv; ++j) of_row[constraint->independent[j]].set(j);
    const LoopBlocks& blocks = *constraint->blocks;
    for (const LoopBlocks::Block& block : blocks.blocks) {
      Rates read(c.nv);
      for (int e = block.outside; e < block.outside_end; ++e) {
        read |= of_row[blocks.outside[e].column];
      }
      for (int k = block.first; k < block.first + block.size; ++k) {
        of_row[blocks.columns[k]] = read;
      }
    }
  } else if (constraint == nullptr && !c.G.empty()) {
    for (std::size_t k = 0; k < rows * c.nv; ++k) of_row[k / c.nv].set(k % c.nv, c.G[k] != 0.0);
  } else {
    for (Rates& rates : of_row) rates.set();
  }

  constexpr int longest_gap = 2;  // zeros that cost less than another range
  std::vector<Rates> of_body(c.count, Rates(c.nv));
  for (int i = c.first; i < c.first + c.count; ++i) {
    const Body& body = m.body(i);
    Rates& rates = of_body[i - c.first];
    if (body.parent >= c.first) rates = of_body[body.parent - c.first];
    for (int k = 0; k < body.nv; ++k) rates |= of_row[c.row(body.v + k)];
    std::vector<RateRange>& ranges = out[i - c.first];
    for (auto j = rates.find_first(); j != Rates::npos; j = rates.find_next(j)) {
      const int rate = static_cast<int>(j);
      if (ranges.empty() || rate > ranges.back().end + longest_gap) ranges.push_back({rate, rate});
      ranges.back().end = rate + 1;
    }
  }
  return out;
}

}  // namespace espalier
