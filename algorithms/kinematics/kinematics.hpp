#pragma once

#include <type_traits>

#include "algorithms/kinematics/world_motions.hpp"
#include "algorithms/segments/articulated/joint_supplied_dynamics.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/problems/kinematics/center_of_mass.hpp"
#include "espalier/kernel/problems/kinematics/energy.hpp"
#include "espalier/kernel/problems/kinematics/forward_kinematics.hpp"

namespace espalier {

/// Placements, twists and spatial accelerations of all bodies of the spanning tree, body frames.
/// Independent rates are expanded by G where couplings tie joints.
/// Cost: O(n).  Source: Featherstone (2008), section 5.3; theory/conventions 1.
template <class T>
class BodyMotions {
 public:
  explicit BodyMotions(const Model& model)
      : X(model.body_count() + 1),
        v(model.body_count() + 1, Motion<T>::zero()),
        a(model.body_count() + 1, Motion<T>::zero()),
        motion(model),
        tree_(model.is_tree()),
        qdd_(tree_ ? 0 : model.spanning_nv()) {
    X[0] = Transform<T>::identity();
  }

  /// Placements, twists and accelerations.
  /// @param v_independent, vdot  independent rates and accelerations, size nv
  void forward_pass(const Model& model, const T* q, const T* v_independent, const T* vdot) {
    place(model, q, v_independent);
    accelerations_ = vdot;
    if (!tree_) {
      motion.expand(vdot, qdd_.data());
      if (const T* g = motion.g()) {
        for (int i = 0; i < model.spanning_nv(); ++i) qdd_[i] += g[i];
      }
      accelerations_ = qdd_.data();
    }
    pass(model);
  }

  std::vector<Transform<T>> X;  ///< world to body
  std::vector<Motion<T>> v, a;
  SpanningMotion<T> motion;

 private:
  void place(const Model& model, const T* q, const T* v_independent) {
    if (tree_) {
      motion.joints.update(model, q, v_independent);
      rates_ = v_independent;
    } else {
      motion.update(q, v_independent);
      rates_ = motion.qd();
    }
    // The ground's too: a choice makes a copy, which waits for numbers that were just written.
    for (int i = 1; i <= model.body_count(); ++i) {
      X[i] = motion.joints.X[i] * X[model.body(i).parent];
    }
  }
  void pass(const Model& model) {
    for (const BodyRun& run : model.runs()) {
      with_subspace(run, [&](auto ops) { pass(ops, model, run); });
    }
  }
  template <class Ops>
  void pass(Ops, const Model& model, const BodyRun& run) {
    // Read once: compilers hold every number that is written for one of the members.
    const TreeKinematics<T>& joints = motion.joints;
    const Transform<T>* const XJ = joints.X.data();
    const Motion<T>* S = joints.S.data() + run.v;
    const T *rate = rates_ + run.v, *acceleration = accelerations_ + run.v;
    Motion<T>*const twists = v.data(), *const accelerations = a.data();
    const Body* const bodies = &model.body(run.first);
    for (int k = 0; k < run.count; ++k, S += Ops::n, rate += Ops::n, acceleration += Ops::n) {
      const int i = run.first + k, parent = bodies[k].parent;
      Motion<T> twist = Motion<T>::zero(), sum = Motion<T>::zero();
      if (parent == 0) {
        Ops::add(twist, S, rate);
      } else {
        twist = XJ[i] * twists[parent];
        Ops::add(twist, S, rate);
        sum = XJ[i] * accelerations[parent];
        add_velocity_product<Ops>(sum, twist, S, rate);
      }
      Ops::add(sum, S, acceleration);
      if constexpr (Ops::dense) sum += joints.bias[i];
      twists[i] = twist;
      accelerations[i] = sum;
    }
  }
  /// v x vJ, of which a joint about z has four numbers.
  template <class Ops>
  static void add_velocity_product(Motion<T>& sum, const Motion<T>& twist, const Motion<T>* S,
                                   const T* rate) {
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      sum.w.x += twist.w.y * rate[0], sum.w.y -= twist.w.x * rate[0];
      sum.v.x += twist.v.y * rate[0], sum.v.y -= twist.v.x * rate[0];
    } else {
      Motion<T> vJ = Motion<T>::zero();
      Ops::add(vJ, S, rate);
      sum += cross(twist, vJ);
    }
  }

  bool tree_;           ///< spanning rates are the independent ones
  std::vector<T> qdd_;  ///< spanning, where some are dependent
  const T *rates_ = nullptr, *accelerations_ = nullptr;  ///< spanning
};

/// Where the links are and how they move.
template <class T>
class ForwardKinematics final : public Kinematics<T> {
 public:
  explicit ForwardKinematics(ModelPtr model)
      : Kinematics<T>(std::move(model)), bodies_(this->model()) {}

  Transform<T> placement(const Link& link) const override { return link.X * bodies_.X[link.body]; }
  Motion<T> velocity(const Link& link) const override { return link.X * bodies_.v[link.body]; }
  Motion<T> acceleration(const Link& link) const override { return link.X * bodies_.a[link.body]; }

 private:
  void compute(const T* q, const T* v, const T* vdot) override {
    bodies_.forward_pass(this->model(), q, v, vdot);
  }
  BodyMotions<T> bodies_;
};

/// Centre of mass of everything that moves.  Cost: O(n).
template <class T>
class MassCenter final : public CenterOfMass<T> {
 public:
  explicit MassCenter(ModelPtr model)
      : CenterOfMass<T>(std::move(model)),
        motions_(this->model()),
        own_(this->model()),
        mass_(this->model().mass()) {}

