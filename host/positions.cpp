#include "espalier/host/positions.hpp"

namespace espalier {

std::vector<double> neutral_position(const Model& model) {
  std::vector<double> q(model.nq());
  model.neutral(q.data());
  return q;
}

std::vector<double> random_position(const Model& model, unsigned long long seed) {
  std::vector<double> q(model.nq());
  model.random(seed, q.data());
  return q;
}

Closure close(const Model& model, In<double> start, Out<double> q, const CloseOptions& options) {
  expect_size("close", "start", start.size(), model.nq());
  expect_size("close", "q", q.size(), model.nq());
  return close(model, start.data(), q.data(), options);
}

Closure project(const Model& model, Out<double> q, const CloseOptions& options) {
  expect_size("project", "q", q.size(), model.nq());
  return project(model, q.data(), options);
}

Closure assemble(const Model& model, Out<double> q, const CloseOptions& options) {
  expect_size("assemble", "q", q.size(), model.nq());
  return assemble(model, q.data(), options);
}

Closure examine(const Model& model, In<double> q, const CloseOptions& options) {
  expect_size("examine", "q", q.size(), model.nq());
  return examine(model, q.data(), options);
}

}  // namespace espalier
