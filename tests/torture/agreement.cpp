#include "tests/torture/agreement.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/problems/mass_matrix.hpp"
#include "tests/support/end_effectors.hpp"
#include "tests/support/host.hpp"

namespace espalier::torture {

namespace {

/// A matrix is singular for a computer where rounding alone may have made it regular, and surely
/// regular well before.
constexpr double singular = 1e15, regular = 1e9;

/// What one algorithm gave.
struct Answer {
  std::string name;
  std::optional<Results> results;  ///< none: it refused
  bool finite = true;
  bool is_singular = false;  ///< refused with SingularMechanism
  std::string said = {};     ///< then
};

struct Case {
  Setup setup;
  Inputs in;
  std::shared_ptr<Wrenches<double>> wrenches;
  double condition = 1.0;  ///< of the mass matrix with a unit diagonal; infinite where it is not
                           ///< positive definite, NaN where it cannot be had
  double margin = 1.0;     ///< of the loops
};

bool finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

/// Condition of the mass matrix in units in which its diagonal is 1.
double condition_of(const Case& c) {
  const int n = c.setup.model->nv();
  if (n == 0) return 1.0;
  Results results;
  try {
    test::host()
        .registry()
        .create(test::host().registry().find_algorithm("mass-matrix", "dense"), c.setup)
        ->solve(c.in, results);
  } catch (const Error&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (results.empty() || !finite(results[0].values)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Matrix M = Eigen::Map<const Matrix>(results[0].values.data(), n, n);
  for (int i = 0; i < n; ++i) {
    if (!(M(i, i) > 0.0)) return std::numeric_limits<double>::infinity();
  }
  const Eigen::VectorXd unit = M.diagonal().cwiseSqrt().cwiseInverse();
  M = unit.asDiagonal() * M * unit.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(M, Eigen::EigenvaluesOnly);
  const double low = eigen.eigenvalues().minCoeff(), high = eigen.eigenvalues().maxCoeff();
  return low > 0.0 ? high / low : std::numeric_limits<double>::infinity();
}

Case make_case(const ModelPtr& model, Rng& rng) {
  Case c;
  c.setup = test::with_tips(model);
  c.in.q.resize(model->nq());
  model->random(static_cast<unsigned long long>(rng.below(1'000'000)), c.in.q.data());
  c.in.v = rng.vector(model->nv()), c.in.tau = rng.vector(model->nv(), 5.0);
  c.in.vdot = rng.vector(model->nv(), 5.0);
  c.wrenches = std::make_shared<Wrenches<double>>(model);
  for (const Link& link : model->links()) c.wrenches->add(link, {rng.vec3(3.0), rng.vec3(3.0)});
  c.in.wrenches = c.wrenches.get();
  for (const EndEffector& e : c.setup.end_effectors) {
    c.in.task_acceleration.resize(c.in.task_acceleration.size() + e.rows.size(), 0.5);
  }
  if (model->has_variable_constraints()) c.margin = examine(*model, c.in.q.data()).margin;
  c.condition = condition_of(c);
  return c;
}

/// Largest difference of two answers over the largest number of the reference, result by result.
double difference(const Results& a, const Results& b) {
  double worst = a.size() == b.size() ? 0.0 : std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    if (a[k].values.size() != b[k].values.size()) return std::numeric_limits<double>::infinity();
    double apart = 0.0, size = 1.0;
    for (std::size_t i = 0; i < a[k].values.size(); ++i) {
      apart = std::max(apart, std::abs(a[k].values[i] - b[k].values[i]));
      size = std::max(size, std::abs(b[k].values[i]));
    }
    worst = std::max(worst, apart / size);
  }
  return worst;
}

Answer answer_of(const Entry& entry, const Case& c) {
  Answer out{entry.about.name, {}, true, false};
  try {
    Results results;
    test::host().registry().create(entry, c.setup)->solve(c.in, results);
    for (const Result& r : results) out.finite = out.finite && finite(r.values);
    out.results = std::move(results);
  } catch (const SingularMechanism& error) {
    out.is_singular = true, out.said = error.what();
  } catch (const Unsupported&) {
  }
  return out;
}

/// Problems whose answers are divided by the mass matrix, and so by its condition.
bool inverts(const std::string& problem) {
  for (const char* name : {"mass-matrix", "inverse-dynamics", "bias", "kinematics", "jacobian",
                           "energy", "center-of-mass", "joint-wrenches"}) {
    if (problem.find(name) != std::string::npos) return false;
  }
  return true;
}

/// Problems that decide ranks of their own, beside that of the mass matrix.
bool decides_ranks(const std::string& problem) {
  return problem == "operational-space" || problem == "constrained-dynamics";
}

std::string told(const std::string& problem, const Answer& a, const Answer& b, const Case& c,
                 double apart) {
  char numbers[160];
  std::snprintf(numbers, sizeof numbers, ": condition %.2g, margin %.2g, difference %.2g",
                c.condition, c.margin, apart);
  return problem + " by " + a.name + " and " + b.name + numbers;
}

/// @returns a defect, or good
Outcome judge(const std::string& problem, const std::vector<Answer>& answers, const Case& c,
              Outcome& out) {
  const bool is_regular = c.condition < regular && c.margin > 1e-3;
  const bool is_singular = c.condition > singular;
  const Answer* reference = nullptr;
  for (const Answer& a : answers) {
    if (!a.results) {
      ++out.counts[a.is_singular ? "refusals as singular" : "refusals of algorithms"];
      if (a.is_singular && is_regular && !decides_ranks(problem)) {
        return defect(problem + " by " + a.name + " refuses a regular mass matrix",
                      told(problem, a, a, c, 0.0) + "; " + a.said);
      }
      continue;
    }
    ++out.counts["answers"];
    if (!a.finite) {
      if (!is_regular) continue;
      return defect(problem + " by " + a.name + " answers with numbers that are not finite",
                    told(problem, a, a, c, 0.0));
    }
    if (is_singular && problem == "forward-dynamics") {
      return defect(problem + " by " + a.name + " answers from a singular mass matrix",
                    told(problem, a, a, c, 0.0));
    }
    if (reference == nullptr) {
      reference = &a;
      continue;
    }
    // Ranks near their thresholds, and states near dead points, amplify by what is not known here.
    if (!is_regular || (decides_ranks(problem) && c.condition > 1e5)) continue;
    const double grows = inverts(problem) ? c.condition : 1.0;
    const double allowed = (1e-8 + 1e-13 * grows) / (c.margin * c.margin);
    const double apart = difference(*a.results, *reference->results);
    ++out.counts["agreements"];
    if (apart <= allowed || decides_ranks(problem)) continue;
    return defect(problem + " by " + a.name + " differs from " + reference->name,
                  told(problem, a, *reference, c, apart));
  }
  return {};
}

}  // namespace

Outcome agree(const ModelPtr& model, Rng& rng, int problems) {
  const Registry& registry = test::host().registry();
  const Case c = make_case(model, rng);
  Outcome out;
  ++out.counts[c.condition < regular     ? "regular mass matrices"
               : c.condition > singular  ? "singular mass matrices"
               : std::isnan(c.condition) ? "mass matrices that nobody has"
                                         : "mass matrices between"];
  std::vector<std::string> all = registry.problems();
  std::erase_if(all, [&](const std::string& p) {
    return registry.algorithms(p).size() < 2 || p == "collision" || p.starts_with("contact-") ||
           p == "step-derivatives" ||  // its algorithms are different steps
           p == "forward-dynamics" || p == "inverse-dynamics";
  });
  rng.shuffle(all);
  all.resize(std::min<std::size_t>(all.size(), problems));
  all.insert(all.begin(), {"forward-dynamics", "inverse-dynamics"});
  for (const std::string& problem : all) {
    std::vector<Answer> answers;
    for (const Entry* e : registry.algorithms(problem)) {
      if (!e->capabilities.exact || !registry.can(*e, *model).ok) continue;
      answers.push_back(answer_of(*e, c));
    }
    Outcome judged = judge(problem, answers, c, out);
    if (judged.verdict != Outcome::Verdict::defect) continue;
    judged.counts = out.counts;
    return judged;
  }
  return out;
}

}  // namespace espalier::torture
