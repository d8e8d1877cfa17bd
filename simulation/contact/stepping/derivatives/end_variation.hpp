#pragma once

#include <Eigen/Dense>
#include <vector>

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"

namespace espalier::contact {

/// How a step's end varies with its start and its motion: the last line of Moreau's step.
class EndVariation {
 public:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  explicit EndVariation(const Model& model) : model_(model) {}

  struct Step {
    const double *before, *after;  ///< positions
    const double* move;            ///< of the independent coordinates
    const double* rates;           ///< v+ in the axes of the start
  };
  /// Variations of the start, of the move and of the rates, nv rows each, a column for each cause.
  struct Varied {
    const Matrix &start, &move, &rates;
  };
  /// @param[out] dq, dv  variations of positions, in tangents there, and of rates in the axes there
  void vary(const Step& step, const Varied& d, Matrix& dq, Matrix& dv) const {
    const int n = model_.nv();
    const long columns = d.start.cols();
    dq = Matrix::Zero(n, columns), dv = d.rates;
    const std::span<const int> independent = model_.independent_rates();
    for (int i = 0; i < n;) {
      const Joint& joint = model_.joint_of_rate(independent[i]);
      int count = 1;
      while (i + count < n && &model_.joint_of_rate(independent[i + count]) == &joint) ++count;
      if (joint.type == "floating" && joint.independent >= 0) {
        vary_floating(joint, i, step, d, dq, dv);
      } else if (joint.nq == joint.nv) {
        dq.middleRows(i, count) = d.start.middleRows(i, count) + d.move.middleRows(i, count);
      } else {
        for (long k = 0; k < columns; ++k) {
          double x[6], xd[6], y[6];
          for (int j = 0; j < count; ++j) x[j] = d.start(i + j, k), xd[j] = d.move(i + j, k);
          integrate(joint, step, step.move + i, x, xd, y);
          for (int j = 0; j < count; ++j) dq(i + j, k) = y[j];
        }
      }
      i += count;
    }
  }

 private:
  void integrate(const Joint& joint, const Step& step, const double* move, const double* x,
                 const double* xd, double* y) const {
    const Body& body = model_.body(joint.body);
    const BodyRun& run = model_.runs()[body.run];
    run.joints->vary_integration(joint.body - run.first, step.before + body.q, move, x, xd, y);
  }
  /// The origin goes straight in axes that stand still, and the rate is turned into the new ones.
  void vary_floating(const Joint& joint, int i, const Step& step, const Varied& d, Matrix& dq,
                     Matrix& dv) const {
    const Mat3<double> turn = quaternion_to_E(step.after + joint.q + 3) *
                              quaternion_to_E(step.before + joint.q + 3).transposed();
    const double* move = step.move + i;
    const double* rates = step.rates + i;
    const Vec3<double> way(move[3], move[4], move[5]);
    const Vec3<double> linear = turn * Vec3<double>(rates[3], rates[4], rates[5]);
    const double turned[6] = {move[0], move[1], move[2], 0, 0, 0};
    const double none[6] = {0, 0, 0, 0, 0, 0};
    for (long k = 0; k < d.start.cols(); ++k) {
      const auto part = [&](const Matrix& from, int first) {
        return Vec3<double>(from(i + first, k), from(i + first + 1, k), from(i + first + 2, k));
      };
      const Vec3<double> x = part(d.start, 0), angle = part(d.move, 0);
      const double xs[6] = {x.x, x.y, x.z, 0, 0, 0}, ds[6] = {angle.x, angle.y, angle.z, 0, 0, 0};
      double y[6], psi[6];
      integrate(joint, step, turned, xs, ds, y);
      integrate(joint, step, turned, none, ds, psi);
      const Vec3<double> place = turn * (part(d.start, 3) + cross(x, way) + part(d.move, 3));
      const Vec3<double> rate =
          turn * part(d.rates, 3) - cross(Vec3<double>(psi[0], psi[1], psi[2]), linear);
      for (int j = 0; j < 3; ++j) {
        dq(i + j, k) = y[j], dq(i + 3 + j, k) = place[j];
        dv(i + 3 + j, k) = rate[j];
      }
    }
  }

  const Model& model_;
};

}  // namespace espalier::contact
