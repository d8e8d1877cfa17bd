#pragma once

#include <utility>
#include <vector>

#include "espalier/kernel/problems/named_results.hpp"

namespace espalier {

/// What stays constant of an external wrench while the robot moves. The three are the same wrench
/// and differ in derivatives by q (theory/derivatives 14).
enum class WrenchFrame {
  link,           ///< moment about the link's origin and force, link axes: a thruster, a sole
  world,          ///< moment about the world's origin and force, world axes
  world_at_point  ///< moment about a point of the link and force, world axes: a push at a point
};

/// External wrenches with the frames in which they are constant.
template <class T>
class FramedWrenches {
 public:
  /// One wrench.
  struct Item {
    int body = 0;                           ///< that it acts on
    WrenchFrame frame = WrenchFrame::link;  ///< in which it is constant
    Force<T> wrench;                        ///< body frame for `link`, else as in the frame
    Vec3<double> point;                     ///< body frame, of world_at_point
  };
  /// None yet.
  explicit FramedWrenches(ModelPtr model) : model_(std::move(model)) {}

  /// Adds a wrench on a link.
  /// @param link    that it acts on
  /// @param frame   in which it is constant
  /// @param wrench  components in the frame [N·m, N]
  /// @param point   on the link, link axes, for world_at_point [m]
  /// @throws UnknownName
  void add(std::string_view link, WrenchFrame frame, const Force<T>& wrench,
           const Vec3<double>& point = {0, 0, 0}) {
    const Link& l = model_->link(link);
    Item item{l.body, frame, wrench, l.X.r + transpose_times(l.X.E, point)};
    if (frame == WrenchFrame::link) item.wrench = l.X.transpose_times_force(wrench);
    items_.push_back(item);
  }
  /// Adds a wrench on a body.
  void add_item(const Item& item) { items_.push_back(item); }
  /// Takes all wrenches off.
  void clear() { items_.clear(); }
  /// In the order of adding.
  const std::vector<Item>& items() const { return items_; }

 private:
  ModelPtr model_;
  std::vector<Item> items_;
};

/// Forces on spanning joints besides tau: springs, dampers, friction, motors on dependent joints.
/// Entries per spanning rate; the force of a joint depends on its own position and rate alone.
template <class T>
struct JointForces {
  std::vector<T> force;        ///< along the rate [N·m, N], size spanning_nv
  std::vector<T> by_position;  ///< its derivative by the position, along the rate; empty: 0
  std::vector<T> by_rate;      ///< its derivative by the rate; empty: 0
};

/// All that acts on a robot besides gravity and tau; null where there is none.
template <class T>
struct Loads {
  const Wrenches<T>* wrenches = nullptr;      ///< constant in link frames
  const FramedWrenches<T>* framed = nullptr;  ///< constant in frames of their own
  const JointForces<T>* joints = nullptr;     ///< M vdot + bias = tau + G^T force
};

/// Whether anything acts.
template <class T>
bool any_load(const Loads<T>* loads) {
  return loads != nullptr &&
         (loads->wrenches != nullptr || loads->framed != nullptr || loads->joints != nullptr);
}

/// The forces of a model's springs, dampers and dry friction (PassiveForces) with their
/// derivatives. Friction is friction tanh(qd / friction_rate); at rate 0 of `friction_rate` it is
/// friction sign(qd) with derivative 0, which is one-sided at rest.
ESPALIER_API void passive_joint_forces(const Model& model, const double* q, const double* qd,
                                       double friction_rate, JointForces<double>& out);

namespace detail {
template <class T>
void expect_loads(const char* who, const Loads<T>* loads, const Model& model) {
  if (loads == nullptr) return;
  expect_wrenches(who, loads->wrenches, model);
  if (loads->joints == nullptr) return;
  const JointForces<T>& j = *loads->joints;
  expect_size(who, "joint forces", static_cast<long>(j.force.size()), model.spanning_nv());
  if (!j.by_position.empty()) {
    expect_size(who, "joint forces' derivatives by position",
                static_cast<long>(j.by_position.size()), model.spanning_nv());
  }
  if (!j.by_rate.empty()) {
    expect_size(who, "joint forces' derivatives by rate", static_cast<long>(j.by_rate.size()),
                model.spanning_nv());
  }
}
}  // namespace detail

}  // namespace espalier
