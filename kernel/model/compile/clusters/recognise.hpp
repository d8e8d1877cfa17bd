#pragma once

#include <string>

#include "espalier/kernel/model/layout.hpp"

namespace espalier::detail {

/// What a constrained cluster is, by the numbers that tie it, and what follows for its kernel; one
/// line for people.
std::string recognise(const Model& model, const Cluster& cluster);

}  // namespace espalier::detail
