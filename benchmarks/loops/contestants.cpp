#include "benchmarks/loops/contestants.hpp"

#include <array>
#include <limits>

#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/derivatives/forward_dynamics_derivatives.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"

namespace espalier::bench {

namespace {

template <class P, Work what>
class OnLoops final : public Contestant {
 public:
  OnLoops(const Host& host, const LoopRobot& robot, const Entry& entry, bool keep)
      : Contestant(what, "Espalier", keep ? with_rotors(entry.about.name) : entry.about.name,
                   entry.capabilities.exact ? rounding : std::numeric_limits<double>::max()),
        robot_(robot),
        keep_(keep),
        states_(keep ? robot.kept_states : robot.states),
        algorithm_(host.create<P>(entry.about.name, setup(robot, keep))),
        oracle_(entry.about.summary.rfind("oracle", 0) == 0),
        out_(what == Work::inverse_osim ? 36 * robot.held.size() * robot.held.size()
                                        : static_cast<std::size_t>(robot.model->nv())) {}

  void call(int k) override {
    const RandomState& s = states_[k];
    if constexpr (what == Work::inverse_osim) {
      algorithm_->evaluate(s.q, out_);
    } else {
      algorithm_->evaluate(s.q, s.v, what == Work::forward ? s.tau : s.vdot, out_);
    }
  }
  std::vector<double> result(int) override {
    if (!keep_ || what == Work::inverse_osim) return out_;
    std::vector<double> ordered(out_.size());
    for (std::size_t i = 0; i < ordered.size(); ++i) ordered[i] = out_[robot_.kept_rate[i]];
    return ordered;
  }
  std::string not_timed() const override {
    return oracle_ ? "an oracle: its results are compared" : "";
  }

 private:
  static Setup setup(const LoopRobot& robot, bool keep) {
    Setup setup{keep ? robot.kept : robot.model};
    for (const std::string& link : robot.held) {
      setup.end_effectors.push_back(EndEffector::weld(link));
    }
    return setup;
  }

  const LoopRobot& robot_;
  const bool keep_;
  const std::vector<RandomState>& states_;
  std::unique_ptr<P> algorithm_;
  const bool oracle_;
  std::vector<double> out_;
};

/// Derivatives of forward dynamics, and M^-1, by which they are compared with a peer's.
class DerivativesOnLoops final : public Contestant {
 public:
  DerivativesOnLoops(const Host& host, const LoopRobot& robot)
      : Contestant(Work::forward_derivatives, "Espalier", "c-aba-derivatives", rounding),
        robot_(robot),
        algorithm_(
            host.create<ForwardDynamicsDerivatives<double>>("c-aba-derivatives", robot.model)),
        vdot_(robot.model->nv()) {
    for (std::vector<double>& matrix : out_) matrix.resize(vdot_.size() * vdot_.size());
  }
  void call(int k) override {
    const RandomState& s = robot_.states[k];
    algorithm_->evaluate(s.q, s.v, s.tau, vdot_, out_[0], out_[1], out_[2]);
  }
  std::vector<double> result(int) override { return out_[2]; }

 private:
  const LoopRobot& robot_;
  std::unique_ptr<ForwardDynamicsDerivatives<double>> algorithm_;
  std::vector<double> vdot_;
  std::array<std::vector<double>, 3> out_;  ///< by q, by v, by tau
};

/// What one has without them: two calls of c-aba for each column, of closed positions.
class CentralDifferences final : public Contestant {
 public:
  CentralDifferences(const Host& host, const LoopRobot& robot)
      : Contestant(Work::forward_derivatives, "Espalier", "central differences of c-aba", 1e-5),
        robot_(robot),
        algorithm_(host.create<ForwardDynamics<double>>("c-aba", robot.model)),
        motion_(*robot.model),
        projector_(robot.model),
        n_(robot.model->nv()),
        q_(robot.model->nq()),
        unit_(n_),
        step_(robot.model->spanning_nv()) {
    for (std::vector<double>& matrix : out_) matrix.resize(n_ * n_);
    for (std::vector<double>& vdot : vdot_) vdot.resize(n_);
  }
  void call(int k) override {
    const RandomState& s = robot_.states[k];
    v_ = s.v, tau_ = s.tau;
    for (std::size_t j = 0; j < n_; ++j) {
      for (const int side : {0, 1}) moved(s, j, side == 0 ? h : -h, vdot_[side]);
      write(0, j);
      along(v_[j], 1, j, s);
      along(tau_[j], 2, j, s);
    }
  }
  std::vector<double> result(int) override { return out_[2]; }

