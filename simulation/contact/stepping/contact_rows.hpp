#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/kernel/model/subspace.hpp"
#include "espalier/simulation/contact/problems/step.hpp"

namespace espalier::contact {

/// Tangents of a contact: n x e_k, k the smallest |n_k|, and n x that.
template <class T>
inline void contact_tangents(const Vec3<T>& n, Vec3<T>& t1, Vec3<T>& t2) {
  const T x = abs(n.x), y = abs(n.y), z = abs(n.z), zero(0.0);
  const Mask<T> by_x = less_equal(x, y) & less_equal(x, z), by_y = ~by_x & less_equal(y, z);
  const Vec3<T> t(select(by_x, zero, select(by_y, -n.z, n.y)),
                  select(by_x, n.z, select(by_y, zero, -n.x)),
                  select(by_x, -n.y, select(by_y, n.x, zero)));
  const T inverse = T(1.0) / sqrt(dot(t, t));
  t1 = scale(inverse, t);
  t2 = cross(n, t1);
}

/// Which of the six unit motions, angular first, a column of S is.
template <class Ops>
struct UnitAxis;
template <int... axis>
struct UnitAxis<SubspaceOps<Axes<axis...>>> {
  static constexpr int of(int column) { return Axes<axis...>::index[column]; }
};

/// Rows of a step: where points touch, their Jacobians in independent rates, and what the problem
/// asks of them.
template <class T>
class ContactRows {
 public:
  explicit ContactRows(const Plan& plan)
      : plan_(plan), X_(plan.model().body_count() + 1), columns_(plan.columns().size()) {
    X_[0] = Transform<T>::identity();
    poses_.resize(plan.solids().size());
    for (std::size_t k = 0; k < poses_.size(); ++k) {
      if (plan.solids()[k].body == 0) poses_[k] = Transform<T>::from(plan.solids()[k].X);
    }
  }

  /// Where a placed body is, from the world's frame, and columns as the plan has them: after
  /// fill().
  const Transform<T>& place(int body) const { return X_[body]; }
  const std::vector<Motion<T>>& columns() const { return columns_; }

  /// Places bodies, finds points, and lists those that some lane is near.
  void find(StepState<T>& s, const SpanningMotion<T>& motion, const Collision<T>& collision) {
    const Model& model = plan_.model();
    for (const int i : plan_.placed()) {
      const Transform<T>& X = motion.joints.X[i];
      X_[i] = model.body(i).parent == 0 ? X : X * X_[model.body(i).parent];
    }
    for (std::size_t k = 0; k < poses_.size(); ++k) {
      const Plan::Solid& solid = plan_.solids()[k];
      if (solid.body == 0) continue;
      if (solid.placed.shape.kind == Shape::Kind::sphere) {  // looks the same however it is turned
        const Transform<T>& X = X_[solid.body];
        poses_[k] = {X.E, X.r + transpose_times(X.E, solid.X.r)};
      } else {
        poses_[k] = solid.X * X_[solid.body];
      }
    }
    s.contacts.clear();
    s.depth = T(0.0), s.deep = false;
    const T margin(plan_.world().margin);
    const T slop(plan_.options().slop);
    for (const Plan::Pair& pair : plan_.pairs()) {
      const Plan::Solid &a = plan_.solids()[pair.a], &b = plan_.solids()[pair.b];
      if (std::isfinite(pair.reach) && !meet(pair, margin)) {
        for (int k = 0; k < pair.count; ++k) s.near[pair.first + k] = Mask<T>::none();
        continue;
      }
      collision.collide(a.placed.shape, poses_[pair.a], b.placed.shape, poses_[pair.b],
                        s.touch.data() + pair.first);
      for (int k = 0; k < pair.count; ++k) {
        const int point = pair.first + k;
        const T& gap = s.touch[point].gap;
        s.near[point] = less(gap, margin);
        if (!s.near[point].any()) continue;
        s.contacts.push_back(point);
        s.depth = larger(select(s.near[point], -gap / T(pair.too_deep), T(0.0)), s.depth);
        s.deep = s.deep || (pair.surface.stiffness == 0.0 && less(gap, -slop).any());
      }
    }
  }

