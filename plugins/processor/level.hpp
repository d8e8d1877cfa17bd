#pragma once

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

/// Which level of the x86-64 instruction set (System V ABI supplement) this processor has. Includes
/// nothing of Espalier: the build asks it, too, before there is any (cmake/processor.cpp), so that
/// it builds what the loader will take.

namespace espalier::detail {

/// 4 or 3 where it and its operating system have x86-64-v4 or x86-64-v3, else 1.
#if defined(__x86_64__) && defined(CPU_FEATURE_ACTIVE)
// The C library has asked the processor and the operating system already. In a virtual machine each
// CPUID takes microseconds, and the compilers' own test makes some thirty as the library is loaded.
inline int level_of_processor() {
  const bool v3 = CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(FMA) && CPU_FEATURE_ACTIVE(BMI1) &&
                  CPU_FEATURE_ACTIVE(BMI2) && CPU_FEATURE_ACTIVE(MOVBE) &&
                  CPU_FEATURE_ACTIVE(F16C) && CPU_FEATURE_ACTIVE(LZCNT);
  if (!v3) return 1;
  const bool v4 = CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW) &&
                  CPU_FEATURE_ACTIVE(AVX512CD) && CPU_FEATURE_ACTIVE(AVX512DQ) &&
                  CPU_FEATURE_ACTIVE(AVX512VL);
  return v4 ? 4 : 3;
}
#elif defined(__x86_64__)
/// Whether bit `bit` of ECX is set in the answer to CPUID leaf `leaf`.
inline bool ecx_bit(unsigned leaf, int bit) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) != 0 && (ecx >> bit & 1u) != 0;
}

inline int level_of_processor() {
  // The compilers' own test knows whether the operating system saves the wide registers; the three
  // instructions that clang 14 does not know by name are asked of the processor.
  __builtin_cpu_init();
  constexpr int movbe = 22, f16c = 29, lzcnt = 5;
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  ecx_bit(1, movbe) && ecx_bit(1, f16c) && ecx_bit(0x80000001u, lzcnt);
  if (!v3) return 1;
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? 4 : 3;
}
#else
inline int level_of_processor() { return 1; }
#endif

}  // namespace espalier::detail
