#pragma once

#include "espalier/plugins/plugin.hpp"

/// Parts of the plugin that compile alone.

namespace espalier {

/// Central differences, one for each problem of derivatives.
void add_differences(Registrar& registrar);
/// Of M^-1 without M.
void add_recursive(Registrar& registrar);
/// Hessian products by dual numbers.
void add_hessian_products(Registrar& registrar);

}  // namespace espalier
