#include "espalier/simulation/contact/contact_batch.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/simulation/contact/contact_batch_impl.hpp"
#include "espalier/simulation/contact/link_masses.hpp"

namespace espalier::contact {

using text::number;

std::string_view to_string(RobotStatus status) {
  switch (status) {
    case RobotStatus::ok:
      return "ok";
    case RobotStatus::contact_unsolved:
      return "contact_unsolved";
    case RobotStatus::too_deep:
      return "too_deep";
    case RobotStatus::loop_open:
      return "loop_open";
    case RobotStatus::not_finite:
      return "not_finite";
  }
  return "unknown";
}

ContactBatch::ContactBatch(const Registry& registry, const ModelPtr& model, const World& world,
                           const ContactBatchOptions& options)
    : impl_(std::make_unique<Impl>(registry, model, world, options)) {}
ContactBatch::~ContactBatch() = default;

const Plan& ContactBatch::plan() const { return *impl_->plan_; }

void ContactBatch::start(int N, In<double> q, In<double> v, double t) { impl_->start(N, q, v, t); }
void ContactBatch::reset(int robot, In<double> q, In<double> v) { impl_->reset(robot, q, v); }

void ContactBatch::set_gravity(const Vec3<double>& gravity) {
  for (const auto& w : impl_->workers_) w->step->set_step_gravity(gravity);
}

void ContactBatch::set_friction(In<double> factors) {
  expect_size("contact batch", "friction factors", factors.size(), impl_->N_);
  for (long k = 0; k < factors.size(); ++k) {
    if (!(factors[k] >= 0.0) || !std::isfinite(factors[k])) {
      throw InvalidModel("contact batch: friction factor of robot " + std::to_string(k) + " is " +
                         number(factors[k]) + ", expected a number not below zero");
    }
  }
  impl_->friction_.assign(factors.data(), factors.data() + factors.size());
}

void ContactBatch::set_masses(std::span<const std::string> links, In<double> factors) {
  impl_->set_masses(links, factors);
}

void ContactBatch::Impl::set_masses(std::span<const std::string> links, In<double> factors) {
  expect_size("contact batch", "mass factors", factors.size(),
              static_cast<long>(links.size()) * N_);
  for (long i = 0; i < factors.size(); ++i) {
    if (factors[i] > 0.0 && std::isfinite(factors[i])) continue;
    throw InvalidModel("contact batch: mass factor of link " + text::quoted(links[i / N_]) +
                       " of robot " + std::to_string(i % N_) + " is " + number(factors[i]) +
                       ", expected a positive number");
  }
  if (!std::equal(links.begin(), links.end(), heavier_.begin(), heavier_.end())) {
    const auto pieces = links.empty() ? nullptr : std::make_shared<LinkMasses>(*plan_, links);
    heavier_.assign(links.begin(), links.end());
    masses_.assign(links.size(), N_);
    for (const auto& w : workers_) {
      w->step->set_masses(pieces);
      for (StepState<Pack>& s : w->packs) s.masses.assign(links.size(), Pack(1.0));
    }
  }
  for (long i = 0; i < factors.size(); ++i) {
    masses_.set(i / N_, static_cast<int>(i % N_), factors[i]);
  }
}

void ContactBatch::set_ground(In<double> offsets) { impl_->set_ground(offsets); }

void ContactBatch::Impl::set_ground(In<double> offsets) {
  const bool heights = offsets.size() == N_;
  if (!heights && offsets.size() != 3L * N_) {
    throw SizeMismatch("contact batch: size of ground offsets is " +
                       std::to_string(offsets.size()) + ", expected " + std::to_string(N_) +
                       " heights or " + std::to_string(3L * N_) + " offsets along x, y and z");
  }
  for (long i = 0; i < offsets.size(); ++i) {
    if (std::isfinite(offsets[i])) continue;
    throw InvalidModel("contact batch: ground offset of robot " + std::to_string(i % N_) + " is " +
                       number(offsets[i]) + ", expected a finite number");
  }
  ground_.assign(3, N_);
  for (long i = 0; i < offsets.size(); ++i) {
    ground_.set(heights ? 2 : i / N_, static_cast<int>(i % N_), offsets[i]);
  }
}

void ContactBatch::set_targets(In<double> positions, In<double> rates, In<double> torques) {
  const long N = impl_->N_, size = static_cast<long>(plan().drives().size()) * N;
  const In<double>* all[3] = {&positions, &rates, &torques};
  const char* names[3] = {"target positions", "target rates", "target torques"};
  for (int i = 0; i < 3; ++i) {
    if (all[i]->size() == 0) continue;
    expect_size("contact batch", names[i], all[i]->size(), size);
    for (long k = 0; k < size; ++k) {
      impl_->target_.set(3 * (k / N) + i, static_cast<int>(k % N), (*all[i])[k]);
    }
  }
}

void ContactBatch::set_forces(In<double> tau) {
  const long N = impl_->N_, size = static_cast<long>(impl_->tau_.numbers()) * N;
  impl_->pushed_ = true;
  expect_size("contact batch", "tau", tau.size(), size);
  for (long k = 0; k < size; ++k) impl_->tau_.set(k / N, static_cast<int>(k % N), tau[k]);
}

void ContactBatch::step(double h) { impl_->step(h); }

ContactBatchSample ContactBatch::sample() const {
  impl_->write_state();
  return {impl_->t_, impl_->N_, impl_->q_rows_, impl_->v_rows_};
}
std::span<const double> ContactBatch::forces() const {
  impl_->write_forces();
  return impl_->force_rows_;
}
std::span<const double> ContactBatch::residuals() const { return impl_->residual_; }
std::span<const RobotStatus> ContactBatch::status() const { return impl_->status_; }

double ContactBatch::rounds() const {
  double sum = 0.0;
  for (const auto& w : impl_->workers_) sum += w->rounds;
  return sum;
}

std::size_t ContactBatch::saved_size() const {
  return model().nq() + model().nv() + plan().memory_size() +
         impl_->workers_.front()->loop_memory.size() + impl_->workers_.front()->margins.size() + 1;
}

void ContactBatch::save(int robot, std::span<double> out) const {
  expect_size("contact batch", "saved robot", static_cast<long>(out.size()),
              static_cast<long>(saved_size()));
  impl_->expect_robot(robot);
  double* to = impl_->q_.read(robot, out.data());
  to = impl_->v_.read(robot, to);
  to = impl_->memory_.read(robot, to);
  to = impl_->loop_memory_.read(robot, to);
  *impl_->margins_.read(robot, to) = impl_->stuck_[robot];
}

void ContactBatch::restore(int robot, In<double> saved) {
  expect_size("contact batch", "saved robot", saved.size(), static_cast<long>(saved_size()));
  impl_->expect_robot(robot);
  const double* from = impl_->q_.write(robot, saved.data());
  from = impl_->v_.write(robot, from);
  from = impl_->memory_.write(robot, from);
  from = impl_->loop_memory_.write(robot, from);
  impl_->stuck_[robot] = *impl_->margins_.write(robot, from) > 0.0;  // NaN is none of loops
  impl_->moved();
}

}  // namespace espalier::contact
