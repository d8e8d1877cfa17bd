#include "espalier/kernel/model/motion/spanning_motion.hpp"

#include <algorithm>
#include <utility>

#include "espalier/kernel/model/loops/loop_elimination.hpp"
#include "espalier/kernel/model/packs/pack_code.hpp"

namespace espalier {

template <class T>
SpanningMotion<T>::SpanningMotion(const Model& model, Rotors rotors)
    : joints(model),
      model_(model),
      all_(rotors == Rotors::place),
      tree_(model.is_tree()),
      G_(model.G_size()),
      qd_(tree_ ? 0 : model.spanning_nv()) {
  for (const Cluster& c : model.clusters()) {
    for (std::size_t i = 0; i < c.G.size(); ++i) G_[c.G_start + i] = T(c.G[i]);
    (c.constraint == nullptr ? constant_ : loops_).push_back(&c);
    if (c.constraint == nullptr || c.constraint->loops.empty()) continue;
    for (int i = c.first; i < c.first + c.count; ++i) {
      waits_ = waits_ || model.runs()[model.body(i).run].subspace == SubspaceKind::dense;
    }
  }
  if constexpr (is_pack<T>) model.pack_code();  // finds it now, not in a call
  constant_.shrink_to_fit(), loops_.shrink_to_fit();
  if (loops_.empty()) return;
  g_.assign(model.spanning_nv(), T(0.0));
  work_.resize(waits_ ? loops_.size() : 1);
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    loops_[i]->constraint->allocate(*loops_[i], work_[waits_ ? i : 0]);
  }
}

template <class T>
void SpanningMotion<T>::leave_out(std::vector<bool> runs, const std::vector<bool>& clusters) {
  left_out_ = std::move(runs);
  // None is the rule for robots without chains, whose calls are short: they do not look.
  const bool some = std::find(left_out_.begin(), left_out_.end(), true) != left_out_.end();
  const std::size_t evaluated = all_ ? model_.runs().size() : model_.active_runs().size();
  idle_ = tree_ && std::find(left_out_.begin(), left_out_.end(), false) == left_out_.end() &&
          left_out_.size() >= evaluated;
  left_out_.resize(some ? model_.runs().size() : 0);
  std::erase_if(constant_,
                [&](const Cluster* c) { return clusters[c - model_.clusters().data()]; });
}

template <class T>
void SpanningMotion<T>::leave_out_G(const std::vector<bool>& clusters) {
  in_blocks_.clear();
  std::vector<const Cluster*> others;
  std::vector<ConstraintWorkspace<T>> other_work;
  block_work_.clear();
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    const Cluster& c = *loops_[i];
    if (clusters[&c - model_.clusters().data()]) {
      in_blocks_.push_back(&c);
      block_work_.emplace_back();
      c.constraint->allocate(c, block_work_.back());
    } else {
      others.push_back(&c);
      if (waits_) other_work.push_back(std::move(work_[i]));
    }
  }
  loops_ = std::move(others);
  if (!in_blocks_.empty()) forces_.resize(model_.spanning_nv());
  if (waits_) work_ = std::move(other_work);
}

template <class T>
const ConstraintWorkspace<T>& SpanningMotion<T>::constraint_work(const Cluster& c) const {
  return block_work_[std::find(in_blocks_.begin(), in_blocks_.end(), &c) - in_blocks_.begin()];
}

template <class T>
void SpanningMotion<T>::expand_rows(std::span<const Cluster* const> clusters, const T* x,
                                    T* out) const {
  if constexpr (is_pack<T>) {
    model_.pack_code().expand(clusters, G_.data(), x, out);
  } else {
    detail::expand(clusters, G_.data(), x, out);
  }
}

namespace {

template <class T>
void expand_each(const Model& model, std::span<const Cluster* const> clusters,
                 std::span<ConstraintWorkspace<T>> work, const T* x, T* out) {
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if constexpr (is_pack<T>) {
      model.pack_code().expand_in_blocks(*clusters[i], work[i], x, out);
    } else {
      detail::expand_in_blocks(*clusters[i], work[i], x, out);
    }
  }
}

}  // namespace

