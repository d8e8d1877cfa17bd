#pragma once

#include "algorithms/bremer/subsystem_terms.hpp"
#include "algorithms/linear_algebra/small_ldlt.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"

namespace espalier {

/// Forward dynamics by Bremer's O(n) method: three recursions over subsystems of any make, whatever
/// tree or cluster tree is inside them.
///   outward  kinematics, and M_i, h_i of each subsystem for itself (SubsystemTerms)
///   inward   M*_p = M_p + sum T_ip^T (M*_i - M*_i F_i M_Ri^-1 F_i^T M*_i) T_ip,
///            h*_p = h_p + sum T*_ip^T (M*_i c_i + h*_i - F_i tau_i)
///            with M_Ri = F_i^T M*_i F_i,  T*_ip = (1 - F_i M_Ri^-1 F_i^T M*_i) T_ip
///   outward  qdd_i = M_Ri^-1 (tau_i - F_i^T (M*_i (T_ip yd_p + c_i) + h*_i)),
///            yd_i = T_ip yd_p + c_i + F_i qdd_i
/// With F_i = [0; 1], M_Ri is the block M*_qq of the rates, and the update is the Schur complement
/// Ia = M*_oo - M*_oq M*_qq^-1 M*_qo. Where the printed equations have dT_ip/dt y_p, c_i is all of
/// what yd_i is at zero accelerations (theory/misprints 10).
/// Frames: those of SubsystemTerms.  Cost: O(n) for subsystems of bounded size.
/// Source: Bremer (2008); Krög et al., equations (8) to (12); theory/template 2.1.
template <class T>
class BremerOn final : public ForwardDynamics<T> {
 public:
  explicit BremerOn(const Setup& setup)
      : ForwardDynamics<T>(setup.model), tree_(setup), terms_(tree_) {
    std::size_t widest = 0, largest = 0;
    for (const SubsystemTree::Node& node : tree_.nodes()) {
      const std::size_t n = node.rates.size();
      D_.emplace_back(n * n);
      z_.emplace_back(n);
      yd_.emplace_back(node.size(), T(0.0));
      largest = std::max(largest, n);
      widest = std::max(widest, n * node.supports.size());
    }
    w_.resize(widest);
    x_.resize(largest);
  }

 private:
  using Node = SubsystemTree::Node;
  using Site = SubsystemTree::Site;

  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    terms_.update(q, v, this->gravity(), wrenches);
    const int count = static_cast<int>(tree_.nodes().size());
    for (int i = count - 1; i >= 0; --i) inward(i, tau);
    for (int i = 0; i < count; ++i) outward(i, vdot);
  }

