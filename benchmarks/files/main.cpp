// What becomes of robots' files as the world writes them: a row of Markdown for each. See
// docs/formats.md.
//
//   espalier_bench_files FILE...

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "benchmarks/thread_time.hpp"
#include "espalier/espalier.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/description.hpp"
#include "espalier/kernel/model/layout.hpp"

namespace espalier::bench {

namespace {

/// The best of 21 runs, for one call [us].
double time_of(ForwardDynamics<double>& algorithm, const Model& robot) {
  constexpr int states = 16, calls = 20, runs = 21;
  double best = HUGE_VAL;
  std::vector<std::vector<double>> q;
  for (int s = 0; s < states; ++s) {
    q.emplace_back(robot.nq());
    robot.neutral(q.back().data());
  }
  std::vector<double> v(robot.nv(), 0.1), tau(robot.nv(), 0.0), vdot(robot.nv());
  for (int run = 0; run < runs; ++run) {
    const double start = thread_time();
    for (int call = 0; call < calls; ++call) {
      for (const std::vector<double>& at : q) algorithm.evaluate(at, v, tau, vdot);
    }
    best = std::min(best, 1e-3 * (thread_time() - start) / (calls * states));
  }
  return best;
}

/// Largest difference from the oracle at a state with rates, relative to the largest acceleration
/// (or to 1 rad/s², for mechanisms at rest).
double error_of(const Host& host, ForwardDynamics<double>& algorithm, const ModelPtr& robot,
                const std::vector<double>& q) {
  std::vector<double> v(robot->nv()), tau(robot->nv(), 0.0), got(robot->nv()), wanted(robot->nv());
  for (int i = 0; i < robot->nv(); ++i) v[i] = 0.3 * std::sin(1.0 + i);
  algorithm.evaluate(q, v, tau, got);
  host.create<ForwardDynamics<double>>("kkt", robot)->evaluate(q, v, tau, wanted);
  double worst = 0.0, size = 1.0;
  for (int i = 0; i < robot->nv(); ++i) {
    worst = std::max(worst, std::abs(got[i] - wanted[i]));
    size = std::max(size, std::abs(wanted[i]));
  }
  return worst / size;
}

void row(const Host& host, const std::string& file) {
  std::string name = std::filesystem::path(file).stem().string();
  if (name == "robot" || name == "model") {
    name = std::filesystem::path(file).parent_path().filename().string();
  }
  try {
    const Description description = host.read(file);
    CompileOptions options;
    const ModelPtr robot = host.compile(description, options);
    int tied = 0;
    for (const Cluster& cluster : robot->clusters()) tied += cluster.constraint != nullptr;
    std::vector<double> q(robot->nq());
    robot->neutral(q.data());
    const Closure closure = examine(*robot, q.data());
    const auto algorithm = host.create<ForwardDynamics<double>>("c-aba", robot);
    std::printf(
        "| %s | %zu links, %zu loops, %zu warnings | %d | %d | %.1e | %.1e | %.1e | %.1f |\n",
        name.c_str(), description.links.size(), description.loops.size(),
        robot->extras().warnings.size(), robot->nv(), tied, closure.residual, closure.margin,
        error_of(host, *algorithm, robot, q), time_of(*algorithm, *robot));
  } catch (const Error& error) {
    std::printf("| %s | refused: %s | | | | | | |\n", name.c_str(),
                std::string(error.what()).substr(0, 300).c_str());
  }
  std::fflush(stdout);
}

}  // namespace

}  // namespace espalier::bench

int main(int count, char** files) {
  const espalier::Host host;
  std::printf(
      "| file | holds | degrees of freedom | clusters with loops | residual | margin | beside kkt "
      "| "
      "c-aba, us |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (int i = 1; i < count; ++i) espalier::bench::row(host, files[i]);
  return 0;
}
