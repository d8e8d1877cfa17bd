// A leg with loops in time: it swings while a controller holds one of its joints.
#include <cstdio>

#include "espalier/espalier.hpp"
#include "espalier/simulation/controllers.hpp"
#include "espalier/simulation/simulation.hpp"

int main(int, char** argv) {
  const espalier::Host host;
  const espalier::ModelPtr robot = host.load(argv[1]);

  // A force may act on any joint: independent, dependent, or a rotor behind a gear.
  const espalier::PdControl::Gains gains{.kp = 60.0, .kd = 3.0, .target = -0.4, .target_rate = 0.0};
  std::vector<std::unique_ptr<espalier::Controller>> controllers;
  controllers.push_back(std::make_unique<espalier::PdControl>(
      *robot, std::vector{std::pair{std::string(argv[2]), gains}}));

  const auto simulation = make_simulation(host, robot, {.algorithm = "c-aba", .integrator = "rk4"},
                                          {}, std::move(controllers));
  const int q = robot->joint(argv[2]).q;
  simulation->run(2.0, 5e-4, 800, [&](const espalier::Sample& now) {
    std::printf("t %.1f s: %s at %+.4f rad, energy %.4f J, loops open by %.1e\n", now.t, argv[2],
                now.q[q], now.energy(), now.residual);
    return true;
  });
  return simulation->sample().residual < 1e-10 ? 0 : 1;
}
