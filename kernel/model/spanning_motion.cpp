#include "espalier/kernel/model/spanning_motion.hpp"

#include <algorithm>

#include "espalier/kernel/model/constraint_code.hpp"
#include "espalier/kernel/pack_code.hpp"

namespace espalier {

template <class T>
SpanningMotion<T>::SpanningMotion(const Model& model, Rotors rotors)
    : joints(model),
      model_(model),
      all_(rotors == Rotors::place),
      tree_(model.is_tree()),
      variable_(false),
      G_(model.G_size()),
      qd_(tree_ ? 0 : model.spanning_nv()) {
  std::size_t largest = 0;
  for (const Cluster& c : model.clusters()) {
    clusters_.push_back(&c);
    if (!c.constrained) continue;
    for (std::size_t i = 0; i < c.G.size(); ++i) G_[c.G_start + i] = T(c.G[i]);
    if (c.constraint == nullptr) continue;
    variable_ = true;
    work_.emplace_back();
    c.constraint->allocate(model, c, work_.back());
    largest = std::max(largest, static_cast<std::size_t>(c.rows()));
  }
  local_.resize(largest);
  if (variable_) g_.assign(model.spanning_nv(), T(0.0));
}

template <class T>
void SpanningMotion<T>::leave_out(std::vector<bool> runs, const std::vector<bool>& clusters) {
  left_out_ = std::move(runs);
  std::erase_if(clusters_, [&](const Cluster* c) { return clusters[c - model_.clusters().data()]; });
}

template <class T>
void SpanningMotion<T>::expand(const T* x, T* out) const {
  for (const Cluster* c : clusters_) {
    if constexpr (is_pack<T>) {
      model_.pack_code().expand(*c, G(*c), x, out);
    } else {
      detail::expand(*c, G(*c), x, out);
    }
  }
}

template <class T>
void SpanningMotion<T>::reduce(const T* x, T* out) const {
  for (const Cluster* c : clusters_) {
    if constexpr (is_pack<T>) {
      model_.pack_code().reduce(*c, G(*c), x, out);
    } else {
      detail::reduce(*c, G(*c), x, out);
    }
  }
}

template <class T>
void SpanningMotion<T>::update(const T* q, const T* v) {
  moving_ = v != nullptr;
  const std::span<const BodyRun> runs = all_ ? model_.runs() : model_.active_runs();
  const auto kinematics = [&](const BodyRun& run, const T* qd) {
    const std::size_t index = &run - model_.runs().data();
    if (index >= left_out_.size() || !left_out_[index]) joints.update(run, q, qd);
  };
  if (tree_) {
    qd_now_ = v;
    for (const BodyRun& run : runs) kinematics(run, v);
    return;
  }
  qd_now_ = moving_ ? qd_.data() : nullptr;
  if (!variable_) {
    if (moving_) expand(v, qd_.data());
    for (const BodyRun& run : runs) kinematics(run, qd_now_);
    return;
  }

  for (const BodyRun& run : runs) kinematics(run, nullptr);
  SpanningView<T> at{q, qd_.data(), joints.X.data(), joints.S.data(), joints.bias.data()};
  std::size_t next = 0;
  for (const Cluster& c : model_.clusters()) {
    if (c.constraint == nullptr) continue;
    ConstraintWorkspace<T>& w = work_[next++];
    c.constraint->jacobian(model_, c, at, w);
    c.constraint->eliminate(w, G_.data() + c.G_start);
  }
  if (!moving_) return;
  expand(v, qd_.data());
  for (const BodyRun& run : runs) {  // their bias needs the rates
    if (run.subspace == SubspaceKind::dense) kinematics(run, qd_.data());
  }
  next = 0;
  for (const Cluster& c : model_.clusters()) {
    if (c.constraint == nullptr) continue;
    ConstraintWorkspace<T>& w = work_[next++];
    c.constraint->bias(model_, c, at, w);
    c.constraint->eliminate_bias(w, local_.data());
    for (int i = 0; i < c.rows(); ++i) g_[c.rate(i)] = local_[i];
  }
}

template <class T>
void SpanningMotion<T>::place_rotors(const T* q) {
  for (const BodyRun& run : model_.runs().subspan(model_.active_runs().size())) {
    joints.update(run, q, nullptr);
  }
}

#define ESPALIER_INSTANTIATE(T) template class SpanningMotion<T>;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
