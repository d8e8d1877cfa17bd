// It has nothing to register with.
#include <espalier/plugin.hpp>

extern "C" ESPALIER_API const espalier::PluginHeader* espalier_plugin();
extern "C" const espalier::PluginHeader* espalier_plugin() {
  static const espalier::PluginHeader header{sizeof(espalier::PluginHeader),
                                             espalier::plugin_api_version,
                                             ESPALIER_FINGERPRINT,
                                             "null-register",
                                             "1.0",
                                             nullptr};
  return &header;
}
