#pragma once

#include "algorithms/mass_matrix/composite_bodies.hpp"
#include "espalier/kernel/problems/dynamics/lower_triangle.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"

namespace espalier {

/// Joint-space inertia matrix of a tree, or of a cluster tree over its independent rates, by
/// composite rigid bodies.
/// Frame, cost and source: composite_bodies.hpp.
template <class T>
class Crba final : public MassMatrix<T>, public LowerTriangle {
 public:
  explicit Crba(ModelPtr model)
      : MassMatrix<T>(std::move(model)),
        motion_(this->model(), SpanningMotion<T>::Rotors::skip),
        bodies_(this->model(), CompositeBodies<T>::Rates::independent) {
    bodies_.leave_out_of(motion_);
  }
  void share_turns(const JointTurns<T>* turns) override { motion_.use(turns); }
  void write_lower_triangle_alone() override { bodies_.leave_out_upper_triangle(); }

 private:
  void compute(const T* q, T* M) override {
    if (bodies_.reads_joints()) motion_.update(q, nullptr);
    bodies_.compute(q, motion_, M);
  }

  SpanningMotion<T> motion_;
  CompositeBodies<T> bodies_;
};

}  // namespace espalier
