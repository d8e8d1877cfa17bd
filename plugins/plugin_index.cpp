#include "espalier/plugins/plugin_index.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "espalier/plugins/loader.hpp"
#include "espalier/plugins/plugin.hpp"

namespace espalier::detail {

namespace {

constexpr std::string_view title = "espalier plugin index 2";
constexpr Kind kinds[] = {Kind::joint,         Kind::loop_joint, Kind::law,
                          Kind::sub_mechanism, Kind::format,     Kind::algorithm,
                          Kind::integrator,    Kind::qp_solver,  Kind::pack_code};

std::string index_of(const std::string& library) { return library + ".index"; }

/// What an index must say to be of this library and this program; empty if the file is missing.
/// Times in seconds, as archives keep them.
std::string heading(const std::string& library) {
  struct stat status {};
  if (::stat(library.c_str(), &status) != 0) return {};
  std::string text(title);
  text += "\nsize " + std::to_string(status.st_size);
  text += "\ntime " + std::to_string(status.st_mtime);
  text += "\napi " + std::to_string(plugin_api_version);
  text += "\nfingerprint " ESPALIER_FINGERPRINT "\n";
  return text;
}

/// A text that one line can hold between tabs.
bool plain(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

/// Takes what comes before the next `end` off the text; all of it where there is none.
std::string_view taken(std::string_view& text, char end) {
  const std::size_t length = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return part;
}

/// A small file's contents; empty if it is missing or unreadable. A program's start reads one for
/// each plugin: no streams.
std::string contents(const std::string& path) {
  std::string text;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return text;
  std::array<char, 4096> part;
  ssize_t got = 0;
  do {
    got = ::read(file, part.data(), part.size());
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
  } while (got == static_cast<ssize_t>(part.size()));  // less is the end of a regular file
  ::close(file);
  return text;
}

/// The endings of file names that a format answers for, with blanks between them.
std::string endings_of(const Registry& registry, const std::string& format) {
  std::string text;
  for (const std::string& ending : registry.find(Kind::format, format).format->extensions()) {
    text += (text.empty() ? "" : " ") + ending;
  }
  return text;
}

/// One line of an index. @return false if it is none
bool take_line(std::string_view line, PluginIndex& index) {
  const std::string_view word = taken(line, '\t'), first = taken(line, '\t'), second = line;
  if (second.empty() || second.find('\t') != std::string_view::npos) return false;
  if (word == "plugin") {
    index.name = first, index.version = second;
    return true;
  }
  const auto* const kind = std::find_if(std::begin(kinds), std::end(kinds),
                                        [&](Kind k) { return to_string(k) == word; });
  if (kind == std::end(kinds)) return false;
  index.names.push_back({*kind, std::string(first), std::string(second)});
  return true;
}

}  // namespace

std::optional<PluginIndex> read_plugin_index(const std::string& library) {
  const std::string text = contents(index_of(library));
  if (text.empty()) return std::nullopt;
  const std::string expected = heading(library);
  if (expected.empty() || !text.starts_with(expected)) return std::nullopt;
  PluginIndex index;
  std::string_view rest = std::string_view(text).substr(expected.size());
  bool ended = false;
  while (!rest.empty() && !ended) {
    const std::string_view line = taken(rest, '\n');
    ended = line == "end";
    if (!ended && !take_line(line, index)) return std::nullopt;
  }
  if (!ended || !rest.empty() || index.name.empty() || index.names.empty()) return std::nullopt;
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
    const std::string problem = n.kind == Kind::format ? endings_of(registry, n.name) : n.problem;
    possible = possible && plain(problem) && plain(n.name);
    file << to_string(n.kind) << '\t' << problem << '\t' << n.name << '\n';
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
