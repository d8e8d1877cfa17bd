// Which torques hold a robot that is pushed? Inverse dynamics under an external wrench, and the way
// back by forward dynamics.
//
//   02_inverse_dynamics_and_wrench ROBOT

#include <cmath>
#include <cstdio>
#include <espalier/espalier.hpp>

int main(int count, char** words) {
  if (count < 2) return std::fputs("usage: 02_inverse_dynamics_and_wrench ROBOT\n", stderr), 2;
  const espalier::Host host;
  const auto robot = host.load(words[1]);  // the root is fixed
  const auto rnea = host.create<espalier::InverseDynamics<double>>("rnea", robot);
  const auto aba = host.create<espalier::ForwardDynamics<double>>("aba", robot);

  std::vector<double> q(robot->nq()), v(robot->nv()), vdot(robot->nv()), tau(robot->nv());
  robot->random(1, q.data());

  // A moment about the origin of the last link, and a force, both in its frame [N·m, N].
  espalier::Wrenches<double> push(robot);
  push.add(robot->links().back().name, {{0, 0, 0}, {20, 0, 50}});

  rnea->evaluate(q, v, vdot, tau, &push);  // torques that keep it at rest, vdot = 0
  aba->evaluate(q, v, tau, vdot, &push);   // accelerations under these torques

  double largest = 0;
  for (const espalier::Coordinate& c : robot->coordinates()) {
    std::printf("%-24s %9.4f N·m\n", c.joint.c_str(), tau[c.start]);
    largest = std::fmax(largest, std::abs(vdot[c.start]));
  }
  std::printf("largest acceleration under these torques: %.1e\n", largest);
  return largest < 1e-9 ? 0 : 1;
}