  /// The rates are taken out; the parent gets what is left. With M_R = L D L^T and w = M*_oq L^-T,
  ///   Ia = M*_oo - sum of w_j w_j^T / D_j,   pa = h*_o + Ia c + sum of w_j x_j / D_j,  x = L^-1 z.
  void inward(int i, const T* tau) {
    const Node& node = tree_.nodes()[i];
    const int n = static_cast<int>(node.rates.size()), o = node.twists(), size = node.size();
    const int supports = static_cast<int>(node.supports.size());
    const T* M = terms_.M(i);  // has become M*_i, and h h*_i
    const T* h = terms_.h(i);
    T* D = D_[i].data();
    T* z = z_[i].data();
    for (int j = 0; j < n; ++j) {
      for (int l = 0; l <= j; ++l) D[j * n + l] = M[(o + j) * size + o + l];
      z[j] = tau[node.rates[j]] - h[o + j];
    }
    ldlt(D, n);
    if (node.parent < 0) return;
    for (int j = 0; j < n; ++j) {
      x_[j] = z[j];
      for (int l = 0; l < j; ++l) x_[j] -= D[j * n + l] * x_[l];
      for (int a = 0; a < supports; ++a) {
        Force<T>& w = w_[a * n + j];
        w = coupling(i, a, j);
        for (int l = 0; l < j; ++l) w -= scale(D[j * n + l], w_[a * n + l]);
      }
    }
    for (int a = 0; a < supports; ++a) {
      const Site& at = tree_.seen_from_parent(node.supports[a]);
      const Force<T>* w = w_.data() + a * n;
      ArticulatedInertia<T> Ia = diagonal_block(M + 6 * a * size + 6 * a, size);
      Force<T> pa;
      for (int r = 0; r < 6; ++r) pa[r] = h[6 * a + r];
      for (int j = 0; j < n; ++j) {
        Ia.subtract_outer(D[j * n + j], w[j]);
        pa += scale(D[j * n + j] * x_[j], w[j]);
      }
      pa += Ia * terms_.xi(at);
      for (int b = 0; b < supports; ++b) {
        if (b != a) pa += propagate_cross(i, a, b);
      }
      terms_.add(node.parent, at, Ia, pa);
    }
  }
  /// The block Ia_ab between two supporting bodies: M*_p += Z_a^T Ia_ab Z_b, lower triangle.
  /// @returns Ia_ab c_b
  Force<T> propagate_cross(int i, int a, int b) {
    const Node& node = tree_.nodes()[i];
    const int n = static_cast<int>(node.rates.size()), size = node.size();
    const T* M = terms_.M(i);
    T Ia[6][6];
    for (int r = 0; r < 6; ++r) {
      for (int c = 0; c < 6; ++c) {
        const int row = 6 * a + r, column = 6 * b + c;
        Ia[r][c] = M[std::max(row, column) * size + std::min(row, column)];
        for (int j = 0; j < n; ++j) {
          Ia[r][c] -= D_[i][j * n + j] * w_[a * n + j][r] * w_[b * n + j][c];
        }
      }
    }
    const auto times = [&](const Motion<T>& m) {
      Force<T> f = Force<T>::zero();
      for (int r = 0; r < 6; ++r) {
        for (int c = 0; c < 6; ++c) f[r] += Ia[r][c] * m[c];
      }
      return f;
    };
    const Site &to = tree_.seen_from_parent(node.supports[a]),
               &from = tree_.seen_from_parent(node.supports[b]);
    T* M_p = terms_.M(node.parent);
    const int size_p = tree_.nodes()[node.parent].size();
    for (int l = 0; l < terms_.columns(from); ++l) {
      const Force<T> F = times(terms_.column(from, l));
      const int column = terms_.index(from, l);
      for (int k = 0; k < terms_.columns(to); ++k) {
        const int row = terms_.index(to, k);
        if (column <= row) M_p[row * size_p + column] += dot(terms_.column(to, k), F);
      }
    }
    return times(terms_.xi(from));
  }
  /// Column of M*_oq for rate j and supporting body a.
  Force<T> coupling(int i, int a, int j) const {
    const Node& node = tree_.nodes()[i];
    const T* row = terms_.M(i) + (node.twists() + j) * node.size() + 6 * a;
    return {{row[0], row[1], row[2]}, {row[3], row[4], row[5]}};
  }
  static ArticulatedInertia<T> diagonal_block(const T* M, int size) {
    const auto at = [&](int r, int c) -> const T& { return M[r * size + c]; };
    return {{at(0, 0), at(1, 0), at(2, 0), at(1, 1), at(2, 1), at(2, 2)},
            {{{at(3, 0), at(4, 0), at(5, 0)},
              {at(3, 1), at(4, 1), at(5, 1)},
              {at(3, 2), at(4, 2), at(5, 2)}}},
            {at(3, 3), at(4, 3), at(5, 3), at(4, 4), at(5, 4), at(5, 5)}};
  }

  void outward(int i, T* vdot) {
    const Node& node = tree_.nodes()[i];
    const int n = static_cast<int>(node.rates.size());
    T* yd = yd_[i].data();
    T* qdd = yd + node.twists();
    std::copy_n(z_[i].data(), n, qdd);
    for (std::size_t a = 0; node.parent >= 0 && a < node.supports.size(); ++a) {
      const Site& at = tree_.seen_from_parent(node.supports[a]);
      const T* yd_p = yd_[node.parent].data();
      const T* out = yd_p + 6 * at.support;
      Motion<T> x = terms_.Xo(at) * Motion<T>{{out[0], out[1], out[2]}, {out[3], out[4], out[5]}} +
                    terms_.xi(at);
      for (std::size_t k = 0; k < at.columns.size(); ++k) {
        x += scale(yd_p[at.columns[k]], terms_.J(at)[k]);
      }
      for (int k = 0; k < 6; ++k) yd[6 * a + k] = x[k];
      for (int j = 0; j < n; ++j) qdd[j] -= dot(x, coupling(i, static_cast<int>(a), j));
    }
    ldlt_solve(D_[i].data(), n, qdd);
    for (int j = 0; j < n; ++j) vdot[node.rates[j]] = qdd[j];
  }

  SubsystemTree tree_;
  SubsystemTerms<T> terms_;
  std::vector<std::vector<T>> D_, z_, yd_;  ///< per subsystem: factor of M_R, tau - h*_q, yd_i
  std::vector<Force<T>> w_;
  std::vector<T> x_;
};

}  // namespace espalier
