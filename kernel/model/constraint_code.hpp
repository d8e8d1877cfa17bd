#pragma once

#include <algorithm>
#include <cassert>
#include <span>
#include <vector>

#include "espalier/kernel/model/constraint.hpp"
#include "espalier/kernel/model/model.hpp"
#include "espalier/kernel/model/subspace.hpp"

/// What ClusterConstraint, SpanningMotion and batches compute of loops, for whoever compiles it:
/// the kernel, and on packs each variant of the plugin espalier_packs (kernel/pack_code.hpp). Not
/// for other plugins. Functions are static: every library has its own.

namespace espalier::detail {

/// Where a loop frame is and how it moves, axes and origin of the output body.
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
  if (body < c.first || body >= c.first + c.count) {  // the output body itself
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

/// Poses of the cluster's bodies and unit motions of their rates, relative to their output bodies.
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

/// Velocities, and accelerations at qdd = 0, relative to the output bodies.
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

/// K of planar loops: rows along the plane's fixed axes.
template <class T>
static void plane_jacobian(const PlanarLoops& loops, const Cluster& c, const SpanningView<T>& at,
                           int columns, PlanarLoops::Workspace<T>& w, T* K) {
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
  for (std::size_t l = 0; l < loops.pins.size(); ++l, K += 2 * columns) {
    const PlanarLoops::Pin& pin = loops.pins[l];
    T x = T(pin.sx), y = T(pin.sy);
    if (pin.successor >= 0) {
      const auto& b = w.bars[pin.successor];
      x = b.x + (pin.sx * b.c - pin.sy * b.s);
      y = b.y + (pin.sx * b.s + pin.sy * b.c);
    }
    w.pins[2 * l] = x, w.pins[2 * l + 1] = y;
    std::fill(K, K + 2 * columns, T(0.0));
    for (const auto& [bar, sign] : pin.path) {
      K[bar] = (w.bars[bar].y - y) * sign;
      K[columns + bar] = (x - w.bars[bar].x) * sign;
    }
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

/// A x = b in the least-squares sense, A of full column rank, by Householder reflections. A is
/// m x n, row-major; afterwards it holds R above the diagonal and the reflections below it.
template <class T>
static void qr_factor(T* A, int m, int n, T* beta) {
  for (int j = 0; j < n; ++j) {
    T square = T(0.0);
    for (int i = j; i < m; ++i) square += A[i * n + j] * A[i * n + j];
    const T norm = sqrt(square), a = A[j * n + j];
    const T alpha = select_less(a, T(0.0), norm, -norm);
    A[j * n + j] = a - alpha;
    // H = 1 - v v^T beta with v = column - alpha e_j and v^T v = 2 alpha (alpha - a).
    beta[j] = T(1.0) / (alpha * (alpha - a));
    for (int l = j + 1; l < n; ++l) {
      T s = T(0.0);
      for (int i = j; i < m; ++i) s += A[i * n + j] * A[i * n + l];
      s *= beta[j];
      for (int i = j; i < m; ++i) A[i * n + l] -= s * A[i * n + j];
    }
    beta[n + j] = T(1.0) / alpha;
  }
}
/// R x = b in place, for the first `size` of n unknowns.
template <class T>
static void back_substitute(const T* A, int n, int size, const T* beta, T* b) {
  for (int j = size - 1; j >= 0; --j) {
    for (int l = j + 1; l < size; ++l) b[j] -= A[j * n + l] * b[l];
    b[j] *= beta[n + j];
  }
}
template <class T>
static void qr_solve(const T* A, int m, int n, const T* beta, T* b) {
  for (int j = 0; j < n; ++j) {
    T s = T(0.0);
    for (int i = j; i < m; ++i) s += A[i * n + j] * b[i];
    s *= beta[j];
    for (int i = j; i < m; ++i) b[i] -= s * A[i * n + j];
  }
  back_substitute(A, n, n, beta, b);
}

/// K's dependent columns, row-major.
template <class T>
static void take_dependents(const ClusterConstraint& constraint, const T* K, T* A) {
  for (int i = 0; i < constraint.rows(); ++i, K += constraint.columns) {
    for (const int column : constraint.dependent) *A++ = K[column];
  }
}

template <class T>
static void jacobian(const ClusterConstraint& constraint, const Model& model, const Cluster& c,
                     const SpanningView<T>& at, ConstraintWorkspace<T>& w) {
  const int columns = constraint.columns;
  T* K = w.K.data();
  for (const ClusterConstraint::Linear& equation : constraint.linear) {
    std::fill(K, K + columns, T(0.0));
    for (const auto& [column, coefficient] : equation.terms) K[column] = T(coefficient);
    K += columns;
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
      if (n < columns) std::fill(K, K + columns, T(0.0));
      for (int i = 0; i < n; ++i) K[use.columns[i]] = w.law_K[e * n + i];
      K += columns;
    }
  }
  if (constraint.planar) return plane_jacobian(*constraint.planar, c, at, columns, w.plane, K);
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
      std::fill(K, K + columns, T(0.0));
      for (const auto& [b, sign] : loop.path) {
        const Body& body = model.body(b);
        const Vec3<T>& x = w.pose[b - c.first].x;
        for (int k = 0; k < body.nv; ++k) {
          const int column = body.v - c.spanning_v + k;
          const Motion<T>& S = w.S[column];
          K[column] = angular ? dot(S.w, by_rotation) * sign
                              : dot(S.v + cross(S.w, s.x - x), by_translation) * sign;
        }
      }
      K += columns;
    }
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

/// G, columns x independent, row-major, from w.K; keeps the factor of its dependent columns.
template <class T>
static void eliminate(const ClusterConstraint& constraint, ConstraintWorkspace<T>& w, T* G) {
  const int m = constraint.rows(), r = static_cast<int>(constraint.dependent.size());
  const int nv = static_cast<int>(constraint.independent.size());
  const T* K = w.K.data();
  const std::vector<int>& independent = constraint.independent;
  for (int i = 0; i < nv; ++i) {
    for (int j = 0; j < nv; ++j) G[independent[i] * nv + j] = T(i == j ? 1.0 : 0.0);
  }
  const auto row = [&](int i) { return G + constraint.dependent[i] * nv; };
  if (constraint.unit_dependents) {
    for (int i = 0; i < r; ++i, K += constraint.columns) {
      for (int j = 0; j < nv; ++j) row(i)[j] = -K[independent[j]];
    }
    return;
  }
  T* A = w.factor.data();
  if (r == 2 && m == 2) {  // A: the inverse
    const T* L = K + constraint.columns;
    const int first = constraint.dependent[0], second = constraint.dependent[1];
    const T inverse = T(1.0) / (K[first] * L[second] - K[second] * L[first]);
    const T a = L[second] * inverse, b = -(K[second] * inverse);
    const T c = -(L[first] * inverse), d = K[first] * inverse;
    for (int j = 0; j < nv; ++j) {
      const T x = K[independent[j]], y = L[independent[j]];
      row(0)[j] = -(a * x + b * y);
      row(1)[j] = -(c * x + d * y);
    }
    A[0] = a, A[1] = b, A[2] = c, A[3] = d;
    return;
  }
  take_dependents(constraint, w.K.data(), A);
  qr_factor(A, m, r, w.beta.data());
  for (int j = 0; j < nv; ++j) {
    for (int i = 0; i < m; ++i) w.k[i] = -K[i * constraint.columns + independent[j]];
    qr_solve(A, m, r, w.beta.data(), w.k.data());
    for (int i = 0; i < r; ++i) row(i)[j] = w.k[i];
  }
}

/// qd = G v of a cluster's rates.
template <class T>
static void expand_loop(const ClusterConstraint& constraint, const Cluster& c, const T* G,
                        const T* v, T* qd) {
  for (int i = 0; i < c.nv; ++i) qd[constraint.rate[constraint.independent[i]]] = v[c.v + i];
  for (const int column : constraint.dependent) {
    T sum = T(0.0);
    for (int j = 0; j < c.nv; ++j) sum += G[column * c.nv + j] * v[c.v + j];
    qd[constraint.rate[column]] = sum;
  }
}

/// g of a cluster's rates from w.k and what eliminate() kept.
template <class T>
static void eliminate_bias(const ClusterConstraint& constraint, ConstraintWorkspace<T>& w, T* g) {
  const int m = constraint.rows(), r = static_cast<int>(constraint.dependent.size());
  const auto of = [&](int column) -> T& { return g[constraint.rate[column]]; };
  for (const int column : constraint.independent) of(column) = T(0.0);
  if (!constraint.unit_dependents) {
    const T* A = w.factor.data();
    if (r == 2 && m == 2) {
      const T x = w.k[0], y = w.k[1];
      of(constraint.dependent[0]) = A[0] * x + A[1] * y;
      of(constraint.dependent[1]) = A[2] * x + A[3] * y;
      return;
    }
    qr_solve(A, m, r, w.beta.data(), w.k.data());
  }
  for (int i = 0; i < r; ++i) of(constraint.dependent[i]) = w.k[i];
}

/// Of qdd = G vdot + g some clusters' g, after eliminate_loops() without g, from at.qd and at.bias.
/// @param work  that of each cluster
/// @param g     of the model's spanning rates
template <class T>
static void eliminate_biases(const Model& model, std::span<const Cluster* const> loops,
                             std::span<ConstraintWorkspace<T>> work, const SpanningView<T>& at,
                             T* g) {
  assert(work.size() == loops.size());
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const ClusterConstraint& constraint = *loops[i]->constraint;
    bias(constraint, model, *loops[i], at, work[i]);
    eliminate_bias(constraint, work[i], g);
  }
}

/// For some clusters G and, unless v is null, qd = G v, to which at.qd points, and g.
/// @param work  one for all clusters, which then stays in the cache, or one for each
/// @param v     independent rates of the model
/// @param G     of all clusters, each rows() x nv, row-major
/// @param qd    of the model's spanning rates
/// @param g     likewise; nullptr where at.bias waits for qd: then each cluster has its own work,
/// and
///              eliminate_biases() follows
template <class T>
static void eliminate_loops(const Model& model, std::span<const Cluster* const> loops,
                            std::span<ConstraintWorkspace<T>> work, const SpanningView<T>& at,
                            const T* v, T* G, T* qd, T* g) {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const Cluster& c = *loops[i];
    ConstraintWorkspace<T>& w = work[work.size() > 1 ? i : 0];
    jacobian(*c.constraint, model, c, at, w);
    eliminate(*c.constraint, w, G + c.G_start);
    if (v == nullptr) continue;
    expand_loop(*c.constraint, c, G + c.G_start, v, qd);
    if (g == nullptr) continue;
    bias(*c.constraint, model, c, at, w);
    eliminate_bias(*c.constraint, w, g);
  }
}

/// Not more than the smallest singular value of K's dependent columns over the largest of K, after
/// jacobian(): a lower bound by Frobenius norms, 0 where there is none. Overwrites what eliminate()
/// keeps.
template <class T>
static T margin(const ClusterConstraint& constraint, ConstraintWorkspace<T>& w) {
  const int m = constraint.rows(), r = static_cast<int>(constraint.dependent.size());
  if (r == 0) return T(1.0);
  if (m < r) return T(0.0);
  T* A = w.factor.data();
  take_dependents(constraint, w.K.data(), A);
  qr_factor(A, m, r, w.beta.data());
  T inverse = T(0.0), all = T(0.0);
  for (int j = 0; j < r; ++j) {  // column j of R^-1
    T* x = w.k.data();
    for (int i = 0; i <= j; ++i) x[i] = T(i == j ? 1.0 : 0.0);
    back_substitute(A, r, j + 1, w.beta.data(), x);
    for (int i = 0; i <= j; ++i) inverse += x[i] * x[i];
  }
  for (int i = 0; i < m * constraint.columns; ++i) all += w.K[i] * w.K[i];
  const T margin = T(1.0) / sqrt(inverse * all);
  return select_less(T(0.0), margin, margin, T(0.0));
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
      if (all || use.kept[e]) phi.push_back(w.law_K[e]);
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

/// out = G x for the rows of some clusters. @param G  of all clusters
template <class T>
static void expand(std::span<const Cluster* const> clusters, const T* G, const T* x, T* out) {
  for (const Cluster* c : clusters) {
    if (!c->constrained) {
      for (int i = 0; i < c->nv; ++i) out[c->spanning_v + i] = x[c->v + i];
      continue;
    }
    const T* row = G + c->G_start;
    for (int i = 0; i < c->rows(); ++i, row += c->nv) {
      T sum = T(0.0);
      for (int j = 0; j < c->nv; ++j) sum += row[j] * x[c->v + j];
      out[c->rate(i)] = sum;
    }
  }
}
/// out = G^T x, likewise.
template <class T>
static void reduce(std::span<const Cluster* const> clusters, const T* G, const T* x, T* out) {
  for (const Cluster* c : clusters) {
    if (!c->constrained) {
      for (int i = 0; i < c->nv; ++i) out[c->v + i] = x[c->spanning_v + i];
      continue;
    }
    for (int j = 0; j < c->nv; ++j) {
      T sum = T(0.0);
      for (int i = 0; i < c->rows(); ++i) sum += G[c->G_start + i * c->nv + j] * x[c->rate(i)];
      out[c->v + j] = sum;
    }
  }
}

}  // namespace espalier::detail
