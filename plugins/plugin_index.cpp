#include "espalier/plugins/plugin_index.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
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

constexpr std::string_view folder_title = "espalier plugin indices 1";
constexpr std::string_view folder_file = "plugins.index";

/// What an index must say to be of this library. Times in seconds, as archives keep them.
std::string of_library(const FileIdentity& library) {
  std::string text = "size " + std::to_string(library.size);
  text += "\ntime " + std::to_string(library.time) + '\n';
  return text;
}
/// What it must say to be for this program.
std::string for_program() {
  return "api " + std::to_string(plugin_api_version) + "\nfingerprint " ESPALIER_FINGERPRINT "\n";
}
std::string heading(const FileIdentity& library) {
  return std::string(title) + '\n' + of_library(library) + for_program();
}
/// Of the file for a whole folder.
std::string folder_heading() { return std::string(folder_title) + '\n' + for_program(); }

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

/// A small file's contents; empty if it is missing or unreadable. A program's start reads some: no
/// streams.
std::string contents(const std::string& path) {
  constexpr off_t largest = 1 << 20;  // an index is a thousandth
  std::string text;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return text;
  struct stat status {};
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= largest) {
    text.resize(static_cast<std::size_t>(status.st_size));
    const ssize_t got = ::read(file, text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
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

/// Text that begins with what is expected, without that; nothing where it does not.
std::optional<std::string_view> behind(std::string_view expected, std::string_view text) {
  if (!text.starts_with(expected)) return std::nullopt;
  return text.substr(expected.size());
}

/// What follows the heading of an index.
std::optional<PluginIndex> parsed(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  PluginIndex index;
  std::string_view rest = *text;
  index.names.reserve(static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '\n')));
  bool ended = false;
  while (!rest.empty() && !ended) {
    const std::string_view line = taken(rest, '\n');
    ended = line == "end";
    if (!ended && !take_line(line, index)) return std::nullopt;
  }
  if (!ended || !rest.empty() || index.name.empty() || index.names.empty()) return std::nullopt;
  return index;
}

/// Holds a folder for one writer at a time: a build links several plugins at once.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY)) {
    if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

std::optional<PluginIndex> read_plugin_index(const std::string& library) {
  return read_plugin_index(FileIdentity(library));
}

std::optional<PluginIndex> read_plugin_index(const FileIdentity& library) {
  if (library.inode == 0) return std::nullopt;
  const std::string text = contents(index_of(library.path));
  return text.empty() ? std::nullopt : parsed(behind(heading(library), text));
}

FolderIndex::FolderIndex(const std::string& folder) {
  std::string text = contents(folder + '/' + std::string(folder_file));
  text_ = std::make_unique<const std::string>(std::move(text));
  std::string_view rest = behind(folder_heading(), *text_).value_or("");
  while (!rest.empty()) {  // "library", its file name, the length of what follows
    std::string_view line = taken(rest, '\n');
    const std::string_view word = taken(line, '\t'), name = taken(line, '\t');
    std::size_t length = 0;
    std::from_chars(line.data(), line.data() + line.size(), length);
    if (word != "library" || length > rest.size()) return;
    parts_.emplace_back(name, rest.substr(0, length));
    rest.remove_prefix(length);
  }
}

std::optional<PluginIndex> FolderIndex::of(std::string_view name,
                                           const FileIdentity& library) const {
  const auto it =
      std::lower_bound(parts_.begin(), parts_.end(), name,
                       [](const auto& part, std::string_view n) { return part.first < n; });
  if (it == parts_.end() || it->first != name || library.inode == 0) return std::nullopt;
  return parsed(behind(of_library(library), it->second));
}

void write_folder_index(const std::string& folder) {
  namespace fs = std::filesystem;
  const FolderLock lock(folder);
  std::error_code ignored;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".so") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const fs::path path = fs::path(folder) / folder_file, half = path.string() + ".half";
  std::ofstream file(half, std::ios::binary);
  file << folder_heading();
  for (const std::string& name : names) {
    const FileIdentity library((fs::path(folder) / name).string());
    const std::string text = contents(index_of(library.path));
    const std::optional<std::string_view> names_of = behind(heading(library), text);
    if (!names_of || !plain(name)) continue;
    const std::string part = of_library(library) + std::string(*names_of);
    file << "library\t" << name << '\t' << part.size() << '\n' << part;
  }
  file.close();
  if (file) fs::rename(half, path, ignored);
  fs::remove(half, ignored);
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
  file << heading(FileIdentity(plugin.file)) << "plugin\t" << plugin.name << '\t' << plugin.version
       << '\n';
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
