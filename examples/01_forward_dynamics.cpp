// A robot file in, accelerations out, by an algorithm that is chosen by its name.
//
//   01_forward_dynamics ROBOT [ALGORITHM]

#include <cstdio>
#include <espalier/espalier.hpp>

int main(int count, char** words) {
  if (count < 2) return std::fputs("usage: 01_forward_dynamics ROBOT [ALGORITHM]\n", stderr), 2;
  const espalier::Host host;  // finds and loads the plugins
  const auto robot = host.load(words[1], {.root = espalier::CompileOptions::Root::floating});
  const auto dynamics =
      host.create<espalier::ForwardDynamics<double>>(count > 2 ? words[2] : "aba", robot);

  // Falling freely in its neutral position, no motor does anything: every joint stays as it is, and
  // the root falls with gravity.
  std::vector<double> q(robot->nq()), v(robot->nv()), tau(robot->nv()), vdot(robot->nv());
  robot->neutral(q.data());
  dynamics->evaluate(q, v, tau, vdot);

  for (const espalier::Coordinate& c : robot->coordinates()) {
    std::printf("%-24s", c.joint.c_str());
    for (int k = 0; k < c.size; ++k) std::printf(" %9.4f", vdot[c.start + k]);
    std::printf("\n");
  }
  const int z = robot->joint("root").independent + 5;  // angular x y z, linear x y z
  return std::abs(vdot[z] - robot->gravity().z) < 1e-9 ? 0 : 1;
}
