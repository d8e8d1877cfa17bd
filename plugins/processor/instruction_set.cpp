#include "espalier/plugins/processor/instruction_set.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/processor/level.hpp"

namespace espalier::detail {

namespace {

constexpr std::array all{InstructionSet::baseline, InstructionSet::v3, InstructionSet::v4};

}  // namespace

std::string_view to_string(InstructionSet set) {
  switch (set) {
    case InstructionSet::v3:
      return "x86-64-v3";
    case InstructionSet::v4:
      return "x86-64-v4";
    case InstructionSet::baseline:
      break;
  }
  return "baseline";
}

std::string_view file_suffix(InstructionSet set) {
  switch (set) {
    case InstructionSet::v3:
      return ".v3";
    case InstructionSet::v4:
      return ".v4";
    case InstructionSet::baseline:
      break;
  }
  return "";
}

InstructionSet instruction_set_of(std::string_view file) {
  if (file.ends_with(".v3.so")) return InstructionSet::v3;
  if (file.ends_with(".v4.so")) return InstructionSet::v4;
  return InstructionSet::baseline;
}

InstructionSet processor_instruction_set() {
  static const int level = level_of_processor();
  return level == 4   ? InstructionSet::v4
         : level == 3 ? InstructionSet::v3
                      : InstructionSet::baseline;
}

InstructionSet usable_instruction_set() {
  const char* cap = std::getenv("ESPALIER_INSTRUCTION_SET");
  if (cap == nullptr || *cap == '\0') return processor_instruction_set();
  for (const InstructionSet set : all) {
    if (to_string(set) == cap) return std::min(set, processor_instruction_set());
  }
  throw PluginError("environment: ESPALIER_INSTRUCTION_SET is '" + std::string(cap) +
                    "', expected baseline, x86-64-v3 or x86-64-v4");
}

}  // namespace espalier::detail
