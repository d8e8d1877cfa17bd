#pragma once

#include <algorithm>
#include <vector>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/spatial/inertia.hpp"

namespace espalier {

/// Inertias and forces of a cluster over its describing accelerations, those of all supporting
/// bodies and the independent rates: y = (da_o1, ..., da_on, ydd), of which each body moves by
/// da_b = Z_b y (theory/template 2, instance C).  Frame: world axes at body origins.  Source:
/// theory/clusters 5.4.
template <class T>
class MultiSupportSystem {
 public:
  explicit MultiSupportSystem(const Cluster& c)
      : c_(&c),
        supports_(static_cast<int>(c.supports.size())),
        size_(6 * supports_ + c.nv),
        Z_(static_cast<std::size_t>(c.count) * size_),
        M_(static_cast<std::size_t>(size_) * size_),
        b_(size_),
        F_(size_) {
    own_.reserve(static_cast<std::size_t>(size_) * 12);
  }

  void start(const T* tau) {
    std::fill(M_.begin(), M_.end(), T(0.0));
    std::fill(b_.begin(), b_.end(), T(0.0));
    for (int j = 0; j < c_->nv; ++j) b_[6 * supports_ + j] = tau[c_->v + j];
  }

  /// Bodies in order. @param r  from the parent's origin to the body's
  template <class Column, class Armature>
  void add_body(int i, int parent, const Vec3<T>& r, const ArticulatedInertia<T>& IA,
                const Force<T>& pA, const T* G, const Body& body, Column&& S, Armature&& armature) {
    Motion<T>* Z = Z_.data() + static_cast<std::size_t>(i - c_->first) * size_;
    if (parent >= c_->first) {
      const Motion<T>* P = Z_.data() + static_cast<std::size_t>(parent - c_->first) * size_;
      for (int k = 0; k < size_; ++k) Z[k] = {P[k].w, P[k].v + cross(P[k].w, r)};
    } else {
      std::fill(Z, Z + size_, Motion<T>::zero());
      const auto at = std::find(c_->supports.begin(), c_->supports.end(), parent);
      Motion<T>* block = Z + 6 * (at - c_->supports.begin());
      for (int k = 0; k < 6; ++k) {
        block[k][k] = T(1.0);
        block[k].v += cross(block[k].w, r);
      }
    }
    for (int k = 0; k < body.nv; ++k) {
      const int row = body.v - c_->spanning_v + k;
      for (int j = 0; j < c_->nv; ++j) {
        Z[6 * supports_ + j] += scale(G[row * c_->nv + j], S(k));
      }
      if (armature(k) != 0.0) add_spin(T(armature(k)), G + row * c_->nv);
    }
    for (int k = 0; k < size_; ++k) {
      const Force<T> F = IA * Z[k];
      for (int l = 0; l <= k; ++l) M_[k * size_ + l] += dot(Z[l], F);
      b_[k] -= dot(Z[k], pA);
    }
  }

  /// What the joint of a body says besides, after the body. @param M, f  of (parent's twist,
  /// rates),
  ///   both triangles and at the accelerations of y = 0, world axes at the parent's origin
  void add_equations(const Body& body, int parent, const T* M, const T* f, const T* G) {
    const int own = 6 + body.nv;
    own_.assign(static_cast<std::size_t>(size_) * own, T(0.0));  // of Z, by columns
    for (int k = 0; k < size_; ++k) {
      T* z = own_.data() + k * own;
      if (parent >= c_->first) {
        const Motion<T>& P = Z_[static_cast<std::size_t>(parent - c_->first) * size_ + k];
        for (int r = 0; r < 6; ++r) z[r] = P[r];
      } else if (k < 6 * supports_ && c_->supports[k / 6] == parent) {
        z[k % 6] = T(1.0);
      }
      if (k < 6 * supports_) continue;
      for (int r = 0; r < body.nv; ++r) {
        z[6 + r] = G[(body.v - c_->spanning_v + r) * c_->nv + k - 6 * supports_];
      }
    }
    for (int k = 0; k < size_; ++k) {
      const T* z = own_.data() + k * own;
      for (int r = 0; r < own; ++r) {
        T F = T(0.0);
        for (int s = 0; s < own; ++s) F += M[r * own + s] * z[s];
        for (int l = 0; l <= k; ++l) M_[k * size_ + l] += own_[l * own + r] * F;
        b_[k] -= z[r] * f[r];
      }
    }
  }

