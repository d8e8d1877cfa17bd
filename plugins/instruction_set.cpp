#include "espalier/plugins/instruction_set.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#if defined(__x86_64__)
#if __has_include(<sys/platform/x86.h>)
#define _Bool bool  // the header of glibc 2.36 is written in C
#include <sys/platform/x86.h>
#undef _Bool
#endif
#ifndef CPU_FEATURE_ACTIVE  // glibc before 2.34, and other C libraries
#include <cpuid.h>
#endif
#endif

#include "espalier/kernel/errors.hpp"

namespace espalier::detail {

namespace {

constexpr std::array all{InstructionSet::baseline, InstructionSet::v3, InstructionSet::v4};

#if defined(__x86_64__) && defined(CPU_FEATURE_ACTIVE)
// The C library has asked the processor and the operating system already. In a virtual machine each
// CPUID takes microseconds, and the compilers' own test makes some thirty as the library is loaded.
InstructionSet detect() {
  const bool v3 = CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(FMA) && CPU_FEATURE_ACTIVE(BMI1) &&
                  CPU_FEATURE_ACTIVE(BMI2) && CPU_FEATURE_ACTIVE(MOVBE) &&
                  CPU_FEATURE_ACTIVE(F16C) && CPU_FEATURE_ACTIVE(LZCNT);
  if (!v3) return InstructionSet::baseline;
  const bool v4 = CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW) &&
                  CPU_FEATURE_ACTIVE(AVX512CD) && CPU_FEATURE_ACTIVE(AVX512DQ) &&
                  CPU_FEATURE_ACTIVE(AVX512VL);
  return v4 ? InstructionSet::v4 : InstructionSet::v3;
}
#elif defined(__x86_64__)
/// Whether bit `bit` of ECX is set in the answer to CPUID leaf `leaf`.
bool ecx_bit(unsigned leaf, int bit) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) != 0 && (ecx >> bit & 1u) != 0;
}

InstructionSet detect() {
  // The compilers' own test knows whether the operating system saves the wide registers; the three
  // instructions that clang 14 does not know by name are asked of the processor.
  __builtin_cpu_init();
  constexpr int movbe = 22, f16c = 29, lzcnt = 5;
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  ecx_bit(1, movbe) && ecx_bit(1, f16c) && ecx_bit(0x80000001u, lzcnt);
  if (!v3) return InstructionSet::baseline;
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? InstructionSet::v4 : InstructionSet::v3;
}
#else
InstructionSet detect() { return InstructionSet::baseline; }
#endif

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
  static const InstructionSet set = detect();
  return set;
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
