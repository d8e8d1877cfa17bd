#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/operational_space/operational_space.hpp"
#include "tests/derivatives/oracle.hpp"

namespace espalier::test::more_derivatives_test {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix as_matrix(const std::vector<double>& x, long rows, long columns) {
  return Eigen::Map<const Matrix>(x.data(), rows, columns);
}
double gap(const Matrix& x, const Matrix& reference) {
  if (x.size() == 0) return 0.0;
  return (x - reference).cwiseAbs().maxCoeff() / std::max(1.0, reference.cwiseAbs().maxCoeff());
}
/// Rows of f(t, k) by central differences along coordinate k, as columns.
template <class F>
Matrix differences(int n, F&& f) {
  Matrix out;
  for (int k = 0; k < n; ++k) {
    const auto column = best_difference([&](double t) { return f(t, k); }).derivative;
    if (k == 0) out.resize(static_cast<long>(column.size()), n);
    for (std::size_t i = 0; i < column.size(); ++i) out(static_cast<long>(i), k) = column[i];
  }
  return out;
}

constexpr int robots = 60;

TEST(KinematicsDerivativesTest, AgreeWithDifferencesOnEveryLink) {
  for (unsigned long long seed = 1; seed <= robots; ++seed) {
    const ModelPtr model = any_robot(seed, CompileOptions::Rotors::keep);
    const int n = model->nv();
    const State s = any_state(*model, seed);
    SCOPED_TRACE(seed);
    DifferenceOracle oracle(model);
    const auto kinematics = any<Kinematics<double>>(model);
    const auto jacobians = any<BodyJacobians<double>>(model);
    const Link& link = model->links()[seed % model->links().size()];
    const auto twist = [&](const std::vector<double>& q, const std::vector<double>& v) {
      kinematics->evaluate(q, v, s.vdot);
      const Motion<double> m = kinematics->velocity(link), a = kinematics->acceleration(link);
      return std::vector<double>{m[0], m[1], m[2], m[3], m[4], m[5],
                                 a[0], a[1], a[2], a[3], a[4], a[5]};
    };
    const Matrix by_q =
        differences(n, [&](double t, int k) { return twist(oracle.moved(s.q, k, t), s.v); });
    const Matrix by_v = differences(
        n, [&](double t, int k) { return twist(s.q, DifferenceOracle::shifted(s.v, k, t)); });
    const auto J_at = [&](double t) {
      std::vector<double> step = s.v, J(6 * n);
      for (double& x : step) x *= t;
      jacobians->evaluate(oracle.moved_along(s.q, step));
      jacobians->jacobian(link, J);
      return J;
    };
    const std::vector<double> J = J_at(0.0), J_rate = best_difference(J_at).derivative;
    for (auto& named : every<KinematicsDerivatives<double>>(model)) {
      auto* const algorithm = named.algorithm.get();
      const std::string& name = named.name;
      SCOPED_TRACE(name);
      std::vector<double> m[5];
      for (auto& x : m) x.resize(6 * n);
      algorithm->evaluate(s.q, s.v, s.vdot);
      algorithm->write(link, {m[0].data(), m[1].data(), m[2].data(), m[3].data(), m[4].data()});
      EXPECT_LT(gap(as_matrix(m[0], 6, n), as_matrix(J, 6, n)), 1e-11);
      EXPECT_LT(gap(as_matrix(m[1], 6, n), as_matrix(J_rate, 6, n)), 1e-9);
      EXPECT_LT(gap(as_matrix(m[2], 6, n), by_q.topRows(6)), 1e-9);
      EXPECT_LT(gap(as_matrix(m[3], 6, n), by_q.bottomRows(6)), 1e-9);
      EXPECT_LT(gap(as_matrix(m[4], 6, n), by_v.bottomRows(6)), 1e-9);
    }
  }
}

TEST(CentroidalDynamicsTest, AgreesWithDifferencesAndWithTheCenterOfMass) {
  for (unsigned long long seed = 1; seed <= robots; ++seed) {
    const ModelPtr model = any_robot(seed);
    const int n = model->nv();
    const State s = any_state(*model, seed);
    SCOPED_TRACE(seed);
    DifferenceOracle oracle(model);
    const auto center = any<CenterOfMass<double>>(model)->evaluate(s.q, s.v, s.vdot);
    for (auto& named : every<CentroidalDynamics<double>>(model)) {
      auto* const algorithm = named.algorithm.get();
      const std::string& name = named.name;
      SCOPED_TRACE(name);
      const auto of = [&](const std::vector<double>& q, const std::vector<double>& v) {
        const auto& a = algorithm->evaluate(q, v, s.vdot);
        std::vector<double> out = a.momentum;
        out.insert(out.end(), a.rate.begin(), a.rate.end());
        return out;
      };
      const Matrix by_q =
          differences(n, [&](double t, int k) { return of(oracle.moved(s.q, k, t), s.v); });
      const Matrix by_v = differences(
          n, [&](double t, int k) { return of(s.q, DifferenceOracle::shifted(s.v, k, t)); });
      // Along the motion, v changing with vdot, momentum has the rate.
      const auto rate = best_difference([&](double t) {
                          std::vector<double> step(n), v(n);
                          for (int i = 0; i < n; ++i) {
                            step[i] = t * s.v[i], v[i] = s.v[i] + t * s.vdot[i];
                          }
                          return of(oracle.moved_along(s.q, step), v);
                        }).derivative;
      const auto& a = algorithm->evaluate(s.q, s.v, s.vdot);
      const double mass = model->mass();
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(a.com[k], center.position[k], 1e-11);
        EXPECT_NEAR(a.momentum[3 + k], mass * center.velocity[k], 1e-10 * (1 + mass));
        EXPECT_NEAR(a.rate[3 + k], mass * center.acceleration[k], 1e-9 * (1 + mass));
      }
      const Matrix v = as_matrix(s.v, n, 1);
      EXPECT_LT(gap(as_matrix(a.matrix, 6, n) * v, as_matrix(a.momentum, 6, 1)), 1e-11);
      for (int k = 0; k < 6; ++k) {
        EXPECT_NEAR(a.rate[k], rate[k], 1e-9 * std::max(1.0, largest(a.rate)));
      }
      EXPECT_LT(gap(as_matrix(a.momentum_by_q, 6, n), by_q.topRows(6)), 1e-9);
      EXPECT_LT(gap(as_matrix(a.rate_by_q, 6, n), by_q.bottomRows(6)), 1e-9);
      EXPECT_LT(gap(as_matrix(a.matrix, 6, n), by_v.topRows(6)), 1e-10);
      EXPECT_LT(gap(as_matrix(a.rate_by_v, 6, n), by_v.bottomRows(6)), 1e-9);
    }
  }
}

