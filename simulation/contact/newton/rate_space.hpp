#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "simulation/contact/newton/mode_blocks.hpp"
#include "simulation/contact/newton/row_way.hpp"

namespace espalier::contact {

/// The Newton system in the independent rates: A z = J^T y with A = Mh + J^T W J, which has the
/// sparsity of Mh, since a row has entries on one way from the ground alone. Slip makes it
/// unsymmetric: A = U D^-1 L from the tips, where rate k carries all that is left below it,
///
///   l_k = A[k, ancestors],  u_k = A[ancestors, k] / A[k, k],  A[ancestors, ancestors] -= u_k l_k.
///
/// Where links may touch each other, a row has entries on two ways, and any two rates may meet in
/// A: each rate then counts all before it among its ancestors.
///
/// Cost: O(m d^2 + n d^2) a solve, d the depth, or n where links touch; a step copies Mh.
/// Source: theory/contact 4.4; Featherstone (2008), section 6.5, for the sparsity.
template <class T>
class RateSpace final : public RowWay<T> {
 public:
  explicit RateSpace(const Plan& plan)
      : plan_(plan), n_(plan.model().nv()), start_(n_), above_(n_), below_(n_), f_(n_), z_(n_) {
    for (int k = 0; k < n_; ++k) {
      above_[k] = plan.ancestors(k);
      if (plan.forks()) {
        above_[k].resize(k);
        std::iota(above_[k].begin(), above_[k].end(), 0);
      }
      start_[k] = static_cast<int>(size_);
      size_ += above_[k].size() + 1;
      for (const int i : above_[k]) below_[i].push_back(k);
    }
    lower_.resize(size_), upper_.resize(size_);
    WJ_.resize(3 * static_cast<std::size_t>(plan.longest_support()));
    blocks_.reserve(plan.usual_contacts(), plan.scalar_rows());
    const Model& model = plan.model();
    for (int k = 0; k < plan.joint_rows(); ++k) {
      const int body = model.joint_of_rate(plan.joint_row(k).rate).body;
      const Cluster& c = model.clusters()[model.body(body).cluster];
      const int above = static_cast<int>(above_[c.v].size());
      joints_.push_back({c.v, c.nv, above, joint_numbers_});
      joint_numbers_ += c.nv;
    }
  }

  std::size_t state_size() const override { return size_; }
  void prepare(StepState<T>& s, const typename RowWay<T>::Robot& robot) override {
    s.links.state.resize(size_);
    std::fill(s.links.state.begin(), s.links.state.end(), T(0.0));
    for (int k = 0; k < n_; ++k) {
      const T* from = robot.mass + static_cast<std::size_t>(k) * n_;
      T* to = s.links.state.data() + start_[k];
      const std::vector<int>& carry = plan_.ancestors(k);
      for (std::size_t a = 0; a < carry.size(); ++a) to[place(carry, a)] = from[carry[a]];
      to[above_[k].size()] = from[k];
    }
  }

  void solve(const T* Q, const T* D, T* x) override {
    const int contacts = static_cast<int>(rows_->points.size());
    blocks_.invert(contacts, plan_.scalar_rows(), rows_->compliance.data(), Q, D, x);
    std::copy(rows_->state.begin(), rows_->state.end(), lower_.begin());
    std::copy(rows_->state.begin(), rows_->state.end(), upper_.begin());
    std::fill(f_.begin(), f_.end(), T(0.0));
    for (int c = 0; c < contacts; ++c) {
      fold<3>(support_of_contact(c), contact_rows(c), blocks_.W(c), x + 3 * c);
    }
    T* scalars = x + 3 * contacts;
    for (std::size_t k = 0; k < joints_.size(); ++k) {
      fold_joint(joints_[k], blocks_.w(static_cast<int>(k)), scalars[k]);
    }
    const int first_held = static_cast<int>(joints_.size());
    for (std::size_t k = 0; k < plan_.held().size(); ++k) {
      const int row = first_held + static_cast<int>(k);
      fold<1>(support_of_held(k), held_row(k), &blocks_.w(row), scalars + row);
    }
    eliminate();
    for (int c = 0; c < contacts; ++c) {
      unfold<3>(support_of_contact(c), contact_rows(c), blocks_.W(c), x + 3 * c);
    }
    for (std::size_t k = 0; k < joints_.size(); ++k) {
      const JointRow& j = joints_[k];
      T rate(0.0);
      for (int l = 0; l < j.count; ++l) rate += rows_->joint[j.numbers + l] * z_[j.first + l];
      scalars[k] -= blocks_.w(static_cast<int>(k)) * rate;
    }
    for (std::size_t k = 0; k < plan_.held().size(); ++k) {
      const int row = first_held + static_cast<int>(k);
      unfold<1>(support_of_held(k), held_row(k), &blocks_.w(row), scalars + row);
    }
  }

 private:
  using RowWay<T>::rows_;

  /// A row of a joint: at which rates, how many carry the first of them, where its numbers are.
  struct JointRow {
    int first, count, above, numbers;
  };

  const std::vector<int>& support_of_contact(int c) const {
    return plan_.pairs()[plan_.pair_of(rows_->points[c])].support;
  }
  const std::vector<int>& support_of_held(std::size_t k) const {
    return plan_.sites()[plan_.held()[k].site].support;
  }
  const T* contact_rows(int c) const {
    return rows_->contact.data() + static_cast<std::size_t>(plan_.numbers_of_contact()) * c;
  }
  const T* held_row(std::size_t k) const {
    return rows_->held.data() + static_cast<std::size_t>(plan_.numbers_of_held()) * k;
  }

