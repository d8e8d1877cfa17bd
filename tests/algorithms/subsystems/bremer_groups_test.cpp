#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "espalier/kernel/problems/dynamics/subsystem_matrices.hpp"
#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/subsystem_groups.hpp"
#include "tests/support/task_robots.hpp"

// What may be declared a subsystem of Bremer's method, what is refused and how; and the inputs of
// subsystems.

namespace espalier::test::bremer_groups_test {
namespace {

using Numbers = std::vector<double>;
using Subsystems = std::vector<SubsystemMatrices<double>::Subsystem>;

/// base - trunk on "waist"; two arms of two links each, whose elbows are coupled on the left: the
/// left arm is one cluster. The right arm is a chain.
ModelPtr robot() {
  Description r = ground();
  for (const char* link : {"trunk", "left_upper", "left_lower", "right_upper", "right_lower"}) {
    add_solid(r, link);
  }
  const Pose side{{0.1, 0.2, 0.3}, {0, 0, 0}};
  add_joint(r, "waist", "revolute", "base", "trunk", {0, 0, 1});
  add_joint(r, "left_shoulder", "revolute", "trunk", "left_upper", {0, 1, 0}, side);
  add_joint(r, "left_elbow", "revolute", "left_upper", "left_lower", {0, 1, 0}, side);
  r.joints.back().mimic = Mimic{"left_shoulder", 2.0, 0.0};
  add_joint(r, "right_shoulder", "revolute", "trunk", "right_upper", {0, 1, 0}, side);
  add_joint(r, "right_elbow", "spherical", "right_upper", "right_lower", {0, 1, 0}, side);
  return host().compile(r);
}

Subsystems subsystems(const ModelPtr& model, const Groups& groups,
                      const std::vector<Input>& inputs = {}) {
  espalier::Setup setup{model};
  setup.groups = groups;
  setup.inputs = inputs;
  const auto matrices = host().create<SubsystemMatrices<double>>("bremer", setup);
  Numbers q(model->nq());
  model->neutral(q.data());
  return matrices->evaluate(q, Numbers(model->nv(), 0.5));
}
std::vector<std::string> names(const Subsystems& all) {
  std::vector<std::string> out;
  for (const auto& s : all) out.push_back(s.name);
  return out;
}

template <class E>
void expect_refused(const Groups& groups, const std::vector<std::string>& words) {
  const ModelPtr model = robot();
  espalier::Setup setup{model};
  setup.groups = groups;
  const auto check = [&](const std::function<void()>& create, const char* who) {
    try {
      create();
      ADD_FAILURE() << who << " takes it";
    } catch (const E& error) {
      for (const std::string& word : words) {
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
            << who << ": " << error.what() << "\nlacks: " << word;
      }
    }
  };
  for (const char* name : {"bremer-on", "minimal-form"}) {
    check([&] { host().create<ForwardDynamics<double>>(name, setup); }, name);
  }
  check([&] { host().create<SubsystemMatrices<double>>("bremer", setup); }, "bremer");
}

TEST(SubsystemGroupsTest, WhatIsInNoGroupIsASubsystemPerCluster) {
  const Subsystems all = subsystems(robot(), {{"right arm", {"right_elbow", "right_shoulder"}}});
  EXPECT_EQ(names(all),
            (std::vector<std::string>{"waist", "left_shoulder+left_elbow", "right arm"}));
  EXPECT_EQ(all[1].parent, 0);
  EXPECT_EQ(all[2].parent, 0);
  EXPECT_EQ(all[2].outputs, std::vector<std::string>{"trunk"});
  EXPECT_EQ(all[2].rates.size(), 4u);
  EXPECT_EQ(all[2].parent_size, 7);
}

TEST(SubsystemGroupsTest, ClustersBesideOneAnotherOnOneBodyAreAGroup) {
  const Subsystems all =
      subsystems(robot(), {{"arms", {"right_shoulder", "left_shoulder", "left_elbow"}}});
  EXPECT_EQ(names(all), (std::vector<std::string>{"waist", "arms", "right_elbow"}));
  EXPECT_EQ(all[2].parent, 1);
}

TEST(SubsystemGroupsTest, UnknownJointsAreNamedWithASuggestion) {
  expect_refused<UnknownName>({{"arm", {"rigth_elbow"}}},
                              {"subsystem 'arm'", "'rigth_elbow'", "did you mean 'right_elbow'?"});
}

TEST(SubsystemGroupsTest, OverlappingGroupsAreRefused) {
  expect_refused<InvalidModel>(
      {{"one", {"waist", "right_shoulder"}}, {"two", {"right_shoulder", "right_elbow"}}},
      {"subsystem 'two'", "joint 'right_shoulder'", "subsystem 'one'"});
}

TEST(SubsystemGroupsTest, NamesAndJointsGivenTwiceAreRefused) {
  expect_refused<DuplicateName>({{"arm", {"waist"}}, {"arm", {"right_shoulder"}}},
                                {"subsystem 'arm'", "two groups"});
  expect_refused<DuplicateName>({{"arm", {"waist", "waist"}}}, {"joint 'waist'", "given twice"});
  expect_refused<DuplicateName>({{"waist", {"right_shoulder"}}}, {"'waist'", "another name"});
}

TEST(SubsystemGroupsTest, EmptyGroupsAndNamesAreRefused) {
  expect_refused<InvalidModel>({{"arm", {}}}, {"subsystem 'arm'", "number of joints is 0"});
  expect_refused<InvalidModel>({{"", {"waist"}}}, {"number 0", "name is empty"});
}

TEST(SubsystemGroupsTest, AGroupThatSplitsALoopNamesClusterAndMissingJoints) {
  expect_refused<InvalidModel>(
      {{"arm", {"left_shoulder", "waist"}}},
      {"subsystem 'arm'", "cluster 'left_shoulder+left_elbow'", "missing: 'left_elbow'"});
  // In two groups.
  expect_refused<InvalidModel>({{"a", {"left_shoulder"}}, {"b", {"left_elbow"}}},
                               {"cluster 'left_shoulder+left_elbow' is split"});
}

TEST(SubsystemGroupsTest, BodiesThatDoNotHangTogetherAreRefused) {
  expect_refused<InvalidModel>({{"odd", {"waist", "right_elbow"}}},
                               {"subsystem 'odd'", "'waist'", "'right_elbow'", "hang together"});
}

// --- inputs -------------------------------------------------------------------------------------

TEST(SubsystemInputsTest, AMotorOnADependentJointActsByItsRowOfG) {
  Input motor;
  motor.name = "motor";
  motor.joint = "left_elbow";
  const Subsystems all = subsystems(robot(), {}, {motor});
  EXPECT_TRUE(all[0].inputs.empty());
  ASSERT_EQ(all[1].inputs, std::vector<std::string>{"motor"});
  EXPECT_EQ(all[1].B, (Numbers{0, 0, 0, 0, 0, 0, 2}));  // it turns twice as fast
}

TEST(SubsystemInputsTest, ContactsActLikeExternalWrenches) {
  for_each_task(
      [](const TaskCase& c) {
        const Model& model = c.model();
        Rng rng(model.nv());
        espalier::Setup setup{c.setup.model};
        setup.groups = random_groups(model, model.nv());
        const Link& link = model.links()[rng.below(static_cast<int>(model.links().size()))];
        setup.inputs.emplace_back();
        EndEffector& contact = setup.inputs.back().contact;
        contact = EndEffector::weld(link.name, rng.vec3());
        if (rng.chance(0.5)) contact.axes = EndEffector::Axes::world;
        Wrenches<double> wrench(c.setup.model);
        const auto kinematics = any<Kinematics<double>>(c.setup.model);
        kinematics->evaluate(c.state.q, c.state.v, c.state.vdot);
        const Mat3<double> E = contact.axes == EndEffector::Axes::world
                                   ? kinematics->placement(link).E
                                   : Mat3<double>::identity();
        const Numbers u = rng.vector(6);
        Force<double> f{E * Vec3<double>{u[0], u[1], u[2]}, E * Vec3<double>{u[3], u[4], u[5]}};
        f.n += cross(contact.offset, f.f);
        wrench.add(link.name, f);

        const auto matrices = host().create<SubsystemMatrices<double>>("bremer", setup);
        const Subsystems pushed = matrices->evaluate(c.state.q, c.state.v, &wrench);
        const Subsystems free = matrices->evaluate(c.state.q, c.state.v);
        for (std::size_t i = 0; i < free.size(); ++i) {
          Numbers h = free[i].h;
          const std::size_t m = free[i].inputs.size();
          for (std::size_t r = 0; r < h.size(); ++r) {
            for (std::size_t k = 0; k < m; ++k) h[r] -= free[i].B[r * m + k] * u[k];
          }
          // Rounding of sums of a few dozen numbers; ratios reach 100.
          EXPECT_LE(relative_difference(pushed[i].h, h), 1e-11) << free[i].name;
        }
      },
      4);
}

TEST(SubsystemInputsTest, UnknownInputsAreRefused) {
  Input motor, contact;
  motor.joint = "left_elbwo";
  contact.contact = EndEffector::weld("hand");
  EXPECT_THROW(subsystems(robot(), {}, {motor}), UnknownName);
  EXPECT_THROW(subsystems(robot(), {}, {contact}), UnknownName);
}

TEST(SubsystemResultsTest, AreNamedByTheirSubsystems) {
  const ModelPtr model = robot();
  espalier::Setup setup{model};
  setup.groups = {{"right arm", {"right_elbow", "right_shoulder"}}};
  const auto matrices = host().create<SubsystemMatrices<double>>("bremer", setup);
  Inputs in;
  in.q.resize(model->nq());
  model->neutral(in.q.data());
  in.v.assign(model->nv(), 0.1);
  Results results;
  matrices->solve(in, results);
  ASSERT_EQ(results.size(), 24u);
  EXPECT_EQ(results[0].name, "y of waist");
  EXPECT_EQ(results[17].name, "M of right arm");
  EXPECT_EQ(results[17].row_count, 10);
  EXPECT_EQ(results[17].column_count, 10);
  EXPECT_EQ(results[20].name, "T of right arm");
  EXPECT_EQ(results[20].column_count, 7);
  EXPECT_EQ(results[21].name, "dT of right arm");
  EXPECT_EQ(results[21].column_count, 7);
  EXPECT_EQ(results[23].name, "c of right arm");
  EXPECT_EQ(results[23].column_count, 1);
}

}  // namespace
}  // namespace espalier::test::bremer_groups_test
