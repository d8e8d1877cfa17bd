#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "espalier/kernel/problems/derivatives/constrained_dynamics_derivatives.hpp"
#include "espalier/kernel/problems/dynamics/constrained_dynamics.hpp"
#include "tests/derivatives/oracle.hpp"
#include "tests/support/end_effectors.hpp"

namespace espalier::test::constrained_derivatives_test {
namespace {

constexpr int robots = 200;

/// Accelerations and constraint forces of the dense oracle, loops closed at every point.
class ConstrainedOracle {
 public:
  ConstrainedOracle(const espalier::Setup& setup, const LoadCase* loads)
      : plain_(setup.model, loads),
        dynamics_(host().create<ConstrainedDynamics<double>>("dense", setup)) {}

  /// vdot, and forces behind it.
  std::vector<double> at(const std::vector<double>& q, const std::vector<double>& v,
                         std::vector<double> tau, const std::vector<double>& acceleration) {
    const Wrenches<double> wrenches = plain_.wrenches(q);
    const std::vector<double> load = plain_.joint_loads(q, v);
    for (std::size_t i = 0; i < tau.size(); ++i) tau[i] += load[i];
    const auto& answer = dynamics_->evaluate(q, v, tau, acceleration, &wrenches);
    std::vector<double> out = answer.vdot;
    out.insert(out.end(), answer.force.begin(), answer.force.end());
    rank_ = answer.rank;
    return out;
  }
  /// Columns of derivatives by q, v and tau, side by side.
  std::vector<std::vector<double>> columns(const State& s, const std::vector<double>& a) {
    std::vector<std::vector<double>> out;
    const int n = static_cast<int>(s.v.size());
    uncertainty_ = 0.0;
    const auto difference = [&](auto&& f) {
      auto [best, least] = best_difference(f);
      uncertainty_ = std::max(uncertainty_, least / std::max(1.0, largest(best)));
      out.push_back(std::move(best));
    };
    for (int k = 0; k < n; ++k) {
      difference([&](double t) { return at(plain_.moved(s.q, k, t), s.v, s.tau, a); });
    }
    for (int k = 0; k < n; ++k) {
      difference([&](double t) { return at(s.q, plain_.shifted(s.v, k, t), s.tau, a); });
    }
    for (int k = 0; k < n; ++k) {
      difference([&](double t) { return at(s.q, s.v, plain_.shifted(s.tau, k, t), a); });
    }
    return out;
  }
  int rank() const { return rank_; }
  double uncertainty() const { return uncertainty_; }
  ConstrainedDynamics<double>& dynamics() { return *dynamics_; }

