#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/linear_algebra/small_ldlt.hpp"
#include "algorithms/segments/clusters/multi_support_system.hpp"

namespace espalier {

/// A cluster with several supporting bodies, or one that such clusters hang on, from its system to
/// what its supporting bodies feel and its accelerations. Such clusters are rare: plain dense
/// algebra. Frame: world axes at body origins.  Source: theory/clusters 5.4.
template <class T>
class MultiSupportCluster : public MultiSupportSystem<T> {
 public:
  MultiSupportCluster(const Model& model, const Cluster& c)
      : MultiSupportSystem<T>(c),
        model_(&model),
        W_(static_cast<std::size_t>(6) * supports_ * c.nv),
        D_(static_cast<std::size_t>(c.nv) * c.nv),
        y_(size_) {
    if (!c.constrained) {
      identity_.assign(static_cast<std::size_t>(c.nv) * c.nv, T(0.0));
      for (int j = 0; j < c.nv; ++j) identity_[j * (c.nv + 1)] = T(1.0);
    }
  }

  /// Finds the multi_support clusters that hang on this one.
  void connect(const std::vector<MultiSupportCluster>& all) {
    children_.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Cluster& child = *all[i].c_;
      if (child.parent >= 0 && &model_->clusters()[child.parent] == c_ && all[i].supports_ > 1) {
        children_.push_back(&all[i]);
      }
    }
  }

  /// Cross blocks of the multi_support clusters beyond, then the independent rates are taken out.
  void eliminate() {
    for (const MultiSupportCluster* child : children_) this->add_cross_blocks(*child);
    const int n = c_->nv, o = 6 * supports_;
    for (int j = 0; j < n; ++j) {
      for (int l = 0; l <= j; ++l) D_[j * n + l] = M_[(o + j) * size_ + o + l];
    }
    ldlt(D_.data(), n);
    // Ia = Moo - Moq Mqq^-1 Mqo; the lower triangle of Moo is overwritten by it.
    for (int k = 0; k < o; ++k) {
      T* w = W_.data() + static_cast<std::size_t>(k) * n;  // Mqq^-1 Mqo, column k
      for (int j = 0; j < n; ++j) w[j] = M_[(o + j) * size_ + k];
      ldlt_solve(D_.data(), n, w);
      for (int l = 0; l <= k; ++l) {
        for (int j = 0; j < n; ++j) M_[k * size_ + l] -= w[j] * M_[(o + j) * size_ + l];
      }
      // -pa: what the supports need at da = 0 with the rates free.
      for (int j = 0; j < n; ++j) b_[k] -= w[j] * b_[o + j];
    }
  }

  /// Adds what supporting body number o shows to its inertia and force.
  void propagate_to_parent(int o, ArticulatedInertia<T>& IA, Force<T>& pA) const {
    const auto M = [&](int i, int j) -> const T& {
      return M_[(6 * o + std::max(i, j)) * size_ + 6 * o + std::min(i, j)];
    };
    IA.A += Sym3<T>{M(0, 0), M(0, 1), M(0, 2), M(1, 1), M(1, 2), M(2, 2)};
    IA.C += Sym3<T>{M(3, 3), M(3, 4), M(3, 5), M(4, 4), M(4, 5), M(5, 5)};
    for (int i = 0; i < 3; ++i) IA.B.row[i] += Vec3<T>{M(i, 3), M(i, 4), M(i, 5)};
    for (int i = 0; i < 6; ++i) pA[i] -= b_[6 * o + i];
  }

  /// G of a cluster that nothing ties.
  const T* identity() const { return identity_.data(); }
  /// After eliminate(): the factor of Mqq, and column j of Moq for supporting body number o.
  const T* factor() const { return D_.data(); }
  Force<T> coupling(int o, int j) const {
    Force<T> U;
    for (int i = 0; i < 6; ++i) U[i] = M_[(6 * supports_ + j) * size_ + 6 * o + i];
    return U;
  }

  void set_support(int o, const Motion<T>& da) {
    for (int i = 0; i < 6; ++i) y_[6 * o + i] = da[i];
  }
  /// ydd for the supports' accelerations; acceleration() speaks of the last call.
  void solve(T* ydd) {
    const int n = c_->nv, o = 6 * supports_;
    for (int j = 0; j < n; ++j) ydd[j] = b_[o + j];
    ldlt_solve(D_.data(), n, ydd);
    for (int k = 0; k < o; ++k) {
      for (int j = 0; j < n; ++j) ydd[j] -= W_[static_cast<std::size_t>(k) * n + j] * y_[k];
    }
    for (int j = 0; j < n; ++j) y_[o + j] = ydd[j];
  }
  Motion<T> acceleration(int body) const {
    const Motion<T>* Z = Z_.data() + static_cast<std::size_t>(body - c_->first) * size_;
    Motion<T> a = Motion<T>::zero();
    for (int k = 0; k < size_; ++k) a += scale(y_[k], Z[k]);
    return a;
  }

 private:
  using MultiSupportSystem<T>::c_;
  using MultiSupportSystem<T>::supports_;
  using MultiSupportSystem<T>::size_;
  using MultiSupportSystem<T>::Z_;
  using MultiSupportSystem<T>::M_;  // its first block becomes Ia
  using MultiSupportSystem<T>::b_;

  const Model* model_;
  std::vector<const MultiSupportCluster*> children_;
  std::vector<T> W_;  ///< Mqq^-1 Mqo
  std::vector<T> D_;  ///< factor of Mqq
  std::vector<T> y_;
  std::vector<T> identity_;
};

}  // namespace espalier
