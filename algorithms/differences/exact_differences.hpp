#pragma once

#include "espalier/plugins/plugin.hpp"

namespace espalier {

/// Registers differences of what is exact: of gradients and of steps. A file of its own, so that
/// it compiles beside those of dense equations.
void register_exact_differences(Registrar& registrar, const Capabilities& differences);

}  // namespace espalier
