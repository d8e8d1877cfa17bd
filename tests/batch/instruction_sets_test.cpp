#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "espalier/plugins/instruction_set.hpp"
#include "tests/batch/support.hpp"
#include "tests/support/environment_variable.hpp"

// One build for all processors: plugins compiled for wider instruction sets give the results of
// those for any x86-64, up to rounding.

namespace espalier::test {
namespace {

using espalier::detail::InstructionSet;
using Bound = espalier::Setup;  // gtest has another name like it

/// The plugins of the build, up to an instruction set.
const Host& host_up_to(const std::string& set) {
  static std::map<std::string, std::unique_ptr<const Host>> hosts;
  std::unique_ptr<const Host>& host = hosts[set];
  if (host == nullptr) {
    const EnvironmentVariable cap("ESPALIER_INSTRUCTION_SET", set);
    host = std::make_unique<const Host>(Host::Options{{ESPALIER_BINARY_DIR "/plugins"}, false});
  }
  return *host;
}

/// Products are fused with sums or not, sums are taken in another order, and singular values of
/// random loops down to a hundredth enlarge that: to 2e-11. Derivatives by differences divide it by
/// their step: 2e-10.
constexpr double agreed = 1e-9;

class InstructionSetTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const InstructionSet set = GetParam() == "x86-64-v4" ? InstructionSet::v4 : InstructionSet::v3;
    if (espalier::detail::processor_instruction_set() < set) {
      GTEST_SKIP() << "this processor has no " << GetParam();
    }
    const std::vector<LoadedPlugin> loaded = wide().loader().loaded();
    if (std::none_of(loaded.begin(), loaded.end(), [](const LoadedPlugin& plugin) {
          return plugin.instruction_set == GetParam();
        })) {
      GTEST_SKIP() << "this build has no plugins for " << GetParam() << " (ESPALIER_VARIANTS)";
    }
  }
  static const Host& plain() { return host_up_to("baseline"); }
  static const Host& wide() { return host_up_to(GetParam()); }

  /// Calls f(entry, the same at the wide instruction set, setup, the same there, label) for every
  /// exact algorithm with scalar T on a tree, robots with loops and one of transmissions.
  template <class T, class F>
  static void for_every_algorithm(F&& f) {
    RobotOptions tree;
    tree.floating_base = true;
    tree.bodies = 20;
    ClusterRobotOptions loops, more, transmissions;
    loops.parts = 8;
    more.seed = 2, more.floating_base = true;
    transmissions.kinds = {"geared", "train", "two_carriers", "mimic", "across", "layers"};
    std::vector<Description> robots{random_robot(plain().registry(), tree)};
    for (const ClusterRobotOptions& options : {loops, more, transmissions}) {
      robots.push_back(random_cluster_robot(plain().registry(), options));
    }
    for (const Description& robot : robots) {
      const ModelPtr model = plain().compile(robot), same = wide().compile(robot);
      for (const Entry* e : plain().registry().algorithms()) {
        // Approximations may know no rotors among the tips.
        const Verdict verdict = plain().registry().can(*e, *model);
        if (!e->algorithm[ScalarTraits<T>::index] || !verdict.ok || !verdict.exact) continue;
        const Entry& other = wide().registry().find_algorithm(e->problem, e->about.name);
        f(*e, other, with_tips(model), with_tips(same),
          e->about.name + " (" + e->problem + ") on " + model->name());
      }
    }
  }
};

TEST_P(InstructionSetTest, SingleCallsAgreeWithPlainOnes) {
  for_every_algorithm<double>([](const Entry& e, const Entry& other, const Bound& setup,
                                 const Bound& same, const std::string& label) {
    const auto algorithm = plain().registry().create(e, setup);
    const auto again = wide().registry().create(other, same);
    Results results, results_again;
    for (const State& s : states_of(*setup.model, 3)) {
      const Wrenches<double> wrenches = s.wrenches(setup.model);
      const Wrenches<double> wrenches_again = s.wrenches(same.model);
      algorithm->solve({s.q, s.v, s.tau, s.vdot, &wrenches}, results);
      again->solve({s.q, s.v, s.tau, s.vdot, &wrenches_again}, results_again);
      ASSERT_EQ(results.size(), results_again.size()) << label;
      for (std::size_t r = 0; r < results.size(); ++r) {
        ASSERT_EQ(results[r].values.size(), results_again[r].values.size()) << label;
        EXPECT_LE(relative_difference(results_again[r].values, results[r].values), agreed)
            << label << ": " << results[r].name;
      }
    }
  });
}

TEST_P(InstructionSetTest, BatchesAgreeWithPlainOnes) {
  for_every_algorithm<Pack>([](const Entry& e, const Entry&, const Bound& setup, const Bound& same,
                               const std::string& label) {
    constexpr int N = 6;
    const States states = gathered(*setup.model, states_of(*setup.model, N));
    const auto answers_of = [&](const Host& host, const Bound& bound) {
      const auto batch = host.batch(e.problem, e.about.name, bound, {.threads = 1});
      return answers(*batch, N, states.with_wrenches());
    };
    const std::vector<Values> results = answers_of(plain(), setup);
    const std::vector<Values> again = answers_of(wide(), same);
    ASSERT_EQ(results.size(), again.size()) << label;
    for (std::size_t r = 0; r < results.size(); ++r) {
      EXPECT_LE(relative_difference(again[r], results[r]), agreed) << label << ", result " << r;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Wide, InstructionSetTest, ::testing::Values("x86-64-v3", "x86-64-v4"),
                         [](const auto& given) { return given.param.substr(7); });

}  // namespace
}  // namespace espalier::test
