#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>

#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/kernel/model/packs/pack_code.hpp"
#include "espalier/plugins/loader.hpp"
#include "espalier/plugins/processor/instruction_set.hpp"
#include "tests/batch/support.hpp"
#include "tests/support/environment_variable.hpp"

// One build for all processors: plugins compiled for wider instruction sets give the results of
// those for any x86-64, up to rounding.

namespace espalier::test::instruction_sets_test {
namespace {

using espalier::detail::InstructionSet;
using Bound = espalier::Setup;  // gtest has another name like it

/// The plugins of the build, up to an instruction set.
const Host& host_up_to(const std::string& set) {
  static std::map<std::string, std::unique_ptr<const Host>> hosts;
  std::unique_ptr<const Host>& host = hosts[set];
  if (host == nullptr) {
    const EnvironmentVariable cap("ESPALIER_INSTRUCTION_SET", set);
    host = std::make_unique<const Host>(Host::Options{{ESPALIER_PLUGIN_DIR}, false});
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
    if (!std::filesystem::exists(ESPALIER_PLUGIN_DIR "/espalier_joints.so")) {
      GTEST_SKIP() << "this build has one instruction set (ESPALIER_ONE_VARIANT)";
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
    transmissions.kinds = {"geared", "train", "two_parents", "mimic", "across", "layers"};
    std::vector<Description> robots{random_robot(plain().registry(), tree)};
    for (const ClusterRobotOptions& options : {loops, more, transmissions}) {
      robots.push_back(random_cluster_robot(plain().registry(), options));
    }
    for (const Description& robot : robots) {
      const ModelPtr model = plain().compile(robot), same = wide().compile(robot);
      for (const Entry* e : named_algorithms(plain().registry())) {
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
    constexpr int N = 2 * Pack::size + 6;
    const States states = gathered(*setup.model, states_of(*setup.model, N));
    std::vector<BatchStatus> status[2];
    const auto answers_of = [&](const Host& host, const Bound& bound) {
      const auto batch = host.batch(e.problem, e.about.name, bound, {.threads = 1});
      return answers(*batch, N, states.with_wrenches(), &status[&host == &plain() ? 0 : 1]);
    };
    const std::vector<Values> results = answers_of(plain(), setup);
    const std::vector<Values> again = answers_of(wide(), same);
    EXPECT_EQ(status[0], status[1]) << label;
    ASSERT_EQ(results.size(), again.size()) << label;
    for (std::size_t r = 0; r < results.size(); ++r) {
      EXPECT_LE(relative_difference(again[r], results[r]), agreed) << label << ", result " << r;
    }
  });
}

/// What PackCode computes of one cluster's loops, lane by lane.
template <class P>
std::vector<double> loops_of(const PackCode& code, const Model& model, const Cluster& cluster,
                             const std::vector<P>& q, const std::vector<P>& v, P& margin) {
  const ClusterConstraint& constraint = *cluster.constraint;
  const Cluster* const clusters[] = {&cluster};
  ConstraintWorkspace<P> w;
  constraint.allocate(cluster, w);
  TreeKinematics<P> joints(model);
  joints.update(model, q.data(), nullptr);
  std::vector<P> all, G(model.G_size()), phi, g(model.spanning_nv(), P(0.0)), qd = g;
  std::vector<P> forces(model.nv(), P(0.0));
  const auto keep = [&](const std::vector<P>& x) { all.insert(all.end(), x.begin(), x.end()); };
  const SpanningView<P> at{q.data(), qd.data(), joints.X.data(), joints.S.data(),
                           joints.bias.data()};
  code.jacobian(constraint, model, cluster, at, w);
  keep(w.K);
  code.take_margin(constraint, w, margin);
  code.eliminate_loops(model, clusters, {&w, 1}, at, v.data(), G.data(), qd.data(), nullptr);
  keep(G), keep(qd);
  code.eliminate_biases(model, clusters, {&w, 1}, at, g.data());
  keep(g);
  std::fill(qd.begin(), qd.end(), P(0.0));
  std::fill(g.begin(), g.end(), P(0.0));
  code.eliminate_loops(model, clusters, {&w, 1}, at, v.data(), G.data(), qd.data(), g.data());
  keep(qd), keep(g);
  code.reduce(clusters, G.data(), qd.data(), forces.data());
  keep(forces);
  code.expand(clusters, G.data(), v.data(), qd.data());
  keep(qd);
  code.residual(constraint, model, cluster, at, ClusterConstraint::Rows::all, w, phi);
  keep(phi);
  P most(0.0);
  code.take_largest(phi, most);
  keep({most});
  std::vector<double> lanes;
  for (const P& x : all) {
    for (int k = 0; k < P::size; ++k) lanes.push_back(x[k]);
  }
  return lanes;
}

template <class P>
void expect_same_loops(const PackCode& code, const ModelPtr& model, double tolerance) {
  const std::vector<State> states = states_of(*model, P::size);
  std::vector<P> q(model->nq()), v(model->nv());
  for (int k = 0; k < P::size; ++k) {
    for (int i = 0; i < model->nq(); ++i) q[i].set(k, states[k].q[i]);
    for (int i = 0; i < model->nv(); ++i) v[i].set(k, states[k].v[i]);
  }
  P least(1.0), least_plainly(1.0);
  int loops = 0;
  for (const Cluster& cluster : model->clusters()) {
    if (cluster.constraint == nullptr) continue;
    const auto plainly = loops_of(PackCode::plain(), *model, cluster, q, v, least_plainly);
    EXPECT_LE(relative_difference(loops_of(code, *model, cluster, q, v, least), plainly), tolerance)
        << model->name() << ", " << cluster.name;
    ++loops;
  }
  EXPECT_GT(loops, 2);
  LoopProjector projector(model);
  for (int k = 0; k < P::size; ++k) {
    projector.residual(states[k].q.data());
    EXPECT_NEAR(least[k], projector.margin(), tolerance) << k;
    EXPECT_NEAR(least_plainly[k], projector.margin(), tolerance) << k;
  }
}

TEST_P(InstructionSetTest, LoopsOfPacksAgreeWithPlainOnes) {
  ClusterRobotOptions some, others;
  some.parts = others.parts = 24;
  others.seed = 2, others.floating_base = true;
  const PackCode& code = *wide().registry().pack_code();
  EXPECT_NE(&code, &PackCode::plain());
  for (const ClusterRobotOptions& options : {some, others}) {
    const ModelPtr model = wide().compile(random_cluster_robot(wide().registry(), options));
    EXPECT_EQ(&model->pack_code(), &code);
    expect_same_loops<Pack>(code, model, agreed);
    expect_same_loops<FloatPack>(code, model, 1e-3);
  }
}

template <class P>
void expect_there_and_back(const PackCode& code, int rows, bool states) {
  constexpr int most = 3, N = most * P::size + 5, begin = 2;
  const auto stride = states ? espalier::detail::Strides{rows, 1} : espalier::detail::Strides{1, N};
  Values array(rows * N), back(rows * N, -1.0);
  for (int i = 0; i < rows * N; ++i) array[i] = 0.1 * i;
  for (int count = 0; count <= most; ++count) {
    std::vector<std::vector<P>> packs(count, std::vector<P>(rows));
    std::vector<P*> to(count);
    for (int k = 0; k < count; ++k) to[k] = packs[k].data();
    code.load(array.data() + begin * stride.state, stride, rows, to);
    const std::vector<const P*> from(to.begin(), to.end());
    code.store(from, rows, back.data() + begin * stride.state, stride);
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < N; ++k) {
        const long at = k - begin, i = r * stride.number + k * stride.state;
        const bool inside = at >= 0 && at < count * P::size;
        const auto kept = static_cast<typename P::Element>(array[i]);
        if (inside) EXPECT_EQ(packs[at / P::size][r][at % P::size], kept);
        EXPECT_EQ(back[i], inside ? static_cast<double>(kept) : -1.0);
      }
    }
  }
}

template <class P>
void expect_rows_there_and_back(const PackCode& code) {
  for (const int rows : {1, 3, 8, 9, 16, 21}) {  // eight at a time, and what is left of them
    for (const bool states : {false, true}) expect_there_and_back<P>(code, rows, states);
  }
}

template <class P>
void expect_numbers_that_are_none_to_be_seen(const PackCode& code) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr int bad = 5, endless = 3;
  std::vector<P> numbers(4, P(-2.0));
  numbers[1].set(bad, std::numeric_limits<typename P::Element>::quiet_NaN());
  numbers[2].set(endless, -infinity);
  numbers[3].set(0, 7.0);
  P zero(0.0), most(1.0), miss(0.0);
  code.take_not_finite(numbers, zero);
  code.take_largest(numbers, most);
  code.take_largest_miss(std::vector<CoupledPosition>{{0, 0.5, {{1, 2.0}, {3, -1.0}}}},
                         numbers.data(), miss);
  for (int k = 0; k < P::size; ++k) {
    const bool finite = k != bad && k != endless;
    EXPECT_EQ(zero[k] == 0, finite) << k;
    EXPECT_EQ(most[k] <= infinity, finite) << k;
    if (finite) EXPECT_EQ(most[k], k == 0 ? 7.0 : 2.0) << k;
    if (k == bad) {
      EXPECT_FALSE(miss[k] <= infinity);
    } else {  // |-2 - 0.5 - 2 (-2) + x|
      EXPECT_EQ(miss[k], k == 0 ? 8.5 : 0.5) << k;
    }
  }
}

TEST_P(InstructionSetTest, RowsComeAndGoAndNumbersThatAreNoneAreSeen) {
  for (const PackCode* code : {wide().registry().pack_code().get(), &PackCode::plain()}) {
    expect_rows_there_and_back<Pack>(*code);
    expect_rows_there_and_back<FloatPack>(*code);
    expect_numbers_that_are_none_to_be_seen<Pack>(*code);
    expect_numbers_that_are_none_to_be_seen<FloatPack>(*code);
  }
}

INSTANTIATE_TEST_SUITE_P(Wide, InstructionSetTest, ::testing::Values("x86-64-v3", "x86-64-v4"),
                         [](const auto& given) { return given.param.substr(7); });

}  // namespace
}  // namespace espalier::test::instruction_sets_test
