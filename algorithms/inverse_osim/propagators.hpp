#pragma once

#include "espalier/plugins/plugin.hpp"

namespace espalier {

/// Registers what propagates forces or inertias from end-effector to end-effector, and baselines.
/// A file of its own, so that it compiles beside the Popov-Vereshchagin methods.
void register_propagators(Registrar& registrar);

}  // namespace espalier
