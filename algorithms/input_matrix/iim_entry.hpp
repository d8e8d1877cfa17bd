#pragma once

#include "espalier/plugins/plugin.hpp"

namespace espalier {

/// Registers `iim`. A file of its own, so that it compiles beside the baselines.
void register_iim(Registrar& registrar);

}  // namespace espalier
