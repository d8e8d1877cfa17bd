// A joint type from a plugin of one's own (external_plugin/rolling_joint.cpp), loaded by its path:
// every algorithm runs on it at once.
//
//   03_custom_joint PLUGIN ROBOT

#include <cmath>
#include <cstdio>
#include <espalier/espalier.hpp>
#include <espalier/plugins/loader.hpp>

int main(int count, char** words) {
  if (count < 3) return std::fputs("usage: 03_custom_joint PLUGIN ROBOT\n", stderr), 2;
  espalier::Host host;
  host.loader().load(words[1]);
  const auto robot = host.load(words[2]);

  std::vector<double> q(robot->nq()), v(robot->nv(), 2.0), tau(robot->nv(), 0.1);
  std::vector<double> expected(robot->nv()), vdot(robot->nv());
  robot->random(1, q.data());
  host.create<espalier::ForwardDynamics<double>>("dense", robot)->evaluate(q, v, tau, expected);

  bool agree = true;
  for (const char* name : {"aba", "crba-ltl"}) {
    host.create<espalier::ForwardDynamics<double>>(name, robot)->evaluate(q, v, tau, vdot);
    for (const espalier::Coordinate& c : robot->coordinates()) {
      std::printf("%-10s %-12s %12.6f rad/s²\n", name, c.joint.c_str(), vdot[c.start]);
      agree = agree && std::abs(vdot[c.start] / expected[c.start] - 1) < 1e-9;
    }
  }
  return agree ? 0 : 1;
}
