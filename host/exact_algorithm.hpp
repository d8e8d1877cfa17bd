#pragma once

#include <string_view>

#include "espalier/kernel/scalar/scalar_list.hpp"
#include "espalier/plugins/registry.hpp"

namespace espalier {

/// Looks for an algorithm by what it can, where a caller asks for no name.
/// @param registry  knows the algorithms
/// @param problem   that it solves, by name
/// @param model     the robot
/// @param scalar    a ScalarTraits<T>::index at which it has to exist
/// @return the first one in the order of the registry that is exact on the model; null if none is
ESPALIER_API const Entry* exact_algorithm(const Registry& registry, std::string_view problem,
                                          const Model& model,
                                          int scalar = ScalarTraits<double>::index);

}  // namespace espalier
