#include "espalier/kernel/model/state.hpp"

#include <algorithm>
#include <string>

#include "espalier/kernel/errors.hpp"

namespace espalier {

State::State(ModelPtr model) : model_(std::move(model)), q_(model_->nq()), v_(model_->nv(), 0.0) {
  model_->neutral(q_.data());
}

std::span<const double> State::position(std::string_view joint) const {
  const Joint& j = model_->joint(joint);
  return std::span(q_).subspan(j.q, j.nq);
}

std::span<const double> State::rate(std::string_view joint) const {
  const Joint& j = independent(joint, "rate");
  return std::span(v_).subspan(j.independent, j.nv);
}

void State::set_position(std::string_view joint, In<double> values) {
  const Joint& j = model_->joint(joint);
  const Cluster& cluster = model_->clusters()[model_->body(j.body).cluster];
  // Where G depends on the position, all positions are stored and close() solves for some.
  if (cluster.constraint == nullptr) independent(joint, "position");
  expect_size("state", ("position of joint '" + j.name + "'").c_str(), values.size(), j.nq);
  std::copy_n(values.data(), j.nq, q_.data() + j.q);
  model_->normalize(q_.data());
  model_->apply_couplings(q_.data());
}

void State::set_rate(std::string_view joint, In<double> values) {
  const Joint& j = independent(joint, "rate");
  expect_size("state", ("rate of joint '" + j.name + "'").c_str(), values.size(), j.nv);
  std::copy_n(values.data(), j.nv, v_.data() + j.independent);
}

const Joint& State::independent(std::string_view joint, const char* what) const {
  const Joint& j = model_->joint(joint);
  if (j.independent >= 0) return j;
  const Cluster& cluster = model_->clusters()[model_->body(j.body).cluster];
  throw Unsupported("state: " + std::string(what) + " of joint '" + j.name +
                    "' is asked for, expected an independent joint (it follows the others of "
                    "cluster '" +
                    cluster.name + "')");
}

}  // namespace espalier
