#include <gtest/gtest.h>

#include <thread>

#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

namespace espalier::test::threads_test {
namespace {

// A model is shared, an algorithm belongs to one thread. Run under the thread sanitizer, too.
TEST(ThreadsTest, ShareOneModelAndGetWhatOneThreadGets) {
  RobotOptions options;
  options.bodies = 20;
  const ModelPtr model = host().compile(random_robot(host().registry(), options));
  constexpr int threads = 4, calls = 50;

  struct Work {
    std::vector<std::vector<double>> vdot, tau;
    std::vector<double> kinetic;
  };
  const auto work = [&](Work& out) {
    const auto forward = every<ForwardDynamics<double>>(model);
    const auto inverse = every<InverseDynamics<double>>(model);
    const auto energy = any<Energy<double>>(model);
    std::vector<double> result(model->nv());
    for (int call = 0; call < calls; ++call) {
      const State s = random_state(*model, call);
      const Wrenches<double> wrenches = s.wrenches(model);
      for (const auto& [name, a] : forward) {
        a->evaluate(s.q, s.v, s.tau, result, &wrenches);
        out.vdot.push_back(result);
      }
      for (const auto& [name, a] : inverse) {
        a->evaluate(s.q, s.v, s.vdot, result, &wrenches);
        out.tau.push_back(result);
      }
      out.kinetic.push_back(energy->evaluate(s.q, s.v).kinetic);
    }
  };

  Work alone;
  work(alone);
  std::vector<Work> together(threads);
  std::vector<std::thread> pool;
  for (Work& out : together) pool.emplace_back([&work, &out] { work(out); });
  for (std::thread& thread : pool) thread.join();
  for (const Work& out : together) {
    EXPECT_EQ(out.vdot, alone.vdot);
    EXPECT_EQ(out.tau, alone.tau);
    EXPECT_EQ(out.kinetic, alone.kinetic);
  }
}

TEST(ThreadsTest, CountOperationsEachForItself) {
  RobotOptions options;
  const ModelPtr model = host().compile(random_robot(host().registry(), options));
  const std::vector<Count> q(model->nq(), Count(0.5)), v(model->nv(), Count(0.5));
  const auto count = [&](std::int64_t& out) {
    const auto a = any<Energy<Count>>(model);
    operation_counts() = {};
    a->evaluate(q, v);
    out = operation_counts().multiplications;
  };
  std::int64_t alone = 0;
  count(alone);
  EXPECT_GT(alone, 0);
  std::vector<std::int64_t> together(4);
  std::vector<std::thread> pool;
  for (std::int64_t& out : together) pool.emplace_back([&count, &out] { count(out); });
  for (std::thread& thread : pool) thread.join();
  for (const std::int64_t out : together) EXPECT_EQ(out, alone);
}

}  // namespace
}  // namespace espalier::test::threads_test
