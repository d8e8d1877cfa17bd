#pragma once

#include <memory>
#include <type_traits>

#include "espalier/kernel/export.hpp"

/// Threads that share numbered pieces of work: batches run on it. Not for plugins.

namespace espalier::detail {

class ESPALIER_API BlockThreads {
 public:
  /// @param threads  at least 1; 0: as many as this process may run at once
  explicit BlockThreads(int threads);
  ~BlockThreads();

  int count() const { return count_; }

  /// Calls work(worker, piece) for piece = 0 ... pieces - 1 in any order. Workers are numbered
  /// below count(); a worker does one piece at a time, so that what it owns needs no lock. Returns
  /// when all is done; throws what work threw.
  template <class F>
  void run(int pieces, F&& work) {
    run(pieces, {&work, [](void* f, int worker, int piece) {
                   (*static_cast<std::remove_reference_t<F>*>(f))(worker, piece);
                 }});
  }

 private:
  struct Work {
    void* function;
    void (*call)(void* function, int worker, int piece);
  };
  void run(int pieces, const Work& work);

  int count_;
  std::unique_ptr<void, void (*)(void*)> arena_;  ///< of a ThreadLibrary
};

}  // namespace espalier::detail
