#include "espalier/host/named.hpp"

#include <gtest/gtest.h>

#include "espalier/errors.hpp"
#include "tests/support/host.hpp"

// Results by joints' names, states by joints' names, and numbers as matrices.

namespace espalier::test::named_test {
namespace {

ModelPtr tello() {
  return host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml", {.root = Root::floating});
}

TEST(NamedTest, AlgorithmsWriteIntoItAndJointsReadFromIt) {
  const ModelPtr robot = tello();
  const espalier::State state(robot);
  espalier::Named vdot(robot);
  const std::vector<double> tau(robot->nv(), 0.0);
  host().create<ForwardDynamics<double>>("c-aba", robot)->evaluate(state.q(), state.v(), tau, vdot);
  for (const Coordinate& c : robot->coordinates()) {
    for (int k = 0; k < c.size; ++k) EXPECT_EQ(vdot.of(c.joint)[k], vdot.data()[c.start + k]);
  }
  EXPECT_EQ(vdot["left.hip.rotor1"], vdot.vector()[robot->joint("left.hip.rotor1").independent]);
  EXPECT_NEAR(vdot.of("root")[5], -9.81, 1e-9);  // free fall, to the rounding of a tree's sweep
}

TEST(NamedTest, WhatHasNoSingleNumberIsRefused) {
  espalier::Named vdot(tello());
  EXPECT_THROW(vdot["left.hip.rotor7"], UnknownName);
  try {
    vdot["left.hip.thigh"] = 1.0;  // depends on the rotors
    FAIL() << "a dependent joint was taken";
  } catch (const Unsupported& error) {
    const std::string text = error.what();
    for (const char* word : {"'left.hip.thigh' is dependent", "'left.hip.rotor1'",
                             "ControlStep::force()", "input matrix"}) {
      EXPECT_NE(text.find(word), std::string::npos) << text;
    }
  }
  EXPECT_THROW(vdot["root"], SizeMismatch);
  EXPECT_THROW(espalier::Named(tello(), std::vector<double>(3)), SizeMismatch);
}

TEST(NamedTest, NumbersAreMatricesWhereTheirSizeFits) {
  std::vector<double> numbers{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(as_matrix(Out<double>(numbers), 2, 3)(1, 0), 4.0);  // row-major
  as_matrix(Out<double>(numbers), 2, 3)(0, 2) = 7.0;
  EXPECT_EQ(numbers[2], 7.0);
  EXPECT_THROW(as_matrix(In<double>(numbers), 2, 2), SizeMismatch);
}

TEST(NamedTest, WithoutAModelThereIsNone) {
  EXPECT_THROW(espalier::Named named(nullptr), InvalidModel);
}

TEST(NamedTest, RobotsFloatAsTheirFileSaysUnlessTheProgramSaysOtherwise) {
  const std::string file = ESPALIER_SOURCE_DIR "/robots/tello.yaml";
  EXPECT_NE(host().load(file)->find_joint("root"), nullptr);
  EXPECT_EQ(host().load(file, {.root = Root::fixed})->find_joint("root"), nullptr);
  const std::string silent = ESPALIER_SOURCE_DIR "/robots/solo12.urdf";
  EXPECT_EQ(host().load(silent)->find_joint("root"), nullptr);
  EXPECT_NE(host().load(silent, {.root = Root::floating})->find_joint("root"), nullptr);
}

TEST(NamedTest, StateSpeaksOfJointsByName) {
  espalier::State state(tello());
  state["left.hip.rotor1"] = 0.25;
  state["left.hip.rotor1"].set_rate(-2.0);
  state["root"] = {0, 0, 0.8, 0, 0, 0, 1};
  const espalier::State& read = state;
  EXPECT_EQ(read["left.hip.rotor1"], 0.25);
  EXPECT_EQ(state["left.hip.rotor1"].rate()[0], -2.0);
  EXPECT_EQ(state["root"].position()[2], 0.8);
  EXPECT_THROW(read["root"], SizeMismatch);
  EXPECT_THROW(state["hip"] = 1.0, UnknownName);
}

}  // namespace
}  // namespace espalier::test::named_test
