#pragma once

#include <memory>

#include "algorithms/differences/differences.hpp"
#include "espalier/kernel/problems/derivatives/forward_dynamics_adjoint.hpp"
#include "espalier/kernel/problems/derivatives/inverse_dynamics_adjoint.hpp"
#include "espalier/kernel/problems/derivatives/kinematics_derivatives.hpp"
#include "espalier/kernel/problems/dynamics/christoffel_symbols.hpp"
#include "espalier/kernel/problems/dynamics/coriolis_matrix.hpp"
#include "espalier/kernel/problems/dynamics/inverse_mass_matrix.hpp"
#include "espalier/kernel/problems/kinematics/centroidal_dynamics.hpp"

/// The other problems of derivatives by central differences of dense equations with loops closed:
/// references for `compare`. They allocate.

namespace espalier {

/// Gradients of lambda^T tau.
template <class T>
class DifferenceInverseAdjoint final : public InverseDynamicsAdjoint<T> {
 public:
  explicit DifferenceInverseAdjoint(ModelPtr model)
      : InverseDynamicsAdjoint<T>(model), dynamics_(model), differences_(this->model()) {}

  T margin() override { return differences_.margin(); }

 private:
  void compute(const double* q, const double* v, const double* vdot, const double* lambda,
               double* by_q, double* by_v, double* by_vdot, const Loads<T>* loads) override {
    const Model& model = this->model();
    const int n = model.nv();
    ClosedDifferences::expect_plain(loads);
    differences_.start(q);
    dynamics_.set_gravity(this->gravity());
    const auto weighed = [&](const double* position, const double* rates, const double* a) {
      std::vector<double> tau(n);
      dynamics_.evaluate({position, model.nq()}, {rates, n}, {a, n}, tau,
                         loads == nullptr ? nullptr : loads->wrenches);
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += lambda[i] * tau[i];
      return std::vector<double>{sum};
    };
    const auto shifted = [&](const double* x, int k, double t) {
      return ClosedDifferences::shifted(x, n, k, t);
    };
    differences_.matrix(
        [&](double t, int k) { return weighed(differences_.moved(q, k, t).data(), v, vdot); }, by_q,
        1);
    differences_.matrix([&](double t, int k) { return weighed(q, shifted(v, k, t).data(), vdot); },
                        by_v, 1);
    differences_.matrix([&](double t, int k) { return weighed(q, v, shifted(vdot, k, t).data()); },
                        by_vdot, 1);
  }

  DenseInverseDynamics<double> dynamics_;
  ClosedDifferences differences_;
};

/// Gradients of nu^T vdot.
template <class T>
class DifferenceForwardAdjoint final : public ForwardDynamicsAdjoint<T> {
 public:
  explicit DifferenceForwardAdjoint(ModelPtr model)
      : ForwardDynamicsAdjoint<T>(model), dynamics_(model), differences_(this->model()) {}

  T margin() override { return differences_.margin(); }

 private:
  void compute(const double* q, const double* v, const double* tau, const double* nu, double* vdot,
               double* by_q, double* by_v, double* by_tau, const Loads<T>* loads) override {
    const Model& model = this->model();
    const int n = model.nv();
    ClosedDifferences::expect_plain(loads);
    differences_.start(q);
    dynamics_.set_gravity(this->gravity());
    const auto at = [&](const double* position, const double* rates, const double* forces) {
      std::vector<double> out(n);
      dynamics_.evaluate({position, model.nq()}, {rates, n}, {forces, n}, out,
                         loads == nullptr ? nullptr : loads->wrenches);
      return out;
    };
    const auto weighed = [&](const double* position, const double* rates, const double* forces) {
      const std::vector<double> a = at(position, rates, forces);
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += nu[i] * a[i];
      return std::vector<double>{sum};
    };
    const auto shifted = [&](const double* x, int k, double t) {
      return ClosedDifferences::shifted(x, n, k, t);
    };
    const std::vector<double> here = at(q, v, tau);
    std::copy(here.begin(), here.end(), vdot);
    differences_.matrix(
        [&](double t, int k) { return weighed(differences_.moved(q, k, t).data(), v, tau); }, by_q,
        1);
    differences_.matrix([&](double t, int k) { return weighed(q, shifted(v, k, t).data(), tau); },
                        by_v, 1);
    differences_.matrix([&](double t, int k) { return weighed(q, v, shifted(tau, k, t).data()); },
                        by_tau, 1);
  }

