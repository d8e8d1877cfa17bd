#include "formats/yaml/yaml_definitions.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/mesh_files.hpp"
#include "espalier/plugins/registry.hpp"
#include "formats/text.hpp"
#include "formats/yaml/yaml_compose.hpp"

namespace espalier::formats {

namespace {

std::string canonical_text(const std::filesystem::path& path) {
  std::error_code error;
  const auto result = std::filesystem::weakly_canonical(path, error);
  return error ? path.string() : result.string();
}

/// Whether a text holds the key `espalier: 1`. Errors show what stands in a file; of one that is
/// not ours, whatever a robot file names, they must not.
bool says_what_it_is(std::string_view text) {
  constexpr std::string_view key = "espalier";
  const auto skip = [&](std::size_t at, std::string_view some) {
    at = text.find_first_not_of(some, at);
    return std::min(at, text.size());
  };
  for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    std::size_t next = skip(at + key.size(), "\"' \t");
    if (next == text.size() || text[next] != ':') continue;
    next = skip(next + 1, " \t\r\n");
    if (text.substr(next, 1) != "1") continue;
    const std::size_t after = next + 1;
    if (after == text.size() || std::string_view(" \t\r\n.,}#").find(text[after]) != text.npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

Definition Definitions::load(std::string_view text, const std::string& origin) {
  current_ = {canonical_text(origin)};
  Definition robot;
  robot.value = load_file(text, origin, false);
  robot.file = &files_.front();
  return robot;
}

SubsystemType Definitions::find(const std::string& type, const Fields& use) const {
  const auto found = definitions_.find(type);
  if (found != definitions_.end()) return {&found->second, nullptr};
  if (const SubMechanism* registered = registered_.find_sub_mechanism(type)) {
    return {nullptr, registered};
  }
  std::vector<std::string> known = registered_.sub_mechanism_names();
  for (const auto& [name, definition] : definitions_) known.push_back(name);
  use.fail(use.where("type").line,
           "type " + in_quotes(type) + " is unknown" + suggest(type, known));
}

YamlPtr Definitions::load_file(std::string_view text, const std::string& path, bool library) {
  const std::string& file = files_.emplace_back(path);
  YamlPtr root = parse_yaml(text, file);
  const Fields fields({file, no_parameters_}, "yaml", *root,
                      library ? library_keys() : robot_keys());
  if (fields.number("espalier") != 1.0) {
    fields.fail(fields.where("espalier").line,
                "key 'espalier' is another version of the format, expected 1");
  }
  for (const YamlPtr& item : fields.items("include")) {
    include(fields.text_of(*item, "item of 'include' is "), fields, item->line);
  }
  for (const YamlEntry& entry : fields.entries("definitions")) {
    define(entry, file);
  }
  return root;
}

void Definitions::define(const YamlEntry& entry, const std::string& file) {
  const std::string who = "definition " + in_quotes(entry.key);
  const std::string here = SourceLocation{file, entry.line}.text();
  if (entry.value->kind == YamlValue::Kind::null) {
    throw InvalidModel(who + " (" + here +
                       "): content is empty, expected a mapping with at least a link");
  }
  // Checks the keys, so that definitions that are not used are checked, too.
  const Fields body({file, no_parameters_}, who, *entry.value, definition_keys());
  if (registered_.find_sub_mechanism(entry.key) != nullptr) {
    throw DuplicateName(who + " (" + here +
                        "): name is that of a registered sub-mechanism, expected another one "
                        "(`espalier list sub-mechanisms` shows those that are taken)");
  }
  const auto [known, is_new] =
      definitions_.emplace(entry.key, Definition{entry.key, &file, entry.value});
  if (!is_new) {
    throw DuplicateName(
        who + " (" + here + "): name is taken, expected another one (it is defined at " +
        SourceLocation{*known->second.file, known->second.value->line}.text() + " already)");
  }
}

std::filesystem::path Definitions::find_file(const std::string& name, const Fields& from,
                                             int line) const {
  namespace fs = std::filesystem;
  // What a robot's file may open lies in its folder, or where the caller says.
  std::vector<fs::path> allowed{fs::path(files_.front()).parent_path()};
  std::vector<fs::path> places{fs::path(from.context().file).parent_path()};
  for (const std::string& folder : options_.search_paths) {
    allowed.emplace_back(folder), places.emplace_back(folder);
  }
  bool led_outside = false;
  for (const fs::path& place : places) {
    const fs::path path = place / name;  // an absolute name stays what it is
    const bool inside = options_.outside ||
                        std::any_of(allowed.begin(), allowed.end(),
                                    [&](const fs::path& folder) { return lies_in(path, folder); });
    std::error_code error;
    if (inside && fs::exists(path, error)) return path;
    led_outside = led_outside || !inside;
  }
  if (led_outside) {
    from.fail(line, "file is " + in_quotes(name) +
                        ", expected one inside the folder of the robot's file or a search path "
                        "(--search names one, --outside allows all)");
  }
  return places.front() / name;  // whose absence is the error
}

void Definitions::include(const std::string& name, const Fields& from, int line) {
  const std::filesystem::path path = find_file(name, from, line);
  const std::string identity = canonical_text(path);
  if (std::find(current_.begin(), current_.end(), identity) != current_.end()) {
    from.fail(line, "file " + in_quotes(name) +
                        " is being read already, expected includes without a circle");
  }
  if (!done_.insert(identity).second) return;  // by another way, which is no error

  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);
  const auto size = regular ? std::filesystem::file_size(path, error) : 0;
  std::ifstream stream;
  if (regular && !error && size <= max_yaml_size) stream.open(path, std::ios::binary);
  if (!stream.is_open()) {
    from.fail(line, "file " + in_quotes(name) + " cannot be read, expected a file of at most " +
                        std::to_string(max_yaml_size) + " bytes at " + in_quotes(path.string()) +
                        " (paths are relative to the file that includes them)");
  }
  std::ostringstream text;
  text << stream.rdbuf();
  if (!says_what_it_is(text.view())) {
    from.fail(line, "file " + in_quotes(name) +
                        " is no Espalier YAML, expected one with the key 'espalier: 1'");
  }
  current_.push_back(identity);
  load_file(text.str(), path.string(), true);
  current_.pop_back();
}

}  // namespace espalier::formats
