#include "espalier/plugins/plugin_header.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace espalier::detail {

namespace {

/// "key=value;key=value;" as a map.
std::map<std::string, std::string> parse(std::string_view fingerprint) {
  std::map<std::string, std::string> result;
  while (!fingerprint.empty()) {
    const std::string_view pair = fingerprint.substr(0, fingerprint.find(';'));
    fingerprint.remove_prefix(std::min(pair.size() + 1, fingerprint.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::string value(pair.substr(std::min(equals + 1, pair.size())));
    while (value.ends_with(',')) value.pop_back();
    result.emplace(pair.substr(0, equals), value);
  }
  return result;
}

/// What to do about a key that differs.
std::string remedy(std::string_view key) {
  if (key.starts_with("eigen_max")) {
    return "link the CMake target espalier::plugin, which pins Eigen's alignment";
  }
  if (key == "sanitizer") return "build plugin and host with the same -fsanitize";
  if (key == "libstdcxx_containers") return "build plugin and host with the same _GLIBCXX_DEBUG";
  return "rebuild the plugin against this Espalier";
}

}  // namespace

void check_fingerprint(const std::string& file, std::string_view found, std::string_view expected) {
  const std::map<std::string, std::string> ours = parse(expected);
  std::map<std::string, std::string> theirs = parse(found);
  const auto refuse = [&](const std::string& key, const std::string& is,
                          const std::string& wanted) {
    throw PluginError(file + ": fingerprint key '" + key + "' is " + is + ", expected " + wanted +
                      " (" + remedy(key) + ")");
  };
  for (const auto& [key, value] : ours) {
    const auto entry = theirs.find(key);
    if (entry == theirs.end()) refuse(key, "missing", "'" + value + "'");
    if (entry->second != value) refuse(key, "'" + entry->second + "'", "'" + value + "'");
    theirs.erase(entry);
  }
  for (const auto& [key, value] : theirs) refuse(key, "'" + value + "'", "no such key");
}

void check_plugin_header(const std::string& file, const PluginHeader* header) {
  const auto refuse = [&](const std::string& what, const std::string& is,
                          const std::string& expected, const std::string& why) {
    throw PluginError(file + ": " + what + " is " + is + ", expected " + expected + " (" + why +
                      ")");
  };
  if (header == nullptr) {
    refuse("plugin header", "null", "a PluginHeader",
           "define the entry point with ESPALIER_PLUGIN");
  }
  if (header->struct_size != sizeof(PluginHeader)) {
    refuse("size of the plugin header", std::to_string(header->struct_size),
           std::to_string(sizeof(PluginHeader)), "rebuild the plugin against this Espalier");
  }
  if (header->api_version != plugin_api_version) {
    const bool older = header->api_version < plugin_api_version;
    refuse("plugin API version",
           std::to_string(header->api_version) + (older ? " (older)" : " (newer)"),
           std::to_string(plugin_api_version),
           older ? "rebuild the plugin against this Espalier"
                 : "update Espalier, or rebuild the plugin against this one");
  }
  if (header->fingerprint == nullptr) {
    refuse("fingerprint", "null", "key=value pairs", "use ESPALIER_PLUGIN");
  }
  check_fingerprint(file, header->fingerprint, ESPALIER_FINGERPRINT);
  for (const auto& [what, text] :
       {std::pair{"plugin name", header->name}, std::pair{"plugin version", header->version}}) {
    if (text == nullptr || *text == '\0') refuse(what, "empty", "a text", "use ESPALIER_PLUGIN");
  }
  if (header->register_entries == nullptr) {
    refuse("register function", "null", "a function", "define it with ESPALIER_PLUGIN");
  }
}

}  // namespace espalier::detail
