#pragma once

#include <string>
#include <string_view>

#include "espalier/kernel/model/layout.hpp"

namespace espalier {

/// Where the quaternion of a joint begins among its positions, or -1 if it has none.
ESPALIER_API int quaternion_of(const Joint& joint);

/// Whether four numbers are no quaternion, having no direction.
ESPALIER_API bool without_direction(const double* quaternion, long stride = 1);

/// What is wrong with the quaternions of positions, naming the joint; "" if nothing is. One of four
/// zeros, normalized, would become the identity without a word.
/// @param q       spanning positions, nq
/// @param stride  from number to number, where robots stand side by side
ESPALIER_API std::string fault_of_quaternions(const Model& model, const double* q, long stride = 1);

/// Refuses positions whose quaternions have a fault.
/// @param who  for the message
/// @throws InvalidModel naming the joint
ESPALIER_API void expect_directions(std::string_view who, const Model& model, const double* q,
                                    long stride = 1);

}  // namespace espalier
