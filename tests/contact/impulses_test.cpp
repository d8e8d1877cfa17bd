#include <Eigen/Dense>
#include <cmath>

#include "tests/contact/support.hpp"

namespace espalier::test::impulses_test {
namespace {

using contact::ContactImpulses;
using contact::Effort;
using contact::ImpulseProblem;
using contact::ImpulseReport;

constexpr double tolerance = 1e-6;

std::unique_ptr<ContactImpulses<double>> solver(const std::string& name) {
  return host().create<ContactImpulses<double>>(name, flying_body());
}

/// Of random robots: a Delassus matrix of the given rank and rates before.
ImpulseProblem<double> random_problem(Rng& random, int contacts, int scalars, int rank) {
  ImpulseProblem<double> p;
  p.resize(contacts, scalars);
  const int m = p.size();
  Eigen::MatrixXd J(m, rank);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < rank; ++j) J(i, j) = random.uniform();
  }
  // g within the range of J, as it is J vf: else redundant rows have no solution.
  Eigen::VectorXd v(rank);
  for (int j = 0; j < rank; ++j) v[j] = random.uniform();
  const Eigen::MatrixXd G = J * J.transpose();
  const Eigen::VectorXd g = J * v;
  for (int i = 0; i < m; ++i) {
    p.g[i] = g[i];
    for (int j = 0; j < m; ++j) p.G[i * m + j] = G(i, j);
  }
  for (double& mu : p.mu) mu = random.chance(0.1) ? 0.0 : random.uniform(0.1, 1.2);
  for (int k = 0; k < scalars; ++k) {
    const bool limit = random.chance(0.5);
    const double f = random.uniform(0.01, 1.0);
    p.lower[k] = limit ? 0.0 : -f;
    p.upper[k] = limit ? HUGE_VAL : f;
  }
  return p;
}

/// Signorini, Coulomb and bounds, said one by one.
void expect_conditions(const ImpulseProblem<double>& p, double most) {
  const int m = p.size();
  const Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>> G(p.G.data(), m, m);
  const Eigen::Map<const Eigen::VectorXd> g(p.g.data(), m), lam(p.lam.data(), m);
  const Eigen::VectorXd u = G * lam + g;
  for (int c = 0; c < p.contacts; ++c) {
    const int i = 3 * c;
    const double force = std::hypot(lam[i + 1], lam[i + 2]), rate = std::hypot(u[i + 1], u[i + 2]);
    EXPECT_GE(lam[i], 0.0);
    EXPECT_LE(force, p.mu[c] * lam[i] * (1.0 + 1e-14) + 1e-300);
    EXPECT_GE(u[i], -most);
    const double d = std::max(G(i, i), 1e-9);
    // Natural residuals bound products by the most times the factors.
    EXPECT_LE(std::min(u[i], lam[i] * d), most);
    if (rate > 10.0 * most && p.mu[c] > 0.0) {
      EXPECT_LE((p.mu[c] * lam[i] - force) * d, 3.0 * most);
      EXPECT_LE(lam[i + 1] * u[i + 1] + lam[i + 2] * u[i + 2],
                -force * rate * 0.5 + 10.0 * most * (force + rate + 1.0));
    }
  }
  for (int k = 0; k < p.scalars; ++k) {
    const int i = 3 * p.contacts + k;
    EXPECT_GE(lam[i], p.lower[k]);
    EXPECT_LE(lam[i], p.upper[k]);
    const double d = std::max(G(i, i), 1e-9);
    if ((lam[i] - p.lower[k]) * d > most) {
      EXPECT_LE(u[i], most);
    }
    if ((p.upper[k] - lam[i]) * d > most) {
      EXPECT_GE(u[i], -most);
    }
  }
}

TEST(ContactImpulsesTest, FallingBlockIsStoppedByItsMomentum) {
  // A point mass of 2 kg with 3 m/s downward and 1 m/s sideways on mu = 0.2.
  for (const auto& [name, solve] : every<ContactImpulses<double>>(flying_body())) {
    ImpulseProblem<double> p;
    p.resize(1, 0);
    for (int i = 0; i < 3; ++i) p.G[4 * i] = 0.5;
    p.g = {-3.0, 1.0, 0.0};
    p.mu = {0.2};
    const auto report = solve->solve_impulses(p, {.tolerance = 1e-12});
    EXPECT_LE(report.residual, 1e-12) << name;
    EXPECT_NEAR(p.lam[0], 6.0, 1e-11) << name;
    EXPECT_NEAR(p.lam[1], -1.2, 1e-11) << name;  // slides on: 2 N s would stop it
    EXPECT_NEAR(p.lam[2], 0.0, 1e-11) << name;
  }
}

