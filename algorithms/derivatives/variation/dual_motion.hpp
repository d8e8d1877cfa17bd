#pragma once

#include <string>
#include <vector>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/loop_elimination.hpp"
#include "espalier/kernel/model/spanning_variation.hpp"
#include "espalier/kernel/model/subspace.hpp"
#include "espalier/kernel/scalar/dual.hpp"

/// Kinematics at dual numbers: all with its derivative as positions move along one direction.

namespace espalier {

/// Joints' placements as bodies move with twists of their own joints: a placement of E and r moves
/// by dE = -w x E and dr = E^T u for a twist (w; u) in the body's frame.
struct DualTreeKinematics {
  explicit DualTreeKinematics(const Model& model)
      : X(model.body_count() + 1),
        S(model.spanning_nv()),
        bias(model.body_count() + 1, Motion<Dual<double>>::zero()),
        values_(model),
        model_(model) {}

  /// @param q      spanning positions
  /// @param rates  spanning rates of the direction
  void update(const double* q, const double* rates) {
    for (const BodyRun& run : model_.runs()) {
      values_.update(run, q, nullptr);
      for (int i = run.first; i < run.first + run.count; ++i) {
        const Body& b = model_.body(i);
        Motion<double> twist = Motion<double>::zero();
        with_subspace(
            run, [&](auto ops) { decltype(ops)::add(twist, values_.S.data() + b.v, rates + b.v); });
        const Transform<double>& at = values_.X[i];
        const Vec3<double> moved = transpose_times(at.E, twist.v);
        for (int k = 0; k < 3; ++k) {
          Vec3<double> column{at.E.row[0][k], at.E.row[1][k], at.E.row[2][k]};
          const Vec3<double> turned = cross(column, twist.w);
          for (int row = 0; row < 3; ++row) X[i].E.row[row][k] = {column[row], turned[row]};
          X[i].r[k] = {at.r[k], moved[k]};
        }
        for (int k = b.v; k < b.v + b.nv; ++k) S[k] = Motion<Dual<double>>::from(values_.S[k]);
      }
    }
  }
  /// Placements are those of the last update().
  void update(const BodyRun& /*run*/, const Dual<double>* /*q*/, const Dual<double>* /*qd*/) {}

  std::vector<Transform<Dual<double>>> X;
  std::vector<Motion<Dual<double>>> S, bias;

 private:
  TreeKinematics<double> values_;
  const Model& model_;
};

/// At dual numbers, for trees and couplings of constant ratio. The third derivatives of laws and
/// loop joints are not theirs to give.
template <>
class SpanningVariation<Dual<double>> {
 public:
  using T = Dual<double>;

  /// @throws Unsupported naming a cluster of variable constraints, or a joint whose motion subspace
  ///         depends on the position
  explicit SpanningVariation(const Model& model)
      : joints(model),
        G_(model.G_size()),
        qd_(model.spanning_nv(), T(0.0)),
        qdd_(qd_),
        q_(model.nq()),
        rates_(model.spanning_nv(), 0.0),
        values_(model.G_size()) {
    for (const Cluster& c : model.clusters()) {
      if (c.constraint != nullptr) {
        throw Unsupported("hessian product: cluster '" + c.name +
                          "' has constraints that depend on the position, expected trees and "
                          "couplings (use 'differences')");
      }
      clusters_.push_back(&c);
      for (std::size_t i = 0; i < c.G.size(); ++i) {
        G_[c.G_start + i] = T(c.G[i]), values_[c.G_start + i] = c.G[i];
      }
    }
    for (const BodyRun& run : model.active_runs()) {
      if (!run.joints->subspace_varies()) continue;
      throw Unsupported("hessian product: joint '" +
                        model.joints()[model.body(run.first).joint].name +
                        "' has a motion subspace that depends on its position, expected a constant "
                        "one (use 'differences')");
    }
  }

  /// Positions, and the direction in which derivatives are taken.
  /// @param along  independent rates
  void direct(const double* q, const double* along) {
    detail::expand<double>(clusters_, values_.data(), along, rates_.data());
    joints.update(q, rates_.data());
  }
  /// Rates, after direct(). @param v  independent
  void update(const T* /*q*/, const T* v) { expand(v, qd_.data()); }
  void accelerate(const T* vdot) {
    if (vdot == nullptr) {
      std::fill(qdd_.begin(), qdd_.end(), T(0.0));
    } else {
      expand(vdot, qdd_.data());
    }
  }
  T margin() const { return T(1.0); }

  DualTreeKinematics joints;

  const T* q() const { return q_.data(); }
  const T* qd() const { return qd_.data(); }
  const T* qdd() const { return qdd_.data(); }
  static bool varies(const Cluster& /*c*/) { return false; }
  const T* G(const Cluster& c) const { return G_.data() + c.G_start; }
  // No cluster varies.
  const T* V(const Cluster& /*c*/) const { return nullptr; }
  const T* W(const Cluster& /*c*/) const { return nullptr; }
  const T* P(const Cluster& /*c*/) const { return nullptr; }
  void add_H(const Cluster& /*c*/, const T* /*t*/, T* /*H*/, int /*stride*/) const {}
  void add_H_transposed(const Cluster& /*c*/, const T* /*t*/, const T* /*x*/, T* /*out*/) const {}

  void expand(const T* x, T* out) const { detail::expand<T>(clusters_, G_.data(), x, out); }
  void reduce(const T* x, T* out) const { detail::reduce<T>(clusters_, G_.data(), x, out); }

  bool subspace_varies(int /*body*/) const { return false; }
  void vary_joint(int /*body*/, const T* /*x*/, const T* /*xd*/, Motion<T>* /*dS*/,
                  Motion<T>& /*dbias*/) const {}

 private:
  std::vector<const Cluster*> clusters_;
  std::vector<T> G_, qd_, qdd_, q_;
  std::vector<double> rates_, values_;
};

}  // namespace espalier
