// It has no name.
#include <espalier/plugin.hpp>

extern "C" ESPALIER_API const espalier::PluginHeader* espalier_plugin();
extern "C" const espalier::PluginHeader* espalier_plugin() {
  static const espalier::PluginHeader header{
      sizeof(espalier::PluginHeader), espalier::plugin_api_version, ESPALIER_FINGERPRINT, "", "1.0",
      [](espalier::Registrar&) {}};
  return &header;
}