 private:
  static constexpr double h = 1e-6;

  void moved(const RandomState& s, std::size_t j, double by, std::vector<double>& vdot) {
    const Model& m = *robot_.model;
    unit_.assign(n_, 0.0);
    unit_[j] = by;
    motion_.update(s.q.data(), unit_.data());
    std::copy_n(motion_.qd(), step_.size(), step_.begin());
    m.integrate(s.q.data(), step_.data(), q_.data());
    if (m.has_variable_constraints()) {
      projector_.restart();
      projector_.project(q_.data());
    }
    algorithm_->evaluate(q_, s.v, s.tau, vdot);
  }
  void along(double& x, int matrix, std::size_t j, const RandomState& s) {
    const double there = x;
    for (const int side : {0, 1}) {
      x = there + (side == 0 ? h : -h);
      algorithm_->evaluate(s.q, v_, tau_, vdot_[side]);
    }
    x = there;
    write(matrix, j);
  }
  void write(int matrix, std::size_t j) {
    for (std::size_t i = 0; i < n_; ++i) {
      out_[matrix][i * n_ + j] = (vdot_[0][i] - vdot_[1][i]) / (2 * h);
    }
  }

  const LoopRobot& robot_;
  std::unique_ptr<ForwardDynamics<double>> algorithm_;
  SpanningMotion<double> motion_;
  LoopProjector projector_;
  const std::size_t n_;
  std::vector<double> q_, v_, tau_, unit_, step_;
  std::array<std::vector<double>, 2> vdot_;  ///< on either side
  std::array<std::vector<double>, 3> out_;   ///< by q, by v, by tau
};

template <class P, Work what>
void add(const Host& host, const LoopRobot& robot, const std::string& reference, Contestants& all,
         Refusals& refused) {
  const Registry& registry = host.registry();
  std::vector<const Entry*> entries = registry.algorithms(P::problem);
  std::stable_partition(entries.begin(), entries.end(),
                        [&](const Entry* e) { return e->about.name == reference; });
  for (const bool keep : {false, true}) {
    if (keep && robot.kept == nullptr) continue;
    for (const Entry* entry : entries) {
      if (!entry->capabilities.couplings) continue;  // for trees alone
      // What is approximated are folded rotors.
      if (keep && !entry->capabilities.exact) continue;
      const std::string name = keep ? with_rotors(entry->about.name) : entry->about.name;
      const Verdict verdict = registry.can(*entry, keep ? *robot.kept : *robot.model);
      if (!verdict.ok) {
        refused.emplace_back(name, verdict.obstacle);
        continue;
      }
      try {
        all.push_back(std::make_unique<OnLoops<P, what>>(host, robot, *entry, keep));
      } catch (const Error& error) {
        refused.emplace_back(name, error.what());
      }
    }
  }
}

}  // namespace

std::string with_rotors(const std::string& algorithm) { return algorithm + ", rotors kept"; }

Contestants our_loop_contestants(const Host& host, const LoopRobot& robot, Refusals& refused) {
  Contestants all;
  add<ForwardDynamics<double>, Work::forward>(host, robot, "c-aba", all, refused);
  add<InverseDynamics<double>, Work::inverse>(host, robot, "c-rnea", all, refused);
  add<InverseOsim<double>, Work::inverse_osim>(host, robot, "c-efpa", all, refused);
  all.push_back(std::make_unique<DerivativesOnLoops>(host, robot));
  all.push_back(std::make_unique<CentralDifferences>(host, robot));
  return all;
}

}  // namespace espalier::bench
