#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cli/allocations.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"

// What Models and bound algorithms hold of the heap, by what the C library sets aside for it.

namespace espalier::test::memory_test {
namespace {

/// Bytes for each body and, in algorithms, for each lane of the scalar: what the project promises.
constexpr double bytes_per_body = 2048.0;  // two kilobytes

/// Makes something and gives the bytes that it holds for each body of a model. The least of three
/// times: the C library sets aside 16 bytes more where a free block leaves no room for another.
template <class Make>
double held(const Model& model, Make&& make) {
  long least = std::numeric_limits<long>::max();
  for (int time = 0; time < 3; ++time) {
    const long before = *cli::held_bytes();
    const auto made = make();
    least = std::min(least, *cli::held_bytes() - before);
  }
  return static_cast<double>(least) / model.body_count();
}

std::vector<std::pair<Description, CompileOptions>> robots() {
  RobotOptions chain;
  chain.bodies = 500;
  chain.shape = RobotOptions::Shape::chain;
  CompileOptions floating;
  floating.root = CompileOptions::Root::floating;
  std::vector<std::pair<Description, CompileOptions>> all{
      {random_robot(host().registry(), chain), {}}};
  const std::string folder = ESPALIER_SOURCE_DIR "/robots/";
  for (const char* file : {"humanoid.urdf", "tello.yaml", "mini_cheetah_geared.yaml",
                           "mit_humanoid.yaml", "jvrc1_geared.yaml"}) {
    all.emplace_back(host().read(folder + file), floating);
  }
  for (const char* file : {"ur5.urdf", "panda.urdf", "four_bar_leg.yaml"}) {
    all.emplace_back(host().read(folder + file), CompileOptions());
  }
  return all;
}

template <template <class> class P, class T>
void expect_small(const ModelPtr& model, const std::string& name) {
  constexpr int lanes = sizeof(T) / sizeof(double);
  EXPECT_LT(held(*model, [&] { return host().create<P<T>>(name, model); }), bytes_per_body * lanes)
      << name << " at " << lanes << " lanes on " << model->name();
}

template <class T>
void expect_small_workspaces() {
  if (!cli::held_bytes()) GTEST_SKIP() << "this build gives no way to count bytes";
  for (const auto& [description, options] : robots()) {
    const ModelPtr model = host().compile(description, options);
    for (const std::string prefix : {"c-", ""}) {
      if (prefix.empty() && !model->is_tree()) continue;
      expect_small<ForwardDynamics, T>(model, prefix + "aba");
      expect_small<InverseDynamics, T>(model, prefix + "rnea");
      expect_small<MassMatrix, T>(model, prefix + "crba");
    }
  }
}

TEST(MemoryTest, ModelsHoldLessThanTwoKilobytesPerBody) {
  if (!cli::held_bytes()) GTEST_SKIP() << "this build gives no way to count bytes";
  for (const auto& [description, options] : robots()) {
    const ModelPtr model = host().compile(description, options);
    EXPECT_LT(held(*model, [&, &d = description, &o = options] { return host().compile(d, o); }),
              bytes_per_body)
        << model->name();
  }
}

TEST(MemoryTest, GraphsAndShapesAreMadeOnceForThoseWhoAsk) {
  if (!cli::held_bytes()) GTEST_SKIP() << "this build gives no way to count bytes";
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml");
  const long before = *cli::held_bytes();
  const graph::MechanismGraphs& graphs = model->graphs();
  const PlacedShape* const shapes = model->shapes().data();
  const long made = *cli::held_bytes() - before;
  EXPECT_GT(made, static_cast<long>(model->shapes().size() * sizeof(PlacedShape)));
  EXPECT_EQ(&model->graphs(), &graphs);
  EXPECT_EQ(model->shapes().data(), shapes);
  EXPECT_EQ(*cli::held_bytes() - before, made);
}

TEST(MemoryTest, WorkspacesHoldLessThanTwoKilobytesPerBody) { expect_small_workspaces<double>(); }
TEST(MemoryTest, WorkspacesOfPacksHoldLessThanTwoKilobytesPerBodyAndLane) {
  expect_small_workspaces<Pack>();
}

TEST(MemoryTest, HeldBytesAreThoseThatWereNotGivenBack) {
  if (!cli::held_bytes()) GTEST_SKIP() << "this build gives no way to count bytes";
  const long before = *cli::held_bytes();
  const auto since = [&] { return *cli::held_bytes() - before; };
  void* (*volatile take)(std::size_t) = &std::malloc;  // volatile: not optimized away
  void* (*volatile again)(void*, std::size_t) = &std::realloc;
  void* (*volatile zeros)(std::size_t, std::size_t) = &std::calloc;
  void* (*volatile aligned)(std::size_t, std::size_t) = &std::aligned_alloc;
  void* block = take(1000);
  EXPECT_GE(since(), 1000);
  EXPECT_LT(since(), 1032);  // the C library rounds up to 16 and adds 8
  block = again(block, 100000);
  EXPECT_GE(since(), 100000);
  EXPECT_LT(since(), 100032);
  std::free(block);
  EXPECT_EQ(since(), 0);
  block = zeros(10, 100);
  void* const other = aligned(64, 640);
  EXPECT_GE(since(), 1640);
  std::free(block);
  std::free(other);
  EXPECT_EQ(since(), 0);
}

}  // namespace
}  // namespace espalier::test::memory_test