  DenseForwardDynamics<double> dynamics_;
  ClosedDifferences differences_;
};

/// Columns are the accelerations that a unit of each force adds.
template <class T>
class DifferenceInverseMass final : public InverseMassMatrix<T> {
 public:
  explicit DifferenceInverseMass(ModelPtr model)
      : InverseMassMatrix<T>(model), dynamics_(model), differences_(this->model()) {}

 private:
  void compute(const double* q, double* M_inverse) override {
    const Model& model = this->model();
    const int n = model.nv();
    const std::vector<double> rest(n, 0.0);
    differences_.matrix(
        [&](double t, int k) {
          std::vector<double> out(n);
          dynamics_.evaluate({q, model.nq()}, rest,
                             ClosedDifferences::shifted(rest.data(), n, k, t), out);
          return out;
        },
        M_inverse);
  }

  DenseForwardDynamics<double> dynamics_;
  ClosedDifferences differences_;
};

/// C = sum of J^T (I dJ/dt + B J / 2) over all bodies, rotors among them, in each body's frame: to
/// the difference of its Jacobian along the motion dJ/dt adds v x J, since the frame moves, and
/// B m = v x* I m - I (v x m) + m x* I v.
/// Source: Echeandia, Wensing (2021); theory/derivatives 16.
class DifferenceCoriolis {
 public:
  explicit DifferenceCoriolis(const Model& model)
      : model_(model), equations_(model), differences_(model) {}

  /// @param[out] C  nv x nv, row-major
  void compute(const double* q, const double* v, double* C) {
    const int n = model_.nv(), bodies = model_.body_count();
    const auto jacobians = [&](double t) {
      equations_.update(differences_.moved_along(q, v, t).data(), nullptr, {0, 0, 0}, nullptr);
      const Eigen::MatrixXd& G = equations_.G();
      Eigen::MatrixXd all(6 * bodies + G.rows(), n);
      for (int i = 1; i <= bodies; ++i) {
        all.middleRows(6 * (i - 1), 6) = equations_.spanning_jacobian(i) * G;
      }
      all.bottomRows(G.rows()) = G;
      return std::vector<double>(all.data(), all.data() + all.size());
    };
    const std::vector<double> rates = ClosedDifferences::along(jacobians), here = jacobians(0.0);
    equations_.update(q, v, {0, 0, 0}, nullptr);
    const long rows = 6 * bodies + equations_.G().rows();
    const Eigen::Map<const Eigen::MatrixXd> Jd(rates.data(), rows, n), J(here.data(), rows, n);
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(n, n);
    for (int i = 1; i <= bodies; ++i) {
      const RigidInertia<double>& I = model_.body(i).inertia;
      const Motion<double> twist = motion(equations_.twist(i));
      for (int k = 0; k < n; ++k) {
        const Motion<double> column = motion(J.block<6, 1>(6 * (i - 1), k));
        const Force<double> B = cross_star(twist, I * column) - I * cross(twist, column) +
                                cross_star(column, I * twist);
        const Motion<double> rate = motion(Jd.block<6, 1>(6 * (i - 1), k)) + cross(twist, column);
        const Force<double> f = I * rate + scale(0.5, B);
        sum.col(k) += J.middleRows(6 * (i - 1), 6).transpose() * DenseEquations::vector(f);
      }
    }
    for (const auto& [rate, inertia] : model_.armature()) {
      sum += inertia * J.row(6 * bodies + rate).transpose() * Jd.row(6 * bodies + rate);
    }
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < n; ++k) C[static_cast<long>(i) * n + k] = sum(i, k);
    }
  }

 private:
  template <class Six>
  static Motion<double> motion(const Six& x) {
    return {{x(0), x(1), x(2)}, {x(3), x(4), x(5)}};
  }

  const Model& model_;
  DenseEquations equations_;
  ClosedDifferences differences_;
};

