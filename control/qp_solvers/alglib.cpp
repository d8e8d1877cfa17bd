#include "control/qp_solvers/alglib.hpp"

#include <libalglib/optimization.h>

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

/// Tolerance on infeasibility and duality gap of the scaled problem. ALGLIB's own choice leaves
/// residuals of 1e-5; below 1e-12, iterations are spent on rounding.
constexpr double tolerance = 1e-12;
/// ALGLIB may end with "no further improvement": a solution is one that meets the conditions of
/// optimality to this.
constexpr double good_enough = 1e-7;

/// Rows that miss their ranges by less than this are taken as obeyed.
constexpr double feasible = 1e-6;

/// The same bounds with a slack in each row, the sum of whose squares is minimised: always
/// solvable.
QuadraticProgram elastic(const QuadraticProgram& program) {
  const std::size_t n = program.variables(), rows = program.rows(), all = n + rows;
  QuadraticProgram relaxed(static_cast<int>(all), static_cast<int>(rows));
  std::copy(program.lower.begin(), program.lower.end(), relaxed.lower.begin());
  std::copy(program.upper.begin(), program.upper.end(), relaxed.upper.begin());
  relaxed.row_lower = program.row_lower;
  relaxed.row_upper = program.row_upper;
  for (std::size_t k = 0; k < rows; ++k) {
    std::copy_n(program.A.data() + k * n, n, relaxed.A.data() + k * all);
    relaxed.A[k * all + n + k] = 1.0;
    relaxed.H[(n + k) * (all + 1)] = 1.0;
  }
  return relaxed;
}

}  // namespace

struct AlglibSolver::State {
  alglib::minqpstate program;
  alglib::minqpreport report;
  alglib::real_2d_array H, A;
  alglib::real_1d_array g, lower, upper, row_lower, row_upper, x;
  int variables = -1;
};

AlglibSolver::AlglibSolver() : state_(std::make_unique<State>()) {}
AlglibSolver::~AlglibSolver() = default;

void AlglibSolver::compute(const QuadraticProgram& program, Solution& solution) {
  if (program.variables() == 0) {  // ALGLIB wants a variable
    const auto below = [](double x) { return x <= 0.0; };
    const auto above = [](double x) { return x >= 0.0; };
    const bool obeyed = std::all_of(program.row_lower.begin(), program.row_lower.end(), below) &&
                        std::all_of(program.row_upper.begin(), program.row_upper.end(), above);
    solution.verdict = obeyed ? Verdict::solved : Verdict::infeasible;
    return;
  }
  if (run(program, solution)) {
    solution.verdict = Verdict::solved;
    return;
  }
  // ALGLIB often says no more than "infeasible or unbounded"; the least slacks tell which.
  if (program.rows() == 0) return;
  const QuadraticProgram relaxed = elastic(program);
  Solution slack;
  slack.x.assign(relaxed.g.size(), 0.0);
  slack.bound_multipliers.assign(relaxed.g.size(), 0.0);
  slack.row_multipliers.assign(relaxed.row_lower.size(), 0.0);
  if (!run(relaxed, slack)) return;
  const bool obeyed = std::all_of(slack.x.begin() + program.variables(), slack.x.end(),
                                  [](double s) { return std::abs(s) <= feasible; });
  if (!obeyed) solution.verdict = Verdict::infeasible;
}

bool AlglibSolver::run(const QuadraticProgram& program, Solution& solution) {
  State& s = *state_;
  const int n = program.variables(), rows = program.rows();
  try {
    if (s.variables != n) alglib::minqpcreate(n, s.program);
    s.variables = -1;  // until this call has ended well
    s.H.setcontent(n, n, program.H.data());
    s.g.setcontent(n, program.g.data());
    s.lower.setcontent(n, program.lower.data());
    s.upper.setcontent(n, program.upper.data());
    alglib::minqpsetquadraticterm(s.program, s.H, true);
    alglib::minqpsetlinearterm(s.program, s.g);
    alglib::minqpsetbc(s.program, s.lower, s.upper);
    if (rows > 0) {
      s.A.setcontent(rows, n, program.A.data());
      s.row_lower.setcontent(rows, program.row_lower.data());
      s.row_upper.setcontent(rows, program.row_upper.data());
    } else {
      s.A.setlength(0, n);
    }
    alglib::minqpsetlc2dense(s.program, s.A, s.row_lower, s.row_upper, rows);
    alglib::minqpsetalgodenseipm(s.program, tolerance);
    alglib::minqpoptimize(s.program);
    alglib::minqpresultsbuf(s.program, s.x, s.report);
    s.variables = n;
  } catch (const alglib::ap_error&) {
    return false;  // its assertions on a hopeless program, as with an H that is not convex
  }
  solution.iterations += static_cast<int>(s.report.outeriterationscount);
  const auto copy = [](const alglib::real_1d_array& from, std::vector<double>& to) {
    if (from.length() >= static_cast<alglib::ae_int_t>(to.size())) {  // buffers only grow
      std::copy_n(from.getcontent(), to.size(), to.begin());
    }
  };
  copy(s.x, solution.x);
  copy(s.report.lagbc, solution.bound_multipliers);
  copy(s.report.laglc, solution.row_multipliers);
  return s.report.terminationtype > 0 && optimality_residual(program, solution) <= good_enough;
}

}  // namespace espalier
