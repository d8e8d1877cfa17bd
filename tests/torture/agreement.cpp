#include "tests/torture/agreement.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "algorithms/oracles/dense.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"
#include "tests/support/end_effectors.hpp"
#include "tests/support/host.hpp"
#include "tests/torture/term_sizes.hpp"

namespace espalier::torture {

namespace {

/// A matrix is singular for a computer where rounding alone may have made it regular, and surely
/// regular well before.
constexpr double singular = 1e15, regular = 1e9;
/// Some hundred roundings, of which each is 1e-16 of the terms.
constexpr double rounding = 1e-13;

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
  /// Of the mass matrix with a unit diagonal; infinite where it is not positive definite, NaN where
  /// it cannot be had.
  double condition = 1.0;
  /// The terms of the same matrix (TermSizes) over its entries: what is lost where they cancel.
  double cancelled = 1.0;
  double margin = 1.0;      ///< of the loops
  Eigen::MatrixXd inverse;  ///< of the mass matrix, where it is regular
  std::shared_ptr<TermSizes> terms;
  std::shared_ptr<DenseEquations> equations;

  /// Longest way between joints of moving links, or from a joint to the mass, over the least radius
  /// of gyration: beside mass times distance squared the square of it is what is left of a link's
  /// own inertia.
  double spread = 1.0;

  double sensitivity() const { return condition * cancelled; }
  bool is_regular() const { return sensitivity() < regular && margin > 1e-3 && spread < 1e7; }
  /// Where terms cancel, what is left may be zero or not: nobody can tell. And with inertia along
  /// every joint no matrix is singular but by numbers of which some are 1e8 times others.
  bool is_singular() const {
    return condition > singular && cancelled < 1e3 && !setup.model->inertia_groups().empty();
  }
};

bool finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

double spread_of(const Case& c) {
  const Model& model = *c.setup.model;
  TreeKinematics<double> joints(model);
  joints.update(model, c.in.q.data(), nullptr);
  double longest = 0.0, least = std::numeric_limits<double>::infinity();
  for (int i = 1; i <= model.body_count(); ++i) {
    const Vec3<double>& r = joints.X[i].r;
    const RigidInertia<double>& I = model.body(i).inertia;
    if (model.body(i).parent != 0) longest = std::max(longest, std::hypot(r.x, r.y, r.z));
    if (!(I.m > 0.0)) continue;
    longest = std::max(longest, std::hypot(I.h.x, I.h.y, I.h.z) / I.m);
    const double all = I.I.xx + I.I.yy + I.I.zz;
    if (all > 0.0) least = std::min(least, std::sqrt(all / I.m));
  }
  return longest > 0.0 && least > 0.0 ? std::max(1.0, longest / least) : 1.0;
}

/// Looks at the mass matrix in units in which its diagonal is 1.
void look_at_inertia(Case& c) {
  const int n = c.setup.model->nv();
  if (n == 0) return;
  c.condition = std::numeric_limits<double>::quiet_NaN();
  c.equations = std::make_shared<DenseEquations>(*c.setup.model);
  c.equations->update(c.in.q.data(), c.in.v.data(), c.setup.model->gravity(), nullptr);
  const Eigen::MatrixXd& M = c.equations->M();
  if (!M.allFinite()) return;
  // Their inverse overflows.
  if (M.diagonal().maxCoeff() > 1e150 ||
      (M.diagonal().array() > 0.0 && M.diagonal().array() < 1e-150).any())
    return;
  c.terms = std::make_shared<TermSizes>(*c.setup.model, c.in.q.data(), c.in.v.data());
  const Eigen::MatrixXd N = c.terms->inertia();
  c.condition = std::numeric_limits<double>::infinity();
  for (int i = 0; i < n; ++i) {
    if (M(i, i) > 0.0) continue;
    if (N(i, i) > 0.0) c.cancelled = std::numeric_limits<double>::infinity();
    return;
  }
  const Eigen::VectorXd unit = M.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd scaled = unit.asDiagonal() * M * unit.asDiagonal();
  c.cancelled =
      std::max(1.0, Eigen::MatrixXd(unit.asDiagonal() * N * unit.asDiagonal()).maxCoeff());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(scaled);
  const double low = eigen.eigenvalues().minCoeff(), high = eigen.eigenvalues().maxCoeff();
  if (!(low > 0.0)) return;
  c.condition = high / low;
  // By elimination, which keeps small entries: those of eigenvectors are lost beside the large.
  c.inverse = unit.asDiagonal() * scaled.llt().solve(Eigen::MatrixXd(unit.asDiagonal()));
}

/// Condition of the equations of the whole spanning tree with the forces of its constraints, which
/// some methods solve: rates measured by their inertia, rows [-G 1] of unit length.
double condition_of_tree(const Case& c) {
  const Eigen::MatrixXd &H = c.equations->H(), &G = c.equations->G();
  const long n = H.rows(), m = n - G.cols();
  const Eigen::ArrayXd inertia = H.diagonal().array();
  const Eigen::VectorXd unit =
      (inertia > 1e-14 * inertia.maxCoeff()).select(inertia.rsqrt(), 1.0).matrix();
  std::vector<bool> independent(n, false);
  for (const int rate : c.setup.model->independent_rates()) independent[rate] = true;
  Eigen::MatrixXd K(m, n);
  long row = 0;
  for (long i = 0; i < n; ++i) {
    if (independent[i]) continue;
    K.row(row).setZero();
    for (int j = 0; j < G.cols(); ++j) {
      K(row, c.setup.model->independent_rates()[j]) =
          -G(i, j) * unit(c.setup.model->independent_rates()[j]);
    }
    K(row, i) += unit(i);
    K.row(row++).normalize();
  }
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n + m, n + m);
  A.topLeftCorner(n, n) = unit.asDiagonal() * H * unit.asDiagonal();
  A.topRightCorner(n, m) = -K.transpose();
  A.bottomLeftCorner(m, n) = K;
  if (!A.allFinite()) return std::numeric_limits<double>::infinity();
  const Eigen::VectorXd values = Eigen::BDCSVD<Eigen::MatrixXd>(A).singularValues();
  return values(0) / values(n + m - 1);
}

