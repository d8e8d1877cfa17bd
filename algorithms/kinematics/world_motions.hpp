#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/spatial/quad_frame.hpp"

namespace espalier {

/// Placements, twists and spatial accelerations of all bodies of the spanning tree, in world axes
/// about the bodies' origins; of doubles the three numbers of a vector stand in one register.
/// Joints that turn about z are given by sine and cosine.
///   w = w_p + wJ,  v = v_p + w_p x d + vJ,
///   alpha = alpha_p + w x wJ + alphaJ,  a = a_p + alpha_p x d + w x vJ + v x wJ + aJ
/// with d from the parent's origin to the body's, and the joint's own (wJ, vJ) = S qd and
/// (alphaJ, aJ) = S qdd + (dS/dt) qd.
/// Cost: O(n).  Source: Featherstone (2008), section 5.3; theory/conventions 1.
template <class T>
class WorldMotions {
 public:
  static constexpr bool plain = std::is_same_v<T, double>;
  using Frame = KeptFrame<T>;
  using Vector = std::conditional_t<plain, Quad, Vec3<T>>;

  struct Body {
    Frame X;                      ///< world to body
    Vector w, v;                  ///< twist: angular velocity, velocity of the body's origin
    Vector alpha, a;              ///< spatial acceleration, likewise
    RigidInertia<double> I;       ///< as the model has it, body's frame
    std::array<Quad, 3> columns;  ///< of doubles: those of I.I
    Motion<T> own;                ///< where `on_ground`: its twist in its own frame
    bool on_ground;               ///< hangs on the ground by a joint that does not just turn
  };

  explicit WorldMotions(const Model& model)
      : bodies(model.body_count() + 1),
        motion(model),
        model_(model),
        tree_(model.is_tree()),
        joints_(bodies.size()),
        sine_(bodies.size()),
        cosine_(bodies.size()),
        qdd_(tree_ ? 0 : model.spanning_nv()) {
    bodies[0] = {
        identity(),        zero(), zero(), zero(), zero(), RigidInertia<double>::zero(), {},
        Motion<T>::zero(), false};
    for (int i = 1; i <= model.body_count(); ++i) {
      const auto& body = model.body(i);
      joints_[i] = {body.placement, body.parent};
      Body& b = bodies[i] = bodies[0];
      b.I = body.inertia;
      const Sym3<double>& I = body.inertia.I;
      b.columns = {Quad(I.xx, I.xy, I.xz, 0.0), Quad(I.xy, I.yy, I.yz, 0.0),
                   Quad(I.xz, I.yz, I.zz, 0.0)};
    }
    std::vector<bool> turning;
    for (const BodyRun& run : model.runs()) {
      turning.push_back(turns(run));
      runs_.push_back({&run, turning.back()});
      for (int i = run.first; i < run.first + run.count; ++i) {
        bodies[i].on_ground = !turning.back() && model.body(i).parent == 0;
      }
    }
    motion.leave_out(std::move(turning), std::vector<bool>(model.clusters().size()));
  }

  /// Placements and twists.
  /// @param q  spanning positions
  /// @param v  independent rates, size nv
  void move(const T* q, const T* v) {
    update(q, v);
    pass<false>(q);
  }
  /// Placements, twists and accelerations.
  /// @param v, vdot  independent rates and accelerations, size nv
  void accelerate(const T* q, const T* v, const T* vdot) {
    update(q, v);
    accelerations_ = vdot;
    if (!tree_) {
      motion.expand(vdot, qdd_.data());
      if (const T* g = motion.g()) {
        for (std::size_t i = 0; i < qdd_.size(); ++i) qdd_[i] += g[i];
      }
      accelerations_ = qdd_.data();
    }
    pass<true>(q);
  }

  /// Spanning rates of the last pass.
  const T* rates() const { return rates_; }
  /// Spanning accelerations of the last accelerate().
  const T* accelerations() const { return accelerations_; }

  // One body as others read it: world to body; twist and spatial acceleration in its own frame.
  Transform<T> placement(int i) const {
    if constexpr (plain) {
      Transform<T> X;
      store(bodies[i].X, X);
      return X;
    } else {
      return bodies[i].X;
    }
  }
  Motion<T> twist(int i) const { return in_body(i, bodies[i].w, bodies[i].v); }
  Motion<T> acceleration(int i) const { return in_body(i, bodies[i].alpha, bodies[i].a); }

  // The same operations on both kinds of vectors.
  static Vector zero() {
    if constexpr (plain) {
      return Quad(0.0);
    } else {
      return Vec3<T>::zero();
    }
  }
  template <class S>
  static Vector times(const S& s, const Vector& a) {
    if constexpr (plain) {
      return Quad(s) * a;
    } else {
      return scale(s, a);
    }
  }
  /// E^T a
  template <class S>
  static Vector in_world(const Frame& X, const Vec3<S>& a) {
    if constexpr (plain) {
      return X.transpose_times(a);
    } else {
      return transpose_times(X.E, a);
    }
  }
  static Vec3<T> three_of(const Vector& a) {
    if constexpr (plain) {
      return three(a);
    } else {
      return a;
    }
  }

  std::vector<Body> bodies;  ///< the ground first
  SpanningMotion<T> motion;

 private:
  /// How a body hangs on its parent.
  struct Joint {
    Transform<double> placement;
    int parent = 0;
  };

