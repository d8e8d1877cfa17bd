#pragma once

#include "algorithms/mass_matrix/composite_bodies.hpp"

namespace espalier {

/// M = G^T H G from the inertia matrix H of the whole spanning tree, rotors included.
/// Frames: those of CompositeBodies.  Cost: O(n d + nv^2) and the entries of G.
/// Source: Featherstone (2008), section 8.5; Chignoli et al. (2023), section II-D.
template <class T>
class ProjectedInertia {
 public:
  explicit ProjectedInertia(const Model& model)
      : model_(model),
        crba_(model, CompositeBodies<T>::Rates::spanning),
        H_(static_cast<std::size_t>(model.spanning_nv()) * model.spanning_nv()),
        HG_(static_cast<std::size_t>(model.spanning_nv()) * model.nv()),
        M_(static_cast<std::size_t>(model.nv()) * model.nv()) {}

  /// @param q       spanning positions
  /// @param motion  updated at them, rotors placed
  /// @returns the upper triangle of M, nv x nv, row-major; the caller may overwrite it
  T* compute(const T* q, const SpanningMotion<T>& motion) {
    crba_.compute(q, motion, H_.data());
    project(motion);
    return M_.data();
  }

 private:
  /// Upper triangle: G has one block for each cluster.
  void project(const SpanningMotion<T>& motion) {
    const Model& model = model_;
    const long n = model.spanning_nv(), nv = model.nv();
    for (long r = 0; r < n; ++r) {
      const T* H = H_.data() + r * n;
      T* HG = HG_.data() + r * nv;
      for (const Cluster& c : model.clusters()) {
        if (!c.constrained) {
          for (int j = 0; j < c.nv; ++j) HG[c.v + j] = H[c.spanning_v + j];
          continue;
        }
        const T* G = motion.G(c);
        for (int j = 0; j < c.nv; ++j) HG[c.v + j] = T(0.0);
        for (int i = 0; i < c.rows(); ++i) {
          const T& h = H[c.rate(i)];
          for (int j = 0; j < c.nv; ++j) HG[c.v + j] += h * G[i * c.nv + j];
        }
      }
    }
    for (const Cluster& c : model.clusters()) {
      for (int j = 0; j < c.nv; ++j) {
        T* __restrict M = M_.data() + (c.v + j) * nv;
        if (!c.constrained) {
          const T* HG = HG_.data() + (c.spanning_v + j) * nv;
          for (long l = c.v; l < nv; ++l) M[l] = HG[l];
          continue;
        }
        const T* G = motion.G(c);
        for (long l = c.v; l < nv; ++l) M[l] = T(0.0);
        for (int i = 0; i < c.rows(); ++i) {
          const T* HG = HG_.data() + c.rate(i) * nv;
          const T& rho = G[i * c.nv + j];
          for (long l = c.v; l < nv; ++l) M[l] += rho * HG[l];
        }
      }
    }
  }

  const Model& model_;
  CompositeBodies<T> crba_;
  std::vector<T> H_, HG_, M_;
};

}  // namespace espalier
