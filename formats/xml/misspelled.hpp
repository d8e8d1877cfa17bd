#pragma once

#include <vector>

#include "formats/words.hpp"
#include "formats/xml/node.hpp"

namespace espalier::formats {

/// Looks for misspelled elements and attributes: unknown ones that resemble a known word. What
/// resembles none passes, since newer versions of a format know more.
/// @param root  an element that the grammar knows
/// @param[out] findings  warnings that a strict reading refuses
void find_misspelled(const XmlNode& root, const Grammar& grammar, std::vector<Finding>& findings);

}  // namespace espalier::formats