  /// Jacobians of all rows, and what of the problem does not depend on them.
  void fill(StepState<T>& s, const SpanningMotion<T>& motion, double h) {
    const int contacts = static_cast<int>(s.contacts.size()), nv = plan_.model().nv();
    s.problem.reshape(contacts, plan_.scalar_rows());
    const std::size_t m = s.problem.size();
    s.J.resize(m * nv), s.Y.resize(m * nv);  // entries outside of the rows' supports mean nothing
    s.support.resize(m);
    s.t1.resize(contacts), s.t2.resize(contacts);
    s.compliance.assign(contacts, T(0.0)), s.bounce.assign(contacts, T(0.0));
    s.before.resize(m);
    for (const int i : plan_.placed()) columns(motion, i);
    links_ = plan_.newton_way() != NewtonWay::dense;
    if (links_) {
      s.links.points = s.contacts;
      s.links.contact.resize(static_cast<std::size_t>(plan_.links_of_contact()) * 18 * contacts);
      s.links.held.resize(6 * plan_.held().size());
      s.links.joint.clear();
    }
    for (int c = 0; c < contacts; ++c) add_contact(s, c);
    int row = 3 * contacts;
    absent_.assign(m, Mask<T>::none());
    for (const Plan::JointRow& limit : plan_.limits()) add_limit(s, motion, limit, row++, h);
    for (const Plan::JointRow& friction : plan_.frictions()) {
      s.support[row] = &friction.support;
      clear(s, row);
      add_joint_row(motion, friction.rate, T(1.0), J(s, row));
      s.problem.lower[row - 3 * contacts] = T(-h * friction.bound);
      s.problem.upper[row - 3 * contacts] = T(h * friction.bound);
      ++row;
    }
    for (std::size_t k = 0; k < plan_.held().size(); ++k) add_held(s, static_cast<int>(k), row++);
    if (!links_) return;
    row = 3 * contacts;
    for (const Plan::JointRow& limit : plan_.limits()) keep_joint_row(s, limit, row++);
    for (const Plan::JointRow& friction : plan_.frictions()) keep_joint_row(s, friction, row++);
  }

  /// g, diagonals and the warm start, once G is there.
  void finish(StepState<T>& s, double h) {
    ImpulseProblem<T>& p = s.problem;
    const int m = p.size();
    const T infinite(std::numeric_limits<double>::infinity());
    s.bounces = false;
    for (int i = 0; i < m; ++i) {
      const T* row = J(s, i);
      T rate(0.0);
      for (const int k : *s.support[i]) rate += row[k] * s.vf[k];
      s.before[i] = rate;
      p.g[i] += rate;
    }
    for (int c = 0; c < p.contacts; ++c) {
      const int point = s.contacts[c];
      const Plan::Pair& pair = plan_.pairs()[plan_.pair_of(point)];
      const Mask<T> near = s.near[point];
      const T& gap = s.touch[point].gap;
      T b = larger(gap, T(0.0)) * T(1.0 / h);
      if (pair.surface.stiffness > 0.0) {
        // A spring and a damper at the end of the step.
        const double k = pair.surface.stiffness, d = pair.surface.damping;
        const T r(1.0 / (h * h * k + h * d));
        s.compliance[c] = select(near, r, T(0.0));
        p.G[static_cast<std::size_t>(3 * c) * (m + 1)] += s.compliance[c];
        b = select(less(gap, T(0.0)), gap * T(k / (h * k + d)), b);
      } else if (pair.surface.restitution > 0.0) {
        const T* row = J(s, 3 * c);
        T rate(0.0);
        for (const int k : *s.support[3 * c]) rate += row[k] * s.v[k];
        const Mask<T> bounces =
            near & less(gap + T(h) * rate, T(0.0)) & less(rate, T(-plan_.options().impact_rate));
        const T back = T(pair.surface.restitution) * rate;
        s.bounce[c] = select(bounces, back - b, T(0.0));
        b = select(bounces, back, b);
        s.bounces = s.bounces || bounces.any();
      }
      p.g[3 * c] += b;
      p.mu[c] = T(pair.surface.friction) * s.friction;
      for (int k = 0; k < 3; ++k) {
        T& diagonal = p.G[static_cast<std::size_t>(3 * c + k) * (m + 1)];
        diagonal = select(near, diagonal, T(1.0));
        p.g[3 * c + k] = select(near, p.g[3 * c + k], T(1.0));
      }
      // The warm start is kept in world axes: normals may turn.
      const T* kept = s.memory.data() + 4 * static_cast<std::size_t>(point);
      const Vec3<T> impulse(kept[0], kept[1], kept[2]);
      T* lam = p.lam.data() + 3 * c;
      lam[0] = select(near, dot(s.touch[point].normal, impulse), T(0.0));
      lam[1] = select(near, dot(s.t1[c], impulse), T(0.0));
      lam[2] = select(near, dot(s.t2[c], impulse), T(0.0));
      clip_into(p.mu[c], lam);
      p.slip[c] = select(near, kept[3], T(0.0));
    }
    for (int k = 0; k < p.scalars; ++k) {
      const int i = 3 * p.contacts + k;
      T& diagonal = p.G[static_cast<std::size_t>(i) * (m + 1)];
      diagonal = select(absent_[i], T(1.0), diagonal);
      p.g[i] = select(absent_[i], T(1.0), p.g[i]);
      const T kept = s.memory[4 * static_cast<std::size_t>(plan_.points()) + k];
      p.lam[i] = smaller(larger(kept, p.lower[k]), smaller(p.upper[k], infinite));
      p.lam[i] = select(absent_[i], T(0.0), p.lam[i]);
    }
  }

