#include "algorithms/input_matrix/acting_columns.hpp"

#include <gtest/gtest.h>

#include "algorithms/input_matrix/columns/column_plan.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"

// Which columns of an input matrix pass a robot, where they stand, and robots on which many
// contacts act on few links while motors drive all joints: on parents that move and on the ground.

namespace espalier::test::acting_columns_test {
namespace {

using Double = InputMatrix<double>;

ModelPtr robot(const std::string& file, bool floating) {
  CompileOptions options;
  if (floating) options.root = CompileOptions::Root::floating;
  options.mimic = CompileOptions::MimicRule::ignore;
  return host().load(ESPALIER_SOURCE_DIR "/robots/" + file, options);
}
/// So many point contacts on a link, each of three rows.
void add_contacts(const std::string& link, int count, EndEffector::Axes axes,
                  std::vector<Input>& inputs) {
  Rng rng(count);
  for (int k = 0; k < count; ++k) {
    EndEffector contact = EndEffector::contact(link, {0, 0, 0});
    contact.offset = rng.vec3(0.2);
    contact.axes = axes;
    inputs.push_back({.name = "in" + std::to_string(inputs.size()), .contact = contact});
  }
}

TEST(ActingColumnsTest, SixUnitWrenchesPassForNineRowsOnALink) {
  const ModelPtr model = robot("panda.urdf", false);
  const std::string link = model->links().back().name;
  std::vector<Input> inputs;
  add_contacts(link, 2, EndEffector::Axes::world, inputs);
  const ActingColumns few(InputColumns(*model, inputs));
  EXPECT_EQ(few.size(), 6);
  EXPECT_TRUE(few.crowds().empty());

  add_contacts(link, 1, EndEffector::Axes::world, inputs);
  const ActingColumns many(InputColumns(*model, inputs));
  EXPECT_EQ(many.size(), 6);
  ASSERT_EQ(many.crowds().size(), 1u);
  EXPECT_EQ(many.crowds()[0].rows.size(), 9u);
  EXPECT_EQ(many.of_setup(), std::vector<int>(9, -1));
}

TEST(ActingColumnsTest, RowsInLinkAndWorldAxesAreCrowdsOfTheirOwn) {
  const ModelPtr model = robot("panda.urdf", false);
  const std::string link = model->links().back().name;
  std::vector<Input> inputs = motors(*model);
  const int driven = InputColumns(*model, inputs).size();
  add_contacts(link, 3, EndEffector::Axes::world, inputs);
  add_contacts(link, 2, EndEffector::Axes::link, inputs);
  const ActingColumns columns(InputColumns(*model, inputs));
  EXPECT_EQ(columns.crowds().size(), 1u);
  EXPECT_EQ(columns.size(), driven + 6 + 6);  // motors, rows in link axes, unit wrenches
  for (int k = 0; k < driven; ++k) EXPECT_EQ(columns.of_setup()[k], k);
}

TEST(ActingColumnsTest, RowsOnTheGroundAreNoCrowd) {
  const ModelPtr model = robot("panda.urdf", false);
  std::vector<Input> inputs;
  add_contacts(model->links().front().name, 4, EndEffector::Axes::world, inputs);
  EXPECT_TRUE(ActingColumns(InputColumns(*model, inputs)).crowds().empty());
}

// Two chains of nodes 1, 2 and 3, 4 on node 0, with 3 and 6 columns, in blocks of 4.
TEST(ColumnPlanTest, AChainStartsABlockWhereItNeedsOneLessForIt) {
  const std::vector<int> parent{-1, 0, 1, 0, 3}, chain{-1, 0, 0, 1, 1};
  const std::vector<int> node{1, 2, 2, 3, 3, 3, 4, 4, 4};
  const ColumnPlan plan(parent, node, std::vector<bool>(9, true), chain, 4);
  EXPECT_EQ(plan.place, (std::vector<int>{0, 1, 2, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(plan.free, 3);  // in the gap
  EXPECT_EQ(plan.blocks, 3);
}
TEST(ColumnPlanTest, AChainSharesABlockWhereItNeedsNoneLess) {
  const std::vector<int> parent{-1, 0, 0}, chain{-1, 0, 1};
  const std::vector<int> node{1, 1, 2, 2};
  const ColumnPlan plan(parent, node, std::vector<bool>(4, true), chain, 4);
  EXPECT_EQ(plan.place, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(plan.free, 4);
  EXPECT_EQ(plan.blocks, 2);
}

struct Case {
  const char* file;
  bool floating;
};

// Chains with motors on all joints get their rates from the factors of their own inverse inertia,
// others from a sweep outward, watched ones from motions: one motor less and a watched link make
// these of those.
TEST(ActingColumnsTest, ManyContactsOnFewLinksWithAllMotorsAgreeWithDense) {
  for (const auto& [file, floating] :
       {Case{"humanoid.urdf", true}, Case{"humanoid.urdf", false}, Case{"panda.urdf", false},
        Case{"mit_humanoid.yaml", true}, Case{"tello.yaml", true}, Case{"belt_chain.yaml", false},
        Case{"jvrc1_geared.yaml", true}}) {
    const ModelPtr model = robot(file, floating);
    for (const bool one_less : {false, true}) {
      for (const bool watched : {false, true}) {
        SCOPED_TRACE(std::string(file) + (one_less ? ", one motor less" : "") +
                     (watched ? ", watched" : ""));
        espalier::Setup setup{model};
        setup.inputs = motors(*model);
        if (one_less) setup.inputs.pop_back();
        add_contacts(model->links().back().name, 4, EndEffector::Axes::world, setup.inputs);
        const std::size_t middle = model->links().size() / 2;
        add_contacts(model->links()[middle].name, 3, EndEffector::Axes::link, setup.inputs);
        add_contacts(model->links()[middle].name, 5, EndEffector::Axes::world, setup.inputs);
        if (watched) setup.end_effectors = {EndEffector::weld(model->links().back().name)};
        ASSERT_EQ(ActingColumns(InputColumns(*model, setup.inputs)).crowds().size(), 3u);
        const State s = random_cluster_state(*model, 7);
        const auto fast = host().create<Double>("iim", setup);
        const auto slow = host().create<Double>("dense", setup);
        const auto& got = fast->evaluate(s.q, s.v, s.tau);
        const auto& wanted = slow->evaluate(s.q, s.v, s.tau);
        // As agreed for all methods, relative to the largest entry: rounding is amplified by gear
        // ratios.
        EXPECT_LE(relative_difference(got.input_matrix, wanted.input_matrix), 1e-9);
        EXPECT_LE(relative_difference(got.free_acceleration, wanted.free_acceleration), 1e-9);
        EXPECT_LE(relative_difference(got.task_input_matrix, wanted.task_input_matrix), 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace espalier::test::acting_columns_test
