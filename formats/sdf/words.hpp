#pragma once

#include "formats/words.hpp"

namespace espalier::sdf {

/// Elements and attributes of SDF, those that Espalier leaves alone among them.
const formats::Grammar& grammar();

}  // namespace espalier::sdf
