#pragma once

#include <cmath>
#include <span>
#include <utility>

#include "algorithms/bremer/subsystem_terms.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/problems/dynamics/subsystem_matrices.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

namespace espalier {

/// The matrices that Bremer's method computes with (bremer_on.hpp), written out.
///
/// Inputs u_i are those of the setup that act on the subsystem: a motor on any joint of the
/// spanning tree, B = [0; row of G], or a contact on one of its bodies, B = Z_b^T row. Without
/// inputs every independent rate of the subsystem has a motor of its own, B = [0; 1], and a joint
/// whose type names its inputs has these.
/// Frames: those of SubsystemTerms, the twists in y_i being those of links.
/// Source: theory/template 2 (instance C) and theory/input-matrix 3.
template <class T>
class BremerMatrices final : public SubsystemMatrices<T> {
 public:
  explicit BremerMatrices(const Setup& setup)
      : SubsystemMatrices<T>(setup.model),
        tree_(setup),
        terms_(tree_, SubsystemTerms<T>::Frames::links),
        displaced_(tree_, SubsystemTerms<T>::Frames::links),
        E_(this->model().body_count() + 1, Mat3<T>::identity()) {
    const Model& m = this->model();
    for (const SubsystemTree::Node& node : tree_.nodes()) {
      Subsystem s;
      s.name = node.name;
      s.parent = node.parent;
      if (node.parent >= 0) s.parent_size = tree_.nodes()[node.parent].size();
      for (const int body : node.supports) s.outputs.push_back(m.body_names()[body]);
      s.rates = node.rates;
      subsystems_.push_back(std::move(s));
    }
    if (setup.inputs.empty()) {
      drive_all_rates();
    } else {
      add_inputs(InputColumns(m, setup.inputs));
    }
    for (std::size_t i = 0; i < subsystems_.size(); ++i) {
      Subsystem& s = subsystems_[i];
      const std::size_t size = s.size(), n = s.rates.size();
      s.y.assign(size, T(0.0));
      s.M.resize(size * size);
      s.h.resize(size);
      s.B.resize(size * s.inputs.size());
      s.T.assign(size * s.parent_size, T(0.0));
      s.dT = s.T;
      s.F.assign(size * n, T(0.0));
      s.c.assign(size, T(0.0));
      for (std::size_t j = 0; j < n; ++j) s.F[(size - n + j) * n + j] = T(1.0);
      for (std::size_t k = 0; s.parent < 0 && k < 6; ++k) s.T[7 * k] = T(1.0);
      column_.resize(std::max(column_.size(), size));
    }
  }

  const std::vector<typename SubsystemMatrices<T>::Subsystem>& subsystems() const override {
    return subsystems_;
  }

 private:
  using Subsystem = typename SubsystemMatrices<T>::Subsystem;

  /// A column of a B.
  struct Column {
    int node = 0, index = 0;
    std::vector<InputColumns::Motor> motors;  ///< that make it; none: a contact
    int body = 0;                             ///< that it acts on
    bool world = false;                       ///< its row is in world axes, about `point`
    Vec3<double> point{0, 0, 0};              ///< body frame
    Force<double> row = Force<double>::zero();
  };

  void add(Column column, const std::string& name) {
    if (column.body == 0) return;  // a contact on the ground moves nothing
    column.node = tree_.node_of(column.body);
    column.index = static_cast<int>(subsystems_[column.node].inputs.size());
    subsystems_[column.node].inputs.push_back(name);
    columns_.push_back(column);
  }
  void drive_all_rates() {
    const Model& m = this->model();
    std::string last;
    for (const int rate : m.independent_rates()) {
      const Joint& joint = m.joint_of_rate(rate);
      if (m.runs()[m.body(joint.body).run].type->inputs().empty()) {
        Column column;
        column.motors.push_back({rate, 0}), column.body = joint.body;
        add(column,
            joint.nv == 1 ? joint.name : joint.name + "[" + std::to_string(rate - joint.v) + "]");
      } else if (joint.name != last) {  // named by its type
        add_inputs(InputColumns(m, {{.joint = joint.name}}));
      }
      last = joint.name;
    }
  }
  void add_inputs(const InputColumns& inputs) {
    std::vector<Column> all(inputs.size());
    for (const InputColumns::Motor& motor : inputs.motors()) {
      all[motor.column].motors.push_back(motor);
      all[motor.column].body = this->model().joint_of_rate(motor.rate).body;
    }
    for (const Task::Part& part : inputs.contacts()) {
      for (int k = 0; k < part.size(); ++k) {
        Column& column = all[part.first + k];
        column.body = part.body, column.world = part.world, column.point = part.point;
        column.row = part.rows[k];
      }
    }
    for (int k = 0; k < inputs.size(); ++k) add(all[k], inputs.names()[k]);
  }

  const std::vector<Subsystem>& compute(const T* q, const T* v,
                                        const Wrenches<T>* wrenches) override {
    terms_.update(q, v, this->gravity(), wrenches);
    for (std::size_t i = 0; i < subsystems_.size(); ++i) {
      Subsystem& s = subsystems_[i];
      const int size = s.size(), index = static_cast<int>(i);
      const T* M = terms_.M(index);
      for (int r = 0; r < size; ++r) {
        for (int c = 0; c <= r; ++c) s.M[r * size + c] = s.M[c * size + r] = M[r * size + c];
      }
      std::copy_n(terms_.h(index), size, s.h.begin());
      if (s.parent >= 0) transfer(index);
      for (std::size_t j = 0; j < s.rates.size(); ++j) {
        s.y[6 * s.outputs.size() + j] = v[s.rates[j]];
      }
    }
    place_inputs(q);
    differentiate(q);
    return subsystems_;
  }

