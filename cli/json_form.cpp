#include "cli/json_form.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

namespace espalier::cli {

namespace {

/// Larger files are none of ours; a device without an end would be read for ever.
constexpr std::size_t largest_file = std::size_t{256} << 20;

/// All that a stream holds. @throws Failure where it does not end
std::string read_bounded(std::istream& stream, const std::string& file, const std::string& what) {
  std::string text;
  char part[1 << 16];
  while (stream.read(part, sizeof part), stream.gcount() > 0) {
    text.append(part, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > largest_file) {
      throw usage_error(file + ": " + what + " is larger than " + std::to_string(largest_file) +
                        " bytes, expected at most so many (256 MB)");
    }
  }
  return text;
}

}  // namespace

std::string text_of(const std::string& file, const std::string& what, const std::string& expected) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code error;
  if (!stream || std::filesystem::is_directory(file, error)) {
    throw usage_error(file + ": " + what + " is missing or unreadable, expected " + expected);
  }
  input_files().add(file);
  std::string text = read_bounded(stream, file, what);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // the mark that Windows puts first
  return text;
}

Json parse_json(const std::string& file, const std::string& what) {
  const std::string label = file == "-" ? what + " on standard input" : file;
  std::vector<std::set<std::string>> open;  // keys of the objects around the cursor
  const auto refuse_twice = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second) {
      throw usage_error(label + ": key '" + value.get<std::string>() +
                        "' is given twice, expected once");
    }
    return true;
  };
  try {
    return Json::parse(file == "-" ? read_bounded(std::cin, label, what)
                                   : text_of(file, what + " file", "a JSON file"),
                       refuse_twice);
  } catch (const nlohmann::json::exception& error) {
    const std::string text = error.what();  // begins with "[json.exception.<name>] "
    throw usage_error(label + ": " + text.substr(std::min(text.size(), text.find("] ") + 2)) +
                      ", expected a JSON object");
  }
}

void JsonForm::refuse(const std::string& what, const Json& got, const std::string& expected) const {
  throw usage_error(file + ": " + what + " is of type " + got.type_name() + ", expected " +
                    expected);
}

const Json& JsonForm::object(const Json& value, const std::string& what) const {
  if (!value.is_object()) refuse(what, value, "an object {name: ...}");
  return value;
}

void JsonForm::expect_keys(const Json& object, const std::string& of,
                           const std::vector<std::string>& known) const {
  for (const auto& item : object.items()) {
    if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
    throw UnknownName(file + ": key '" + item.key() + "'" + of + " is unknown" +
                      suggest(item.key(), known));
  }
}

void JsonForm::numbers(const Json& value, const std::string& what, int size, double* out) const {
  const bool single = !value.is_array();
  const int got = single ? 1 : static_cast<int>(value.size());
  for (int k = 0; k < got; ++k) {
    const Json& x = single ? value : value[k];
    if (!x.is_number()) {
      refuse(what, x, size == 1 ? "a number" : std::to_string(size) + " numbers");
    }
    if (k < size) out[k] = x.get<double>();
  }
  if (got == size) return;
  throw SizeMismatch(file + ": size of " + what + " is " + std::to_string(got) + ", expected " +
                     std::to_string(size));
}

const Joint& JsonForm::joint(const Model& model, const std::string& key,
                             const std::string& name) const {
  if (const Joint* j = model.find_joint(name)) return *j;
  std::vector<std::string> known;
  for (const Joint& j : model.joints()) known.push_back(j.name);
  throw UnknownName(file + ": joint '" + name + "' in '" + key +
                    "' is unknown or does not move" + suggest(name, known));
}

const Link& JsonForm::link(const Model& model, const std::string& key,
                           const std::string& name) const {
  if (const Link* link = model.find_link(name)) return *link;
  std::vector<std::string> known;
  for (const Link& l : model.links()) known.push_back(l.name);
  throw UnknownName(file + ": link '" + name + "' in '" + key + "' is unknown" +
                    suggest(name, known));
}

}  // namespace espalier::cli
