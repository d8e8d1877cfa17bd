#include "espalier/kernel/algorithm.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/integrator.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/sub_mechanism.hpp"

namespace espalier {

// Key functions: one vtable and one typeinfo per interface, in the kernel.
Algorithm::~Algorithm() = default;
Format::~Format() = default;
Integrator::~Integrator() = default;
JointRun::~JointRun() = default;
JointType::~JointType() = default;
JointTypes::~JointTypes() = default;
SubMechanism::~SubMechanism() = default;

std::string Format::write(const Description& robot) const {
  throw Unsupported("format: writing robot '" + robot.name +
                    "' is not possible, expected a format that can be written (try .yaml)");
}

}  // namespace espalier
