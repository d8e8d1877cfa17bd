#include "espalier/kernel/model/motion/spanning_variation.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "espalier/kernel/model/loops/loop_elimination.hpp"
#include "espalier/kernel/model/packs/pack_code.hpp"

namespace espalier {

template <class T>
SpanningVariation<T>::SpanningVariation(const Model& model)
    : joints(model),
      model_(model),
      loop_of_(model.clusters().size(), -1),
      joint_varies_(model.body_count() + 1, false),
      G_(model.G_size()),
      qd_(model.spanning_nv(), T(0.0)),
      qdd_(model.spanning_nv(), T(0.0)),
      g_(model.spanning_nv(), T(0.0)),
      zero_(std::max(model.nv(), 6), T(0.0)) {
  if constexpr (is_pack<T>) model.pack_code();  // finds it now, not in a call
  for (const BodyRun& run : model.active_runs()) {
    for (int i = run.first; i < run.first + run.count; ++i) {
      joint_varies_[i] = run.joints->subspace_varies();
    }
  }
  std::size_t D = 0, rows = 0, nv = 0, bodies = 0, equations = 0;
  for (const Cluster& c : model.clusters()) {
    for (std::size_t i = 0; i < c.G.size(); ++i) G_[c.G_start + i] = T(c.G[i]);
    if (c.constraint == nullptr) {
      constant_.push_back(&c);
      continue;
    }
    loop_of_[&c - model.clusters().data()] = static_cast<int>(loops_.size());
    LoopState& loop = loops_.emplace_back();
    loop.cluster = &c;
    c.constraint->allocate(c, loop.work);
    if (c.constraint->blocks) loop.solution.resize(c.constraint->columns);
    loop.D = D;
    D += static_cast<std::size_t>(c.rows()) * c.nv * c.nv;
    rows = std::max<std::size_t>(rows, c.rows());
    nv = std::max<std::size_t>(nv, c.nv);
    bodies = std::max<std::size_t>(bodies, c.count);
    equations = std::max<std::size_t>(equations, c.constraint->rows());
    for (const ClusterConstraint::LawUse& use : c.constraint->laws) {
      equations = std::max<std::size_t>(equations, use.law->equations());
      rows = std::max<std::size_t>(rows, use.positions.size());
    }
  }
  if (loops_.empty()) return;
  V_.assign(model.G_size(), T(0.0));
  W_ = P_ = V_;
  D_.assign(D, T(0.0));
  for (auto* x : {&unit_, &rates_, &accelerations_, &column_, &column_rate_}) {
    x->assign(rows, T(0.0));
  }
  d_.assign(equations, T(0.0)), dd_ = d_;
  law_.assign(5 * rows + 2 * equations, T(0.0));
  motion_.resize(bodies);
}

template <class T>
void SpanningVariation<T>::expand(const T* x, T* out) const {
  detail::expand<T>(constant_, G_.data(), x, out);
  for (const LoopState& loop : loops_) {
    detail::expand<T>(std::span(&loop.cluster, 1), G_.data(), x, out);
  }
}

template <class T>
void SpanningVariation<T>::reduce(const T* x, T* out) const {
  detail::reduce<T>(constant_, G_.data(), x, out);
  for (const LoopState& loop : loops_) {
    detail::reduce<T>(std::span(&loop.cluster, 1), G_.data(), x, out);
  }
}

template <class T>
void SpanningVariation<T>::update(const T* q, const T* v) {
  q_ = q;
  if (v == nullptr) v = zero_.data();
  const std::span<const BodyRun> runs = model_.active_runs();
  if (!loops_.empty()) {
    for (const BodyRun& run : runs) joints.update(run, q, nullptr);
  }
  const SpanningView<T> at{q, qd_.data(), joints.X.data(), joints.S.data(), joints.bias.data()};
  for (LoopState& loop : loops_) {
    const std::span<const Cluster* const> one(&loop.cluster, 1);
    const std::span<ConstraintWorkspace<T>> work(&loop.work, 1);
    if constexpr (is_pack<T>) {
      model_.pack_code().eliminate_loops(model_, one, work, at, v, G_.data(), qd_.data(), nullptr);
    } else {
      detail::eliminate_loops<T>(model_, one, work, at, v, G_.data(), qd_.data(), nullptr);
    }
  }
  detail::expand<T>(constant_, G_.data(), v, qd_.data());
  for (const BodyRun& run : runs) {  // biases of joints need the rates
    if (loops_.empty() || run.subspace == SubspaceKind::dense) joints.update(run, q, qd_.data());
  }

  for (LoopState& loop : loops_) {
    const Cluster& c = *loop.cluster;
    const std::span<const Cluster* const> one(&loop.cluster, 1);
    const std::span<ConstraintWorkspace<T>> work(&loop.work, 1);
    if constexpr (is_pack<T>) {
      model_.pack_code().eliminate_biases(model_, one, work, at, g_.data());
    } else {
      detail::eliminate_biases<T>(model_, one, work, at, g_.data());
    }
    const int nv = c.nv, rows = c.rows();
    const T* G = G_.data() + c.G_start;
    T* const D = D_.data() + loop.D;
    std::fill(accelerations_.begin(), accelerations_.end(), T(0.0));
    std::fill(column_rate_.begin(), column_rate_.end(), T(0.0));
    for (int j = 0; j < nv; ++j) {
      for (int i = 0; i < rows; ++i) rates_[i] = G[i * nv + j];
      for (int k = 0; k < nv; ++k) {
        for (int i = 0; i < rows; ++i) column_[i] = G[i * nv + k];
        second_order(loop, rates_.data(), accelerations_.data(), column_.data(),
                     column_rate_.data(), d_.data(), dd_.data());
        solve(loop, d_.data(), D + j * nv + k, nv * nv);
      }
    }
    // V e_k = sum of v_j d_k (G e_j), and W = dG/dt + V.
    T *V = V_.data() + c.G_start, *W = W_.data() + c.G_start;
    for (int i = 0; i < rows; ++i) {
      for (int k = 0; k < nv; ++k) {
        T Vik = T(0.0), Gdik = T(0.0);
        for (int j = 0; j < nv; ++j) {
          Vik += D[(i * nv + j) * nv + k] * v[c.v + j];
          Gdik += D[(i * nv + k) * nv + j] * v[c.v + j];
        }
        V[i * nv + k] = Vik;
        W[i * nv + k] = Vik + Gdik;
      }
    }
  }
}

template <class T>
T SpanningVariation<T>::margin() {
  T least = T(1.0);
  for (LoopState& loop : loops_) {
    const ClusterConstraint& constraint = *loop.cluster->constraint;
    if constexpr (is_pack<T>) {
      model_.pack_code().take_margin(constraint, loop.work, least);
    } else {
      const T margin = detail::margin(constraint, loop.work);
      least = select_less(margin, least, margin, least);
    }
  }
  return least;
}

template <class T>
void SpanningVariation<T>::accelerate(const T* vdot) {
  expand(vdot == nullptr ? zero_.data() : vdot, qdd_.data());
  for (LoopState& loop : loops_) {
    const Cluster& c = *loop.cluster;
    const int nv = c.nv, rows = c.rows();
    const T *G = G_.data() + c.G_start, *V = V_.data() + c.G_start;
    for (int i = 0; i < rows; ++i) {
      T& qdd = qdd_[c.rate(i)];
      qdd += g_[c.rate(i)];
      accelerations_[i] = qdd;
      rates_[i] = qd_[c.rate(i)];
    }
    for (int k = 0; k < nv; ++k) {
      for (int i = 0; i < rows; ++i) {
        column_[i] = G[i * nv + k], column_rate_[i] = V[i * nv + k];
      }
      second_order(loop, rates_.data(), accelerations_.data(), column_.data(), column_rate_.data(),
                   d_.data(), dd_.data());
      solve(loop, dd_.data(), P_.data() + c.G_start + k, nv);
    }
  }
}

template <class T>
void SpanningVariation<T>::add_H(const Cluster& c, const T* t, T* H, int stride) const {
  if (!varies(c)) return;
  const T* D = this->D(c);
  const int nv = c.nv;
  for (const int i : c.constraint->dependent) {
    const T& force = t[c.rate(i)];
    for (int j = 0; j < nv; ++j) {
      for (int k = 0; k < nv; ++k) H[j * stride + k] += D[(i * nv + j) * nv + k] * force;
    }
  }
}

template <class T>
void SpanningVariation<T>::add_H_transposed(const Cluster& c, const T* t, const T* x,
                                            T* out) const {
  if (!varies(c)) return;
  const T* D = this->D(c);
  const int nv = c.nv;
  for (const int i : c.constraint->dependent) {
    const T& force = t[c.rate(i)];
    for (int j = 0; j < nv; ++j) {
      const T weight = force * x[j];
      for (int k = 0; k < nv; ++k) out[k] += D[(i * nv + j) * nv + k] * weight;
    }
  }
}

template <class T>
void SpanningVariation<T>::solve(LoopState& loop, T* r, T* out, int stride) const {
  const ClusterConstraint& constraint = *loop.cluster->constraint;
  const int m = constraint.rows(), n = static_cast<int>(constraint.dependent.size());
  const T* A = loop.work.factor.data();
  if (constraint.blocks) {
    const LoopBlocks& all = *constraint.blocks;
    T* x = loop.solution.data();
    T* right = loop.work.right.data();
    for (const int column : constraint.independent) x[column] = T(0.0);
    for (const LoopBlocks::Block& block : all.blocks) {
      for (int i = 0; i < block.size; ++i) right[i] = r[all.rows[block.first + i]];
      for (int e = block.outside; e < block.outside_end; ++e) {
        const LoopBlocks::Outside& entry = all.outside[e];
        right[entry.row] -= loop.work.K[entry.value] * x[entry.column];
      }
      detail::solve_block(block, loop.work, right);
      for (int i = 0; i < block.size; ++i) x[all.columns[block.first + i]] = right[i];
    }
    for (const int column : constraint.dependent) out[column * stride] = -x[column];
    return;
  }
  if (!constraint.unit_dependents) {
    if (n == 2 && m == 2) {
      const T x = r[0], y = r[1];
      r[0] = A[0] * x + A[1] * y;
      r[1] = A[2] * x + A[3] * y;
    } else {
      detail::qr_solve(A, m, n, loop.work.beta.data(), r);
    }
  }
  for (int i = 0; i < n; ++i) out[constraint.dependent[i] * stride] = -r[i];
}

template <class T>
void SpanningVariation<T>::vary_rows(const Cluster& c, const T* qd, const T* qdd, const T* x,
                                     const T* xd, T* d, T* dd) {
  second_order(loops_[loop_of_[&c - model_.clusters().data()]], qd, qdd, x, xd, d, dd);
}

template <class T>
void SpanningVariation<T>::follow_rows(const Cluster& c, T* r, T* out) {
  for (const int column : c.constraint->independent) out[column] = T(0.0);
  solve(loops_[loop_of_[&c - model_.clusters().data()]], r, out, 1);
}

template <class T>
void SpanningVariation<T>::second_order(LoopState& loop, const T* qd, const T* qdd, const T* x,
                                        const T* xd, T* d, T* dd) {
  const ClusterConstraint& constraint = *loop.cluster->constraint;
  const std::size_t linear = constraint.linear.size();
  for (std::size_t i = 0; i < linear; ++i) d[i] = dd[i] = T(0.0);
  vary_laws(loop, qd, qdd, x, xd, d, dd);
  if (constraint.planar) {
    vary_plane(loop, qd, qdd, x, xd, d, dd);
  } else if (!constraint.loops.empty()) {
    vary_loops(loop, qd, qdd, x, xd, d, dd);
  }
}

template <class T>
void SpanningVariation<T>::vary_laws(LoopState& loop, const T* qd, const T* qdd, const T* x,
                                     const T* xd, T* d, T* dd) {
  const ClusterConstraint& constraint = *loop.cluster->constraint;
  std::size_t row = constraint.linear.size();
  for (const ClusterConstraint::LawUse& use : constraint.laws) {
    const int n = static_cast<int>(use.positions.size());
    T *lq = law_.data(), *lqd = lq + n, *lqdd = lqd + n, *lx = lqdd + n, *lxd = lx + n,
      *ld = lxd + n, *ldd = ld + use.law->equations();
    for (int i = 0; i < n; ++i) {
      const int column = use.columns[i];
      lq[i] = q_[use.positions[i]];
      lqd[i] = qd[column], lqdd[i] = qdd[column], lx[i] = x[column], lxd[i] = xd[column];
    }
    use.law->vary(lq, lqd, lqdd, lx, lxd, ld, ldd);
    for (int e = 0; e < use.law->equations(); ++e) {
      if (use.kept[e]) d[row] = ld[e], dd[row] = ldd[e], ++row;
    }
  }
}

/// Bars are complex numbers z exp(i psi). With w, a, x, xd the first and second derivative of psi
/// by t, that by e, and by both, z varies by t and e as (i xd - x w) z, and by t twice and e as
/// (-x a - 2 w xd - i x w²) z.
template <class T>
void SpanningVariation<T>::vary_plane(LoopState& loop, const T* qd, const T* qdd, const T* x,
                                      const T* xd, T* d, T* dd) {
  const ClusterConstraint& constraint = *loop.cluster->constraint;
  const PlanarLoops& plane = *constraint.planar;
  const auto& bars = loop.work.plane.bars;
  const std::size_t first = constraint.rows() - 2 * plane.pins.size();
  // Per bar: sums of rates along its chain in motion_[bar].v.w, and the variation of its joint's
  // place, by t and by t twice, in motion_[bar].a.
  const auto arm = [&](int bar, const T& zx, const T& zy, T& ex, T& ey, T& ttx, T& tty) {
    const BodyMotion& m = motion_[bar];
    const T &w = m.v.w.x, &a = m.v.w.y, &by_e = m.v.w.z, &w_e = m.v.v.x;
    const T re = -(by_e * w);
    ex = re * zx - w_e * zy;
    ey = re * zy + w_e * zx;
    const T two = w * w_e, real = -(by_e * a) - (two + two), imaginary = -(by_e * (w * w));
    ttx = real * zx - imaginary * zy;
    tty = real * zy + imaginary * zx;
  };
  for (std::size_t i = 0; i < plane.bars.size(); ++i) {
    const PlanarLoops::Bar& bar = plane.bars[i];
    BodyMotion& m = motion_[i];
    m.v.w = {qd[i], qdd[i], x[i]}, m.v.v.x = xd[i];
    m.a = Motion<T>::zero();
    if (bar.parent < 0) continue;
    const BodyMotion& p = motion_[bar.parent];
    m.v.w += p.v.w, m.v.v.x += p.v.v.x;
    T ex, ey, ttx, tty;
    arm(bar.parent, bars[i].x - bars[bar.parent].x, bars[i].y - bars[bar.parent].y, ex, ey, ttx,
        tty);
    m.a.w.x = p.a.w.x + ex, m.a.w.y = p.a.w.y + ey;
    m.a.v.x = p.a.v.x + ttx, m.a.v.y = p.a.v.y + tty;
  }
  for (std::size_t l = 0; l < plane.pins.size(); ++l) {
    const PlanarLoops::Pin& pin = plane.pins[l];
    T* const rows[2] = {d + first + 2 * l, dd + first + 2 * l};
    rows[0][0] = rows[0][1] = rows[1][0] = rows[1][1] = T(0.0);
    const auto add = [&](int bar, double px, double py, double sign) {
      if (bar < 0) return;
      const auto& b = bars[bar];
      T ex, ey, ttx, tty;
      arm(bar, px * b.c - py * b.s, px * b.s + py * b.c, ex, ey, ttx, tty);
      const BodyMotion& m = motion_[bar];
      rows[0][0] += sign * (m.a.w.x + ex), rows[0][1] += sign * (m.a.w.y + ey);
      rows[1][0] += sign * (m.a.v.x + ttx), rows[1][1] += sign * (m.a.v.y + tty);
    };
    add(pin.successor, pin.sx, pin.sy, 1.0);
    add(pin.predecessor, pin.px, pin.py, -1.0);
  }
}

template <class T>
auto SpanningVariation<T>::Frame::direction(const Vec3<double>& in_frame) const -> Path {
  Path p;
  p.x = transpose_times(E, in_frame);
  p.t = cross(v.w, p.x);
  p.e = cross(theta.w, p.x);
  p.tt = cross(a.w, p.x) + cross(v.w, p.t);
  p.et = cross(dv.w, p.x) + cross(v.w, p.e);
  p.ett = cross(da.w, p.x) + cross(a.w, p.e) + cross(dv.w, p.t) + cross(v.w, p.et);
  return p;
}

template <class T>
auto SpanningVariation<T>::frame(const Cluster& c, const ConstraintWorkspace<T>& w, int body,
                                 const Transform<double>& place) const -> Frame {
  Frame f;
  const Vec3<T> zero = Vec3<T>::zero();
  if (body < c.first || body >= c.first + c.count) {  // on the supporting body, which does not move
    f.v = f.a = f.theta = f.dv = f.da = Motion<T>::zero();
    f.E = Mat3<T>::from(place.E);
    f.origin = {Vec3<T>::from(place.r), zero, zero, zero, zero, zero};
    return f;
  }
  const auto& pose = w.pose[body - c.first];
  const BodyMotion& m = motion_[body - c.first];
  f.E = place.E * pose.E;
  f.v = m.v, f.a = m.a, f.theta = m.theta;
  // In axes that do not turn with the body.
  f.dv = m.psi1 + cross(m.theta, m.v);
  f.da = m.psi2 - cross(m.v, m.psi1) + cross(m.theta, m.a);
  Path& o = f.origin;
  o.x = pose.x + transpose_times(pose.E, place.r);
  o.t = f.v.v + cross(f.v.w, o.x);
  o.e = f.theta.v + cross(f.theta.w, o.x);
  o.tt = f.a.v + cross(f.a.w, o.x) + cross(f.v.w, o.t);
  o.et = f.dv.v + cross(f.dv.w, o.x) + cross(f.v.w, o.e);
  o.ett = f.da.v + cross(f.da.w, o.x) + cross(f.a.w, o.e) + cross(f.dv.w, o.t) + cross(f.v.w, o.et);
  return f;
}

template <class T>
void SpanningVariation<T>::vary_loops(LoopState& loop, const T* qd, const T* qdd, const T* x,
                                      const T* xd, T* d, T* dd) {
  const Cluster& c = *loop.cluster;
  const ClusterConstraint& constraint = *c.constraint;
  const ConstraintWorkspace<T>& w = loop.work;
  for (int i = c.first; i < c.first + c.count; ++i) {
    const Body& body = model_.body(i);
    const auto& pose = w.pose[i - c.first];
    BodyMotion& m = motion_[i - c.first];
    const Motion<T> zero = Motion<T>::zero();
    Motion<T> v = zero, a = zero;
    m.theta = m.psi1 = m.psi2 = zero;
    if (body.parent >= c.first) {
      const BodyMotion& p = motion_[body.parent - c.first];
      v = p.v, a = p.a, m.theta = p.theta, m.psi1 = p.psi1, m.psi2 = p.psi2;
    }
    const int first = body.v - c.spanning_v;
    Motion<T> Sx = zero, S_qdd = zero, d_vJ = zero, d_aJ = zero;
    m.vJ = zero;
    // About the supporting body's origin, its axes.
    const auto outside = [&](const Motion<T>& s) -> Motion<T> {
      return {s.w, s.v + cross(pose.x, s.w)};
    };
    for (int k = 0; k < body.nv; ++k) {
      const Motion<T> S = outside(w.S[first + k]);
      m.vJ += scale(qd[first + k], S), S_qdd += scale(qdd[first + k], S);
      Sx += scale(x[first + k], S), d_vJ += scale(xd[first + k], S);
    }
    if (joint_varies_[i]) {
      std::array<Motion<T>, 6> dS;
      Motion<T> bias, d_bias;
      const auto from_body = [&](const Motion<T>& s) {
        return outside({transpose_times(pose.E, s.w), transpose_times(pose.E, s.v)});
      };
      // bias is S'[qd] qd, which holds for any rates.
      const BodyRun& run = model_.runs()[body.run];
      const T* q = q_ + body.q;
      run.joints->vary(i - run.first, q, qd + first, qd + first, zero_.data(), dS.data(), bias);
      bias = zero;
      for (int k = 0; k < body.nv; ++k) bias += scale(qd[first + k], dS[k]);
      S_qdd += from_body(bias);
      run.joints->vary(i - run.first, q, qd + first, x + first, xd + first, dS.data(), d_bias);
      d_aJ += from_body(d_bias);
      for (int k = 0; k < body.nv; ++k) {
        d_vJ += scale(qd[first + k], from_body(dS[k]));
        d_aJ += scale(qdd[first + k], from_body(dS[k]));
      }
    }
    m.v = v + m.vJ;
    m.a = a + S_qdd + cross(m.v, m.vJ);
    m.theta += Sx;
    const Motion<T> v_Sx = cross(v, Sx);
    m.psi1 += v_Sx + d_vJ;
    m.psi2 += cross(a, Sx) + d_aJ + cross(v, v_Sx + d_vJ) + cross(m.v, d_vJ);
  }

  std::size_t row = constraint.linear.size();
  for (const ClusterConstraint::LawUse& use : constraint.laws) {
    row += static_cast<std::size_t>(std::count(use.kept.begin(), use.kept.end(), true));
  }
  const auto product = [&](const Path& p, const Path& s, double factor) {
    d[row] = factor * (dot(p.et, s.x) + dot(p.e, s.t) + dot(p.t, s.e) + dot(p.x, s.et));
    const T crossed = dot(p.et, s.t) + dot(p.t, s.et);
    dd[row] = factor * (dot(p.ett, s.x) + dot(p.e, s.tt) + (crossed + crossed) + dot(p.tt, s.e) +
                        dot(p.x, s.ett));
    ++row;
  };
  for (const ClusterConstraint::Loop& l : constraint.loops) {
    const Frame p = frame(c, w, l.predecessor, l.at_predecessor);
    const Frame s = frame(c, w, l.successor, l.at_successor);
    const Path r{s.origin.x - p.origin.x,   s.origin.t - p.origin.t,   s.origin.e - p.origin.e,
                 s.origin.et - p.origin.et, s.origin.tt - p.origin.tt, s.origin.ett - p.origin.ett};
    for (const LoopRow& rows : l.rows) {
      switch (rows.kind) {
        case LoopRow::Kind::along:
          product(p.direction(rows.a), r, 1.0);
          break;
        case LoopRow::Kind::distance:
          product(r, r, 0.5 / rows.value);
          break;
        default:
          product(p.direction(rows.a), s.direction(rows.b), 1.0);
          break;
      }
    }
  }
}

template <class T>
void SpanningVariation<T>::vary_joint(int body, const T* x, const T* xd, Motion<T>* dS,
                                      Motion<T>& dbias) const {
  const Body& b = model_.body(body);
  const BodyRun& run = model_.runs()[b.run];
  run.joints->vary(body - run.first, q_ + b.q, qd_.data() + b.v, x, xd, dS, dbias);
}

#define ESPALIER_INSTANTIATE(T) template class SpanningVariation<T>;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
ESPALIER_INSTANTIATE(Dual<double>)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
