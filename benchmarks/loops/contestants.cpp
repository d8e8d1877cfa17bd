#include "benchmarks/loops/contestants.hpp"

#include <limits>

#include "espalier/kernel/problems/inverse_osim.hpp"

namespace espalier::bench {

namespace {

/// Exact methods sum in different orders and factor matrices of different condition; 1e-8 of the
/// largest entry is far below any error of a formula.
constexpr double exact_agreement = 1e-8;

template <class P, Work what>
class OnLoops final : public Contestant {
 public:
  OnLoops(const Host& host, const LoopRobot& robot, const Entry& entry, bool keep)
      : Contestant(what, "Espalier", keep ? with_rotors(entry.about.name) : entry.about.name,
                   entry.capabilities.exact ? exact_agreement : std::numeric_limits<double>::max()),
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
  return all;
}

}  // namespace espalier::bench
