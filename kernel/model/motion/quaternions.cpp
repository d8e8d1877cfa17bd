#include "espalier/kernel/model/motion/quaternions.hpp"

#include "espalier/kernel/errors.hpp"

namespace espalier {

int quaternion_of(const Joint& joint) {
  return joint.type == "floating" || joint.type == "spherical" ? joint.nq - 4 : -1;
}

bool without_direction(const double* quaternion, long stride) {
  for (long k = 0; k < 4; ++k) {
    if (quaternion[k * stride] != 0.0) return false;
  }
  return true;
}

std::string fault_of_quaternions(const Model& model, const double* q, long stride) {
  for (const Joint& joint : model.joints()) {
    const int at = quaternion_of(joint);
    if (at < 0 || !without_direction(q + (joint.q + at) * stride, stride)) continue;
    return "length of the quaternion of joint '" + joint.name +
           "' is 0, expected x y z w of length 1 (neutral() and State have one)";
  }
  return "";
}

void expect_directions(std::string_view who, const Model& model, const double* q, long stride) {
  const std::string fault = fault_of_quaternions(model, q, stride);
  if (!fault.empty()) throw InvalidModel(std::string(who) + ": " + fault);
}

}  // namespace espalier
