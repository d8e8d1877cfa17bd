#include "espalier/simulation/soft_contact.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {

[[noreturn]] void refuse(const std::string& is, const char* expected) {
  throw InvalidModel("soft contact: " + is + ", expected " + expected);
}

/// The ground with a unit normal.
SoftGround checked(SoftGround ground) {
  const auto expect = [](const char* what, double value, bool good, const char* expected) {
    if (!good) refuse(std::string(what) + " is " + text::number(value), expected);
  };
  const double length = std::sqrt(dot(ground.normal, ground.normal));
  expect("length of the normal", length, length > 0.0 && std::isfinite(length),
         "a vector with a direction");
  expect("height", ground.height, std::isfinite(ground.height), "a finite number");
  expect("stiffness", ground.stiffness, ground.stiffness > 0.0 && std::isfinite(ground.stiffness),
         "a positive number");
  expect("damping", ground.damping, ground.damping >= 0.0 && std::isfinite(ground.damping),
         "a number not below zero");
  expect("friction", ground.friction, ground.friction >= 0.0 && std::isfinite(ground.friction),
         "a number not below zero");
  expect("slip_rate", ground.slip_rate, ground.slip_rate > 0.0 && std::isfinite(ground.slip_rate),
         "a positive number");
  ground.normal = scale(1.0 / length, ground.normal);
  return ground;
}

}  // namespace

SoftContact::SoftContact(std::unique_ptr<Kinematics<double>> kinematics,
                         std::vector<ContactPoint> points, const SoftGround& ground)
    : kinematics_(std::move(kinematics)), points_(std::move(points)), ground_(checked(ground)) {
  if (kinematics_ == nullptr) refuse("kinematics is null", "an algorithm");
  if (points_.empty()) refuse("number of points is 0", "at least one");
  for (const ContactPoint& point : points_) {
    links_.push_back(&kinematics_->model().link(point.link));
    for (const double x : {point.offset.x, point.offset.y, point.offset.z}) {
      if (!std::isfinite(x)) {
        refuse("offset on link " + text::quoted(point.link) + " is " + text::number(x),
               "finite numbers");
      }
    }
  }
  rest_.assign(kinematics_->model().nv(), 0.0);
  forces_.resize(points_.size());
}

Vec3<double> SoftContact::force_at(const Vec3<double>& position,
                                   const Vec3<double>& velocity) const {
  const Vec3<double>& n = ground_.normal;
  const double depth = ground_.height - dot(n, position);
  if (!(depth > 0.0)) return {0, 0, 0};
  const double rate = dot(n, velocity);
  const double normal_force =
      std::max(0.0, ground_.stiffness * depth * (1.0 - ground_.damping * rate));
  const Vec3<double> slip = velocity - scale(rate, n);
  const double friction = ground_.friction * normal_force /
                          std::sqrt(dot(slip, slip) + ground_.slip_rate * ground_.slip_rate);
  return scale(normal_force, n) - scale(friction, slip);
}

const std::vector<Vec3<double>>& SoftContact::forces(In<double> q, In<double> v) {
  kinematics_->evaluate(q, v, rest_);
  for (std::size_t k = 0; k < points_.size(); ++k) {
    const Transform<double> X = kinematics_->placement(*links_[k]);
    const Motion<double> twist = kinematics_->velocity(*links_[k]);
    const Vec3<double>& p = points_[k].offset;
    forces_[k] =
        force_at(X.r + transpose_times(X.E, p), transpose_times(X.E, twist.v + cross(twist.w, p)));
  }
  return forces_;
}

void SoftContact::act(double, const double* q, const double* v, Wrenches<double>& wrenches) {
  const Model& model = kinematics_->model();
  forces({q, model.nq()}, {v, model.nv()});
  for (std::size_t k = 0; k < points_.size(); ++k) {
    const Vec3<double> f = kinematics_->placement(*links_[k]).E * forces_[k];
    wrenches.add(links_[k]->name, {cross(points_[k].offset, f), f});
  }
}

}  // namespace espalier
