#pragma once

#include <memory>
#include <string>

#include "espalier/kernel/model/joint.hpp"

/// Joint types that differ in their name alone.

namespace espalier {

/// A second name for a joint type: files tell them apart, dynamics does not. A compiled model has
/// the type itself, so that neighbouring joints of both names share a JointRun, its one virtual
/// call and its sines, four at a time.
class ESPALIER_API RenamedJoint final : public JointType {
 public:
  /// @param type  what computes; not null
  RenamedJoint(std::string name, std::shared_ptr<const JointType> type);

  /// The type that computes what `type` stands for: itself, but of second names what they rename.
  static const JointType& computed_by(const JointType& type);

  std::string_view name() const override { return name_; }
  int nq() const override { return type_->nq(); }
  int nv() const override { return type_->nv(); }
  SubspaceKind subspace() const override { return type_->subspace(); }
  std::vector<std::string_view> parameter_names() const override {
    return type_->parameter_names();
  }
  std::vector<LoopRow> loop_rows(const JointSpec& joint) const override {
    return type_->loop_rows(joint);
  }
  bool has_equations() const override { return type_->has_equations(); }
  std::vector<std::string_view> inputs() const override { return type_->inputs(); }
  std::span<const double> B() const override { return type_->B(); }
  Parameters sample() const override { return type_->sample(); }
  Mat3<double> alignment(const JointSpec& joint) const override { return type_->alignment(joint); }
  std::unique_ptr<JointRun> make_run(std::span<const JointSpec> joints,
                                     std::span<const Transform<double>> placements) const override {
    return type_->make_run(joints, placements);
  }

 private:
  std::string name_;
  std::shared_ptr<const JointType> type_;
};

}  // namespace espalier
