#pragma once

namespace espalier {

/// Asks for pages of code around a pass, all at once. A processor whose caches are cold asks for
/// each one only when it comes to it, and then waits. The passes of a single call stand side by
/// side (instances/instance.hpp); a page that is there, or that holds other code, costs an
/// instruction.
/// @tparam before, after  pages
template <int before, int after, class Pass>
[[gnu::always_inline]] inline void ask_for_code(Pass* pass) {
  constexpr int page = 4096, all_but_nearest_cache = 2;
  const char* const at = reinterpret_cast<const char*>(pass);
  for (int k = -before; k <= after; ++k) {
    __builtin_prefetch(at + k * page, 0, all_but_nearest_cache);
  }
}

}  // namespace espalier
