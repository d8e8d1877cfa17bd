#include <gtest/gtest.h>

#include <limits>

#include "cli/allocations.hpp"
#include "espalier/plugins/processor/instruction_set.hpp"
#include "tests/batch/support.hpp"
#include "tests/support/simple_robot.hpp"

// Batches: every state alone, whatever stands beside it and whoever computes it.

namespace espalier::test::batch_test {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::string label(const Entry& e, const Model& model) {
  return e.about.name + " (" + e.problem + ") on " + model.name();
}

/// At both precisions.
class BatchTest : public ::testing::TestWithParam<Precision> {
 protected:
  static BatchOptions on(int threads) { return {.threads = threads, .precision = GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Precisions, BatchTest, ::testing::ValuesIn(precisions),
                         [](const auto& info) { return std::string(to_string(info.param)); });

std::unique_ptr<Batch> batch_of(const Entry& e, const ModelPtr& model, BatchOptions options = {}) {
  return host().batch(e.problem, e.about.name, with_tips(model), options);
}

/// Robots that all parts of the code are met on: trees, couplings, laws, loops.
std::vector<ModelPtr> robots() {
  std::vector<ModelPtr> all{tree(1), tree(2, 5), tree(3, 4), tree(4, 20)};
  for (int seed = 1; seed <= 6; ++seed) all.push_back(cluster_robot(seed));
  return all;
}

// One state after the other through a batch of one is the reference.
TEST_P(BatchTest, ResultsOfAStateDependNeitherOnTheNumberOfStatesNorOfThreads) {
  for (const ModelPtr& model : robots()) {
    constexpr int most = 67;
    const States all = gathered(*model, states_of(*model, most));
    for (const Entry* e : packed_algorithms(*model, GetParam())) {
      const auto one = batch_of(*e, model, on(1));
      std::vector<std::vector<Values>> wanted;
      for (int k = 0; k < most; ++k) {
        States alone;
        alone.N = 1;
        for (Values States::*x :
             {&States::q, &States::v, &States::tau, &States::vdot, &States::wrenches}) {
          alone.*x = column(all.*x, most, k);
        }
        wanted.push_back(answers(*one, 1, alone.with_wrenches()));
      }
      for (const int threads : {1, 2, 4}) {
        const auto batch = batch_of(*e, model, on(threads));
        for (const int N : {1, 2, 3, 4, 5, 7, 64, most}) {
          const States some = first(all, N);
          const std::vector<Values> got = answers(*batch, N, some.with_wrenches());
          for (std::size_t r = 0; r < got.size(); ++r) {
            for (int k = 0; k < N; ++k) {
              ASSERT_TRUE(same_bits(column(got[r], N, k), wanted[k][r]))
                  << label(*e, *model) << ": " << batch->results()[r].name << " of state " << k
                  << " of " << N << " on " << threads << " threads";
            }
          }
        }
      }
    }
  }
}

TEST_P(BatchTest, AThousandStatesAreTheSameOnOneTwoAndFourThreads) {
  for (const ModelPtr& model : {tree(3, 20), cluster_robot(4)}) {
    constexpr int N = 1000;
    const States all = gathered(*model, states_of(*model, N));
    for (const std::string_view problem :
         {ForwardDynamics<double>::problem, InverseDynamics<double>::problem}) {
      for (const Entry* e : host().registry().algorithms(problem)) {
        if (!has(*e, GetParam()) || !host().registry().can(*e, *model).ok) continue;
        const auto one = batch_of(*e, model, on(1));
        std::vector<BatchStatus> status, other;
        const auto wanted = answers(*one, N, all.inputs(), &status);
        for (const int threads : {2, 4}) {
          const auto batch = batch_of(*e, model, on(threads));
          for (int repeat = 0; repeat < 3; ++repeat) {
            EXPECT_TRUE(same_bits(answers(*batch, N, all.inputs(), &other)[0], wanted[0]))
                << label(*e, *model) << " on " << threads << " threads";
            EXPECT_EQ(other, status) << label(*e, *model) << " on " << threads << " threads";
          }
        }
      }
    }
  }
}

TEST_P(BatchTest, StatesOneAfterTheOtherHaveTheBitsOfStructuresOfArrays) {
  for (const ModelPtr& model : robots()) {
    for (const int N : {1, 9, 35}) {
      States all = gathered(*model, states_of(*model, N));
      all.q[N - 1] += 1.0;  // position 0 of the last state: some loops are open
      States after = all;
      for (Values States::*x :
           {&States::q, &States::v, &States::tau, &States::vdot, &States::wrenches}) {
        after.*x = state_by_state(all.*x, N);
      }
      BatchInputs in = after.with_wrenches();
      in.layout = BatchLayout::states;
      for (const Entry* e : packed_algorithms(*model, GetParam())) {
        const auto batch = batch_of(*e, model, on(2));
        std::vector<BatchStatus> wanted_status, status;
        const std::vector<Values> wanted = answers(*batch, N, all.with_wrenches(), &wanted_status);
        const std::vector<Values> got = answers(*batch, N, in, &status);
        EXPECT_EQ(status, wanted_status) << label(*e, *model);
        for (std::size_t r = 0; r < got.size(); ++r) {
          ASSERT_TRUE(same_bits(got[r], state_by_state(wanted[r], N)))
              << label(*e, *model) << ": " << batch->results()[r].name << " of " << N;
        }
      }
    }
  }
}

TEST(BatchCallTest, EveryStateHasTheAnswerOfASingleCall) {
  for (const ModelPtr& model : robots()) {
    constexpr int N = 9;
    const std::vector<State> states = states_of(*model, N);
    const States all = gathered(*model, states);
    for (const Entry* e : packed_algorithms(*model)) {
      const auto batch = batch_of(*e, model, {.threads = 2});
      const std::vector<Values> got = answers(*batch, N, all.with_wrenches());
      const auto single = host().registry().create(*e, with_tips(model));
      Results results;
      for (int k = 0; k < N; ++k) {
        const State& s = states[k];
        const Wrenches<double> wrenches = s.wrenches(model);
        single->solve({s.q, s.v, s.tau, s.vdot, &wrenches}, results);
        ASSERT_EQ(results.size(), got.size()) << label(*e, *model);
        for (std::size_t r = 0; r < got.size(); ++r) {
          EXPECT_EQ(results[r].name, batch->results()[r].name);
          EXPECT_EQ(results[r].rows, batch->results()[r].rows);
          EXPECT_EQ(results[r].columns, batch->results()[r].columns);
          EXPECT_EQ(results[r].row_count, batch->results()[r].row_count);
          EXPECT_EQ(results[r].column_count, batch->results()[r].column_count);
          // Sine and cosine differ in the last bit, and singular values of random loops down to
          // a hundredth enlarge that.
          EXPECT_LE(relative_difference(column(got[r], N, k), results[r].values), 1e-12)
              << label(*e, *model) << ": " << results[r].name << " of state " << k;
        }
      }
    }
  }
}

TEST_P(BatchTest, StatesThatFillNoPackMayBeSingleCalls) {
  const int lanes = GetParam() == Precision::floats ? 16 : 8;
  for (const ModelPtr& model : robots()) {
    for (const int N : {1, 2, 3, 2 * lanes, 2 * lanes + 3, 2 * lanes + 4}) {
      const int left = N % lanes;
      const std::vector<State> states = states_of(*model, N);
      States all = gathered(*model, states);
      all.q[static_cast<std::size_t>(N) - 1] += 1.0;  // of the last state: some loops are open
      for (const Entry* e : packed_algorithms(*model, GetParam())) {
        BatchOptions options = on(2);
        const auto packs = batch_of(*e, model, options);
        options.remainder = Remainder::single_calls;
        const auto batch = batch_of(*e, model, options);
        std::vector<BatchStatus> wanted_status, status;
        const std::vector<Values> wanted = answers(*packs, N, all.with_wrenches(), &wanted_status);
        const std::vector<Values> got = answers(*batch, N, all.with_wrenches(), &status);
        EXPECT_EQ(status, wanted_status) << label(*e, *model) << " of " << N;
        const auto single = host().registry().create(*e, with_tips(model));
        using espalier::detail::InstructionSet;
        const bool wide = espalier::detail::instruction_set_of(e->origin) == InstructionSet::v4;
        const int singles = left <= (wide ? 2 : 3) ? left : 0;
        for (int k = 0; k < N; ++k) {
          Results results;
          const bool alone = k >= N - singles;
          if (alone && k + 1 < N) {  // the last one's loops are open, which only packs overlook
            const State& s = states[k];
            const Values numbers = column(all.wrenches, N, k);  // summed link by link
            Wrenches<double> wrenches(model);
            for (std::size_t i = 0; i < model->links().size(); ++i) {
              Force<double> wrench;
              for (int c = 0; c < 6; ++c) wrench[c] = numbers[6 * i + static_cast<std::size_t>(c)];
              wrenches.add(model->links()[i], wrench);
            }
            single->solve({s.q, s.v, s.tau, s.vdot, &wrenches}, results);
          }
          for (std::size_t r = 0; r < got.size(); ++r) {
            if (alone && results.empty()) continue;
            const Values& expected = alone ? results[r].values : column(wanted[r], N, k);
            ASSERT_TRUE(same_bits(column(got[r], N, k), expected))
                << label(*e, *model) << ": " << batch->results()[r].name << " of state " << k
                << " of " << N;
          }
        }
      }
    }
  }
}

// They read numbers that stand one after the other where the caller has them.
TEST_P(BatchTest, ResultsOfSingleCallsMayTakeTheArraysThatAreRead) {
  BatchOptions options = on(1);
  options.remainder = Remainder::single_calls;
  int written_over = 0;
  for (const ModelPtr& model : robots()) {
    for (const int N : {1, 2, 3}) {
      States all = gathered(*model, states_of(*model, N));
      all.q[static_cast<std::size_t>(N) - 1] += 1.0;  // of the last state: some loops are open
      States after = all;
      for (Values States::*x : {&States::q, &States::v, &States::tau, &States::vdot}) {
        after.*x = state_by_state(all.*x, N);
      }
      for (const Entry* e : packed_algorithms(*model, GetParam())) {
        if (e->problem != ForwardDynamics<double>::problem &&
            e->problem != InverseDynamics<double>::problem) {
          continue;
        }
        const auto batch = batch_of(*e, model, options);
        std::vector<BatchStatus> wanted_status, status(static_cast<std::size_t>(N));
        const Values wanted = answers(*batch, N, all.inputs(), &wanted_status)[0];
        for (const BatchLayout layout : {BatchLayout::arrays, BatchLayout::states}) {
          const bool one_by_one = layout == BatchLayout::states;
          for (Values States::*x : {&States::q, &States::v, &States::tau, &States::vdot}) {
            States own = one_by_one ? after : all;
            if ((own.*x).size() != wanted.size()) continue;  // positions of free and ball joints
            BatchInputs in = own.inputs();
            in.layout = layout;
            batch->evaluate(N, in, {{batch->results()[0].name, own.*x}}, status);
            EXPECT_TRUE(same_bits(own.*x, one_by_one ? state_by_state(wanted, N) : wanted))
                << label(*e, *model) << " of " << N;
            EXPECT_EQ(status, wanted_status) << label(*e, *model) << " of " << N;
            ++written_over;
          }
        }
      }
    }
  }
  EXPECT_GT(written_over, 100);
}

TEST_P(BatchTest, AStateThatIsNotANumberIsSingularAndLeavesTheOthersAlone) {
  for (const ModelPtr& model : robots()) {
    constexpr int N = 10;
    const States all = gathered(*model, states_of(*model, N));
    States spoilt = all;
    constexpr int bad = 6;
    for (Values States::*x : {&States::q, &States::v, &States::tau, &States::vdot}) {
      for (std::size_t i = bad; i < (spoilt.*x).size(); i += N) (spoilt.*x)[i] = not_a_number;
    }
    for (const Entry* e : packed_algorithms(*model, GetParam())) {
      const auto batch = batch_of(*e, model, on(1));
      std::vector<BatchStatus> status;
      const auto wanted = answers(*batch, N, all.inputs(), &status);
      EXPECT_EQ(status, std::vector(N, BatchStatus::ok)) << label(*e, *model);
      const auto got = answers(*batch, N, spoilt.inputs(), &status);
      for (int k = 0; k < N; ++k) {
        EXPECT_EQ(status[k], k == bad ? BatchStatus::singular : BatchStatus::ok)
            << label(*e, *model) << ", state " << k;
        if (k == bad) continue;
        for (std::size_t r = 0; r < got.size(); ++r) {
          EXPECT_TRUE(same_bits(column(got[r], N, k), column(wanted[r], N, k)))
              << label(*e, *model) << ", state " << k;
        }
      }
      // And all is as before afterwards.
      EXPECT_TRUE(same_bits(answers(*batch, N, all.inputs())[0], wanted[0])) << label(*e, *model);
    }
  }
}

TEST_P(BatchTest, APositionThatIsNotANumberIsSingularEvenWhereNothingDependsOnIt) {
  // One hinge: its mass matrix is the same at every angle.
  Description robot = ground();
  add_solid(robot, "link");
  add_joint(robot, "joint", "revolute", "base", "link");
  const auto batch =
      host().batch<MassMatrix>("crba", espalier::Setup{.model = host().compile(robot)}, on(1));
  constexpr int N = 9;
  std::vector<double> q(N, 0.1), M(N);
  q[4] = not_a_number;
  std::vector<BatchStatus> status(N);
  batch->evaluate(N, {.q = q}, {{"mass_matrix", M}}, status);
  for (int k = 0; k < N; ++k) {
    EXPECT_EQ(status[k], k == 4 ? BatchStatus::singular : BatchStatus::ok) << k;
  }
}

// Far from zero, packs have another way to sine and cosine.
TEST_P(BatchTest, AHugeAngleLeavesTheOthersAlone) {
  const ModelPtr model = tree(5, 6);
  constexpr int N = 4;
  const States all = gathered(*model, states_of(*model, N));
  for (const double angle : {30.0, 1e5, 1e7, 1e300, std::numeric_limits<double>::infinity()}) {
    States turned = all;
    for (std::size_t i = 1; i < turned.q.size(); i += N) turned.q[i] += angle;
    const auto batch = host().batch<ForwardDynamics>("aba", model, on(1));
    const auto wanted = answers(*batch, N, all.inputs());
    const auto got = answers(*batch, N, turned.inputs());
    for (const int k : {0, 2, 3}) {
      EXPECT_TRUE(same_bits(column(got[0], N, k), column(wanted[0], N, k))) << angle;
    }
  }
}

TEST_P(BatchTest, OpenLoopsAreToldOfTheStateThatHasThem) {
  int robots_with_loops = 0;
  for (int seed = 1; seed <= 12; ++seed) {
    const ModelPtr model = cluster_robot(seed);
    if (model->is_tree()) continue;
    constexpr int N = 7, open = 5;
    States all = gathered(*model, states_of(*model, N));
    const auto batch = host().batch<ForwardDynamics>("c-aba", model, on(1));
    std::vector<BatchStatus> status;
    answers(*batch, N, all.inputs(), &status);
    EXPECT_EQ(status, std::vector(N, BatchStatus::ok)) << model->name();
    // Each dependent joint alone, moved off the loops.
    for (const Joint& joint : model->joints()) {
      const Cluster& cluster = model->clusters()[model->body(joint.body).cluster];
      if (joint.independent >= 0 || joint.nq != 1 || !cluster.constrained) continue;
      ++robots_with_loops;
      States moved = all;
      moved.q[joint.q * N + open] += 1e-3;
      answers(*batch, N, moved.inputs(), &status);
      for (int k = 0; k < N; ++k) {
        EXPECT_EQ(status[k], k == open ? BatchStatus::loop_open : BatchStatus::ok)
            << joint.name << " of " << model->name() << ", state " << k;
      }
      BatchOptions all_is_closed = on(1);
      all_is_closed.loop_tolerance = std::numeric_limits<double>::infinity();
      const auto blind = host().batch<ForwardDynamics>("c-aba", model, all_is_closed);
      answers(*blind, N, moved.inputs(), &status);
      EXPECT_EQ(status, std::vector(N, BatchStatus::ok)) << model->name();
    }
  }
  EXPECT_GT(robots_with_loops, 20);
}

TEST_P(BatchTest, OneCallSaysWhatABatchSays) {
  const ModelPtr model = cluster_robot(4);
  constexpr int N = 11;
  const States all = gathered(*model, states_of(*model, N));
  const auto batch = host().batch<ForwardDynamics>("c-aba", model, on(2));
  std::vector<BatchStatus> status;
  const Values wanted = answers(*batch, N, all.inputs(), &status)[0];
  Values vdot(model->nv() * N);
  EXPECT_EQ(host().evaluate_batch<ForwardDynamics>("c-aba", model, N, all.inputs(),
                                                   {{"vdot", vdot}}, on(2)),
            status);
  EXPECT_TRUE(same_bits(vdot, wanted));
  EXPECT_THROW(host().evaluate_batch<ForwardDynamics>("c-aba", model, -1, all.inputs(), {}),
               SizeMismatch);
}

TEST_P(BatchTest, WritesWhatIsAskedForAndNothingElse) {
  const ModelPtr model = tree(2, 5);
  constexpr int N = 6;
  const States all = gathered(*model, states_of(*model, N));
  const auto batch = host().batch<Energy>("energy", model, on(1));
  const auto both = answers(*batch, N, all.inputs());
  Values potential(N + 2, -7.0);
  batch->evaluate(N, {.q = all.q, .v = all.v},
                  {{"potential_energy", Out<double>(potential.data() + 1, N)}});
  EXPECT_EQ(Values(potential.begin() + 1, potential.end() - 1), both[1]);
  EXPECT_EQ(potential.front(), -7.0);
  EXPECT_EQ(potential.back(), -7.0);
  EXPECT_NO_THROW(batch->evaluate(0, {}, {}));
}

TEST_P(BatchTest, GravityIsThatOfAllThreads) {
  const ModelPtr model = tree(2, 5);
  constexpr int N = 300;
  const States all = gathered(*model, states_of(*model, N));
  const auto batch = host().batch<ForwardDynamics>("aba", model, on(4));
  const Vec3<double> moon{0.0, 0.0, -1.62};
  batch->set_gravity(moon);
  const auto got = answers(*batch, N, all.inputs());
  const auto one = host().batch<ForwardDynamics>("aba", model, on(1));
  EXPECT_FALSE(same_bits(got[0], answers(*one, N, all.inputs())[0]));
  one->set_gravity(moon);
  EXPECT_TRUE(same_bits(got[0], answers(*one, N, all.inputs())[0]));
}

TEST_P(BatchTest, AllocatesNothingAfterTheFirstCall) {
  for (const ModelPtr& model : {tree(3, 20), cluster_robot(4)}) {
    constexpr int N = 257;
    const States all = gathered(*model, states_of(*model, N));
    for (const Entry* e : packed_algorithms(*model, GetParam())) {
      const auto batch = batch_of(*e, model, on(1));
      std::vector<Values> values;
      for (const Result& r : batch->results()) {
        values.emplace_back(static_cast<std::size_t>(r.row_count) * r.column_count * N);
      }
      std::vector<BatchOutput> out;
      for (std::size_t k = 0; k < values.size(); ++k) {
        out.push_back({batch->results()[k].name, values[k]});
      }
      std::vector<BatchStatus> status(N);
      const BatchInputs in = all.with_wrenches();
      const auto call = [&] { batch->evaluate(N, in, std::span<const BatchOutput>(out), status); };
      call();
      const auto before = cli::allocation_count();
      call();
      EXPECT_EQ(cli::allocation_count(), before) << label(*e, *model);
    }
  }
}

TEST_P(BatchTest, ASingleCallAfterPacksAllocatesNothing) {
  const int lanes = GetParam() == Precision::floats ? 16 : 8;
  for (const ModelPtr& model : {tree(3, 20), cluster_robot(4)}) {
    const States all = gathered(*model, states_of(*model, lanes));
    const States one = first(all, 1);
    for (const Entry* e : packed_algorithms(*model, GetParam())) {
      BatchOptions options = on(1);
      options.remainder = Remainder::single_calls;
      const auto batch = batch_of(*e, model, options);
      std::vector<Values> many, few;
      std::vector<BatchOutput> of_many, of_few;
      for (const Result& r : batch->results()) {
        const std::size_t numbers = static_cast<std::size_t>(r.row_count) * r.column_count;
        of_many.push_back({r.name, many.emplace_back(numbers * lanes)});
        of_few.push_back({r.name, few.emplace_back(numbers)});
      }
      std::vector<BatchStatus> status(lanes);
      const BatchInputs in = all.with_wrenches(), in_one = one.with_wrenches();
      const std::span<BatchStatus> status_of_one(status.data(), 1);
      batch->evaluate(lanes, in, std::span<const BatchOutput>(of_many), status);
      const auto before = cli::allocation_count();
      batch->evaluate(1, in_one, std::span<const BatchOutput>(of_few), status_of_one);
      EXPECT_EQ(cli::allocation_count(), before) << label(*e, *model);
    }
  }
}

/// What a call throws.
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST_P(BatchTest, OutlivesItsHost) {
  for (const bool loops : {false, true}) {
    auto passing = std::make_unique<const Host>(Host::Options{{ESPALIER_PLUGIN_DIR}, false});
    ClusterRobotOptions parts;
    parts.seed = 2;
    const ModelPtr model = passing->compile(loops ? random_cluster_robot(passing->registry(), parts)
                                                  : random_robot(passing->registry(), {}));
    constexpr int N = 2 * FloatPack::size + 3;
    const States states = gathered(*model, states_of(*model, N));
    const auto batch = passing->batch<ForwardDynamics>("c-aba", model, on(1));
    std::vector<BatchStatus> before, after;
    const std::vector<Values> expected = answers(*batch, N, states.inputs(), &before);
    passing.reset();
    EXPECT_EQ(answers(*batch, N, states.inputs(), &after), expected);
    EXPECT_EQ(before, after);
  }
}

TEST(BatchCallTest, WrongSizesAreRefusedByName) {
  const ModelPtr model = tree(2, 5);
  constexpr int N = 6;
  const States all = gathered(*model, states_of(*model, N));
  const auto batch = host().batch<ForwardDynamics>("aba", model, {.threads = 1});
  Values vdot(model->nv() * N);
  const std::string nv = std::to_string(model->nv());
  const std::string whole = std::to_string(model->nv() * N);
  const auto said = [&](const BatchInputs& in, Values& out, std::size_t states = 0) {
    std::vector<BatchStatus> status(states);
    return message_of([&] { batch->evaluate(N, in, {{"vdot", out}}, status); });
  };
  EXPECT_EQ(said(all.inputs(), vdot), "nothing");
  const Values short_one(3);
  BatchInputs in = all.inputs();
  in.tau = short_one;
  EXPECT_EQ(said(in, vdot), "batch of aba: size of tau is 3, expected " + nv + " x 6 = " + whole +
                                " (numbers of each state x states)");
  in = all.inputs();
  in.tau = In<double>(nullptr, 0);
  EXPECT_NE(said(in, vdot).find("batch of aba: size of tau is 0, expected " + nv),
            std::string::npos);
  in = all.inputs();
  in.vdot = short_one;  // not asked for, but given
  EXPECT_NE(said(in, vdot).find("size of vdot is 3"), std::string::npos);
  in = all.inputs();
  in.wrenches = short_one;
  EXPECT_NE(said(in, vdot).find("size of wrenches is 3"), std::string::npos);
  Values small(1);
  EXPECT_NE(said(all.inputs(), small).find("size of vdot is 1"), std::string::npos);
  EXPECT_NE(said(all.inputs(), vdot, 5).find("size of status is 5"), std::string::npos);
  EXPECT_THROW(batch->evaluate(-1, all.inputs(), {{"vdot", vdot}}), SizeMismatch);
  EXPECT_THROW(host().batch<ForwardDynamics>("aba", model, {.threads = -1}), SizeMismatch);
  // What forward dynamics do not ask for may be left out.
  EXPECT_NO_THROW(batch->evaluate(N, {.q = all.q, .v = all.v, .tau = all.tau}, {{"vdot", vdot}}));
}

TEST(BatchCallTest, UnknownResultsAreRefusedWithTheKnownOnes) {
  const ModelPtr model = tree(2, 5);
  const auto batch = host().batch<ForwardDynamics>("aba", model, {.threads = 1});
  Values x(1);
  const std::string said = message_of([&] { batch->evaluate(0, {}, {{"vdt", x}}); });
  EXPECT_EQ(said, "batch of aba: result is 'vdt', expected vdot (did you mean 'vdot'?)");
}

TEST_P(BatchTest, AlgorithmsWithoutPacksAreRefusedWithOnesThatHaveThem) {
  const ModelPtr model = tree(2, 5);
  int without = 0;
  const std::string scalar = GetParam() == Precision::floats ? "float-pack" : "pack";
  for (const Entry* e : named_algorithms()) {
    if (has(*e, GetParam())) continue;
    ++without;
    try {
      host().batch(e->problem, e->about.name, with_tips(model), on(1));
      ADD_FAILURE() << e->about.name;
    } catch (const Unsupported& error) {
      const std::string said = error.what();
      EXPECT_EQ(said.find("batch of " + e->about.name + ": scalar " + scalar + " is missing"), 0u);
      for (const Entry* other : host().registry().algorithms(e->problem)) {
        if (!has(*other, GetParam())) continue;
        if (!host().registry().can(*other, *model).ok) continue;
        EXPECT_NE(said.find("'" + other->about.name + "'"), std::string::npos) << said;
      }
    }
  }
  EXPECT_GT(without, 0);
  EXPECT_THROW(host().batch<ForwardDynamics>("abba", model, on(1)), UnknownName);
  EXPECT_THROW(host().batch<ForwardDynamics>("aba", cluster_robot(1), on(1)), Unsupported);
}

TEST(BatchCallTest, SinglePacksRefuseNamedDoubles) {
  const ModelPtr model = tree(2, 5);
  const Entry& e = host().registry().find_algorithm("forward-dynamics", "aba");
  Results results;
  PackResults packs;
  FloatPackResults floats;
  EXPECT_THROW(host().registry().create(e, {model}, ScalarTraits<Pack>::index)->solve({}, results),
               Unsupported);
  EXPECT_THROW(host().registry().create(e, {model})->solve_packs({}, packs), Unsupported);
  EXPECT_THROW(host().registry().create(e, {model})->solve_packs({}, floats), Unsupported);
  EXPECT_THROW(
      host().registry().create(e, {model}, ScalarTraits<Pack>::index)->solve_packs({}, floats),
      Unsupported);
}

}  // namespace
}  // namespace espalier::test::batch_test
