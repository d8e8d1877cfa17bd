// The heat in a leg's motors during a swing, and its gradient by gear ratios and lengths of the
// four-bar: exact derivatives of the dynamics along the design, checked by differences, and a
// design that takes less.
//
//   14_leg_design
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "espalier/espalier.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/derivatives/design_variation.hpp"
#include "espalier/kernel/problems/dynamics/inverse_dynamics.hpp"
#include "swing_leg.hpp"

using namespace espalier;
using examples::LegDesign;
using examples::swing_leg;
using Gradient = std::array<double, LegDesign::count>;

namespace {

constexpr int samples = 60;
constexpr double duration = 0.5, resistance = 25.0;  // [s]; heat per torque squared [W/(N·m)²]

/// A smooth way from one angle to another, at rest at both ends, with its two rates.
std::array<double, 3> way(double from, double to, double t) {
  const double s = t / duration, d = to - from;
  return {from + d * s * s * s * (10 + s * (-15 + 6 * s)),
          d * 30 * s * s * (1 + s * (-2 + s)) / duration,
          d * 60 * s * (1 + s * (-3 + 2 * s)) / (duration * duration)};
}

/// A leg of a design during its swing.
class Swing {
 public:
  Swing(const Host& host, const LegDesign& design)
      : host_(host),
        design_(design),
        leg_(host.compile(swing_leg(design))),
        dynamics_(host.create<InverseDynamics<double>>("c-rnea", leg_)),
        variation_(host.create<DesignVariation<double>>("adjoint-variation", leg_)),
        hip_(leg_->joint("hip").independent),
        knee_(leg_->joint("knee").independent) {}

  /// Heat of both motors [J]; infinite where the four-bar does not reach.
  double heat(Gradient* gradient = nullptr) {
    if (gradient != nullptr) {
      gradient->fill(0.0);
      add_families();
    }
    std::vector<double> q(leg_->nq()), next;
    leg_->neutral(q.data());
    double sum = 0.0;
    for (int i = 0; i <= samples; ++i) {
      const double t = duration * i / samples, weight = i == 0 || i == samples ? 0.5 : 1.0;
      const auto hip = way(0.5, -0.6, t), knee = way(-0.2, -1.3, t);
      next = q;
      next[leg_->joint("hip").q] = hip[0], next[leg_->joint("knee").q] = knee[0];
      leg_->apply_couplings(next.data());
      if (close(*leg_, q.data(), next.data()).verdict != Closure::Verdict::closed) {
        return std::numeric_limits<double>::infinity();
      }
      q = next;
      sum += duration / samples * weight * resistance *
             losses(q, ordered(hip[1], knee[1]), ordered(hip[2], knee[2]),
                    duration / samples * weight * resistance, gradient);
    }
    return sum;
  }

 private:
  std::vector<double> ordered(double hip, double knee) const {
    std::vector<double> x(2);
    x[hip_] = hip, x[knee_] = knee;
    return x;
  }
  void add_families() {
    for (int k = 0; k < LegDesign::count; ++k) {
      const double h = 1e-4 * design_.numbers[k];
      variation_->add({LegDesign::names[k], host_.compile(swing_leg(design_.changed(k, -h))),
                       host_.compile(swing_leg(design_.changed(k, h))), 2 * h});
    }
  }
  /// Sum of squared motor torques u = tau / (rate of the rotor per rate of the joint).
  double losses(const std::vector<double>& q, const std::vector<double>& v,
                const std::vector<double>& vdot, double weight, Gradient* gradient) {
    std::vector<double> tau(2), by(LegDesign::count);
    dynamics_->evaluate(q, v, vdot, tau);
    // At unit rates of both joints, the rotors turn as fast as they do per rate of their own joint.
    SpanningMotion<double> motion(*leg_);
    const std::vector<double> unit{1.0, 1.0}, zero{0.0, 0.0};
    motion.update(q.data(), unit.data());
    const int rotor[] = {leg_->joint("hip_rotor").v, leg_->joint("knee_rotor").v};
    const double ratio[] = {motion.qd()[rotor[0]], motion.qd()[rotor[1]]};
    const double u[] = {tau[hip_] / ratio[0], tau[knee_] / ratio[1]};
    if (gradient != nullptr) {
      variation_->evaluate(q, v, vdot, ordered(2 * u[0] / ratio[0], 2 * u[1] / ratio[1]), by);
      for (int k = 0; k < LegDesign::count; ++k) (*gradient)[k] += weight * by[k];
      variation_->evaluate(q, unit, zero, zero, by);
      for (int k = 0; k < LegDesign::count; ++k) {
        const std::vector<double>& moves = variation_->spanning(k).qd;
        for (int m = 0; m < 2; ++m) {
          (*gradient)[k] -= weight * 2 * u[m] * u[m] / ratio[m] * moves[rotor[m]];
        }
      }
    }
    return u[0] * u[0] + u[1] * u[1];
  }