TEST(StepDerivativesTest, AgreeWithDifferencesOfTheStep) {
  int checked = 0;
  for (unsigned long long seed = 1; seed <= robots; ++seed) {
    const ModelPtr model = any_robot(seed);
    const int n = model->nv();
    const State s = any_state(*model, seed);
    const double h = 2e-3;
    for (const Entry* e : host().registry().algorithms(StepDerivatives<double>::problem)) {
      if (e->about.name.ends_with("-differences")) continue;
      SCOPED_TRACE(e->about.name + " on " + std::to_string(seed));
      std::unique_ptr<StepDerivatives<double>> step;
      try {
        step = host().create<StepDerivatives<double>>(e->about.name, model);
      } catch (const Unsupported& refusal) {
        EXPECT_NE(std::string(refusal.what()).find("independent rates"), std::string::npos);
        continue;
      }
      DifferenceOracle oracle(model);
      std::vector<double> q1(model->nq()), v1(n), A(4 * n * n), B(2 * n * n);
      const auto next = [&](const std::vector<double>& q, const std::vector<double>& v,
                            const std::vector<double>& tau, std::vector<double>& to,
                            std::vector<double>& to_v) {
        to.resize(model->nq()), to_v.resize(n);
        std::vector<double> a(4 * n * n), b(2 * n * n);
        step->evaluate(q, v, tau, h, to, to_v, a, b);
      };
      try {
        step->evaluate(s.q, s.v, s.tau, h, q1, v1, A, B);
      } catch (const SingularMechanism&) {
        continue;
      }
      ++checked;
      const auto end = [&](const std::vector<double>& q, const std::vector<double>& v,
                           const std::vector<double>& tau) {
        std::vector<double> to, to_v, tangent(model->spanning_nv());
        next(q, v, tau, to, to_v);
        model->difference(q1.data(), to.data(), tangent.data());
        std::vector<double> out;
        for (const int rate : model->independent_rates()) out.push_back(tangent[rate]);
        out.insert(out.end(), to_v.begin(), to_v.end());
        return out;
      };
      // Along random directions, in which every column has its share: a difference for each
      // column takes as many times longer as there are columns.
      for (unsigned long long direction = 1; direction <= 4; ++direction) {
        Rng rng(seed + 1000 * direction);
        const auto dq = rng.vector(n), dv = rng.vector(n), dtau = rng.vector(n);
        const auto along = [&](std::vector<double> x, const std::vector<double>& dx, double t) {
          for (int i = 0; i < n; ++i) x[i] += t * dx[i];
          return x;
        };
        const std::vector<double> zero(n, 0.0);
        const std::vector<double> wanted = best_difference([&](double t) {
                                             return end(oracle.moved_along(s.q, along(zero, dq, t)),
                                                        along(s.v, dv, t), along(s.tau, dtau, t));
                                           }).derivative;
        std::vector<double> state = dq;
        state.insert(state.end(), dv.begin(), dv.end());
        const Matrix change = as_matrix(A, 2 * n, 2 * n) * as_matrix(state, 2 * n, 1) +
                              as_matrix(B, 2 * n, n) * as_matrix(dtau, n, 1);
        // The projector closes loops to 1e-13: over steps of 1e-4 that is 1e-9.
        EXPECT_LT(gap(change, as_matrix(wanted, 2 * n, 1)), 1e-8);
      }
    }
  }
  EXPECT_GT(checked, robots);
}

