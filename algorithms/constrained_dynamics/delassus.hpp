#pragma once

#include "algorithms/constrained_dynamics/held.hpp"
#include "algorithms/inverse_osim/pv_osim.hpp"
#include "algorithms/segments/articulated_tree/tree_response.hpp"

namespace espalier {

/// Constrained dynamics by the Delassus matrix: accelerations without constraint forces, J M^-1 J^T
/// by PV-OSIMr, a factor that reveals its rank, and accelerations with the forces.
/// Cost: O(n + m^2 + m^3).
/// Frames: those of ArticulatedTree.
/// Source: Featherstone (2008), section 8.5; theory/input-matrix 3 and theory/delassus 4.
template <class T>
class DelassusDynamics final : public HeldRobot<T> {
 public:
  explicit DelassusDynamics(const Setup& setup)
      : HeldRobot<T>(setup),
        osim_(setup, PvOsimBase<T>::Choice::least_cost),
        response_(osim_.tree(), load()),
        inverse_osim_(static_cast<std::size_t>(this->task().size()) * this->task().size()),
        free_(this->task().size()) {
    int widest = 1;
    for (const auto& part : osim_.rows().parts()) widest = std::max(widest, part.blocks);
    K_.resize(widest);
  }

 private:
  using V = typename RowLanes<T>::V;
  using Answer = typename HeldRobot<T>::Answer;

  typename TreeResponse<T>::Load load() const {
    typename TreeResponse<T>::Load load{{}, true, 1};
    for (const Task::Part& part : this->task().parts()) load.bodies.push_back(part.body);
    return load;
  }

  const Answer& compute(const T* q, const T* v, const T* tau, const T* acceleration,
                        const Wrenches<T>* wrenches) override {
    this->prepare(q, v, tau, acceleration, wrenches);
    osim_.evaluate(In<T>(q, this->model().nq()), inverse_osim_);
    respond(nullptr);
    for (const auto& part : osim_.rows().parts()) {
      for (int i = 0; i < part.part->size(); ++i) free_[part.part->first + i] = T(0.0);
      if (part.part->body == 0) continue;
      osim_.rows().place(osim_.tree(), part, K_.data());
      const Motion<T> a = first(*response_.motion(part.part->body));
      for (int i = 0; i < part.part->size(); ++i) free_[part.part->first + i] = dot(a, row(i));
    }
    this->solve_forces(inverse_osim_.data(), free_.data());
    respond(this->answer_.force.data());
    for (std::size_t k = 0; k < this->answer_.vdot.size(); ++k) {
      this->answer_.vdot[k] = row_of<T>(&response_.rates()[k], 0);
    }
    return this->answer_;
  }

  /// Accelerations for r and constraint forces.
  void respond(const T* force) {
    response_.clear();
    for (std::size_t k = 0; k < this->r_.size(); ++k)
      row_of<T>(&response_.rates()[k], 0) = this->r_[k];
    for (const auto& part : osim_.rows().parts()) {
      if (force == nullptr || part.part->body == 0) continue;
      osim_.rows().place(osim_.tree(), part, K_.data());
      Force<V>& wrench = *response_.wrenches(part.part->body);
      for (int i = 0; i < part.part->size(); ++i) {
        const Force<T> f = scale(force[part.part->first + i], row(i));
        for (int k = 0; k < 6; ++k) row_of<T>(&wrench[k], 0) += f[k];
      }
    }
    response_.solve();
  }
  Force<T> row(int i) const {
    constexpr int lanes = RowLanes<T>::size;
    Force<T> f;
    for (int k = 0; k < 6; ++k) f[k] = row_of<T>(&K_[i / lanes][k], i % lanes);
    return f;
  }
  static Motion<T> first(const Motion<V>& lanes) {
    Motion<T> a;
    for (int k = 0; k < 6; ++k) a[k] = row_of<T>(&lanes[k], 0);
    return a;
  }

  PvOsimBase<T> osim_;
  TreeResponse<T> response_;
  std::vector<T> inverse_osim_, free_;
  std::vector<Force<V>> K_;
};

}  // namespace espalier
