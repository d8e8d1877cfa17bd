#pragma once

#include <string>

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/law.hpp"

/// Whether what an author wrote by hand is what the kernel would have derived: all algorithms share
/// it, so that no comparison of algorithms finds a mistake in it. Looked at when a plugin registers
/// and, laws, when a model compiles with parameters of its own.

namespace espalier::detail {

/// Compares K and k of a law, or G and g of an explicit one, with derivatives of phi at a position,
/// and what solve() writes with phi = 0. Entries that are not finite are passed over.
/// @param q   as many as the law has positions
/// @param qd  rates, of order 1
/// @returns what is wrong, e.g. "K(0, 1) is 3, expected 2 (...)"; "" where all agrees
std::string fault_of(const Law& law, const double* q, const double* qd);

/// The same of an instance at some positions around a start. What throws is left to whoever calls
/// it next, and a law that has no sample to its compilation.
std::string fault_of(const Law& law, const std::vector<double>& start);
/// The same of a registered type's sample.
ESPALIER_API std::string fault_of(const LawType& type);

/// Compares S and its bias with differences of the joint's placement along integrate().
ESPALIER_API std::string fault_of(const JointType& type);

}  // namespace espalier::detail