template <class T>
void SpanningMotion<T>::expand(const T* x, T* out) const {
  if (tree_ && constant_.size() == model_.clusters().size()) {  // the same rates, none left out
    std::copy_n(x, model_.nv(), out);
    return;
  }
  expand_rows(constant_, x, out);
  if (!loops_.empty()) expand_rows(loops_, x, out);
  if (!in_blocks_.empty()) expand_each<T>(model_, in_blocks_, block_work_, x, out);
}

template <class T>
void SpanningMotion<T>::reduce(const T* x, T* out) const {
  if (tree_ && constant_.size() == model_.clusters().size()) {  // the same rates, none left out
    std::copy_n(x, model_.nv(), out);
    return;
  }
  const auto reduce_rows = [&](const std::vector<const Cluster*>& clusters) {
    if (clusters.empty()) return;
    if constexpr (is_pack<T>) {
      model_.pack_code().reduce(clusters, G_.data(), x, out);
    } else {
      detail::reduce(std::span<const Cluster* const>(clusters), G_.data(), x, out);
    }
  };
  reduce_rows(constant_);
  reduce_rows(loops_);
  if (!in_blocks_.empty()) reduce_in_blocks(x, out);
}

template <class T>
void SpanningMotion<T>::reduce_in_blocks(const T* x, T* out) const {
  std::copy(x, x + forces_.size(), forces_.begin());
  for (std::size_t i = 0; i < in_blocks_.size(); ++i) {
    if constexpr (is_pack<T>) {
      model_.pack_code().reduce_in_blocks(*in_blocks_[i], block_work_[i], forces_.data(), out);
    } else {
      detail::reduce_in_blocks(*in_blocks_[i], block_work_[i], forces_.data(), out);
    }
  }
}

template <class T>
void SpanningMotion<T>::evaluate(const T* q, const T* v) {
  const std::span<const BodyRun> runs = all_ ? model_.runs() : model_.active_runs();
  if (tree_ && left_out_.empty()) {  // by itself: the loop below takes 30 instructions more
    for (const BodyRun& run : runs) joints.update(run, q, v, turns_);
    return;
  }
  const auto kinematics = [&](const T* qd, auto wanted) {
    auto left_out = left_out_.begin();
    for (const BodyRun& run : runs) {
      const bool left = !left_out_.empty() && *left_out++;
      if (!left && wanted(run)) joints.update(run, q, qd, turns_);
    }
  };
  const auto all = [](const BodyRun&) { return true; };
  if (tree_) return kinematics(v, all);
  qd_now_ = moving_ ? qd_.data() : nullptr;
  if (g_.empty()) {
    if (moving_) expand(v, qd_.data());
    return kinematics(qd_now_, all);
  }

  kinematics(nullptr, all);
  SpanningView<T> at{q, qd_.data(), joints.X.data(), joints.S.data(), joints.bias.data()};
  T* g = waits_ ? nullptr : g_.data();
  eliminate(loops_, work_, at, v, G_.data(), g);
  eliminate(in_blocks_, block_work_, at, v, nullptr, g);
  if (!moving_) return;
  expand_rows(constant_, v, qd_.data());
  kinematics(qd_.data(), [](const BodyRun& run) {  // their bias needs the rates
    return run.subspace == SubspaceKind::dense;
  });
  if (!waits_) return;
  eliminate_biases(loops_, work_, at);
  eliminate_biases(in_blocks_, block_work_, at);
}

template <class T>
void SpanningMotion<T>::eliminate(std::span<const Cluster* const> clusters,
                                  std::span<ConstraintWorkspace<T>> work, const SpanningView<T>& at,
                                  const T* v, T* G, T* g) {
  if (clusters.empty()) return;
  if constexpr (is_pack<T>) {
    model_.pack_code().eliminate_loops(model_, clusters, work, at, v, G, qd_.data(), g);
  } else {
    detail::eliminate_loops<T>(model_, clusters, work, at, v, G, qd_.data(), g);
  }
}
template <class T>
void SpanningMotion<T>::eliminate_biases(std::span<const Cluster* const> clusters,
                                         std::span<ConstraintWorkspace<T>> work,
                                         const SpanningView<T>& at) {
  if (clusters.empty()) return;
  if constexpr (is_pack<T>) {
    model_.pack_code().eliminate_biases(model_, clusters, work, at, g_.data());
  } else {
    detail::eliminate_biases<T>(model_, clusters, work, at, g_.data());
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
