#include "espalier/simulation/contact/kept_impulses.hpp"

#include <cstring>

#include "tests/contact/robots.hpp"

/// KeptImpulses beside a copy of all numbers: points that touch now and then, robots that are put
/// elsewhere, one state of eight lanes for all packs.

namespace espalier::test::kept_impulses_test {
namespace {

using contact::KeptImpulses;
using contact::Plan;
using contact::StepState;

constexpr int robots = 19, packs = 3;  // the last pack has lanes beyond them

class KeptImpulsesTest : public testing::TestWithParam<double> {
 protected:
  KeptImpulsesTest() {
    const Boxed box = box_on_plane({0.1, 0.2, 0.3}, 1.0, {.torsional_friction = GetParam()});
    plan_ = contact::make_plan(host().registry(), box.model, box.world, {}, {});
    kept_.assign(*plan_, robots);
    numbers_ = plan_->memory_size();
    expected_.assign(robots, std::vector<double>(numbers_, 0.0));
    state_.memory.assign(numbers_, Pack(0.0));
  }

  bool touches() { return random_.uniform(0.0, 1.0) < 0.3; }
  /// All numbers of a point, which may touch.
  template <class F>
  void each_number(int point, F&& f) const {
    for (int i = 0; i < 4; ++i) f(4 * point + i);
    const int turning = plan_->turning_rows();
    for (int i = 0; i < turning; ++i) {
      f(4 * plan_->points() + plan_->scalar_rows() + turning * point + i);
    }
  }
  void expect_loaded(int pack) const {
    for (int l = 0; l < Pack::size; ++l) {
      const int robot = std::min(8 * pack + l, robots - 1);
      for (int i = 0; i < numbers_; ++i) {
        EXPECT_EQ(state_.memory[i][l], expected_[robot][i]) << robot << ", " << i;
      }
    }
  }
  /// What a step does: forgets what is kept, and writes points that touch.
  void step(int pack) {
    for (const int point : state_.kept) {
      each_number(point, [&](int i) { state_.memory[i] = Pack(0.0); });
    }
    state_.kept.clear();
    for (int point = 0; point < plan_->points(); ++point) {
      if (!touches()) continue;
      state_.kept.push_back(point);
      each_number(point, [&](int i) {
        for (int l = 0; l < Pack::size; ++l) state_.memory[i].set(l, random_.uniform(-1.0, 1.0));
      });
    }
    for (int l = 0; l < Pack::size && 8 * pack + l < robots; ++l) {
      for (int i = 0; i < numbers_; ++i) expected_[8 * pack + l][i] = state_.memory[i][l];
    }
  }

  std::shared_ptr<const Plan> plan_;
  KeptImpulses kept_;
  StepState<Pack> state_;
  int numbers_ = 0;
  std::vector<std::vector<double>> expected_;
  Rng random_{3};
};

TEST_P(KeptImpulsesTest, AreTheNumbersOfTheLastStep) {
  ASSERT_GT(plan_->points(), 3);
  for (int round = 0; round < 30; ++round) {
    for (int pack = 0; pack < packs; ++pack) {
      kept_.load(8 * pack, state_);
      expect_loaded(pack);
      step(pack);
      kept_.store(8 * pack, state_);
    }
    const int robot = round % robots;
    std::vector<double> saved(numbers_);
    EXPECT_EQ(kept_.read(robot, saved.data()), saved.data() + numbers_);
    EXPECT_EQ(saved, expected_[robot]);
    if (round % 3 == 0) {
      kept_.clear(robot);
      expected_[robot].assign(numbers_, 0.0);
    } else {  // of another robot, whose points are others
      const int other = (robot + 9) % robots;
      EXPECT_EQ(kept_.write(other, saved.data()), saved.data() + numbers_);
      expected_[other] = saved;
    }
    for (int i = 0; i < numbers_; ++i) EXPECT_EQ(kept_.pack(i, 8)[2], expected_[10][i]);
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutMoments, KeptImpulsesTest, testing::Values(0.0, 0.02));

}  // namespace
}  // namespace espalier::test::kept_impulses_test
