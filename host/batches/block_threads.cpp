#include "espalier/host/batches/block_threads.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>

#include "espalier/kernel/errors.hpp"

namespace espalier::detail {

struct BlockThreads::Arena {
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
    for (int piece; (piece = next.fetch_add(1)) < pieces;) work.call(work.function, worker, piece);
    finished.fetch_add(1);
  }

  std::optional<tbb::global_control> more;
  tbb::task_arena arena;
  std::atomic<int> started{0}, next{0}, finished{0};
  Work work{};
  int pieces = 0;
};

namespace {

int checked(int threads) {
  if (threads < 0) {
    throw SizeMismatch("batch: number of threads is " + std::to_string(threads) +
                       ", expected at least 1, or 0 for all cores");
  }
  constexpr int most = 1024;  // each has an algorithm of its own
  if (threads > most) {
    throw SizeMismatch("batch: number of threads is " + std::to_string(threads) +
                       ", expected at most " + std::to_string(most) +
                       " (more than there are cores take longer)");
  }
  return threads > 0 ? threads : tbb::info::default_concurrency();
}

}  // namespace

BlockThreads::BlockThreads(int threads) : count_(checked(threads)) {
  if (count_ > 1) arena_ = std::make_unique<Arena>(count_);
}

BlockThreads::~BlockThreads() = default;

void BlockThreads::run(int pieces, const Work& work) {
  if (count_ == 1 || pieces < 2) {
    for (int piece = 0; piece < pieces; ++piece) work.call(work.function, 0, piece);
    return;
  }
  Arena* const arena = arena_.get();
  arena->work = work;
  arena->pieces = pieces;
  arena->next.store(0);
  arena->started.fetch_add(1);
  const int workers = std::min(count_, pieces);
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

}  // namespace espalier::detail
