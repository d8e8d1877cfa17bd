#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/export.hpp"

/// What robots are made of, by name: the interfaces through which the kernel asks the registry.

namespace espalier {

class JointType;
class LawType;
class LatePackCode;
class LoopJoint;
class PackCode;
class SubMechanism;

/// Kind of subspace at run time: the ones that algorithms have code of their own for, and the rest.
enum class SubspaceKind { revolute_z, prismatic_z, spherical, free, dense };

/// Looks up by name what a model is made of; the registry of plugins implements it.
class ESPALIER_API ModelTypes {
 public:
  virtual ~ModelTypes();
  /// @throws UnknownName listing the known types
  virtual const JointType& joint_type(std::string_view name) const = 0;
  /// What closes a loop: a joint type, or a loop joint that is none, such as a rod.
  virtual const LoopJoint& loop_joint(std::string_view name) const;
  /// A law between joint positions. @throws UnknownName listing the known ones
  virtual const LawType& law(std::string_view name) const;
  /// What is computed on packs apart from algorithms; without plugins that for plain x86-64.
  virtual std::shared_ptr<const PackCode> pack_code() const;
  /// The same for models, most of which never ask for it: looked for when they do.
  virtual std::shared_ptr<LatePackCode> late_pack_code() const;
};

/// Looks up sub-mechanisms by name; the registry of plugins implements it.
class ESPALIER_API SubMechanisms {
 public:
  virtual ~SubMechanisms();
  /// Null if there is none of this name.
  virtual const SubMechanism* find_sub_mechanism(std::string_view name) const = 0;
  /// All names, sorted.
  virtual std::vector<std::string> sub_mechanism_names() const = 0;
};

}  // namespace espalier
