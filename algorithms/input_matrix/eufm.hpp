#pragma once

#include "algorithms/forward_dynamics/c_aba.hpp"
#include "algorithms/input_matrix/task_answer.hpp"

namespace espalier {

/// Extended unit force method: forward dynamics for each input alone, and once without inputs.
/// Inputs act on the robot at rest without gravity, so that nothing has to be subtracted, and no
/// digits are lost.
/// Cost: O(n m), m + 1 whole passes of the O(n) method.
/// Source: Gattringer et al. (2019); Krög, Gattringer, Müller, section 4; theory/input-matrix 3.3.
template <class T>
class Eufm final : public InputMatrix<T> {
 public:
  explicit Eufm(const Setup& setup)
      : InputMatrix<T>(setup),
        forward_(setup.model),
        wrenches_(setup.model),
        motion_(this->model()),
        task_answer_(this->model(), this->task()),
        E_(this->model().body_count() + 1, Mat3<T>::identity()),
        zero_(this->model().nv(), T(0.0)),
        tau_(zero_),
        vdot_(zero_) {}

 private:
  void compute(const T* q, const T* v, const T* tau, const Wrenches<T>* wrenches,
               typename InputMatrix<T>::Answer& answer) override {
    forward_.set_gravity(this->gravity());
    run(q, v, tau, wrenches, answer.free_acceleration.data());
    forward_.set_gravity({0, 0, 0});
    motion_.update(q, nullptr);
    for (const InputColumns::Motor& motor : this->inputs().motors()) {
      apply_force(motor.rate);
      run(q, zero_.data(), tau_.data(), nullptr, vdot_.data());
      put(motor.column, answer.input_matrix);
    }
    if (!this->inputs().contacts().empty()) place_bodies();
    for (const Task::Part& part : this->inputs().contacts()) {
      for (int k = 0; k < part.size(); ++k) {
        apply_wrench(part, part.rows[k]);
        run(q, zero_.data(), zero_.data(), &wrenches_, vdot_.data());
        put(part.first + k, answer.input_matrix);
      }
    }
    task_answer_.complete(q, v, answer);
  }

  void run(const T* q, const T* v, const T* tau, const Wrenches<T>* wrenches, T* vdot) {
    const Model& m = this->model();
    forward_.evaluate({q, m.nq()}, {v, m.nv()}, {tau, m.nv()}, {vdot, m.nv()}, wrenches);
  }
  /// A unit force on a spanning rate: G^T on the independent ones.
  void apply_force(int rate) {
    const Model& model = this->model();
    const Cluster& c = model.clusters()[model.body(model.joint_of_rate(rate).body).cluster];
    std::fill(tau_.begin(), tau_.end(), T(0.0));
    if (!c.constrained) {
      tau_[c.v + c.row(rate)] = T(1.0);
      return;
    }
    const T* G = motion_.G(c) + c.row(rate) * c.nv;
    std::copy_n(G, c.nv, tau_.begin() + c.v);
  }
  /// A row of a contact as a wrench.
  void apply_wrench(const Task::Part& part, const Force<double>& row) {
    const Model& model = this->model();
    const Mat3<T>& E = E_[part.body];
    Force<T> f = Force<T>::from(row);
    if (part.world) {
      f = {E * f.n, E * f.f};
      f.n += cross(part.point, f.f);
    }
    wrenches_.clear();
    const std::string& name = model.body_names()[part.body];
    wrenches_.add(name, model.link(name).X.force_to(f));
  }
  void place_bodies() {
    const Model& model = this->model();
    for (int i = 1; i <= model.body_count(); ++i) {
      E_[i] = motion_.joints.X[i].E * E_[model.body(i).parent];
    }
  }
  void put(int column, std::vector<T>& matrix) const {
    const std::size_t m = this->inputs().size();
    for (std::size_t i = 0; i < vdot_.size(); ++i) matrix[i * m + column] = vdot_[i];
  }

  CAba<T> forward_;
  Wrenches<T> wrenches_;
  SpanningMotion<T> motion_;
  TaskAnswer<T> task_answer_;
  std::vector<Mat3<T>> E_;  ///< world to body axes
  std::vector<T> zero_, tau_, vdot_;
};

}  // namespace espalier
