#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <optional>

#include "espalier/host/threads/thread_library.hpp"

namespace espalier::detail {

namespace {

struct Arena {
  explicit Arena(int threads) : arena(threads) {
    // Without this, TBB would take the number of cores for the most that anybody wants.
    if (threads > tbb::info::default_concurrency()) {
      more.emplace(tbb::global_control::max_allowed_parallelism, threads);
    }
  }
  /// A worker takes pieces until none is left: whoever is late finds nothing to do.
  void take_pieces(int worker) {
    // What the caller wrote before is seen by all workers, and what they write by the caller, by
    // TBB and by these counters, too, so that it can be checked: ThreadSanitizer does not see into
    // libtbb.
    started.load();
    for (int piece; (piece = next.fetch_add(1)) < pieces;) call(function, worker, piece);
    finished.fetch_add(1);
  }

  std::optional<tbb::global_control> more;
  tbb::task_arena arena;
  std::atomic<int> started{0}, next{0}, finished{0};
  void* function = nullptr;
  void (*call)(void*, int, int) = nullptr;
  int pieces = 0;
};

void run(void* of, int workers, int pieces, void* function, void (*call)(void*, int, int)) {
  Arena* const arena = static_cast<Arena*>(of);
  arena->function = function;
  arena->call = call;
  arena->pieces = pieces;
  arena->next.store(0);
  arena->started.fetch_add(1);
  arena->arena.execute([arena, workers] {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, workers, 1),
        // What it captures is in memory of TBB's, which hands it over unseen by ThreadSanitizer.
        [arena](const tbb::blocked_range<int>& range) __attribute__((no_sanitize("thread"))) {
          for (int worker = range.begin(); worker < range.end(); ++worker) {
            arena->take_pieces(worker);
          }
        },
        tbb::simple_partitioner());
  });
  arena->finished.load();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const ThreadLibrary* espalier_thread_library() {
  static constexpr ThreadLibrary library{[] { return tbb::info::default_concurrency(); },
                                         [](int threads) -> void* { return new Arena(threads); },
                                         [](void* arena) { delete static_cast<Arena*>(arena); },
                                         &run};
  return &library;
}

}  // namespace espalier::detail
