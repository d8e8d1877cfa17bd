#include "algorithms/segments/schedule.hpp"

namespace espalier {

std::vector<PlainRun> runs_of_bodies(const Model& m, const Cluster& c) {
  std::vector<PlainRun> all;
  for (int i = c.first; i < c.first + c.count; ++i) {
    const BodyRun* run = &m.runs()[m.body(i).run];
    const int k = i - run->first;
    if (!all.empty() && all.back().run == run) {
      ++all.back().end;
    } else {
      all.push_back({run, k, k + 1, c.v - c.spanning_v});
    }
  }
  return all;
}

}  // namespace espalier
