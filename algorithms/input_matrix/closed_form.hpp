#pragma once

#include <Eigen/Dense>
#include <vector>

#include "algorithms/input_matrix/task_answer.hpp"
#include "algorithms/inverse_dynamics/rnea.hpp"

namespace espalier {

/// The implicit inversion method as published, with block matrices over all pairs of subsystems:
///   Bhat = diag(D^-1 F^T) [1 - diag(M* T) That diag(F D^-1 F^T)] B*
/// A subsystem is a cluster with one supporting body; its describing velocities are its twist
/// and the cluster's own rates, y = (v_out, yd), so that F = [0; 1] and
///   T_i = [1 J_out; 0],  M_i = sum over bodies [1 J_b]^T I_b [1 J_b]
/// with J_b the twist of body b by the cluster's rates. The free acceleration is D^-1 F^T and so on
/// of tau - C, by the recursion that the paper calls O(n).
///
/// Frames: world axes, world origin: there twists of bodies differ by no transform.
/// Cost: O(N^2 (s^3 + s^2 m)) for N clusters with s describing velocities.
/// Source: Krög, Gattringer, Müller, equations 9 to 27; theory/input-matrix 3.2 (with its
/// corrections).
template <class T>
class ClosedForm final : public InputMatrix<T> {
 public:
  explicit ClosedForm(const Setup& setup)
      : InputMatrix<T>(setup),
        motion_(this->model()),
        rnea_(setup.model),
        task_answer_(this->model(), this->task()),
        C_(this->model().nv()),
        X_(this->model().body_count() + 1, Transform<T>::identity()),
        J_(this->model().body_count() + 1),
        armature_(this->model().spanning_nv(), 0.0) {
    const Model& model = this->model();
    for (const auto& [rate, inertia] : model.armature()) armature_[rate] = inertia;
    int rows = 0;
    for (const Cluster& c : model.clusters()) {
      Subsystem s;
      s.cluster = &c;
      s.first = rows, s.size = 6 + c.nv;
      rows += s.size;
      if (c.parent >= 0) s.ancestors = subsystems_[c.parent].ancestors;
      s.ancestors.push_back(static_cast<int>(subsystems_.size()));
      subsystems_.push_back(std::move(s));
    }
    Tstar_.setZero(rows, rows);
    B_.setZero(rows, this->inputs().size());
    node_.assign(this->inputs().size(), -1);
    for (const InputColumns::Motor& motor : this->inputs().motors()) {
      node_[motor.column] = model.body(model.joint_of_rate(motor.rate).body).cluster;
    }
    for (const Task::Part& part : this->inputs().contacts()) {
      for (int k = 0; k < part.size() && part.body != 0; ++k) {
        node_[part.first + k] = model.body(part.body).cluster;
      }
    }
    Bstar_.resizeLike(B_);
    Y_.resizeLike(B_);
  }

 private:
  using Matrix = Eigen::MatrixXd;
  using Vector = Eigen::VectorXd;
  using Matrix6X = Eigen::Matrix<double, 6, Eigen::Dynamic>;

  struct Subsystem {
    const Cluster* cluster = nullptr;
    int first = 0, size = 0;     ///< rows among all describing velocities
    std::vector<int> ancestors;  ///< from the ground outward, itself the last
    Matrix T_, M, U, Dinv;       ///< T_: from the parent's describing velocities; M becomes M*
    Vector h;
  };

  void compute(const double* q, const double* v, const double* tau,
               const Wrenches<double>* wrenches, typename InputMatrix<T>::Answer& answer) override {
    motion_.update(q, nullptr);
    rnea_.set_gravity(this->gravity());
    rnea_.compute(q, v, nullptr, C_.data(), wrenches);
    for (Subsystem& s : subsystems_) describe(s);
    for (std::size_t i = subsystems_.size(); i-- > 0;) reduce(subsystems_[i]);
    const int nv = this->model().nv();
    fall(tau, Eigen::Map<Vector>(answer.free_acceleration.data(), nv));
    propagate();
    place_inputs();
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    combine(Eigen::Map<RowMajor>(answer.input_matrix.data(), nv, B_.cols()));
    task_answer_.complete(q, v, answer);
  }

  static Eigen::Vector3d vector(const Vec3<double>& a) { return {a.x, a.y, a.z}; }
  template <class Six>
  static Eigen::Matrix<double, 6, 1> vector(const Six& m) {
    return (Eigen::Matrix<double, 6, 1>() << vector(m[0], m[1], m[2]), vector(m[3], m[4], m[5]))
        .finished();
  }
  static Eigen::Vector3d vector(double x, double y, double z) { return {x, y, z}; }

