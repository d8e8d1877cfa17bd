#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace espalier {

/// Gives memory from the beginning of a line of the cache on: a register that crosses lines takes
/// two loads or two stores, and of registers of 32 bytes at 16 bytes, where plain vectors may
/// begin, every other one does.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};

  LineAllocator() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as containers ask.
  template <class U>
  LineAllocator(const LineAllocator<U>& /*other*/) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), line));
  }
  void deallocate(T* p, std::size_t) { ::operator delete(p, line); }
  friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};

/// Numbers that registers load and store.
using AlignedNumbers = std::vector<double, LineAllocator<double>>;

}  // namespace espalier
