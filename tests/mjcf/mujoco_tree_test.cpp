#include <algorithm>
#include <filesystem>

#include "espalier/kernel/model/motion/passive.hpp"
#include "tests/mjcf/mujoco.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random.hpp"

// Ten models that use every supported element of the tree: MuJoCo computes the same.

namespace espalier::test::mujoco_tree_test {
namespace {

std::vector<std::string> models() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(ESPALIER_SOURCE_DIR "/tests/mjcf/models")) {
    if (entry.path().extension() == ".xml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class MujocoTreeTest : public testing::TestWithParam<std::string> {};

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  return "Model" + std::filesystem::path(info.param).stem().string();
}

TEST_P(MujocoTreeTest, MassMatrixBiasPassiveForcesAndAccelerationsAgree) {
  Mujoco mujoco(GetParam());
  const ModelPtr robot = host().load(GetParam());
  ASSERT_TRUE(robot->is_tree());
  ASSERT_EQ(robot->nv(), mujoco.model().nv);
  const auto mass = any<MassMatrix<double>>(robot);
  const auto bias = any<BiasForce<double>>(robot);
  const auto dynamics = any<ForwardDynamics<double>>(robot);
  const int nv = robot->nv();
  // MuJoCo turns inertias onto their principal axes by an iterative eigensolver, good to 1e-12 or
  // so; STL files hold single precision, which both read alike.
  // With meshes 5e-8 remains, as single precision of scaled vertices in MuJoCo would leave.
  const bool mesh = std::string(GetParam()).find("mesh") != std::string::npos;
  const double tolerance = mesh ? 1e-6 : 1e-9;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    Eigen::VectorXd q(robot->nq()), v(nv), tau(nv), h(nv), vdot(nv), passive(nv);
    robot->random(seed, q.data());
    for (int i = 0; i < nv; ++i) v[i] = std::sin(seed + 1.7 * i), tau[i] = std::cos(2.0 * seed + i);
    mujoco.set(*robot, q.data(), v.data());
    Eigen::Matrix<double, -1, -1, Eigen::RowMajor> M(nv, nv);
    mass->evaluate({q.data(), robot->nq()}, {M.data(), nv * nv});
    const Eigen::MatrixXd M_mujoco = mujoco.mass_matrix();
    const Eigen::VectorXd h_mujoco = mujoco.bias();
    const double size = 1.0 + M_mujoco.cwiseAbs().maxCoeff();
    EXPECT_LT((M - M_mujoco).cwiseAbs().maxCoeff(), tolerance * size);
    bias->evaluate({q.data(), robot->nq()}, {v.data(), nv}, {h.data(), nv});
    EXPECT_LT((h - h_mujoco).cwiseAbs().maxCoeff(),
              tolerance * (1.0 + h_mujoco.cwiseAbs().maxCoeff()));
    dynamics->evaluate({q.data(), robot->nq()}, {v.data(), nv}, {tau.data(), nv},
                       {vdot.data(), nv});
    // By forces, and against the terms that cancel in them: accelerations reach 2000.
    EXPECT_LT((M_mujoco * vdot - (tau - h_mujoco)).cwiseAbs().maxCoeff(),
              tolerance * size * (1.0 + vdot.cwiseAbs().maxCoeff()));
    passive_forces(robot, q.data(), v.data(), passive.data());
    for (const Joint& joint : robot->joints()) {  // dry friction is a constraint in MuJoCo
      for (int k = 0; k < joint.nv; ++k) {
        const double rate = v[joint.v + k];
        passive[joint.v + k] += joint.passive.friction * ((rate > 0.0) - (rate < 0.0));
      }
    }
    EXPECT_LT((passive - mujoco.passive()).cwiseAbs().maxCoeff(), tolerance * 10.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, MujocoTreeTest, testing::ValuesIn(models()), name_of);

TEST(MujocoTreeTest, ThereAreTenModels) { EXPECT_EQ(models().size(), 10u); }

}  // namespace
}  // namespace espalier::test::mujoco_tree_test
