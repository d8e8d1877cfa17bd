#include "espalier/plugins/plugin_index.hpp"

#include <sys/stat.h>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "espalier/plugins/loader.hpp"
#include "espalier/plugins/plugin.hpp"

namespace espalier::detail {

namespace {

constexpr std::string_view title = "espalier plugin index 1";
constexpr Kind kinds[] = {Kind::joint,         Kind::loop_joint, Kind::law,
                          Kind::sub_mechanism, Kind::format,     Kind::algorithm,
                          Kind::integrator,    Kind::qp_solver,  Kind::pack_code};

std::string index_of(const std::string& library) { return library + ".index"; }

/// What an index must say to be of this library and this program; empty if the file is missing.
/// Times in seconds, as archives keep them.
std::string heading(const std::string& library) {
  struct stat status {};
  if (::stat(library.c_str(), &status) != 0) return {};
  std::ostringstream text;
  text << title << "\nsize " << status.st_size << "\ntime " << status.st_mtime << "\napi "
       << plugin_api_version << "\nfingerprint " << ESPALIER_FINGERPRINT << '\n';
  return text.str();
}

/// A text that one line can hold between tabs.
bool plain(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

/// "a<tab>b<tab>c".
std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == '\t') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

}  // namespace

std::optional<PluginIndex> read_plugin_index(const std::string& library) {
  std::ifstream file(index_of(library), std::ios::binary);
  if (!file) return std::nullopt;
  const std::string expected = heading(library);
  std::string found(expected.size(), '\0');
  file.read(found.data(), static_cast<std::streamsize>(found.size()));
  if (!file || found != expected || expected.empty()) return std::nullopt;
  PluginIndex index;
  std::string line;
  bool ended = false;
  while (std::getline(file, line)) {
    const std::vector<std::string> part = fields(line);
    if (part[0] == "plugin" && part.size() == 3) {
      index.name = part[1], index.version = part[2];
    } else if (part[0] == "end") {
      ended = true;
    } else {
      const auto* const kind = std::find_if(std::begin(kinds), std::end(kinds),
                                            [&](Kind k) { return to_string(k) == part[0]; });
      if (kind == std::end(kinds) || part.size() != 3) return std::nullopt;
      index.names.push_back({*kind, part[1], part[2]});
    }
  }
  if (!ended || index.name.empty() || index.names.empty()) return std::nullopt;
  return index;
}

bool write_plugin_index(const std::string& library) {
  const std::string path = index_of(library), half = path + ".half";
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  Registry registry;
  const std::vector<Registry::Name> before = registry.names();  // built in
  Loader loader(registry);
  try {
    loader.load(library);
  } catch (const Error&) {
    return false;  // without an index it is opened at a program's start, which says why
  }
  const LoadedPlugin plugin = loader.loaded().back();
  bool possible = plain(plugin.name) && plain(plugin.version);
  std::ofstream file(half, std::ios::binary);
  file << heading(plugin.file) << "plugin\t" << plugin.name << '\t' << plugin.version << '\n';
  for (const Registry::Name& n : registry.names()) {
    if (std::find(before.begin(), before.end(), n) != before.end()) continue;
    possible = possible && plain(n.problem) && plain(n.name);
    file << to_string(n.kind) << '\t' << n.problem << '\t' << n.name << '\n';
  }
  file << "end\n";
  file.close();
  // Of a sibling for wider registers nothing is said here.
  possible = possible && file && std::filesystem::equivalent(plugin.file, library, ignored);
  if (possible) std::filesystem::rename(half, path, ignored);
  std::filesystem::remove(half, ignored);
  return possible && !ignored;
}

}  // namespace espalier::detail
