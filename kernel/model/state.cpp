#include "espalier/kernel/model/state.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"
#include "espalier/kernel/model/motion/quaternions.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {

constexpr const char* advice = " (close the state: State::close(), or espalier::close())";

/// The position that a constant coupling misses by most.
struct Miss {
  const Cluster* cluster = nullptr;
  std::string constraint;
  double residual = 0.0;
};

Miss largest_miss(const Model& model, const double* q) {
  Miss worst;
  if (model.is_tree()) return worst;
  const auto take = [&](const Cluster& c, const std::string& constraint, double residual) {
    if (residual <= worst.residual || std::isnan(worst.residual)) return;  // NaN is the largest
    worst = {&c, constraint, residual};
  };
  std::vector<double> followed(q, q + model.nq());
  model.apply_couplings(followed.data());
  TreeKinematics<double> joints(model);
  if (model.has_variable_constraints()) joints.update(model, q, nullptr);
  for (const Cluster& c : model.clusters()) {
    if (c.constraint != nullptr) {
      const auto [name, residual] = c.constraint->worst(
          model, c, SpanningView<double>{q, nullptr, joints.X.data(), joints.S.data(), nullptr});
      take(c, name, residual);
    } else if (c.constrained) {
      for (int row = 0; row < c.rows(); ++row) {
        const Joint& joint = model.joint_of_rate(c.rate(row));
        const std::string name = c.constraints.empty() ? joint.name : c.constraints.front();
        if (joint.independent < 0) take(c, name, std::abs(q[joint.q] - followed[joint.q]));
      }
    }
  }
  return worst;
}

}  // namespace

void detail::expect_closed(std::string_view who, const Model& model, const double* q) {
  for (const Joint& joint : model.joints()) {
    for (int k = 0; k < joint.nq; ++k) {
      if (std::isfinite(q[joint.q + k])) continue;
      throw SingularMechanism(std::string(who) + ": position of joint '" + joint.name + "' is " +
                              text::number(q[joint.q + k], 3) + ", expected a finite number");
    }
  }
  const Miss miss = largest_miss(model, q);
  if (miss.cluster == nullptr || miss.residual <= State::tolerance) return;
  throw SingularMechanism(std::string(who) + ": residual of constraint '" + miss.constraint +
                          "' of cluster '" + miss.cluster->name + "' is " +
                          text::number(miss.residual, 3) + ", expected loops that are closed to " +
                          text::number(State::tolerance, 1) + advice);
}

std::optional<Coordinate> detail::independent_part(const Model& model, std::string_view name) {
  if (!name.ends_with(']')) return std::nullopt;
  for (const Coordinate& c : model.coordinates()) {
    if (c.name == name && c.name != c.joint) return c;
  }
  return std::nullopt;
}

/// Where the position of a part stands: the number that its rate moves, and no other.
/// @throws Unsupported where it has none, such as a turn of a ball or a shift in its own axes
static int position_of_part(const Model& model, const Coordinate& part) {
  const Joint& j = model.joint(part.joint);
  std::vector<double> q(model.nq()), rates(model.spanning_nv(), 0.0);
  model.neutral(q.data());
  for (int k = 0; k < j.nq; ++k) q[j.q + k] = 0.3 + 0.4 * k;  // no place where axes coincide
  model.normalize(q.data());
  std::vector<double> moved = q;
  rates[j.v + part.component] = 0.5;
  model.integrate(q.data(), rates.data(), moved.data());
  int at = -1, others = 0;
  for (int k = j.q; k < j.q + j.nq; ++k) {
    if (std::abs(moved[k] - q[k] - 0.5) < 1e-12) {
      at = k;
    } else {
      others += std::abs(moved[k] - q[k]) > 1e-12;
    }
  }
  if (at >= 0 && others == 0) return at;
  throw Unsupported("state: position of '" + part.name +
                    "' is wanted, which has none of its own "
                    "(joint '" +
                    j.name + "' of type '" + j.type +
                    "'), expected the joint's whole position by set_raw()");
}

State::State(ModelPtr model)
    : model_(detail::expect_model("state", model)), q_(model_->nq()), v_(model_->nv(), 0.0) {
  model_->neutral(q_.data());
  closed_ = q_;
}