/// Largest over smallest inertia that a rate has alone or with all that its couplings turn. Beyond
/// 1e15 no digit is left of the small ones in one system of equations that has the large ones, too:
/// whether a pivot is zero is a guess.
double inertias_apart(const Case& c) {
  double largest = 0.0, smallest = std::numeric_limits<double>::infinity();
  for (const Eigen::MatrixXd* inertias : {&c.equations->H(), &c.equations->M()}) {
    for (const double inertia : inertias->diagonal()) {
      largest = std::max(largest, inertia);
      if (inertia > 0.0) smallest = std::min(smallest, inertia);
    }
  }
  return largest / smallest;
}

/// Whether a method finds the forces of constraints, or all forces, on its way.
bool solves_for_constraints(const std::string& problem, const std::string& algorithm) {
  return problem == "sensor-dynamics" || algorithm == "kkt" || algorithm == "lagrange-multiplier" ||
         algorithm == "sparse-forward" || algorithm == "sparse-inverse";
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
  look_at_inertia(c);
  c.spread = spread_of(c);
  return c;
}

/// What rounding may do to the numbers of an answer beside a share of the largest: what the terms
/// of the equations of motion explain.
Eigen::VectorXd explained(const std::string& problem, const Case& c, const Result& r) {
  const long n = static_cast<long>(r.values.size());
  if (c.terms == nullptr || n != c.setup.model->nv()) return Eigen::VectorXd::Zero(n);
  const auto vector = [](const std::vector<double>& x) {
    return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<long>(x.size()));
  };
  if (problem == "inverse-dynamics") {
    return rounding * c.terms->forces(vector(c.in.vdot), c.wrenches.get());
  }
  if (problem != "forward-dynamics" || c.inverse.size() == 0) return Eigen::VectorXd::Zero(n);
  const Eigen::VectorXd terms =
      c.terms->forces(vector(r.values), c.wrenches.get()) + vector(c.in.tau).cwiseAbs();
  return rounding * (c.inverse.cwiseAbs() * terms);
}

