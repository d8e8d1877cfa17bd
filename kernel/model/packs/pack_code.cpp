#include "espalier/kernel/model/packs/compiled_pack_code.hpp"

namespace espalier {

PackCode::~PackCode() = default;

const PackCode& PackCode::plain() {
  static const detail::CompiledPackCode code;
  return code;
}

}  // namespace espalier
