#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/export.hpp"

/// Questions about unknown names.

namespace espalier {

/// " (did you mean 'b'?)" where a known name is near, else nothing. Near is one that differs in
/// hyphens and capitals alone, or in few letters, or the only one that begins so.
ESPALIER_API std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

/// The end of a sentence about an unknown name: ", expected one of a, b, c (did you mean 'b'?)".
/// plugins/registry.hpp declares it for plugins.
ESPALIER_API std::string suggest(std::string_view name, const std::vector<std::string>& known);

}  // namespace espalier
