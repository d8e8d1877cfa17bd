#include <gtest/gtest.h>

#include "tests/batch/support.hpp"

// Domain randomisation: states of robots that differ in their numbers.

namespace espalier::test::batch_variants_test {
namespace {

constexpr int variant_count = 5;

/// The same robot with masses, inertias and ratios of its own.
Description changed(Description robot, int number) {
  Rng rng(100 + number);
  robot.name += std::to_string(number);
  for (LinkDescription& link : robot.links) {
    if (!link.inertial) continue;
    const double factor = rng.uniform(0.5, 2.0);
    link.inertial->mass *= factor;
    for (double* x : {&link.inertial->I.xx, &link.inertial->I.xy, &link.inertial->I.xz,
                      &link.inertial->I.yy, &link.inertial->I.yz, &link.inertial->I.zz}) {
      *x *= factor;
    }
  }
  for (CouplingDescription& coupling : robot.couplings) coupling.ratio *= rng.uniform(0.8, 1.25);
  return robot;
}

std::vector<ModelPtr> variants_of(const char* file) {
  const Description robot = host().read(std::string(ESPALIER_SOURCE_DIR "/robots/") + file);
  std::vector<ModelPtr> all;
  for (int k = 0; k < variant_count; ++k) {
    all.push_back(host().compile(changed(robot, k), {.root = CompileOptions::Root::floating}));
  }
  return all;
}

/// States of the variants that `variant` says.
States states_of(const std::vector<ModelPtr>& variants, const std::vector<int>& variant) {
  std::vector<State> states;
  for (std::size_t k = 0; k < variant.size(); ++k) {
    const Model& model = *variants[variant[k]];
    State s = random_state(model, 7 + k);
    model.apply_couplings(s.q.data());
    states.push_back(s);
  }
  return gathered(*variants.front(), states);
}

std::vector<int> mixed(int N) {
  Rng rng(4);
  std::vector<int> variant(N);
  for (int& v : variant) v = rng.below(variant_count);
  return variant;
}

TEST(BatchVariantsTest, EachStateIsThatOfItsVariant) {
  for (const char* file : {"mini_cheetah_geared.yaml", "mini_cheetah.urdf"}) {
    const std::vector<ModelPtr> variants = variants_of(file);
    const std::vector<int> variant = mixed(61);
    const States s = states_of(variants, variant);
    BatchInputs in = s.with_wrenches();
    in.variant = variant;
    for (const Precision precision : {Precision::doubles, Precision::floats}) {
      // Rounding; floats: a hundred times what docs/batches.md states for these robots.
      const double tolerance = precision == Precision::doubles ? 1e-10 : 5e-5;
      const auto batch = host().batch<ForwardDynamics>(
          "c-aba", variants[0], {.threads = 2, .precision = precision, .variants = variants});
      Values vdot(variants[0]->nv() * s.N);
      std::vector<BatchStatus> status(s.N, BatchStatus::singular);
      batch->evaluate(s.N, in, {{"vdot", vdot}}, status);
      for (int k = 0; k < s.N; ++k) {
        EXPECT_EQ(status[k], BatchStatus::ok);
        const ModelPtr& model = variants[variant[k]];
        const State one = random_state(*model, 7 + k);
        Values expected(model->nv());
        const Wrenches<double> wrenches = one.wrenches(model);
        host()
            .create<ForwardDynamics<double>>("c-aba", model)
            ->evaluate(column(s.q, s.N, k), column(s.v, s.N, k), column(s.tau, s.N, k), expected,
                       &wrenches);
        EXPECT_LE(relative_difference(column(vdot, s.N, k), expected), tolerance)
            << file << ", state " << k;
      }
    }
  }
}

TEST(BatchVariantsTest, BitsDoNotDependOnOtherStatesOrThreads) {
  const std::vector<ModelPtr> variants = variants_of("mini_cheetah_geared.yaml");
  const std::vector<int> variant = mixed(50);
  const States s = states_of(variants, variant);
  BatchInputs in = s.inputs();
  in.variant = variant;
  Values all(variants[0]->nv() * s.N);
  host()
      .batch<ForwardDynamics>("c-aba", variants[0], {.threads = 3, .variants = variants})
      ->evaluate(s.N, in, {{"vdot", all}});
  {
    const Values q = state_by_state(s.q, s.N), v = state_by_state(s.v, s.N),
                 tau = state_by_state(s.tau, s.N);
    BatchInputs after{.q = q, .v = v, .tau = tau};
    after.variant = variant, after.layout = BatchLayout::states;
    Values vdot(all.size());
    host()
        .batch<ForwardDynamics>("c-aba", variants[0], {.threads = 2, .variants = variants})
        ->evaluate(s.N, after, {{"vdot", vdot}});
    EXPECT_EQ(vdot, state_by_state(all, s.N));
  }
  const auto alone =
      host().batch<ForwardDynamics>("c-aba", variants[0], {.threads = 1, .variants = variants});
  for (int k = 0; k < s.N; ++k) {
    const States one = states_of(variants, variant);
    const Values q = column(one.q, s.N, k), v = column(one.v, s.N, k),
                 tau = column(one.tau, s.N, k);
    BatchInputs single{.q = q, .v = v, .tau = tau};
    single.variant = std::span(variant).subspan(k, 1);
    Values vdot(variants[0]->nv());
    alone->evaluate(1, single, {{"vdot", vdot}});
    EXPECT_EQ(vdot, column(all, s.N, k));
  }
}

TEST(BatchVariantsTest, OtherRobotsAndNumbersAreRefused) {
  const std::vector<ModelPtr> variants = variants_of("mini_cheetah.urdf");
  const ModelPtr other = host().load(ESPALIER_SOURCE_DIR "/robots/ur5.urdf");
  try {
    host().batch<ForwardDynamics>("c-aba", variants[0], {.variants = {variants[0], other}});
    FAIL() << "a robot with other joints was taken";
  } catch (const InvalidModel& error) {
    EXPECT_NE(std::string(error.what()).find("variant 1 ('ur5')"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(
      host().batch<ForwardDynamics>("c-aba", variants[0], {.variants = {variants[0], nullptr}}),
      InvalidModel);
  EXPECT_THROW(host().batch<ForwardDynamics>("c-aba", ModelPtr{}), InvalidModel);
  const auto batch =
      host().batch<ForwardDynamics>("c-aba", variants[0], {.threads = 1, .variants = variants});
  const States s = states_of(variants, {0, 1});
  Values vdot(variants[0]->nv() * 2);
  BatchInputs in = s.inputs();
  EXPECT_THROW(batch->evaluate(2, in, {{"vdot", vdot}}), SizeMismatch);  // which variants?
  const std::vector<int> wrong{0, variant_count};
  in.variant = wrong;
  EXPECT_THROW(batch->evaluate(2, in, {{"vdot", vdot}}), UnknownName);
}

}  // namespace
}  // namespace espalier::test::batch_variants_test
