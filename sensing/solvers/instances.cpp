#include "sensing/solvers/instances.hpp"

namespace espalier {

SparseInstance::SparseInstance(const Model& model, const std::vector<Sensor>& sensors) {
  if (sensors.empty()) return;
  system_.emplace(model, sensors);
  solver_.emplace(pattern_of(*system_), order_for(*system_, {}));
  d_.resize(system_->unknowns());
}

const double* SparseInstance::solve(const double* q, const double* v, const double* y,
                                    const Vec3<double>& gravity, const Wrenches<double>* wrenches) {
  if (!system_) return nullptr;
  system_->update(q, v, y, gravity, wrenches);
  if (!solver_->solve(system_->values().data(), system_->right_side().data(), d_.data())) {
    give_up(*system_, &*solver_, d_.data());
  }
  return d_.data();
}

}  // namespace espalier
