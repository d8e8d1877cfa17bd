#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/derivatives/variation/path_lanes.hpp"
#include "algorithms/derivatives/variation/variation_state.hpp"

/// The backward half of derivatives: pairs of a coordinate with those of its own cluster and of the
/// clusters that carry it, (12.1), (13.6) and (13.7).

namespace espalier {

/// What one coordinate of a cluster hands to a supporting body: a wrench for each product with the
/// body's columns.
template <class T>
struct PairTerms {
  int body = 0;
  Force<T> t1;   ///< I S
  Vec3<T> t2;    ///< Bhat^T S, angular
  Force<T> t3;   ///< relative variation of the wrench by the rate
  Force<T> t4;   ///< variation of the wrench by the coordinate
  Motion<T> t5;  ///< E^T S; in components of a force

  void start(int of) {
    body = of;
    t1 = t3 = t4 = Force<T>::zero();
    t2 = Vec3<T>::zero();
    t5 = Motion<T>::zero();
  }
  PairTerms& operator+=(const PairTerms& b) {
    t1 += b.t1, t2 += b.t2, t3 += b.t3, t4 += b.t4, t5 += b.t5;
    return *this;
  }
};

template <class T>
class DerivativeSweep {
 public:
  explicit DerivativeSweep(const VariationState<T>& state) : model_(state.model()) {
    const Model& model = model_;
    list_paths(state);
    order(state);
    std::size_t bodies = 0, columns = 0, supports = 1;
    for (const Cluster& c : model.clusters()) {
      bodies = std::max<std::size_t>(bodies, c.count);
      columns = std::max<std::size_t>(columns, c.nv);
      supports = std::max(supports, c.supports.size());
    }
    total_.resize(bodies);
    terms_.resize(bodies * columns);
    slots_.resize(supports), next_.resize(supports);
  }

  /// tau = G^T tau_s at the accelerations of the state.
  void forces(VariationState<T>& s, T* tau) {
    for (std::size_t k = model_.clusters().size(); k-- > 0;) {
      const Cluster& c = model_.clusters()[k];
      cluster_tau(s, c, tau);
    }
  }

  /// M alone, from composite inertias; lower and upper triangle. Entries of coordinates of which
  /// none carries the other are zero and are not written.
  void mass_matrix(const VariationState<T>& s, T* M) {
    const long n = model_.nv();
    for (std::size_t index = model_.clusters().size(); index-- > 0;) {
      const Cluster& c = model_.clusters()[index];
      if (s.is_plain(c)) {
        plain_inertia(s, c, M);
        continue;
      }
      clear(c, {M});
      own_inertia(s, c, M);
      for (int k = 0; k < c.nv; ++k) {
        const long row = c.v + k;
        start_slots(c);
        for (int i = c.first; i < c.first + c.count; ++i) {
          if (PairTerms<T>* slot = slot_of(s.support(i))) {
            slot->t1 += s.body[i].IC * s.columns(i)[k].S;
          }
        }
        for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
          const Rotor& rotor = model_.rotors()[r];
          if (PairTerms<T>* slot = slot_of(outside(s, c, rotor.parent))) {
            slot->t1.n += scale(rho(s, c, rotor, k), s.momentum(rotor));
          }
        }
        ancestors(s, c, [&](const PairTerms<T>& t, const VariationColumn<T>& a, long j) {
          const T x = dot(a.S, t.t1);
          M[row * n + j] += x;
          M[j * n + row] += x;
        });
      }
    }
  }