// The step of rk4 is the integrator's: from h to h/2 the error of ten steps falls by 16.
TEST(StepDerivativesTest, Rk4StepHasOrderFourOnAFloatingRobot) {
  RobotOptions options;
  options.seed = 5, options.bodies = 4, options.floating_base = true;
  options.types = {"spherical", "revolute"};
  const ModelPtr model = host().compile(random_robot(host().registry(), options));
  const int n = model->nv();
  const State s = random_state(*model, 3);
  const auto step = host().create<StepDerivatives<double>>("rk4-step", model);
  const auto after = [&](int steps) {
    std::vector<double> q = s.q, v = s.v, q1(q.size()), v1(n), A(4 * n * n), B(2 * n * n);
    for (int k = 0; k < steps; ++k) {
      step->evaluate(q, v, s.tau, 0.1 / steps, q1, v1, A, B);
      q = q1, v = v1;
    }
    q.insert(q.end(), v.begin(), v.end());
    return q;
  };
  const auto exact = after(320);
  const double coarse = largest_difference(after(10), exact);
  const double fine = largest_difference(after(20), exact);
  EXPECT_NEAR(std::log2(coarse / fine), 4.0, 0.2);
}

// ---- identities ----

TEST(DerivativeIdentitiesTest, TranslationAndTurnAboutGravityOfAFloatingRobotChangeNothing) {
  for (unsigned long long seed = 2; seed <= robots; seed += 6) {
    RobotOptions options;
    options.seed = seed, options.bodies = 8, options.floating_base = true;
    const ModelPtr model = host().compile(random_robot(host().registry(), options));
    const int n = model->nv();
    const State s = random_state(*model, seed);
    std::vector<double> tau(n), Dq(n * n), Dv(n * n), M(n * n);
    any<InverseDynamicsDerivatives<double>>(model)->evaluate(s.q, s.v, s.vdot, tau, Dq, Dv, M);
    const Matrix D = as_matrix(Dq, n, n);
    const int base = model->body(1).v;
    EXPECT_EQ(D.middleCols(base + 3, 3).cwiseAbs().maxCoeff(), 0.0);
    // The direction of gravity in the base.
    SpanningMotion<double> motion(*model);
    motion.update(s.q.data(), nullptr);
    const Vec3<double> g = motion.joints.X[1].E * model->gravity();
    const Eigen::VectorXd turned = D.middleCols(base, 3) * Eigen::Vector3d(g.x, g.y, g.z);
    EXPECT_LT(turned.cwiseAbs().maxCoeff(), 1e-12 * (1 + D.cwiseAbs().maxCoeff()) * 100);
  }
}

