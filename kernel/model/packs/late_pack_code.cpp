#include "espalier/kernel/model/packs/late_pack_code.hpp"

#include <utility>

#include "espalier/kernel/model/packs/pack_code.hpp"

namespace espalier {

LatePackCode::LatePackCode(Find find) : find_(std::move(find)) {}
LatePackCode::~LatePackCode() = default;

const PackCode& LatePackCode::look() {
  const std::lock_guard lock(mutex_);
  if (owner_ == nullptr) keep(find_());
  return *owner_;
}

void LatePackCode::find_last() noexcept {
  try {
    look();
  } catch (...) {  // the plugin's file may be gone
    const std::lock_guard lock(mutex_);
    keep({std::shared_ptr<const PackCode>(), &PackCode::plain()});
  }
}

void LatePackCode::keep(std::shared_ptr<const PackCode> code) {
  owner_ = std::move(code);
  find_ = nullptr;
  found_.store(owner_.get(), std::memory_order_release);
}

}  // namespace espalier