  /// Impulses into the memory of the next step.
  void remember(StepState<T>& s) const {
    std::fill(s.memory.begin(), s.memory.end(), T(0.0));
    const ImpulseProblem<T>& p = s.problem;
    for (int c = 0; c < p.contacts; ++c) {
      const int point = s.contacts[c];
      T* kept = s.memory.data() + 4 * static_cast<std::size_t>(point);
      const T* lam = p.lam.data() + 3 * c;
      const Vec3<T> impulse =
          scale(lam[0], s.touch[point].normal) + scale(lam[1], s.t1[c]) + scale(lam[2], s.t2[c]);
      for (int k = 0; k < 3; ++k) kept[k] = select(s.near[point], impulse[k], T(0.0));
      kept[3] = select(s.near[point], p.slip[c], T(0.0));
    }
    for (int k = 0; k < p.scalars; ++k) {
      s.memory[4 * static_cast<std::size_t>(plan_.points()) + k] = p.lam[3 * p.contacts + k];
    }
  }

  /// Rows of the problem that keep solids and limits apart, and how deep they are; below -1 m:
  /// none.
  void depths(const StepState<T>& s, std::vector<int>& rows, std::vector<T>& depth) const {
    rows.clear(), depth.clear();
    const T far(-Collision<T>::absent);
    for (int c = 0; c < s.problem.contacts; ++c) {
      const int point = s.contacts[c];
      if (plan_.pairs()[plan_.pair_of(point)].surface.stiffness > 0.0) continue;
      // Points that the correction might push into each other count as well: all that touch.
      const Mask<T> touches = s.near[point] & less(s.touch[point].gap, T(plan_.options().slop));
      if (!touches.any()) continue;
      rows.push_back(3 * c);
      depth.push_back(select(touches, -s.touch[point].gap, far));
    }
    for (std::size_t k = 0; k < plan_.limits().size(); ++k) {
      const int row = 3 * s.problem.contacts + static_cast<int>(k);
      const T gap = limit_gap(s, plan_.limits()[k]);
      const Mask<T> touches = less(gap, T(plan_.options().slop));
      if (!touches.any()) continue;
      rows.push_back(row);
      depth.push_back(select(touches, -gap, far));
    }
  }

 private:
  T* J(StepState<T>& s, int row) const {
    return s.J.data() + static_cast<std::size_t>(row) * plan_.model().nv();
  }

  /// A row at its support.
  void clear(StepState<T>& s, int row) const {
    T* entries = J(s, row);
    for (const int i : *s.support[row]) entries[i] = T(0.0);
  }

  /// Whether the spheres around two solids meet in some lane; NaN meets nothing.
  bool meet(const Plan::Pair& pair, const T& margin) const {
    const Vec3<T> d = poses_[pair.a].r - poses_[pair.b].r;
    const T reach = T(pair.reach) + margin;
    return less(dot(d, d), reach * reach).any();
  }

