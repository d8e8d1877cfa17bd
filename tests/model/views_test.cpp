#include "espalier/kernel/views.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <span>
#include <vector>

#include "espalier/kernel/problems/derivatives/derivatives.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/state.hpp"

// Views know how a matrix stands in memory: what they cannot read or write rightly does not
// compile.

namespace espalier::test::views_test {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::MatrixXd;
using Eigen::VectorXd;

template <class View, class C>
constexpr bool takes = std::is_constructible_v<View, C>;

// Numbers one after the other.
static_assert(takes<In<double>, const std::vector<double>&> && takes<In<double>, VectorXd>);
static_assert(takes<In<double>, std::span<const double>> &&
              takes<In<double>, std::array<double, 3>>);
static_assert(takes<In<double>, Eigen::Ref<const VectorXd>> &&
              takes<In<double>, Eigen::RowVectorXd>);
static_assert(takes<In<double>, decltype(std::declval<VectorXd&>().segment(0, 2))>);
static_assert(takes<In<double>, decltype(std::declval<MatrixXd&>().col(0))>);
static_assert(takes<In<double>, RowMajor> && takes<Out<double>, RowMajor&>);
static_assert(takes<Out<double>, std::vector<double>&> && takes<Out<double>, Eigen::Map<VectorXd>>);
static_assert(!takes<Out<double>, const std::vector<double>&>);
// Column by column, or with gaps.
static_assert(!takes<In<double>, MatrixXd> && !takes<Out<double>, MatrixXd&>);
static_assert(!takes<In<double>, Eigen::Matrix3d> && !takes<Out<double>, Eigen::Map<MatrixXd>>);
static_assert(!takes<In<double>, decltype(std::declval<MatrixXd&>().row(0))>);
static_assert(!takes<Out<double>, decltype(std::declval<MatrixXd&>().row(0))>);
// Matrices that are written, of either order.
static_assert(takes<OutMatrix<double>, MatrixXd&> && takes<OutMatrix<double>, RowMajor&>);
static_assert(takes<OutMatrix<double>, Eigen::Map<MatrixXd>>);
static_assert(!takes<OutMatrix<double>, decltype(std::declval<MatrixXd&>().row(0))>);

TEST(OutMatrixTest, ColumnMajorMatricesOfAllShapesReceiveTheirRows) {
  for (int rows = 1; rows < 12; ++rows) {
    for (int columns = 1; columns < 12; ++columns) {
      MatrixXd A(rows, columns);
      const OutMatrix<double> view(A);
      for (int k = 0; k < rows * columns; ++k) view.data()[k] = k;  // row after row
      view.finish();
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          ASSERT_EQ(A(i, j), i * columns + j) << rows << " x " << columns;
        }
      }
    }
  }
}

TEST(OutMatrixTest, ShapesAndBlocksAreRefusedByNumber) {
  MatrixXd tall(8, 6), large(9, 9);
  try {
    OutMatrix<double>(tall).expect("jacobians", "J", 6, 8);
    FAIL();
  } catch (const SizeMismatch& error) {
    EXPECT_STREQ(error.what(), "jacobians: shape of J is 8 x 6, expected 6 x 8");
  }
  EXPECT_THROW(OutMatrix<double>(large.block(0, 0, 3, 3)), SizeMismatch);
  EXPECT_NO_THROW(OutMatrix<double>(large.leftCols(3)));
}

TEST(OutMatrixTest, AlgorithmsWriteEitherOrderAlike) {
  ClusterRobotOptions options;
  options.seed = 3;
  const ModelPtr model = host().compile(random_cluster_robot(host().registry(), options));
  const State s = random_cluster_state(*model, 1);
  const int nv = model->nv();
  const auto jacobians = any<BodyJacobians<double>>(model);
  jacobians->evaluate(s.q);
  for (const Link& link : model->links()) {
    std::vector<double> flat(6 * nv);
    RowMajor rows(6, nv);
    MatrixXd columns(6, nv);
    jacobians->jacobian(link, flat);
    jacobians->jacobian(link, rows);
    jacobians->jacobian(link, columns);
    EXPECT_TRUE(rows == Eigen::Map<const RowMajor>(flat.data(), 6, nv)) << link.name;
    EXPECT_TRUE(rows == columns) << link.name;
  }
  const auto derivatives = any<InverseDynamicsDerivatives<double>>(model);
  VectorXd tau(nv);
  RowMajor by_q(nv, nv), by_v(nv, nv), M(nv, nv);
  MatrixXd by_q_columns(nv, nv), by_v_columns(nv, nv), M_columns(nv, nv);
  derivatives->evaluate(s.q, s.v, s.vdot, tau, by_q, by_v, M);
  derivatives->evaluate(s.q, s.v, s.vdot, tau, by_q_columns, by_v_columns, M_columns);
  EXPECT_TRUE(by_q == by_q_columns && by_v == by_v_columns && M == M_columns);
  EXPECT_FALSE(by_v.isApprox(by_v.transpose(), 1e-3));  // else either order would do
}

}  // namespace
}  // namespace espalier::test::views_test
