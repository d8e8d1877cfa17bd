#pragma once

#include <algorithm>
#include <vector>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/motion/spanning_variation.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/simulation/contact/problems/step.hpp"
#include "simulation/contact/collision/closed_form.hpp"
#include "simulation/contact/stepping/rows/contact_rows.hpp"

namespace espalier::contact {

/// Closed forms at dual numbers are used here alone, not by name.
template <>
inline void Collision<Dual<double>>::solve(const InputViews& /*in*/, Results& /*out*/) {
  throw Unsupported("collision: scalar is a dual number, expected calls of collide()");
}

/// How the rows of a step vary as the robot moves along one independent coordinate: rates of given
/// motions along the rows, generalized forces of given impulses, and gaps.
///
/// Bodies' twists are in world axes about the world's origin: a body that moves by a twist T turns
/// what is fixed to it by T x. Points, normals and gaps are the closed forms at dual numbers.
class RowVariation {
 public:
  using D = Dual<double>;

  explicit RowVariation(const Plan& plan)
      : plan_(plan),
        model_(plan.model()),
        motion_(model_),
        collision_(plan.model_ptr()),
        X_(model_.body_count() + 1),
        turn_(model_.body_count() + 1),
        forces_(model_.body_count() + 1),
        columns_(static_cast<std::size_t>(model_.nv()) * (model_.body_count() + 1)),
        unit_(model_.nv()),
        rates_(static_cast<std::size_t>(model_.nv()) * model_.spanning_nv()) {
    X_[0] = Transform<double>::identity();
    int most = 0;
    for (const Plan::Pair& pair : plan.pairs()) most = std::max(most, pair.count);
    touch_.resize(most);
  }

  /// Places bodies and their columns. @param q  on closed loops
  void start(const double* q) {
    motion_.update(q, nullptr);
    const int nv = model_.nv();
    for (const int i : plan_.placed_bodies().bodies())
      X_[i] = motion_.joints.X[i] * X_[model_.body(i).parent];
    for (int k = 0; k < nv; ++k) {
      std::fill(unit_.begin(), unit_.end(), 0.0);
      unit_[k] = 1.0;
      double* rates = rates_.data() + static_cast<std::size_t>(k) * model_.spanning_nv();
      motion_.expand(unit_.data(), rates);
      column(0, k) = Motion<double>::zero();
      for (const int i : plan_.placed_bodies().bodies()) {
        const Body& b = model_.body(i);
        column(i, k) = column(b.parent, k) + X_[i].inverse_times(joint_rate(i, rates + b.v));
      }
    }
  }
  /// Spanning rates along independent coordinate k, after start().
  const double* direction(int k) const {
    return rates_.data() + static_cast<std::size_t>(k) * model_.spanning_nv();
  }

  /// A motion whose rates along the rows are asked for, and impulses whose forces are.
  struct Case {
    std::vector<double> rates;     ///< independent, in
    std::vector<double> impulses;  ///< of the problem's rows, in
    std::vector<double> along;     ///< m x nv, out: variation of the rates along the rows
    std::vector<double> forces;    ///< nv x nv, out: J^T times the variation of world wrenches
    std::vector<double> spanning;  ///< spanning_nv x nv, out: variation of spanning rates
  };
  /// After start(). @param[out] gaps  contacts x nv: variation of gaps
  void vary(const StepState<double>& s, const double* q, Case& c, std::vector<double>& gaps) {
    const int nv = model_.nv(), m = s.problem.size();
    motion_.update(q, c.rates.data());
    c.along.assign(static_cast<std::size_t>(m) * nv, 0.0);
    c.forces.assign(static_cast<std::size_t>(nv) * nv, 0.0);
    c.spanning.assign(static_cast<std::size_t>(model_.spanning_nv()) * nv, 0.0);
    gaps.assign(static_cast<std::size_t>(s.problem.contacts) * nv, 0.0);
    vary_rates(c);
    for (int k = 0; k < nv; ++k) {
      turn_bodies(c, k);
      std::fill(forces_.begin(), forces_.end(), Force<double>::zero());
      vary_contacts(s, c, k, gaps);
      vary_scalars(s, c, k);
      for (const int i : plan_.placed_bodies().bodies()) {
        for (int j = 0; j < nv; ++j) c.forces[j * nv + k] += dot(column(i, j), forces_[i]);
      }
    }
  }
  /// World wrench of impulses on each body about the world's origin.
  void wrenches(const StepState<double>& s, const std::vector<double>& impulses,
                std::vector<Force<double>>& out) {
    out.assign(model_.body_count() + 1, Force<double>::zero());
    for (int c = 0; c < s.problem.contacts; ++c) {
      const Plan::Pair& pair = plan_.pairs()[plan_.pair_of(s.contacts[c])];
      const Touch<double>& t = s.touch[s.contacts[c]];
      const double* l = impulses.data() + 3 * c;
      const Vec3<double> f = scale(l[0], t.normal) + scale(l[1], s.t1[c]) + scale(l[2], s.t2[c]);
      const Force<double> wrench{cross(t.point, f), f};
      out[plan_.solids()[pair.a].body] += wrench;
      out[plan_.solids()[pair.b].body] -= wrench;
    }
    const int first = first_held(s);
    for (std::size_t k = 0; k < plan_.held().size(); ++k) {
      const Plan::HeldRow& held = plan_.held()[k];
      if (held.site < 0) continue;
      const Force<D> row = held_row(held, Motion<double>::zero());
      const double l = impulses[first + k];
      out[plan_.sites()[held.site].body] +=
          Force<double>{scale(l, value(row.n)), scale(l, value(row.f))};
    }
  }

