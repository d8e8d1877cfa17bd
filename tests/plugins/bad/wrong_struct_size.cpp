// Its header has another size, so nothing behind that can be read.
#include <espalier/plugin.hpp>

extern "C" ESPALIER_API const espalier::PluginHeader* espalier_plugin();
extern "C" const espalier::PluginHeader* espalier_plugin() {
  static const espalier::PluginHeader header{sizeof(espalier::PluginHeader) - 8,
                                             espalier::plugin_api_version,
                                             nullptr,
                                             nullptr,
                                             "1.0",
                                             nullptr};
  return &header;
}
