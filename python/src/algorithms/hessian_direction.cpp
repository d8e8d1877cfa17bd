#include <algorithm>

#include "algorithm.hpp"
#include "espalier/kernel/problems/derivatives/hessian_products.hpp"
#include "python/src/values.hpp"

// Hessian products along a direction: Algorithm::solve() has no place for one and takes ones.

namespace espalier::python {

namespace {

template <class Problem>
bool solve_as(Algorithm& algorithm, const Inputs& in, const std::vector<double>& third,
              const typename Problem::Along& along, Results& out) {
  auto* const problem = dynamic_cast<Problem*>(&algorithm);
  if (problem == nullptr) return false;
  if (out.empty()) algorithm.solve(in, out);  // names and shapes
  const std::vector<double> ones(in.v.size(), 1.0);
  const Loads<double> loads{in.wrenches, nullptr, nullptr};
  problem->evaluate(in.q, in.v, third, in.multipliers.empty() ? ones : in.multipliers, along,
                    out[0].values, out[1].values, out[2].values, &loads);
  if (out.size() > 3) {  // robots with loops
    out[3].values[0] = problem->margin();
    out[4].values[0] = problem->is_near_dead_point();
  }
  return true;
}

}  // namespace

bool takes_direction(const Entry& entry) {
  return entry.problem == ForwardDynamicsHessianProduct<double>::problem ||
         entry.problem == InverseDynamicsHessianProduct<double>::problem;
}

void solve_along(Algorithm& algorithm, const Inputs& in, const Direction& along, Results& out) {
  const auto& [q, v, tau, vdot] = along;
  if (solve_as<ForwardDynamicsHessianProduct<double>>(algorithm, in, in.tau, {q, v, tau}, out)) {
    return;
  }
  solve_as<InverseDynamicsHessianProduct<double>>(algorithm, in, in.vdot, {q, v, vdot}, out);
}

/// One role of a direction as an array; zeros of one state where it is left out.
py::array BoundAlgorithm::direction_along(const py::dict& direction, int role) const {
  const py::str name(role_names[role]);
  const long nv = sizes_[1];
  if (!direction.contains(name)) {
    const std::vector<double> zeros(nv, 0.0);
    return array_of(zeros.data(), {nv});
  }
  const std::string what = "direction['" + std::string(role_names[role]) + "']";
  const py::array x = real_array(direction[name], what.c_str(), asker_);
  const auto nd = static_cast<int>(x.ndim());
  if ((nd != 1 && nd != 2) || x.shape(nd - 1) != nv) {
    const std::string n = std::to_string(nv);
    asker_.refuse_shape(what.c_str(), x, "(" + n + ",) or (batch, " + n + "), of rates");
  }
  return x;
}

/// @throws TypeError (Python) for what is no dict by role
void BoundAlgorithm::expect_direction(py::handle object) const {
  const std::vector<std::string> known = argument_names();
  if (!py::isinstance<py::dict>(object)) {
    throw py::type_error(asker_.who + ": direction is no dict, expected one of arrays by " +
                         known[0] + ", " + known[1] + ", " + known[2]);
  }
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(object)) {
    const std::string name = text_of(key, asker_.who, "name in direction");
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw py::type_error(asker_.who + ": name in direction is '" + name + "'" +
                           suggest(name, known));
    }
  }
}

/// Of one state.
void BoundAlgorithm::read_direction(py::handle object) {
  for (const int role : order_) {
    const py::array x = direction_along(py::reinterpret_borrow<py::dict>(object), role);
    direction_[role] = vector_of(x, "direction", sizes_[1], asker_);
  }
}

}  // namespace espalier::python
