#include <algorithm>
#include <cmath>

#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/sensing/sensor_system.hpp"

// Values of the system at one state.

namespace espalier {

namespace {

/// X as a matrix, row-major.
void matrix_of(const Transform<double>& X, double (&m)[6][6]) {
  for (int i = 0; i < 3; ++i) {
    const Vec3<double> e = X.E.row[i], b = cross(X.r, e);  // row i of -E r× is r × e
    for (int j = 0; j < 3; ++j) {
      m[i][j] = m[i + 3][j + 3] = e[j];
      m[i + 3][j] = b[j];
      m[i][j + 3] = 0.0;
    }
  }
}

}  // namespace

void SensorSystem::put(int row, int column, double value, bool always) {
  if (recording_ != nullptr) {
    if (next_ == recording_->size()) recording_->push_back({row, column, 0.0});
    double& largest = (*recording_)[next_++].largest;
    const double size = always ? 1.0 : std::abs(value);
    if (!(size <= largest)) largest = size;  // keeps NaN
    return;
  }
  const int slot = slot_[next_++];
  if (slot >= 0) {
    values_[slot] += value;
  } else if (!(std::abs(value) <= missed_)) {
    missed_ = std::abs(value);
  }
}

void SensorSystem::update(const double* q, const double* v, const double* y,
                          const Vec3<double>& gravity, const Wrenches<double>* wrenches) {
  next_ = 0;
  missed_ = 0.0;
  std::fill(values_.begin(), values_.end(), 0.0);
  std::copy(v, v + model_.nv(), v_.begin());
  motion_.update(q, v_.data());
  if (!gyroscope_.empty() && y != nullptr) apply_gyroscope(q, y);
  write_bodies(gravity, wrenches);
  write_own_equations(q);
  write_constraints(q);
  write_sensors(y);
  if (missed_ > 1e-10 * largest_) {
    throw InvalidModel("sensors of '" + model_.name() + "': an entry of the equations that was 0 " +
                       "at all sampled positions is " + text::number(missed_) +
                       ", expected joints whose motion depends analytically on their position");
  }
}

/// The floating base turns so that the link turns as measured.
void SensorSystem::apply_gyroscope(const double* q, const double* y) {
  const Gyroscope& g = gyroscope_.front();
  // Angular velocity of the link against the base, and from the base's axes to the link's.
  Vec3<double> w{0, 0, 0};
  Mat3<double> E = Mat3<double>::identity();
  for (int i = g.body; i != g.base; i = model_.body(i).parent) {
    const Body& body = model_.body(i);
    Motion<double> joint = Motion<double>::zero();
    for (int k = 0; k < body.nv; ++k) joint += scale(motion_.qd()[body.v + k], column(body, k));
    w += E * joint.w;
    E = E * motion_.joints.X[i].E;
  }
  const Vec3<double> measured{y[g.first], y[g.first + 1], y[g.first + 2]};
  const Vec3<double> base = transpose_times(E, transpose_times(g.X.E, measured) - w);
  for (int k = 0; k < 3; ++k) v_[g.rate + k] = base[k];
  motion_.update(q, v_.data());
}

/// Rows (a), (f) and (tau): base to tips, which fixes the order of entries.
void SensorSystem::write_bodies(const Vec3<double>& gravity, const Wrenches<double>* wrenches) {
  gravity_on_[0] = gravity;
  double X[6][6];
  for (int i = 1; i <= bodies_; ++i) {
    const Body& body = model_.body(i);
    const Transform<double>& from_parent = motion_.joints.X[i];
    const int a = acceleration_row(i), f = force_row(i), p = body.parent;
    matrix_of(from_parent, X);
    gravity_on_[i] = from_parent.E * gravity_on_[p];

    Motion<double> joint = Motion<double>::zero();
    for (int k = 0; k < body.nv; ++k) {
      const Motion<double> S = column(body, k);
      joint += scale(motion_.qd()[body.v + k], S);
      for (int r = 0; r < 6; ++r) {
        put(a + r, qdd(body.v + k), S[r]);
        put(torque_row(body.v + k), joint_wrench(i) + r, S[r]);
      }
      if (torque_[body.v + k] >= 0) put(torque_row(body.v + k), torque_[body.v + k], -1.0);
      rhs_[torque_row(body.v + k)] = 0.0;
    }
    velocity_[i] = from_parent * velocity_[p] + joint;
    Motion<double> bias = cross(velocity_[i], joint);
    if (model_.runs()[body.run].subspace == SubspaceKind::dense) bias += motion_.joints.bias[i];
    if (p == 0) bias += from_parent * Motion<double>{{0, 0, 0}, -gravity};
    Force<double> force = cross_star(velocity_[i], body.inertia * velocity_[i]);
    if (wrenches != nullptr) force -= (*wrenches)[i];

    for (int r = 0; r < 6; ++r) {
      put(a + r, acceleration(i) + r, -1.0);
      put(f + r, joint_wrench(i) + r, -1.0);
      rhs_[a + r] = -bias[r];
      rhs_[f + r] = -force[r];
    }
    for (int c = 0; c < 6; ++c) {
      Motion<double> unit = Motion<double>::zero();
      unit[c] = 1.0;
      const Force<double> I = body.inertia * unit;
      for (int r = 0; r < 6; ++r) put(f + r, acceleration(i) + c, I[r]);
    }
    if (p == 0) continue;
    for (int r = 0; r < 6; ++r) {
      for (int c = 0; c < 6; ++c) {
        put(a + r, acceleration(p) + c, X[r][c]);
        put(force_row(p) + c, joint_wrench(i) + r, X[r][c]);
      }
    }
  }
  for (const auto& [rate, inertia] : model_.armature()) put(torque_row(rate), qdd(rate), inertia);
  for (const Contact& contact : contacts_) {
    matrix_of(contact.X, X);
    for (int r = 0; r < 6; ++r) {
      for (int c = 0; c < 6; ++c) put(force_row(contact.body) + c, contact.first + r, -X[r][c]);
    }
  }
}

/// What joints with equations of their own add: f = M (alpha, a, qdd) + h, with a the acceleration
/// of the point at the parent's origin, is a wrench that the parent needs and forces on their
/// rates.
void SensorSystem::write_own_equations(const double* q) {
  for (const int i : model_.bodies_with_equations()) {
    const Body& body = model_.body(i);
    const int p = body.parent, size = 6 + body.nv;
    const Motion<double>& v = velocity_[p];
    model_.equations(i, q, motion_.qd(), v.w, own_M_.data(), own_h_.data());
    // What the point accelerates besides the spatial acceleration, an unknown but on the ground.
    const Vec3<double> known = p == 0 ? -gravity_on_[0] : cross(v.w, v.v);
    const auto row = [&](int k) { return k < 6 ? force_row(p) + k : torque_row(body.v + k - 6); };
    for (int r = p == 0 ? 6 : 0; r < size; ++r) {
      const auto M = [&](int c) { return own_M_[std::max(r, c) * size + std::min(r, c)]; };
      for (int c = p == 0 ? 6 : 0; c < size; ++c) {
        put(row(r), c < 6 ? acceleration(p) + c : qdd(body.v + c - 6), M(c));
      }
      rhs_[row(r)] -= own_h_[r] + M(3) * known.x + M(4) * known.y + M(5) * known.z;
    }
  }
}

/// Rows (loops), and what their multipliers add to the others.
void SensorSystem::write_constraints(const double* q) {
  // A coupling's row is [-G_dependent 1].
  for (std::size_t k = 0; k < model_.clusters().size(); ++k) {
    const Cluster& c = model_.clusters()[k];
    if (!c.constrained || c.constraint != nullptr) continue;
    const auto [first, count] = multipliers_of_[k];
    for (int m = first; m < first + count; ++m) {
      const int row = c.row(coupled_rate_[m]), column = first_multiplier_ + m;
      rhs_[constraint_row(m)] = 0.0;
      put(constraint_row(m), qdd(coupled_rate_[m]), 1.0);
      put(torque_row(coupled_rate_[m]), column, -1.0);
      for (int j = 0; j < c.nv; ++j) {
        const int rate = model_.independent_rates()[c.v + j];
        const double ratio = c.G[row * c.nv + j];
        put(constraint_row(m), qdd(rate), -ratio);
        put(torque_row(rate), column, ratio);
      }
    }
  }
  const TreeKinematics<double>& joints = motion_.joints;
  const SpanningView<double> at{q, motion_.qd(), joints.X.data(), joints.S.data(),
                                joints.bias.data()};
  for (const ClusterRows& rows : clusters_) {
    const Cluster& c = model_.clusters()[rows.cluster];
    const ClusterConstraint& constraint = *c.constraint;
    constraint.jacobian(model_, c, at, work_);
    constraint.bias(model_, c, at, work_);
    const int law_rows = static_cast<int>(rows.named.size()) / c.rows();
    for (std::size_t i = 0; i < rows.multiplier.size(); ++i) {
      const int m = rows.multiplier[i];
      if (m < 0) continue;
      const bool torques = static_cast<int>(i) < law_rows;
      constraint.each_in_row(work_, static_cast<int>(i), [&](int l, double x) {
        if (torques && !rows.named[i * c.rows() + l]) return;
        put(constraint_row(m), qdd(c.rate(l)), x, torques);
        if (torques) put(torque_row(c.rate(l)), first_multiplier_ + m, -x, true);
      });
      rhs_[constraint_row(m)] = work_.k[i];
    }
    write_loops(c, loops_.data() + rows.first_loop);
  }
}

Transform<double> SensorSystem::from_output(const Cluster& c, int body) const {
  return body < c.first || body >= c.first + c.count ? Transform<double>::identity()
                                                     : from_output_[body];
}

/// Wrenches of loop joints on their two bodies.
void SensorSystem::write_loops(const Cluster& c, Loop* loops) {
  const ClusterConstraint& constraint = *c.constraint;
  if (constraint.loops.empty()) return;
  for (int i = c.first; i < c.first + c.count; ++i) {
    const Transform<double>& X = motion_.joints.X[i];
    const int p = model_.body(i).parent;
    from_output_[i] = p >= c.first ? X * from_output_[p] : X;
  }
  for (const ClusterConstraint::Loop& loop : constraint.loops) {
    const Transform<double> p = loop.at_predecessor * from_output(c, loop.predecessor);
    const Transform<double> s = loop.at_successor * from_output(c, loop.successor);
    Loop& written = *loops++;
    for (std::size_t k = 0; k < loop.rows.size(); ++k) {
      if (written.multiplier[k] < 0) continue;
      // On the successor at its frame's origin, the output body's axes.
      const LoopRow& r = loop.rows[k];
      Vec3<double> couple{0, 0, 0}, force{0, 0, 0};
      if (constraint.planar) {
        force = k == 0 ? constraint.planar->u : constraint.planar->w;
      } else if (r.kind == LoopRow::Kind::along) {
        force = transpose_times(p.E, r.a);
      } else if (r.kind == LoopRow::Kind::distance) {
        force = scale(1.0 / r.value, s.r - p.r);
      } else {
        couple = cross(transpose_times(s.E, r.b), transpose_times(p.E, r.a));
      }
      written.unit[k] = {s.E * couple, s.E * force};
      const int unknown = first_multiplier_ + written.multiplier[k];
      put_wrench(c, loop.successor, unknown, s.r, couple, force);
      put_wrench(c, loop.predecessor, unknown, s.r, -couple, -force);
    }
  }
}

/// Adds a wrench at point x, output body's axes, that acts on a body for a unit multiplier.
void SensorSystem::put_wrench(const Cluster& c, int body, int unknown, const Vec3<double>& x,
                              const Vec3<double>& couple, const Vec3<double>& force) {
  if (body == 0) return;
  const Force<double> about_origin{couple + cross(x, force), force};
  const Force<double> on_body = from_output(c, body).force_to(about_origin);
  for (int r = 0; r < 6; ++r) put(force_row(body) + r, unknown, -on_body[r]);
}

void SensorSystem::write_sensors(const double* y) {
  for (int k = 0; k < sensor_rows(); ++k) {
    const Reading& reading = readings_[k];
    const int row = model_rows_ + k;
    double offset = 0.0;
    if (reading.through_joint) {
      const Motion<double> seen = motion_.joints.X[reading.body] *
                                  Motion<double>{{reading.row[0], reading.row[1], reading.row[2]},
                                                 {reading.row[3], reading.row[4], reading.row[5]}};
      for (int i = 0; i < 6; ++i) put(row, reading.unknown + i, seen[i]);
    } else {
      for (int i = 0; i < reading.count; ++i) put(row, reading.unknown + i, reading.row[i]);
    }
    if (reading.kind == Sensor::Kind::accelerometer) {
      const Motion<double> v = reading.X * velocity_[reading.body];
      const Vec3<double> centripetal = cross(v.w, v.v);
      for (int i = 0; i < 3; ++i) offset += reading.in_sensor[3 + i] * centripetal[i];
    }
    offset_[k] = offset;
    rhs_[row] = (y == nullptr ? 0.0 : y[measured_[k]]) - offset;
  }
}

std::vector<double> SensorSystem::predict(const double* d) const {
  std::vector<double> y(measurements(), 0.0);
  for (int k = 0; k < sensor_rows(); ++k) y[measured_[k]] = offset_[k];
  for (int j = 0; j < unknowns(); ++j) {
    for (int e = column_start_[j]; e < column_start_[j + 1]; ++e) {
      const int k = row_index_[e] - model_rows_;
      if (k >= 0) y[measured_[k]] += values_[e] * d[j];
    }
  }
  for (const Gyroscope& g : gyroscope_) {
    const Vec3<double> w = g.X.E * velocity_[g.body].w;
    for (int k = 0; k < 3; ++k) y[g.first + k] = w[k];
  }
  return y;
}

Motion<double> SensorSystem::column(const Body& body, int k) const {
  Motion<double> S = Motion<double>::zero();
  with_subspace(model_.runs()[body.run],
                [&](auto ops) { S = decltype(ops)::column(motion_.joints.S.data() + body.v, k); });
  return S;
}

}  // namespace espalier
