#include "espalier/sensing/sensor_verdict.hpp"

#include <Eigen/Dense>
#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/kernel/uniform.hpp"
#include "espalier/sensing/sensor_structure.hpp"

namespace espalier {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Below this cosine between what is free and what is measured, nothing is measured: equations of
/// hundreds of unknowns leave about 1e-13 of a zero.
constexpr double zero_cosine = 1e-10;

/// The rank of a system at one position.
struct Spectrum {
  int rank = 0;         ///< of all equations
  double margin = 0.0;  ///< smallest cosine
  Matrix null;          ///< ways to vary, columns over the unknowns, in their units
  Matrix scaled_null;   ///< the same, orthonormal in comparable units
  Vector unit;          ///< null = unit * scaled_null
};

/// Ways to move and push that the equations of motion allow, and what sensors see of them.
class RankTest {
 public:
  explicit RankTest(SensorSystem& system) : system_(system), rest_(system.model().nv(), 0.0) {}

  Spectrum operator()(const std::vector<double>& q) {
    system_.update(q.data(), rest_.data(), nullptr, {0, 0, 0}, nullptr);
    expect_finite();
    const int n = system_.unknowns(), m = system_.model_rows();
    equilibrate();
    Spectrum s;
    s.unit = unit_;
    // Rows of the sensors, each of length 1.
    Matrix C = Matrix::Zero(system_.sensor_rows(), n);
    each([&](int row, int column, double x) {
      if (row >= m) C(row - m, column) = x;
    });
    for (long i = 0; i < C.rows(); ++i) C.row(i) /= std::max(C.row(i).norm(), 1e-300);
    const Matrix Q = free_directions();
    const long f = Q.cols();
    Vector cosines = Vector::Zero(f);
    Matrix V = Matrix::Identity(f, f);
    if (f > 0 && C.rows() > 0) {
      const Eigen::BDCSVD<Matrix> svd(C * Q, Eigen::ComputeFullV);
      cosines.head(svd.singularValues().size()) = svd.singularValues();
      V = svd.matrixV();
    }
    const long seen = (cosines.array() > zero_cosine).count();
    s.rank = n - static_cast<int>(f - seen);
    s.margin = f == 0 ? 1.0 : cosines(f - 1);
    s.scaled_null = Q * V.rightCols(f - seen);
    s.null = unit_.asDiagonal() * s.scaled_null;
    return s;
  }

