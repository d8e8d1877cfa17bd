#include "espalier/kernel/model/packs/late_pack_code.hpp"

#include <utility>

#include "espalier/kernel/model/packs/pack_code.hpp"

namespace espalier {

LatePackCode::LatePackCode(Find find) : find_(std::move(find)) {}
LatePackCode::~LatePackCode() = default;

const PackCode& LatePackCode::look() {
  const std::lock_guard lock(mutex_);
  if (owner_ == nullptr) {
    owner_ = find_();
    find_ = nullptr;
    found_.store(owner_.get(), std::memory_order_release);
  }
  return *owner_;
}

}  // namespace espalier
