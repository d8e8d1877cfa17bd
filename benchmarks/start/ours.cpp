// From a process's start to its first result: what the suite starts and times.
//
//   espalier_bench_start ROBOT fixed|floating [memory]

#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#include "benchmarks/start/memory.hpp"
#include "espalier/espalier.hpp"

int main(int count, char** words) {
  if (count < 3) return 2;
  try {
    const espalier::Host host;
    espalier::CompileOptions options;
    if (std::strcmp(words[2], "floating") == 0) options.root = espalier::Root::floating;
    const espalier::ModelPtr robot = host.load(words[1], options);
    const auto aba = host.create<espalier::ForwardDynamics<double>>("aba", robot);
    const espalier::State state(robot);
    std::vector<double> tau(robot->nv()), vdot(robot->nv());
    aba->evaluate(state.q(), state.v(), tau, vdot);
    std::printf("%.17g\n", vdot.back());
    if (count > 3) std::printf("%ld\n", espalier::bench::most_memory());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "espalier_bench_start: %s\n", error.what());
    return 1;
  }
  return 0;
}