  Subsystem* parent(const Subsystem& s) {
    return s.cluster->parent < 0 ? nullptr : &subsystems_[s.cluster->parent];
  }

  /// J of the bodies, then T and M of a subsystem, after those of its parent.
  void describe(Subsystem& s) {
    const Model& model = this->model();
    const Cluster& c = *s.cluster;
    s.M.setZero(s.size, s.size);
    for (int i = c.first; i < c.first + c.count; ++i) describe_body(s, i);
    for (int k = 0; k < c.rotors; ++k) describe_body(s, model.rotors()[c.rotor + k].body);
    if (Subsystem* p = parent(s)) {
      s.T_.setZero(s.size, p->size);
      s.T_.topLeftCorner(6, 6).setIdentity();
      s.T_.topRightCorner(6, p->size - 6) = J_[c.supports[0]];
    }
  }
  void describe_body(Subsystem& s, int i) {
    const Model& model = this->model();
    const Cluster& c = *s.cluster;
    const Body& body = model.body(i);
    X_[i] = motion_.joints.X[i] * X_[body.parent];
    const bool inside = body.parent != 0 && model.body(body.parent).cluster == body.cluster;
    Matrix6X& J = J_[i];
    if (inside) {
      J = J_[body.parent];
    } else {
      J.setZero(6, c.nv);
    }
    for (int k = 0; k < body.nv; ++k) {
      Motion<double> column = Motion<double>::zero();
      with_subspace(model.runs()[body.run], [&](auto ops) {
        column = decltype(ops)::column(motion_.joints.S.data() + body.v, k);
      });
      const int row = c.row(body.v + k);
      const Eigen::Matrix<double, 6, 1> S = vector(X_[i].inverse_times(column));
      for (int j = 0; j < c.nv; ++j) {
        const double rho = c.constrained ? motion_.G(c)[row * c.nv + j] : row == j ? 1.0 : 0.0;
        J.col(j) += rho * S;
        if (armature_[body.v + k] == 0.0) continue;
        for (int l = 0; l < c.nv; ++l) {
          const double other = c.constrained ? motion_.G(c)[row * c.nv + l] : row == l ? 1.0 : 0.0;
          s.M(6 + j, 6 + l) += armature_[body.v + k] * rho * other;
        }
      }
    }
    Eigen::Matrix<double, 6, 6> I;
    const RigidInertia<double> inertia = congruence(X_[i], body.inertia);
    for (int k = 0; k < 6; ++k) {
      Motion<double> unit = Motion<double>::zero();
      unit[k] = 1.0;
      I.col(k) = vector(inertia * unit);
    }
    const Matrix6X IJ = I * J;
    s.M.topLeftCorner(6, 6) += I;
    s.M.topRightCorner(6, c.nv) += IJ;
    s.M.bottomLeftCorner(c.nv, 6) += IJ.transpose();
    s.M.bottomRightCorner(c.nv, c.nv) += J.transpose() * IJ;
  }

  /// Tips to base: D, U, T* = (1 - F D^-1 U^T) T, and what is propagated to the parent's M*.
  void reduce(Subsystem& s) {
    const int n = s.cluster->nv;
    s.U = s.M.rightCols(n);
    s.Dinv = Matrix(s.U.bottomRows(n)).inverse();  // by LU: not a number where singular
    Subsystem* p = parent(s);
    if (p == nullptr) return;
    auto Ts = Tstar_.block(s.first, p->first, s.size, p->size);
    Ts = s.T_;
    Ts.bottomRows(n) -= s.Dinv * (s.U.transpose() * s.T_);
    p->M += Ts.transpose() * s.M * s.T_;
  }

  /// The O(n) method for tau - C, which acts on rates alone.
  void fall(const double* tau, Eigen::Map<Vector> vdot) {
    for (Subsystem& s : subsystems_) s.h.setZero(s.size);
    for (std::size_t i = subsystems_.size(); i-- > 0;) {
      Subsystem& s = subsystems_[i];
      const int n = s.cluster->nv, at = s.cluster->v;
      for (int j = 0; j < n; ++j) s.h(6 + j) -= tau[at + j] - C_[at + j];
      Subsystem* p = parent(s);
      if (p != nullptr) {
        p->h += Tstar_.block(s.first, p->first, s.size, p->size).transpose() * s.h;
      }
    }
    for (std::size_t i = 0; i < subsystems_.size(); ++i) {  // h becomes the acceleration
      Subsystem& s = subsystems_[i];
      const int n = s.cluster->nv;
      const Subsystem* p = parent(s);
      const Vector inherited = p == nullptr ? Vector(Vector::Zero(s.size)) : Vector(s.T_ * p->h);
      const Vector rates = -s.Dinv * (s.U.transpose() * inherited + s.h.tail(n));
      vdot.segment(s.cluster->v, n) = rates;
      s.h = inherited;
      s.h.tail(n) += rates;
    }
  }

