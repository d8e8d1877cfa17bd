#pragma once

#include "espalier/plugin.hpp"

namespace espalier::contact {

/// Registers `moreau-derivatives`. A file of its own, so that it compiles beside the step.
void register_moreau_derivatives(Registrar& registrar);

}  // namespace espalier::contact
