#include "espalier/kernel/model/placements.hpp"

#include <utility>

namespace espalier {

Placements::Placements(ModelPtr model)
    : model_(std::move(model)),
      kinematics_(*model_),
      bodies_(model_->body_count() + 1, Transform<double>::identity()) {}

void Placements::update(const double* q) {
  kinematics_.update(*model_, q, nullptr);
  for (int i = 1; i <= model_->body_count(); ++i) {
    bodies_[i] = kinematics_.X[i] * bodies_[model_->body(i).parent];
  }
}

Transform<double> Placements::link(int i) const {
  const Link& link = model_->links()[i];
  return link.X * bodies_[link.body];
}

Transform<double> Placements::shape(int i) const {
  const PlacedShape& shape = model_->shapes()[i];
  return shape.X * bodies_[shape.body];
}

Transform<double> Placements::frame(int i) const {
  const PlacedFrame& frame = model_->frames()[i];
  return frame.X * bodies_[frame.body];
}

}  // namespace espalier
