#pragma once

#include "algorithms/inverse_dynamics/projected_rnea.hpp"
#include "algorithms/large_ldlt.hpp"
#include "algorithms/mass_matrix/composite_bodies.hpp"

namespace espalier {

/// Forward dynamics by projection: inertia matrix H and bias C of the whole spanning tree, rotors
/// included, onto the independent rates,
///   (G^T H G) vdot = tau - G^T (C + H g),
/// solved by a dense factor. Exact, and kept as the method that C-ABA is measured against.
/// Frames: those of CompositeBodies and SpanningRnea.  Cost: O(n d + nv^3).
/// Source: Featherstone (2008), section 8.5; Chignoli et al. (2023), section II-D.
template <class T>
class Projection final : public ForwardDynamics<T> {
 public:
  explicit Projection(ModelPtr model)
      : ForwardDynamics<T>(std::move(model)),
        motion_(this->model()),
        rnea_(this->model()),
        crba_(this->model(), CompositeBodies<T>::Rates::spanning),
        H_(static_cast<std::size_t>(this->model().spanning_nv()) * this->model().spanning_nv()),
        HG_(static_cast<std::size_t>(this->model().spanning_nv()) * this->model().nv()),
        M_(static_cast<std::size_t>(this->model().nv()) * this->model().nv()),
        bias_(this->model().spanning_nv()) {}

 private:
  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    const int nv = this->model().nv();
    motion_.update(q, v);
    rnea_.compute(motion_, this->gravity(), motion_.g(), wrenches, bias_.data());
    motion_.reduce(bias_.data(), vdot);
    for (int j = 0; j < nv; ++j) vdot[j] = tau[j] - vdot[j];
    crba_.compute(motion_, H_.data());
    project();
    large_ldlt(M_.data(), nv);
    large_ldlt_solve(M_.data(), nv, vdot);
  }

  /// M = G^T (H G), upper triangle: G has one block for each cluster.
  void project() {
    const Model& model = this->model();
    const long n = model.spanning_nv(), nv = model.nv();
    for (long r = 0; r < n; ++r) {
      const T* H = H_.data() + r * n;
      T* HG = HG_.data() + r * nv;
      for (const Cluster& c : model.clusters()) {
        if (!c.constrained) {
          for (int j = 0; j < c.nv; ++j) HG[c.v + j] = H[c.spanning_v + j];
          continue;
        }
        const T* G = motion_.G(c);
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
        const T* G = motion_.G(c);
        for (long l = c.v; l < nv; ++l) M[l] = T(0.0);
        for (int i = 0; i < c.rows(); ++i) {
          const T* HG = HG_.data() + c.rate(i) * nv;
          const T& rho = G[i * c.nv + j];
          for (long l = c.v; l < nv; ++l) M[l] += rho * HG[l];
        }
      }
    }
  }

  SpanningMotion<T> motion_;
  SpanningRnea<T> rnea_;
  CompositeBodies<T> crba_;
  std::vector<T> H_, HG_, M_, bias_;
};

}  // namespace espalier