  const Host& host_;
  const LegDesign design_;
  const ModelPtr leg_;
  std::unique_ptr<InverseDynamics<double>> dynamics_;
  std::unique_ptr<DesignVariation<double>> variation_;
  const int hip_, knee_;
};

double heat(const Host& host, const LegDesign& design, Gradient* gradient = nullptr) {
  return Swing(host, design).heat(gradient);
}

/// Largest difference from central ones, by shares of each number.
double check(const Host& host, const LegDesign& design, const Gradient& gradient) {
  double apart = 0.0;
  std::printf("%-12s %10s %18s %18s\n", "number", "value", "exact [J per 1]", "by differences");
  for (int k = 0; k < LegDesign::count; ++k) {
    const double h = 1e-3 * design.numbers[k];
    const double narrow = heat(host, design.changed(k, h)) - heat(host, design.changed(k, -h));
    const double wide =
        heat(host, design.changed(k, 2 * h)) - heat(host, design.changed(k, -2 * h));
    const double difference = (8 * narrow - wide) / (12 * h);
    apart = std::max(apart, std::abs(gradient[k] - difference) * design.numbers[k]);
    std::printf("%-12s %10.4f %18.9f %18.9f\n", LegDesign::names[k], design.numbers[k], gradient[k],
                difference);
  }
  return apart;
}

/// Steepest descent of the logarithms of all numbers, each within a factor of its first value.
LegDesign improve(const Host& host, LegDesign design) {
  constexpr double most = 1.5;
  const LegDesign first = design;
  double step = 0.05, now = 0.0;
  for (int iteration = 0; iteration < 40 && step > 1e-4; ++iteration) {
    Gradient gradient;
    now = heat(host, design, &gradient);
    double size = 0.0;
    for (int k = 0; k < LegDesign::count; ++k) {
      size = std::max(size, std::abs(gradient[k] * design.numbers[k]));
    }
    for (; step > 1e-4; step *= 0.5) {
      LegDesign next = design;
      for (int k = 0; k < LegDesign::count; ++k) {
        const double by = -step * gradient[k] * design.numbers[k] / size;
        next.numbers[k] = std::clamp(design.numbers[k] * std::exp(by), first.numbers[k] / most,
                                     first.numbers[k] * most);
      }
      if (heat(host, next) < now) {
        design = next, step = std::min(0.1, 1.5 * step);
        break;
      }
    }
  }
  return design;
}

}  // namespace

int main() {
  const Host host;
  const LegDesign first;
  Gradient gradient;
  const double before = heat(host, first, &gradient);
  const double apart = check(host, first, gradient);
  const LegDesign best = improve(host, first);
  const double after = heat(host, best);
  std::printf("heat of a swing: %.4f J, then %.4f J with", before, after);
  for (int k = 0; k < LegDesign::count; ++k) {
    std::printf(" %s %.4f", LegDesign::names[k], best.numbers[k]);
  }
  std::printf("\nexact gradient and differences are apart by %.1e J per 100 %%\n", apart);
  // Differences of fourth order at steps of a thousandth: 1e-12 of truncation, 1e-9 of closure.
  return apart < 1e-6 * before && after < 0.9 * before ? 0 : 1;
}
