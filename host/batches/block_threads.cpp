#include "espalier/host/batches/block_threads.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "espalier/host/threads/thread_library.hpp"
#include "espalier/kernel/errors.hpp"

namespace espalier::detail {

namespace {

/// libespalier_threads.so, which stands in espalier/ beside this library.
/// @throws Unsupported
const ThreadLibrary& library() {
  static const ThreadLibrary* const found = [] {
    Dl_info here{};
    if (::dladdr(reinterpret_cast<void*>(&library), &here) == 0) here.dli_fname = "";
    const std::string file = here.dli_fname;
    const std::string beside =
        file.substr(0, file.rfind('/') + 1) + "espalier/libespalier_threads.so";
    void* const opened = ::dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const entry = opened == nullptr ? nullptr : ::dlsym(opened, thread_library_entry);
    if (entry == nullptr) {
      const char* const why = ::dlerror();
      throw Unsupported("batch: library of threads is " + beside + " (" +
                        (why == nullptr ? "no entry point" : why) +
                        "), expected one that can be opened (install it, or take 1 thread)");
    }
    return reinterpret_cast<const ThreadLibrary* (*)()>(entry)();
  }();
  return *found;
}

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
  return threads > 0 ? threads : library().most_threads();
}

}  // namespace

BlockThreads::BlockThreads(int threads)
    : count_(checked(threads)),
      arena_(count_ > 1 ? library().open(count_) : nullptr,
             [](void* arena) { library().close(arena); }) {}

BlockThreads::~BlockThreads() = default;

void BlockThreads::run(int pieces, const Work& work) {
  if (count_ == 1 || pieces < 2) {
    for (int piece = 0; piece < pieces; ++piece) work.call(work.function, 0, piece);
    return;
  }
  library().run(arena_.get(), std::min(count_, pieces), pieces, work.function, work.call);
}

}  // namespace espalier::detail
