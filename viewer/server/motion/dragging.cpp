#include <algorithm>
#include <cmath>
#include <ranges>

#include "viewer/server/checks.hpp"
#include "viewer/server/mechanism.hpp"

namespace espalier::viewer {

namespace {

/// x of (A + damping 1) x = e.
Vec3<double> damped_solution(Mat3<double> A, double damping, const Vec3<double>& e) {
  for (int i = 0; i < 3; ++i) A(i, i) += damping;
  const Vec3<double> c0 = cross(A.row[1], A.row[2]), c1 = cross(A.row[2], A.row[0]),
                     c2 = cross(A.row[0], A.row[1]);
  const double determinant = dot(A.row[0], c0);
  return scale(1.0 / determinant, scale(e.x, c0) + scale(e.y, c1) + scale(e.z, c2));
}

}  // namespace

Mechanism::Form::Form(const Host& host, ModelPtr of)
    : model(std::move(of)),
      jacobians(host.create<BodyJacobians<double>>("body-jacobians", model)),
      motion(*model),
      loops(model) {}

/// The last one, or another where its independent joints are near a dead point at q_.
Mechanism::Form& Mechanism::form_for_dragging() {
  // Others are taken where these are four times better: dragging does not go to and fro.
  constexpr double worthwhile = 4.0;
  forms_[form_]->loops.residual(q_.data());
  for (int loop = 0; loop < forms_[form_]->loops.loop_count(); ++loop) {
    Form& now = *forms_[form_];
    const IndependentChoice& choice = now.loops.look(loop);
    if (!(choice.best() > worthwhile * choice.present()) || choice.best() < 1e-6) continue;
    const ModelPtr model =
        Alternatives::of(model_)->with(*now.model, now.loops.cluster_of(loop), choice.columns());
    const auto known = std::find_if(forms_.begin(), forms_.end(), [&](const auto& form) {
      return std::ranges::equal(form->model->independent_rates(), model->independent_rates());
    });
    form_ = static_cast<std::size_t>(known - forms_.begin());
    if (known == forms_.end()) forms_.push_back(std::make_unique<Form>(host_, model));
    forms_[form_]->loops.residual(q_.data());
  }
  return *forms_[form_];
}

Vec3<double> Mechanism::point_of(int body, const Vec3<double>& on_body) {
  kinematics_.update(*model_, q_.data(), nullptr);
  Vec3<double> p = on_body;
  for (int i = body; i != 0; i = model_->body(i).parent) {
    p = kinematics_.X[i].r + transpose_times(kinematics_.X[i].E, p);
  }
  return p;
}

void Mechanism::drag(int link_number, const Vec3<double>& point, const Vec3<double>& target) {
  expect_index("link", link_number, model_->links().size());
  for (int i = 0; i < 3; ++i) {
    if (!finite(point[i])) refuse_number("point on the link", point[i]);
    if (!finite(target[i])) refuse_number("target", target[i]);
  }
  const Link& link = model_->links()[link_number];
  if (link.body == 0 || model_->nv() == 0) return;
  for (int iteration = 0; iteration < 10; ++iteration) {
    if (!step_towards(link, point, target)) break;
  }
}

/// What each independent rate of a form does to a point of a link, world axes. Free joints of the
/// ground would take up every pull: they do nothing.
std::vector<Vec3<double>> Mechanism::columns_of(Form& form, const Link& link,
                                                const Vec3<double>& point) {
  const int n = form.model->nv();
  std::vector<double> J(6 * static_cast<std::size_t>(n));
  form.jacobians->evaluate(q_);
  form.jacobians->jacobian(link, J);
  // From the link's axes to the world's.
  Mat3<double> E = link.X.E;
  for (int i = link.body; i != 0; i = model_->body(i).parent) E = E * kinematics_.X[i].E;
  std::vector<Vec3<double>> out(n, Vec3<double>::zero());
  for (int k = 0; k < n; ++k) {
    const Vec3<double> w{J[k], J[n + k], J[2 * n + k]};
    const Vec3<double> v{J[3 * n + k], J[4 * n + k], J[5 * n + k]};
    out[k] = transpose_times(E, v + cross(w, point));
  }
  for (const Joint& joint : form.model->joints()) {
    const bool carries = joint.nv == 6 && form.model->body(joint.body).parent == 0;
    if (!carries || joint.independent < 0 || joint.body == link.body) continue;
    std::fill_n(out.begin() + joint.independent, joint.nv, Vec3<double>::zero());
  }
  return out;
}

/// One step of damped least squares, closed. @return whether another one may come nearer
bool Mechanism::step_towards(const Link& link, const Vec3<double>& point,
                             const Vec3<double>& target) {
  const Vec3<double> on_body = link.X.r + transpose_times(link.X.E, point);
  const Vec3<double> e = target - point_of(link.body, on_body);
  const double distance = std::sqrt(dot(e, e));
  if (distance < 1e-5) return false;
  Form& form = form_for_dragging();
  const std::vector<Vec3<double>> columns = columns_of(form, link, point);
  Mat3<double> A = Mat3<double>::zero();  // J J^T
  for (const Vec3<double>& c : columns) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) A(i, j) += c[i] * c[j];
    }
  }
  const double trace = A(0, 0) + A(1, 1) + A(2, 2);
  if (!(trace > 1e-16)) return false;
  // Damped by a fiftieth of the strongest direction: smooth at the end of reach.
  const Vec3<double> x = damped_solution(A, 4e-4 * trace, e);
  // Joints behind gears of 50 may turn far: what counts is how far the point goes.
  const double shrink = std::min(1.0, 0.3 * std::sqrt(trace) / distance);
  std::vector<double> v(columns.size()), qd(model_->spanning_nv()), wanted(q_.size());
  double largest = 0.0;
  for (std::size_t k = 0; k < v.size(); ++k) {
    v[k] = shrink * dot(columns[k], x);
    largest = std::max(largest, std::abs(v[k]));
  }
  if (!std::isfinite(largest) || largest < 1e-9) return false;
  form.motion.update(q_.data(), nullptr);
  form.motion.expand(v.data(), qd.data());
  model_->integrate(q_.data(), model_->is_tree() ? v.data() : qd.data(), wanted.data());
  keep_limits(wanted);
  const std::vector<double> before = q_;
  approach(*form.model, wanted);
  if (closure_.verdict != Closure::Verdict::closed) return false;
  // A slider's joint that follows others here cannot be brought between its limits beforehand.
  wanted = q_;
  if (!keep_limits(wanted)) return true;
  q_ = before;
  examine_now();
  return false;
}

/// Brings the sliders' joints between their limits. @return whether one was beyond
bool Mechanism::keep_limits(std::vector<double>& q) const {
  constexpr double slack = 1e-9;  // of rounding at a limit
  bool beyond = false;
  for (const Slider& s : sliders_) {
    if (!s.limited) continue;
    const double value = slider_value(*model_, s, q.data()), inside = clamped(s, value);
    if (value != inside) set_slider(*model_, s, inside, q.data());
    beyond = beyond || std::abs(value - inside) > slack;
  }
  return beyond;
}

}  // namespace espalier::viewer