 private:
  DifferenceOracle plain_;
  std::unique_ptr<ConstrainedDynamics<double>> dynamics_;
  int rank_ = 0;
  double uncertainty_ = 0.0;
};

/// All derivatives of an answer as the oracle has them.
std::vector<std::vector<double>> columns(const ConstrainedDynamicsDerivatives<double>::Answer& a,
                                         int n, int m) {
  std::vector<std::vector<double>> out;
  for (const auto& [vdot, force] : {std::pair{&a.dvdot_dq, &a.dforce_dq},
                                    {&a.dvdot_dv, &a.dforce_dv},
                                    {&a.dvdot_dtau, &a.dforce_dtau}}) {
    for (int k = 0; k < n; ++k) {
      std::vector<double> column;
      for (int i = 0; i < n; ++i) column.push_back((*vdot)[i * n + k]);
      for (int i = 0; i < m; ++i) column.push_back((*force)[i * n + k]);
      out.push_back(std::move(column));
    }
  }
  return out;
}

/// Largest entry of the differences of rows from begin on over the largest of the reference.
double error(const std::vector<std::vector<double>>& x,
             const std::vector<std::vector<double>>& reference, std::size_t first, int begin,
             int end) {
  double worst = 0.0, size = 1.0;
  for (std::size_t k = first; k < first + x.size() / 3; ++k) {
    for (int i = begin; i < end; ++i) {
      worst = std::max(worst, std::abs(x[k][i] - reference[k][i]));
      size = std::max(size, std::abs(reference[k][i]));
    }
  }
  return worst / size;
}

struct Case {
  explicit Case(unsigned long long seed)
      : model(any_robot(seed, CompileOptions::Rotors::keep)),
        setup{model, random_end_effectors(*model, seed / 3)},
        state(any_state(*model, seed)),
        loads(any_loads(*model, seed)),
        bound(model, loads, state) {
    const Task task(*model, setup.end_effectors);
    acceleration = Rng(seed + 9).vector(task.size());
  }
  ModelPtr model;
  espalier::Setup setup;
  State state;
  LoadCase loads;
  BoundLoads bound;
  std::vector<double> acceleration;
};

// Random end-effectors nearly depend on one another on some robots, and J M^-1 J^T amplifies
// rounding in the oracle as in the algorithm: by how much the oracle's own steps disagree is told
// beside each bound. Where they agree to 1e-9, and that is most robots, 1e-8 is asked for.
TEST(ConstrainedDerivativesTest, AgreeWithDifferencesThroughTheClosure) {
  std::vector<double> errors;
  int redundant = 0, sharp = 0, compliant = 0;
  for (unsigned long long seed = 1; seed <= robots; ++seed) {
    Case c(seed);
    SCOPED_TRACE("robot of seed " + std::to_string(seed));
    ConstrainedOracle oracle(c.setup, &c.loads);
    auto algorithm =
        host().create<ConstrainedDynamicsDerivatives<double>>("variation-constrained", c.setup);
    // Where rows are redundant, a compliance c leaves forces that differ by as much as rounding of
    // J M^-1 J^T over c.
    oracle.at(c.state.q, c.state.v, c.state.tau, c.acceleration);
    if (seed % 2 == 1 && oracle.rank() == static_cast<int>(c.acceleration.size())) {
      oracle.dynamics().set_compliance(0.01);
      algorithm->set_compliance(0.01);
      ++compliant;
    }
    const auto reference = oracle.columns(c.state, c.acceleration);
    const auto& answer =
        algorithm->evaluate(c.state.q, c.state.v, c.state.tau, c.acceleration, &c.bound.loads);
    const int n = c.model->nv(), m = static_cast<int>(c.acceleration.size());
    redundant += answer.rank < m;
    sharp += oracle.uncertainty() < 1e-9;
    EXPECT_EQ(answer.rank, oracle.rank());
    const auto derivatives = columns(answer, n, m);
    EXPECT_EQ(columns(algorithm->evaluate(c.state.q, c.state.v, c.state.tau, c.acceleration,
                                          &c.bound.loads),
                      n, m),
              derivatives)
        << "the second call differs";
    double worst = 0.0;
    for (int by = 0; by < 3; ++by) {
      worst = std::max(worst, error(derivatives, reference, by * n, 0, n));
      worst = std::max(worst, error(derivatives, reference, by * n, n, n + m));
    }
    // A disagreement of two steps is one sample of their rounding; measured: 7 times at most.
    EXPECT_LT(worst, 1e-8 + 20.0 * oracle.uncertainty());
    errors.push_back(worst);
  }
  std::sort(errors.begin(), errors.end());
  RecordProperty("median", std::to_string(errors[errors.size() / 2]));
  EXPECT_LT(errors[errors.size() / 2], 1e-10);
  EXPECT_GT(sharp, robots / 2);
  EXPECT_GT(compliant, 5);
  EXPECT_GT(redundant, robots / 4);
  EXPECT_LT(redundant, robots - robots / 8);
}

// One wrench in one set of rows: what stays constant as the link turns differs, so do derivatives.
TEST(ConstrainedDerivativesTest, RowsInLinkAxesAndInWorldAxesDiffer) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/panda.urdf",
                                     {.mimic = CompileOptions::MimicRule::ignore});
  const State s = random_state(*model, 1);
  std::vector<std::vector<double>> force, by_q;
  for (const auto axes : {EndEffector::Axes::link, EndEffector::Axes::world}) {
    const espalier::Setup setup{model, {EndEffector::weld(tips(*model)[0].link, {}, axes)}};
    const auto algorithm =
        host().create<ConstrainedDynamicsDerivatives<double>>("variation-constrained", setup);
    const auto& answer = algorithm->evaluate(s.q, s.v, s.tau, std::vector<double>(6, 0.0));
    force.push_back(answer.force), by_q.push_back(answer.dvdot_dq);
  }
  EXPECT_GT(largest_difference(by_q[0], by_q[1]), 0.1 * largest(by_q[0]));
}

TEST(ConstrainedDerivativesTest, EndEffectorsOnFoldedRotorsAreRefusedByName) {
  for (unsigned long long seed = 1;; ++seed) {
    ASSERT_LT(seed, 100U) << "no robot with folded rotors";
    const ModelPtr model = any_robot(seed);
    if (model->rotors().empty()) continue;
    const std::string rotor = model->body_names()[model->rotors().front().body];
    try {
      host().create<ConstrainedDynamicsDerivatives<double>>(
          "variation-constrained", espalier::Setup{model, {EndEffector::weld(rotor)}});
      FAIL() << "no refusal";
    } catch (const Unsupported& error) {
      EXPECT_NE(std::string(error.what()).find(rotor), std::string::npos) << error.what();
    }
    return;
  }
}

}  // namespace
}  // namespace espalier::test::constrained_derivatives_test