  /// tau, its derivatives by q and v, and M. Entries of coordinates of which none carries the other
  /// are zero and are not written.
  /// @param M  or nullptr where it is not wanted
  void inverse_dynamics(VariationState<T>& s, T* tau, T* Dq, T* Dv, T* M) {
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const Cluster& c = model_.clusters()[order_[k]];
      if (s.is_plain(c) && c.nv == 1) {
        plain_body(s, c, static_cast<int>(k), tau, Dq, Dv, M);
        continue;
      }
      cluster_tau(s, c, tau);
      if (s.is_free_root(c.first)) {
        free_root(s, c, Dq, Dv, M);
        continue;
      }
      clear(c, {Dq, Dv, M});
      if (M != nullptr) own_inertia(s, c, M);
      own_derivatives(s, c, Dq, Dv);
      for (int j = 0; j < c.nv; ++j) {
        supports_of(s, c, j);
        pair_derivatives(s, c, j, Dq, Dv, M);
      }
    }
  }

  /// Sets entries of coordinates of which none carries the other to zero.
  void clear_unrelated(std::initializer_list<T*> matrices) const {
    for (T* out : matrices) {
      for (const auto& [begin, end] : unrelated_) std::fill(out + begin, out + end, T(0.0));
    }
  }

  /// C of (16.1).
  void coriolis(const VariationState<T>& s, T* C) {
    const long n = model_.nv();
    std::fill(C, C + n * n, T(0.0));
    for (std::size_t index = model_.clusters().size(); index-- > 0;) {
      const Cluster& c = model_.clusters()[index];
      for (int k = 0; k < c.nv; ++k) {
        start_slots(c);
        const long row = c.v + k;
        for (int i = c.first; i < c.first + c.count; ++i) {
          const auto& b = s.body[i];
          const VariationColumn<T>& x = s.columns(i)[k];
          const Motion<T> Sd = x.ups - x.psi1;
          const Force<T> t3 = scale(T(0.5), b.B.times(x.S.w)) + b.IC * Sd;
          for (int j = 0; j < c.nv; ++j) C[(c.v + j) * n + row] += dot(s.columns(i)[j].S, t3);
          if (PairTerms<T>* slot = slot_of(s.support(i))) {
            slot->t1 += b.IC * x.S;
            slot->t2 += scale(T(0.5), b.B.transpose_times(x.S));
            slot->t3 += t3;
          }
        }
        for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
          // Its spin: k rho and its rate, on the parent and on its own rate.
          const Rotor& rotor = model_.rotors()[r];
          const T p = rho(s, c, rotor, k), pd = rho_W(s, c, rotor, k) - rho_V(s, c, rotor, k);
          const Vec3<T> K = s.momentum(rotor);
          const Vec3<T> half = rotor.parent == 0
                                   ? Vec3<T>::zero()
                                   : scale(T(0.5), cross(s.body[rotor.parent].v.w, K));
          const Vec3<T> t3 = scale(p, half) + scale(pd, K);
          const bool inside = rotor.parent >= c.first;
          for (int j = 0; j < c.nv; ++j) {
            const T rho_j = rho(s, c, rotor, j);
            T& entry = C[(c.v + j) * n + row];
            entry += rotor.inertia * rho_j * pd;
            if (!inside) continue;
            const VariationColumn<T>&y = s.columns(rotor.parent)[j],
                  &x = s.columns(rotor.parent)[k];
            entry += dot(y.S.w, t3) + rho_j * (dot(K, x.ups.w - x.psi1.w) + dot(half, x.S.w));
          }
          if (PairTerms<T>* slot = slot_of(outside(s, c, rotor.parent))) {
            slot->t1.n += scale(p, K);
            slot->t2 += scale(p, half);
            slot->t3.n += t3;
          }
        }
        for (int j = 0; j < c.nv; ++j) {
          C[(c.v + j) * n + row] += armature_product(s, c, j, k, [&](int rate) {
            return spanning_W(s, c, rate, k) - spanning_V(s, c, rate, k);
          });
        }
        ancestors(s, c, [&](const PairTerms<T>& t, const VariationColumn<T>& a, long j) {
          C[row * n + j] += dot(a.ups - a.psi1, t.t1) + dot(t.t2, a.S.w);
          C[j * n + row] += dot(a.S, t.t3);
        });
      }
    }
  }

 private:
  /// Lists the way of every body to the ground; a floating root's columns are unit vectors and not
  /// among them.
  void list_paths(const VariationState<T>& s) {
    const int n = model_.active_body_count();
    paths_.resize(n + 1), base_.assign(n + 1, -1);
    for (int i = 1; i <= n; ++i) {
      const Cluster& c = model_.clusters()[model_.body(i).cluster];
      if (s.is_free_root(i)) {
        base_[i] = c.v;
        continue;
      }
      for (int k = 0; k < c.nv; ++k) {
        paths_[i].push_back({static_cast<int>(s.columns(i) - s.column.data()) + k, c.v + k});
      }
      const int o = s.support(i);
      if (o == 0) continue;
      paths_[i].insert(paths_[i].end(), paths_[o].begin(), paths_[o].end());
      base_[i] = base_[o];
    }
  }

  /// Orders the clusters depth first, and plans the ways of those that nothing ties.
  void order(const VariationState<T>& s) {
    const auto& clusters = model_.clusters();
    std::vector<std::vector<int>> children(clusters.size() + 1);
    for (std::size_t k = clusters.size(); k-- > 0;) {
      children[clusters[k].parent + 1].push_back(static_cast<int>(k));
    }
    std::vector<int> next = children[0], visited;
    related_.resize(clusters.size());
    while (!next.empty()) {
      const int k = next.back();
      next.pop_back();
      order_.push_back(k);
      const bool lanes = s.is_plain(clusters[k]) && clusters[k].nv == 1;
      visited.push_back(lanes ? s.support(clusters[k].first) : 0);
      next.insert(next.end(), children[k + 1].begin(), children[k + 1].end());
      for (int p = clusters[k].parent; p >= 0; p = clusters[p].parent) {
        for (int j = 0; j < clusters[p].nv; ++j) related_[k].push_back(clusters[p].v + j);
      }
    }
    lanes_.plan(paths_, visited);
    list_unrelated();
  }
  void list_unrelated() {
    const long n = model_.nv();
    std::vector<bool> related(n * n, false);
    for (std::size_t k = 0; k < related_.size(); ++k) {
      const Cluster& c = model_.clusters()[k];
      for (long i = c.v; i < c.v + c.nv; ++i) {
        for (long j = c.v; j < c.v + c.nv; ++j) related[i * n + j] = true;
        for (const long j : related_[k]) related[i * n + j] = related[j * n + i] = true;
      }
    }
    for (long e = 0; e < n * n; ++e) {
      if (related[e]) continue;
      if (!unrelated_.empty() && unrelated_.back().second == e) {
        ++unrelated_.back().second;
      } else {
        unrelated_.push_back({e, e + 1});
      }
    }
  }
  /// Sets entries of a cluster's coordinates with one another and with those that carry them to
  /// zero, for sums.
  void clear(const Cluster& c, std::initializer_list<T*> matrices) const {
    const long n = model_.nv();
    for (T* out : matrices) {
      if (out == nullptr) continue;
      for (long row = c.v; row < c.v + c.nv; ++row) {
        for (long j = c.v; j < c.v + c.nv; ++j) out[row * n + j] = T(0.0);
        for (const long j : related_[&c - model_.clusters().data()]) {
          out[row * n + j] = out[j * n + row] = T(0.0);
        }
      }
    }
  }

  // Entries of G, V, W and P.
  static T G(const VariationState<T>& s, const Cluster& c, int rate, int k) {
    if (!c.constrained) return T(rate - c.spanning_v == k ? 1.0 : 0.0);
    return s.motion.G(c)[c.row(rate) * c.nv + k];
  }
  static T spanning_V(const VariationState<T>& s, const Cluster& c, int rate, int k) {
    return s.motion.varies(c) ? s.motion.V(c)[c.row(rate) * c.nv + k] : T(0.0);
  }
  static T spanning_W(const VariationState<T>& s, const Cluster& c, int rate, int k) {
    return s.motion.varies(c) ? s.motion.W(c)[c.row(rate) * c.nv + k] : T(0.0);
  }
  static T spanning_P(const VariationState<T>& s, const Cluster& c, int rate, int k) {
    return s.motion.varies(c) ? s.motion.P(c)[c.row(rate) * c.nv + k] : T(0.0);
  }
  static T rho(const VariationState<T>& s, const Cluster& c, const Rotor& r, int k) {
    return G(s, c, r.v, k);
  }
  static T rho_V(const VariationState<T>& s, const Cluster& c, const Rotor& r, int k) {
    return spanning_V(s, c, r.v, k);
  }
  static T rho_W(const VariationState<T>& s, const Cluster& c, const Rotor& r, int k) {
    return spanning_W(s, c, r.v, k);
  }
  static T rho_P(const VariationState<T>& s, const Cluster& c, const Rotor& r, int k) {
    return spanning_P(s, c, r.v, k);
  }
  /// The body outside cluster c that carries body i, which may be outside itself.
  static int outside(const VariationState<T>& s, const Cluster& c, int i) {
    return i >= c.first ? s.support(i) : i;
  }
  /// sum over spanning rates of G_j armature x(rate).
  template <class F>
  static T armature_product(const VariationState<T>& s, const Cluster& c, int j, int /*k*/, F&& x) {
    T sum = T(0.0);
    for (int rate = c.spanning_v; rate < c.spanning_v + c.spanning_nv; ++rate) {
      const double a = s.armature(rate);
      if (a != 0.0) sum += a * (G(s, c, rate, j) * x(rate));
    }
    return sum;
  }

  void start_slots(const Cluster& c) {
    count_ = 0;
    for (const int o : c.supports) {
      if (o != 0) slots_[count_++].start(o);
    }
  }
  PairTerms<T>* slot_of(int body) {
    for (int k = 0; k < count_; ++k) {
      if (slots_[k].body == body) return &slots_[k];
    }
    return nullptr;
  }

  /// Calls each(terms, column, coordinate) for the columns of all bodies on the way from the slots
  /// to the ground; terms that meet on one body are added.
  template <class Each>
  void ancestors(const VariationState<T>& s, const Cluster& c, Each&& each) {
    const auto visit = [&](const PairTerms<T>& t) {
      const Cluster& p = model_.clusters()[model_.body(t.body).cluster];
      const VariationColumn<T>* columns = s.columns(t.body);
      for (int k = 0; k < p.nv; ++k) each(t, columns[k], static_cast<long>(p.v + k));
    };
    (void)c;
    while (count_ > 1) {
      int count = 0;
      for (int k = 0; k < count_; ++k) {
        visit(slots_[k]);
        const int o = s.support(slots_[k].body);
        if (o == 0) continue;
        int at = 0;
        while (at < count && next_[at].body != o) ++at;
        if (at < count) {
          next_[at] += slots_[k];
        } else {
          next_[count++] = slots_[k];
          next_[at].body = o;
        }
      }
      std::swap(slots_, next_);
      count_ = count;
    }
    if (count_ == 0) return;
    const PairTerms<T>& t = slots_[0];
    for (const Step& step : paths_[t.body]) {
      each(t, s.column[step.column], static_cast<long>(step.coordinate));
    }
    const int base = base_[t.body];
    if (base < 0) return;
    const VariationColumn<T>* columns = s.columns(s.root(t.body));
    for (int k = 0; k < 6; ++k) each(t, columns[k], static_cast<long>(base + k));
  }

  void cluster_tau(VariationState<T>& s, const Cluster& c, T* tau) {
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

  /// Rows of M of a body that nothing ties.
  void plain_inertia(const VariationState<T>& s, const Cluster& c, T* M) {
    const long n = model_.nv();
    const int i = c.first, o = s.support(i);
    const VariationColumn<T>* x = s.columns(i);
    for (int k = 0; k < c.nv; ++k) {
      const long row = c.v + k;
      const Force<T> t1 = s.body[i].IC * x[k].S;
      for (int j = 0; j <= k; ++j) {
        T m = dot(x[j].S, t1);
        if (j == k) m += T(s.armature(c.spanning_v + k));
        M[row * n + c.v + j] = M[(c.v + j) * n + row] = m;
      }
      if (o == 0) continue;
      for (const Step& step : paths_[o]) {
        const long j = step.coordinate;
        M[row * n + j] = M[j * n + row] = dot(s.column[step.column].S, t1);
      }
      if (base_[o] < 0) continue;
      for (int l = 0; l < 6; ++l) {
        M[row * n + base_[o] + l] = M[(base_[o] + l) * n + row] = t1[l];
      }
    }
  }

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
        entry += armature_product(s, c, j, k, [&](int rate) { return G(s, c, rate, k); });
        for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
          const Rotor& rotor = model_.rotors()[r];
          const T pj = rho(s, c, rotor, j), pk = rho(s, c, rotor, k);
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
        if (s.wrenches_vary()) {
          t.t4 += s.E[i].times(x.S);
          t.t5 = s.E[i].transpose_times(x.S);
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
        const T p = rho(s, c, rotor, k);
        t.t1.n += scale(p, K);
        t.t2 += scale(p, vK);
        t.t3.n += scale(p, vK) + scale(rho_W(s, c, rotor, k), K);
        t.t4.n += scale(rho_V(s, c, rotor, k), vK) + scale(rho_P(s, c, rotor, k), K);
        if (s.rotors_loaded()) t.t4 -= scale(p, s.turned_wrench(r));
        const T q_term = dot(K, x[k].psi2.w) + dot(vK, x[k].psi1.w);
        const T v_term = dot(K, x[k].ups.w) + dot(vK, x[k].S.w);
        for (int j = 0; j < c.nv; ++j) {
          const T pj = rho(s, c, rotor, j);
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
          const T p = rho(s, c, rotor, j);
          q_sum += rotor.inertia * (p * rho_P(s, c, rotor, k));
          v_sum += rotor.inertia * (p * rho_W(s, c, rotor, k));
        }
        if (varies) {
          q_sum +=
              armature_product(s, c, j, k, [&](int rate) { return spanning_P(s, c, rate, k); });
          v_sum +=
              armature_product(s, c, j, k, [&](int rate) { return spanning_W(s, c, rate, k); });
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
          x[l] = G(s, c, b.v + l, k);
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
            sum += G(s, c, b.v + l, j) * dot(s.body[i].X.inverse_times(dS[l]), f);
          }
          Dq[(c.v + j) * n + c.v + k] += sum;
        }
      }
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
        const T Gj = G(s, c, rate, j);
        for (int k = 0; k < c.nv; ++k) {
          const T Gk = G(s, c, rate, k);
          Dq[(c.v + j) * n + c.v + k] -= Gj * (by_q * Gk + by_v * spanning_V(s, c, rate, k));
          Dv[(c.v + j) * n + c.v + k] -= Gj * (by_v * Gk);
        }
      }
    }
  }

  /// What column k of the cluster hands to its supporting bodies, from terms_.
  void supports_of(const VariationState<T>& s, const Cluster& c, int k) {
    start_slots(c);
    if (count_ == 0) return;
    for (int i = c.first; i < c.first + c.count; ++i) {
      PairTerms<T>* slot = slot_of(s.support(i));
      if (slot == nullptr) continue;
      *slot += terms_[(i - c.first) * c.nv + k];
      slot->t4 += cross_star(s.columns(i)[k].S, s.body[i].f);
    }
    for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
      const Rotor& rotor = model_.rotors()[r];
      if (rotor.parent >= c.first) continue;
      PairTerms<T>* slot = slot_of(rotor.parent);
      if (slot == nullptr) continue;
      const Vec3<T> K = s.momentum(rotor), vK = cross(s.body[rotor.parent].v.w, K);
      const T p = rho(s, c, rotor, k);
      slot->t1.n += scale(p, K);
      slot->t2 += scale(p, vK);
      slot->t3.n += scale(p, vK) + scale(rho_W(s, c, rotor, k), K);
      slot->t4.n += scale(rho_V(s, c, rotor, k), vK) + scale(rho_P(s, c, rotor, k), K);
      if (s.rotors_loaded()) slot->t4 -= scale(p, s.turned_wrench(r));
    }
  }
  void pair_derivatives(const VariationState<T>& s, const Cluster& c, int k, T* Dq, T* Dv, T* M) {
    const long n = model_.nv(), row = c.v + k;
    const bool wrenches = s.wrenches_vary();
    ancestors(s, c, [&](const PairTerms<T>& t, const VariationColumn<T>& a, long j) {
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

  /// (12.1) for a body on a joint of one rate that nothing ties.
  /// @param k  its place in the order
  void plain_body(VariationState<T>& s, const Cluster& c, int k, T* tau, T* Dq, T* Dv, T* M) {
    const long n = model_.nv(), row = c.v;
    const int rate = c.spanning_v, o = s.support(c.first);
    const auto& b = s.body[c.first];
    const VariationColumn<T>& x = *s.columns(c.first);
    const bool wrenches = s.wrenches_vary();
    PairTerms<T>& t = slots_[0];
    t.t1 = b.IC * x.S;
    t.t2 = b.B.transpose_times(x.S);
    t.t3 = b.B.times(x.S.w) + b.IC * x.ups;
    t.t4 = b.B.times(x.psi1.w) + b.IC * x.psi2;
    if (wrenches) {
      t.t4 += s.E[c.first].times(x.S);
      t.t5 = s.E[c.first].transpose_times(x.S);
    }
    T force = dot(x.S, b.f) + s.armature(rate) * s.motion.qdd()[rate];
    T own_q = dot(x.S, t.t4), own_v = dot(x.S, t.t3);
    if (const JointForces<T>* joints = s.joint_forces()) {
      force -= joints->force[rate];
      if (!joints->by_position.empty()) own_q -= joints->by_position[rate];
      if (!joints->by_rate.empty()) own_v -= joints->by_rate[rate];
    }
    tau[row] = s.tau_s[rate] = force;
    if (M != nullptr) M[row * n + row] = dot(x.S, t.t1) + s.armature(rate);
    Dq[row * n + row] = own_q;
    Dv[row * n + row] = own_v;
    if (o == 0) return;
    t.t4 += cross_star(x.S, b.f);
    if constexpr (std::is_same_v<T, double>) {
      way_lanes(s, t, k, row, Dq, Dv, M);
    } else {
      way(s, t, o, row, Dq, Dv, M);
    }
    t.body = o;
    if (base_[o] >= 0) floating_base(s, t, row, Dq, Dv, M);
  }
  /// Pairs of a coordinate with those on the way to the ground, which are lanes.
  void way_lanes(const VariationState<T>& s, const PairTerms<T>& t, int k, long row, T* Dq, T* Dv,
                 T* M) {
    const long n = model_.nv();
    lanes_.visit(k, s.column.data());
    lanes_.multiply(t.t1, t.t2, t.t3, t.t4, s.wrenches_vary() ? &t.t5 : nullptr);
    for (int p = 0; p < lanes_.size(); ++p) {
      const long j = lanes_.coordinate(p);
      if (M != nullptr) M[row * n + j] = M[j * n + row] = lanes_.product(PathLanes::mass, p);
      Dq[row * n + j] = lanes_.product(PathLanes::q_row, p);
      Dv[row * n + j] = lanes_.product(PathLanes::v_row, p);
      Dq[j * n + row] = lanes_.product(PathLanes::q_column, p);
      Dv[j * n + row] = lanes_.product(PathLanes::v_column, p);
    }
  }
  /// The same one by one, where robots are lanes.
  void way(const VariationState<T>& s, const PairTerms<T>& t, int body, long row, T* Dq, T* Dv,
           T* M) {
    const long n = model_.nv();
    const bool wrenches = s.wrenches_vary();
    for (const Step& step : paths_[body]) {
      const VariationColumn<T>& a = s.column[step.column];
      const long j = step.coordinate;
      if (M != nullptr) M[row * n + j] = M[j * n + row] = dot(a.S, t.t1);
      T by_q = dot(a.psi2, t.t1) + dot(t.t2, a.psi1.w);
      if (wrenches) by_q += dot(t.t5.w, a.S.w) + dot(t.t5.v, a.S.v);
      Dq[row * n + j] = by_q;
      Dv[row * n + j] = dot(a.ups, t.t1) + dot(t.t2, a.S.w);
      Dq[j * n + row] = dot(a.S, t.t4);
      Dv[j * n + row] = dot(a.S, t.t3);
    }
  }
  /// (12.2): the columns of a floating root are unit vectors.
  void floating_base(const VariationState<T>& s, const PairTerms<T>& t, long row, T* Dq, T* Dv,
                     T* M) const {
    const long n = model_.nv(), base = base_[t.body];
    const int root = s.root(t.body);
    const Force<T> v_t1 = cross_star(s.body[root].v, t.t1);
    const Vec3<T> by_turn = cross(t.t1.f, s.ground(root).v), by_spin = t.t2 - v_t1.n;
    T *q = Dq + row * n + base, *v = Dv + row * n + base;
    for (int k = 0; k < 3; ++k) {
      q[k] = by_turn[k], q[k + 3] = T(0.0);
      v[k] = by_spin[k], v[k + 3] = -v_t1.f[k];
    }
    for (int k = 0; k < 6; ++k) {
      const long at = (base + k) * n + row;
      Dq[at] = t.t4[k];
      Dv[at] = t.t3[k];
      if (M != nullptr) M[row * n + base + k] = M[at] = t.t1[k];
      if (s.wrenches_vary()) q[k] += t.t5[k];
    }
  }
  /// The same of a floating root with itself.
  void free_root(const VariationState<T>& s, const Cluster& c, T* Dq, T* Dv, T* M) {
    const long n = model_.nv();
    const auto& b = s.body[c.first];
    const Vec3<T> g = s.ground(c.first).v;
    for (int k = 0; k < 6; ++k) {
      Motion<T> S = Motion<T>::zero();
      S[k] = T(1.0);
      const Force<T> t1 = b.IC * S;
      Force<T> t3 = b.B.times(S.w) + b.IC * cross(b.v, S);
      Force<T> t4 = b.IC * Motion<T>{Vec3<T>::zero(), cross(g, S.w)};
      if (s.wrenches_vary()) t4 += s.E[c.first].times(S);
      const T armature = T(s.armature(c.spanning_v + k));
      for (int j = 0; j < 6; ++j) {
        const long at = (c.v + j) * n + c.v + k;
        if (M != nullptr) M[at] = j == k ? t1[j] + armature : t1[j];
        Dq[at] = t4[j];
        Dv[at] = t3[j];
      }
    }
    joint_forces(s, c, Dq, Dv);
  }

  using Step = PathLanes::Step;

  const Model& model_;
  std::vector<Force<T>> total_;
  std::vector<PairTerms<T>> terms_, slots_, next_;
  int count_ = 0;
  std::vector<std::vector<Step>> paths_;          ///< per body, from its own columns to the ground
  std::vector<int> order_;                        ///< clusters, depth first
  std::vector<std::vector<int>> related_;         ///< per cluster: the coordinates that carry it
  std::vector<std::pair<long, long>> unrelated_;  ///< entries of matrices that are always zero
  PathLanes lanes_;
  std::vector<int> base_;  ///< per body: first coordinate of the floating root, -1 for none
};

}  // namespace espalier
