#pragma once

#include <algorithm>

#include "espalier/kernel/model/subspace.hpp"
#include "espalier/kernel/model/tree_kinematics.hpp"
#include "espalier/kernel/problems.hpp"

namespace espalier {

/// Joint-space inertia matrix of a tree by the composite-rigid-body algorithm.
/// Frame: body.  Cost: O(n d), d the depth of the tree.
/// Source: Featherstone (2008), Table 6.2.
template <class T>
class Crba final : public MassMatrix<T> {
 public:
  explicit Crba(ModelPtr model)
      : MassMatrix<T>(std::move(model)),
        kinematics_(this->model()),
        Ic_(this->model().body_count() + 1) {}

  void compute(const T* q, T* H) override {
    const Model& model = this->model();
    kinematics_.update(model, q, nullptr);
    compute(kinematics_, H);
  }

  /// The same where the joints' kinematics are there already.
  void compute(const TreeKinematics<T>& kinematics, T* H) {
    const Model& model = this->model();
    const int nv = model.nv();
    std::fill(H, H + static_cast<long>(nv) * nv, T(0.0));
    for (int i = 1; i <= model.body_count(); ++i) {
      const RigidInertia<double>& I = model.body(i).inertia;
      Ic_[i] = {T(I.m), Vec3<T>::from(I.h), Sym3<T>::from(I.I)};
    }
    for (std::size_t r = model.runs().size(); r-- > 0;) {
      const BodyRun& run = model.runs()[r];
      with_subspace(run, [&](auto ops) { inward<decltype(ops)>(run, kinematics, H); });
    }
    for (const auto& [rate, inertia] : model.armature()) {
      H[static_cast<long>(rate) * nv + rate] += T(inertia);
    }
  }

 private:
  /// Tips to base: composite inertias; the force F = Ic S that a unit rate of body i takes, walked
  /// down to the base, meets the rates of all its ancestors.
  template <class Ops>
  void inward(const BodyRun& run, const TreeKinematics<T>& kinematics, T* H) {
    const Model& model = this->model();
    const long nv = model.nv();
    for (int k = run.count - 1; k >= 0; --k) {
      const int i = run.first + k, at = run.v + k * Ops::n;
      const int parent = model.body(i).parent;
      if (parent != 0) Ic_[parent] += congruence(kinematics.X[i], Ic_[i]);

      const Motion<T>* S = kinematics.S.data() + at;
      for (int c = 0; c < Ops::n; ++c) {
        Force<T> F = Ic_[i] * Ops::column(S, c);
        T own[Ops::n];
        Ops::project(F, S, own);
        for (int l = 0; l < Ops::n; ++l) H[(at + l) * nv + at + c] = own[l];
        for (int j = i; model.body(j).parent != 0;) {
          F = kinematics.X[j].transpose_times_force(F);
          j = model.body(j).parent;
          const Body& body = model.body(j);
          T entries[6];
          with_subspace(model.runs()[body.run], [&](auto ops) {
            decltype(ops)::project(F, kinematics.S.data() + body.v, entries);
          });
          for (int l = 0; l < body.nv; ++l) {
            H[(body.v + l) * nv + at + c] = entries[l];
            H[(at + c) * nv + body.v + l] = entries[l];
          }
        }
      }
    }
  }

  TreeKinematics<T> kinematics_;
  std::vector<RigidInertia<T>> Ic_;
};

}  // namespace espalier
