#pragma once

#include "espalier/plugins/plugin.hpp"

namespace espalier {

/// Registers what `aba` and `c-aba` are compared with: other methods and oracles. A file of their
/// own, so that a change to one half compiles that half alone.
void register_baselines(Registrar& registrar);

}  // namespace espalier
