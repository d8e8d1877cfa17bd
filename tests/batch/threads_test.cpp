#include <barrier>
#include <exception>
#include <thread>

#include "tests/batch/support.hpp"

// What threads of one program share: a host, models, TBB's pool. ThreadSanitizer looks on
// (./espalier test tsan).

namespace espalier::test::threads_test {
namespace {

constexpr int thread_count = 8;

/// Runs work(number) on eight threads that begin together.
template <class Work>
void in_eight_threads(const Work& work) {
  std::barrier begin(thread_count);
  std::vector<std::exception_ptr> errors(thread_count);
  std::vector<std::thread> threads;
  for (int number = 0; number < thread_count; ++number) {
    threads.emplace_back([&, number] {
      begin.arrive_and_wait();
      try {
        work(number);
      } catch (...) {
        errors[number] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

TEST(ThreadsTest, EightShareAModelWithAnAlgorithmEach) {
  const ModelPtr model = cluster_robot(4);
  const std::vector<State> states = states_of(*model, thread_count);
  const auto solve = [&](ForwardDynamics<double>& dynamics, const State& s) {
    Values vdot(model->nv());
    dynamics.evaluate(s.q, s.v, s.tau, vdot);
    return vdot;
  };
  std::vector<Values> wanted;
  for (const State& s : states) {
    wanted.push_back(solve(*host().create<ForwardDynamics<double>>("c-aba", model), s));
  }
  std::vector<int> same(thread_count, 0);
  in_eight_threads([&](int number) {
    const auto dynamics = host().create<ForwardDynamics<double>>("c-aba", model);
    for (int repeat = 0; repeat < 20; ++repeat) {
      same[number] += same_bits(solve(*dynamics, states[number]), wanted[number]);
    }
  });
  EXPECT_EQ(same, std::vector<int>(thread_count, 20));
}

TEST(ThreadsTest, EightHaveABatchOfTwoThreadsEach) {
  const ModelPtr model = cluster_robot(4);
  constexpr int N = 64;
  const States all = gathered(*model, states_of(*model, N));
  const auto batch = [&](int threads) {
    return host().batch<ForwardDynamics>("c-aba", model, {.threads = threads});
  };
  const Values wanted = answers(*batch(1), N, all.inputs())[0];
  std::vector<int> same(thread_count, 0);
  in_eight_threads([&](int number) {
    const auto own = batch(2);
    for (int repeat = 0; repeat < 5; ++repeat) {
      same[number] += same_bits(answers(*own, N, all.inputs())[0], wanted);
    }
  });
  EXPECT_EQ(same, std::vector<int>(thread_count, 5));
}

TEST(ThreadsTest, EightAskAFreshHostForPluginsThatAreNotOpenYet) {
  RobotOptions options;
  options.bodies = 12;
  const Description description = random_robot(host().registry(), options);
  const Host fresh(Host::Options{{ESPALIER_PLUGIN_DIR}, false});
  std::vector<int> bodies(thread_count, 0);
  in_eight_threads([&](int number) {
    const ModelPtr model = fresh.compile(description);
    const auto dynamics = fresh.create<ForwardDynamics<double>>("aba", model);
    bodies[number] = model->nv();
  });
  EXPECT_EQ(bodies, std::vector<int>(thread_count, host().compile(description)->nv()));
}

}  // namespace
}  // namespace espalier::test::threads_test
