#include "espalier/simulation/damping/joint_damping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/compile/variants.hpp"

namespace espalier {

namespace {

/// What `of` gives of a joint's passive dynamics, by spanning rates.
template <class F>
std::vector<double> by_rate(const Model& model, F&& of) {
  std::vector<double> out(model.spanning_nv(), 0.0);
  for (const Joint& joint : model.joints()) {
    for (int k = 0; k < joint.nv; ++k) out[joint.v + k] = of(joint.passive);
  }
  return out;
}

}  // namespace

std::vector<double> viscous_damping(const Model& model) {
  return by_rate(model, [](const PassiveDynamics& p) { return p.damping; });
}
std::vector<double> friction_slopes(const Model& model, double friction_rate) {
  return by_rate(model, [&](const PassiveDynamics& p) { return p.friction / friction_rate; });
}

JointDamping::JointDamping(const ModelPtr& model, MakeDynamics make, std::vector<double> dampers)
    : model_(model),
      make_(std::move(make)),
      damping_(std::move(dampers)),
      gravity_(model->gravity()) {
  any_ = static_cast<bool>(make_) &&
         std::any_of(damping_.begin(), damping_.end(), [](double d) { return d != 0.0; });
  if (!any_) return;
  const std::size_t nv = model->nv();
  x_.resize(nv), y_.resize(nv), zero_.assign(nv, 0.0), tau_.resize(nv);
  qd_.resize(model->spanning_nv());
  for (std::size_t i = 0; i < nv; ++i) x_[i] = 1.0 + 0.37 * std::sin(1.0 + 2.0 * i);
  still_ = make_(model);
  still_->set_gravity({0, 0, 0});
}

double JointDamping::decay(const double* q, const SpanningMotion<double>& motion, int iterations) {
  if (!any_) return 0.0;
  const In<double> at(q, model_->nq());
  double decay = 0.0;
  for (int k = 0; k < iterations; ++k) {
    motion.expand(x_.data(), qd_.data());
    double power = 0.0, most = -1.0;
    int rate = -1;
    for (std::size_t i = 0; i < qd_.size(); ++i) {
      const double own = damping_[i] * qd_[i] * qd_[i];
      power += own;
      if (own > most) most = own, rate = static_cast<int>(i);
      qd_[i] *= damping_[i];
    }
    joint_ = static_cast<int>(&model_->joint_of_rate(rate) - model_->joints().data());
    motion.reduce(qd_.data(), tau_.data());
    still_->evaluate(at, zero_, tau_, y_);
    if (!model_->bodies_with_equations().empty()) {  // springs inside of joints push at rest, too
      still_->evaluate(at, zero_, zero_, tau_);
      for (std::size_t i = 0; i < y_.size(); ++i) y_[i] -= tau_[i];
    }
    // y = A x with A = M^-1 G^T D G; grown over power is a quotient in the metric of D.
    motion.expand(y_.data(), qd_.data());
    double grown = 0.0, size = 0.0;
    for (std::size_t i = 0; i < qd_.size(); ++i) grown += damping_[i] * qd_[i] * qd_[i];
    if (!(power > 0.0) || !std::isfinite(grown)) return decay;
    decay = std::sqrt(grown / power);
    for (const double y : y_) size = std::max(size, std::abs(y));
    if (!(size > 0.0)) return 0.0;
    for (std::size_t i = 0; i < y_.size(); ++i) x_[i] = y_[i] / size;
  }
  return decay;
}

ForwardDynamics<double>& JointDamping::implicit(int which, double h) {
  std::unique_ptr<ForwardDynamics<double>>& dynamics = implicit_[which];
  // The rounding of step times is no other step.
  if (dynamics == nullptr || std::abs(h - step_[which]) > 1e-6 * h) {
    std::vector<double> added(damping_);
    for (double& x : added) x *= h;
    dynamics = make_(with_armature(*model_, added));
    step_[which] = h;
  }
  dynamics->set_gravity(gravity_);
  return *dynamics;
}

void JointDamping::set_gravity(const Vec3<double>& gravity) { gravity_ = gravity; }

namespace {

/// dv/dt = -z v, nothing moves.
class Decay final : public EquationsOfMotion {
 public:
  Decay(const Model& model, double z) : nv_(model.nv()), spanning_(model.spanning_nv()), z_(z) {}
  void evaluate(double, const double*, const double* v, double* qd, double* vdot) override {
    std::fill(qd, qd + spanning_, 0.0);
    for (int i = 0; i < nv_; ++i) vdot[i] = -z_ * v[i];
  }
  void expand(const double*, double* qd) override { std::fill(qd, qd + spanning_, 0.0); }
  void settle(double, double*) override {}

 private:
  int nv_, spanning_;
  double z_;
};

}  // namespace

double stability_limit(Integrator& integrator) {
  const Model& model = integrator.model();
  if (model.nv() == 0) return std::numeric_limits<double>::infinity();
  std::vector<double> q(model.nq()), v(model.nv());
  const auto grows = [&](double z) {
    model.neutral(q.data());
    std::fill(v.begin(), v.end(), 1.0);
    Decay decay(model, z);
    integrator.step(decay, 0.0, 1.0, q.data(), v.data());
    return !(std::abs(v[0]) <= 1.0);
  };
  constexpr double largest = 50.0;
  if (!grows(largest)) return std::numeric_limits<double>::infinity();
  double stable = 0.0, unstable = largest;
  while (unstable - stable > 1e-3) {
    const double middle = 0.5 * (stable + unstable);
    (grows(middle) ? unstable : stable) = middle;
  }
  return stable;
}

}  // namespace espalier
