#pragma once

#include <string>
#include <string_view>

#include "espalier/kernel/export.hpp"

namespace espalier::detail {

/// Levels of the x86-64 instruction set (System V ABI supplement) that plugins are built for.
enum class InstructionSet { baseline, v3, v4 };

/// "baseline", "x86-64-v3", "x86-64-v4".
ESPALIER_API std::string_view to_string(InstructionSet set);

/// What comes before ".so" in the name of a library built for it: "", ".v3", ".v4".
std::string_view file_suffix(InstructionSet set);

/// The level that a file name asks for by its ending.
ESPALIER_API InstructionSet instruction_set_of(std::string_view file);

/// The widest level that this processor and its operating system have.
ESPALIER_API InstructionSet processor_instruction_set();

/// The widest level to use: the processor's, capped by ESPALIER_INSTRUCTION_SET.
/// @throws PluginError if the variable is none of the names
ESPALIER_API InstructionSet usable_instruction_set();

}  // namespace espalier::detail
