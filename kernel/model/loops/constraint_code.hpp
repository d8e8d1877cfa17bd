#pragma once

#include <algorithm>
#include <vector>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"

/// What a cluster's constraints say: K, k and the residual, for whoever compiles it: the kernel,
/// and on packs each variant of the plugin espalier_packs (kernel/model/packs/pack_code.hpp). Not
/// for other plugins. Functions are static: every library has its own.

namespace espalier::detail {

/// Where a loop frame is and how it moves, axes and origin of the supporting body.
template <class T>
struct LoopFrame {
  Mat3<T> E;
  Vec3<T> x, w, v, dw, a;

  Vec3<T> direction(const Vec3<double>& in_frame) const { return transpose_times(E, in_frame); }
  /// First and second derivative of a direction that is fixed in the frame.
  Vec3<T> rate(const Vec3<T>& d) const { return cross(w, d); }
  Vec3<T> second(const Vec3<T>& d) const { return cross(dw, d) + cross(w, cross(w, d)); }
};

template <class T>
static LoopFrame<T> frame_on(const Cluster& c, int body, const Transform<double>& place,
                             const ConstraintWorkspace<T>& w, bool moving) {
  LoopFrame<T> f;
  const Vec3<T> zero = Vec3<T>::zero();
  if (body < c.first || body >= c.first + c.count) {  // the supporting body itself
    f.E = Mat3<T>::from(place.E);
    f.x = Vec3<T>::from(place.r);
    f.w = f.v = f.dw = f.a = zero;
    return f;
  }
  const auto& p = w.pose[body - c.first];
  f.E = place.E * p.E;
  const Vec3<T> r = transpose_times(p.E, place.r);
  f.x = p.x + r;
  if (moving) {
    f.w = p.w, f.dw = p.dw;
    f.v = p.v + cross(p.w, r);
    f.a = p.a + cross(p.dw, r) + cross(p.w, cross(p.w, r));
  }
  return f;
}

template <class T>
static T phi_of(const LoopRow& row, const LoopFrame<T>& p, const LoopFrame<T>& s) {
  const Vec3<T> r = s.x - p.x;
  switch (row.kind) {
    case LoopRow::Kind::along:
      return dot(p.direction(row.a), r) - row.value;
    case LoopRow::Kind::distance:
      return (dot(r, r) - row.value * row.value) / (2.0 * row.value);
    default:
      return dot(p.direction(row.a), s.direction(row.b)) - row.value;
  }
}

/// Second derivative of a row's phi at ydd = 0.
template <class T>
static T second_derivative(const LoopRow& row, const LoopFrame<T>& p, const LoopFrame<T>& s) {
  const Vec3<T> r = s.x - p.x, dr = s.v - p.v, ddr = s.a - p.a;
  switch (row.kind) {
    case LoopRow::Kind::along: {
      const Vec3<T> a = p.direction(row.a);
      const T cross_term = dot(p.rate(a), dr);
      return dot(p.second(a), r) + (cross_term + cross_term) + dot(a, ddr);
    }
    case LoopRow::Kind::distance:
      return (dot(dr, dr) + dot(r, ddr)) * (1.0 / row.value);
    default: {
      const Vec3<T> a = p.direction(row.a), b = s.direction(row.b);
      const T cross_term = dot(p.rate(a), s.rate(b));
      return dot(p.second(a), b) + (cross_term + cross_term) + dot(a, s.second(b));
    }
  }
}

/// Poses of the cluster's bodies and unit motions of their rates, relative to supporting bodies.
template <class T>
static void place(const Model& model, const Cluster& c, const SpanningView<T>& at,
                  ConstraintWorkspace<T>& w) {
  for (int i = c.first; i < c.first + c.count; ++i) {
    const Body& body = model.body(i);
    const Transform<T>& X = at.X[i];
    auto& b = w.pose[i - c.first];
    if (body.parent >= c.first) {
      const auto& p = w.pose[body.parent - c.first];
      b.E = X.E * p.E;
      b.x = p.x + transpose_times(p.E, X.r);
    } else {
      b.E = X.E, b.x = X.r;
    }
    with_subspace(model.runs()[body.run], [&](auto ops) {
      using Ops = decltype(ops);
      for (int k = 0; k < Ops::n; ++k) {
        const Motion<T> S = Ops::column(at.S + body.v, k);
        w.S[body.v - c.spanning_v + k] = {transpose_times(b.E, S.w), transpose_times(b.E, S.v)};
      }
    });
  }
}

/// Velocities, and accelerations at qdd = 0, relative to the supporting bodies.
template <class T>
static void move(const Model& model, const Cluster& c, const SpanningView<T>& at,
                 ConstraintWorkspace<T>& w) {
  const Vec3<T> zero = Vec3<T>::zero();
  for (int i = c.first; i < c.first + c.count; ++i) {
    const Body& body = model.body(i);
    auto& b = w.pose[i - c.first];
    Vec3<T> pw = zero, pv = zero, pdw = zero, pa = zero, r = b.x;
    if (body.parent >= c.first) {
      const auto& p = w.pose[body.parent - c.first];
      pw = p.w, pv = p.v, pdw = p.dw, pa = p.a;
      r = b.x - p.x;
    }
    Vec3<T> jw = zero, jv = zero;
    for (int k = 0; k < body.nv; ++k) {
      const Motion<T>& S = w.S[body.v - c.spanning_v + k];
      const T& rate = at.qd[body.v + k];
      jw += scale(rate, S.w), jv += scale(rate, S.v);
    }
    const Vec3<T> wr = cross(pw, r);
    b.w = pw + jw;
    b.v = pv + wr + jv;
    b.dw = pdw + cross(pw, jw);
    b.a = pa + cross(pdw, r) + cross(pw, wr) + cross(b.w + pw, jv);
    if (model.runs()[body.run].subspace == SubspaceKind::dense) {
      const Motion<T>& bias = at.bias[i];
      b.dw += transpose_times(b.E, bias.w);
      b.a += transpose_times(b.E, bias.v);
    }
  }
}

/// One row of K after the other, all columns of it or, if sparse, its entries.
template <bool sparse, class T>
struct RowWriter {
  T* K;
  int columns;

