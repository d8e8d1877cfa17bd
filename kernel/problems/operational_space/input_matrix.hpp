#pragma once

#include <optional>
#include <string>
#include <vector>

#include "espalier/kernel/problems/named_results.hpp"
#include "espalier/kernel/problems/task.hpp"

/// The problem that speaks of inputs: what motors and contacts accelerate. Its columns, B u, stand
/// in the order of the setup.

namespace espalier {

/// A motor on every joint that has independent rates, but for free joints of six rates, which
/// nothing drives.
ESPALIER_API std::vector<Input> motors(const Model& model);

/// What tools take where nobody says which inputs a robot has: motors(), and at every tip a contact
/// ("3d", world axes) at the link's origin; where nothing moves, a contact on the first link.
ESPALIER_API std::vector<Input> default_inputs(const Model& model);

/// Inputs as algorithms want them: spanning rates and wrenches on bodies instead of joints and
/// links. B = [G^T e_rate for motors, J^T row for contacts], nv x size().
class ESPALIER_API InputColumns {
 public:
  /// A force on a rate of the spanning tree for a unit input [N·m or N].
  struct Motor {
    int rate = 0;       ///< of the spanning tree
    int column = 0;     ///< of B
    double gain = 1.0;  ///< other than 1 only for inputs that a joint's type names
  };

  /// @throws UnknownName for a joint or link; SizeMismatch where there are no inputs, or no rows in
  ///         one; InvalidModel where one has a joint and a link, or neither, and for numbers that
  ///         are not finite; DuplicateName for columns of one name
  InputColumns(const Model& model, const std::vector<Input>& inputs);

  /// Columns in all.
  int size() const { return static_cast<int>(names_.size()); }
  /// Of the columns: "name", or "name[k]" for a joint of several rates and the rows of a contact,
  /// or "name.input" where the joint's type names its inputs.
  const std::vector<std::string>& names() const { return names_; }
  /// Inputs that act on rates.
  const std::vector<Motor>& motors() const { return motors_; }
  /// Part::first is the first column.
  const std::vector<Task::Part>& contacts() const { return contacts_; }

 private:
  void add_motors(const Model& model, const Input& input);
  void add_contact(const Model& model, const Input& input);

  std::vector<std::string> names_;
  std::vector<Motor> motors_;
  std::vector<Task::Part> contacts_;
};

/// How a robot answers its inputs: vdot = free acceleration + M^-1 B u, and the same for the rows
/// of end-effectors, if the setup has any. Matrices are row-major; m inputs, t rows of the task.
/// Source: Krög, Gattringer, Müller, "Closed-form method for the inertia-weighted input matrix
/// utilizing O(n) forward dynamics".
template <class T>
class ESPALIER_API InputMatrix : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "input-matrix";
  /// The setup has to name inputs.
  static constexpr bool needs_inputs = true;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// M^-1 B and what is accelerated without inputs; row-major.
  struct Answer {
    std::vector<T> input_matrix;            ///< M^-1 B, nv x m
    std::vector<T> free_acceleration;       ///< vdot at u = 0, nv [rad/s², m/s²]
    std::vector<T> task_input_matrix;       ///< J M^-1 B, t x m; empty without end-effectors
    std::vector<T> task_free_acceleration;  ///< J vdot + (dJ/dt) v at u = 0, t; likewise
  };

  /// @throws as InputColumns and Task
  explicit InputMatrix(const Setup& setup)
      : AlgorithmAt<T>(setup.model), inputs_(*setup.model, setup.inputs) {
    if (!setup.end_effectors.empty()) task_.emplace(*setup.model, setup.end_effectors);
    const std::size_t nv = setup.model->nv(), m = inputs_.size(), t = task_size();
    answer_.input_matrix.resize(nv * m);
    answer_.free_acceleration.resize(nv);
    answer_.task_input_matrix.resize(t * m);
    answer_.task_free_acceleration.resize(t);
  }

  /// Columns that the setup's inputs make.
  const InputColumns& inputs() const { return inputs_; }
  /// The end-effectors, or nullptr where there are none.
  const Task* task() const { return task_ ? &*task_ : nullptr; }
  /// Rows of the task, 0 without end-effectors.
  int task_size() const { return task_ ? task_->size() : 0; }

  /// Computes the matrix and the free accelerations.
  /// @param q    spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v    independent rates, size nv [rad/s, m/s]
  /// @param tau  forces on the independent rates besides the inputs, as of springs, size nv
  /// @param wrenches  external wrenches on bodies, or nullptr
  /// @returns an answer that is valid until the next call
  /// @throws SizeMismatch; SingularMechanism as ForwardDynamics
  const Answer& evaluate(In<T> q, In<T> v, In<T> tau, const Wrenches<T>* wrenches = nullptr) {
    const Model& m = model();
    expect_size("input matrix", "q", q.size(), m.nq());
    expect_size("input matrix", "v", v.size(), m.nv());
    expect_size("input matrix", "tau", tau.size(), m.nv());
    detail::expect_wrenches("input matrix", wrenches, m);
    const T doubt = this->expect_inertia(problem, q.data());
    compute(q.data(), v.data(), tau.data(), wrenches, answer_);
    // All columns come from the factors that the free acceleration comes from.
    this->expect_answer(problem, wrenches, Out<T>(answer_.free_acceleration), doubt, q, v, tau);
    for (std::vector<T>* x :
         {&answer_.input_matrix, &answer_.task_input_matrix, &answer_.task_free_acceleration}) {
      this->spoil(Out<T>(*x), doubt);
    }
    return answer_;
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  /// solve() at this scalar: named inputs in, named results out.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements. The answer has its
  /// sizes already.
  virtual void compute(const T* q, const T* v, const T* tau, const Wrenches<T>* wrenches,
                       Answer& answer) = 0;

 private:
  InputColumns inputs_;
  std::optional<Task> task_;
  Answer answer_;
};

#define ESPALIER_EXTERN(T) extern template class InputMatrix<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