template <class T>
class DifferenceCoriolisMatrix final : public CoriolisMatrix<T> {
 public:
  explicit DifferenceCoriolisMatrix(ModelPtr model)
      : CoriolisMatrix<T>(std::move(model)), coriolis_(this->model()) {}

 private:
  void compute(const double* q, const double* v, double* C) override { coriolis_.compute(q, v, C); }
  DifferenceCoriolis coriolis_;
};

/// The Coriolis matrix at each unit rate.
template <class T>
class DifferenceChristoffel final : public ChristoffelSymbols<T> {
 public:
  explicit DifferenceChristoffel(ModelPtr model)
      : ChristoffelSymbols<T>(std::move(model)), coriolis_(this->model()) {}

 private:
  void compute(const double* q, double* Gamma) override {
    const long n = this->model().nv();
    std::vector<double> unit(n, 0.0), C(n * n);
    for (long k = 0; k < n; ++k) {
      unit[k] = 1.0;
      coriolis_.compute(q, unit.data(), C.data());
      for (long ij = 0; ij < n * n; ++ij) Gamma[ij * n + k] = C[ij];
      unit[k] = 0.0;
    }
  }
  DifferenceCoriolis coriolis_;
};

/// J and (dJ/dt) v of every link by dense equations; their variation by differences.
template <class T>
class DifferenceKinematics final : public KinematicsDerivatives<T> {
 public:
  explicit DifferenceKinematics(ModelPtr model)
      : KinematicsDerivatives<T>(std::move(model)),
        equations_(this->model()),
        differences_(this->model()) {}

  T margin() override { return differences_.margin(); }
  void write(const Link& link, const typename KinematicsDerivatives<T>::Of& of) const override {
    const std::size_t n = 6UL * this->model().nv();
    const double* from = parts_.data() + 5 * n * (&link - this->model().links().data());
    for (double* m : {of.J, of.J_rate, of.v_by_q, of.a_by_q, of.a_by_v}) {
      std::copy_n(from, n, m);
      from += n;
    }
  }

 private:
  /// Of all links: twist and acceleration, or J.
  std::vector<double> motions(const double* q, const double* v, const double* vdot, bool matrices) {
    const Model& model = this->model();
    equations_.update(q, v, {0, 0, 0}, nullptr);
    const Eigen::Map<const Eigen::VectorXd> a(vdot, model.nv());
    std::vector<double> out;
    for (const Link& link : model.links()) {
      const Eigen::MatrixXd J = equations_.spanning_jacobian(link.body) * equations_.G();
      const auto put = [&](const Eigen::VectorXd& of_body) {
        const Motion<double> x = link.X * Motion<double>{{of_body(0), of_body(1), of_body(2)},
                                                         {of_body(3), of_body(4), of_body(5)}};
        for (int k = 0; k < 6; ++k) out.push_back(x[k]);
      };
      if (matrices) {
        for (int k = 0; k < model.nv(); ++k) put(J.col(k));
        continue;
      }
      put(equations_.twist(link.body));
      put(J * a + equations_.bias_acceleration(link.body));
    }
    return out;
  }

  void compute(const double* q, const double* v, const double* vdot) override {
    const Model& model = this->model();
    const std::size_t n = model.nv(), links = model.links().size();
    differences_.start(q);
    parts_.assign(30 * n * links, 0.0);
    // J stands by columns.
    const auto put_matrix = [&](const std::vector<double>& all, std::size_t part) {
      for (std::size_t l = 0; l < links; ++l) {
        for (std::size_t j = 0; j < n; ++j) {
          for (std::size_t k = 0; k < 6; ++k) {
            parts_[((5 * l + part) * 6 + k) * n + j] = all[(l * n + j) * 6 + k];
          }
        }
      }
    };
    put_matrix(motions(q, v, vdot, true), 0);
    put_matrix(ClosedDifferences::along([&](double t) {
                 return motions(differences_.moved_along(q, v, t).data(), v, vdot, true);
               }),
               1);
    for (std::size_t j = 0; j < n; ++j) {
      const int k = static_cast<int>(j);
      const auto put_column = [&](const std::vector<double>& all, int first, std::size_t part) {
        for (std::size_t l = 0; l < links; ++l) {
          for (int i = 0; i < 6; ++i) {
            parts_[((5 * l + part) * 6 + i) * n + j] = all[12 * l + first + i];
          }
        }
      };
      const std::vector<double> by_q = ClosedDifferences::along(
          [&](double t) { return motions(differences_.moved(q, k, t).data(), v, vdot, false); });
      put_column(by_q, 0, 2), put_column(by_q, 6, 3);
      put_column(ClosedDifferences::along([&](double t) {
                   return motions(q, ClosedDifferences::shifted(v, model.nv(), k, t).data(), vdot,
                                  false);
                 }),
                 6, 4);
    }
  }

