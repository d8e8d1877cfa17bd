#include "espalier/kernel/model/compile/clusters/independent_choice.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/compile/variants.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"
#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

IndependentChoice::IndependentChoice(const ClusterConstraint& constraint)
    : rows_(constraint.rows()),
      all_(constraint.columns),
      rank_(static_cast<int>(constraint.dependent.size())) {
  K_.resize(static_cast<std::size_t>(rows_) * all_);
  A_.resize(K_.size());
  beta_.resize(2 * static_cast<std::size_t>(std::max(rows_, 1)));
  right_.resize(std::max(rows_, 1));
  order_.resize(all_);
  rest_.resize(all_);
  columns_.resize(all_ - rank_);
}

/// Householder's QR of the first rank_ columns in `order_`; with pivoting, those are chosen by the
/// largest remainders first. A_ is column-major here: columns are exchanged and reflected whole.
double IndependentChoice::margin(std::span<const int> dependent) {
  if (rank_ == 0) return 1.0;
  if (rows_ < rank_) return 0.0;
  const bool pivoting = dependent.empty();
  std::iota(order_.begin(), order_.end(), 0);
  if (!pivoting) std::copy(dependent.begin(), dependent.end(), order_.begin());
  const int columns = pivoting ? all_ : rank_;
  double square = 0.0;
  for (const double x : K_) square += x * x;
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows_; ++i) A_[j * rows_ + i] = K_[i * all_ + order_[j]];
  }
  double inverse = 0.0;
  for (int j = 0; j < rank_; ++j) {
    const auto remainder = [&](int l) {
      double sum = 0.0;
      for (int i = j; i < rows_; ++i) sum += A_[l * rows_ + i] * A_[l * rows_ + i];
      return sum;
    };
    int largest = j;
    double most = remainder(j);
    for (int l = j + 1; pivoting && l < columns; ++l) {
      const double now = remainder(l);
      if (now > most * (1.0 + 1e-9)) most = now, largest = l;
    }
    if (!(most > 0.0)) return 0.0;
    if (largest != j) {
      std::swap_ranges(A_.begin() + j * rows_, A_.begin() + (j + 1) * rows_,
                       A_.begin() + largest * rows_);
      std::swap(order_[j], order_[largest]);
    }
    double* a = A_.data() + j * rows_;
    const double alpha = a[j] < 0.0 ? std::sqrt(most) : -std::sqrt(most);
    a[j] -= alpha;
    const double beta = 1.0 / (alpha * -a[j]);
    for (int l = j + 1; l < columns; ++l) {
      double* b = A_.data() + l * rows_;
      double s = 0.0;
      for (int i = j; i < rows_; ++i) s += a[i] * b[i];
      s *= beta;
      for (int i = j; i < rows_; ++i) b[i] -= s * a[i];
    }
    beta_[j] = alpha;  // R's diagonal; above it R stands in A_
  }
  for (int j = 0; j < rank_; ++j) {  // column j of R^-1
    for (int i = 0; i <= j; ++i) right_[i] = i == j ? 1.0 : 0.0;
    for (int i = j; i >= 0; --i) {
      for (int l = i + 1; l <= j; ++l) right_[i] -= A_[l * rows_ + i] * right_[l];
      right_[i] /= beta_[i];
      inverse += right_[i] * right_[i];
    }
  }
  const double margin = 1.0 / std::sqrt(inverse * square);
  return std::isfinite(margin) ? margin : 0.0;
}

void IndependentChoice::look(const ClusterConstraint& constraint,
                             const ConstraintWorkspace<double>& at) {
  std::fill(K_.begin(), K_.end(), 0.0);
  for (int i = 0; i < rows_; ++i) {
    constraint.each_in_row(at, i, [&](int column, double x) { K_[i * all_ + column] = x; });
  }
  present_ = margin(constraint.dependent);
  if (constraint.unit_dependents) {  // explicit laws: determined everywhere
    best_ = present_;
    std::copy(constraint.independent.begin(), constraint.independent.end(), columns_.begin());
    return;
  }
  best_ = margin({});
  std::copy(order_.begin() + rank_, order_.end(), columns_.begin());
  std::sort(columns_.begin(), columns_.end());
}

Alternatives::Alternatives(ModelPtr model) : model_(std::move(model)) {}

std::shared_ptr<Alternatives> Alternatives::of(const ModelPtr& model) {
  static std::mutex mutex;
  static std::map<std::weak_ptr<const Model>, std::weak_ptr<Alternatives>,
                  std::owner_less<std::weak_ptr<const Model>>>
      all;
  const std::lock_guard lock(mutex);
  std::erase_if(all, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Alternatives>& known = all[model];
  if (auto there = known.lock()) return there;
  auto made = std::make_shared<Alternatives>(model);
  known = made;
  return made;
}

ModelPtr Alternatives::find(std::span<const int> rates) const {
  const auto same = [&](const ModelPtr& m) {
    return std::equal(rates.begin(), rates.end(), m->independent_rates().begin());
  };
  if (same(model_)) return model_;
  const auto at = std::find_if(known_.begin(), known_.end(), same);
  return at != known_.end() ? *at : nullptr;
}

ModelPtr Alternatives::with(const Model& present, int cluster, std::span<const int> columns) {
  ModelPtr made = with_independent(present, cluster, columns);
  const std::lock_guard lock(mutex_);
  if (ModelPtr there = find(made->independent_rates())) return there;
  known_.push_back(made);
  return made;
}

std::size_t Alternatives::size() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

namespace {

/// Margin of a cluster's independent joints at a position.
double margin_at(const ModelPtr& model, int cluster, const double* q) {
  LoopProjector loops(model);
  loops.residual(q);
  for (int i = 0; i < loops.loop_count(); ++i) {
    if (loops.cluster_of(i) == cluster) return loops.look(i).present();
  }
  return 0.0;
}

}  // namespace

ModelPtr with_joint_independent(const ModelPtr& model, const double* q, std::string_view name) {
  ModelPtr now = model;
  const Joint& joint = model->joint(name);
  const int cluster = model->body(joint.body).cluster;
  const Cluster& c = model->clusters()[cluster];
  if (joint.independent >= 0) return now;
  if (c.constraint == nullptr) {
    throw Unsupported("independent: joint " + text::quoted(name) +
                      " depends on others of cluster " + text::quoted(c.name) +
                      " at constant ratios, expected one of a loop (take those)");
  }
  for (int k = 0; k < joint.nv; ++k) {
    const int wanted = c.row(joint.v + k);
    const std::vector<int> present = now->clusters()[cluster].constraint->independent;
    if (std::find(present.begin(), present.end(), wanted) != present.end()) continue;
    ModelPtr best;
    double margin = CloseOptions{}.least_margin;
    for (std::size_t j = 0; j < present.size(); ++j) {
      const int rate = c.constraint->rate[present[j]];
      if (rate >= joint.v && rate < joint.v + joint.nv) continue;
      std::vector<int> columns = present;
      columns[j] = wanted;
      ModelPtr candidate = with_independent(*now, cluster, columns);
      const double own = margin_at(candidate, cluster, q);
      if (own > margin) margin = own, best = std::move(candidate);
    }
    if (best == nullptr) {
      throw SingularMechanism("independent: joint " + text::quoted(name) + " of cluster " +
                              text::quoted(c.name) +
                              " stands still whatever the others do at this position, expected one "
                              "that moves (take another, or another position)");
    }
    now = std::move(best);
  }
  return now;
}

void rates_in(const Model& to, const double* qd, double* v) {
  for (const int rate : to.independent_rates()) *v++ = qd[rate];
}

}  // namespace espalier