 private:
  template <class F>
  void each(F&& f) const {
    for (int j = 0; j < system_.unknowns(); ++j) {
      for (int k = system_.column_start()[j]; k < system_.column_start()[j + 1]; ++k) {
        const int i = system_.row_index()[k];
        f(i, j, row_unit_(i) * system_.values()[k] * unit_(j));
      }
    }
  }
  /// Products of numbers near the largest double are infinite, and then there is no rank.
  void expect_finite() const {
    for (int j = 0; j < system_.unknowns(); ++j) {
      for (int k = system_.column_start()[j]; k < system_.column_start()[j + 1]; ++k) {
        const double x = system_.values()[k];
        if (std::isfinite(x)) continue;
        throw SingularMechanism("sensors of '" + system_.model().name() + "': the coefficient of " +
                                text::quoted(system_.unknown_names()[j]) + " is " +
                                text::number(x) +
                                ", expected a finite number (masses, inertias and lengths whose "
                                "products a double can hold)");
      }
    }
  }
  /// Brings rows and columns to entries of about 1, so that forces and accelerations compare.
  void equilibrate() {
    unit_ = Vector::Ones(system_.unknowns());
    row_unit_ = Vector::Ones(system_.rows());
    for (int pass = 0; pass < 4; ++pass) {
      Vector rows = Vector::Zero(row_unit_.size()), columns = Vector::Zero(unit_.size());
      each([&](int i, int j, double x) {
        rows(i) = std::max(rows(i), std::abs(x));
        columns(j) = std::max(columns(j), std::abs(x));
      });
      for (long i = 0; i < rows.size(); ++i) row_unit_(i) /= rows(i) > 0 ? std::sqrt(rows(i)) : 1.0;
      for (long j = 0; j < unit_.size(); ++j)
        unit_(j) /= columns(j) > 0 ? std::sqrt(columns(j)) : 1.0;
    }
  }
  /// An orthonormal basis of the solutions of D d = 0: motions and forces for a unit of each motor
  /// and of each component of each external wrench.
  Matrix free_directions() const {
    const int n = system_.unknowns(), m = system_.model_rows();
    std::vector<Eigen::Triplet<double>> entries;
    each([&](int row, int column, double x) {
      if (row < m) entries.emplace_back(row, column, x);
    });
    int next = m;
    for (int j = system_.qdd(system_.model().spanning_nv()); j < system_.multipliers(); ++j) {
      entries.emplace_back(next++, j, 1.0);
    }
    Eigen::SparseMatrix<double> A(n, n);
    A.setFromTriplets(entries.begin(), entries.end());
    Matrix unit_inputs = Matrix::Zero(n, n - m);
    unit_inputs.bottomRows(n - m).setIdentity();
    Eigen::SparseLU<Eigen::SparseMatrix<double>> lu(A);
    if (lu.info() == Eigen::Success) {
      const Matrix Z = lu.solve(unit_inputs);
      if (Z.allFinite() && (Z.size() == 0 || Z.cwiseAbs().maxCoeff() < 1e12)) {
        if (Z.cols() == 0) return Z;
        return Eigen::HouseholderQR<Matrix>(Z).householderQ() * Matrix::Identity(n, n - m);
      }
    }
    // A dead point of a loop: forward dynamics are not determined either.
    const Eigen::BDCSVD<Matrix> svd(Matrix(A).topRows(m), Eigen::ComputeFullV);
    const long rank = (svd.singularValues().array() > zero_cosine).count();
    return svd.matrixV().rightCols(n - rank);
  }

  SensorSystem& system_;
  std::vector<double> rest_;
  Vector unit_, row_unit_;
};

/// Words for the ways to vary that no sensor sees.
class Words {
 public:
  explicit Words(const SensorSystem& system) : system_(system) {
    for (int r = 0; r < system.model().spanning_nv(); ++r) {
      accelerations_.push_back(system.qdd(r));
      if (system.torque(r) >= 0) torques_.push_back(system.torque(r));
    }
    for (const SensorSystem::Contact& c : system.contacts()) {
      for (int k = 0; k < 6; ++k) wrenches_.push_back(c.first + k);
    }
  }

  /// Brings the basis to vectors with few entries: Gauss-Jordan with pivots on wrenches while there
  /// are any, then on torques, then on accelerations.
  std::vector<SensorVerdict::Combination> combinations(Matrix null) const {
    std::vector<SensorVerdict::Combination> all;
    std::vector<bool> used(null.rows(), false);
    for (long k = 0; k < null.cols(); ++k) {
      long pivot = -1, column = k;
      for (const std::vector<int>* group : {&wrenches_, &torques_, &accelerations_}) {
        double best = 1e-6 * null.rightCols(null.cols() - k).cwiseAbs().maxCoeff();
        for (const int i : *group) {
          for (long c = k; c < null.cols() && !used[i]; ++c) {
            if (std::abs(null(i, c)) > best * 1.0000001) {
              best = std::abs(null(i, c)), pivot = i, column = c;
            }
          }
        }
        if (pivot >= 0) break;
      }
      if (pivot < 0) break;
      used[pivot] = true;
      null.col(k).swap(null.col(column));
      null.col(k) /= null(pivot, k);
      for (long c = 0; c < null.cols(); ++c) {
        if (c != k) null.col(c) -= null(pivot, c) * null.col(k);
      }
    }
    for (long k = 0; k < null.cols(); ++k) all.push_back(combination(null.col(k)));
    return all;
  }

  std::vector<std::string> undetermined(const Matrix& scaled_null) const {
    std::vector<std::string> names;
    for (const std::vector<int>* group : {&wrenches_, &torques_, &accelerations_}) {
      for (const int i : *group) {
        if (scaled_null.row(i).cwiseAbs().maxCoeff() > 1e-8) names.push_back(name(i));
      }
    }
    return names;
  }

