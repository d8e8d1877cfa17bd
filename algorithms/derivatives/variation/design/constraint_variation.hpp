#pragma once

#include <Eigen/Dense>
#include <array>
#include <memory>
#include <vector>

#include "algorithms/derivatives/variation/adjoint_sweep.hpp"
#include "espalier/kernel/model/loops/law_parameters.hpp"

namespace espalier {

/// What a number of the design changes in the rows of a cluster's constraint, the positions held.
class RowChange {
 public:
  using Vector = Eigen::VectorXd;

  virtual ~RowChange() = default;
  /// Takes in a position. @param q  of the model, on its closed loops
  virtual void start(const double* q) = 0;
  // Derivatives by the number at that position; vectors are over the cluster's columns.
  virtual void positions(Vector& r) = 0;               ///< of phi
  virtual void rates(const Vector& x, Vector& r) = 0;  ///< of K x
  virtual void accelerations(const Vector& x, const Vector& xd,
                             Vector& r) = 0;  ///< K xd + phi''(x, x)
};

/// Of a number of a law, by differences of order 8 of the law alone.
class LawChange final : public RowChange {
 public:
  LawChange(const Model& model, const LawParameter& p)
      : c_(model.clusters()[p.cluster]), use_(c_.constraint->laws[p.use]), row_(first_row(p.use)) {
    static constexpr double weight[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    for (int k = 1; k <= 4; ++k) {
      for (const int sign : {1, -1}) {
        laws_.push_back({changed_law(model, p, sign * k * p.step), sign * weight[k - 1] / p.step});
      }
    }
    const std::size_t n = use_.positions.size(), m = use_.law->equations();
    q_.resize(n), x_.resize(n), xd_.resize(n), rest_.assign(n, 0.0), d_.resize(m), dd_.resize(m);
  }

  void start(const double* q) override {
    for (std::size_t i = 0; i < q_.size(); ++i) q_[i] = q[use_.positions[i]];
  }
  void positions(Vector& r) override {
    add(r, [&](const Law& law) { law.phi(q_.data(), d_.data()); });
  }
  void rates(const Vector& x, Vector& r) override {
    take(x, x_);
    const double* rest = rest_.data();
    add(r, [&](const Law& law) {
      law.vary(q_.data(), rest, rest, rest, x_.data(), d_.data(), dd_.data());
    });
  }
  void accelerations(const Vector& x, const Vector& xd, Vector& r) override {
    take(x, x_), take(xd, xd_);
    add(r, [&](const Law& law) {
      law.vary(q_.data(), x_.data(), rest_.data(), x_.data(), xd_.data(), d_.data(), dd_.data());
    });
  }

 private:
  struct Weighted {
    std::unique_ptr<const Law> law;
    double weight;
  };

  int first_row(int use) const {
    int row = static_cast<int>(c_.constraint->linear.size());
    for (int l = 0; l < use; ++l) {
      for (const bool kept : c_.constraint->laws[l].kept) row += kept;
    }
    return row;
  }
  void take(const Vector& x, std::vector<double>& out) const {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = x[use_.columns[i]];
  }
  template <class F>
  void add(Vector& r, F&& f) {
    r.setZero();
    for (const Weighted& at : laws_) {
      f(*at.law);
      int row = row_;
      for (std::size_t e = 0; e < d_.size(); ++e) {
        if (use_.kept[e]) r[row++] += at.weight * d_[e];
      }
    }
  }

  const Cluster& c_;
  const ClusterConstraint::LawUse& use_;
  int row_;
  std::vector<Weighted> laws_;
  std::vector<double> q_, x_, xd_, rest_, d_, dd_;
};

/// One neighbour of a model in a family of robots, at the model's positions, where its loops are
/// open by what the family changes.
struct Neighbour {
  explicit Neighbour(ModelPtr of) : model(std::move(of)), variation(*model) {}

  ModelPtr model;
  SpanningVariation<double> variation;
  ConstraintWorkspace<double> work{};
};

/// Of a family of robots, by the difference of two neighbours.
class FamilyChange final : public RowChange {
 public:
  /// @param less, more  after SpanningVariation::update() at each position that is started
  /// @param per         1 over how far apart they are
  FamilyChange(Neighbour& less, Neighbour& more, int cluster, double per)
      : sides_{{{&less, -per}, {&more, per}}}, cluster_(cluster) {
    const Cluster& c = less.model->clusters()[cluster];
    const int rows = c.constraint->rows();
    rest_ = Vector::Zero(c.rows()), d_.resize(rows), dd_.resize(rows);
    phi_.reserve(rows);
    for (auto& [side, weight] : sides_) {
      const Cluster& of = side->model->clusters()[cluster];
      of.constraint->allocate(of, side->work);
    }
  }

