#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/kinematics/joint_columns.hpp"
#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/kernel/problems/jacobian.hpp"

namespace espalier {

/// Jacobian of a link: the motion subspaces of the joints that support it, carried to the link.
/// Joints are placed once; each keeps its columns in the frame of its tree's root, so that a link
/// turns and shifts those of its path, several at a time.
/// Cost: O(d) for each link, d its depth, and O(nv) for the zeros of all others.
/// Source: Featherstone (2008), section 3.2.
template <class T>
class LinkJacobians final : public BodyJacobians<T> {
 public:
  explicit LinkJacobians(ModelPtr model)
      : BodyJacobians<T>(std::move(model)), motion_(this->model()), columns_(this->model()) {
    const Model& m = this->model();
    motion_.leave_out(columns_.turning(), std::vector<bool>(m.clusters().size()));
    stretches_.resize(m.body_count() + 1);
    for (int i = 1; i <= m.body_count(); ++i) {
      const Body& body = m.body(i);
      const Cluster& cluster = m.clusters()[body.cluster];
      Stretch& own = stretches_[i] = {body.v, body.v + body.nv, cluster.v - cluster.spanning_v,
                                      body.parent, cluster.constrained};
      const Stretch& above = stretches_[body.parent];
      if (body.parent == 0 || own.tied || above.tied || above.end != own.first ||
          above.shift != own.shift) {
        continue;
      }
      own.first = above.first, own.parent = above.parent;
    }
  }

 private:
  void compute(const T* q) override {
    motion_.update(q, nullptr);
    columns_.move(q);
  }

  void write(const Link& link, T* J) const override {
    const Model& model = this->model();
    const int nv = model.nv();
    std::fill(J, J + 6L * nv, T(0.0));
    columns_.place(link.body, motion_.joints);
    const Transform<T> X = Transform<T>::from(link.X) * columns_.placement(link.body);
    for (int i = link.body; i != 0; i = stretches_[i].parent) {
      const Stretch& s = stretches_[i];
      if (s.tied) {
        add_dependent(model.body(i), X, J);
      } else {
        columns_.carry(X, s.first, s.end, J + s.first + s.shift, nv);
      }
    }
  }

  /// J += columns of a body's joint times their rows of the cluster's G.
  void add_dependent(const Body& body, const Transform<T>& X, T* J) const {
    const int nv = this->model().nv();
    const Cluster& c = this->model().clusters()[body.cluster];
    for (int k = 0; k < body.nv; ++k) {
      const Motion<T> column = X * columns_.column(body.v + k);
      const T* G = motion_.G(c) + c.row(body.v + k) * c.nv;
      for (int r = 0; r < 6; ++r) {
        for (int j = 0; j < c.nv; ++j) J[r * nv + c.v + j] += G[j] * column[r];
      }
    }
  }

  /// Bodies one above the other whose rates follow one another: carried together.
  struct Stretch {
    int first = 0, end = 0;  ///< spanning rates, from the uppermost body to this one
    int shift = 0;           ///< from them to independent rates
    int parent = 0;          ///< of the uppermost body
    bool tied = false;       ///< in a cluster that a loop or coupling ties: alone
  };

  std::vector<Stretch> stretches_;  ///< per body, up from it
  SpanningMotion<T> motion_;
  mutable JointColumns<T> columns_;  ///< filled as links ask
};

}  // namespace espalier