  /// Of entry a of a row on ascending rates, in the rows of A of all from there on.
  std::size_t place(const std::vector<int>& rates, std::size_t a) const {
    return plan_.forks() ? rates[a] : a;
  }
  /// A += J^T W J and f += J^T y for p rows J on some rates.
  template <int p>
  void fold(const std::vector<int>& way, const T* J, const T* W, const T* y) {
    const int d = static_cast<int>(way.size()), stride = plan_.longest_support();
    for (int b = 0; b < d; ++b) {
      for (int r = 0; r < p; ++r) {
        T sum = W[p * r] * J[b];
        for (int c = 1; c < p; ++c) sum += W[p * r + c] * J[c * stride + b];
        WJ_[r * stride + b] = sum;
      }
    }
    for (int a = 0; a < d; ++a) {
      T *lower = lower_.data() + start_[way[a]], *upper = upper_.data() + start_[way[a]];
      T left[p], right[p], sum = f_[way[a]];
      for (int r = 0; r < p; ++r) {
        left[r] = J[r * stride + a], right[r] = WJ_[r * stride + a];
        sum += left[r] * y[r];
      }
      f_[way[a]] = sum;
      for (int b = 0; b <= a; ++b) {
        const std::size_t at = place(way, b);
        T low = lower[at], up = upper[at];
        for (int r = 0; r < p; ++r) {
          low += left[r] * WJ_[r * stride + b];
          up += J[r * stride + b] * right[r];
        }
        lower[at] = low, upper[at] = up;
      }
    }
  }
  void fold_joint(const JointRow& j, const T& w, const T& y) {
    const T* J = rows_->joint.data() + j.numbers;
    for (int a = 0; a < j.count; ++a) {
      const T x = w * J[a];
      f_[j.first + a] += J[a] * y;
      for (int b = 0; b <= a; ++b) {
        lower_[start_[j.first + a] + j.above + b] += x * J[b];
        upper_[start_[j.first + a] + j.above + b] += x * J[b];
      }
    }
  }
  /// y -= W J z.
  template <int p>
  void unfold(const std::vector<int>& way, const T* J, const T* W, T* y) const {
    const int stride = plan_.longest_support();
    T rate[p];
    std::fill_n(rate, p, T(0.0));
    for (std::size_t b = 0; b < way.size(); ++b) {
      for (int r = 0; r < p; ++r) rate[r] += J[r * stride + b] * z_[way[b]];
    }
    for (int r = 0; r < p; ++r) {
      for (int c = 0; c < p; ++c) y[r] -= W[p * r + c] * rate[c];
    }
  }

  /// z = A^-1 f.
  void eliminate() {
    for (int i = n_ - 1; i >= 0; --i) {
      const int d = static_cast<int>(above_[i].size());
      int a = 0;
      for (; a + 4 <= d + 1; a += 4) eliminate_columns<4>(i, d, a);
      if (d + 1 - a == 3) eliminate_columns<3>(i, d, a);
      if (d + 1 - a == 2) eliminate_columns<2>(i, d, a);
      if (d + 1 - a == 1) eliminate_columns<1>(i, d, a);
      T sum = f_[i];
      for (const int k : below_[i]) sum -= upper_[start_[k] + d] * f_[k];
      f_[i] = sum;
      T *lower = lower_.data() + start_[i], *upper = upper_.data() + start_[i];
      lower[d] = reciprocal(lower[d]);
      for (int b = 0; b < d; ++b) upper[b] *= lower[d];
    }
    for (int i = 0; i < n_; ++i) {
      const std::vector<int>& above = above_[i];
      const T* lower = lower_.data() + start_[i];
      T sum = f_[i];
      for (std::size_t b = 0; b < above.size(); ++b) sum -= lower[b] * z_[above[b]];
      z_[i] = sum * lower[above.size()];
    }
  }
  /// Entries [first, first + w) of row and column i once all below it is taken off: sums stay in
  /// registers.
  template <int w>
  void eliminate_columns(int i, int d, int first) {
    T *lower = lower_.data() + start_[i] + first, *upper = upper_.data() + start_[i] + first;
    T low[w], up[w];
    copy_to_registers<w>(lower, low);
    copy_to_registers<w>(upper, up);
    for (const int k : below_[i]) {
      const T *l = lower_.data() + start_[k], *u = upper_.data() + start_[k];
      const T at_l = l[d], at_u = u[d];
      for (int c = 0; c < w; ++c) {
        low[c] -= at_u * l[first + c];
        up[c] -= at_l * u[first + c];
      }
    }
    for (int c = 0; c < w; ++c) lower[c] = low[c], upper[c] = up[c];
  }

  const Plan& plan_;
  int n_, joint_numbers_ = 0;
  std::size_t size_ = 0;
  std::vector<int> start_;  ///< of a rate's numbers: its ancestors, then itself
  std::vector<std::vector<int>> above_, below_;  ///< ancestors of a rate, and all that have it so
  std::vector<JointRow> joints_;
  ModeBlocks<T> blocks_;
  std::vector<T> lower_, upper_, f_, z_, WJ_;
};

}  // namespace espalier::contact
