#include "espalier/kernel/model/compile/compiler.hpp"

#include <cmath>

#include "espalier/kernel/model/compile/kept_shapes.hpp"

/// Frames and inertias of bodies; joint axes onto z.

namespace espalier {

void Compiler::place_bodies() {
  Model& m = *model_;
  m.links_.resize(robot_.links.size());
  m.bodies_.resize(groups_.size());
  m.body_count_ = static_cast<int>(groups_.size()) - 1;
  m.body_names_.resize(groups_.size());
  m.body_names_[0] =
      options_.root == CompileOptions::Root::floating ? "world" : robot_.links[root_link_].name;
  const auto turn_of = [&](const Group& group) {
    return joint_types_[group.joint]->alignment(detail::spec_of(joints_[group.joint]));
  };
  place_links(0, Mat3<double>::identity());
  for (std::size_t g = 1; g < groups_.size(); ++g)
    place_links(static_cast<int>(g), turn_of(groups_[g]));
  fold_rotors();
  number_bodies();
  for (const Group& group : groups_) {
    for (int l : group.links) m.links_[l].body = group.body;
  }
  for (int g : order_) {
    const Group& group = groups_[g];
    const JointDescription& joint = joints_[group.joint];
    const Mat3<double> turn = turn_of(group);

    Body& body = m.bodies_[group.body];
    body.parent = groups_[tree_.parent(g)].body;
    const Transform<double> turned{turn, {0, 0, 0}};
    const Transform<double> from = joint.parent.empty() ? Transform<double>::identity()
                                                        : m.links_[link_number_.at(joint.parent)].X;
    body.placement = clean(turned * (joint.origin.transform() * from));
    m.body_names_[group.body] = robot_.links[group.links.front()].name;
    specs_.push_back(detail::spec_of(joint));
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    m.bodies_[groups_[g].body].inertia = groups_[g].inertia;
  }
  list_rotors();
  place_geometry();
}

/// The group's body frame is its joint frame turned by `turn`; the joint's child link is there.
void Compiler::place_links(int g, const Mat3<double>& turn) {
  Group& group = groups_[g];
  // A group may have been grown from another link than the child of the joint it now hangs on.
  Transform<double> anchor = Transform<double>::identity();
  if (group.joint >= 0) anchor = in_group_[link_number_.at(joints_[group.joint].child)];
  const Transform<double> body_to_first =
      anchor.inverse() * Transform<double>{turn.transposed(), {0, 0, 0}};
  for (int l : group.links) {
    Link& link = model_->links_[l];
    link.name = robot_.links[l].name;
    link.X = in_group_[l] * body_to_first;
    if (const auto& inertial = robot_.links[l].inertial) {
      link.mass = inertial->mass;
      group.inertia += congruence(link.X, inertial->about_link());
    }
  }
}

/// Shapes and frames ride on the bodies that their links were welded into.
void Compiler::place_geometry() {
  const auto shapes = std::make_shared<KeptShapes>();
  std::size_t frames = 0;
  for (const LinkDescription& link : robot_.links) frames += link.frames.size();
  extras_->frames.reserve(frames);
  for (std::size_t l = 0; l < robot_.links.size(); ++l) {
    const LinkDescription& from = robot_.links[l];
    const Link& link = model_->links_[l];
    const int number = static_cast<int>(l);
    using Role = PlacedShape::Role;
    for (const ShapeDescription& s : from.visuals) shapes->add(Role::visual, number, s);
    for (const ShapeDescription& s : from.collisions) shapes->add(Role::collision, number, s);
    for (const FrameDescription& f : from.frames) {
      extras_->frames.push_back({f.name, number, link.body, f.origin.transform() * link.X});
    }
  }
  shapes->finish();
  extras_->shapes = shapes;
  extras_->states = robot_.states;
  extras_->actuators = robot_.actuators;
  extras_->excluded_contacts = robot_.excluded_contacts;
  extras_->contact_pairs = robot_.contact_pairs;
}

std::span<const PlacedShape> Model::shapes() const { return extras_->shapes->placed(links_); }

/// Entries that rounding left beside 0, 1 and -1 are set there, so that structure is seen.
Transform<double> Compiler::clean(Transform<double> X) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      double& e = X.E(i, j);
      if (std::abs(e - std::round(e)) < 1e-15) e = std::round(e) + 0.0;
    }
  }
  return X;
}

}  // namespace espalier
