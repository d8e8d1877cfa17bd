#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/model.hpp"
#include "espalier/kernel/views.hpp"

namespace espalier {

/// Positions and rates of a robot, by vector and by name.
///
/// A new state is neutral and at rest. The vectors are laid out as the Model says and go straight
/// into every algorithm: `aba->evaluate(state.q(), state.v(), tau, vdot)`.
class ESPALIER_API State {
 public:
  /// Neutral and at rest.
  explicit State(ModelPtr model);

  /// The model that it is a state of.
  const Model& model() const { return *model_; }

  /// Spanning positions, size nq [rad, m, quaternions x y z w].
  std::vector<double>& q() { return q_; }
  /// Spanning positions, to be read.
  const std::vector<double>& q() const { return q_; }
  /// Independent rates, size nv [rad/s, m/s].
  std::vector<double>& v() { return v_; }
  /// Independent rates, to be read.
  const std::vector<double>& v() const { return v_; }

  /// Position and rates of one joint.
  /// @throws UnknownName listing the known joints; Unsupported for the rates of a joint that
  ///         depends on others
  std::span<const double> position(std::string_view joint) const;
  /// Rates of one joint, likewise.
  std::span<const double> rate(std::string_view joint) const;

  /// Sets the position of one joint; joints that constant couplings tie to it follow.
  /// @param joint   any that follows no other
  /// @param values  as many as the joint has; a quaternion is normalised
  /// @throws UnknownName, SizeMismatch; Unsupported for a joint that follows others
  void set_position(std::string_view joint, In<double> values);
  /// The same for a joint of one number.
  void set_position(std::string_view joint, double value) { set_position(joint, {&value, 1}); }
  /// Sets the rates of one joint. @throws UnknownName, SizeMismatch, Unsupported as above
  void set_rate(std::string_view joint, In<double> values);
  /// The same for a joint of one rate.
  void set_rate(std::string_view joint, double value) { set_rate(joint, {&value, 1}); }

  /// One joint of a state: state["knee"] = 0.4; state["knee"].rate() = ...
  class JointReference {
   public:
    /// Sets the position. @throws as State::set_position
    JointReference& operator=(double position) {
      state_.set_position(joint_, position);
      return *this;
    }
    /// The same for a joint of several numbers: state["root"] = {x, y, z, qx, qy, qz, qw}.
    JointReference& operator=(std::initializer_list<double> position) {
      state_.set_position(joint_, {position.begin(), static_cast<long>(position.size())});
      return *this;
    }
    /// Its numbers. @throws as State::position
    std::span<const double> position() const { return state_.position(joint_); }
    /// Its rates. @throws as State::rate
    std::span<const double> rate() const { return state_.rate(joint_); }
    /// Sets its rates. @throws as State::set_rate
    void set_rate(In<double> values) { state_.set_rate(joint_, values); }
    /// The same for a joint of one rate.
    void set_rate(double value) { state_.set_rate(joint_, value); }

   private:
    friend class State;
    JointReference(State& state, std::string_view joint) : state_(state), joint_(joint) {}
    State& state_;
    std::string_view joint_;
  };
  /// A joint by its name, which must outlive the reference. @throws UnknownName where it is used
  JointReference operator[](std::string_view joint) { return {*this, joint}; }
  /// Position of a joint of one number. @throws UnknownName, SizeMismatch
  double operator[](std::string_view joint) const {
    const auto numbers = position(joint);
    expect_size("state", "joint that is read as one number", static_cast<long>(numbers.size()), 1);
    return numbers[0];
  }

 private:
  const Joint& independent(std::string_view joint, const char* what) const;

  ModelPtr model_;
  std::vector<double> q_, v_;
};

}  // namespace espalier