  /// How the rates of a placed body's cluster move it.
  void columns(const SpanningMotion<T>& motion, int i) {
    const Model& model = plan_.model();
    const Body& body = model.body(i);
    const Cluster& c = model.clusters()[body.cluster];
    Motion<T>* out = columns_.data() + plan_.first_column(i);
    if (c.constrained) {
      const Body& parent = model.body(body.parent);
      if (body.parent != 0 && parent.cluster == body.cluster) {
        std::copy_n(columns_.data() + plan_.first_column(body.parent), c.nv, out);
      } else {
        std::fill_n(out, c.nv, Motion<T>::zero());
      }
    }
    const Transform<T>& X = X_[i];
    const Vec3<T> arm = X_[plan_.root_of(i)].r - X.r;
    with_subspace(model.runs()[body.run], [&](auto ops) {
      using Ops = decltype(ops);
      for (int j = 0; j < Ops::n; ++j) {
        const Motion<T> column = in_world<Ops>(X.E, arm, motion.joints.S.data() + body.v, j);
        const int row = c.row(body.v + j);
        if (!c.constrained) {
          out[row] = column;
          continue;
        }
        const T* G = motion.G(c) + static_cast<std::size_t>(row) * c.nv;
        for (int l = 0; l < c.nv; ++l) out[l] += scale(G[l], column);
      }
    });
  }
  /// Column j of S in world axes about the point that is the arm away.
  template <class Ops>
  static Motion<T> in_world(const Mat3<T>& E, const Vec3<T>& arm, const Motion<T>* S, int j) {
    if constexpr (Ops::dense) {
      const Vec3<T> w = transpose_times(E, S[j].w);
      return {w, transpose_times(E, S[j].v) + cross(w, arm)};
    } else {
      const int axis = UnitAxis<Ops>::of(j);
      if (axis >= 3) return {Vec3<T>::zero(), E.row[axis - 3]};
      return {E.row[axis], cross(E.row[axis], arm)};
    }
  }

  void add_contact(StepState<T>& s, int c) {
    const int point = s.contacts[c];
    const Plan::Pair& pair = plan_.pairs()[plan_.pair_of(point)];
    const Touch<T>& touch = s.touch[point];
    const Vec3<T>& n = touch.normal;
    contact_tangents(n, s.t1[c], s.t2[c]);
    const T zero(0.0);
    const Vec3<T>* axes[3] = {&n, &s.t1[c], &s.t2[c]};
    const int first = plan_.solids()[pair.a].site, second = plan_.solids()[pair.b].site;
    const bool alone = first < 0 || second < 0;
    for (int k = 0; k < 3; ++k) {
      s.support[3 * c + k] = &pair.support;
      if (!alone) clear(s, 3 * c + k);
    }
    T* rows[3] = {J(s, 3 * c), J(s, 3 * c + 1), J(s, 3 * c + 2)};
    T* kept = nullptr;
    if (links_) kept = &s.links.contact[plan_.links_of_contact() * std::size_t{18} * c];
    const auto add = [&](int number, double sign) {
      if (number < 0) return;
      const Plan::Site& site = plan_.sites()[number];
      const Vec3<T> arm = touch.point - X_[plan_.root_of(site.body)].r;
      Vec3<T> moment[3];
      for (int k = 0; k < 3; ++k) moment[k] = cross(arm, *axes[k]);
      if (links_) {
        for (int k = 0; k < 18; ++k) {
          const Vec3<T>& part = k % 6 < 3 ? moment[k / 6] : *axes[k / 6];
          kept[k] = T(sign) * select(s.near[point], part[k % 3], zero);
        }
        kept += 18;
      }
      for (std::size_t e = 0; e < site.support.size(); ++e) {
        const int i = site.support[e], column = site.columns[e];
        for (int k = 0; k < 3; ++k) {
          T rate(0.0);
          if (column >= 0 && plan_.columns()[column].turns) {
            rate = dot(moment[k], columns_[column].w);
          }
          if (column >= 0 && plan_.columns()[column].shifts) {
            rate += dot(*axes[k], columns_[column].v);
          }
          rate = T(sign) * select(s.near[point], rate, zero);
          rows[k][i] = alone ? rate : rows[k][i] + rate;
        }
      }
    };
    add(first, 1.0);
    add(second, -1.0);
  }

