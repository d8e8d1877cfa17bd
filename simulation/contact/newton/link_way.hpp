#pragma once

#include <algorithm>
#include <vector>

#include "simulation/contact/newton/mode_blocks.hpp"
#include "simulation/contact/newton/row_way.hpp"

namespace espalier::contact {

/// Ways that fold all rows of a link into its twist: N += K^T W K and f += K^T y, 6 numbers a link
/// however many points it touches with. What links and joints do under them is the way's own.
/// Source: theory/contact 4.4.
template <class T>
class LinkWay : public RowWay<T> {
 public:
  void solve(const T* Q, const T* D, T* x) override {
    const int contacts = static_cast<int>(rows_->points.size());
    blocks_.invert(contacts, plan_.scalar_rows(), rows_->compliance.data(), Q, D, x);
    std::fill(N_.begin(), N_.end(), T(0.0));
    std::fill(f_.begin(), f_.end(), T(0.0));
    for (int c = 0; c < contacts; ++c) fold_contact(c, x + 3 * c);
    const T* joint = x + 3 * contacts;
    const T* held = joint + joints_;
    for (int k = 0; k < held_; ++k) fold_held(k, held[k]);
    solve_links(joint);
    for (int c = 0; c < contacts; ++c) {
      T rates[3] = {T(0.0), T(0.0), T(0.0)};
      each_link(c, [&](int site, const T* K) { add_rates(K, z(site), rates); });
      unfold_rates(blocks_.W(c), rates, x + 3 * c);
    }
    for (int k = 0; k < joints_; ++k) x[3 * contacts + k] -= blocks_.w(k) * joint_rate_[k];
    for (int k = 0; k < held_; ++k) {
      const T* K = held_row(k);
      T rate(0.0);
      for (int j = 0; j < 6; ++j) rate += K[j] * z(plan_.held()[k].site)[j];
      x[3 * contacts + joints_ + k] -= blocks_.w(joints_ + k) * rate;
    }
  }

 protected:
  using RowWay<T>::rows_;

  explicit LinkWay(const Plan& plan)
      : plan_(plan),
        sites_(static_cast<int>(plan.sites().size())),
        joints_(plan.joint_rows()),
        held_(static_cast<int>(plan.held().size())),
        block_(static_cast<std::size_t>(sites_) * sites_, -1) {
    int blocks = 0;
    for (int a = 0; a < sites_; ++a) block_[a * sites_ + a] = blocks++;
    for (const Plan::Pair& pair : plan.pairs()) {
      const int a = plan.solids()[pair.a].site, b = plan.solids()[pair.b].site;
      if (a < 0 || b < 0 || block_[a * sites_ + b] >= 0) continue;
      block_[a * sites_ + b] = blocks++;
      block_[b * sites_ + a] = blocks++;
    }
    N_.resize(36 * static_cast<std::size_t>(blocks));
    f_.resize(6 * static_cast<std::size_t>(sites_)), z_.resize(f_.size());
    joint_rate_.resize(joints_);
    blocks_.reserve(plan.usual_contacts(), plan.scalar_rows());
  }

  /// z_ and joint_rate_ of (M + sum of N and of the joints' rows) z = f + sum of their impulses.
  /// @param impulse  of joints' rows
  virtual void solve_links(const T* impulse) = 0;

  /// Number of the block that ties two links, among those of N_; -1: nothing does.
  int block(int a, int b) const { return block_[a * sites_ + b]; }
  const T* N(int block) const { return N_.data() + 36 * static_cast<std::size_t>(block); }
  const T* f(int site) const { return f_.data() + 6 * static_cast<std::size_t>(site); }
  T* z(int site) { return z_.data() + 6 * static_cast<std::size_t>(site); }

  const Plan& plan_;
  int sites_, joints_, held_;
  ModeBlocks<T> blocks_;
  std::vector<T> joint_rate_;

 private:
  /// f(site, rows on its twist) for the one or two links of a contact.
  template <class F>
  void each_link(int c, F&& f) const {
    const Plan::Pair& pair = plan_.pairs()[plan_.pair_of(rows_->points[c])];
    const T* K =
        rows_->contact.data() + static_cast<std::size_t>(plan_.links_of_contact()) * 18 * c;
    for (const int solid : {pair.a, pair.b}) {
      if (plan_.solids()[solid].site < 0) continue;
      f(plan_.solids()[solid].site, K);
      K += 18;
    }
  }
  void fold_contact(int c, const T* y) {
    each_link(c, [&](int a, const T* K) {
      each_link(c, [&](int b, const T* other) {
        fold_rows(K, other, blocks_.W(c), N_.data() + 36 * static_cast<std::size_t>(block(a, b)));
      });
      fold_impulse(K, y, f_.data() + 6 * static_cast<std::size_t>(a));
    });
  }
  const T* held_row(int k) const { return rows_->held.data() + 6 * static_cast<std::size_t>(k); }
  void fold_held(int k, const T& y) {
    const T* K = held_row(k);
    const int site = plan_.held()[k].site;
    T* N = N_.data() + 36 * static_cast<std::size_t>(block(site, site));
    for (int i = 0; i < 6; ++i) {
      const T x = blocks_.w(joints_ + k) * K[i];
      for (int j = 0; j < 6; ++j) N[6 * i + j] += x * K[j];
      f_[6 * static_cast<std::size_t>(site) + i] += K[i] * y;
    }
  }

  std::vector<int> block_;
  std::vector<T> N_, f_, z_;
};

}  // namespace espalier::contact
