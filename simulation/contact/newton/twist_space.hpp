#pragma once

#include "simulation/contact/newton/elimination.hpp"
#include "simulation/contact/newton/link_way.hpp"

namespace espalier::contact {

/// The Newton system in the twists of the links that touch and the rates of the joints that have
/// rows: with Lam^-1 = J M^-1 J^T of these r coordinates, (1 + Lam^-1 N) z = Lam^-1 f.
/// Cost: O(r^3) a solve and O(r^2 d) a step, d the depth, for any number of points.
/// Source: theory/contact 4.4.
template <class T>
class TwistSpace final : public LinkWay<T> {
  using Base = LinkWay<T>;

 public:
  explicit TwistSpace(const Plan& plan)
      : Base(plan), nv_(plan.model().nv()), r_(6 * sites_ + joints_) {
    for (int k = 0; k < sites_; ++k) groups_.push_back({6 * k, 6, &plan.sites()[k].support});
    for (int k = 0; k < joints_; ++k) {
      groups_.push_back({6 * sites_ + k, 1, &this->plan_.joint_row(k).support});
    }
    Y_.resize(static_cast<std::size_t>(r_) * nv_);
    A_.resize(static_cast<std::size_t>(r_) * r_), x_.resize(r_), right_.resize(r_);
  }

  std::size_t state_size() const override { return static_cast<std::size_t>(r_) * r_; }
  void prepare(StepState<T>& s, const typename Base::Robot& robot) override {
    for (int k = 0; k < sites_; ++k) twist_rows(robot, k, s.factor.data());
    for (int k = 0; k < joints_; ++k) {
      const T* from = s.Y.data() + (3 * s.contacts.size() + k) * static_cast<std::size_t>(nv_);
      T* to = Y(6 * sites_ + k);
      std::copy_n(from, groups_[sites_ + k].support->size(), to);
    }
    s.links.state.resize(static_cast<std::size_t>(r_) * r_);
    for (const Group& a : groups_) {
      for (const Group& b : groups_) {
        multiply(a, b, s.links.state.data());
        if (&a == &b) break;
      }
    }
  }

 protected:
  void solve_links(const T* impulse) override {
    const T* inverse = rows_->state.data();
    for (int k = 0; k < sites_; ++k) std::copy_n(this->f(k), 6, right_.data() + 6 * k);
    std::copy_n(impulse, joints_, right_.data() + 6 * sites_);
    for (int i = 0; i < r_; ++i) {
      const T* row = inverse + static_cast<std::size_t>(i) * r_;
      T* out = A_.data() + static_cast<std::size_t>(i) * r_;
      T sum(0.0);
      for (int j = 0; j < r_; ++j) sum += row[j] * right_[j];
      x_[i] = sum;
      for (int b = 0; b < sites_; ++b) times_blocks(row, b, out + 6 * b);
      for (int k = 0; k < joints_; ++k) {
        out[6 * sites_ + k] = row[6 * sites_ + k] * this->blocks_.w(k);
      }
      out[i] += T(1.0);
    }
    eliminate(r_, A_.data(), 1, x_.data());
    for (int k = 0; k < sites_; ++k) std::copy_n(x_.data() + 6 * k, 6, this->z(k));
    std::copy_n(x_.data() + 6 * sites_, joints_, this->joint_rate_.data());
  }

 private:
  using Base::joints_;
  using Base::rows_;
  using Base::sites_;

  /// Coordinates with one support.
  struct Group {
    int first, count;
    const std::vector<int>* support;
  };

  T* Y(int row) { return Y_.data() + static_cast<std::size_t>(row) * nv_; }

  /// L^-T J^T by rows of a link's twist.
  void twist_rows(const typename Base::Robot& robot, int k, const T* L) {
    const Plan::Site& site = this->plan_.sites()[k];
    for (std::size_t e = 0; e < site.support.size(); ++e) {
      const Motion<T> column =
          site.columns[e] < 0 ? Motion<T>::zero() : robot.rows.links()[site.columns[e]];
      for (int i = 0; i < 6; ++i) Y(6 * k + i)[e] = column[i];
    }
    for (int i = 0; i < 6; i += 3) {
      T* rows = Y(6 * k + i);
      robot.factor.template solve_transposed_on_way<3>(L, site.support.back(), nv_, rows, rows);
    }
  }
  /// Rows of a times rows of b, and the mirror image: both supports are ways from the ground.
  void multiply(const Group& a, const Group& b, T* out) {
    const auto end =
        std::mismatch(a.support->begin(), a.support->end(), b.support->begin(), b.support->end())
            .first;
    const auto count = end - a.support->begin();
    for (int i = a.first; i < a.first + a.count; ++i) {
      T sum[6];
      std::fill_n(sum, 6, T(0.0));
      for (std::ptrdiff_t k = 0; k < count; ++k) {
        const T x = Y(i)[k];
        for (int j = 0; j < b.count; ++j) sum[j] += x * Y(b.first + j)[k];
      }
      for (int j = 0; j < b.count; ++j) {
        out[static_cast<std::size_t>(i) * r_ + b.first + j] = sum[j];
        out[static_cast<std::size_t>(b.first + j) * r_ + i] = sum[j];
      }
    }
  }
  /// A row of Lam^-1 times the column of N that belongs to a link.
  void times_blocks(const T* row, int b, T* out) const {
    std::fill_n(out, 6, T(0.0));
    for (int a = 0; a < sites_; ++a) {
      if (this->block(a, b) < 0) continue;
      const T* N = this->N(this->block(a, b));
      for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) out[j] += row[6 * a + i] * N[6 * i + j];
      }
    }
  }

  int nv_, r_;
  std::vector<Group> groups_;
  std::vector<T> Y_, A_, x_, right_;
};

}  // namespace espalier::contact
