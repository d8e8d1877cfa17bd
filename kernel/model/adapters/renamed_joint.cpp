#include "espalier/kernel/model/adapters/renamed_joint.hpp"

#include <utility>

namespace espalier {

RenamedJoint::RenamedJoint(std::string name, std::shared_ptr<const JointType> type)
    : name_(std::move(name)), type_(std::move(type)) {}

const JointType& RenamedJoint::computed_by(const JointType& type) {
  const auto* renamed = dynamic_cast<const RenamedJoint*>(&type);
  return renamed == nullptr ? type : computed_by(*renamed->type_);
}

}  // namespace espalier
