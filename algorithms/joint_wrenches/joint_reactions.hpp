#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "algorithms/segments/newton_euler/newton_euler_run.hpp"
#include "espalier/kernel/problems/dynamics/joint_wrenches.hpp"

namespace espalier {

/// Joint reactions by the Newton-Euler equations on the spanning tree, folded rotors taken as the
/// bodies that they are, and the constraint forces lambda of each cluster from
///   K_dep^T lambda = tau_dep,
/// since no actuator helps the dependent rates. Constraint forces of loop joints are put on their
/// two bodies, and the tree is summed once more.
/// Frame: body; loops in the axes of the cluster's supporting body.  Cost: O(n) and a small dense
/// solve for each cluster. For people and design, not for control: at the scalar double, and it
/// allocates. Source: Featherstone (2008), Table 5.1 and section 8.4; theory/clusters 5.1 and 5.3.
template <class T>
class JointReactions final : public JointWrenches<T> {
 public:
  using Reaction = typename JointWrenches<T>::Reaction;

  explicit JointReactions(ModelPtr model)
      : JointWrenches<T>(std::move(model)),
        motion_(this->model()),
        segments_(segments_of(this->model().runs())),
        state_(this->model(), spanning_inertias(this->model())) {
    const Model& m = this->model();
    state_.tau_spanning.resize(m.spanning_nv());
    for (const Joint& joint : m.joints()) {
      Reaction reaction;
      reaction.joint = joint.name;
      reactions_.push_back(std::move(reaction));
      link_.push_back(child_link(joint.body));
    }
    for (const Cluster& c : m.clusters()) {
      if (c.constraint == nullptr) continue;
      for (const auto& loop : c.constraint->loops) {
        loop_reaction_.push_back(static_cast<int>(reactions_.size()));
        Reaction reaction;
        reaction.joint = loop.name;
        reactions_.push_back(std::move(reaction));
      }
      mark_undetermined(c);
    }
  }

 private:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// The frame of the link at the joint: the body's own, turned.
  Transform<double> child_link(int body) const {
    const Link* best = nullptr;
    for (const Link& link : this->model().links()) {
      if (link.body != body) continue;
      if (best == nullptr || dot(link.X.r, link.X.r) < dot(best->X.r, best->X.r)) best = &link;
    }
    return {best->X.E, {0, 0, 0}};
  }

  /// Joints on a loop that has redundant rows.
  void mark_undetermined(const Cluster& c) {
    std::size_t next = loop_reaction_.size() - c.constraint->loops.size();
    bool all_needed = c.constraint->rows() == static_cast<int>(c.constraint->dependent.size()) &&
                      c.constraint->linear.size() == c.constraint->all_linear.size();
    for (const auto& use : c.constraint->laws) {
      all_needed = all_needed && std::count(use.kept.begin(), use.kept.end(), false) == 0;
    }
    for (const auto& loop : c.constraint->loops) {
      std::size_t rows = 0;
      for (const LoopRow& row : loop.all_rows) rows += row.kind != LoopRow::Kind::facing;
      const bool determined = all_needed && rows == loop.rows.size();
      reactions_[loop_reaction_[next++]].determined = determined;
      if (determined) continue;
      for (const auto& [body, sign] : loop.path) {
        reactions_[this->model().body(body).joint].determined = false;
      }
    }
  }

  const std::vector<Reaction>& compute(const double* q, const double* v, const double* vdot,
                                       const Wrenches<double>* wrenches) override {
    const Model& m = this->model();
    motion_.update(q, v);
    std::vector<double> qdd(m.spanning_nv());
    motion_.expand(vdot, qdd.data());
    if (motion_.g() != nullptr) {
      for (std::size_t i = 0; i < qdd.size(); ++i) qdd[i] += motion_.g()[i];
    }
    state_.start(motion_.joints, motion_.qd(), qdd.data(), this->gravity());
    segments_.outward([&](const PlainRun& s) { forward_motion(s, state_, vdot); });
    for (int i = 1; wrenches != nullptr && i <= m.body_count(); ++i) {
      state_.apply(i, (*wrenches)[i]);
    }
    own_.clear();
    for (const NewtonEulerBody<double>& b : state_.body) own_.push_back(b.f);
    collect();
    std::vector<double>& tau = state_.tau_spanning;
    for (const auto& [rate, inertia] : m.armature()) tau[rate] += inertia * qdd[rate];
    std::size_t loop = 0;
    for (const Cluster& c : m.clusters()) {
      if (c.constraint != nullptr) close_loops(c, q, tau, loop);
    }
    collect();
    for (std::size_t j = 0; j < m.joints().size(); ++j) {
      const Force<double>& f = state_.body[m.joints()[j].body].f;
      reactions_[j].wrench = {link_[j].E * f.n, link_[j].E * f.f};
    }
    return reactions_;
  }

