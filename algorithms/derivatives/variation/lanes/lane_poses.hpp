#pragma once

#include <array>
#include <vector>

#include "algorithms/derivatives/variation/lanes/slot_moves.hpp"

namespace espalier {

/// Poses of a tree of joints of one rate in the common frame of VariationState: what a joint turns
/// its body by, of four joints at once; products of poses, joint by joint.
class LanePoses {
 public:
  LanePoses(const Model& model, const JointLanes& plan)
      : model_(model),
        plan_(plan),
        joints_(model),
        local_(plan.groups().size()),
        frame_(4 * plan.slots(), Quad(0.0)),
        ground_(plan.roots().size()) {
    for (std::size_t k = 0; k < local_.size(); ++k) {  // what no position changes
      const Transform<Quad>& at_zero = plan.groups()[k].placement;
      put(at_zero.E.row[2], local_[k], 6), put(at_zero.r, local_[k], 9);
    }
  }
  LanePoses(const LanePoses&) = delete;  // it refers to the plan beside it
  LanePoses& operator=(const LanePoses&) = delete;

  void update(const double* q, const Vec3<double>& gravity) {
    gravity_ = gravity;
    set_at_rest(JointLanes::ground_slot);
    for (std::size_t r = 0; r < ground_.size(); ++r) {
      const JointLanes::Root& root = plan_.roots()[r];
      set_at_rest(root.slot);
      joints_.update(model_.runs()[root.run], q, nullptr);
      ground_[r] = joints_.X[root.body].E * -gravity;
    }
    const JointLanes::Group* g = plan_.groups().data();
    Local* const locals = local_.data();
    for (Local *local = locals, *end = local + local_.size(); local != end; ++local, ++g) {
      set_local(*g, JointLanes::of_positions(q, *g), *local);
    }
    slot_moves::outward<4>(plan_.joints(), frame_.data(),
                           [locals](const JointLanes::Joint& j, const Quad* parent, Quad* own) {
                             const double* x =
                                 reinterpret_cast<const double*>(locals + j.group) + j.lane;
                             const auto along = [&](int k) {
                               const double* c = x + k * 3 * Quad::size;
                               return Quad(c[0]) * parent[0] + Quad(c[Quad::size]) * parent[1] +
                                      Quad(c[2 * Quad::size]) * parent[2];
                             };
                             own[0] = along(0), own[1] = along(1), own[2] = along(2);
                             own[3] = parent[3] + along(3);
                           });
  }

  /// From the common frame to a group's bodies.
  Transform<Quad> pose(const JointLanes::Group& g) const {
    Transform<Quad> X;
    for (int a = 0; a < 3; ++a) X.E.row[a] = slot_moves::take<4>(frame_.data() + 4 * g.slot + a);
    X.r = slot_moves::take<4>(frame_.data() + 4 * g.slot + 3);
    return X;
  }
  /// S of a group's joints. @param X  pose()
  static Motion<Quad> axis(const JointLanes::Group& g, const Transform<Quad>& X) {
    const Vec3<Quad>& axis = X.E.row[2];
    if (!g.slides) return {axis, cross(X.r, axis)};
    return {scale(g.turning, axis), scale(g.turning, cross(X.r, axis)) + scale(g.sliding, axis)};
  }
  /// Momentum of a group's rotors per rate of their joint.
  Vec3<Quad> spin(const JointLanes::Group& g) const {
    Mat3<Quad> parent;
    for (int a = 0; a < 3; ++a) parent.row[a] = slot_moves::take<4>(frame_.data() + a, g.parent);
    return transpose_times(parent, g.rotor_momentum);
  }
  const Vec3<double>& gravity() const { return gravity_; }
  /// Acceleration that stands for gravity in the frame of a floating root.
  const Vec3<double>& ground(std::size_t root) const { return ground_[root]; }

 private:
  using Local = std::array<Quad, 12>;  ///< axes and origin of a body in its parent's frame

  static void set_local(const JointLanes::Group& g, const Quad& position, Local& local) {
    Quad sine, cosine;
    sincos(g.slides ? g.turning * position : position, sine, cosine);
    const Mat3<Quad>& E = g.placement.E;
    put(scale(cosine, E.row[0]) + scale(sine, E.row[1]), local, 0);
    put(scale(cosine, E.row[1]) - scale(sine, E.row[0]), local, 3);
    if (g.slides) put(g.placement.r + scale(g.sliding * position, E.row[2]), local, 9);
  }
  static void put(const Vec3<Quad>& x, Local& local, int at) {
    local[at] = x.x, local[at + 1] = x.y, local[at + 2] = x.z;
  }
  void set_at_rest(int slot) {
    for (int k = 0; k < 3; ++k) frame_[4 * slot + k] = slot_moves::quad(unit(k));
    frame_[4 * slot + 3] = Quad(0.0);
  }
  static Vec3<double> unit(int k) {
    return {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
  }

  const Model& model_;
  const JointLanes& plan_;
  TreeKinematics<double> joints_;
  std::vector<Local> local_;
  std::vector<Quad> frame_;  ///< slots: axes of the body and its origin, in the common frame
  std::vector<Vec3<double>> ground_;
  Vec3<double> gravity_;
};

}  // namespace espalier