  void add_joint_row(const SpanningMotion<T>& motion, int rate, const T& sign, T* row) const {
    const Model& model = plan_.model();
    const Cluster& c = model.clusters()[model.body(model.joint_of_rate(rate).body).cluster];
    const int r = c.row(rate);
    if (!c.constrained) {
      row[c.v + r] = sign;
      return;
    }
    const T* G = motion.G(c) + static_cast<std::size_t>(r) * c.nv;
    for (int l = 0; l < c.nv; ++l) row[c.v + l] = sign * G[l];
  }

  /// At the rates of the joint's cluster.
  void keep_joint_row(StepState<T>& s, const Plan::JointRow& joint, int row) const {
    const Model& model = plan_.model();
    const Cluster& c = model.clusters()[model.body(model.joint_of_rate(joint.rate).body).cluster];
    const T* entries = J(s, row) + c.v;
    s.links.joint.insert(s.links.joint.end(), entries, entries + c.nv);
  }

  static T limit_gap(const StepState<T>& s, const Plan::JointRow& limit) {
    return T(limit.side) * (s.q[limit.position] - T(limit.bound));
  }

  void add_limit(StepState<T>& s, const SpanningMotion<T>& motion, const Plan::JointRow& limit,
                 int row, double h) {
    const T gap = limit_gap(s, limit);
    const Mask<T> near = less(gap, T(plan_.options().limit_margin));
    absent_[row] = ~near;
    s.support[row] = &limit.support;
    clear(s, row);
    add_joint_row(motion, limit.rate, select(near, T(limit.side), T(0.0)), J(s, row));
    const int k = row - 3 * s.problem.contacts;
    s.problem.lower[k] = T(0.0);
    s.problem.upper[k] = T(std::numeric_limits<double>::infinity());
    s.problem.g[row] = larger(gap, T(0.0)) * T(1.0 / h);
    s.deep = s.deep || less(gap, T(-plan_.options().slop)).any();
  }

  void add_held(StepState<T>& s, int k, int row) {
    const Plan::HeldRow& held = plan_.held()[k];
    const int scalar = row - 3 * s.problem.contacts;
    s.problem.lower[scalar] = T(-std::numeric_limits<double>::infinity());
    s.problem.upper[scalar] = T(std::numeric_limits<double>::infinity());
    s.problem.g[row] = -s.held_rate[k];
    static const std::vector<int> nothing;
    s.support[row] = &nothing;
    if (held.site < 0) {
      absent_[row] = Mask<T>::every();
      return;
    }
    const Plan::Site& site = plan_.sites()[held.site];
    s.support[row] = &site.support;
    const Mat3<T>& E = X_[site.body].E;
    const Vec3<T> arm =
        X_[site.body].r - X_[plan_.root_of(site.body)].r + transpose_times(E, held.point);
    const Vec3<T> n = held.world ? Vec3<T>::from(held.row.n) : transpose_times(E, held.row.n);
    const Vec3<T> f = held.world ? Vec3<T>::from(held.row.f) : transpose_times(E, held.row.f);
    const Vec3<T> moment = n + cross(arm, f);
    for (int i = 0; i < 3 && links_; ++i) {
      s.links.held[6 * k + i] = moment[i], s.links.held[6 * k + 3 + i] = f[i];
    }
    for (std::size_t e = 0; e < site.support.size(); ++e) {
      T& entry = J(s, row)[site.support[e]];
      if (site.columns[e] < 0) {
        entry = T(0.0);
        continue;
      }
      const Motion<T>& column = columns_[site.columns[e]];
      entry = dot(moment, column.w) + dot(f, column.v);
    }
  }

  static void clip_into(const T& mu, T* lam) {
    lam[0] = larger(lam[0], T(0.0));
    const T q = sqrt(lam[1] * lam[1] + lam[2] * lam[2]), most = mu * lam[0];
    const T scaled = select(less_equal(q, most), T(1.0), most / larger(q, T(1e-300)));
    lam[1] *= scaled, lam[2] *= scaled;
  }

  const Plan& plan_;
  std::vector<Transform<T>> X_;  ///< world to body, of bodies that the plan places
  std::vector<Transform<T>> poses_;
  std::vector<Motion<T>> columns_;  ///< as Plan::columns() has them
  bool links_ = false;              ///< rows are kept by links, too
  std::vector<Mask<T>> absent_;     ///< of the problem's rows, scalar ones alone
};

}  // namespace espalier::contact
