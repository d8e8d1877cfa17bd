#include "viewer/server/mechanism.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace espalier::viewer {

namespace {

// A position counts as closed on screen: far below a pixel, far above rounding.
constexpr double open_residual = 1e-9;
// Below this the reader is told that a dead point is near. Gears between the joints of a cluster
// make the margin small everywhere: Tello's legs have 0.013 in their neutral position.
constexpr double small_margin = 0.004;

bool finite(double x) { return std::isfinite(x) && std::abs(x) < 1e6; }

[[noreturn]] void refuse_number(const char* what, double got) {
  throw InvalidModel(fmt::format("viewer: {} is {}, expected a number below 1e6", what, got));
}
void expect_index(const char* what, int got, std::size_t size) {
  if (got >= 0 && static_cast<std::size_t>(got) < size) return;
  throw SizeMismatch(
      fmt::format("viewer: number of the {} is {}, expected one below {}", what, got, size));
}

}  // namespace

Mechanism::Mechanism(const Host& host, ModelPtr model)
    : model_(std::move(model)),
      sliders_(sliders_of(*model_)),
      jacobians_(host.create<BodyJacobians<double>>("body-jacobians", model_)),
      kinematics_(*model_),
      motion_(*model_),
      q_(model_->nq()) {
  neutral();
}

double Mechanism::clamped(const Slider& slider, double value) const {
  return slider.limited ? std::clamp(value, slider.lower, slider.upper) : value;
}

void Mechanism::examine_now() {
  const Closure now = examine(*model_, q_.data());
  closure_.residual = now.residual, closure_.margin = now.margin;
  if (closure_.cluster.empty()) closure_.cluster = now.cluster;
}

/// Moves to `wanted` as far as the loops follow.
void Mechanism::approach(std::vector<double>& wanted) {
  closure_ = close(*model_, q_.data(), wanted.data());
  const bool usable = std::all_of(wanted.begin(), wanted.end(), [](double x) { return finite(x); });
  if (usable && (closure_.verdict == Closure::Verdict::closed ||
                 examine(*model_, wanted.data()).residual < open_residual)) {
    q_ = wanted;
  }
  examine_now();
}

void Mechanism::set(int slider, double value) {
  expect_index("slider", slider, sliders_.size());
  if (!finite(value)) refuse_number("value of the slider", value);
  const Slider& s = sliders_[slider];
  std::vector<double> wanted = q_;
  set_slider(*model_, s, clamped(s, value), wanted.data());
  approach(wanted);
}

void Mechanism::neutral() {
  branch_.clear();
  model_->neutral(q_.data());
  closure_ = {};
  examine_now();
  std::vector<double> wanted = q_;
  for (const Slider& s : sliders_) {
    const double value = slider_value(*model_, s, q_.data());
    if (clamped(s, value) != value) set_slider(*model_, s, clamped(s, value), wanted.data());
  }
  if (wanted != q_) approach(wanted);
}

void Mechanism::random(unsigned long long seed) {
  std::vector<double> q(q_.size()), closed;
  for (int attempt = 0; attempt < 32; ++attempt) {
    model_->random(seed + static_cast<unsigned long long>(attempt), q.data());
    if (examine(*model_, q.data()).residual > open_residual) {
      if (assemble(*model_, q.data()).verdict != Closure::Verdict::closed) continue;
    }
    const bool inside = beyond_limits(q).empty();
    if (inside || closed.empty()) closed = q;
    if (inside) break;
  }
  if (closed.empty()) return;
  branch_.clear();
  q_ = closed;
  closure_ = {};
  examine_now();
}

std::vector<std::string> Mechanism::beyond_limits(const std::vector<double>& q) const {
  constexpr double slack = 1e-9;  // of rounding at a limit
  std::vector<std::string> out;
  for (const Joint& joint : model_->joints()) {
    if (joint.nq != 1) continue;
    if ((joint.limits.lower && q[joint.q] < *joint.limits.lower - slack) ||
        (joint.limits.upper && q[joint.q] > *joint.limits.upper + slack)) {
      out.push_back(joint.name);
    }
  }
  return out;
}