  DenseEquations equations_;
  ClosedDifferences differences_;
  std::vector<double> parts_;  ///< per link five matrices, as write() gives them
};

/// Momentum, its rate and the centre of mass as sums over bodies; derivatives by differences.
template <class T>
class DifferenceCentroidal final : public CentroidalDynamics<T> {
 public:
  explicit DifferenceCentroidal(ModelPtr model)
      : CentroidalDynamics<T>(std::move(model)),
        equations_(this->model()),
        differences_(this->model()) {}

  T margin() override { return differences_.margin(); }

 private:
  using typename CentroidalDynamics<T>::Answer;

  /// Momentum (6), its rate (6) and the centre of mass (3).
  std::vector<double> sums(const double* q, const double* v, const double* vdot) {
    const Model& model = this->model();
    equations_.update(q, v, {0, 0, 0}, nullptr);
    const Eigen::VectorXd a = equations_.G() * Eigen::Map<const Eigen::VectorXd>(vdot, model.nv());
    const auto motion = [](const DenseEquations::Vector6& x) {
      return Motion<double>{{x(0), x(1), x(2)}, {x(3), x(4), x(5)}};
    };
    Force<double> h = Force<double>::zero(), hd = h;
    RigidInertia<double> all = RigidInertia<double>::zero();
    for (int i = 1; i <= model.body_count(); ++i) {
      const RigidInertia<double>& I = model.body(i).inertia;
      const Transform<double>& X = equations_.placement(i);
      const Motion<double> twist = motion(equations_.twist(i));
      const Force<double> momentum = I * twist;
      const Force<double> rate =
          I * motion(equations_.spanning_jacobian(i) * a + equations_.bias_acceleration(i)) +
          cross_star(twist, momentum);
      h += X.transpose_times_force(momentum), hd += X.transpose_times_force(rate);
      all += congruence(X, I);
    }
    const Vec3<double> c = all.m > 0.0 ? scale(1.0 / all.m, all.h) : Vec3<double>::zero();
    h.n -= cross(c, h.f), hd.n -= cross(c, hd.f);
    std::vector<double> out;
    for (int k = 0; k < 6; ++k) out.push_back(h[k]);
    for (int k = 0; k < 6; ++k) out.push_back(hd[k]);
    for (int k = 0; k < 3; ++k) out.push_back(c[k]);
    return out;
  }

  const Answer& compute(const double* q, const double* v, const double* vdot) override {
    const int n = this->model().nv();
    differences_.start(q);
    const std::vector<double> here = sums(q, v, vdot);
    const auto part = [](const std::vector<double>& from, int first, int count) {
      return std::vector<double>(from.begin() + first, from.begin() + first + count);
    };
    answer_.momentum = part(here, 0, 6), answer_.rate = part(here, 6, 6);
    answer_.com = part(here, 12, 3);
    std::vector<double> all(15UL * n);
    differences_.matrix(
        [&](double t, int k) { return sums(differences_.moved(q, k, t).data(), v, vdot); },
        all.data(), 15);
    answer_.momentum_by_q = part(all, 0, 6 * n), answer_.rate_by_q = part(all, 6 * n, 6 * n);
    answer_.com_by_q = part(all, 12 * n, 3 * n);
    differences_.matrix(
        [&](double t, int k) {
          return sums(q, ClosedDifferences::shifted(v, n, k, t).data(), vdot);
        },
        all.data(), 15);
    answer_.matrix = part(all, 0, 6 * n), answer_.rate_by_v = part(all, 6 * n, 6 * n);
    return answer_;
  }

  DenseEquations equations_;
  ClosedDifferences differences_;
  Answer answer_;
};

}  // namespace espalier
