#pragma once

#include <cstdio>
#include <exception>

#include "loop_peer.h"

/// What modules for robots with loops share. C++17 without Espalier's headers, see peer.h.

/// What a module defines: its table.
extern "C" __attribute__((visibility("default"))) const espalier_loop_peer*
espalier_loop_peer_table(void);

namespace peers {

/// The table of a library.
/// @tparam Robot  made of an espalier_loop_robot, or throws what stands in the way; way_count(),
///                way(i), set(k, q, v, tau), iterates(way),
///                is_derivatives(way), run(way, k), read(way, out)
template <class Robot>
espalier_loop_peer loop_peer_table(const char* library) {
  return {library,
          [](void* p) -> int { return static_cast<Robot*>(p)->way_count(); },
          [](void* p, int way) -> const char* { return static_cast<Robot*>(p)->way(way); },
          [](const espalier_loop_robot* robot, char* message, int size) -> void* {
            try {
              return new Robot(*robot);
            } catch (const std::exception& error) {
              std::snprintf(message, size, "%s", error.what());
              return nullptr;
            }
          },
          [](void* p) { delete static_cast<Robot*>(p); },
          [](void* p, int k, const double* q, const double* v, const double* tau) {
            static_cast<Robot*>(p)->set(k, q, v, tau);
          },
          [](void* p, int way) -> int { return static_cast<Robot*>(p)->iterates(way); },
          [](void* p, int way) -> int { return static_cast<Robot*>(p)->is_derivatives(way); },
          [](void* p, int way, int k) { static_cast<Robot*>(p)->run(way, k); },
          [](void* p, int way, double* vdot) { static_cast<Robot*>(p)->read(way, vdot); }};
}

}  // namespace peers
