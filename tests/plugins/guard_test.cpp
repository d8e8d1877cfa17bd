#include <xmmintrin.h>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/plugins/loader.hpp"
#include "tests/plugins/helpers.hpp"

/// Code of plugins outside of evaluate(): what it throws is an error that names it, and what it
/// does to the processor is undone.

namespace espalier::guard_test {
namespace {

using namespace test;

constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;

/// The built joints and formats, and the careless plugin.
const Host& careless() {
  static const std::unique_ptr<Host> host = [] {
    auto made = std::make_unique<Host>(Host::Options{{ESPALIER_PLUGIN_DIR}, false});
    made->loader().load(plugin_file("good_careless"));
    return made;
  }();
  return *host;
}

/// Two links on a base, one following the other by a law that is armed.
std::string robot(int armed) {
  return R"(espalier: 1
name: x
links:
  b: {}
  a: {mass: 1, com: [0.1, 0, 0.2], inertia: [0.1, 0.1, 0.1, 0, 0, 0]}
  c: {mass: 2, com: [0.1, 0.2, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0]}
joints:
  j: {type: revolute, parent: b, child: a, axis: [0, 1, 0]}
  k: {type: revolute, parent: b, child: c, axis: [1, 0, 0], independent: false}
laws:
  tie: {type: test_thrower, joints: [j, k], parameters: {armed: )" +
         std::to_string(armed) + "}}\n";
}

template <class E = Error>
std::string refusal(const std::string& text) {
  const TemporaryFolder folder;
  const std::string file = folder.write("robot.yaml", text);
  return error_of<E>([&] { careless().load(file); });
}

TEST(GuardTest, ExceptionsOfALawsConstructorNameTheLaw) {
  const std::string text = refusal(robot(1));
  expect_contains(text, "law 'tie' of type 'test_thrower': its constructor threw 'no gears left'");
  expect_contains(refusal(robot(2)),
                  "law 'tie' of type 'test_thrower': its constructor threw a value of type int");
}

TEST(GuardTest, ExceptionsOfPhiNameTheLaw) {
  expect_contains(refusal(robot(3)), "law 'tie': phi or a derivative of it threw 'phi is tired'");
  expect_contains(refusal(robot(4)),
                  "law 'tie': phi or a derivative of it threw a value of type int");
}

TEST(GuardTest, ALawThatThrowsLaterIsNamedByWhatClosesLoops) {
  const TemporaryFolder folder;
  const ModelPtr model = careless().load(folder.write("robot.yaml", robot(5)));
  std::vector<double> q(model->nq());
  model->neutral(q.data());
  const std::string text = error_of<PluginError>([&] {
    for (int i = 0; i < 100000; ++i) examine(*model, q.data());
  });
  expect_contains(text, "law 'tie': phi or a derivative of it threw 'phi is worn out'");
}

TEST(GuardTest, ExceptionsOfJointsNameTheJoint) {
  for (const auto& [armed, what] :
       {std::pair{1, "threw a value of type int"}, std::pair{2, "threw 'no such place'"}}) {
    Description robot = chain(2, "test-thrower");
    robot.joints[0].parameters["armed"] = {0.0};
    robot.joints[1].parameters["armed"] = {static_cast<double>(armed)};
    const std::string text = error_of<Error>([&] { careless().compile(robot); });
    expect_contains(text, "joint 'j2' of type 'test-thrower'");
    expect_contains(text, what);
  }
}

TEST(GuardTest, ExceptionsOfSubMechanismsNameTheSubsystem) {
  const std::string text = refusal(R"(espalier: 1
name: x
links: {b: {}}
subsystems:
  part: {type: test_part, connect: {base: {to: b}}}
)");
  expect_contains(text, "sub-mechanism 'test_part'");
  expect_contains(text, "threw a value of type int");
}

TEST(GuardTest, ArithmeticIsThatOfTheHostAfterLoading) {
  const unsigned before = _mm_getcsr();
  ASSERT_EQ(before & (flush_to_zero | denormals_are_zero), 0u);
  ::testing::internal::CaptureStderr();
  // A copy is another library, whose constructors run here whatever was loaded before.
  const TemporaryFolder folder;
  const std::string file = folder.copy(plugin_file("good_careless"), "careless.so");
  Registry registry;
  Loader loader(registry);
  loader.load(file);
  const std::string log = ::testing::internal::GetCapturedStderr();
  expect_contains(log, file + ": control word of floating-point arithmetic is 0x9fc0");
  EXPECT_EQ(_mm_getcsr() & ~0x3fu, before & ~0x3fu);
  volatile double tiny = 1e-308;
  EXPECT_GT(tiny * 0.125, 0.0);
}

TEST(GuardTest, FoldersThatEverybodyMayWriteAreWarnedOf) {
  const TemporaryFolder folder;
  const auto log_of = [&](std::filesystem::perms perms) {
    std::filesystem::permissions(folder.path(), perms);
    ::testing::internal::CaptureStderr();
    const Host host({{folder.path()}, false});
    return ::testing::internal::GetCapturedStderr();
  };
  expect_contains(log_of(std::filesystem::perms::all),
                  folder.path() + ": plugin folder is writable by everybody");
  EXPECT_EQ(log_of(std::filesystem::perms::owner_all), "");
}

}  // namespace
}  // namespace espalier::guard_test