  void begin() const {
    if constexpr (!sparse) std::fill(K, K + columns, T(0.0));
  }
  void put(int column, const T& value) {
    if constexpr (sparse) {
      *K++ = value;
    } else {
      K[column] = value;
    }
  }
  void end() {
    if constexpr (!sparse) K += columns;
  }
};

/// K of planar loops: rows along the plane's fixed axes.
template <bool sparse, class T>
static void plane_jacobian(const PlanarLoops& loops, const Cluster& c, const SpanningView<T>& at,
                           PlanarLoops::Workspace<T>& w, const RowWriter<sparse, T>& rows) {
  for (std::size_t i = 0; i < loops.bars.size(); ++i) {
    const PlanarLoops::Bar& bar = loops.bars[i];
    auto& b = w.bars[i];
    const Vec3<T>& x_axis = at.X[c.first + static_cast<int>(i)].E.row[0];
    if (bar.parent < 0) {
      b.c = dot(loops.u, x_axis);
      b.s = dot(loops.w, x_axis);
      b.x = T(bar.x), b.y = T(bar.y);
    } else {
      const auto& p = w.bars[bar.parent];
      b.c = p.c * x_axis.x - p.s * x_axis.y;
      b.s = p.s * x_axis.x + p.c * x_axis.y;
      b.x = p.x + (bar.x * p.c - bar.y * p.s);
      b.y = p.y + (bar.x * p.s + bar.y * p.c);
    }
  }
  T* K = rows.K;
  for (std::size_t l = 0; l < loops.pins.size(); ++l) {
    const PlanarLoops::Pin& pin = loops.pins[l];
    T x = T(pin.sx), y = T(pin.sy);
    if (pin.successor >= 0) {
      const auto& b = w.bars[pin.successor];
      x = b.x + (pin.sx * b.c - pin.sy * b.s);
      y = b.y + (pin.sx * b.s + pin.sy * b.c);
    }
    w.pins[2 * l] = x, w.pins[2 * l + 1] = y;
    const int length = sparse ? static_cast<int>(pin.path.size()) : rows.columns;
    if constexpr (!sparse) std::fill(K, K + 2 * length, T(0.0));
    int entry = 0;
    for (const auto& [bar, sign] : pin.path) {
      const int slot = sparse ? entry++ : bar;
      K[slot] = (w.bars[bar].y - y) * sign;
      K[length + slot] = (x - w.bars[bar].x) * sign;
    }
    K += 2 * length;
  }
}

/// k of planar loops.
template <class T>
static void plane_bias(const PlanarLoops& loops, const T* qd, PlanarLoops::Workspace<T>& w, T* k) {
  const T zero = T(0.0);
  for (std::size_t i = 0; i < loops.bars.size(); ++i) {
    const PlanarLoops::Bar& bar = loops.bars[i];
    auto& b = w.bars[i];
    if (bar.parent < 0) {
      b.omega = qd[i];
      b.ax = b.ay = zero;
    } else {
      const auto& p = w.bars[bar.parent];
      b.omega = p.omega + qd[i];
      b.ax = p.ax - p.ww * (b.x - p.x);
      b.ay = p.ay - p.ww * (b.y - p.y);
    }
    b.ww = b.omega * b.omega;
  }
  for (std::size_t l = 0; l < loops.pins.size(); ++l) {
    const PlanarLoops::Pin& pin = loops.pins[l];
    T &kx = k[2 * l], &ky = k[2 * l + 1];
    kx = ky = zero;
    if (pin.predecessor >= 0) {  // the same point on the predecessor: the loop is closed
      const auto& b = w.bars[pin.predecessor];
      kx = b.ax - b.ww * (pin.px * b.c - pin.py * b.s);
      ky = b.ay - b.ww * (pin.px * b.s + pin.py * b.c);
    }
    if (pin.successor >= 0) {
      const auto& b = w.bars[pin.successor];
      kx -= b.ax - b.ww * (w.pins[2 * l] - b.x);
      ky -= b.ay - b.ww * (w.pins[2 * l + 1] - b.y);
    }
  }
}

template <bool sparse, class T>
static void write_jacobian(const ClusterConstraint& constraint, const Model& model,
                           const Cluster& c, const SpanningView<T>& at, ConstraintWorkspace<T>& w) {
  RowWriter<sparse, T> K{w.K.data(), constraint.columns};
  for (const ClusterConstraint::Linear& equation : constraint.linear) {
    K.begin();
    for (const auto& [column, coefficient] : equation.terms) K.put(column, T(coefficient));
    K.end();
  }
  T *q = w.law_q.data(), *terms = w.law_terms.data();
  for (const ClusterConstraint::LawUse& use : constraint.laws) {
    const int n = static_cast<int>(use.positions.size()), m = static_cast<int>(use.kept.size());
    for (int i = 0; i < n; ++i) q[i] = at.q[use.positions[i]];
    use.law->jacobian(q, w.law_K.data(), terms);
    q += n;
    terms += use.law->terms();
    for (int e = 0; e < m; ++e) {
      if (!use.kept[e]) continue;
      if (n < K.columns) K.begin();
      for (int i = 0; i < n; ++i) K.put(use.columns[i], w.law_K[e * n + i]);
      K.end();
    }
  }
  if (constraint.planar) return plane_jacobian(*constraint.planar, c, at, w.plane, K);
  if (constraint.loops.empty()) return;
  place(model, c, at, w);
  for (const ClusterConstraint::Loop& loop : constraint.loops) {
    const LoopFrame<T> p = frame_on(c, loop.predecessor, loop.at_predecessor, w, false);
    const LoopFrame<T> s = frame_on(c, loop.successor, loop.at_successor, w, false);
    for (const LoopRow& row : loop.rows) {
      // A row sees the relative motion of s's origin (along, distance) or of s's axes (aligned).
      Vec3<T> by_rotation, by_translation;
      const Vec3<T> r = s.x - p.x;
      const bool angular = row.kind == LoopRow::Kind::aligned;
      if (angular) {
        by_rotation = cross(s.direction(row.b), p.direction(row.a));
      } else if (row.kind == LoopRow::Kind::along) {
        by_translation = p.direction(row.a);
      } else {
        by_translation = scale(T(1.0 / row.value), r);
      }
      K.begin();
      for (const auto& [b, sign] : loop.path) {
        const Body& body = model.body(b);
        const Vec3<T>& x = w.pose[b - c.first].x;
        for (int k = 0; k < body.nv; ++k) {
          const int column = body.v - c.spanning_v + k;
          const Motion<T>& S = w.S[column];
          K.put(column, angular ? dot(S.w, by_rotation) * sign
                                : dot(S.v + cross(S.w, s.x - x), by_translation) * sign);
        }
      }
      K.end();
    }
  }
}

template <class T>
static void jacobian(const ClusterConstraint& constraint, const Model& model, const Cluster& c,
                     const SpanningView<T>& at, ConstraintWorkspace<T>& w) {
  if (constraint.is_sparse()) {
    write_jacobian<true>(constraint, model, c, at, w);
  } else {
    write_jacobian<false>(constraint, model, c, at, w);
  }
}

template <class T>
static void bias(const ClusterConstraint& constraint, const Model& model, const Cluster& c,
                 const SpanningView<T>& at, ConstraintWorkspace<T>& w) {
  std::size_t row = 0;
  for (; row < constraint.linear.size(); ++row) w.k[row] = T(0.0);
  const T *q = w.law_q.data(), *terms = w.law_terms.data();
  for (const ClusterConstraint::LawUse& use : constraint.laws) {
    const int n = static_cast<int>(use.positions.size()), m = static_cast<int>(use.kept.size());
    for (int i = 0; i < n; ++i) w.law_qd[i] = at.qd[constraint.rate[use.columns[i]]];
    use.law->bias(q, w.law_qd.data(), terms, w.law_K.data());
    q += n;
    terms += use.law->terms();
    for (int e = 0; e < m; ++e) {
      if (use.kept[e]) w.k[row++] = w.law_K[e];
    }
  }
  if (constraint.planar)
    return plane_bias(*constraint.planar, at.qd + c.spanning_v, w.plane, w.k.data() + row);
  if (constraint.loops.empty()) return;
  move(model, c, at, w);
  for (const ClusterConstraint::Loop& loop : constraint.loops) {
    const LoopFrame<T> p = frame_on(c, loop.predecessor, loop.at_predecessor, w, true);
    const LoopFrame<T> s = frame_on(c, loop.successor, loop.at_successor, w, true);
    for (const LoopRow& r : loop.rows) w.k[row++] = -second_derivative(r, p, s);
  }
}

template <class T>
static void residual(const ClusterConstraint& constraint, const Model& model, const Cluster& c,
                     const SpanningView<T>& at, ClusterConstraint::Rows which,
                     ConstraintWorkspace<T>& w, std::vector<T>& phi) {
  const bool all = which == ClusterConstraint::Rows::all;
  phi.clear();
  for (const ClusterConstraint::Linear& equation :
       all ? constraint.all_linear : constraint.linear) {
    T sum = T(-equation.constant);
    for (const auto& [column, coefficient] : equation.terms) {
      sum += coefficient * at.q[constraint.position[column]];
    }
    phi.push_back(sum);
  }
  T* q = w.law_q.data();
  for (const ClusterConstraint::LawUse& use : constraint.laws) {
    const int n = static_cast<int>(use.positions.size());
    for (int i = 0; i < n; ++i) q[i] = at.q[use.positions[i]];
    use.law->phi(q, w.law_K.data());
    q += n;
    for (int e = 0; e < use.law->equations(); ++e) {
      if (all) {
        phi.push_back(use.measure[e] * w.law_K[e]);
      } else if (use.kept[e]) {
        phi.push_back(w.law_K[e]);
      }
    }
  }
  if (constraint.loops.empty()) return;
  place(model, c, at, w);
  for (const ClusterConstraint::Loop& loop : constraint.loops) {
    const LoopFrame<T> p = frame_on(c, loop.predecessor, loop.at_predecessor, w, false);
    const LoopFrame<T> s = frame_on(c, loop.successor, loop.at_successor, w, false);
    if (!all && constraint.planar) {  // K's rows are along the plane's axes
      phi.push_back(dot(constraint.planar->u, s.x - p.x));
      phi.push_back(dot(constraint.planar->w, s.x - p.x));
      continue;
    }
    for (const LoopRow& row : all ? loop.all_rows : loop.rows) {
      const T value = phi_of(row, p, s);
      if (row.kind == LoopRow::Kind::facing) {
        phi.push_back(select_less(T(0.0), value, T(0.0), T(1.0) - value));
      } else {
        phi.push_back(value);
      }
    }
  }
}

}  // namespace espalier::detail
