#pragma once

/// What libespalier_threads.so gives to libespalier.so, which opens it for the first batch on
/// several threads: libtbb takes a twentieth of a program's start, and most programs end without
/// it. Not for programs and plugins.

namespace espalier::detail {

struct ThreadLibrary {
  /// Threads that this process may run at once.
  int (*most_threads)();
  /// Threads that share pieces of work; ended by close().
  void* (*open)(int threads);
  void (*close)(void* arena);
  /// Calls call(function, worker, piece) for each piece below `pieces`, on workers below `workers`,
  /// and returns when all is done; throws what a call threw.
  void (*run)(void* arena, int workers, int pieces, void* function,
              void (*call)(void* function, int worker, int piece));
};

/// The function of the library that returns its ThreadLibrary.
inline constexpr const char* thread_library_entry = "espalier_thread_library";

}  // namespace espalier::detail
