#pragma once

#include <algorithm>
#include <array>
#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/integrator.hpp"
#include "simulation/integrators/chart.hpp"

namespace espalier {

/// Embedded Runge-Kutta method of orders 5 and 4 whose steps are as long as the tolerances allow,
/// on manifolds: each step integrates v and the tangent coordinates of the position about the
/// step's start, so that quaternions stay unit ones and keep the order. A call of step(h) takes as
/// many steps as it needs and ends at t + h.
///
///   relative_tolerance, absolute_tolerance   of one step, on each coordinate and rate
///
/// Source: Dormand, Prince (1980), by Boost.Odeint; Hairer, Lubich, Wanner (2006), section IV.8.
class DormandPrince final : public Integrator {
 public:
  static constexpr std::array<std::string_view, 2> parameters{"relative_tolerance",
                                                              "absolute_tolerance"};

  DormandPrince(ModelPtr model, const PartSpec& options)
      : Integrator(std::move(model)),
        chart_(this->model()),
        relative_(options.positive("relative_tolerance", 1e-9)),
        absolute_(options.positive("absolute_tolerance", 1e-10)),
        stepper_(Stepper::error_checker_type(absolute_, relative_, 1.0, 1.0)),
        nx_(this->model().spanning_nv()),
        qd_(nx_),
        x_(nx_ + this->model().nv()),
        dx_(x_.size()),
        next_(x_.size()),
        dnext_(x_.size()) {}

  void step(EquationsOfMotion& motion, double t, double h, double* q, double* v) override {
    const auto rates = [&](const State& x, State& dx, double at) {
      const double* position = chart_.position(x.data());
      motion.evaluate(at, position, x.data() + nx_, qd_.data(), dx.data() + nx_);
      chart_.rates(qd_.data(), dx.data());
    };
    const double end = t + h;
    // What is left by rounding alone is no step.
    while (end - t > 1e-12 * h) {
      chart_.start(q);
      std::fill_n(x_.begin(), nx_, 0.0);
      std::copy_n(v, x_.size() - nx_, x_.begin() + nx_);
      rates(x_, dx_, t);
      const double suggested = suggested_ > 0.0 ? suggested_ : h;
      double dt = std::min({suggested, end - t, chart_.reach(qd_.data())});
      // A step that was cut short says nothing of how long it could have been.
      bool cut = dt < suggested;
      while (!attempt(rates, t, dt)) {
        cut = false;
        if (dt > 1e-12 * h) continue;
        throw SingularMechanism("integrator 'dormand-prince': step at t = " + std::to_string(t) +
                                " s is shorter than 1e-12 of the output step, expected one of the "
                                "asked tolerance (the motion is singular there, or the tolerance " +
                                "below rounding)");
      }
      suggested_ = cut ? std::max(dt, suggested) : dt;
      std::copy_n(chart_.position(next_.data()), this->model().nq(), q);
      std::copy(next_.begin() + nx_, next_.end(), v);
      motion.settle(t, q);
    }
  }

 private:
  using State = std::vector<double>;
  using Method = boost::numeric::odeint::runge_kutta_dopri5<State>;
  using Stepper = boost::numeric::odeint::controlled_runge_kutta<Method>;

  /// One try; on success t is the end and dt the suggestion for the next, else dt is shorter.
  template <class Rates>
  bool attempt(const Rates& rates, double& t, double& dt) {
    const double start = t, tried = dt;
    if (stepper_.try_step(rates, x_, dx_, t, next_, dnext_, dt) !=
        boost::numeric::odeint::success) {
      return false;
    }
    // The controller takes an error that is not a number for a small one.
    const auto finite = [](double x) { return std::isfinite(x); };
    if (std::all_of(next_.begin(), next_.end(), finite)) return true;
    t = start;
    dt = 0.2 * tried;
    return false;
  }

  Chart chart_;
  double relative_, absolute_;
  Stepper stepper_;
  int nx_;
  double suggested_ = 0.0;  ///< length of the next step
  std::vector<double> qd_;
  State x_, dx_, next_, dnext_;
};

}  // namespace espalier
