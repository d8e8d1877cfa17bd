#include "espalier/plugins/plugin_files.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/processor/instruction_set.hpp"

namespace espalier::detail {

namespace {

constexpr std::string_view ending = ".so";

/// A library's path without its instruction set and ending: "x" of "x.so" and of "x.v3.so".
std::string stem_of(const std::string& file) {
  return file.substr(0, file.size() - ending.size() - file_suffix(instruction_set_of(file)).size());
}

/// The path of a library's sibling for an instruction set.
std::string sibling(const std::string& stem, InstructionSet set) {
  const std::string_view suffix = file_suffix(set);
  std::string file;
  file.reserve(stem.size() + suffix.size() + ending.size());
  file += stem;
  file += suffix;
  file += ending;
  return file;
}

}  // namespace

FileIdentity::FileIdentity(std::string canonical) : path(std::move(canonical)) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  device = status.st_dev, inode = status.st_ino;
  size = status.st_size, time = status.st_mtime;
}

Files::Files(const std::string& folder, const std::string& path)
    : folder_(path + (path == "/" ? "" : "/")) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
  int error = open == nullptr ? errno : 0;
  struct stat status {};
  if (open != nullptr && ::fstat(::dirfd(open.get()), &status) == 0) device_ = status.st_dev;
  while (error == 0) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    error = errno;
    if (entry == nullptr) break;
    items_.push_back({entry->d_name, entry->d_type, entry->d_ino});
  }
  if (error != 0) {
    throw PluginError(folder + ": plugin folder is unreadable (" +
                      std::generic_category().message(error) +
                      "), expected a folder of shared libraries");
  }
  std::sort(items_.begin(), items_.end(),
            [](const Item& a, const Item& b) { return a.name < b.name; });
}

std::vector<std::string> Files::libraries() const {
  std::vector<std::string> names;
  for (const Item& item : items_) {
    if (item.name.size() > ending.size() && item.name.ends_with(ending)) names.push_back(item.name);
  }
  return names;
}

const Files::Item* Files::find(const std::string& path) const {
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  const auto it =
      std::lower_bound(items_.begin(), items_.end(), name,
                       [](const Item& item, std::string_view n) { return item.name < n; });
  return it != items_.end() && it->name == name ? &*it : nullptr;
}

bool Files::is_link(const std::string& name) const {
  const Item* item = find(name);
  return item == nullptr || (item->type != DT_REG && item->type != DT_DIR);
}

bool Files::is_regular(const std::string& path) const {
  if (!folder_.empty() && path.starts_with(folder_)) {
    const Item* item = find(path);
    if (item == nullptr || item->type == DT_REG) return item != nullptr;
  }
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

bool Files::exists(const std::string& path) const {
  if (!folder_.empty() && path.starts_with(folder_)) {
    const Item* item = find(path);
    if (item == nullptr || item->type == DT_REG) return item != nullptr;
  }
  std::error_code error;
  return std::filesystem::exists(path, error);
}

std::optional<FileIdentity> Files::identity(const std::string& path) const {
  if (!folder_.empty() && path.starts_with(folder_)) {
    const Item* item = find(path);
    if (item == nullptr) return std::nullopt;
    if (item->type == DT_REG) return FileIdentity(path, device_, item->inode);
  }
  if (!is_regular(path)) return std::nullopt;
  return FileIdentity(path);
}

std::string resolved_library(const std::string& file) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(file, error);
  if (!error) return path.string();
  throw PluginError(file + ": plugin file is " +
                    (error == std::errc::no_such_file_or_directory
                         ? "missing"
                         : "unreadable (" + error.message() + ")") +
                    ", expected a shared library");
}

std::string widest_sibling(const std::string& file, const Files& files) {
  const InstructionSet asked = instruction_set_of(file);
  if (asked != InstructionSet::baseline) {
    if (asked > processor_instruction_set()) {
      throw PluginError(
          file + ": instruction set is " + std::string(to_string(asked)) + ", expected at most " +
          std::string(to_string(processor_instruction_set())) + " (this processor has no more)");
    }
    return file;
  }
  if (!file.ends_with(ending)) return file;
  const InstructionSet usable = usable_instruction_set();
  for (const InstructionSet set : {InstructionSet::v4, InstructionSet::v3}) {
    if (set > usable) continue;
    std::string wide = sibling(stem_of(file), set);
    if (files.is_regular(wide)) return wide;
  }
  return file;
}

std::vector<FileIdentity> variants_of(FileIdentity file, const Files& files) {
  std::vector<FileIdentity> all{std::move(file)};
  const std::string path = all.front().path;
  if (!path.ends_with(ending)) return all;
  const std::string stem = stem_of(path);
  for (const InstructionSet set :
       {InstructionSet::baseline, InstructionSet::v3, InstructionSet::v4}) {
    const std::string other = sibling(stem, set);
    if (other == path) continue;
    if (std::optional<FileIdentity> there = files.identity(other)) all.push_back(*there);
  }
  return all;
}

bool stands_for_plugin(const std::string& file, const Files& files) {
  const InstructionSet set = instruction_set_of(file);
  if (!file.ends_with(ending) || set == InstructionSet::baseline) return file.ends_with(ending);
  const std::string stem = stem_of(file);
  if (files.exists(sibling(stem, InstructionSet::baseline))) return false;
  const InstructionSet usable = usable_instruction_set();
  InstructionSet widest = InstructionSet::baseline, narrowest = set;
  for (const InstructionSet other : {InstructionSet::v3, InstructionSet::v4}) {
    if (!files.exists(sibling(stem, other))) continue;
    narrowest = std::min(narrowest, other);
    if (other <= usable) widest = other;
  }
  if (widest == InstructionSet::baseline && narrowest == set) {
    throw PluginError(file + ": instruction set is " + std::string(to_string(set)) +
                      ", expected one for " + std::string(to_string(usable)) +
                      " (build with ESPALIER_ONE_VARIANT=OFF, or raise ESPALIER_INSTRUCTION_SET)");
  }
  return set == widest;
}

std::string plain_name(const std::string& file) {
  std::string name = file.substr(file.rfind('/') + 1);
  return instruction_set_of(name) == InstructionSet::baseline
             ? name
             : sibling(stem_of(name), InstructionSet::baseline);
}

}  // namespace espalier::detail
