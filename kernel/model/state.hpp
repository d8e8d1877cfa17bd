#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/model.hpp"
#include "espalier/kernel/views.hpp"

namespace espalier {

/// Positions and rates of a robot, by vector and by name, that knows whether its loops are closed.
///
/// A new state is neutral, closed and at rest. Algorithms take it as it is:
/// `aba->evaluate(state, tau, vdot)` looks once whether its loops are closed; its vectors are laid
/// out as the Model says.
class ESPALIER_API State {
 public:
  /// Neutral and at rest.
  explicit State(ModelPtr model);

  /// The model that it is a state of.
  const Model& model() const { return *model_; }

  /// Spanning positions, size nq [rad, m, quaternions x y z w]. What is written here is looked at
  /// when the state is next used, which throws SizeMismatch where it has another size.
  std::vector<double>& q() { return q_; }
  /// Spanning positions, to be read.
  const std::vector<double>& q() const { return q_; }
  /// Independent rates, size nv [rad/s, m/s].
  std::vector<double>& v() { return v_; }
  /// Independent rates, to be read.
  const std::vector<double>& v() const { return v_; }

  /// Position and rates of one joint, or, where some of its rates alone are independent, of such a
  /// part, "joint[k]"; likewise where joints are named below.
  /// @throws UnknownName listing the known joints; Unsupported for the rates of a joint that
  ///         depends on others
  std::span<const double> position(std::string_view joint) const;
  /// Rates of one joint, likewise.
  std::span<const double> rate(std::string_view joint) const;

  /// Sets the position of one independent joint; joints that constant couplings tie to it follow.
  /// Where a loop ties it, the state is open until close().
  /// @param joint   any that follows no other
  /// @param values  as many as the joint has; a quaternion is normalised
  /// @throws UnknownName, SizeMismatch; Unsupported for a joint that follows others; InvalidModel
  ///         for a quaternion of length 0
  void set_position(std::string_view joint, In<double> values);
  /// The same for a joint of one number.
  void set_position(std::string_view joint, double value) { set_position(joint, {&value, 1}); }
  /// Sets the position of any joint and moves no other: a guess from which close() or assemble()
  /// starts. @throws UnknownName, SizeMismatch, InvalidModel as above
  void set_raw(std::string_view joint, In<double> values);
  /// The same for a joint of one number.
  void set_raw(std::string_view joint, double value) { set_raw(joint, {&value, 1}); }
  /// Sets the rates of one joint. @throws UnknownName, SizeMismatch, Unsupported as above
  void set_rate(std::string_view joint, In<double> values);
  /// The same for a joint of one rate.
  void set_rate(std::string_view joint, double value) { set_rate(joint, {&value, 1}); }

  /// One joint of a state: state["knee"] = 0.4; state["knee"].set_rate(1.0)
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
    /// Its position, where that is one number: double angle = state["knee"].
    /// @throws UnknownName, SizeMismatch
    // NOLINTNEXTLINE(google-explicit-constructor): it reads like a number.
    operator double() const { return std::as_const(state_)[joint_]; }
    /// Takes the position of another joint. @throws as both
    JointReference& operator=(const JointReference& other) {
      return *this = static_cast<double>(other);
    }
    JointReference(const JointReference&) = default;
    ~JointReference() = default;
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

  /// Solves the dependent positions for the independent ones, on the branch of the positions that
  /// were last closed (close() in kernel/model/closure.hpp).
  /// @returns how it ended; unless it is `closed`, q() is as far as it went
  Closure close(const CloseOptions& options = {});
  /// Whether couplings and loops are met to `tolerance`. Positions are looked at when they have
  /// changed since.
  bool is_closed() const;
  /// @param who  asks for it
  /// @throws SingularMechanism naming the cluster, its constraint and the residual, or a position
  ///         that is not finite
  void expect_closed(std::string_view who) const;

  /// Largest |phi| that counts as closed [m, rad or cosine]: that of BatchOptions.
  static constexpr double tolerance = 1e-6;

 private:
  /// Its vectors are the user's to write, and to give another size.
  void expect_whole() const;
  const Joint& independent(std::string_view joint, const char* what) const;
  void put(const Joint& joint, In<double> values);

  ModelPtr model_;
  std::vector<double> q_, v_;
  mutable std::vector<double> closed_;  ///< the positions that were last found closed
};

namespace detail {
/// In a loop, some rates of a joint may be independent and others not: what "joint[k]" names.
ESPALIER_API std::optional<Coordinate> independent_part(const Model& model, std::string_view name);
/// @throws SingularMechanism as State::expect_closed()
ESPALIER_API void expect_closed(std::string_view who, const Model& model, const double* q);
}  // namespace detail

}  // namespace espalier
