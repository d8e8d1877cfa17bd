// Its entry point throws.
#include <stdexcept>

#include <espalier/plugin.hpp>

extern "C" ESPALIER_API const espalier::PluginHeader* espalier_plugin();
extern "C" const espalier::PluginHeader* espalier_plugin() {
  throw std::runtime_error("no header today");
}
