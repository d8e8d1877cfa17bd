// Which algorithms can run on this robot, exactly, and what stands in the way of the others?
//
//   04_query_capabilities ROBOT

#include <algorithm>
#include <cstdio>
#include <espalier/espalier.hpp>

int main(int count, char** words) {
  if (count < 2) return std::fputs("usage: 04_query_capabilities ROBOT\n", stderr), 2;
  const espalier::Host host;
  const auto robot = host.load(words[1]);

  bool solvable = false;
  for (const espalier::Entry* algorithm : host.registry().algorithms("forward-dynamics")) {
    const espalier::Verdict verdict = host.registry().can(*algorithm, *robot);
    std::printf("%-10s %s", algorithm->about.name.c_str(), verdict.ok ? "yes, at" : "no: ");
    for (const auto scalar : verdict.scalars) {
      if (verdict.ok) std::printf(" %.*s", static_cast<int>(scalar.size()), scalar.data());
    }
    std::printf("%s\n", verdict.obstacle.c_str());
    for (const std::string& name : verdict.alternatives) {
      std::printf("%-10s try %s\n", "", name.c_str());
    }
    solvable = solvable || (verdict.ok && verdict.exact);

    // To ask for what it cannot do is an error with the same words, never a wrong number.
    try {
      host.registry().create(*algorithm, {robot});
      if (!verdict.ok) return 1;
    } catch (const espalier::Unsupported&) {
      if (verdict.ok) return 1;
    }
  }
  return solvable ? 0 : 1;
}
