#include "viewer/server/mechanism.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "viewer/server/checks.hpp"

namespace espalier::viewer {

namespace {

// A position counts as closed on screen: far below a pixel, far above rounding.
constexpr double open_residual = 1e-9;
// Below this part of a loop's usual margin the reader is told that a dead point is near.
constexpr double small_part = 0.05;

}  // namespace

Mechanism::Mechanism(const Host& host, ModelPtr model, std::vector<double> usual_margins)
    : model_(std::move(model)),
      sliders_(sliders_of(*model_)),
      host_(host),
      usual_(std::move(usual_margins)),
      kinematics_(*model_),
      q_(model_->nq()) {
  forms_.push_back(std::make_unique<Form>(host_, model_));
  model_->neutral(q_.data());
  if (static_cast<int>(usual_.size()) != forms_.front()->loops.loop_count()) find_usual_margins();
  neutral();
}

/// Gears between the joints of a cluster make its margin small everywhere: Tello's legs have 0.013
/// in their neutral position, a motor behind a four-bar 0.001. What a margin means is told by the
/// largest that a loop has at a few positions.
void Mechanism::find_usual_margins() {
  constexpr unsigned long long positions = 8;
  LoopProjector& loops = forms_.front()->loops;
  usual_.assign(loops.loop_count(), 0.0);
  if (usual_.empty()) return;
  const auto look = [&](const std::vector<double>& q) {
    if (loops.residual(q.data()) > open_residual) return;
    for (int i = 0; i < loops.loop_count(); ++i) {
      usual_[i] = std::max(usual_[i], loops.look(i).present());
    }
  };
  look(q_);
  const std::vector<double> neutral = q_;
  for (unsigned long long seed = 1; seed <= positions; ++seed) {
    std::mt19937_64 numbers(seed);
    // What does not close takes a hundred times as long as what does: few are asked for.
    for (const double part : {0.5, 0.2}) {
      const auto q = closed_near(neutral, part, numbers);
      if (!q) continue;
      look(*q);
      break;
    }
  }
}

double Mechanism::ease(const std::vector<double>& q) {
  LoopProjector& loops = forms_.front()->loops;
  if (loops.loop_count() == 0) return 1.0;
  loops.residual(q.data());
  double least = 1.0;
  for (int i = 0; i < loops.loop_count(); ++i) {
    const double present = loops.look(i).present();
    if (!(present >= least * usual_[i])) least = usual_[i] > 0.0 ? present / usual_[i] : 0.0;
  }
  return least;
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
void Mechanism::approach(const Model& in, std::vector<double>& wanted) {
  closure_ = close(in, q_.data(), wanted.data());
  const bool usable = std::all_of(wanted.begin(), wanted.end(), [](double x) { return finite(x); });
  if (usable && (closure_.verdict == Closure::Verdict::closed ||
                 examine(in, wanted.data()).residual < open_residual)) {
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
  approach(*model_, wanted);
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
  if (wanted != q_) approach(*model_, wanted);
}

/// A random position of the neutral one's branch.
/// @param part  of the way to the ends of limits, or of what looks like a limb's reach
/// @return nothing where the loops do not close there
std::optional<std::vector<double>> Mechanism::closed_near(const std::vector<double>& neutral,
                                                          double part,
                                                          std::mt19937_64& numbers) const {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> wanted = neutral;
  for (const Slider& s : sliders_) {
    const double from = clamped(s, slider_value(*model_, s, neutral.data()));
    // A robot that floats only leans; a joint without limits turns by what looks like a limb's.
    const double reach = s.tangent ? (s.unit == "m" ? 0.0 : 0.4) : s.unit == "m" ? 0.3 : 1.3;
    const double x = uniform(numbers);
    const double way =
        !s.limited ? x * reach : std::abs(x) * ((x < 0.0 ? s.lower : s.upper) - from);
    set_slider(*model_, s, clamped(s, from + part * way), wanted.data());
  }
  const Closure closure = close(*model_, neutral.data(), wanted.data());
  if (closure.verdict != Closure::Verdict::closed) return std::nullopt;
  if (examine(*model_, wanted.data()).residual > open_residual) return std::nullopt;
  return wanted;
}

void Mechanism::random(unsigned long long seed) {
  std::mt19937_64 numbers(seed);
  std::vector<double> neutral(q_.size()), closed;
  model_->neutral(neutral.data());
  // Far at first; less far where the loops or limits do not follow.
  for (double part = 1.0; part > 0.03; part *= 0.75) {
    const auto wanted = closed_near(neutral, part, numbers);
    if (!wanted) continue;
    const bool good = beyond_limits(*wanted).empty() && ease(*wanted) > small_part;
    if (good || closed.empty()) closed = *wanted;
    if (good) break;
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
  const double easy = ease(q_);
  if (!model_->has_variable_constraints()) {
    words = model_->is_tree() ? "A tree: no loops to close."
                              : "Gears and couplings alone: always closed.";
  } else if (closure_.verdict != Closure::Verdict::closed) {
    words = closure_.text();
  } else if (easy < small_part) {
    words =
        fmt::format("Closed, near a dead point: the margin is {:.1g} of what is usual here.", easy);
  } else {
    words = "Closed.";
  }
  return {{"bodies", std::move(bodies)}, {"q", q_},
          {"values", std::move(values)}, {"residual", closure_.residual},
          {"margin", closure_.margin},   {"ease", easy},
          {"verdict", verdict},          {"words", words},
          {"cluster", closure_.cluster}, {"branch", branch_},
          {"over", beyond_limits()}};
}

}  // namespace espalier::viewer
