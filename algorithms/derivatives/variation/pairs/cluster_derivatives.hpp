#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/derivatives/variation/pairs/pair_slots.hpp"
#include "algorithms/derivatives/variation/pairs/spanning_entries.hpp"

namespace espalier {

/// Pairs of the coordinates of one cluster with one another and with those that carry it, (13.6)
/// and (13.7): any joints, loops and rotors.
template <class T>
class ClusterDerivatives {
 public:
  ClusterDerivatives(const Model& model, const WaysToGround& ways)
      : model_(model), ways_(ways), slots_(ways, model) {
    std::size_t bodies = 0, columns = 0;
    for (const Cluster& c : model.clusters()) {
      bodies = std::max<std::size_t>(bodies, c.count);
      columns = std::max<std::size_t>(columns, c.nv);
    }
    total_.resize(bodies);
    terms_.resize(bodies * columns);
  }

  /// tau = G^T tau_s; the joints' wrenches stay for inverse_dynamics().
  void forces(VariationState<T>& s, const Cluster& c, T* tau) {
    s.cluster_forces(c, total_.data());
    for (int k = 0; k < c.nv; ++k) {
      T sum = T(0.0);
      if (!c.constrained) {
        sum = s.tau_s[c.spanning_v + k];
      } else {
        for (int i = 0; i < c.rows(); ++i) {
          sum += s.motion.G(c)[i * c.nv + k] * s.tau_s[c.rate(i)];
        }
      }
      tau[c.v + k] = sum;
    }
  }
  /// Rows of M of a cluster's coordinates, and columns.
  void inertia(const VariationState<T>& s, const Cluster& c, T* M) {
    const long n = model_.nv();
    ways_.clear(c, {M});
    own_inertia(s, c, M);
    for (int k = 0; k < c.nv; ++k) {
      const long row = c.v + k;
      slots_.start(c);
      for (int i = c.first; i < c.first + c.count; ++i) {
        if (PairTerms<T>* slot = slots_.of(s.support(i))) {
          slot->t1 += s.body[i].IC * s.columns(i)[k].S;
        }
      }
      for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
        const Rotor& rotor = model_.rotors()[r];
        if (PairTerms<T>* slot = slots_.of(variation::outside(s, c, rotor.parent))) {
          slot->t1.n += scale(variation::G(s, c, rotor.v, k), s.momentum(rotor));
        }
      }
      slots_.ancestors(s, [&](const PairTerms<T>& t, const VariationColumn<T>& a, long j) {
        const T x = dot(a.S, t.t1);
        M[row * n + j] += x;
        M[j * n + row] += x;
      });
    }
  }

  /// Dq, Dv and M of a cluster's coordinates, with one another and with those that carry them.
  void inverse_dynamics(const VariationState<T>& s, const Cluster& c, T* Dq, T* Dv, T* M) {
    ways_.clear(c, {Dq, Dv, M});
    if (M != nullptr) own_inertia(s, c, M);
    own_derivatives(s, c, Dq, Dv);
    for (int j = 0; j < c.nv; ++j) {
      supports_of(s, c, j);
      pair_derivatives(s, c, j, Dq, Dv, M);
    }
  }

