// Built against a newer API: everything but size and version is nonsense.
#include <espalier/plugin.hpp>

extern "C" ESPALIER_API const espalier::PluginHeader* espalier_plugin();
extern "C" const espalier::PluginHeader* espalier_plugin() {
  static const espalier::PluginHeader header{sizeof(espalier::PluginHeader),
                                             espalier::plugin_api_version + 1,
                                             "eigen=5.0;",
                                             "newer",
                                             "1.0",
                                             nullptr};
  return &header;
}
