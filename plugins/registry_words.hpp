#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/plugins/registry.hpp"

/// How the registry words what it says.

namespace espalier::detail {

/// "a, b".
std::string joined(const std::vector<std::string>& names, std::string_view separator = ", ");
std::string lower(std::string_view text);
/// "algorithm 'aba' for forward-dynamics".
std::string title(const Entry& e);

/// Once in a program, since files are read again and again.
void warn_of_two_formats(const Entry& taken, const Entry& other, const std::string& ending);

inline constexpr std::string_view plugin_hint =
    "; more come from plugins, see `espalier list plugins` and ESPALIER_PLUGIN_PATH";

}  // namespace espalier::detail
