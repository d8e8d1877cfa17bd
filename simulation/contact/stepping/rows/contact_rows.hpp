#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/scalar/reciprocal.hpp"
#include "espalier/simulation/contact/problems/step.hpp"
#include "simulation/contact/solvers/cones.hpp"
#include "simulation/contact/stepping/rows/contact_points.hpp"
#include "simulation/contact/stepping/rows/pair_rows.hpp"
#include "simulation/contact/stepping/rows/turning_rows.hpp"

namespace espalier::contact {

/// Tangents of a contact: n x e_k, k the smallest |n_k|, and n x that.
template <class T>
inline void contact_tangents(const Vec3<T>& n, Vec3<T>& t1, Vec3<T>& t2) {
  const T x = abs(n.x), y = abs(n.y), z = abs(n.z), zero(0.0);
  const Mask<T> by_x = less_equal(x, y) & less_equal(x, z), by_y = ~by_x & less_equal(y, z);
  const Vec3<T> t(select(by_x, zero, select(by_y, -n.z, n.y)),
                  select(by_x, n.z, select(by_y, zero, -n.x)),
                  select(by_x, -n.y, select(by_y, n.x, zero)));
  const T inverse = reciprocal_root(dot(t, t));
  t1 = scale(inverse, t);
  t2 = cross(n, t1);
}

/// Rows of a step: where points touch, their Jacobians in independent rates, and what the problem
/// asks of them.
template <class T>
class ContactRows {
 public:
  explicit ContactRows(const Plan& plan)
      : plan_(plan),
        nv_(plan.model().nv()),
        by_links_(plan.newton_way() == NewtonWay::twist_space ||
                  plan.newton_way() == NewtonWay::tree),
        by_rates_(plan.newton_way() == NewtonWay::rate_space),
        links_(plan.model(), plan.placed_bodies()),
        points_(plan),
        pairs_(plan, links_),
        turning_(plan) {
    const int contacts = plan.usual_contacts();
    absent_.reserve(3 * static_cast<std::size_t>(contacts) + plan.scalar_rows(contacts));
  }

  /// Of bodies that the plan places, after fill().
  const LinkColumns<T>& links() const { return links_; }

  /// Places bodies, finds points, and lists those that some lane is near.
  void find(StepState<T>& s, const SpanningMotion<T>& motion, const Collision<T>& collision) {
    links_.place(motion);
    points_.find(s, links_, collision);
  }

  /// Jacobians of all rows, and what of the problem does not depend on them.
  void fill(StepState<T>& s, const SpanningMotion<T>& motion, double h) {
    const int contacts = static_cast<int>(s.contacts.size()), nv = plan_.model().nv();
    s.problem.reshape(contacts, plan_.scalar_rows(contacts));
    s.problem.turning = plan_.turning_rows();
    const std::size_t m = s.problem.size();
    s.J.resize(m * nv), s.Y.resize(m * nv);  // what is beyond the rows' supports means nothing
    s.support.resize(m);
    s.t1.resize(contacts), s.t2.resize(contacts);
    s.roll.resize(s.problem.turning > 0 ? contacts : 0);
    s.compliance.assign(contacts, T(0.0)), s.bounce.assign(contacts, T(0.0));
    s.before.resize(m);
    links_.move(motion);
    if (by_links_ || by_rates_) {
      s.links.points = s.contacts;
      s.links.contact.resize(static_cast<std::size_t>(plan_.numbers_of_contact()) * contacts);
      s.links.held.resize(plan_.numbers_of_held() * plan_.held().size());
      s.links.joint.clear();
    }
    for (int c = 0; c < contacts; ++c) add_contact(s, c);
    int row = 3 * contacts;
    absent_.assign(m, Mask<T>::none());
    for (const Plan::JointRow& limit : plan_.limits()) add_limit(s, motion, limit, row++, h);
    for (const Plan::JointRow& friction : plan_.frictions()) {
      add_joint_row(s, motion, friction, T(1.0), row);
      s.problem.lower[row - 3 * contacts] = T(-h * friction.bound);
      s.problem.upper[row - 3 * contacts] = T(h * friction.bound);
      ++row;
    }
    for (std::size_t k = 0; k < plan_.held().size(); ++k) add_held(s, static_cast<int>(k), row++);
    for (std::size_t c = 0; c < s.roll.size(); ++c, row += 3) {
      turning_.add(s, pairs_, static_cast<int>(c), row);
      std::fill_n(absent_.begin() + row, 3, ~s.near[s.contacts[c]]);
    }
    if (by_rates_) keep_rows(s);
    if (!by_links_ && !by_rates_) return;
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
    for (int i = 0; i < 3 * p.contacts; i += 3) rates_of<3>(s, i, nv_, s.vf, s.before.data() + i);
    for (int i = 3 * p.contacts; i < m; ++i) rates_of<1>(s, i, nv_, s.vf, s.before.data() + i);
    for (int c = 0; c < p.contacts; ++c) add_slide(s, c);
    for (int i = 0; i < m; ++i) p.g[i] += s.before[i];
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
        T rate;
        rates_of<1>(s, 3 * c, nv_, s.v, &rate);
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
      clip_contact(p.mu[c], lam);
      p.slip[c] = select(near, kept[3], T(0.0));
    }
    for (int k = 0; k < p.scalars; ++k) {
      const int i = 3 * p.contacts + k;
      T& diagonal = p.G[static_cast<std::size_t>(i) * (m + 1)];
      diagonal = select(absent_[i], T(1.0), diagonal);
      p.g[i] = select(absent_[i], T(1.0), p.g[i]);
      if (k >= plan_.scalar_rows()) continue;
      const T kept = s.memory[4 * static_cast<std::size_t>(plan_.points()) + k];
      p.lam[i] = smaller(larger(kept, p.lower[k]), smaller(p.upper[k], infinite));
      p.lam[i] = select(absent_[i], T(0.0), p.lam[i]);
    }
    turning_.start(s);
  }