 private:
  const std::string& name(int unknown) const { return system_.unknown_names()[unknown]; }

  /// Those of a group that vary, beside all that has a name here: wrenches of joints may be larger
  /// by any factor.
  std::vector<int> varying(const std::vector<int>& group, const Vector& x) const {
    double largest = 0.0;
    for (const std::vector<int>* all : {&wrenches_, &torques_, &accelerations_}) {
      for (const int i : *all) largest = std::max(largest, std::abs(x(i)));
    }
    std::vector<int> some;
    for (const int i : group) {
      if (std::abs(x(i)) > 1e-7 * largest) some.push_back(i);
    }
    return some;
  }
  std::string list(const std::vector<int>& unknowns) const {
    std::string words;
    const std::size_t shown = std::min<std::size_t>(unknowns.size(), 8);
    for (std::size_t k = 0; k < shown; ++k) {
      words += (k == 0 ? "" : k + 1 == unknowns.size() ? " and " : ", ") + name(unknowns[k]);
    }
    if (unknowns.size() > shown)
      words += " and " + std::to_string(unknowns.size() - shown) + " more";
    return words;
  }

  SensorVerdict::Combination combination(const Vector& x) const {
    SensorVerdict::Combination c;
    const std::vector<int> wrenches = varying(wrenches_, x), torques = varying(torques_, x),
                           accelerations = varying(accelerations_, x);
    const std::vector<int>& first = !wrenches.empty()  ? wrenches
                                    : !torques.empty() ? torques
                                                       : accelerations;
    if (first.empty()) {
      c.text = "wrenches of joints alone: no sensor sees them";
      return c;
    }
    double largest = 0.0;
    for (const int i : first) {
      if (std::abs(x(i)) > std::abs(largest) * 1.0000001) largest = x(i);
    }
    for (const int i : first) c.terms.emplace_back(name(i), x(i) / largest);
    if (&first == &wrenches) {
      for (const int i : torques) c.terms.emplace_back(name(i), x(i) / largest);
    }
    c.text = list(first) + ": " + seen(first, x);
    if (&first == &wrenches && !torques.empty()) c.text += " (" + list(torques) + " with them)";
    if (&first != &accelerations && !accelerations.empty()) {
      c.text += ", and " + list(accelerations);
    }
    return c;
  }
  /// What sensors see of unknowns that vary together.
  std::string seen(const std::vector<int>& of, const Vector& x) const {
    if (of.size() == 1) return "no sensor sees it";
    if (of.size() > 2) return "only " + std::to_string(of.size() - 1) + " combinations are seen";
    // Of 1 and 2 with c1 : c2 hidden, c2 1 - c1 2 is seen.
    const double ratio = -x(of[0]) / x(of[1]);
    if (std::abs(ratio - 1.0) < 1e-6) return "only their sum is seen";
    if (std::abs(ratio + 1.0) < 1e-6) return "only their difference is seen";
    return std::string("only the first ") + (ratio < 0 ? "- " : "+ ") +
           text::number(std::abs(ratio), 4) + " times the second is seen";
  }

  const SensorSystem& system_;
  std::vector<int> wrenches_, torques_, accelerations_;
};

/// Single sensors, each with the unknowns that it sees as rows.
class Candidates {
 public:
  explicit Candidates(const SensorSystem& system) {
    using Kind = Sensor::Kind;
    const Model& model = system.model();
    const char* const components[] = {"mx", "my", "mz", "fx", "fy", "fz"};
    for (const SensorSystem::Contact& c : system.contacts()) {
      for (int k = 0; k < 6; ++k) {
        Sensor s{.kind = Kind::wrench, .link = c.link, .rows = {Sensor::row_of(components[k])}};
        s.name = "wrench on " + c.link + "[" + components[k] + "]";
        add(std::move(s), {c.first + k});
      }
    }
    for (int r = 0; r < model.spanning_nv(); ++r) {
      const Joint& joint = model.joint_of_rate(r);
      const std::string name =
          joint.nv == 1 ? joint.name : joint.name + "[" + std::to_string(r - joint.v) + "]";
      if (system.torque(r) >= 0) add({.kind = Kind::torque, .joint = name}, {system.torque(r)});
      add({.kind = Kind::acceleration, .joint = name}, {system.qdd(r)});
    }
    for (int i = 1; i <= model.active_body_count(); ++i) {
      const int a = system.acceleration(i);
      add({.kind = Kind::angular_acceleration, .link = model.body_names()[i]}, {a, a + 1, a + 2});
    }
    for (int i = 1; i <= model.active_body_count(); ++i) {
      const Joint& joint = model.joints()[model.body(i).joint];
      add({.kind = Kind::joint_wrench, .joint = joint.name}, from(system.joint_wrench(i)));
    }
    for (const SensorSystem::Contact& c : system.contacts()) {
      add({.kind = Kind::wrench, .link = c.link}, from(c.first));
    }
  }