bool Mechanism::other_branch(int cluster) {
  expect_index("cluster", cluster, model_->clusters().size());
  const Cluster& c = model_->clusters()[cluster];
  if (!c.constrained || c.constraint == nullptr) return false;
  const auto differs = [&](const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> between(model_->spanning_nv());
    model_->difference(a.data(), b.data(), between.data());
    return std::any_of(between.begin(), between.end(), [](double x) {
      return std::abs(std::remainder(x, 2.0 * std::numbers::pi)) > 1e-3;
    });
  };
  // Newton's method from random dependent positions. The branches are found in the same order each
  // time, so that pressing again goes round.
  std::vector<std::vector<double>> found;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> part(-1.0, 1.0);
  std::vector<double> away(model_->spanning_nv()), q(q_.size());
  for (int attempt = 0; attempt < 64 && found.size() < 8; ++attempt) {
    std::fill(away.begin(), away.end(), 0.0);
    for (int i = c.first; i < c.first + c.count; ++i) {
      const Body& body = model_->body(i);
      if (model_->joints()[body.joint].independent >= 0) continue;
      const bool slides = model_->runs()[body.run].subspace == SubspaceKind::prismatic_z;
      for (int k = 0; k < body.nv; ++k) {
        away[body.v + k] = (slides ? 0.5 : std::numbers::pi) * part(random);
      }
    }
    model_->integrate(q_.data(), away.data(), q.data());
    if (project(*model_, q.data()).verdict != Closure::Verdict::closed) continue;
    if (examine(*model_, q.data()).residual > open_residual) continue;
    if (std::none_of(found.begin(), found.end(), [&](const auto& f) { return !differs(f, q); })) {
      found.push_back(q);
    }
  }
  const auto present =
      std::find_if(found.begin(), found.end(), [&](const auto& f) { return !differs(f, q_); });
  if (found.empty() || (found.size() == 1 && present != found.end())) return false;
  const std::size_t next =
      present == found.end()
          ? 0
          : (static_cast<std::size_t>(present - found.begin()) + 1) % found.size();
  q_ = found[next];
  closure_ = {};
  examine_now();
  branch_ = fmt::format("{} of {}", next + 1, found.size());
  return true;
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
  const int n = model_->nv();
  if (link.body == 0 || n == 0) return;
  // Free joints of the ground would take up every pull.
  std::vector<bool> stays(n, false);
  for (const Joint& joint : model_->joints()) {
    const bool carries = joint.nv == 6 && model_->body(joint.body).parent == 0;
    if (!carries || joint.independent < 0 || joint.body == link.body) continue;
    for (int k = 0; k < joint.nv; ++k) stays[joint.independent + k] = true;
  }
  const Vec3<double> on_body = link.X.r + transpose_times(link.X.E, point);
  std::vector<double> J(6 * static_cast<std::size_t>(n)), dv(n), dq(model_->spanning_nv());
  std::vector<double> wanted(q_.size());
  std::vector<Vec3<double>> columns(n, Vec3<double>::zero());
  for (int iteration = 0; iteration < 10; ++iteration) {
    const Vec3<double> e = target - point_of(link.body, on_body);
    const double distance = std::sqrt(dot(e, e));
    if (distance < 1e-5) break;
    jacobians_->evaluate(q_);
    jacobians_->jacobian(link, J);
    // From the link's axes to the world's.
    Mat3<double> E = link.X.E;
    for (int i = link.body; i != 0; i = model_->body(i).parent) E = E * kinematics_.X[i].E;
    double trace = 0.0;
    Mat3<double> A = Mat3<double>::zero();  // J J^T
    for (int k = 0; k < n; ++k) {
      if (stays[k]) continue;
      const Vec3<double> w{J[k], J[n + k], J[2 * n + k]};
      const Vec3<double> v{J[3 * n + k], J[4 * n + k], J[5 * n + k]};
      columns[k] = transpose_times(E, v + cross(w, point));
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) A(i, j) += columns[k][i] * columns[k][j];
      }
    }
    trace = A(0, 0) + A(1, 1) + A(2, 2);
    if (!(trace > 1e-16)) break;
    // Damped by a fiftieth of the strongest direction: smooth at the end of reach.
    const double damping = 4e-4 * trace;
    for (int i = 0; i < 3; ++i) A(i, i) += damping;
    const Vec3<double> c0 = cross(A.row[1], A.row[2]), c1 = cross(A.row[2], A.row[0]),
                       c2 = cross(A.row[0], A.row[1]);
    const double determinant = dot(A.row[0], c0);
    const Vec3<double> x =
        scale(1.0 / determinant, scale(e.x, c0) + scale(e.y, c1) + scale(e.z, c2));
    double largest = 0.0;
    for (int k = 0; k < n; ++k) {
      dv[k] = stays[k] ? 0.0 : dot(columns[k], x);
      largest = std::max(largest, std::abs(dv[k]));
    }
    if (!std::isfinite(largest) || largest < 1e-9) break;
    // Joints behind gears of 50 may turn far: what counts is how far the point goes.
    const double shrink = std::min(1.0, 0.3 * std::sqrt(trace) / std::max(distance, 1e-12));
    for (double& d : dv) d *= std::min(1.0, shrink);
    motion_.update(q_.data(), nullptr);
    motion_.expand(dv.data(), dq.data());
    const double* qd = model_->is_tree() ? dv.data() : dq.data();
    model_->integrate(q_.data(), qd, wanted.data());
    for (const Slider& s : sliders_) {
      if (!s.limited) continue;
      const double value = slider_value(*model_, s, wanted.data());
      if (value != clamped(s, value)) set_slider(*model_, s, clamped(s, value), wanted.data());
    }
    approach(wanted);
    if (closure_.verdict != Closure::Verdict::closed) break;
  }
}

