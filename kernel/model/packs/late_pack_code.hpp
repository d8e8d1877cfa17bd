#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "espalier/kernel/export.hpp"

namespace espalier {

class PackCode;

/// Code on packs that is looked for when it is first asked for, once for all threads: most programs
/// never do, and a plugin's library would be opened for it. Who calls it in evaluate() asks before,
/// when it is bound to a model.
class ESPALIER_API LatePackCode {
 public:
  using Find = std::function<std::shared_ptr<const PackCode>()>;
  explicit LatePackCode(Find find);
  ~LatePackCode();
  LatePackCode(const LatePackCode&) = delete;
  LatePackCode& operator=(const LatePackCode&) = delete;

  const PackCode& get() {
    const PackCode* found = found_.load(std::memory_order_acquire);
    return found != nullptr ? *found : look();
  }
  /// Finds it now, or where that fails settles for code for plain x86-64: whom it asks ends.
  void find_last() noexcept;

 private:
  const PackCode& look();
  void keep(std::shared_ptr<const PackCode> code);

  std::mutex mutex_;
  Find find_;                              ///< until it was called
  std::shared_ptr<const PackCode> owner_;  ///< keeps what is found
  std::atomic<const PackCode*> found_ = nullptr;
};

}  // namespace espalier
