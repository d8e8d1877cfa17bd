#include "espalier/host/link_frames.hpp"

#include <string>

namespace espalier {

namespace {

/// What takes a link's own twist, or a column of its Jacobian, to a frame and a point.
struct Change {
  Mat3<double> E;  ///< link to the frame's axes
  Vec3<double> r;  ///< reference point from the link's origin, link axes

  Change(const Link& link, const Transform<double>& X, Frame frame, const double* point)
      : E(Mat3<double>::identity()), r{point[0], point[1], point[2]} {
    if (frame == Frame::local) return;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) E.row[i][j] = X.E.row[j][i];
    }
    if (frame == Frame::local_world_aligned) return;
    if (r.x != 0.0 || r.y != 0.0 || r.z != 0.0) {
      throw Unsupported("link frames: point of link '" + link.name +
                        "' is given, expected none with Frame::world, whose reference is the "
                        "world's origin (Frame::local_world_aligned takes a point)");
    }
    r = -(X.E * X.r);
  }
  Motion<double> operator()(const Motion<double>& m) const {
    return {E * m.w, E * (m.v + cross(m.w, r))};
  }
};

}  // namespace

LinkFrames::LinkFrames(const Host& host, ModelPtr model)
    : model_(detail::expect_model("link frames", model)),
      kinematics_(host.create<Kinematics<double>>("forward-kinematics", model)),
      jacobians_(host.create<BodyJacobians<double>>("body-jacobians", model)),
      rest_(model->nv(), 0.0) {}

void LinkFrames::update(In<double> q, In<double> v) {
  kinematics_->evaluate(q, v, rest_);
  jacobians_->evaluate(q);
  updated_ = true;
}

void LinkFrames::update(const State& state) {
  kinematics_->evaluate(state, rest_);
  jacobians_->evaluate(state);
  updated_ = true;
}

const Link& LinkFrames::placed(std::string_view name) const {
  const Link& link = model_->link(name);
  if (updated_) return link;
  throw Unsupported("link frames: link '" + link.name +
                    "' is asked for before it is placed, expected update(q, v) first");
}

int LinkFrames::columns() const { return model_->nv(); }

void LinkFrames::write_pose(std::string_view link, double* R, double* p) const {
  const Transform<double> X = kinematics_->placement(placed(link));
  for (int i = 0; i < 3; ++i) {
    p[i] = X.r[i];
    for (int j = 0; j < 3; ++j) R[3 * i + j] = X.E.row[j][i];
  }
}

void LinkFrames::write_velocity(std::string_view name, Frame frame, const double* point,
                                double* twist) const {
  const Link& link = placed(name);
  const Change change(link, kinematics_->placement(link), frame, point);
  const Motion<double> m = change(kinematics_->velocity(link));
  for (int i = 0; i < 6; ++i) twist[i] = m[i];
}

void LinkFrames::write_jacobian(std::string_view name, Frame frame, const double* point,
                                double* J) const {
  const Link& link = placed(name);
  const long n = columns();
  jacobians_->jacobian(link, Out<double>(J, 6 * n));
  const Change change(link, kinematics_->placement(link), frame, point);
  for (long k = 0; k < n; ++k) {
    Motion<double> m;
    for (int i = 0; i < 6; ++i) m[i] = J[i * n + k];
    m = change(m);
    for (int i = 0; i < 6; ++i) J[i * n + k] = m[i];
  }
}

}  // namespace espalier