  static Frame identity() {
    if constexpr (plain) {
      return QuadFrame::identity();
    } else {
      return Transform<T>::identity();
    }
  }
  static const Vector& axis(const Frame& X) {
    if constexpr (plain) {
      return X.E[2];
    } else {
      return X.E.row[2];
    }
  }
  /// From the world to a body with axes E on a parent, its origin at d from the parent's.
  template <class S>
  static Frame next(const Frame& parent, const Mat3<S>& E, const Vector& d) {
    if constexpr (plain) {
      return {{parent.transpose_times(E.row[0]), parent.transpose_times(E.row[1]),
               parent.transpose_times(E.row[2])},
              parent.r + d};
    } else {
      return {E * parent.E, parent.r + d};
    }
  }
  Motion<T> in_body(int i, const Vector& angular, const Vector& linear) const {
    const Mat3<T> E = placement(i).E;
    return {E * three_of(angular), E * three_of(linear)};
  }
  /// Whether sine and cosine are all that is asked of a run's joints: loops that joints close ask
  /// for placements.
  bool turns(const BodyRun& run) const {
    if (run.subspace != SubspaceKind::revolute_z || !run.joints->turns_about_z()) return false;
    for (int i = run.first; i < run.first + run.count; ++i) {
      const Cluster& c = model_.clusters()[model_.body(i).cluster];
      if (c.constraint != nullptr && !c.constraint->loops.empty()) return false;
    }
    return true;
  }

  void update(const T* q, const T* v) {
    rates_ = v;
    if (tree_) return;  // pass() asks the joints
    motion.update(q, v);
    rates_ = motion.qd();
  }
  template <bool accelerated>
  void pass(const T* q) {
    for (const Run& at : runs_) {
      const BodyRun& run = *at.run;
      if (at.turns) {
        run.joints->turns(q + run.q, &sine_[run.first], &cosine_[run.first]);
        for (int k = 0; k < run.count; ++k) turn<accelerated>(run.first + k, run.v + k);
        continue;
      }
      if (tree_) motion.joints.update(run, q, rates_);
      with_subspace(run, [&](auto ops) {
        for (int k = 0; k < run.count; ++k) {
          move<accelerated>(ops, run.first + k, run.v + k * decltype(ops)::n);
        }
      });
    }
  }
  /// A joint that turns about z. @param at  its spanning rate
  template <bool accelerated>
  void turn(int i, int at) {
    const Joint& joint = joints_[i];
    const Body& p = bodies[joint.parent];
    Body& b = bodies[i];
    const Vector d = in_world(p.X, joint.placement.r);
    b.X = turned(sine_[i], cosine_[i], next(p.X, joint.placement.E, d));
    const Vector z = axis(b.X);
    const T& qd = rates_[at];
    b.w = p.w + times(qd, z);
    b.v = p.v + cross(p.w, d);
    if constexpr (accelerated) {
      b.alpha = p.alpha + times(accelerations_[at], z) + times(qd, cross(p.w, z));
      b.a = p.a + cross(p.alpha, d) + times(qd, cross(b.v, z));
    }
  }
  /// Any joint. @param at  its first spanning rate
  template <bool accelerated, class Ops>
  void move(Ops, int i, int at) {
    const TreeKinematics<T>& joints = motion.joints;
    const Body& p = bodies[joints_[i].parent];
    Body& b = bodies[i];
    const Motion<T>* S = joints.S.data() + at;
    if (b.on_ground) return move_on_ground<accelerated, Ops>(i, at);
    const Vector d = in_world(p.X, joints.X[i].r);
    b.X = next(p.X, joints.X[i].E, d);
    Motion<T> own = Motion<T>::zero();
    Ops::add(own, S, rates_ + at);
    const Vector w = in_world(b.X, own.w), v = in_world(b.X, own.v);
    b.w = p.w + w;
    b.v = p.v + cross(p.w, d) + v;
    if constexpr (accelerated) {
      own = Ops::dense ? joints.bias[i] : Motion<T>::zero();
      Ops::add(own, S, accelerations_ + at);
      b.alpha = p.alpha + in_world(b.X, own.w) + cross(b.w, w);
      b.a = p.a + in_world(b.X, own.v) + cross(p.alpha, d) + cross(b.w, v) + cross(b.v, w);
    }
  }
  /// The same where the parent rests.
  template <bool accelerated, class Ops>
  void move_on_ground(int i, int at) {
    const TreeKinematics<T>& joints = motion.joints;
    const Motion<T>* S = joints.S.data() + at;
    Body& b = bodies[i];
    if constexpr (plain) {
      b.X = QuadFrame::from(joints.X[i]);
    } else {
      b.X = joints.X[i];
    }
    Motion<T> own = Motion<T>::zero();
    Ops::add(own, S, rates_ + at);
    b.own = own;
    b.w = in_world(b.X, own.w), b.v = in_world(b.X, own.v);
    if constexpr (accelerated) {
      own = Ops::dense ? joints.bias[i] : Motion<T>::zero();
      Ops::add(own, S, accelerations_ + at);
      b.alpha = in_world(b.X, own.w), b.a = in_world(b.X, own.v);
    }
  }

  /// Bodies whose joints are of one type.
  struct Run {
    const BodyRun* run;
    bool turns;  ///< all about z, by sine and cosine
  };

  const Model& model_;
  bool tree_;  ///< spanning rates are the independent ones
  std::vector<Run> runs_;
  std::vector<Joint> joints_;  ///< per body
  std::vector<T> sine_, cosine_;
  std::vector<T> qdd_;                                   ///< spanning, where some are dependent
  const T *rates_ = nullptr, *accelerations_ = nullptr;  ///< spanning
};

}  // namespace espalier
