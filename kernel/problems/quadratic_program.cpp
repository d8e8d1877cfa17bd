#include "espalier/kernel/problems/quadratic_program.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "espalier/kernel/text.hpp"
#include "espalier/kernel/views.hpp"

namespace espalier {

namespace {

constexpr const char* who = "quadratic program";

/// What a solver calls solved is believed up to this residual.
constexpr double believed = 1e-6;

void expect_finite(const char* what, const std::vector<double>& x, std::size_t columns) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i])) continue;
    std::string place = "[" + std::to_string(i / columns) + "]";
    if (columns > 1) place += "[" + std::to_string(i % columns) + "]";
    throw InvalidModel(std::string(who) + ": " + what + place + " is " + text::number(x[i]) +
                       ", expected a finite number");
  }
}

void expect_bounds(const char* what, const std::vector<double>& lower,
                   const std::vector<double>& upper) {
  for (std::size_t i = 0; i < lower.size(); ++i) {
    // NaN compares with nothing; an infinite bound on the wrong side leaves no room.
    if (lower[i] <= upper[i] && lower[i] < QuadraticProgram::infinity &&
        upper[i] > -QuadraticProgram::infinity) {
      continue;
    }
    throw InvalidModel(std::string(who) + ": range of " + what + " " + std::to_string(i) + " is " +
                       text::number(lower[i]) + " to " + text::number(upper[i]) +
                       ", expected a lower bound that is not above the upper one");
  }
}

/// The violation of a bound, and what a multiplier is beside a bound that is not reached.
void weigh(double x, double lower, double upper, double multiplier, double scale, double& worst) {
  const auto take = [&](double error) {
    if (!(error <= worst)) worst = error;  // keeps NaN
  };
  take(lower - x);
  take(x - upper);
  if (multiplier == 0.0) return;
  const double room = multiplier > 0.0 ? upper - x : x - lower;
  const double force = std::abs(multiplier) / scale, distance = std::abs(room);
  // A multiplier of a bound that is not there is an error by itself.
  take(std::isfinite(room) ? force * distance / std::max({1.0, force, distance}) : force);
}

}  // namespace

QuadraticProgramSolver::~QuadraticProgramSolver() = default;

void QuadraticProgram::resize(int variables, int rows) {
  const std::size_t n = variables, m = rows;
  H.assign(n * n, 0.0);
  g.assign(n, 0.0);
  lower.assign(n, -infinity);
  upper.assign(n, infinity);
  A.assign(m * n, 0.0);
  row_lower.assign(m, -infinity);
  row_upper.assign(m, infinity);
}

const QuadraticProgramSolver::Solution& QuadraticProgramSolver::solve(
    const QuadraticProgram& program) {
  const long n = program.variables(), m = program.rows();
  expect_size(who, "H", static_cast<long>(program.H.size()), n * n);
  expect_size(who, "lower", static_cast<long>(program.lower.size()), n);
  expect_size(who, "upper", static_cast<long>(program.upper.size()), n);
  expect_size(who, "A", static_cast<long>(program.A.size()), m * n);
  expect_size(who, "row_upper", static_cast<long>(program.row_upper.size()), m);
  expect_finite("H", program.H, n);
  expect_finite("g", program.g, 1);
  expect_finite("A", program.A, n);
  expect_bounds("variable", program.lower, program.upper);
  expect_bounds("row", program.row_lower, program.row_upper);

  solution_.verdict = Verdict::failed;
  solution_.iterations = 0;
  solution_.x.assign(n, 0.0);
  solution_.bound_multipliers.assign(n, 0.0);
  solution_.row_multipliers.assign(m, 0.0);
  compute(program, solution_);
  solution_.residual = optimality_residual(program, solution_);
  if (solution_.verdict == Verdict::solved && !(solution_.residual <= believed)) {
    solution_.verdict = Verdict::failed;
  }
  return solution_;
}

double optimality_residual(const QuadraticProgram& p,
                           const QuadraticProgramSolver::Solution& solution) {
  const std::size_t n = p.g.size(), m = p.row_lower.size();
  double scale = 1.0, worst = 0.0;
  for (const double x : p.g) scale = std::max(scale, std::abs(x));
  for (const double x : p.H) scale = std::max(scale, std::abs(x));

  std::vector<double> gradient(p.g);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) gradient[i] += p.H[i * n + j] * solution.x[j];
    gradient[i] += solution.bound_multipliers[i];
    weigh(solution.x[i], p.lower[i], p.upper[i], solution.bound_multipliers[i], scale, worst);
  }
  for (std::size_t k = 0; k < m; ++k) {
    double value = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      value += p.A[k * n + j] * solution.x[j];
      gradient[j] += p.A[k * n + j] * solution.row_multipliers[k];
    }
    weigh(value, p.row_lower[k], p.row_upper[k], solution.row_multipliers[k], scale, worst);
  }
  for (const double x : gradient) {
    if (!(std::abs(x) / scale <= worst)) worst = std::abs(x) / scale;
  }
  return worst;
}

}  // namespace espalier