  /// Those that see every way to vary, at all of some positions.
  std::vector<Sensor> curing(const std::vector<Spectrum>& singular) const {
    std::vector<Sensor> all;
    for (const Candidate& c : candidates_) {
      const bool cures = std::all_of(singular.begin(), singular.end(), [&](const Spectrum& s) {
        const Matrix& null = s.scaled_null;
        if (null.cols() > static_cast<long>(c.unknowns.size())) return false;
        Matrix seen(c.unknowns.size(), null.cols());
        for (std::size_t k = 0; k < c.unknowns.size(); ++k) seen.row(k) = null.row(c.unknowns[k]);
        // A hundredth of a part in a million is seen, but nobody would call it a cure.
        return Eigen::JacobiSVD<Matrix>(seen).singularValues().tail(1)(0) > 1e-6;
      });
      if (cures) all.push_back(c.sensor);
    }
    return all;
  }

 private:
  struct Candidate {
    Sensor sensor;
    std::vector<int> unknowns;
  };
  void add(Sensor sensor, std::vector<int> unknowns) {
    candidates_.push_back({std::move(sensor), std::move(unknowns)});
  }
  static std::vector<int> from(int first) {
    return {first, first + 1, first + 2, first + 3, first + 4, first + 5};
  }

  std::vector<Candidate> candidates_;
};

/// Positions that are often special, with words for them.
class SpecialPositions {
 public:
  explicit SpecialPositions(const SensorSystem& system) : system_(system), model_(system.model()) {
    for (const int rate : model_.independent_rates()) {
      const Joint& joint = model_.joint_of_rate(rate);
      const Body& body = model_.body(joint.body);
      if (model_.runs()[body.run].subspace == SubspaceKind::revolute_z) joints_.push_back(&joint);
    }
    if (joints_.empty()) return;
    for (int k = 0; k < 3; ++k) {
      add("all revolute joints at " + degrees(k), [&](std::size_t) { return k; });
    }
    UniformNumbers uniform(7);
    for (int mixture = 0; mixture < 8; ++mixture) {
      add("revolute joints at 0, 90 and 180 degrees, mixture " + std::to_string(mixture + 1),
          [&](std::size_t) { return static_cast<int>(uniform.between(0.0, 3.0)); });
    }
    for (std::size_t one = 0; one < joints_.size(); ++one) {
      for (int k = 0; k < 3; ++k) {
        add("joint " + text::quoted(joints_[one]->name) + " at " + degrees(k) + ", others anywhere",
            [&](std::size_t j) { return j == one ? k : -1; });
      }
    }
  }

  std::vector<std::vector<double>> positions;
  std::vector<std::string> names;

 private:
  static std::string degrees(int k) { return std::to_string(90 * k) + " degrees"; }

  /// @param quarter  of joint j: multiples of 90 degrees, or -1 to leave it where it is
  template <class F>
  void add(const std::string& name, F&& quarter) {
    constexpr double right_angle = 1.5707963267948966;
    const std::vector<double> start = system_.sample_position(5);
    std::vector<double> q = start;
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      const int k = quarter(j);
      if (k >= 0) q[joints_[j]->q] = k * right_angle;
    }
    model_.apply_couplings(q.data());
    if (model_.has_variable_constraints() &&
        close(model_, start.data(), q.data()).verdict != Closure::Verdict::closed) {
      return;
    }
    positions.push_back(std::move(q));
    names.push_back(name);
  }