  void start(const double* q) override { q_ = q; }
  void positions(Vector& r) override {
    r.setZero();
    for (auto& [side, weight] : sides_) {
      const Cluster& c = side->model->clusters()[cluster_];
      const TreeKinematics<double>& joints = side->variation.joints;
      c.constraint->residual(*side->model, c, {q_, nullptr, joints.X.data(), joints.S.data()},
                             ClusterConstraint::Rows::kept, side->work, phi_);
      r += weight * Eigen::Map<const Vector>(phi_.data(), r.size());
    }
  }
  void rates(const Vector& x, Vector& r) override { vary(rest_, rest_, x, r); }
  void accelerations(const Vector& x, const Vector& xd, Vector& r) override { vary(x, x, xd, r); }

 private:
  /// phi''(qd, x) + K xd.
  void vary(const Vector& qd, const Vector& x, const Vector& xd, Vector& r) {
    r.setZero();
    for (auto& [side, weight] : sides_) {
      const Cluster& c = side->model->clusters()[cluster_];
      side->variation.vary_rows(c, qd.data(), rest_.data(), x.data(), xd.data(), d_.data(),
                                dd_.data());
      for (std::size_t i = 0; i < c.constraint->linear.size(); ++i) {
        for (const auto& [column, factor] : c.constraint->linear[i].terms) {
          d_[i] += factor * xd[column];
        }
      }
      r += weight * d_;
    }
  }

  std::array<std::pair<Neighbour*, double>, 2> sides_;
  int cluster_;
  const double* q_ = nullptr;
  Vector rest_, d_, dd_;
  std::vector<double> phi_;
};

/// How the spanning joints of one cluster move as its constraint changes, the independent ones
/// held, and what the forces do of it: (18.1). Nothing is closed anew.
/// Source: theory/derivatives 18.
class ConstraintVariation {
 public:
  using Vector = Eigen::VectorXd;

  ConstraintVariation(const Model& model, int cluster) : c_(model.clusters()[cluster]) {
    for (Vector* x : {&qd_, &qdd_, &w_, &dq, &dqd, &dqdd, &dw_, &rest_})
      *x = Vector::Zero(c_.rows());
    const int rows = c_.constraint->rows();
    for (Vector* x : {&r_, &d_, &dd_}) *x = Vector::Zero(rows);
  }

  /// Contribution to the derivative of lambda^T tau.
  /// @param s  after accelerate(), and sweep after evaluate() there
  double evaluate(VariationState<double>& s, const AdjointSweep<double>& sweep, RowChange& change) {
    SpanningVariation<double>& motion = s.motion;
    const int rows = c_.rows();
    for (int i = 0; i < rows; ++i) {
      const int rate = c_.rate(i);
      qd_[i] = motion.qd()[rate], qdd_[i] = motion.qdd()[rate], w_[i] = sweep.lambda()[rate];
    }
    const auto vary = [&](const Vector& t, const Vector& tt, const Vector& e, const Vector& te) {
      motion.vary_rows(c_, t.data(), tt.data(), e.data(), te.data(), d_.data(), dd_.data());
    };
    const auto follow = [&](Vector& out) { motion.follow_rows(c_, r_.data(), out.data()); };
    change.start(motion.q());
    change.positions(r_), follow(dq);
    change.rates(qd_, r_), vary(qd_, rest_, dq, rest_), r_ += d_, follow(dqd);
    change.rates(w_, r_), vary(w_, rest_, dq, rest_), r_ += d_, follow(dw_);
    change.accelerations(qd_, qdd_, r_), vary(qd_, qdd_, dq, dqd), r_ += dd_, follow(dqdd);
    double sum = 0.0;
    for (int i = 0; i < rows; ++i) {
      const int rate = c_.rate(i);
      sum += sweep.by_position()[rate] * dq[i] + sweep.by_rate()[rate] * dqd[i] +
             sweep.by_acceleration()[rate] * dqdd[i] + s.tau_s[rate] * dw_[i];
    }
    return sum;
  }

 private:
  const Cluster& c_;
  Vector qd_, qdd_, w_, dw_, rest_, r_, d_, dd_;

 public:
  // Of the last evaluate(), per row of G: how positions, rates and accelerations change.
  Vector dq, dqd, dqdd;
};

}  // namespace espalier
