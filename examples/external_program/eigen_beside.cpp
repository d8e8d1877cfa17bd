// A program with Eigen of its own, at whatever alignment its flags ask for: matrices of Eigen come
// out of Espalier and go into Eigen's decompositions.
//
//   eigen_beside ROBOT LINK

#include <Eigen/Dense>
#include <cstdio>
#include <espalier/errors.hpp>
#include <espalier/espalier.hpp>

int main(int count, char** words) try {
  if (count < 3) return std::fputs("usage: eigen_beside ROBOT LINK\n", stderr), 2;
  const espalier::Host host;
  const auto robot = host.load(words[1]);
  espalier::State state(robot);
  robot->random(1, state.q().data());
  Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(robot->nv(), -1.0, 1.0);

  espalier::LinkFrames frames(host, robot);
  frames.update(state.q(), v);
  const espalier::AngularLinearJacobian J = frames.jacobian(words[2]);
  const auto velocity = frames.velocity(words[2]);
  const double off = (J.bottomRows<3>() * v - velocity.linear).norm();

  espalier::RowMajorMatrix M(robot->nv(), robot->nv());
  host.create<espalier::MassMatrix<double>>("crba", robot)->evaluate(state.q(), M);
  const Eigen::MatrixXd osim = J * M.ldlt().solve(J.transpose());
  const double asymmetry = (osim - osim.transpose()).norm() / osim.norm();
  std::printf("alignment %d, J v off by %.1e, J M^-1 J^T asymmetric by %.1e\n",
              EIGEN_MAX_ALIGN_BYTES, off, asymmetry);
  return off < 1e-12 && asymmetry < 1e-10 ? 0 : 1;  // sums of a few products; a condition of 1e5
} catch (const espalier::Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
