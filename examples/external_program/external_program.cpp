// Loads a robot and computes its accelerations; tells which plugins did the work.
//
//   ESPALIER_PLUGIN_PATH=<folder of further plugins> external_program ROBOT

#include <cstdio>
#include <espalier/espalier.hpp>
#include <espalier/plugins/loader.hpp>

int main(int count, char** words) try {
  if (count < 2) return std::fputs("usage: external_program ROBOT\n", stderr), 2;
  const espalier::Host host;
  for (const espalier::LoadedPlugin& plugin : host.loader().loaded()) {
    std::printf("plugin %s\n", plugin.file.c_str());
  }
  const auto robot = host.load(words[1]);
  std::vector<double> q(robot->nq()), v(robot->nv()), tau(robot->nv()), vdot(robot->nv());
  robot->random(1, q.data());
  host.create<espalier::ForwardDynamics<double>>("aba", robot)->evaluate(q, v, tau, vdot);
  for (const espalier::Coordinate& c : robot->coordinates()) {
    std::printf("acceleration %s %.17g\n", c.joint.c_str(), vdot[c.start]);
  }
  return 0;
} catch (const espalier::Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
