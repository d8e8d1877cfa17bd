// A thousand copies of one robot on all cores: their accelerations, and a second of their motion.
//
//   09_many_robots ROBOT

#include <cmath>
#include <cstdio>
#include <espalier/espalier.hpp>
#include <espalier/sensing/sensor_verdict.hpp>
#include <espalier/simulation/batch_simulation.hpp>

int main(int count, char** words) {
  if (count < 2) return std::fputs("usage: 09_many_robots ROBOT\n", stderr), 2;
  const espalier::Host host;
  const auto robot = host.load(words[1]);
  constexpr int N = 1000;
  const int nq = robot->nq(), nv = robot->nv();

  // Structures of arrays: number i of robot k stands at [i * N + k].
  std::vector<double> q(nq * N), v(nv * N, 0.0), tau(nv * N, 0.0), vdot(nv * N), one(nq);
  for (int k = 0; k < N; ++k) {
    robot->random(k, one.data());
    for (int i = 0; i < nq; ++i) q[i * N + k] = one[i];
  }
  const auto batch = host.batch<espalier::ForwardDynamics>("c-aba", robot);
  std::vector<espalier::BatchStatus> status(N);
  batch->evaluate(N, {.q = q, .v = v, .tau = tau}, {{"vdot", vdot}}, status);
  int good = 0;
  for (const espalier::BatchStatus s : status) good += s == espalier::BatchStatus::ok ? 1 : 0;
  std::printf("accelerations of %d of %d robots on %d threads\n", good, N, batch->threads());

  // The same in one call, by floats: sixteen at a time, and about six digits.
  std::vector<double> rounded(nv * N);
  host.evaluate_batch<espalier::ForwardDynamics>("c-aba", robot, N, {.q = q, .v = v, .tau = tau},
                                                 {{"vdot", rounded}},
                                                 {.precision = espalier::Precision::floats});
  double largest = 0.0, error = 0.0;
  for (int i = 0; i < nv * N; ++i) {
    largest = std::fmax(largest, std::abs(vdot[i]));
    error = std::fmax(error, std::abs(rounded[i] - vdot[i]));
  }
  std::printf("floats are off by %.1e of the largest\n", error / largest);

  // All let go, with a damper on every joint.
  const auto simulation = make_batch_simulation(host, robot, {.integrator = "semi-implicit-euler"});
  simulation->set_controller([](const espalier::BatchSample& at, std::span<double> forces) {
    for (std::size_t i = 0; i < forces.size(); ++i) forces[i] -= 0.5 * at.v[i];
  });
  simulation->start(N, q, v);
  simulation->run(1.0, 1e-3, 250, [&](const espalier::BatchSample& at) {
    double fastest = 0.0;
    for (const double x : at.v) fastest = std::fmax(fastest, std::abs(x));
    std::printf("t = %.2f s: the fastest joint of all moves at %.2f rad/s\n", at.t, fastest);
    return std::isfinite(fastest);
  });
  simulation->judge(status);
  for (const espalier::BatchStatus s : status) good -= s == espalier::BatchStatus::ok ? 1 : 0;
  return good == 0 ? 0 : 1;
}