  /// dT/dt by central differences of fourth order along the motion: no joint says how its columns
  /// change one by one.
  void differentiate(const T* q) {
    const Model& m = this->model();
    const std::span<const T> qd(terms_.motion().qd(), m.spanning_nv());
    T fastest = T(1.0);
    for (const T& rate : qd) fastest = std::max(fastest, std::abs(rate));
    const T h = 1e-3 / fastest;  // truncation and rounding are both about 1e-12 / h then
    const std::vector<T> still(m.nv(), T(0.0));
    std::vector<T> step(qd.size()), moved(m.nq());
    for (Subsystem& s : subsystems_) std::fill(s.dT.begin(), s.dT.end(), T(0.0));
    for (const auto& [at, weight] : {std::pair{-2, 1.0}, {-1, -8.0}, {1, 8.0}, {2, -1.0}}) {
      for (std::size_t r = 0; r < step.size(); ++r) step[r] = at * h * qd[r];
      m.integrate(q, step.data(), moved.data());
      if (m.has_variable_constraints()) {
        CloseOptions tight;
        tight.tolerance = 1e-15;
        close(m, q, moved.data(), tight);
      }
      displaced_.update(moved.data(), still.data(), {0, 0, 0}, nullptr);
      const T share = weight / (12.0 * h);
      for (std::size_t i = 0; i < subsystems_.size(); ++i) {
        Subsystem& s = subsystems_[i];
        if (s.parent < 0) continue;
        for_each_entry(displaced_, static_cast<int>(i), [&](int row, int column, const T& x) {
          s.dT[row * s.parent_size + column] += share * x;
        });
      }
    }
  }
  /// f(row, column, entry) for T of a subsystem on another.
  template <class F>
  void for_each_entry(const SubsystemTerms<T>& terms, int i, F&& f) const {
    const SubsystemTree::Node& node = tree_.nodes()[i];
    for (std::size_t o = 0; o < node.supports.size(); ++o) {
      const SubsystemTree::Site& at = tree_.seen_from_parent(node.supports[o]);
      const Transform<double> X = tree_.link_frame(node.supports[o]);
      for (int k = 0; k < terms.columns(at); ++k) {
        const Motion<T> Z = X * terms.column(at, k);
        for (int r = 0; r < 6; ++r) f(static_cast<int>(6 * o) + r, terms.index(at, k), Z[r]);
      }
    }
  }

  /// T and c, and y of the supporting bodies.
  void transfer(int i) {
    const SubsystemTree::Node& node = tree_.nodes()[i];
    Subsystem& s = subsystems_[i];
    const Subsystem& parent = subsystems_[s.parent];
    std::fill_n(s.y.begin(), node.twists(), T(0.0));
    for_each_entry(terms_, i, [&](int row, int column, const T& x) {
      s.T[row * s.parent_size + column] = x;
      s.y[row] += x * parent.y[column];
    });
    for (std::size_t o = 0; o < node.supports.size(); ++o) {
      const Motion<T> c =
          tree_.link_frame(node.supports[o]) * terms_.xi(tree_.seen_from_parent(node.supports[o]));
      for (int r = 0; r < 6; ++r) s.c[6 * o + r] = c[r];
    }
  }

  void place_inputs(const T* q) {
    const Model& m = this->model();
    terms_.motion().place_rotors(q);
    for (int i = 1; i <= m.body_count(); ++i) {
      E_[i] = terms_.motion().joints.X[i].E * E_[m.body(i).parent];
    }
    for (const Column& column : columns_) {
      std::fill(column_.begin(), column_.end(), T(0.0));
      for (const InputColumns::Motor& motor : column.motors) drive(column.node, motor);
      if (column.motors.empty()) {
        Force<T> f = Force<T>::from(column.row);
        if (column.world) {
          f = {E_[column.body] * f.n, E_[column.body] * f.f};
          f.n += cross(column.point, f.f);
        }
        terms_.apply_wrench(column.node, column.body, f, column_.data());
      }
      Subsystem& s = subsystems_[column.node];
      for (int r = 0; r < s.size(); ++r) s.B[r * s.inputs.size() + column.index] = column_[r];
    }
  }
  /// A motor: power is force times G qd.
  void drive(int node_index, const InputColumns::Motor& motor) {
    const Model& m = this->model();
    const SubsystemTree::Node& node = tree_.nodes()[node_index];
    const int index = m.body(m.joint_of_rate(motor.rate).body).cluster;
    const Cluster& c = m.clusters()[index];
    const auto at = std::find(node.clusters.begin(), node.clusters.end(), index);
    T* rates = column_.data() + node.starts[at - node.clusters.begin()];
    for (int j = 0; j < c.nv; ++j) {
      if (c.constrained) {
        rates[j] += motor.gain * terms_.row(c, c.row(motor.rate))[j];
      } else if (j == motor.rate - c.spanning_v) {
        rates[j] += motor.gain;
      }
    }
  }

  SubsystemTree tree_;
  SubsystemTerms<T> terms_, displaced_;
  std::vector<Subsystem> subsystems_;
  std::vector<Column> columns_;
  std::vector<Mat3<T>> E_;  ///< per body: world to body axes
  std::vector<T> column_;
};

}  // namespace espalier
