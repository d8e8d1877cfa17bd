#pragma once

#include <vector>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"

namespace espalier {

/// Moves of positions by displacements of the independent coordinates, loops closed, and how the
/// end varies: d(q + d) = T dq + Jr dd with T = Ad(exp(-d)) and Jr = dexp(-d), (19.3).
class StepChart {
 public:
  /// @throws Unsupported for a joint of several rates on a curved manifold of which some are
  ///         independent and some are not
  explicit StepChart(const ModelPtr& model)
      : model_(*model),
        motion_(*model),
        projector_(model, {.tolerance = 1e-13}),
        step_(model->spanning_nv()) {
    const std::span<const int> independent = model_.independent_rates();
    for (int i = 0; i < model_.nv();) {
      const Joint& joint = model_.joint_of_rate(independent[i]);
      int count = 1;
      while (i + count < model_.nv() && &model_.joint_of_rate(independent[i + count]) == &joint) {
        ++count;
      }
      const bool flat = is_flat(joint);
      if (!flat && count != joint.nv) {
        throw Unsupported("step derivatives: joint '" + joint.name + "' has " +
                          std::to_string(count) + " independent rates, expected all " +
                          std::to_string(joint.nv) +
                          " or none (declare other joints of its loop independent)");
      }
      groups_.push_back({joint.body, i, count, flat});
      i += count;
    }
  }

  /// Forgets the branch of the loops.
  void restart() { projector_.restart(); }

  /// q moved by displacements d, size nv, of the independent coordinates.
  /// @throws SingularMechanism where loops cannot be closed
  void move(const double* q, const double* d, double* out) {
    if (model_.is_tree()) {
      model_.integrate(q, d, out);
      return;
    }
    motion_.update(q, nullptr);
    motion_.expand(d, step_.data());
    model_.integrate(q, step_.data(), out);
    model_.apply_couplings(out);
    if (!model_.has_variable_constraints()) return;
    const Closure closure = projector_.project(out);
    if (closure.verdict != Closure::Verdict::closed) {
      throw SingularMechanism("step derivatives: " + closure.text());
    }
  }

  /// out = T X + Jr Xd for matrices of nv rows and `columns` columns, row-major.
  void vary(const double* q, const double* d, const double* X, const double* Xd, long columns,
            double* out) const {
    for (const Group& g : groups_) {
      const long first = g.first * columns;
      if (g.flat) {
        for (long i = first; i < first + g.count * columns; ++i) out[i] = X[i] + Xd[i];
        continue;
      }
      const Body& body = model_.body(g.body);
      const BodyRun& run = model_.runs()[body.run];
      double x[6], xd[6], y[6];
      for (long j = 0; j < columns; ++j) {
        for (int k = 0; k < g.count; ++k) {
          x[k] = X[first + k * columns + j], xd[k] = Xd[first + k * columns + j];
        }
        run.joints->vary_integration(g.body - run.first, q + body.q, d + g.first, x, xd, y);
        for (int k = 0; k < g.count; ++k) out[first + k * columns + j] = y[k];
      }
    }
  }

 private:
  struct Group {
    int body, first, count;  ///< of one joint's independent coordinates
    bool flat;               ///< positions are numbers that rates add to
  };
  bool is_flat(const Joint& joint) const {
    if (joint.nv == 1 && joint.nq == 1) return true;
    if (joint.nq != joint.nv) return false;
    // T and Jr of a curved manifold differ from 1 at any displacement that is not special.
    const Body& body = model_.body(joint.body);
    const BodyRun& run = model_.runs()[body.run];
    double q[6], d[6], x[6], y[6];
    for (int k = 0; k < joint.nv; ++k) q[k] = 0.3 - 0.1 * k, d[k] = 0.4 + 0.2 * k, x[k] = 1.0 + k;
    run.joints->vary_integration(joint.body - run.first, q, d, x, x, y);
    for (int k = 0; k < joint.nv; ++k) {
      if (y[k] != x[k] + x[k]) return false;
    }
    return true;
  }

  const Model& model_;
  SpanningMotion<double> motion_;
  LoopProjector projector_;
  std::vector<double> step_;
  std::vector<Group> groups_;
};

}  // namespace espalier
