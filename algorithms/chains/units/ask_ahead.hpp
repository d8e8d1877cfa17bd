#pragma once

#include <cstddef>

/// What a call comes to, asked for at its start, all at once. A processor whose caches are cold
/// asks for each page and line only when it comes to it, and then waits (docs/performance.md). What
/// is there already costs an instruction.

namespace espalier {

/// Asks for the lines at some addresses, which may be anything. Not for the nearest cache:
/// lines a page apart share a set of it, and cost more there than they save (docs/performance.md).
template <class... At>
[[gnu::always_inline]] inline void ask_for(const At*... at) {
  constexpr int to_read = 0, all_but_nearest_cache = 2;
  (__builtin_prefetch(at, to_read, all_but_nearest_cache), ...);
}

/// Asks for some lines of an object, whose first one is there.
template <class Object>
[[gnu::always_inline]] inline void ask_for_object(const Object* object) {
  constexpr std::size_t first = 256, apart = 512;
  const std::byte* const begin = reinterpret_cast<const std::byte*>(object);
  for (std::size_t at = first; at < sizeof(Object); at += apart) ask_for(begin + at);
}

/// Asks for pages of code around a pass. The passes of a single call stand side by side
/// (instances/instance.hpp).
/// @tparam before, after  pages
template <int before, int after, class Pass>
[[gnu::always_inline]] inline void ask_for_code(Pass* pass) {
  constexpr int page = 4096;
  const char* const at = reinterpret_cast<const char*>(pass);
  for (int k = -before; k <= after; ++k) ask_for(at + k * page);
}

}  // namespace espalier