TEST(DerivativeIdentitiesTest, CoriolisMatrixIsHalfOfTheDerivativeByRatesOnJointsOfOneRate) {
  for (unsigned long long seed = 1; seed <= 20; ++seed) {
    RobotOptions options;
    options.seed = seed, options.bodies = 9, options.types = {"revolute", "prismatic"};
    const ModelPtr model = host().compile(random_robot(host().registry(), options));
    const int n = model->nv();
    const State s = random_state(*model, seed);
    std::vector<double> tau(n), Dq(n * n), Dv(n * n), M(n * n), C(n * n), still(n, 0.0);
    any<InverseDynamicsDerivatives<double>>(model)->evaluate(s.q, s.v, s.vdot, tau, Dq, Dv, M);
    any<CoriolisMatrix<double>>(model)->evaluate(s.q, s.v, C);
    EXPECT_LT(gap(2.0 * as_matrix(C, n, n), as_matrix(Dv, n, n)), 1e-13);
    // In statics dtau/dq is the second derivative of a potential.
    any<InverseDynamicsDerivatives<double>>(model)->evaluate(s.q, still, still, tau, Dq, Dv, M);
    EXPECT_LT(gap(as_matrix(Dq, n, n), as_matrix(Dq, n, n).transpose()), 1e-13);
    EXPECT_EQ(largest(Dv), 0.0);
  }
}

// The largest entry of G: how much faster than an independent joint another one turns.
double largest_ratio(const Model& model, const std::vector<double>& q) {
  SpanningMotion<double> motion(model);
  motion.update(q.data(), nullptr);
  double ratio = 1.0;
  std::vector<double> x(model.nv()), column(model.spanning_nv());
  for (int i = 0; i < model.nv(); ++i) {
    std::fill(x.begin(), x.end(), 0.0), x[i] = 1.0;
    motion.expand(x.data(), column.data());
    ratio = std::max(ratio, largest(column));
  }
  return ratio;
}

