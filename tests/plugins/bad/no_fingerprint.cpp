// Its fingerprint is null.
#include <espalier/plugin.hpp>

extern "C" ESPALIER_API const espalier::PluginHeader* espalier_plugin();
extern "C" const espalier::PluginHeader* espalier_plugin() {
  static const espalier::PluginHeader header{sizeof(espalier::PluginHeader),
                                             espalier::plugin_api_version,
                                             nullptr,
                                             "no-fingerprint",
                                             "1.0",
                                             [](espalier::Registrar&) {}};
  return &header;
}