TEST(ContactImpulsesTest, SmoothPointThatPartsStraightIsLeftAlone) {
  // Without friction, and with no rate along the ground: the tip of the cone from behind.
  for (const auto& [name, solve] : every<ContactImpulses<double>>(flying_body())) {
    ImpulseProblem<double> p;
    p.resize(1, 0);
    for (int i = 0; i < 3; ++i) p.G[4 * i] = 0.5;
    p.g = {18.0, 0.0, 0.0};
    p.mu = {0.0};
    EXPECT_EQ(solve->solve_impulses(p, {.tolerance = 1e-12}).residual, 0.0) << name;
    for (const double x : p.lam) EXPECT_EQ(x, 0.0) << name;
  }
}

TEST(ContactImpulsesTest, EverySolverFindsTheImpulsesOfUncoupledContacts) {
  Rng random(1);
  const auto all = every<ContactImpulses<double>>(flying_body());
  ASSERT_EQ(all.size(), 4u);
  for (int trial = 0; trial < 50; ++trial) {
    const ImpulseProblem<double> problem = random_problem(random, 2, 1, 40);
    ImpulseProblem<double> first = problem;
    ASSERT_LE(all[0].algorithm->solve_impulses(first, {.tolerance = 1e-10}).residual, 1e-10);
    for (const auto& [name, solve] : all) {
      ImpulseProblem<double> p = problem;
      const auto report = solve->solve_impulses(p, {.tolerance = 1e-10});
      if (!(report.residual <= 1e-10)) continue;  // said, not silent
      expect_conditions(p, 1e-9);
      // Well conditioned problems of small friction have one solution.
      const bool rough = *std::max_element(p.mu.begin(), p.mu.end()) > 0.5;
      for (int i = 0; i < p.size() && !rough; ++i) {
        EXPECT_NEAR(p.lam[i], first.lam[i], 1e-8) << name;
      }
    }
  }
}

TEST(ContactImpulsesTest, PrimarySolvesRandomProblemsOfFullRank) {
  Rng random(2);
  const auto solve = solver("gauss-seidel-newton");
  int unsolved = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const int contacts = 1 + random.below(6), scalars = random.below(7);
    ImpulseProblem<double> p =
        random_problem(random, contacts, scalars, 3 * contacts + scalars + 4);
    const auto report = solve->solve_impulses(p);
    if (!(report.residual <= tolerance)) {
      ++unsolved;
      continue;
    }
    expect_conditions(p, 2.0 * tolerance);
  }
  // Random rows are far more tightly coupled than a robot's; Coulomb's law may then have no
  // solution at all. What is left is said: at most one in a thousand.
  EXPECT_LE(unsolved, 3);
}

// Two soles on eight points: rows of 24 on 12 rates.
TEST(ContactImpulsesTest, RedundantPointsAreSolved) {
  Rng random(3);
  const auto solve = solver("gauss-seidel-newton");
  for (int trial = 0; trial < 300; ++trial) {
    ImpulseProblem<double> p;
    p.resize(8, 0);
    // Rigid bodies of 10 kg on four corners each.
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(24, 12);
    for (int c = 0; c < 8; ++c) {
      const int body = c / 4;
      const Eigen::Vector3d r((c & 1) != 0 ? 0.1 : -0.1, (c & 2) != 0 ? 0.05 : -0.05, -0.08);
      const Eigen::Vector3d axes[3] = {Eigen::Vector3d::UnitZ(), Eigen::Vector3d::UnitX(),
                                       Eigen::Vector3d::UnitY()};
      for (int k = 0; k < 3; ++k) {
        J.block<1, 3>(3 * c + k, 6 * body) = r.cross(axes[k]).transpose() / std::sqrt(0.05);
        J.block<1, 3>(3 * c + k, 6 * body + 3) = axes[k].transpose() / std::sqrt(10.0);
      }
    }
    Eigen::VectorXd v(12);
    for (int j = 0; j < 12; ++j) v[j] = random.uniform(-0.3, 0.3);
    v[5] -= 0.5, v[11] -= 0.5;
    const Eigen::MatrixXd G = J * J.transpose();
    const Eigen::VectorXd g = J * v;
    for (int i = 0; i < 24; ++i) {
      p.g[i] = g[i];
      for (int j = 0; j < 24; ++j) p.G[i * 24 + j] = G(i, j);
    }
    for (double& mu : p.mu) mu = 0.6;
    const auto report = solve->solve_impulses(p);
    EXPECT_LE(report.residual, tolerance);
    expect_conditions(p, 2.0 * tolerance);
  }
}

TEST(ContactImpulsesTest, WarmStartThatSolvesIsLeftAsItIs) {
  Rng random(4);
  const auto solve = solver("gauss-seidel-newton");
  ImpulseProblem<double> p = random_problem(random, 4, 2, 30);
  ASSERT_LE(solve->solve_impulses(p).residual, tolerance);
  const std::vector<double> lam = p.lam;
  const auto report = solve->solve_impulses(p);
  EXPECT_EQ(report.rounds, 0.0);
  EXPECT_EQ(p.lam, lam);
}

