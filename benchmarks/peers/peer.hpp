#pragma once

#include <array>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "peer.h"

/// What the modules of all peers share. C++17 without Espalier's headers, see peer.h.

namespace peers {

using Vector = std::vector<double>;

/// A robot's shape and how a library orders and expresses its rates.
struct Coordinates {
  enum class Root { angular_first_body, linear_first_body, linear_first_world };
  Root root = Root::angular_first_body;
  bool floating = false;
  std::vector<int> joint;  ///< where the library keeps the rate of each joint

  int root_rates() const { return floating ? 6 : 0; }
  int nq() const { return (floating ? 7 : 0) + static_cast<int>(joint.size()); }
  int nv() const { return root_rates() + static_cast<int>(joint.size()); }
  /// Position of joint j among positions in Espalier's order.
  int position(int j) const { return (floating ? 7 : 0) + j; }

  // From Espalier's conventions to the library's. With world axes, the root's linear acceleration
  // is that of its origin, R (vdot + w x v), and forces are R f; moments stay in the body.
  Vector rates(const double* q, const double* v) const { return to(q, v, nullptr); }
  Vector forces(const double* q, const double* tau) const { return to(q, tau, nullptr); }
  Vector accelerations(const double* q, const double* v, const double* vdot) const {
    return to(q, vdot, v);
  }
  // And back.
  void forces_from(const double* q, const double* theirs, double* tau) const {
    from(q, theirs, nullptr, tau);
  }
  void accelerations_from(const double* q, const double* v, const double* theirs,
                          double* vdot) const {
    from(q, theirs, v, vdot);
  }
  /// M = B^T M' B, where v' = B v; M'(i, j) is the library's matrix.
  template <class Matrix>
  void mass_matrix_from(const double* q, const Matrix& theirs, double* M) const {
    const int n = nv();
    for (int j = 0; j < n; ++j) {
      Vector unit(n), momentum(n), column(n);
      unit[j] = 1.0;
      const Vector rate = rates(q, unit.data());
      for (int r = 0; r < n; ++r) {
        for (int c = 0; c < n; ++c) momentum[r] += theirs(r, c) * rate[c];
      }
      forces_from(q, momentum.data(), column.data());
      for (int i = 0; i < n; ++i) M[i * n + j] = column[i];
    }
  }

  /// Rotation from the root's to world axes, by rows.
  static std::array<double, 9> rotation(const double* q) {
    const double x = q[3], y = q[4], z = q[5], w = q[6];
    return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
            2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  }

