#include <gtest/gtest.h>

#include "tests/control/standing.hpp"

// A build without ALGLIB, which is under the GPL.

namespace espalier::test::without_solver_test {
namespace {

TEST(WithoutSolver, NoneIsRegistered) {
  EXPECT_TRUE(host().registry().entries(Kind::qp_solver).empty());
  EXPECT_EQ(all_solvers(), std::vector<std::string>{""});
}

TEST(WithoutSolver, SolverThatIsNotBuiltIsRefusedByName) {
  try {
    Standing(1).control("alglib", 1, 1.0);
    FAIL() << "no error";
  } catch (const UnknownName& error) {
    EXPECT_EQ(std::string(error.what()).find("QP solver 'alglib' is unknown, expected none"), 0u)
        << error.what();
  }
}

TEST(WithoutSolver, NoAlgorithmOfUmfpackIsRegistered) {
  for (const Entry* e : host().registry().algorithms("sensor-dynamics")) {
    EXPECT_NE(e->about.name, "umfpack");
  }
}

}  // namespace
}  // namespace espalier::test::without_solver_test
