#pragma once

#include "espalier/plugins/plugin.hpp"

/// Parts of the plugin that compile alone.

namespace espalier {

/// Of M^-1 without M.
void add_recursive(Registrar& registrar);
/// Hessian products by dual numbers.
void add_hessian_products(Registrar& registrar);

}  // namespace espalier