  /// C of (16.1): what each coordinate of a cluster adds.
  void coriolis(const VariationState<T>& s, const Cluster& c, T* C) {
    const long n = model_.nv();
    for (int k = 0; k < c.nv; ++k) {
      slots_.start(c);
      const long row = c.v + k;
      for (int i = c.first; i < c.first + c.count; ++i) {
        const auto& b = s.body[i];
        const VariationColumn<T>& x = s.columns(i)[k];
        const Motion<T> Sd = x.ups - x.psi1;
        const Force<T> t3 = scale(T(0.5), b.B.times(x.S.w)) + b.IC * Sd;
        for (int j = 0; j < c.nv; ++j) C[(c.v + j) * n + row] += dot(s.columns(i)[j].S, t3);
        if (PairTerms<T>* slot = slots_.of(s.support(i))) {
          slot->t1 += b.IC * x.S;
          slot->t2 += scale(T(0.5), b.B.transpose_times(x.S));
          slot->t3 += t3;
        }
      }
      for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
        // Its spin: k rho and its rate, on the parent and on its own rate.
        const Rotor& rotor = model_.rotors()[r];
        const T p = variation::G(s, c, rotor.v, k),
                pd = variation::W(s, c, rotor.v, k) - variation::V(s, c, rotor.v, k);
        const Vec3<T> K = s.momentum(rotor);
        const Vec3<T> half =
            rotor.parent == 0 ? Vec3<T>::zero() : scale(T(0.5), cross(s.body[rotor.parent].v.w, K));
        const Vec3<T> t3 = scale(p, half) + scale(pd, K);
        const bool inside = rotor.parent >= c.first;
        for (int j = 0; j < c.nv; ++j) {
          const T rho_j = variation::G(s, c, rotor.v, j);
          T& entry = C[(c.v + j) * n + row];
          entry += rotor.inertia * rho_j * pd;
          if (!inside) continue;
          const VariationColumn<T>&y = s.columns(rotor.parent)[j], &x = s.columns(rotor.parent)[k];
          entry += dot(y.S.w, t3) + rho_j * (dot(K, x.ups.w - x.psi1.w) + dot(half, x.S.w));
        }
        if (PairTerms<T>* slot = slots_.of(variation::outside(s, c, rotor.parent))) {
          slot->t1.n += scale(p, K);
          slot->t2 += scale(p, half);
          slot->t3.n += t3;
        }
      }
      for (int j = 0; j < c.nv; ++j) {
        C[(c.v + j) * n + row] += variation::armature_product(s, c, j, [&](int rate) {
          return variation::W(s, c, rate, k) - variation::V(s, c, rate, k);
        });
      }
      slots_.ancestors(s, [&](const PairTerms<T>& t, const VariationColumn<T>& a, long j) {
        C[row * n + j] += dot(a.ups - a.psi1, t.t1) + dot(t.t2, a.S.w);
        C[j * n + row] += dot(a.S, t.t3);
      });
    }
  }

  /// Forces of springs, dampers and the like on spanning joints.
  void joint_forces(const VariationState<T>& s, const Cluster& c, T* Dq, T* Dv) {
    const JointForces<T>* joints = s.joint_forces();
    if (joints == nullptr) return;
    const long n = model_.nv();
    for (int i = 0; i < c.rows(); ++i) {
      const int rate = c.rate(i);
      const T by_q = joints->by_position.empty() ? T(0.0) : joints->by_position[rate];
      const T by_v = joints->by_rate.empty() ? T(0.0) : joints->by_rate[rate];
      for (int j = 0; j < c.nv; ++j) {
        const T Gj = variation::G(s, c, rate, j);
        for (int k = 0; k < c.nv; ++k) {
          const T Gk = variation::G(s, c, rate, k);
          Dq[(c.v + j) * n + c.v + k] -= Gj * (by_q * Gk + by_v * variation::V(s, c, rate, k));
          Dv[(c.v + j) * n + c.v + k] -= Gj * (by_v * Gk);
        }
      }
    }
  }

 private:
  /// M_cc.
  void own_inertia(const VariationState<T>& s, const Cluster& c, T* M) {
    const long n = model_.nv();
    for (int k = 0; k < c.nv; ++k) {
      for (int i = c.first; i < c.first + c.count; ++i) {
        const Force<T> t1 = s.body[i].IC * s.columns(i)[k].S;
        for (int j = 0; j < c.nv; ++j) {
          M[(c.v + j) * n + c.v + k] += dot(s.columns(i)[j].S, t1);
        }
      }
      for (int j = 0; j < c.nv; ++j) {
        T& entry = M[(c.v + j) * n + c.v + k];
        entry += variation::armature_product(s, c, j,
                                             [&](int rate) { return variation::G(s, c, rate, k); });
        for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
          const Rotor& rotor = model_.rotors()[r];
          const T pj = variation::G(s, c, rotor.v, j), pk = variation::G(s, c, rotor.v, k);
          entry += rotor.inertia * (pj * pk);
          if (rotor.parent < c.first) continue;
          const Vec3<T> K = s.momentum(rotor);
          const VariationColumn<T>* columns = s.columns(rotor.parent);
          entry += pk * dot(columns[j].S.w, K) + pj * dot(columns[k].S.w, K);
        }
      }
    }
  }

  /// Dq_cc and Dv_cc of (13.6); terms T1 to T4 of each body and column stay in terms_.
  void own_derivatives(const VariationState<T>& s, const Cluster& c, T* Dq, T* Dv) {
    const long n = model_.nv();
    const bool varies = s.motion.varies(c);
    for (int i = c.first; i < c.first + c.count; ++i) {
      const auto& b = s.body[i];
      for (int k = 0; k < c.nv; ++k) {
        const VariationColumn<T>& x = s.columns(i)[k];
        PairTerms<T>& t = terms_[(i - c.first) * c.nv + k];
        t.body = i;
        t.t1 = b.IC * x.S;
        t.t2 = b.B.transpose_times(x.S);
        t.t3 = b.B.times(x.S.w) + b.IC * x.ups;
        t.t4 = b.B.times(x.psi1.w) + b.IC * x.psi2;
        if (s.wrenches.vary()) {
          t.t4 += s.wrenches.E[i].times(x.S);
          t.t5 = s.wrenches.E[i].transpose_times(x.S);
        }
      }
    }
    for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
      const Rotor& rotor = model_.rotors()[r];
      if (rotor.parent < c.first) continue;
      const Vec3<T> K = s.momentum(rotor), vK = cross(s.body[rotor.parent].v.w, K);
      const VariationColumn<T>* x = s.columns(rotor.parent);
      for (int k = 0; k < c.nv; ++k) {
        PairTerms<T>& t = terms_[(rotor.parent - c.first) * c.nv + k];
        const T p = variation::G(s, c, rotor.v, k);
        t.t1.n += scale(p, K);
        t.t2 += scale(p, vK);
        t.t3.n += scale(p, vK) + scale(variation::W(s, c, rotor.v, k), K);
        t.t4.n +=
            scale(variation::V(s, c, rotor.v, k), vK) + scale(variation::P(s, c, rotor.v, k), K);
        if (s.wrenches.rotors_loaded()) t.t4 -= scale(p, s.wrenches.by_turn(r));
        const T q_term = dot(K, x[k].psi2.w) + dot(vK, x[k].psi1.w);
        const T v_term = dot(K, x[k].ups.w) + dot(vK, x[k].S.w);
        for (int j = 0; j < c.nv; ++j) {
          const T pj = variation::G(s, c, rotor.v, j);
          Dq[(c.v + j) * n + c.v + k] += pj * q_term;
          Dv[(c.v + j) * n + c.v + k] += pj * v_term;
        }
      }
    }
    for (int j = 0; j < c.nv; ++j) {
      for (int k = 0; k < c.nv; ++k) {
        T q_sum = T(0.0), v_sum = T(0.0);
        for (int i = c.first; i < c.first + c.count; ++i) {
          const PairTerms<T>& t = terms_[(i - c.first) * c.nv + k];
          const Motion<T>& S = s.columns(i)[j].S;
          q_sum += dot(S, t.t4);
          v_sum += dot(S, t.t3);
        }
        for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
          const Rotor& rotor = model_.rotors()[r];
          const T p = variation::G(s, c, rotor.v, j);
          q_sum += rotor.inertia * (p * variation::P(s, c, rotor.v, k));
          v_sum += rotor.inertia * (p * variation::W(s, c, rotor.v, k));
        }
        if (varies) {
          q_sum += variation::armature_product(
              s, c, j, [&](int rate) { return variation::P(s, c, rate, k); });
          v_sum += variation::armature_product(
              s, c, j, [&](int rate) { return variation::W(s, c, rate, k); });
        }
        Dq[(c.v + j) * n + c.v + k] += q_sum;
        Dv[(c.v + j) * n + c.v + k] += v_sum;
      }
    }
    turn_columns(s, c, Dq);
    s.motion.add_H(c, s.tau_s.data(), Dq + c.v * n + c.v, static_cast<int>(n));
    joint_forces(s, c, Dq, Dv);
  }

  /// Dq_jk += f^C . (Theta_parent,j × S_b G_bk + S'[G_k] G_j): how column j of each body varies
  /// along k, apart from H.
  void turn_columns(const VariationState<T>& s, const Cluster& c, T* Dq) {
    const long n = model_.nv();
    for (int i = c.first; i < c.first + c.count; ++i) {
      const Body& b = model_.body(i);
      const bool inside = b.parent >= c.first, bends = s.motion.subspace_varies(i);
      if (!inside && !bends) continue;
      const Force<T>& f = total_[i - c.first];
      for (int k = 0; k < c.nv; ++k) {
        Motion<T> SG = Motion<T>::zero();
        T x[6];
        for (int l = 0; l < b.nv; ++l) {
          x[l] = variation::G(s, c, b.v + l, k);
          SG += scale(x[l], s.S[b.v + l]);
        }
        Motion<T> dS[6];
        if (bends) {
          const T rest[6] = {T(0.0), T(0.0), T(0.0), T(0.0), T(0.0), T(0.0)};
          Motion<T> dbias;
          s.motion.vary_joint(i, x, rest, dS, dbias);
        }
        for (int j = 0; j < c.nv; ++j) {
          T sum = T(0.0);
          if (inside) sum += dot(cross(s.columns(b.parent)[j].S, SG), f);
          for (int l = 0; bends && l < b.nv; ++l) {
            sum += variation::G(s, c, b.v + l, j) * dot(s.body[i].X.inverse_times(dS[l]), f);
          }
          Dq[(c.v + j) * n + c.v + k] += sum;
        }
      }
    }
  }

  /// What column k of the cluster hands to its supporting bodies, from terms_.
  void supports_of(const VariationState<T>& s, const Cluster& c, int k) {
    slots_.start(c);
    if (slots_.empty()) return;
    for (int i = c.first; i < c.first + c.count; ++i) {
      PairTerms<T>* slot = slots_.of(s.support(i));
      if (slot == nullptr) continue;
      *slot += terms_[(i - c.first) * c.nv + k];
      slot->t4 += cross_star(s.columns(i)[k].S, s.body[i].f);
    }
    for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
      const Rotor& rotor = model_.rotors()[r];
      if (rotor.parent >= c.first) continue;
      PairTerms<T>* slot = slots_.of(rotor.parent);
      if (slot == nullptr) continue;
      const Vec3<T> K = s.momentum(rotor), vK = cross(s.body[rotor.parent].v.w, K);
      const T p = variation::G(s, c, rotor.v, k);
      slot->t1.n += scale(p, K);
      slot->t2 += scale(p, vK);
      slot->t3.n += scale(p, vK) + scale(variation::W(s, c, rotor.v, k), K);
      slot->t4.n +=
          scale(variation::V(s, c, rotor.v, k), vK) + scale(variation::P(s, c, rotor.v, k), K);
      if (s.wrenches.rotors_loaded()) slot->t4 -= scale(p, s.wrenches.by_turn(r));
    }
  }
  void pair_derivatives(const VariationState<T>& s, const Cluster& c, int k, T* Dq, T* Dv, T* M) {
    const long n = model_.nv(), row = c.v + k;
    const bool wrenches = s.wrenches.vary();
    slots_.ancestors(s, [&](const PairTerms<T>& t, const VariationColumn<T>& a, long j) {
      if (M != nullptr) {
        const T m = dot(a.S, t.t1);
        M[row * n + j] += m;
        M[j * n + row] += m;
      }
      Dq[row * n + j] += dot(a.psi2, t.t1) + dot(t.t2, a.psi1.w);
      Dv[row * n + j] += dot(a.ups, t.t1) + dot(t.t2, a.S.w);
      Dq[j * n + row] += dot(a.S, t.t4);
      Dv[j * n + row] += dot(a.S, t.t3);
      if (wrenches) Dq[row * n + j] += dot(t.t5.w, a.S.w) + dot(t.t5.v, a.S.v);
    });
  }

  const Model& model_;
  const WaysToGround& ways_;
  PairSlots<T> slots_;
  std::vector<Force<T>> total_;      ///< per body of the cluster: its joint's wrench
  std::vector<PairTerms<T>> terms_;  ///< per body and column of the cluster
};

}  // namespace espalier