  /// After all bodies. @param k, tau  its axis momentum and what its rate takes at vdot = 0
  void add_rotor(const Rotor& rotor, const Vec3<T>& k, const T& tau, const T* rho) {
    add_spin(T(rotor.inertia), rho);
    // Its parent's angular acceleration is a row in y.
    for (int l = 0; l < size_; ++l) {
      T along = T(0.0);
      if (rotor.parent >= c_->first) {
        along = dot(k, Z_[static_cast<std::size_t>(rotor.parent - c_->first) * size_ + l].w);
      } else {
        const auto at = std::find(c_->supports.begin(), c_->supports.end(), rotor.parent);
        const long start = 6 * (at - c_->supports.begin());
        if (l >= start && l < start + 3) along = k[static_cast<int>(l - start)];
      }
      for (int j = 0; j < c_->nv; ++j) {
        const int row = 6 * supports_ + j;
        const T term = rho[j] * along;
        if (l < row) M_[row * size_ + l] += term;
        if (l > row) M_[l * size_ + row] += term;
        if (l == row) M_[row * size_ + l] += term + term;
      }
    }
    for (int j = 0; j < c_->nv; ++j) b_[6 * supports_ + j] -= rho[j] * tau;
  }

  /// Inertia on independent rate number j.
  void add_armature(int j, const T& inertia) {
    M_[(6 * supports_ + j) * size_ + 6 * supports_ + j] += inertia;
  }

  /// Adds Z_b^T I_bb' Z_b' and its transpose for every pair of supporting bodies that a child has
  /// here.
  void add_cross_blocks(const MultiSupportSystem& child) {
    for (int p = 0; p < child.supports_; ++p) {
      for (int s = 0; s < p; ++s) {
        const Motion<T>* Zp =
            Z_.data() + static_cast<std::size_t>(child.c_->supports[p] - c_->first) * size_;
        const Motion<T>* Zs =
            Z_.data() + static_cast<std::size_t>(child.c_->supports[s] - c_->first) * size_;
        for (int k = 0; k < size_; ++k) {
          Force<T> F = Force<T>::zero();  // I_ps Z_s, column k
          for (int i = 0; i < 6; ++i) {
            for (int j = 0; j < 6; ++j) {
              F[i] += child.M_[(6 * p + i) * child.size_ + 6 * s + j] * Zs[k][j];
            }
          }
          F_[k] = F;
        }
        for (int k = 0; k < size_; ++k) {
          for (int l = 0; l < size_; ++l) {
            const T term = dot(Zp[l], F_[k]);  // entry (l, k), and (k, l) of the transpose
            if (l >= k) M_[l * size_ + k] += term;
            if (k >= l) M_[k * size_ + l] += term;
          }
        }
      }
    }
  }

 protected:
  const Cluster* c_;
  int supports_, size_;
  std::vector<Motion<T>> Z_;  ///< per body of the cluster: 6 x size, by columns
  std::vector<T> M_;          ///< lower triangle
  std::vector<T> b_;

 private:
  void add_spin(const T& inertia, const T* rho) {
    for (int j = 0; j < c_->nv; ++j) {
      for (int l = 0; l <= j; ++l) {
        M_[(6 * supports_ + j) * size_ + 6 * supports_ + l] += inertia * rho[j] * rho[l];
      }
    }
  }

  std::vector<Force<T>> F_;
  std::vector<T> own_;
};

}  // namespace espalier
