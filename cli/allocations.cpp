#include "cli/allocations.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>

// Every allocation in the process ends in malloc and its sisters: operator new, Eigen's aligned
// buffers, plugins. Those of an executable stand before the C library's for all of them.

namespace {
thread_local long count = 0;
[[maybe_unused]] thread_local long held = 0;
}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ESPALIER_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ESPALIER_SANITIZED
#endif
#endif

#ifdef ESPALIER_SANITIZED
// Sanitizers have their own malloc, and tell of each call.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                             std::size_t),
                                                         void (*free_hook)(const volatile void*));
namespace {
[[maybe_unused]] const int installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { ++count; }, [](const volatile void*) {});
}
#define ESPALIER_COUNTS_ALLOCATIONS

#elif defined(__GLIBC__)
#include <malloc.h>
#define ESPALIER_COUNTS_ALLOCATIONS
#define ESPALIER_COUNTS_BYTES
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t n, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
}
namespace {
/// Takes note of a new block.
void* taken(void* block) {
  ++count;
  held += static_cast<long>(malloc_usable_size(block));  // 0 for a null pointer
  return block;
}
}  // namespace
extern "C" {
__attribute__((visibility("default"))) void* malloc(std::size_t size) {
  return taken(__libc_malloc(size));
}
__attribute__((visibility("default"))) void* calloc(std::size_t n, std::size_t size) {
  return taken(__libc_calloc(n, size));
}
__attribute__((visibility("default"))) void* realloc(void* block, std::size_t size) {
  const long before = static_cast<long>(malloc_usable_size(block));
  void* const moved = __libc_realloc(block, size);
  if (moved != nullptr || size == 0) held -= before;  // else the old block stays
  return taken(moved);
}
__attribute__((visibility("default"))) void* memalign(std::size_t alignment, std::size_t size) {
  return taken(__libc_memalign(alignment, size));
}
__attribute__((visibility("default"))) void free(void* block) {
  held -= static_cast<long>(malloc_usable_size(block));
  __libc_free(block);
}
__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment,
                                                           std::size_t size) {
  return memalign(alignment, size);
}
__attribute__((visibility("default"))) int posix_memalign(void** block, std::size_t alignment,
                                                          std::size_t size) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  void* taken = memalign(alignment, size);
  if (taken == nullptr) return ENOMEM;
  *block = taken;
  return 0;
}
}
#endif

namespace espalier::cli {

std::optional<long> allocation_count() {
#ifdef ESPALIER_COUNTS_ALLOCATIONS
  return count;
#else
  return std::nullopt;
#endif
}

std::optional<long> held_bytes() {
#ifdef ESPALIER_COUNTS_BYTES
  return held;
#else
  return std::nullopt;
#endif
}

}  // namespace espalier::cli