/// Largest difference of two answers over the largest number of the reference, result by result,
/// beside what rounding explains.
double difference(const std::string& problem, const Case& c, const Results& a, const Results& b) {
  double worst = a.size() == b.size() ? 0.0 : std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    if (a[k].values.size() != b[k].values.size()) return std::numeric_limits<double>::infinity();
    const Eigen::VectorXd less = explained(problem, c, b[k]);
    double apart = 0.0, size = 1.0;
    if (problem == "sensor-dynamics") {  // forces and accelerations of one system of equations
      for (const Result& r : b) {
        for (const double x : r.values) size = std::max(size, std::abs(x));
      }
    }
    for (std::size_t i = 0; i < a[k].values.size(); ++i) {
      apart = std::max(apart, std::abs(a[k].values[i] - b[k].values[i]) -
                                  less(static_cast<long>(i)) / (c.margin * c.margin));
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
  std::snprintf(numbers, sizeof numbers,
                ": condition %.2g, terms %.2g, margin %.2g, difference %.2g", c.condition,
                c.cancelled, c.margin, apart);
  return problem + " by " + a.name + " and " + b.name + numbers;
}

/// What is needed to look at a case: the bodies, the state, and what everybody said.
std::string evidence_of(const Case& c, const std::vector<Answer>& answers) {
  std::string out;
  const auto numbers = [&](const char* name, auto begin, auto end) {
    out += name;
    char text[32];
    for (auto at = begin; at != end; ++at) {
      std::snprintf(text, sizeof text, " %.17g", static_cast<double>(*at));
      out += text;
    }
    out += '\n';
  };
  const auto vector = [&](const char* name, const std::vector<double>& x) {
    numbers(name, x.begin(), x.end());
  };
  const Model& model = *c.setup.model;
  for (int i = 1; i <= model.body_count(); ++i) {
    const Body& b = model.body(i);
    const Joint& joint = model.joints()[b.joint];
    out += std::to_string(i) + " on " + std::to_string(b.parent) + ", cluster " +
           std::to_string(b.cluster) + ", " + joint.type + " '" + joint.name + "' of '" +
           model.body_names()[i] + "'\n";
    const RigidInertia<double>& I = b.inertia;
    numbers("  E", &b.placement.E(0, 0), &b.placement.E(0, 0) + 9);
    numbers("  r", &b.placement.r[0], &b.placement.r[0] + 3);
    const double inertia[] = {I.m,    I.h[0], I.h[1], I.h[2], I.I.xx,
                              I.I.xy, I.I.xz, I.I.yy, I.I.yz, I.I.zz};
    numbers("  m h I", std::begin(inertia), std::end(inertia));
  }
  for (const auto& [rate, inertia] : model.armature()) {
    const double pair[] = {static_cast<double>(rate), inertia};
    numbers("armature", std::begin(pair), std::end(pair));
  }
  for (const Cluster& cluster : model.clusters()) {
    if (cluster.constrained) out += "cluster " + cluster.name + ": " + cluster.recognised + '\n';
    if (!cluster.G.empty()) vector("  G", cluster.G);
  }
  vector("q", c.in.q), vector("v", c.in.v), vector("tau", c.in.tau);
  for (const Answer& a : answers) {
    out += a.name + ": " + (a.results ? "" : a.is_singular ? a.said + '\n' : "refused\n");
    if (!a.results) continue;
    for (const Result& r : *a.results) vector((" " + r.name).c_str(), r.values);
  }
  return out;
}

/// @returns a defect, or good
Outcome judge(const std::string& problem, const std::vector<Answer>& answers, const Case& c,
              Outcome& out) {
  const bool is_regular = c.is_regular(), is_singular = c.is_singular();
  const Answer* reference = nullptr;
  for (const Answer& a : answers) {
    if (!a.results) {
      ++out.counts[a.is_singular ? "refusals as singular" : "refusals of algorithms"];
      const bool needs_more = a.is_singular && solves_for_constraints(problem, a.name) &&
                              (condition_of_tree(c) > regular || inertias_apart(c) > 1e15);
      if (a.is_singular && is_regular && !decides_ranks(problem) && !needs_more) {
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
    if (!is_regular || (decides_ranks(problem) && c.sensitivity() > 1e5)) continue;
    const double grows = inverts(problem) ? c.sensitivity() : c.cancelled;
    double allowed = (1e-8 + rounding * grows) / (c.margin * c.margin);
    const double apart = difference(problem, c, *a.results, *reference->results);
    ++out.counts["agreements"];
    if (apart <= allowed || decides_ranks(problem)) continue;
    if (solves_for_constraints(problem, a.name)) {
      allowed += rounding * condition_of_tree(c) / (c.margin * c.margin);
      if (apart <= allowed) continue;
    }
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
  ++out.counts[c.sensitivity() < regular ? "regular mass matrices"
               : c.is_singular()         ? "singular mass matrices"
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
    judged.evidence = evidence_of(c, answers);
    return judged;
  }
  return out;
}

}  // namespace espalier::torture
