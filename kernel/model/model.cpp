#include "espalier/kernel/model/model.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/validate.hpp"

namespace espalier {

namespace {

template <class Things>
const typename Things::value_type* find_by_name(const Things& things, const std::vector<int>& order,
                                                std::string_view name) {
  const auto it = std::lower_bound(
      order.begin(), order.end(), name,
      [&](int i, std::string_view wanted) { return things[i].name < wanted; });
  return it != order.end() && things[*it].name == name ? &things[*it] : nullptr;
}

template <class Things>
[[noreturn]] void unknown(const std::string& robot, const char* what, const Things& things,
                          std::string_view name) {
  std::vector<std::string> names;
  for (const auto& thing : things) names.push_back(thing.name);
  throw UnknownName("robot '" + robot + "': " + what + " '" + std::string(name) +
                    "' is unknown, expected one of " + detail::list_of(names));
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

const Cluster* Model::first_constrained() const {
  for (const Cluster& cluster : clusters_) {
    if (cluster.constrained) return &cluster;
  }
  return nullptr;
}

std::vector<Coordinate> Model::coordinates() const {
  std::vector<Coordinate> all;
  for (const Joint& joint : joints_) {
    if (joint.independent >= 0) all.push_back({joint.name, joint.independent, joint.nv});
  }
  std::sort(all.begin(), all.end(),
            [](const Coordinate& a, const Coordinate& b) { return a.start < b.start; });
  return all;
}

double Model::mass() const {
  double mass = 0.0;
  for (std::size_t i = 1; i < bodies_.size(); ++i) mass += bodies_[i].inertia.m;
  return mass;
}

void Model::neutral(double* q) const {
  for (const BodyRun& run : runs_) run.joints->neutral(q + run.q);
  apply_couplings(q);
}

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

#define ESPALIER_INSTANTIATE(T)                                     \
  template void Model::integrate<T>(const T*, const T*, T*) const;  \
  template void Model::difference<T>(const T*, const T*, T*) const; \
  template void Model::normalize<T>(T*) const;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

void Model::random(unsigned long long seed, double* q) const {
  std::mt19937_64 generator(seed);
  // Written out instead of std::uniform_real_distribution, whose values differ between libraries.
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * (static_cast<double>(generator() >> 11) * 0x1.0p-53);
  };
  std::vector<double> start(nq_), step(spanning_nv_, 0.0);
  neutral(start.data());
  for (const Joint& joint : joints_) {
    const Cluster& cluster = clusters_[bodies_[joint.body].cluster];
    if (cluster.implicit) continue;  // stays where its loop is closed
    if (joint.nq == 1 && joint.nv == 1) {
      const auto [low, high] = sampled_range(joint.limits);
      start[joint.q] = uniform(low, high);
    } else {
      for (int k = 0; k < joint.nv; ++k) step[joint.v + k] = uniform(-1.0, 1.0);
    }
  }
  integrate(start.data(), step.data(), q);
  apply_couplings(q);
}

void Model::apply_couplings(double* q) const {
  for (const Cluster& cluster : clusters_) {
    if (cluster.G.empty()) continue;
    // All joints that a coupling names have one rate, so that positions and rates run in parallel;
    // the cluster's other joints are independent and stay as they are.
    std::vector<double> y(cluster.nv, 0.0);
    for (int i = cluster.first; i < cluster.first + cluster.count; ++i) {
      const Joint& joint = joints_[bodies_[i].joint];
      if (joint.independent >= 0 && joint.nq == joint.nv) {
        for (int k = 0; k < joint.nv; ++k) y[joint.independent - cluster.v + k] = q[joint.q + k];
      }
    }
    for (int i = cluster.first; i < cluster.first + cluster.count; ++i) {
      const Joint& joint = joints_[bodies_[i].joint];
      if (joint.independent >= 0) continue;
      const int row = joint.v - cluster.spanning_v;
      double value = cluster.offset[row];
      for (int j = 0; j < cluster.nv; ++j) value += cluster.G[row * cluster.nv + j] * y[j];
      q[joint.q] = value;
    }
  }
}

}  // namespace espalier