  const SensorSystem& system_;
  const Model& model_;
  std::vector<const Joint*> joints_;
};

}  // namespace

std::string_view to_string(SensorVerdict::Kind kind) {
  switch (kind) {
    case SensorVerdict::Kind::well_posed:
      return "well-posed";
    case SensorVerdict::Kind::singular_somewhere:
      return "singular at isolated positions";
    case SensorVerdict::Kind::singular_everywhere:
      break;
  }
  return "singular everywhere";
}

SensorVerdict judge(const Model& model, const std::vector<Sensor>& sensors,
                    const SensorVerdictOptions& options) {
  SensorSystem system(model, sensors);
  return judge(system, options);
}

SensorVerdict judge(SensorSystem& system, const SensorVerdictOptions& options) {
  SensorVerdict verdict;
  verdict.unknowns = system.unknowns();
  verdict.equations = system.rows();
  verdict.structural_rank =
      block_form(system.rows(), system.column_start(), system.row_index()).structural_rank;

  RankTest rank_at(system);
  Spectrum best;
  for (int k = 0; k < std::max(1, options.samples); ++k) {
    Spectrum s = rank_at(system.sample_position(options.seed + static_cast<unsigned>(k)));
    if (k == 0 || s.rank > best.rank || (s.rank == best.rank && s.margin > best.margin)) {
      best = std::move(s);
    }
    // It does not get better, but for digits.
    if (best.rank == verdict.unknowns && best.margin > 1e-3) break;
  }
  verdict.rank = best.rank;
  verdict.margin = best.margin;
  verdict.redundancy = verdict.equations - verdict.rank;
  std::vector<Spectrum> singular;
  if (verdict.rank < verdict.unknowns) {
    verdict.kind = SensorVerdict::Kind::singular_everywhere;
    singular.push_back(std::move(best));
  } else if (options.special_positions) {
    const SpecialPositions special(system);
    for (std::size_t k = 0; k < special.positions.size(); ++k) {
      Spectrum s = rank_at(special.positions[k]);
      if (s.rank == verdict.unknowns) continue;
      verdict.kind = SensorVerdict::Kind::singular_somewhere;
      verdict.positions.push_back(special.positions[k]);
      verdict.places.push_back(special.names[k]);
      singular.push_back(std::move(s));
    }
  }
  if (singular.empty()) return verdict;
  const Words words(system);
  verdict.unseen = words.combinations(singular.front().null);
  verdict.undetermined = words.undetermined(singular.front().scaled_null);
  if (options.cures) verdict.cures = Candidates(system).curing(singular);
  return verdict;
}

std::string SensorVerdict::text() const {
  std::string words = std::string(to_string(kind)) + ": " + std::to_string(equations) +
                      " equations of rank " + std::to_string(rank) + " for " +
                      std::to_string(unknowns) + " unknowns";
  if (structural_rank < unknowns) {
    words += ", whatever the numbers (structural rank " + std::to_string(structural_rank) + ")";
  } else if (redundancy > 0 && kind != Kind::singular_everywhere) {
    words += ", " + std::to_string(redundancy) + " of them redundant";
  }
  words += "\n";
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (k == 6 && places.size() > 7) {
      words += "  and at " + std::to_string(places.size() - k) + " other sampled positions\n";
      break;
    }
    words += "  singular with " + places[k] + "\n";
  }
  for (const Combination& c : unseen) words += "  " + c.text + "\n";
  if (kind == Kind::well_posed) return words;
  if (cures.empty()) {
    words += "  no single sensor cures it\n";
    return words;
  }
  words += "  any one of these would cure it: ";
  for (std::size_t k = 0; k < cures.size(); ++k) {
    if (k == 8 && cures.size() > 9) {
      words += " and " + std::to_string(cures.size() - k) + " others";
      break;
    }
    words += (k == 0 ? "" : ", ") + cures[k].label();
  }
  return words + "\n";
}

}  // namespace espalier
