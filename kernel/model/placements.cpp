#include "espalier/kernel/model/placements.hpp"

#include <utility>

#include "espalier/kernel/model/packs/pack_code.hpp"

namespace espalier {

Placements::Placements(ModelPtr model)
    : model_(std::move(model)),
      packs_(&model_->pack_code()),
      work_(*model_),
      S_(model_->spanning_nv()),
      bias_(model_->body_count() + 1) {}

void Placements::update(const double* q) {
  detail::BodyPlacements& w = work_;
  for (const BodyRun& run : model_->runs()) {
    if (w.joints[run.first].turns) {
      run.joints->turns(q + run.q, &w.sine[run.first], &w.cosine[run.first]);
    } else {
      run.joints->kinematics(q + run.q, nullptr,
                             {&w.X[run.first], S_.data() + run.v, &bias_[run.first]});
    }
  }
  packs_->place_bodies(w);
}

Transform<double> Placements::link(int i) const {
  const Link& link = model_->links()[i];
  return link.X * work_.placed[link.body];
}

Transform<double> Placements::shape(int i) const {
  const PlacedShape& shape = model_->shapes()[i];
  return shape.X * work_.placed[shape.body];
}

Transform<double> Placements::frame(int i) const {
  const PlacedFrame& frame = model_->frames()[i];
  return frame.X * work_.placed[frame.body];
}

}  // namespace espalier
