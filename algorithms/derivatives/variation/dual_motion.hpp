#pragma once

#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/loads.hpp"
#include "espalier/kernel/scalar/dual.hpp"

/// A robot's state at dual numbers: as it is, with its derivative along one direction.

namespace espalier {

/// Positions on closed loops as they move along independent rates: dependent joints follow with G,
/// joints of several rates along their manifolds.
class DualPositions {
 public:
  using D = Dual<double>;

  explicit DualPositions(const Model& model)
      : model_(model),
        motion_(model),
        rates_(model.spanning_nv(), 0.0),
        fixed_(model.nq()),
        q_(model.nq()),
        step_(model.spanning_nv()) {}

  /// @param q      spanning positions
  /// @param along  independent rates
  const D* update(const double* q, const double* along) {
    if (model_.is_tree()) {
      std::copy_n(along, model_.nv(), rates_.begin());
    } else {
      motion_.update(q, nullptr);
      motion_.expand(along, rates_.data());
    }
    for (int i = 0; i < model_.nq(); ++i) fixed_[i] = D(q[i]);
    for (int i = 0; i < model_.spanning_nv(); ++i) step_[i] = {0.0, rates_[i]};
    for (const BodyRun& run : model_.runs()) {
      run.joints->integrate(fixed_.data() + run.q, step_.data() + run.v, q_.data() + run.q);
    }
    return q_.data();
  }
  /// Spanning rates of the direction.
  const double* rates() const { return rates_.data(); }

 private:
  const Model& model_;
  SpanningMotion<double> motion_;
  std::vector<double> rates_;
  std::vector<D> fixed_, q_, step_;
};

/// Loads at dual numbers. Wrenches are constant in their frames; forces of joints are linear in
/// position and rate.
class DualLoads {
 public:
  using D = Dual<double>;

  explicit DualLoads(const ModelPtr& model) : wrenches_(model), framed_(model), model_(*model) {
    for (auto* x : {&joints_.force, &joints_.by_position, &joints_.by_rate}) {
      x->resize(model_.spanning_nv());
    }
  }

  /// Wrenches. Forces of joints wait for move(). Returns null where nothing acts.
  const Loads<D>* update(const Loads<double>* loads) {
    from_ = loads;
    if (!any_load(loads)) return nullptr;
    now_ = {};
    if (loads->wrenches != nullptr) {
      wrenches_.clear();
      Link frame;  // the body's own
      frame.X = Transform<double>::identity();
      for (frame.body = 1; frame.body <= model_.body_count(); ++frame.body) {
        wrenches_.add(frame, Force<D>::from((*loads->wrenches)[frame.body]));
      }
      now_.wrenches = &wrenches_;
    }
    if (loads->framed != nullptr) {
      framed_.clear();
      for (const auto& item : loads->framed->items()) {
        framed_.add_item({item.body, item.frame, Force<D>::from(item.wrench), item.point});
      }
      now_.framed = &framed_;
    }
    if (loads->joints != nullptr) now_.joints = &joints_;
    return &now_;
  }
  /// Forces of joints as these move.
  /// @param along  spanning rates of the direction
  /// @param qd     spanning rates of the motion
  void move(const double* along, const D* qd) {
    if (from_ == nullptr || from_->joints == nullptr) return;
    const JointForces<double>& f = *from_->joints;
    for (int i = 0; i < model_.spanning_nv(); ++i) {
      const double by_position = f.by_position.empty() ? 0.0 : f.by_position[i];
      const double by_rate = f.by_rate.empty() ? 0.0 : f.by_rate[i];
      joints_.by_position[i] = D(by_position), joints_.by_rate[i] = D(by_rate);
      joints_.force[i] = {f.force[i], by_position * along[i] + by_rate * qd[i].d};
    }
  }

 private:
  Wrenches<D> wrenches_;
  FramedWrenches<D> framed_;
  JointForces<D> joints_;
  Loads<D> now_;
  const Model& model_;
  const Loads<double>* from_ = nullptr;
};

}  // namespace espalier