TEST(DerivativeIdentitiesTest, FoldedRotorsAreWhatTheyAreAsBodies) {
  for (unsigned long long seed = 1; seed <= 40; ++seed) {
    ClusterRobotOptions options;
    options.seed = seed, options.parts = 4, options.floating_base = seed % 2 == 0;
    options.kinds = {"geared", "train", "two_parents", "four_bar_with_gears", "body", "layers"};
    const Description robot = random_cluster_robot(host().registry(), options);
    const ModelPtr folded = host().compile(robot);
    const ModelPtr kept = host().compile(robot, {.rotors = CompileOptions::Rotors::keep});
    if (folded->nv() != kept->nv() || folded->rotors().empty()) continue;
    const int n = folded->nv();
    const State s = any_state(*folded, seed);
    // The same position by joint, since bodies are numbered otherwise; rates likewise.
    std::vector<double> q(kept->nq());
    for (const Joint& joint : folded->joints()) {
      const Joint& other = kept->joint(joint.name);
      std::copy_n(s.q.data() + joint.q, joint.nq, q.data() + other.q);
    }
    std::vector<int> at(n);
    bool same = true;
    for (int i = 0; i < n; ++i) {
      const int rate = folded->independent_rates()[i];
      const Joint& joint = folded->joint_of_rate(rate);
      const Joint& other = kept->joint(joint.name);
      const auto rates = kept->independent_rates();
      const auto found = std::find(rates.begin(), rates.end(), other.v + rate - joint.v);
      same = same && found != rates.end();
      if (same) at[i] = static_cast<int>(found - rates.begin());
    }
    if (!same) continue;
    std::vector<double> v(n), vdot(n);
    for (int i = 0; i < n; ++i) v[at[i]] = s.v[i], vdot[at[i]] = s.vdot[i];
    struct Of {
      explicit Of(int n) : tau(n), Dq(n * n), Dv(n * n), M(n * n), C(n * n) {}
      std::vector<double> tau, Dq, Dv, M, C;
    } a(n), b(n);
    any<InverseDynamicsDerivatives<double>>(folded)->evaluate(s.q, s.v, s.vdot, a.tau, a.Dq, a.Dv,
                                                              a.M);
    any<InverseDynamicsDerivatives<double>>(kept)->evaluate(q, v, vdot, b.tau, b.Dq, b.Dv, b.M);
    any<CoriolisMatrix<double>>(folded)->evaluate(s.q, s.v, a.C);
    any<CoriolisMatrix<double>>(kept)->evaluate(q, v, b.C);
    // What spins as a body is rounded where folding has an exact zero: a symmetric rotor's terms
    // carry the gear ratio three times, in two rates and in G^T (950 in seed 7: 2e-8 of C).
    const double ratio = largest_ratio(*kept, q);
    const double rounding = std::numeric_limits<double>::epsilon() * ratio * ratio * ratio;
    for (const auto& [x, y] :
         {std::pair{&a.Dq, &b.Dq}, {&a.Dv, &b.Dv}, {&a.M, &b.M}, {&a.C, &b.C}}) {
      const double size = std::max(1.0, largest(*x));
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          EXPECT_NEAR((*x)[i * n + j], (*y)[at[i] * n + at[j]], 1e-11 * size + rounding) << seed;
        }
      }
    }
  }
}

// The same wrench at one state, constant in three frames.
TEST(DerivativeIdentitiesTest, WrenchFramesGiveOneTauAndThreeDerivatives) {
  RobotOptions options;
  options.seed = 4, options.bodies = 5, options.floating_base = true;
  const ModelPtr model = host().compile(random_robot(host().registry(), options));
  const int n = model->nv();
  const State s = random_state(*model, 4);
  const int body = model->body_count();
  SpanningMotion<double> motion(*model);
  motion.update(s.q.data(), nullptr);
  Transform<double> X = Transform<double>::identity();
  std::vector<int> path;
  for (int i = body; i != 0; i = model->body(i).parent) path.insert(path.begin(), i);
  for (const int i : path) X = motion.joints.X[i] * X;
  const Force<double> link{{1, -2, 0.5}, {3, 1, -2}};
  const Force<double> world = X.transpose_times_force(link);
  const Force<double> axes{transpose_times(X.E, link.n), transpose_times(X.E, link.f)};
  const Force<double> wrench[3] = {link, world, axes};
  std::vector<double> tau[3], Dq[3], Dv[3], M(n * n);
  for (int k = 0; k < 3; ++k) {
    FramedWrenches<double> framed(model);
    framed.add_item({body, static_cast<WrenchFrame>(k), wrench[k], {0, 0, 0}});
    const Loads<double> loads{nullptr, &framed, nullptr};
    tau[k].resize(n), Dq[k].resize(n * n), Dv[k].resize(n * n);
    any<InverseDynamicsDerivatives<double>>(model)->evaluate(s.q, s.v, s.vdot, tau[k], Dq[k], Dv[k],
                                                             M, &loads);
  }
  for (int k = 1; k < 3; ++k) {
    EXPECT_LT(relative_difference(tau[k], tau[0]), 1e-13);
    EXPECT_LT(relative_difference(Dv[k], Dv[0]), 1e-13);
    EXPECT_GT(largest_difference(Dq[k], Dq[0]), 0.1);
  }
  EXPECT_GT(largest_difference(Dq[1], Dq[2]), 0.1);
}

}  // namespace
}  // namespace espalier::test::more_derivatives_test