 private:
  using Vec3 = std::array<double, 3>;
  static Vec3 cross(const double* a, const double* b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  }
  /// `twist`, if given, is the one whose derivative `ours` is.
  Vector to(const double* q, const double* ours, const double* twist) const {
    Vector theirs(nv());
    for (std::size_t j = 0; j < joint.size(); ++j) theirs[joint[j]] = ours[root_rates() + j];
    if (!floating) return theirs;
    const bool world = root == Root::linear_first_world;
    const int angular = root == Root::angular_first_body ? 0 : 3;
    Vec3 linear{ours[3], ours[4], ours[5]};
    if (world && twist) {
      const Vec3 turning = cross(twist, twist + 3);
      for (int i = 0; i < 3; ++i) linear[i] += turning[i];
    }
    const std::array<double, 9> R = rotation(q);
    for (int i = 0; i < 3; ++i) {
      theirs[angular + i] = ours[i];
      theirs[3 - angular + i] =
          world ? R[3 * i] * linear[0] + R[3 * i + 1] * linear[1] + R[3 * i + 2] * linear[2]
                : linear[i];
    }
    return theirs;
  }
  void from(const double* q, const double* theirs, const double* twist, double* ours) const {
    for (std::size_t j = 0; j < joint.size(); ++j) ours[root_rates() + j] = theirs[joint[j]];
    if (!floating) return;
    const bool world = root == Root::linear_first_world;
    const int angular = root == Root::angular_first_body ? 0 : 3;
    const double* l = theirs + 3 - angular;
    const std::array<double, 9> R = rotation(q);
    for (int i = 0; i < 3; ++i) {
      ours[i] = theirs[angular + i];
      ours[3 + i] = world ? R[i] * l[0] + R[3 + i] * l[1] + R[6 + i] * l[2] : l[i];
    }
    if (!world || !twist) return;
    const Vec3 turning = cross(twist, twist + 3);
    for (int i = 0; i < 3; ++i) ours[3 + i] -= turning[i];
  }
};

/// One state as the program gave it: results are turned back with it.
struct Given {
  Vector q, v;
};

/// Fills the table from a peer's class P:
///   P(const espalier_peer_robot&)                throws if the library cannot read the robot
///   void set(int state, q, v, tau, vdot)         inputs in Espalier's conventions
///   void forward(int), inverse(int), mass_matrix(int)                       what is timed
///   void read_forward(int, double*), read_inverse(int, double*), read_mass_matrix(int, double*)
template <class P>
espalier_peer table(const char* library, std::array<const char*, 3> names, const char* remark,
                    double agreement) {
  espalier_peer t{};
  t.library = library;
  for (std::size_t w = 0; w < names.size(); ++w) t.names[w] = names[w];
  t.remark = remark;
  t.agreement = agreement;
  t.open = [](const espalier_peer_robot* robot, char* message, int size) -> void* {
    try {
      return new P(*robot);
    } catch (const std::exception& error) {
      std::snprintf(message, size, "%s", error.what());
      return nullptr;
    }
  };
  t.close = [](void* p) { delete static_cast<P*>(p); };
  t.set = [](void* p, int k, const double* q, const double* v, const double* tau,
             const double* vdot) { static_cast<P*>(p)->set(k, q, v, tau, vdot); };
  t.run[espalier_peer_forward] = [](void* p, int k) { static_cast<P*>(p)->forward(k); };
  t.run[espalier_peer_inverse] = [](void* p, int k) { static_cast<P*>(p)->inverse(k); };
  t.run[espalier_peer_mass_matrix] = [](void* p, int k) { static_cast<P*>(p)->mass_matrix(k); };
  t.read[espalier_peer_forward] = [](void* p, int k, double* out) {
    static_cast<P*>(p)->read_forward(k, out);
  };
  t.read[espalier_peer_inverse] = [](void* p, int k, double* out) {
    static_cast<P*>(p)->read_inverse(k, out);
  };
  t.read[espalier_peer_mass_matrix] = [](void* p, int k, double* out) {
    static_cast<P*>(p)->read_mass_matrix(k, out);
  };
  return t;
}

/// Adds ways to J M^-1 J^T: void inverse_osim<way>(int state), and read_inverse_osim<way>(double*).
template <class P, int way>
void add_inverse_osim(espalier_peer& t, const char* name) {
  constexpr int at = espalier_peer_inverse_osim + way;
  t.names[at] = name;
  t.run[at] = [](void* p, int k) { static_cast<P*>(p)->template inverse_osim<way>(k); };
  t.read[at] = [](void* p, int, double* out) {
    static_cast<P*>(p)->template read_inverse_osim<way>(out);
  };
}

/// Adds Jacobians and placements: void jacobian(int state), jacobians(int state),
/// placements(int state), and read_jacobian(int, double*), read_jacobians(int, double*),
/// read_placements(int, double*).
template <class P>
void add_kinematics(espalier_peer& t, const char* jacobian, const char* jacobians,
                    const char* placements) {
  t.names[espalier_peer_jacobian] = jacobian;
  t.run[espalier_peer_jacobian] = [](void* p, int k) { static_cast<P*>(p)->jacobian(k); };
  t.read[espalier_peer_jacobian] = [](void* p, int k, double* out) {
    static_cast<P*>(p)->read_jacobian(k, out);
  };
  t.names[espalier_peer_jacobians] = jacobians;
  t.run[espalier_peer_jacobians] = [](void* p, int k) { static_cast<P*>(p)->jacobians(k); };
  t.read[espalier_peer_jacobians] = [](void* p, int k, double* out) {
    static_cast<P*>(p)->read_jacobians(k, out);
  };
  t.names[espalier_peer_placements] = placements;
  t.run[espalier_peer_placements] = [](void* p, int k) { static_cast<P*>(p)->placements(k); };
  t.read[espalier_peer_placements] = [](void* p, int k, double* out) {
    static_cast<P*>(p)->read_placements(k, out);
  };
}

/// Adds what is asked of one body: void bias_forces(int state), center_of_mass(int state),
/// energy(int state), and read_bias_forces(int, double*), read_center_of_mass(double*),
/// read_energy(double*).
template <class P>
void add_one_body(espalier_peer& t, const char* bias_forces, const char* center_of_mass,
                  const char* energy) {
  t.names[espalier_peer_bias_forces] = bias_forces;
  t.run[espalier_peer_bias_forces] = [](void* p, int k) { static_cast<P*>(p)->bias_forces(k); };
  t.read[espalier_peer_bias_forces] = [](void* p, int k, double* out) {
    static_cast<P*>(p)->read_bias_forces(k, out);
  };
  t.names[espalier_peer_center_of_mass] = center_of_mass;
  t.run[espalier_peer_center_of_mass] = [](void* p, int k) {
    static_cast<P*>(p)->center_of_mass(k);
  };
  t.read[espalier_peer_center_of_mass] = [](void* p, int, double* out) {
    static_cast<P*>(p)->read_center_of_mass(out);
  };
  t.names[espalier_peer_energy] = energy;
  t.run[espalier_peer_energy] = [](void* p, int k) { static_cast<P*>(p)->energy(k); };
  t.read[espalier_peer_energy] = [](void* p, int, double* out) {
    static_cast<P*>(p)->read_energy(out);
  };
}

/// Adds derivatives: void inverse_derivatives(int state), forward_derivatives(int state),
/// inverse_mass_matrix(int state), and read_inverse_derivatives(double*),
/// read_forward_derivatives(double*), read_inverse_mass_matrix(double*).
template <class P>
void add_derivatives(espalier_peer& t, const char* inverse, const char* forward,
                     const char* inverse_mass_matrix) {
  t.names[espalier_peer_inverse_derivatives] = inverse;
  t.run[espalier_peer_inverse_derivatives] = [](void* p, int k) {
    static_cast<P*>(p)->inverse_derivatives(k);
  };
  t.read[espalier_peer_inverse_derivatives] = [](void* p, int, double* out) {
    static_cast<P*>(p)->read_inverse_derivatives(out);
  };
  t.names[espalier_peer_forward_derivatives] = forward;
  t.run[espalier_peer_forward_derivatives] = [](void* p, int k) {
    static_cast<P*>(p)->forward_derivatives(k);
  };
  t.read[espalier_peer_forward_derivatives] = [](void* p, int, double* out) {
    static_cast<P*>(p)->read_forward_derivatives(out);
  };
  t.names[espalier_peer_inverse_mass_matrix] = inverse_mass_matrix;
  t.run[espalier_peer_inverse_mass_matrix] = [](void* p, int k) {
    static_cast<P*>(p)->inverse_mass_matrix(k);
  };
  t.read[espalier_peer_inverse_mass_matrix] = [](void* p, int, double* out) {
    static_cast<P*>(p)->read_inverse_mass_matrix(out);
  };
}

/// Adds loops over a batch of states: void forward_batch(), inverse_batch(), and
/// read_forward_batch(int state, double*), read_inverse_batch(int state, double*).
template <class P>
void add_batches(espalier_peer& t, const char* forward, const char* inverse) {
  t.names[espalier_peer_forward_batch] = forward;
  t.run[espalier_peer_forward_batch] = [](void* p, int) { static_cast<P*>(p)->forward_batch(); };
  t.read[espalier_peer_forward_batch] = [](void* p, int k, double* out) {
    static_cast<P*>(p)->read_forward_batch(k, out);
  };
  t.names[espalier_peer_inverse_batch] = inverse;
  t.run[espalier_peer_inverse_batch] = [](void* p, int) { static_cast<P*>(p)->inverse_batch(); };
  t.read[espalier_peer_inverse_batch] = [](void* p, int k, double* out) {
    static_cast<P*>(p)->read_inverse_batch(k, out);
  };
}

}  // namespace peers

/// Exports the table of a peer under the one name that the program looks for.
#define ESPALIER_PEER(P, library, forward, inverse, mass_matrix, remark, agreement)           \
  extern "C" __attribute__((visibility("default"))) const espalier_peer* espalier_peer_table( \
      void);                                                                                  \
  const espalier_peer* espalier_peer_table(void) {                                            \
    static const espalier_peer table =                                                        \
        peers::table<P>(library, {forward, inverse, mass_matrix}, remark, agreement);         \
    return &table;                                                                            \
  }
