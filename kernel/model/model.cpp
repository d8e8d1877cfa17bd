#include "espalier/kernel/model/layout.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/compile/validation/validate.hpp"
#include "espalier/kernel/model/packs/late_pack_code.hpp"
#include "espalier/kernel/suggest.hpp"
#include "espalier/kernel/uniform.hpp"

namespace espalier {

namespace {

template <class Things>
const typename Things::value_type* find_by_name(const Things& things, const std::vector<int>& order,
                                                std::string_view name) {
  const auto it =
      std::lower_bound(order.begin(), order.end(), name,
                       [&](int i, std::string_view wanted) { return things[i].name < wanted; });
  return it != order.end() && things[*it].name == name ? &things[*it] : nullptr;
}

template <class Things>
[[noreturn]] void unknown(const std::string& robot, const char* what, const Things& things,
                          std::string_view name) {
  std::vector<std::string> names;
  for (const auto& thing : things) names.push_back(thing.name);
  throw UnknownName("robot '" + robot + "': " + what + " '" + std::string(name) +
                    "' is unknown, expected one of " + detail::list_of(names) +
                    did_you_mean(name, names));
}

/// Where random positions of a joint are taken from: inside its limits, at most 6 wide and as near
/// to zero as they allow; a side without limit gives 2.
std::pair<double, double> sampled_range(const Limits& limits) {
  double low = limits.lower.value_or(std::min(-1.0, limits.upper.value_or(1.0) - 2.0));
  double high = limits.upper.value_or(std::max(1.0, low + 2.0));
  if (high - low > 6.0) {
    const double middle = std::clamp(0.0, low + 3.0, high - 3.0);
    low = middle - 3.0, high = middle + 3.0;
  }
  return {low, std::max(low, high)};
}

}  // namespace

const Link* Model::find_link(std::string_view name) const {
  return find_by_name(links_, link_order_, name);
}
const Joint* Model::find_joint(std::string_view name) const {
  return find_by_name(joints_, joint_order_, name);
}
const Link& Model::link(std::string_view name) const {
  if (const Link* link = find_link(name)) return *link;
  unknown(name_, "link", links_, name);
}
const Joint& Model::joint(std::string_view name) const {
  if (const Joint* joint = find_joint(name)) return *joint;
  unknown(name_, "joint", joints_, name);
}

const PlacedFrame& Model::frame(std::string_view name) const {
  for (const PlacedFrame& frame : extras_->frames) {
    if (frame.name == name) return frame;
  }
  unknown(name_, "frame", extras_->frames, name);
}

std::span<const PlacedFrame> Model::frames() const { return extras_->frames; }

const Cluster* Model::first_constrained() const {
  for (const Cluster& cluster : clusters_) {
    if (cluster.constrained) return &cluster;
  }
  return nullptr;
}

bool Model::has_variable_constraints() const {
  return std::any_of(clusters_.begin(), clusters_.end(),
                     [](const Cluster& c) { return c.constraint != nullptr; });
}

std::vector<Coordinate> Model::coordinates() const {
  std::vector<Coordinate> all;
  for (int v = 0; v < nv_;) {
    const Joint& joint = joint_of_rate(independent_rates_[v]);
    const bool whole = joint.independent >= 0;
    const int component = independent_rates_[v] - joint.v, size = whole ? joint.nv : 1;
    all.push_back({joint.name, v, size, component,
                   whole ? joint.name : joint.name + "[" + std::to_string(component) + "]"});
    v += size;
  }
  return all;
}

double Model::mass() const {
  double mass = 0.0;
  for (std::size_t i = 1; i < bodies_.size(); ++i) mass += bodies_[i].inertia.m;
  const std::vector<double> still(spanning_nv_, 0.0);
  for (const int i : bodies_with_equations_) {  // force along x per acceleration along x
    const int size = 6 + bodies_[i].nv;
    std::vector<double> M(size * size), h(size);
    equations(i, neutral_.data(), still.data(), Vec3<double>::zero(), M.data(), h.data());
    mass += M[3 * size + 3];
  }
  return mass;
}

const ModelPtr& detail::expect_model(std::string_view who, const ModelPtr& model) {
  if (model != nullptr) return model;
  throw InvalidModel(std::string(who) +
                     ": model is null, expected a compiled model (see Model::compile)");
}

void Model::neutral(double* q) const { std::copy(neutral_.begin(), neutral_.end(), q); }

template <class T>
void Model::integrate(const T* q, const T* v_spanning, T* q_out) const {
  for (const BodyRun& run : runs_) {
    run.joints->integrate(q + run.q, v_spanning + run.v, q_out + run.q);
  }
}

template <class T>
void Model::difference(const T* q0, const T* q1, T* v_spanning) const {
  for (const BodyRun& run : runs_) {
    run.joints->difference(q0 + run.q, q1 + run.q, v_spanning + run.v);
  }
}

template <class T>
void Model::normalize(T* q) const {
  for (const BodyRun& run : runs_) run.joints->normalize(q + run.q);
}

template <class T>
void Model::equations(int body, const T* q, const T* qd, const Vec3<T>& w_parent, T* M,
                      T* h) const {
  const Body& b = bodies_[body];
  const BodyRun& run = runs_[b.run];
  run.joints->equations(body - run.first, q + b.q, qd + b.v, w_parent, M, h);
}

#define ESPALIER_INSTANTIATE(T)                                     \
  template void Model::integrate<T>(const T*, const T*, T*) const;  \
  template void Model::difference<T>(const T*, const T*, T*) const; \
  template void Model::normalize<T>(T*) const;                      \
  template void Model::equations<T>(int, const T*, const T*, const Vec3<T>&, T*, T*) const;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

void Model::random(unsigned long long seed, double* q) const {
  UniformNumbers uniform(seed);
  std::vector<double> target = neutral_, step(spanning_nv_, 0.0);
  for (const Joint& joint : joints_) {
    if (joint.nq == 1 && joint.nv == 1) {
      const auto [low, high] = sampled_range(joint.limits);
      target[joint.q] = uniform.between(low, high);
    } else {
      for (int k = 0; k < joint.nv; ++k) step[joint.v + k] = uniform();
    }
  }
  // A loop cannot reach everything: its joints go a part of the way from where it closes, and less
  // as long as that ends near a dead point.
  constexpr double enough = 0.02;
  for (double part = 0.3;; part *= 0.5) {
    std::vector<double> start = target, way = step;
    for (const Joint& joint : joints_) {
      if (clusters_[bodies_[joint.body].cluster].constraint == nullptr) continue;
      if (joint.nq == 1 && joint.nv == 1) {
        start[joint.q] = neutral_[joint.q] + part * (target[joint.q] - neutral_[joint.q]);
      } else {
        for (int k = 0; k < joint.nv; ++k) way[joint.v + k] *= part;
      }
    }
    integrate(start.data(), way.data(), q);
    if (!has_variable_constraints()) return apply_couplings(q);
    const Closure closure = close(*this, neutral_.data(), q);
    if (part < 0.01 || (closure.verdict == Closure::Verdict::closed && closure.margin > enough)) {
      return;
    }
  }
}

const PackCode& Model::pack_code() const { return pack_code_->get(); }

void Model::apply_couplings(double* q) const {
  for (const Cluster& c : clusters_) {
    if (c.G.empty()) continue;
    // All joints that a coupling names have one rate, so that positions and rates run in parallel;
    // the cluster's other joints are independent and stay as they are.
    for (int i = 0; i < c.rows(); ++i) {
      const Joint& joint = joint_of_rate(c.rate(i));
      if (joint.independent >= 0) continue;
      double value = c.offset[i];
      for (int j = 0; j < c.nv; ++j) {
        const int rate = independent_rates_[c.v + j];
        const Joint& leader = joint_of_rate(rate);
        if (leader.nq == leader.nv) value += c.G[i * c.nv + j] * q[leader.q + rate - leader.v];
      }
      q[joint.q] = value;
    }
  }
}

}  // namespace espalier
