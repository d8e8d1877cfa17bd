// Eight states of one robot at once: the same algorithm at the scalar Pack, one state per lane.
//
//   05_batch_of_states ROBOT

#include <cmath>
#include <cstdio>
#include <espalier/espalier.hpp>
#include <espalier/kernel/scalar/pack.hpp>

using espalier::Pack;

int main(int count, char** words) {
  if (count < 2) return std::fputs("usage: 05_batch_of_states ROBOT\n", stderr), 2;
  const espalier::Host host;
  const auto robot = host.load(words[1], {.root = espalier::CompileOptions::Root::floating});
  const auto all = host.create<espalier::ForwardDynamics<Pack>>("aba", robot);
  const auto one = host.create<espalier::ForwardDynamics<double>>("aba", robot);

  // Lane k holds the robot in random position k; joints move at k rad/s.
  std::vector<Pack> q(robot->nq()), v(robot->nv()), tau(robot->nv(), Pack(0.0)), vdot(robot->nv());
  std::vector<std::vector<double>> q_of(Pack::size, std::vector<double>(robot->nq()));
  for (int k = 0; k < Pack::size; ++k) {
    robot->random(k, q_of[k].data());
    for (int i = 0; i < robot->nq(); ++i) q[i].set(k, q_of[k][i]);
    for (int i = 0; i < robot->nv(); ++i) v[i].set(k, k);
  }
  all->evaluate(q, v, tau, vdot);

  double largest = 0;
  for (int k = 0; k < Pack::size; ++k) {
    const std::vector<double> rates(robot->nv(), k), rest(robot->nv());
    std::vector<double> expected(robot->nv());
    one->evaluate(q_of[k], rates, rest, expected);
    double scale = 1, error = 0;
    for (int i = 0; i < robot->nv(); ++i) {
      scale = std::fmax(scale, std::abs(expected[i]));
      error = std::fmax(error, std::abs(vdot[i][k] - expected[i]));
    }
    std::printf("state %d: relative difference to a single call %.1e\n", k, error / scale);
    largest = std::fmax(largest, error / scale);
  }
  return largest < 1e-9 ? 0 : 1;
}