  /// Impulses into the memory of the next step.
  void remember(StepState<T>& s) const {
    for (const int point : s.kept) {
      std::fill_n(s.memory.begin() + 4 * static_cast<std::size_t>(point), 4, T(0.0));
      turning_.forget(s, point);
    }
    s.kept = s.contacts;
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
    for (int k = 0; k < plan_.scalar_rows(); ++k) {
      s.memory[4 * static_cast<std::size_t>(plan_.points()) + k] = p.lam[3 * p.contacts + k];
    }
    turning_.remember(s);
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

  void clear(StepState<T>& s, int row) const {
    std::fill_n(J(s, row), s.support[row]->size(), T(0.0));
  }
  void add_contact(StepState<T>& s, int c) {
    const int point = s.contacts[c];
    const Plan::Pair& pair = plan_.pairs()[plan_.pair_of(point)];
    const Touch<T>& touch = s.touch[point];
    const Vec3<T>& n = touch.normal;
    contact_tangents(n, s.t1[c], s.t2[c]);
    const T zero(0.0);
    const Vec3<T>* axes[3] = {&n, &s.t1[c], &s.t2[c]};
    T* kept = nullptr;
    if (by_links_) kept = &s.links.contact[plan_.links_of_contact() * std::size_t{18} * c];
    pairs_.add(s, pair, 3 * c, [&](const Plan::Site& site, double sign, Force<T>* on) {
      const Vec3<T> arm = touch.point - links_.origin(site.body);
      for (int k = 0; k < 3; ++k) {
        Vec3<T>& f = on[k].f;
        for (int i = 0; i < 3; ++i) f[i] = select(s.near[point], T(sign) * (*axes[k])[i], zero);
        on[k].n = cross(arm, f);
      }
      if (!by_links_) return;
      for (int k = 0; k < 18; ++k) *kept++ = on[k / 6][k % 6];
    });
  }

  /// Surfaces that move against their links slide while these rest.
  void add_slide(StepState<T>& s, int c) const {
    const Plan::Pair& pair = plan_.pairs()[plan_.pair_of(s.contacts[c])];
    if (!points_.runs(pair)) return;
    const Vec3<T> slide = points_.slide(pair);
    s.before[3 * c + 1] += dot(s.t1[c], slide);
    s.before[3 * c + 2] += dot(s.t2[c], slide);
  }

  const Cluster& cluster_of(const Plan::JointRow& joint) const {
    const Model& model = plan_.model();
    return model.clusters()[model.body(model.joint_of_rate(joint.rate).body).cluster];
  }
  /// The rates of the joint's cluster are the last ones of its support.
  void add_joint_row(StepState<T>& s, const SpanningMotion<T>& motion, const Plan::JointRow& joint,
                     const T& sign, int row) const {
    s.support[row] = &joint.support;
    clear(s, row);
    const Cluster& c = cluster_of(joint);
    T* entries = J(s, row) + joint.support.size() - c.nv;
    const int r = c.row(joint.rate);
    if (!c.constrained) {
      entries[r] = sign;
      return;
    }
    const T* G = motion.G(c) + static_cast<std::size_t>(r) * c.nv;
    for (int l = 0; l < c.nv; ++l) entries[l] = sign * G[l];
  }

  /// Rows of contacts and held links at the rates of their supports.
  void keep_rows(StepState<T>& s) const {
    const int contacts = static_cast<int>(s.contacts.size()), stride = plan_.longest_support();
    T* to = s.links.contact.data();
    for (int i = 0; i < 3 * contacts; ++i, to += stride) {
      std::copy_n(J(s, i), s.support[i]->size(), to);
    }
    const int held = static_cast<int>(plan_.held().size());
    for (int k = 0; k < held; ++k) {
      const int row = s.problem.size() - held + k;
      std::copy_n(J(s, row), s.support[row]->size(), s.links.held.data() + k * stride);
    }
  }

  /// At the rates of the joint's cluster.
  void keep_joint_row(StepState<T>& s, const Plan::JointRow& joint, int row) const {
    const int nv = cluster_of(joint).nv;
    std::vector<T>& kept = s.links.joint;
    if (s.support[row]->empty()) return void(kept.insert(kept.end(), nv, T(0.0)));
    const T* end = J(s, row) + joint.support.size();
    kept.insert(kept.end(), end - nv, end);
  }

  static T limit_gap(const StepState<T>& s, const Plan::JointRow& limit) {
    return T(limit.side) * (s.q[limit.position] - T(limit.bound));
  }

  void add_limit(StepState<T>& s, const SpanningMotion<T>& motion, const Plan::JointRow& limit,
                 int row, double h) {
    const T gap = limit_gap(s, limit);
    const Mask<T> near = less(gap, T(plan_.options().limit_margin));
    absent_[row] = ~near;
    if (near.any()) {
      add_joint_row(s, motion, limit, select(near, T(limit.side), T(0.0)), row);
    } else {  // nothing moves it
      s.support[row] = &nothing_;
    }
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
    s.support[row] = &plan_.support_of_scalar_row(plan_.joint_rows() + k);
    if (held.site < 0) {
      absent_[row] = Mask<T>::every();
      return;
    }
    const Plan::Site& site = plan_.sites()[held.site];
    const Transform<T>& X = links_.X(site.body);
    const Mat3<T>& E = X.E;
    const Vec3<T> arm = X.r - links_.origin(site.body) + transpose_times(E, held.point);
    const Vec3<T> n = held.world ? Vec3<T>::from(held.row.n) : transpose_times(E, held.row.n);
    const Vec3<T> f = held.world ? Vec3<T>::from(held.row.f) : transpose_times(E, held.row.f);
    const Vec3<T> moment = n + cross(arm, f);
    for (int i = 0; i < 3 && by_links_; ++i) {
      s.links.held[6 * k + i] = moment[i], s.links.held[6 * k + 3 + i] = f[i];
    }
    for (std::size_t e = 0; e < site.support.size(); ++e) {
      T& entry = J(s, row)[e];
      if (site.columns[e] < 0) {
        entry = T(0.0);
        continue;
      }
      const Motion<T>& column = links_[site.columns[e]];
      entry = dot(moment, column.w) + dot(f, column.v);
    }
  }

  const Plan& plan_;
  int nv_;
  bool by_links_;  ///< rows are kept by links, too
  bool by_rates_;  ///< rows are kept by rates, too
  LinkColumns<T> links_;
  ContactPoints<T> points_;
  PairRows<T> pairs_;
  TurningRows<T> turning_;
  const std::vector<int> nothing_;  ///< support of rows that no lane has
  std::vector<Mask<T>> absent_;     ///< of the problem's rows, scalar ones alone
};

}  // namespace espalier::contact
