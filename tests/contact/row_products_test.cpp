#include "simulation/contact/solvers/row_products.hpp"

#include <Eigen/Dense>
#include <limits>
#include <numeric>

#include "simulation/contact/solvers/block_sweeps.hpp"
#include "tests/contact/support.hpp"
#include "tests/support/dense_algebra.hpp"

namespace espalier::test::row_products_test {
namespace {

using contact::ContactImpulses;
using contact::ImpulseProblem;
using contact::Mask;

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Newton's systems by elimination with pivots.
class Pivoted final : public contact::NewtonSystem<double> {
 public:
  Pivoted(const Matrix& G, int contacts) : G_(G), contacts_(contacts) {}
  void solve(const double* Q, const double* D, double* x) override {
    const long m = G_.rows();
    Matrix q = Matrix::Zero(m, m), d = q;
    for (int c = 0; c < contacts_; ++c) {
      q.block<3, 3>(3 * c, 3 * c) = Eigen::Map<const Eigen::Matrix<double, 3, 3, 1>>(Q + 9 * c);
      d.block<3, 3>(3 * c, 3 * c) = Eigen::Map<const Eigen::Matrix<double, 3, 3, 1>>(D + 9 * c);
    }
    for (long i = 3 * contacts_; i < m; ++i) {
      q(i, i) = Q[6 * contacts_ + i], d(i, i) = D[6 * contacts_ + i];
    }
    Eigen::Map<Eigen::VectorXd> solution(x, m);
    const Eigen::VectorXd b = solution;
    solution = solved(product(q, G_) + d, b);
  }

 private:
  const Matrix& G_;
  int contacts_;
};

/// Rows on random supports of ten rates, both ways: G as it is written, and by its factors, where
/// what need not be written is NaN.
struct Rows {
  static constexpr int contacts = 3, scalars = 4, rates = 10, m = 3 * contacts + scalars;
  std::vector<std::vector<int>> supports;
  std::vector<const std::vector<int>*> support;
  std::vector<double> Y, compliance, z;
  Matrix G;
  ImpulseProblem<double> written, factored;

  explicit Rows(Rng& random)
      : Y(m * rates, std::numeric_limits<double>::quiet_NaN()), compliance(contacts), z(rates) {
    supports.resize(contacts + scalars);
    for (std::vector<int>& s : supports) {
      for (int k = 0; k < rates; ++k) {
        if (k == 0 || random.chance(0.6)) s.push_back(k);
      }
    }
    for (int i = 0; i < m; ++i) {
      support.push_back(&supports[i < 3 * contacts ? i / 3 : i - 2 * contacts]);
    }
    Matrix dense = Matrix::Zero(m, rates);
    for (int i = 0; i < m; ++i) {
      for (std::size_t e = 0; e < support[i]->size(); ++e) {
        Y[i * rates + e] = dense(i, (*support[i])[e]) = random.uniform();
      }
    }
    G = dense * dense.transpose();
    for (int c = 0; c < contacts; ++c) {
      compliance[c] = c == 0 ? 0.0 : random.uniform(0.1, 1.0);
      G(3 * c, 3 * c) += compliance[c];
    }
    Eigen::VectorXd v(rates);
    for (double& x : v) x = random.uniform();
    const Eigen::VectorXd g = dense * v;  // within the range of G
    written.resize(contacts, scalars);
    for (int i = 0; i < m; ++i) written.g[i] = g[i];
    for (double& mu : written.mu) mu = random.uniform(0.2, 1.0);
    for (int k = 0; k < scalars; ++k) written.lower[k] = -0.1 * (k + 1), written.upper[k] = 0.2;
    factored = written;
    std::copy_n(G.data(), m * m, written.G.begin());
    std::fill(factored.G.begin(), factored.G.end(), std::numeric_limits<double>::quiet_NaN());
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < m; ++j) {
        const bool block = i == j || (i < 3 * contacts && j < 3 * contacts && i / 3 == j / 3);
        if (block) factored.G[i * m + j] = G(i, j);
      }
    }
    factored.factors = {Y.data(), rates, support.data(), compliance.data(), z.data(), rates};
  }
};

TEST(RowProductsTest, FactorsMultiplyAsTheMatrixDoes) {
  Rng random(1);
  for (int trial = 0; trial < 50; ++trial) {
    Rows rows(random);
    std::vector<double> lam(Rows::m), u(Rows::m), w(Rows::m), expected(Rows::m);
    for (double& x : lam) x = random.uniform();
    contact::rates(rows.factored, lam.data(), u.data());
    contact::multiply(rows.factored, lam.data(), w.data());
    contact::rates(rows.written, lam.data(), expected.data());
    for (int i = 0; i < Rows::m; ++i) {
      // Sums of 13 products of ten terms up to 1.
      EXPECT_NEAR(u[i], expected[i], 1e-13);
      EXPECT_NEAR(w[i] + rows.factored.g[i], expected[i], 1e-13);
      for (int j = 0; j < Rows::m; ++j) {
        EXPECT_NEAR(contact::entry(rows.factored, i, j), rows.G(i, j), 1e-14);
      }
    }
    contact::complete(rows.factored);
    for (int i = 0; i < Rows::m * Rows::m; ++i) {
      EXPECT_NEAR(rows.factored.G[i], rows.written.G[i], 1e-14);
    }
  }
}

TEST(RowProductsTest, SweepsByFactorsAreThoseByTheMatrix) {
  Rng random(2);
  for (int trial = 0; trial < 50; ++trial) {
    Rows rows(random);
    contact::BlockSweeps<double> sweeps;
    for (ImpulseProblem<double>* p : {&rows.written, &rows.factored}) {
      sweeps.prepare(*p);
      sweeps.run(*p, 0, 3, Mask<double>::every(), p->lam.data(), p->slip.data());
      sweeps.run(*p, 3, 2, Mask<double>::every(), p->lam.data(), p->slip.data());
    }
    // Roots of slipping contacts are found to rounding.
    for (int i = 0; i < Rows::m; ++i) {
      EXPECT_NEAR(rows.factored.lam[i], rows.written.lam[i], 1e-10) << trial;
    }
  }
}

TEST(RowProductsTest, SolversMeetTheirConditionsByFactors) {
  Rng random(3);
  for (const char* name : {"gauss-seidel-newton", "admm", "projected-gauss-seidel"}) {
    const auto solver = host().create<ContactImpulses<double>>(name, flying_body());
    for (int trial = 0; trial < 50; ++trial) {
      Rows rows(random);
      Pivoted system(rows.G, Rows::contacts);
      rows.factored.system = &system;
      const auto report = solver->solve_impulses(rows.factored);
      if (std::string(name) == "gauss-seidel-newton") {
        EXPECT_LE(report.residual, 1e-6) << trial;
      }
      // The residual that is told is that of the matrix.
      std::vector<double> u(Rows::m);
      const double by_matrix =
          contact::natural_residual(rows.written, rows.factored.lam.data(), u.data());
      EXPECT_NEAR(report.residual, by_matrix, 1e-12 + 1e-10 * by_matrix) << name << trial;
    }
  }
}

}  // namespace
}  // namespace espalier::test::row_products_test