  /// T*_ij = T*_i T*_parent(i),j for all j that i hangs on; T*_ii = 1.
  void propagate() {
    for (Subsystem& s : subsystems_) {
      block(s, s).setIdentity();
      const Subsystem* p = parent(s);
      if (p == nullptr) continue;
      const Matrix Ts = block(s, *p);
      for (std::size_t k = 0; k + 2 < s.ancestors.size(); ++k) {
        const Subsystem& j = subsystems_[s.ancestors[k]];
        block(s, j).noalias() = Ts * block(*p, j);
      }
    }
  }
  Eigen::Block<Matrix> block(const Subsystem& i, const Subsystem& j) {
    return Tstar_.block(i.first, j.first, i.size, j.size);
  }

  void place_inputs() {
    const Model& model = this->model();
    for (const InputColumns::Motor& motor : this->inputs().motors()) {
      const Subsystem& s = subsystems_[node_[motor.column]];
      const Cluster& c = *s.cluster;
      const int row = c.row(motor.rate);
      for (int j = 0; j < c.nv; ++j) {
        B_(s.first + 6 + j, motor.column) = c.constrained ? motion_.G(c)[row * c.nv + j]
                                            : row == j    ? 1.0
                                                          : 0.0;
      }
    }
    for (const Task::Part& part : this->inputs().contacts()) {
      if (part.body == 0) continue;
      const Subsystem& s = subsystems_[model.body(part.body).cluster];
      const Transform<T>& X = X_[part.body];
      for (int k = 0; k < part.size(); ++k) {
        Force<double> f = part.rows[k];
        if (part.world) {
          f.n += cross(X.r + transpose_times(X.E, part.point), f.f);
        } else {
          f = X.transpose_times_force(f);
        }
        const Eigen::Matrix<double, 6, 1> W = vector(f);
        B_.block(s.first, part.first + k, 6, 1) = W;
        B_.block(s.first + 6, part.first + k, s.size - 6, 1) = J_[part.body].transpose() * W;
      }
    }
  }

  /// B*, and the formula from right to left.
  void combine(
      Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> Bhat) {
    Bstar_.setZero();
    for (int k = 0; k < B_.cols(); ++k) {
      if (node_[k] < 0) continue;
      const Subsystem& j = subsystems_[node_[k]];
      for (const int a : j.ancestors) {
        const Subsystem& i = subsystems_[a];
        Bstar_.block(i.first, k, i.size, 1).noalias() =
            block(j, i).transpose() * B_.block(j.first, k, j.size, 1);
      }
    }
    const long m = B_.cols();
    for (const Subsystem& s : subsystems_) {
      const int n = s.cluster->nv;
      auto Y = Y_.middleRows(s.first, s.size);
      Y.topRows(6).setZero();
      Y.bottomRows(n).noalias() = s.Dinv * Bstar_.middleRows(s.first + 6, n);
    }
    for (const Subsystem& s : subsystems_) {
      const int n = s.cluster->nv;
      Matrix force = Bstar_.middleRows(s.first + 6, n);
      if (const Subsystem* p = parent(s)) {
        W_.setZero(p->size, m);
        for (const int a : p->ancestors) {
          const Subsystem& j = subsystems_[a];
          W_.noalias() += block(*p, j) * Y_.middleRows(j.first, j.size);
        }
        force.noalias() -= (s.U.transpose() * s.T_) * W_;
      }
      Bhat.middleRows(s.cluster->v, n).noalias() = s.Dinv * force;
    }
  }

  SpanningMotion<T> motion_;
  Rnea<T> rnea_;
  TaskAnswer<T> task_answer_;
  std::vector<double> C_;
  std::vector<Transform<T>> X_;  ///< world to body
  std::vector<Matrix6X> J_;      ///< per body: 6 x rates of its cluster
  std::vector<double> armature_;
  std::vector<Subsystem> subsystems_;
  std::vector<int> node_;     ///< per column; -1: on the ground
  Matrix Tstar_;              ///< blocks T*_ij
  Matrix B_, Bstar_, Y_, W_;  ///< describing velocities x m
};

}  // namespace espalier
