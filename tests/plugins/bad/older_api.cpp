// Built against an older API: everything but size and version is nonsense.
#include <espalier/plugin.hpp>

extern "C" ESPALIER_API const espalier::PluginHeader* espalier_plugin();
extern "C" const espalier::PluginHeader* espalier_plugin() {
  static const espalier::PluginHeader header{sizeof(espalier::PluginHeader),
                                             espalier::plugin_api_version - 1,
                                             "eigen=2.0;",
                                             "older",
                                             "1.0",
                                             nullptr};
  return &header;
}