 private:
  Motion<double>& column(int body, int k) {
    return columns_[static_cast<std::size_t>(body) * model_.nv() + k];
  }
  /// The first of the rows that hold links; they come last.
  static int first_held(const StepState<double>& s) {
    return s.problem.size() - static_cast<int>(s.held_rate.size());
  }
  static Vec3<double> value(const Vec3<D>& x) { return {x.x.x, x.y.x, x.z.x}; }
  static Vec3<double> change(const Vec3<D>& x) { return {x.x.d, x.y.d, x.z.d}; }
  static Vec3<D> dual(const Vec3<double>& x, const Vec3<double>& d) {
    return {D(x.x, d.x), D(x.y, d.y), D(x.z, d.z)};
  }

  /// S rates of a body's joint, body frame.
  Motion<double> joint_rate(int body, const double* rates) const {
    Motion<double> twist = Motion<double>::zero();
    with_subspace(model_.runs()[model_.body(body).run], [&](auto ops) {
      decltype(ops)::add(twist, motion_.joints.S.data() + model_.body(body).v, rates);
    });
    return twist;
  }

  /// Variation of the spanning rates of the case's motion.
  void vary_rates(Case& c) const {
    const int nv = model_.nv();
    for (const Cluster& cluster : model_.clusters()) {
      if (!cluster.constrained || !motion_.varies(cluster)) continue;
      const double* V = motion_.V(cluster);
      for (int r = 0; r < cluster.rows(); ++r) {
        for (int k = 0; k < cluster.nv; ++k) {
          c.spanning[static_cast<std::size_t>(cluster.rate(r)) * nv + cluster.v + k] =
              V[r * cluster.nv + k];
        }
      }
    }
  }

  /// Twists of the case's motion with their variation along k.
  void turn_bodies(const Case& c, int k) {
    const int nv = model_.nv();
    turn_[0] = {Vec3<D>::zero(), Vec3<D>::zero()};
    for (const int i : plan_.placed_bodies().bodies()) {
      const Body& b = model_.body(i);
      const Motion<double> own = X_[i].inverse_times(joint_rate(i, motion_.qd() + b.v));
      Motion<double> varied = cross(column(i, k), own);
      double changes[6];
      for (int j = 0; j < b.nv; ++j) {
        changes[j] = c.spanning[static_cast<std::size_t>(b.v + j) * nv + k];
      }
      varied += X_[i].inverse_times(joint_rate(i, changes));
      if (motion_.subspace_varies(i)) {
        Motion<double> dS[6], dbias;
        const double still[6] = {0, 0, 0, 0, 0, 0};
        motion_.vary_joint(i, direction(k) + b.v, still, dS, dbias);
        for (int j = 0; j < b.nv; ++j) {
          varied += X_[i].inverse_times(scale(motion_.qd()[b.v + j], dS[j]));
        }
      }
      const Motion<D>& up = turn_[b.parent];
      turn_[i] = {up.w + dual(own.w, varied.w), up.v + dual(own.v, varied.v)};
    }
  }

  /// What is fixed to a body that moves by a twist.
  static Vec3<D> turned(const Motion<double>& twist, const Vec3<double>& direction) {
    return dual(direction, cross(twist.w, direction));
  }
  static Vec3<D> moved(const Motion<double>& twist, const Vec3<double>& point) {
    return dual(point, twist.v + cross(twist.w, point));
  }
  Transform<D> pose(const Plan::Solid& solid, int k) {
    const Transform<double> X = solid.X * X_[solid.body];
    const Motion<double>& twist = column(solid.body, k);
    Transform<D> out;
    for (int i = 0; i < 3; ++i) out.E.row[i] = turned(twist, X.E.row[i]);
    out.r = moved(twist, X.r);
    return out;
  }