void State::expect_whole() const {
  expect_size("state", "q", static_cast<long>(q_.size()), model_->nq());
  expect_size("state", "v", static_cast<long>(v_.size()), model_->nv());
}

std::span<const double> State::position(std::string_view joint) const {
  expect_whole();
  if (const auto part = detail::independent_part(*model_, joint)) {
    return std::span(q_).subspan(position_of_part(*model_, *part), 1);
  }
  const Joint& j = model_->joint(joint);
  return std::span(q_).subspan(j.q, j.nq);
}

std::span<const double> State::rate(std::string_view joint) const {
  expect_whole();
  if (const auto part = detail::independent_part(*model_, joint)) {
    return std::span(v_).subspan(part->start, part->size);
  }
  const Joint& j = independent(joint, "rate");
  return std::span(v_).subspan(j.independent, j.nv);
}

void State::put(const Joint& j, In<double> values) {
  expect_whole();
  expect_size("state", ("position of joint '" + j.name + "'").c_str(), values.size(), j.nq);
  const int quaternion = quaternion_of(j);
  if (quaternion >= 0 && without_direction(values.data() + quaternion)) {
    throw InvalidModel("state: length of the quaternion of joint '" + j.name +
                       "' is 0, expected x y z w of length 1");
  }
  std::copy_n(values.data(), j.nq, q_.data() + j.q);
  model_->normalize(q_.data());
}

void State::set_position(std::string_view joint, In<double> values) {
  if (const auto part = detail::independent_part(*model_, joint)) {
    expect_whole();
    expect_size("state", ("position of '" + part->name + "'").c_str(), values.size(), part->size);
    q_[position_of_part(*model_, *part)] = values[0];
  } else {
    put(independent(joint, "position"), values);
  }
  model_->apply_couplings(q_.data());
}

void State::set_raw(std::string_view joint, In<double> values) {
  put(model_->joint(joint), values);
}

void State::set_rate(std::string_view joint, In<double> values) {
  expect_whole();
  if (const auto part = detail::independent_part(*model_, joint)) {
    expect_size("state", ("rate of '" + part->name + "'").c_str(), values.size(), part->size);
    std::copy_n(values.data(), part->size, v_.data() + part->start);
    return;
  }
  const Joint& j = independent(joint, "rate");
  expect_size("state", ("rate of joint '" + j.name + "'").c_str(), values.size(), j.nv);
  std::copy_n(values.data(), j.nv, v_.data() + j.independent);
}

Closure State::close(const CloseOptions& options) {
  expect_whole();
  const Closure closure = espalier::close(*model_, closed_.data(), q_.data(), options);
  if (closure.verdict == Closure::Verdict::closed) closed_ = q_;
  return closure;
}

bool State::is_closed() const {
  if (q_ == closed_) return true;
  expect_whole();
  for (const double x : q_) {
    if (!std::isfinite(x)) return false;
  }
  const Miss miss = largest_miss(*model_, q_.data());
  if (miss.cluster != nullptr && !(miss.residual <= tolerance)) return false;
  closed_ = q_;
  return true;
}

void State::expect_closed(std::string_view who) const {
  if (q_ == closed_) return;
  expect_whole();
  detail::expect_closed(who, *model_, q_.data());
  closed_ = q_;
}

const Joint& State::independent(std::string_view joint, const char* what) const {
  const Joint& j = model_->joint(joint);
  if (j.independent >= 0) return j;
  const Cluster& cluster = model_->clusters()[model_->body(j.body).cluster];
  std::string leaders;
  for (const Coordinate& c : model_->coordinates()) {
    if (c.start < cluster.v || c.start >= cluster.v + cluster.nv) continue;
    leaders += (leaders.empty() ? "'" : ", '") + c.name + "'";
  }
  const bool guess = cluster.constraint != nullptr && what == std::string_view("position");
  throw Unsupported("state: joint '" + j.name + "', whose " + what +
                    " is wanted, is dependent, expected an independent joint (it depends on " +
                    leaders + " in cluster '" + cluster.name + "'" +
                    (guess ? "; set_raw() sets it nevertheless, as a guess for close())" : ")"));
}

}  // namespace espalier