  /// Tips to base: what each joint transmits of what the bodies need, and its component on the
  /// joint's rates.
  void collect() {
    for (std::size_t i = 0; i < own_.size(); ++i) state_.body[i].f = own_[i];
    segments_.inward([&](const PlainRun& s) { collect_forces<double>(s, state_, nullptr); });
  }

  /// Constraint forces of a cluster, put on the bodies that its loop joints tie.
  void close_loops(const Cluster& c, const double* q, const std::vector<double>& tau,
                   std::size_t& next) {
    const Model& m = this->model();
    const ClusterConstraint& constraint = *c.constraint;
    ConstraintWorkspace<double> work;
    constraint.allocate(c, work);
    const TreeKinematics<double>& joints = motion_.joints;
    const SpanningView<double> at{q, nullptr, joints.X.data(), joints.S.data(), nullptr};
    std::vector<double> phi;
    constraint.residual(m, c, at, ClusterConstraint::Rows::all, work, phi);  // places the bodies
    constraint.jacobian(m, c, at, work);
    Matrix K = Matrix::Zero(constraint.rows(), constraint.columns);
    for (int i = 0; i < constraint.rows(); ++i) {
      constraint.each_in_row(work, i, [&](int column, double x) { K(i, column) = x; });
    }
    Matrix K_dependent(K.rows(), constraint.dependent.size());
    Vector tau_dependent(constraint.dependent.size());
    for (std::size_t i = 0; i < constraint.dependent.size(); ++i) {
      K_dependent.col(i) = K.col(constraint.dependent[i]);
      tau_dependent(i) = tau[constraint.rate[constraint.dependent[i]]];
    }
    Vector lambda = Vector::Zero(K.rows());
    if (K_dependent.size() > 0) {
      lambda =
          Matrix(K_dependent.transpose()).completeOrthogonalDecomposition().solve(tau_dependent);
    }
    int row = static_cast<int>(constraint.linear.size());
    for (const auto& use : constraint.laws)
      row += std::count(use.kept.begin(), use.kept.end(), true);
    for (const auto& loop : constraint.loops) {
      // Force on the successor at its frame's origin and couple, supporting body's axes.
      const Frame p = frame(c, loop.predecessor, loop.at_predecessor, work);
      const Frame s = frame(c, loop.successor, loop.at_successor, work);
      Vec3<double> couple{0, 0, 0}, force{0, 0, 0};
      for (std::size_t k = 0; k < loop.rows.size(); ++k, ++row) {
        const LoopRow& r = loop.rows[k];
        if (constraint.planar) {
          force += scale(lambda(row), k == 0 ? constraint.planar->u : constraint.planar->w);
        } else if (r.kind == LoopRow::Kind::along) {
          force += scale(lambda(row), transpose_times(p.E, r.a));
        } else if (r.kind == LoopRow::Kind::distance) {
          force += scale(lambda(row) / r.value, s.x - p.x);
        } else {
          couple += scale(lambda(row), cross(transpose_times(s.E, r.b), transpose_times(p.E, r.a)));
        }
      }
      reactions_[loop_reaction_[next++]].wrench = {s.E * couple, s.E * force};
      apply_wrench(c, loop.successor, s.x, couple, force, work, -1.0);
      apply_wrench(c, loop.predecessor, s.x, couple, force, work, 1.0);
    }
  }

  struct Frame {
    Mat3<double> E;
    Vec3<double> x;
  };
  static Frame frame(const Cluster& c, int body, const Transform<double>& place,
                     const ConstraintWorkspace<double>& work) {
    if (body < c.first || body >= c.first + c.count) return {place.E, place.r};
    const auto& pose = work.pose[body - c.first];
    return {place.E * pose.E, pose.x + transpose_times(pose.E, place.r)};
  }

  /// Adds sign times a wrench at point x, supporting body's axes, to what a body needs from its
  /// joint.
  void apply_wrench(const Cluster& c, int body, const Vec3<double>& x, const Vec3<double>& couple,
                    const Vec3<double>& force, const ConstraintWorkspace<double>& work,
                    double sign) {
    Force<double> on_body;
    if (body < c.first || body >= c.first + c.count) {
      on_body = {couple + cross(x, force), force};
    } else {
      const auto& pose = work.pose[body - c.first];
      on_body = {pose.E * (couple + cross(x - pose.x, force)), pose.E * force};
    }
    own_[body] += scale(sign, on_body);
  }

  SpanningMotion<double> motion_;
  Segments<PlainRun> segments_;
  NewtonEulerState<double> state_;
  std::vector<Force<double>> own_;       ///< per body: what it needs from its joint and its loops
  std::vector<Transform<double>> link_;  ///< per joint: from its body to its link, rotation alone
  std::vector<Reaction> reactions_;      ///< joints, then loops
  std::vector<int> loop_reaction_;       ///< per loop, in the order of clusters
};

}  // namespace espalier
