#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "espalier/sensing/sensor_system.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/random.hpp"
#include "tests/support/state.hpp"

/// Random sets of sensors for a robot, of which dense linear algebra says whether they determine
/// its dynamics: a judgement of its own, to hold those of the library against.

namespace espalier::test {

class SensorSets {
 public:
  /// Two random links are touched, and every joint is driven.
  SensorSets(const ModelPtr& model, unsigned long long seed) : model_(model), rng_(seed) {
    for (const Joint& joint : model->joints()) {
      declared_.push_back({.kind = Sensor::Kind::motor, .joint = joint.name});
    }
    for (int k = 0; k < 2; ++k) {
      const std::string link = any_link();
      const auto same = [&](const Sensor& s) { return s.link == link; };
      if (std::any_of(declared_.begin(), declared_.end(), same)) continue;
      declared_.push_back({.kind = Sensor::Kind::contact, .link = link});
      touched_.push_back(link);
    }
    add_candidates();
    std::vector<Sensor> all = declared_;
    all.insert(all.end(), candidates_.begin(), candidates_.end());
    SensorSystem system(*model, all);
    for (const unsigned long long k : {101, 102}) {
      rows_.push_back(seen_freedom(system, system.sample_position(seed + k)));
    }
  }

  int freedom() const { return static_cast<int>(rows_[0].cols()); }

  /// As many sensors as it takes, each saying something new.
  std::optional<std::vector<Sensor>> well_posed() {
    std::vector<int> chosen = choose(freedom());
    if (static_cast<int>(chosen.size()) < freedom()) return std::nullopt;
    return with(chosen);
  }
  /// As many sensors as it would take, one of which says what others say.
  std::optional<std::vector<Sensor>> ill_posed() {
    std::vector<int> chosen = choose(freedom() - 1);
    if (static_cast<int>(chosen.size()) < freedom() - 1) return std::nullopt;
    std::vector<int> rest(candidates_.size());
    for (std::size_t k = 0; k < rest.size(); ++k) rest[k] = static_cast<int>(k);
    rng_.shuffle(rest);
    for (const int k : rest) {
      if (std::find(chosen.begin(), chosen.end(), k) != chosen.end()) continue;
      // Rounding of rows of length 1 leaves 1e-15; what is new is at least 1e-3.
      if (news(chosen, k, 0) > 1e-10 || news(chosen, k, 1) > 1e-10) continue;
      chosen.push_back(k);
      return with(chosen);
    }
    std::vector<Sensor> sensors = with(chosen);
    sensors.push_back(sensors.back());  // a second one of the same kind in the same place
    sensors.back().name += " again";
    return sensors;
  }

 private:
  using Matrix = Eigen::MatrixXd;

  std::string any_link() {
    const std::vector<std::string> names(model_->body_names().begin(), model_->body_names().end());
    return names[1 + rng_.below(model_->body_count())];
  }
  Pose pose() { return {rng_.vec3(0.2), rng_.vec3(3.0)}; }
  void add(Sensor s) {
    s.name = std::string(to_string(s.kind)) + " " + std::to_string(candidates_.size());
    candidates_.push_back(std::move(s));
  }
  Sensor::Row random_row(int first, int last) {
    Sensor::Row row{};
    if (rng_.chance(0.7)) {
      row[first + rng_.below(last - first)] = 1.0;
    } else {
      for (int i = first; i < last; ++i) row[i] = rng_.uniform();
    }
    return row;
  }
  void add_candidates() {
    using Kind = Sensor::Kind;
    for (const Joint& joint : model_->joints()) {
      for (int k = 0; k < joint.nv; ++k) {
        const std::string rate =
            joint.nv == 1 ? joint.name : joint.name + "[" + std::to_string(k) + "]";
        add({.kind = Kind::torque, .joint = rate});
        add({.kind = Kind::acceleration, .joint = rate});
      }
      for (int k = 0; k < 2; ++k) {
        add({.kind = Kind::joint_wrench,
             .joint = joint.name,
             .frame = pose(),
             .rows = {random_row(0, 6)}});
      }
    }
    for (const std::string& link : touched_) {
      for (int i = 0; i < 6; ++i) {
        Sensor::Row row{};
        row[i] = 1.0;
        add({.kind = Kind::wrench, .link = link, .rows = {row}});
      }
      for (int k = 0; k < 3; ++k) {
        add({.kind = Kind::wrench, .link = link, .frame = pose(), .rows = {random_row(0, 6)}});
      }
    }
    for (int k = 0; k < 3; ++k) {
      const std::string link = any_link();
      const Pose at = pose();
      for (int i = 0; i < 3; ++i) {
        Sensor::Row linear{}, angular{};
        linear[3 + i] = angular[i] = 1.0;
        add({.kind = Kind::accelerometer, .link = link, .frame = at, .rows = {linear}});
        add({.kind = Kind::angular_acceleration, .link = link, .frame = at, .rows = {angular}});
      }
    }
  }

  /// What each candidate sees of an orthonormal basis of all solutions of the equations of motion,
  /// rows of length 1 before; columns in comparable units.
  static Matrix seen_freedom(SensorSystem& system, const std::vector<double>& q) {
    const std::vector<double> rest(system.model().nv(), 0.0);
    system.update(q.data(), rest.data(), nullptr, {0, 0, 0}, nullptr);
    Matrix A = Matrix::Zero(system.rows(), system.unknowns());
    for (int j = 0; j < system.unknowns(); ++j) {
      for (int e = system.column_start()[j]; e < system.column_start()[j + 1]; ++e) {
        A(system.row_index()[e], j) = system.values()[e];
      }
    }
    const Matrix D = A.topRows(system.model_rows());
    Matrix C = A.bottomRows(system.sensor_rows());
    C.rowwise().normalize();
    return product(C, null_space(D));
  }

  /// Length of what a candidate adds to those chosen.
  double news(const std::vector<int>& chosen, int candidate, int position) const {
    const Matrix& R = rows_[position];
    Matrix basis(R.cols(), chosen.size());
    for (std::size_t k = 0; k < chosen.size(); ++k) basis.col(k) = R.row(chosen[k]).transpose();
    return distance_from_span(basis, R.row(candidate).transpose());
  }
  std::vector<int> choose(int count) {
    std::vector<int> order(candidates_.size()), chosen;
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
    rng_.shuffle(order);
    for (const int k : order) {
      if (static_cast<int>(chosen.size()) == count) break;
      if (news(chosen, k, 0) > 1e-3 && news(chosen, k, 1) > 1e-3) chosen.push_back(k);
    }
    return chosen;
  }
  std::vector<Sensor> with(const std::vector<int>& chosen) const {
    std::vector<Sensor> sensors = declared_;
    for (const int k : chosen) sensors.push_back(candidates_[k]);
    return sensors;
  }

  ModelPtr model_;
  Rng rng_;
  std::vector<Sensor> declared_, candidates_;
  std::vector<std::string> touched_;
  std::vector<Matrix> rows_;  ///< per position
};

}  // namespace espalier::test
