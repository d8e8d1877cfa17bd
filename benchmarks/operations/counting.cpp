#include "benchmarks/operations/counting.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>

#include "benchmarks/markdown.hpp"

namespace espalier::bench {

namespace {

ModelPtr compile(const Host& host, const Mechanism& mechanism) {
  CompileOptions options;
  if (mechanism.floating) options.root = CompileOptions::Root::floating;
  return host.compile(mechanism.description, options);
}

std::vector<double> random_positions(const Model& model, unsigned seed) {
  std::vector<double> q(model.nq());
  model.random(seed, q.data());
  return q;
}

bool equal(const OperationCounts& a, const OperationCounts& b) {
  return a.additions == b.additions && a.multiplications == b.multiplications &&
         a.divisions == b.divisions && a.square_roots == b.square_roots &&
         a.trigonometry == b.trigonometry;
}

/// Counts in one state, results by the way.
OperationCounts run(Algorithm& algorithm, const std::vector<double>& q, bool fold, Results& out) {
  Inputs in;
  in.q = q;
  fold_constants() = fold;
  operation_counts() = {};
  algorithm.solve(in, out);
  const OperationCounts counts = operation_counts();
  fold_constants() = false;
  return counts;
}

/// Of the reference's largest entry; not a number where an entry is none.
double relative_difference(const std::vector<double>& values,
                           const std::vector<double>& reference) {
  const Eigen::Map<const Eigen::VectorXd> a(values.data(),
                                            static_cast<Eigen::Index>(values.size()));
  const Eigen::Map<const Eigen::VectorXd> b(reference.data(), a.size());
  return (a - b).lpNorm<Eigen::Infinity>() / b.lpNorm<Eigen::Infinity>();
}

}  // namespace

std::int64_t Counted::total(const OperationCounts& c) {
  return c.additions + c.multiplications + c.divisions + c.square_roots + c.trigonometry;
}

double Tally::total(const std::string& algorithm, bool folded) const {
  const Counted& counted = algorithms.at(algorithm);
  return static_cast<double>(Counted::total(folded ? counted.folded : counted.all));
}

Tally count(const Host& host, const Mechanism& mechanism,
            const std::vector<std::string>& algorithms) {
  const ModelPtr model = compile(host, mechanism);
  const Setup setup{model, mechanism.end_effectors};
  const std::vector<double> q = random_positions(*model, 1), other = random_positions(*model, 2);

  Tally tally;
  tally.name = mechanism.name;
  tally.bodies = model->body_count(), tally.nv = model->nv(), tally.rows = mechanism.rows();
  std::vector<double> reference;
  for (const std::string& name : algorithms) {
    const Entry& entry = host.registry().find_algorithm("inverse-osim", name);
    const auto algorithm = host.registry().create(entry, setup, ScalarTraits<Count>::index);
    Results results;
    const auto counted = [&](bool fold) {
      const OperationCounts there = run(*algorithm, other, fold, results);
      const OperationCounts here = run(*algorithm, q, fold, results);
      if (equal(there, here)) return here;
      throw std::runtime_error(
          format("%s: operations of %s are %ld in one state and %ld in another, expected the same",
                 tally.name.c_str(), name.c_str(), static_cast<long>(Counted::total(there)),
                 static_cast<long>(Counted::total(here))));
    };
    tally.algorithms[name] = {counted(true), counted(false)};

    const std::vector<double>& values = results.front().values;
    if (reference.empty()) reference = values;
    const double difference = relative_difference(values, reference);
    if (!(difference <= 1e-9)) {
      throw std::runtime_error(
          format("%s: results of %s and %s differ by %.1e of the largest entry, expected at most "
                 "1e-9",
                 tally.name.c_str(), name.c_str(), algorithms.front().c_str(), difference));
    }
  }
  return tally;
}

Sparsity sparsity(const Host& host, const Mechanism& mechanism) {
  const ModelPtr model = compile(host, mechanism);
  const std::vector<double> q = random_positions(*model, 1);
  const int nv = model->nv();

  // Rates of bodies one of which carries the other have an inertia in common.
  double common = 0.0;
  for (int i = 1; i <= model->active_body_count(); ++i) {
    const double own = model->body(i).nv;
    common += own * own;
    for (int p = model->body(i).parent; p > 0; p = model->body(p).parent) {
      common += 2.0 * own * model->body(p).nv;
    }
  }

  const auto jacobians = host.create<BodyJacobians<double>>("body-jacobians", model);
  jacobians->evaluate(q);
  double zero_columns = 0.0;
  std::vector<double> J(6 * static_cast<std::size_t>(nv));
  for (const EndEffector& e : mechanism.end_effectors) {
    jacobians->jacobian(model->link(e.link), J);
    for (int j = 0; j < nv; ++j) {
      bool zero = true;
      for (int i = 0; i < 6; ++i) zero = zero && J[static_cast<std::size_t>(i) * nv + j] == 0.0;
      zero_columns += zero ? 1.0 : 0.0;
    }
  }
  return {model->body_count(), nv, 100.0 * (1.0 - common / (nv * nv)),
          100.0 * zero_columns / (nv * static_cast<double>(mechanism.end_effectors.size()))};
}

Fit fit(const std::vector<std::vector<double>>& columns, const std::vector<double>& y) {
  const auto rows = static_cast<Eigen::Index>(y.size());
  Eigen::MatrixXd A(rows, static_cast<Eigen::Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j) {
    A.col(static_cast<Eigen::Index>(j)) = Eigen::VectorXd::Map(columns[j].data(), rows);
  }
  const Eigen::VectorXd b = Eigen::VectorXd::Map(y.data(), rows);
  const Eigen::VectorXd x = A.colPivHouseholderQr().solve(b);
  Fit out;
  out.coefficients.assign(x.begin(), x.end());
  out.largest = 100.0 * ((A * x - b).cwiseQuotient(b)).cwiseAbs().maxCoeff();
  return out;
}

}  // namespace espalier::bench