 private:
  using Answer = typename CenterOfMass<T>::Answer;
  using Motions = WorldMotions<T>;
  using Vector = typename Motions::Vector;

  Answer compute(const T* q, const T* v, const T* vdot) override {
    motions_.accelerate(q, v, vdot);
    Vector position = Motions::zero(), velocity = position, acceleration = position;
    for (std::size_t i = 1; i < motions_.bodies.size(); ++i) {
      const typename Motions::Body& b = motions_.bodies[i];
      // m times position, velocity and (classical) acceleration of the body's centre of mass.
      const Vector h = Motions::in_world(b.X, b.I.h);
      const Vector momentum = Motions::times(b.I.m, b.v) + cross(b.w, h);
      position += Motions::times(b.I.m, b.X.r) + h;
      velocity += momentum;
      acceleration += Motions::times(b.I.m, b.a) + cross(b.alpha, h) + cross(b.w, momentum);
    }
    Answer sum{Motions::three_of(position), Motions::three_of(velocity),
               Motions::three_of(acceleration)};
    for (const int i : this->model().bodies_with_equations()) add_equations(i, q, sum);
    const double inverse = mass_ > 0.0 ? 1.0 / mass_ : 0.0;
    return {scale(inverse, sum.position), scale(inverse, sum.velocity),
            scale(inverse, sum.acceleration)};
  }

  /// Momentum is M y and what changes it M yd + h: no force of the parts on one another is in them.
  void add_equations(int i, const T* q, Answer& sum) {
    const Body& body = this->model().body(i);
    const Transform<T> X = motions_.placement(body.parent);
    const Motion<T> v = motions_.twist(body.parent), a = motions_.acceleration(body.parent);
    const T* qd = motions_.rates() + body.v;
    own_.update(i, q, motions_.rates(), v.w);
    sum.position += scale(own_.mass(), X.r) + transpose_times(X.E, own_.first_moment());
    const Force<T> momentum = own_.momentum(v, qd);
    sum.velocity += transpose_times(X.E, momentum.f);
    own_.accelerate(a.w, a.v + cross(v.w, v.v), motions_.accelerations() + body.v);
    sum.acceleration += transpose_times(X.E, own_.wrench().f);
  }

  Motions motions_;
  JointSuppliedDynamics<T> own_;
  double mass_;
};

/// Kinetic energy with the inertia that armatures add, and potential energy of gravity.
/// Cost: O(n).
template <class T>
class MechanicalEnergy final : public Energy<T> {
 public:
  explicit MechanicalEnergy(ModelPtr model)
      : Energy<T>(std::move(model)), motions_(this->model()), own_(this->model()) {}

 private:
  using Answer = typename Energy<T>::Answer;
  using Motions = WorldMotions<T>;
  using Vector = typename Motions::Vector;

  Answer compute(const T* q, const T* v) override {
    const Model& model = this->model();
    motions_.move(q, v);
    const Vec3<double> g = this->gravity();
    Vector moment = Motions::zero(), twice = Motions::zero();
    T twice_on_ground = T(0.0);
    for (std::size_t i = 1; i < motions_.bodies.size(); ++i) {
      const typename Motions::Body& b = motions_.bodies[i];
      const Vector h = Motions::in_world(b.X, b.I.h);
      moment += Motions::times(b.I.m, b.X.r) + h;
      if (b.on_ground) {  // without waiting for its placement
        twice_on_ground += dot(b.own, b.I * b.own);
      } else {
        add_twice_kinetic(b, h, twice);
      }
    }
    const Vec3<T> sum = Motions::three_of(twice);
    Answer energy{0.5 * (sum.x + sum.y + sum.z + twice_on_ground),
                  -dot(g, Motions::three_of(moment))};
    const T* qd = motions_.rates();
    for (const int i : model.bodies_with_equations()) {
      const Body& body = model.body(i);
      const Transform<T> X = motions_.placement(body.parent);
      const Motion<T> w = motions_.twist(body.parent);
      own_.update(i, q, qd, w.w);
      energy.kinetic += own_.kinetic_energy(w, qd + body.v);
      energy.potential -=
          dot(g, scale(own_.mass(), X.r) + transpose_times(X.E, own_.first_moment()));
    }
    for (const auto& [rate, inertia] : model.armature()) {
      energy.kinetic += (0.5 * inertia) * (qd[rate] * qd[rate]);
    }
    return energy;
  }
  /// v · (m v + 2 w x h) + w · I w, what each axis has of it in a number of its own.
  /// @param h  mass times the body's centre, world axes
  static void add_twice_kinetic(const typename Motions::Body& b, const Vector& h, Vector& twice) {
    const Vector turning = cross(b.w, h), momentum = Motions::times(b.I.m, b.v) + turning + turning;
    if constexpr (Motions::plain) {
      const auto E = transposed(b.X.E);
      const Quad w = Quad(b.w[0]) * E[0] + Quad(b.w[1]) * E[1] + Quad(b.w[2]) * E[2];
      twice += b.v * momentum;
      twice +=
          w * (Quad(w[0]) * b.columns[0] + Quad(w[1]) * b.columns[1] + Quad(w[2]) * b.columns[2]);
    } else {
      const Vec3<T> w = b.X.E * b.w, Iw = b.I.I * w;
      for (int k = 0; k < 3; ++k) twice[k] += b.v[k] * momentum[k] + w[k] * Iw[k];
    }
  }

  Motions motions_;
  JointSuppliedDynamics<T> own_;
};

}  // namespace espalier
