#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/integrator.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/packs/late_pack_code.hpp"
#include "espalier/kernel/model/packs/pack_code.hpp"
#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/kernel/scalar/scalar.hpp"
#include "espalier/kernel/sub_mechanism.hpp"

namespace espalier {

// Key functions: one vtable and one typeinfo per interface, in the kernel.
EquationsOfMotion::~EquationsOfMotion() = default;
Format::~Format() = default;
Integrator::~Integrator() = default;
JointRun::~JointRun() = default;
#define ESPALIER_NO_EQUATIONS(T)                                                     \
  void JointRun::equations(int, const T*, const T*, const Vec3<T>&, T*, T*) const {} \
  void JointRun::turns(const T*, T*, T*) const {}
ESPALIER_SCALARS(ESPALIER_NO_EQUATIONS)
#undef ESPALIER_NO_EQUATIONS
JointType::~JointType() = default;
Law::~Law() = default;
LawType::~LawType() = default;
LoopJoint::~LoopJoint() = default;
ModelTypes::~ModelTypes() = default;
SubMechanism::~SubMechanism() = default;
SubMechanisms::~SubMechanisms() = default;

namespace {

class NoSubMechanisms final : public SubMechanisms {
 public:
  const SubMechanism* find_sub_mechanism(std::string_view) const override { return nullptr; }
  std::vector<std::string> sub_mechanism_names() const override { return {}; }
};

}  // namespace

const LoopJoint& ModelTypes::loop_joint(std::string_view name) const { return joint_type(name); }

const LawType& ModelTypes::law(std::string_view name) const {
  throw UnknownName("law '" + std::string(name) + "' is unknown, but no laws are known here");
}

std::shared_ptr<const PackCode> ModelTypes::pack_code() const {
  return {std::shared_ptr<const PackCode>(), &PackCode::plain()};  // lives as long as the program
}

std::shared_ptr<LatePackCode> ModelTypes::late_pack_code() const {
  return std::make_shared<LatePackCode>([code = pack_code()] { return code; });
}

Description Format::read(std::string_view text, const std::string& origin) const {
  return read(text, origin, NoSubMechanisms());
}

std::string Format::write(const Description& robot) const {
  throw Unsupported("format: writing robot '" + robot.name +
                    "' is not possible, expected a format that can be written (try .yaml)");
}

Description Format::read(std::string_view text, const std::string& origin,
                         const SubMechanisms& parts, const ReadOptions& /*options*/) const {
  return read(text, origin, parts);
}
std::vector<std::string> Format::losses(const Description& /*robot*/) const { return {}; }

}  // namespace espalier