  void vary_contacts(const StepState<double>& s, Case& c, int k, std::vector<double>& gaps) {
    const int nv = model_.nv();
    int computed = -1;
    for (int i = 0; i < s.problem.contacts; ++i) {
      const int number = plan_.pair_of(s.contacts[i]);
      const Plan::Pair& pair = plan_.pairs()[number];
      const Plan::Solid &a = plan_.solids()[pair.a], &b = plan_.solids()[pair.b];
      if (number != computed) {
        collision_.collide(a.placed.shape, pose(a, k), b.placed.shape, pose(b, k), touch_.data());
        computed = number;
      }
      const Touch<D>& t = touch_[s.contacts[i] - pair.first];
      gaps[static_cast<std::size_t>(i) * nv + k] = t.gap.d;
      Vec3<D> t1, t2;
      contact_tangents(t.normal, t1, t2);
      const auto rate_at = [&](int body) { return turn_[body].v + cross(turn_[body].w, t.point); };
      const Vec3<D> rate = rate_at(a.body) - rate_at(b.body);
      const Vec3<D>* axes[3] = {&t.normal, &t1, &t2};
      Vec3<D> f = Vec3<D>::zero();
      for (int j = 0; j < 3; ++j) {
        c.along[static_cast<std::size_t>(3 * i + j) * nv + k] = dot(*axes[j], rate).d;
        f += scale(D(c.impulses[3 * i + j]), *axes[j]);
      }
      const Force<double> wrench{change(cross(t.point, f)), change(f)};
      forces_[a.body] += wrench;
      forces_[b.body] -= wrench;
    }
  }

  /// A held row as a wrench about the world's origin, as its body moves by a twist.
  Force<D> held_row(const Plan::HeldRow& held, const Motion<double>& twist) const {
    const int body = plan_.sites()[held.site].body;
    const Transform<double>& X = X_[body];
    const auto axis = [&](const Vec3<double>& x) {
      return held.world ? Vec3<D>::from(x) : turned(twist, transpose_times(X.E, x));
    };
    const Vec3<D> point = moved(twist, X.r + transpose_times(X.E, held.point));
    const Vec3<D> n = axis(held.row.n), f = axis(held.row.f);
    return {n + cross(point, f), f};
  }
  void vary_scalars(const StepState<double>& s, Case& c, int k) {
    const int nv = model_.nv();
    int row = 3 * s.problem.contacts;
    const auto joint_row = [&](int rate, double sign) {
      c.along[static_cast<std::size_t>(row) * nv + k] =
          sign * c.spanning[static_cast<std::size_t>(rate) * nv + k];
      ++row;
    };
    for (const Plan::JointRow& limit : plan_.limits()) {
      joint_row(limit.rate, is_absent(s, row) ? 0.0 : limit.side);
    }
    for (const Plan::JointRow& friction : plan_.frictions()) joint_row(friction.rate, 1.0);
    for (const Plan::HeldRow& held : plan_.held()) {
      if (held.site >= 0) {
        const int body = plan_.sites()[held.site].body;
        const Force<D> wrench = held_row(held, column(body, k));
        const D rate = dot(wrench.n, turn_[body].w) + dot(wrench.f, turn_[body].v);
        c.along[static_cast<std::size_t>(row) * nv + k] = rate.d;
        const double l = c.impulses[row];
        forces_[body] += Force<double>{scale(l, change(wrench.n)), scale(l, change(wrench.f))};
      }
      ++row;
    }
  }
  /// A limit that is too far away has a row of zeros.
  static bool is_absent(const StepState<double>& s, int row) {
    bool zero = true;
    s.each_entry(row, [&](int /*rate*/, std::size_t at) { zero = zero && s.J[at] == 0.0; });
    return zero;
  }

  const Plan& plan_;
  const Model& model_;
  SpanningVariation<double> motion_;
  ClosedForm<D> collision_;
  std::vector<Transform<double>> X_;  ///< world to body
  std::vector<Motion<D>> turn_;       ///< twists of a case
  std::vector<Force<double>> forces_;
  std::vector<Motion<double>> columns_;  ///< twists along the coordinates, by body
  std::vector<double> unit_, rates_;
  std::vector<Touch<D>> touch_;
};

}  // namespace espalier::contact
