// How exact derivatives are near dead points: a crank-rocker whose rocker leads, at ever smaller
// angles between crank and coupler, beside the same in numbers of 100 digits. See
// docs/derivatives.md.
//
//   espalier_bench_dead_points [SVG]

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "benchmarks/markdown.hpp"
#include "charts/chart.hpp"
#include "espalier/espalier.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/problems/derivatives/derivatives.hpp"

namespace espalier::bench {

namespace {

using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<100>,
                                           boost::multiprecision::et_off>;

// As in four_bar.yaml.
const Wide crank = Wide(2) / 10, coupler = Wide(5) / 10, rocker = Wide(4) / 10, base = Wide(6) / 10,
           gravity = Wide(981) / 100;

/// Angles of the bars against the ground, coupler ahead of the crank by a given angle.
struct Position {
  Wide crank, coupler, rocker;
};
/// Turns the crank until the rocker reaches the coupler's end, by Newton's method.
Position position(const Wide& angle, double guess) {
  Wide c = guess;
  for (int k = 0; k < 12; ++k) {  // digits double
    const Wide x = bench::crank * cos(c) + bench::coupler * cos(c + angle) - base;
    const Wide y = bench::crank * sin(c) + bench::coupler * sin(c + angle);
    const Wide xc = -bench::crank * sin(c) - bench::coupler * sin(c + angle);
    const Wide yc = bench::crank * cos(c) + bench::coupler * cos(c + angle);
    c -= (x * x + y * y - bench::rocker * bench::rocker) / (2 * (x * xc + y * yc));
  }
  const Wide x = bench::crank * cos(c) + bench::coupler * cos(c + angle) - base;
  const Wide y = bench::crank * sin(c) + bench::coupler * sin(c + angle);
  return {c, c + angle, atan2(y, x)};
}

/// Inertia and weight as the rocker feels them.
struct Dynamics {
  Wide M, weight, rocker;
};
Dynamics dynamics(const Wide& angle, double guess) {
  const Position p = position(angle, guess);
  // Rates of crank and coupler per rate of the rocker: P' = l n in three ways.
  const Wide across = sin(angle);
  const Wide c = bench::rocker * sin(p.coupler - p.rocker) / (bench::crank * across);
  const Wide b = -bench::rocker * sin(p.crank - p.rocker) / (bench::coupler * across);
  const auto rod = [](const Wide& length) { return length * length / 12; };
  const Wide half = bench::coupler / 2;
  // Velocity of the coupler's centre.
  const Wide vx = -bench::crank * c * sin(p.crank) - half * b * sin(p.coupler);
  const Wide vy = bench::crank * c * cos(p.crank) + half * b * cos(p.coupler);
  const Wide M = (rod(bench::crank) + bench::crank * bench::crank / 4) * c * c +
                 rod(bench::coupler) * b * b + vx * vx + vy * vy + rod(bench::rocker) +
                 bench::rocker * bench::rocker / 4;
  const Wide weight =
      gravity * (bench::crank / 2 * c * cos(p.crank) + vy + bench::rocker / 2 * cos(p.rocker));
  return {M, weight, p.rocker};
}

/// Derivatives by the rocker's angle and rate.
struct Derivatives {
  double tau_q = 0.0, tau_v = 0.0, vdot_q = 0.0, vdot_v = 0.0;
};
/// tau = M vdot + M' v^2 / 2 + weight; ' by the rocker's angle, from differences over the angle of
/// crank and coupler with steps of 1e-20 of it: their errors are 1e-40 of the derivatives.
Derivatives exact(const Wide& angle, double guess, double v, double vdot, double tau) {
  const Wide h = angle * Wide("1e-20");
  const Dynamics a = dynamics(angle - h, guess), o = dynamics(angle, guess),
                 b = dynamics(angle + h, guess);
  const auto first = [&](const Wide& x, const Wide& y) { return (y - x) / (2 * h); };
  const auto second = [&](const Wide& x, const Wide& y, const Wide& z) {
    return (x - 2 * y + z) / (h * h);
  };
  const Wide r1 = first(a.rocker, b.rocker), r2 = second(a.rocker, o.rocker, b.rocker);
  const Wide M1 = first(a.M, b.M) / r1;
  const Wide M2 = (second(a.M, o.M, b.M) - M1 * r2) / (r1 * r1);
  const Wide W1 = first(a.weight, b.weight) / r1;
  const auto by_q = [&](const Wide& acceleration) {
    return M1 * acceleration + M2 * v * v / 2 + W1;
  };
  const Wide free = (tau - M1 * v * v / 2 - o.weight) / o.M;
  return {static_cast<double>(by_q(vdot)), static_cast<double>(M1 * v),
          static_cast<double>(-by_q(free) / o.M), static_cast<double>(-M1 * v / o.M)};
}

int run(const std::string& svg) {
  const Host host;
  const ModelPtr robot = host.load(ESPALIER_SOURCE_DIR "/benchmarks/dead_points/four_bar.yaml");
  const auto inverse = host.create<InverseDynamicsDerivatives<double>>("c-rnea-derivatives", robot);
  const auto forward = host.create<ForwardDynamicsDerivatives<double>>("c-aba-derivatives", robot);
  const std::vector<double> v{0.7}, vdot{1.3}, tau{0.9};
  charts::Chart chart;
  chart.title = "Derivatives of a crank-rocker near the rocker's turning point";
  chart.label = "log10 of the singularity margin";
  std::vector<charts::Chart::Line> lines{{"dτ/dq", "#000000", "", {}},
                                         {"dτ/dv", "#0072b2", "6 3", {}},
                                         {"dv̇/dq", "#d55e00", "2 2", {}},
                                         {"dv̇/dv", "#009e73", "8 2 2 2", {}}};
  Table table({"margin", "dtau/dq", "relative error", "dtau/dv", "dvdot/dq", "dvdot/dv", "flag"},
              0);
  for (int i = 0; i <= 40; ++i) {
    const double angle = std::pow(10.0, -10.0 + 0.25 * i);
    const Position p = position(Wide(angle), 0.7);
    std::vector<double> q(robot->nq()), x(1), Dq(1), Dv(1), M(1), Fq(1), Fv(1), Ft(1), a(1);
    q[robot->joint("crank").q] = static_cast<double>(p.crank);
    q[robot->joint("coupler").q] = angle;
    q[robot->joint("rocker").q] = static_cast<double>(p.rocker);
    inverse->evaluate(q, v, vdot, x, Dq, Dv, M);
    forward->evaluate(q, v, tau, a, Fq, Fv, Ft);
    const Derivatives e = exact(Wide(angle), 0.7, v[0], vdot[0], tau[0]);
    const auto error = [](double x, double reference) {
      return std::max(std::abs(x - reference) / std::abs(reference), 1e-17);
    };
    const double errors[4] = {error(Dq[0], e.tau_q), error(Dv[0], e.tau_v), error(Fq[0], e.vdot_q),
                              error(Fv[0], e.vdot_v)};
    const double margin = inverse->margin();
    chart.x.push_back(std::log10(margin));
    for (int k = 0; k < 4; ++k) lines[k].y.push_back(std::log10(errors[k]));
    if (i % 4 != 0) continue;
    table.add({format("%.1e", margin), format("%.2e", e.tau_q), format("%.1e", errors[0]),
               format("%.1e", errors[1]), format("%.1e", errors[2]), format("%.1e", errors[3]),
               inverse->is_near_dead_point() != 0.0 ? "yes" : "no"});
  }
  chart.panels = {{"log10 of the relative error", lines}};
  std::printf("%s", table.text().c_str());
  if (svg.empty()) return 0;
  std::ofstream file(svg);
  file << chart.svg();
  if (!file) throw std::runtime_error("cannot write '" + svg + "'");
  return 0;
}

}  // namespace

}  // namespace espalier::bench

int main(int argc, char** argv) {
  try {
    return espalier::bench::run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