void Mechanism::resume(In<double> q) {
  expect_size("viewer", "q", q.size(), model_->nq());
  std::vector<double> wanted(q.data(), q.data() + q.size());
  for (const double x : wanted) {
    if (!finite(x)) refuse_number("position", x);
  }
  for (const Joint& joint : model_->joints()) {
    if (joint.nq == joint.nv) continue;
    double square = 0.0;
    for (int k = 0; k < joint.nq; ++k) square += wanted[joint.q + k] * wanted[joint.q + k];
    if (square < 1e-6) refuse_number("length of a quaternion", square);
  }
  model_->normalize(wanted.data());
  const Closure closed = project(*model_, wanted.data());
  if (closed.verdict == Closure::Verdict::out_of_reach) {
    throw InvalidModel("viewer: position does not close the loops, expected one that does (" +
                       closed.text() + ")");
  }
  branch_.clear();
  place(wanted);
}

void Mechanism::place(In<double> q) {
  expect_size("viewer", "q", q.size(), model_->nq());
  std::copy_n(q.data(), q.size(), q_.begin());
  closure_ = {};
  examine_now();
}

void Mechanism::local_placements(std::vector<double>& out) {
  kinematics_.update(*model_, q_.data(), nullptr);
  out.resize(7 * static_cast<std::size_t>(model_->body_count() + 1));
  append_placement(Transform<double>::identity(), out.data());
  for (int i = 1; i <= model_->body_count(); ++i) append_placement(kinematics_.X[i], &out[7 * i]);
}

Json Mechanism::pose() {
  local_placements(placements_);
  Json bodies = Json::array(), values = Json::array();
  for (const double x : placements_) bodies.push_back(std::round(x * 1e8) / 1e8);
  for (const Slider& s : sliders_) values.push_back(slider_value(*model_, s, q_.data()));
  std::string verdict(to_string(closure_.verdict)), words;
  if (!model_->has_variable_constraints()) {
    words = model_->is_tree() ? "A tree: no loops to close."
                              : "Gears and couplings alone: always closed.";
  } else if (closure_.verdict != Closure::Verdict::closed) {
    words = closure_.text();
  } else if (closure_.margin < small_margin) {
    words = fmt::format("Closed, near a dead point of '{}': margin {:.2g}.", closure_.cluster,
                        closure_.margin);
  } else {
    words = "Closed.";
  }
  return {{"bodies", std::move(bodies)},
          {"q", q_},
          {"values", std::move(values)},
          {"residual", closure_.residual},
          {"margin", closure_.margin},
          {"verdict", verdict},
          {"words", words},
          {"cluster", closure_.cluster},
          {"branch", branch_},
          {"over", beyond_limits()}};
}

}  // namespace espalier::viewer