// A normal that nothing moves: planar mechanisms have blocks of rank one.
TEST(ContactImpulsesTest, BlocksOfDeficientRankAreSolved) {
  for (const char* name : {"gauss-seidel-newton", "block-gauss-seidel"}) {
    const auto solve = solver(name);
    ImpulseProblem<double> p;
    p.resize(1, 0);
    p.mu = {0.5};
    const double j[3] = {1.0, 0.5, 0.0};
    for (int i = 0; i < 3; ++i) {
      p.g[i] = -2.0 * j[i];
      for (int k = 0; k < 3; ++k) p.G[3 * i + k] = j[i] * j[k];
    }
    EXPECT_LE(solve->solve_impulses(p).residual, tolerance) << name;
    expect_conditions(p, 2.0 * tolerance);
  }
}

/// Eight problems in lanes.
ImpulseProblem<Pack> in_lanes(const std::vector<ImpulseProblem<double>>& one) {
  ImpulseProblem<Pack> p;
  p.resize(one[0].contacts, one[0].scalars);
  for (int k = 0; k < Pack::size; ++k) {
    const auto put = [k](const std::vector<double>& from, std::vector<Pack>& to) {
      for (std::size_t i = 0; i < from.size(); ++i) to[i].set(k, from[i]);
    };
    put(one[k].G, p.G), put(one[k].g, p.g), put(one[k].mu, p.mu), put(one[k].lower, p.lower);
    put(one[k].upper, p.upper), put(one[k].lam, p.lam), put(one[k].slip, p.slip);
  }
  return p;
}

TEST(ContactImpulsesTest, LanesAgreeWithSingleProblemsAndHaveTheSameBitsBesideAnyOthers) {
  Rng random(5);
  for (const char* name :
       {"gauss-seidel-newton", "admm", "block-gauss-seidel", "projected-gauss-seidel"}) {
    const auto one = solver(name);
    const auto lanes = host().create<ContactImpulses<Pack>>(name, flying_body());
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<ImpulseProblem<double>> problems;
      for (int k = 0; k < Pack::size; ++k) problems.push_back(random_problem(random, 3, 2, 24));
      ImpulseProblem<Pack> together = in_lanes(problems);
      const ImpulseReport<Pack> report = lanes->solve_impulses(together, {.tolerance = 1e-10});

      // One lane is replaced by NaN: the others keep every bit.
      ImpulseProblem<Pack> disturbed = in_lanes(problems);
      for (Pack& x : disturbed.g) x.set(3, NAN);
      const ImpulseReport<Pack> said = lanes->solve_impulses(disturbed, {.tolerance = 1e-10});
      EXPECT_FALSE(said.residual[3] <= 1e-10) << name;
      for (int k = 0; k < Pack::size; ++k) {
        if (k == 3) continue;
        for (std::size_t i = 0; i < together.lam.size(); ++i) {
          EXPECT_EQ(together.lam[i][k], disturbed.lam[i][k]) << name;
        }
      }
      for (int k = 0; k < Pack::size; ++k) {
        ImpulseProblem<double> p = problems[k];
        const auto alone = one->solve_impulses(p, {.tolerance = 1e-10});
        if (!(alone.residual <= 1e-10) || !(report.residual[k] <= 1e-10)) continue;
        if (*std::max_element(p.mu.begin(), p.mu.end()) > 0.5) continue;  // several solutions
        for (std::size_t i = 0; i < p.lam.size(); ++i) {
          EXPECT_NEAR(together.lam[i][k], p.lam[i], 1e-8) << name;
        }
      }
    }
  }
}

TEST(ContactImpulsesTest, AbsentContactsHaveExactlyNoImpulse) {
  Rng random(6);
  const auto solve = solver("gauss-seidel-newton");
  ImpulseProblem<double> small = random_problem(random, 2, 0, 12), p;
  p.resize(3, 0);  // the second one is absent
  const int of[6] = {0, 1, 2, 6, 7, 8};
  for (int i = 0; i < 9; ++i) p.G[10 * i] = 1.0, p.g[i] = 1.0;
  for (int i = 0; i < 6; ++i) {
    p.g[of[i]] = small.g[i];
    for (int j = 0; j < 6; ++j) p.G[9 * of[i] + of[j]] = small.G[6 * i + j];
  }
  p.mu = {small.mu[0], 0.5, small.mu[1]};
  ASSERT_LE(solve->solve_impulses(small, {.sweeps = 2}).residual, tolerance);
  ASSERT_LE(solve->solve_impulses(p, {.sweeps = 2}).residual, tolerance);
  for (int i = 3; i < 6; ++i) EXPECT_EQ(p.lam[i], 0.0);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(p.lam[of[i]], small.lam[i]);
}

TEST(ContactImpulsesTest, NamedInputsAreRefused) {
  const auto solve = solver("gauss-seidel-newton");
  Results results;
  EXPECT_THROW(static_cast<Algorithm&>(*solve).solve(Inputs{}, results), Unsupported);
}

}  // namespace
}  // namespace espalier::test::impulses_test
