#pragma once

#include "formats/words.hpp"

namespace espalier::mjcf {

/// Elements and attributes of MJCF, those that Espalier leaves alone among them.
const formats::Grammar& grammar();

}  // namespace espalier::mjcf
