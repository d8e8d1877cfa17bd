#include "espalier/plugin.hpp"
#include "espalier/kernel/model/packs/compiled_pack_code.hpp"

ESPALIER_PLUGIN("packs", "0.2.0") {
  registrar.pack_code<espalier::detail::CompiledPackCode>(
      {.name = "packs", .summary = "what the kernel and batches compute on packs"});
}
