// A sub-mechanism of one's own: a plugin states one equation between joint positions, and every
// algorithm for loops runs on the robots that use it.
//
//   06_custom_mechanism PLUGIN ROBOT
#include <cmath>
#include <cstdio>
#include <espalier/espalier.hpp>
#include <espalier/plugins/loader.hpp>

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: 06_custom_mechanism PLUGIN ROBOT\n");
    return 2;
  }
  using namespace espalier;
  Host host;
  host.loader().load(words[1]);
  const ModelPtr robot = host.load(words[2]);

  // The independent joints; the motor follows the knee.
  for (const Coordinate& c : robot->coordinates())
    std::printf("independent: %s\n", c.joint.c_str());
  State state(robot);
  state.set_position("knee", 1.5);        // opens the loop
  const Closure closure = state.close();  // the motor follows
  std::printf("%s\nmotor angle at knee 1.5 rad: %.4f rad\n", closure.text().c_str(),
              state.position("motor")[0]);

  std::vector<double> tau(robot->nv(), 0.0), vdot(robot->nv()), again(robot->nv());
  state.set_rate("knee", 2.0);
  host.create<ForwardDynamics<double>>("c-aba", robot)->evaluate(state, tau, vdot);
  host.create<InverseDynamics<double>>("c-rnea", robot)->evaluate(state, vdot, again);
  std::printf("falling: hip %.4f, knee %.4f rad/s²; inverse dynamics gives back %.1e, %.1e N·m\n",
              vdot[0], vdot[1], again[0], again[1]);
  const bool inverse = std::abs(again[0]) < 1e-10 && std::abs(again[1]) < 1e-10;
  return closure.verdict == Closure::Verdict::closed && inverse ? 0 : 1;
}
