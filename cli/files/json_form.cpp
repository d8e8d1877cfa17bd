#include "cli/files/json_form.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

namespace espalier::cli {

namespace {

/// Larger files are none of ours; a device without an end would be read for ever.
constexpr std::size_t largest_file = std::size_t{256} << 20;

/// The line that a place of a text is on, ":7".
std::string line_at(const std::string& text, std::size_t at) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size()));
  return ":" + std::to_string(1 + std::count(text.begin(), end, '\n'));
}

bool starts_word(std::string_view text, std::string_view word) {
  return std::equal(
      word.begin(), word.end(), text.begin(),
      text.begin() + static_cast<std::ptrdiff_t>(std::min(word.size(), text.size())),
      [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

/// What is no JSON, with its line: NaN and infinity by name, others in the parser's words.
std::string complaint(const std::string& text, const nlohmann::json::exception& error) {
  std::string reason = error.what();  // begins with "[json.exception.<name>] "
  reason.erase(0, std::min(reason.size(), reason.find("] ") + 2));
  const std::string_view all = text;
  if (const auto* bad = dynamic_cast<const nlohmann::json::parse_error*>(&error)) {
    // The parser stops inside of the word, or at what follows a comma.
    const std::size_t at = std::min(text.size(), bad->byte > 0 ? bad->byte - 1 : 0);
    const std::size_t before = all.substr(0, at).find_last_of(" \t\r\n:,[{");
    const std::size_t word = before == std::string_view::npos ? 0 : before + 1;
    for (const char* name : {"nan", "inf", "-inf", "+inf"}) {
      if (!starts_word(all.substr(word), name)) continue;
      return line_at(text, word) + ": number is " +
             std::string(all.substr(word, all.find_first_of(" \t\r\n,]}", word) - word)) +
             ", expected a finite number";
    }
    const auto digit = [&](std::size_t i) {
      return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]));
    };
    const bool comma = word > 1 && text[word - 1] == ',' && digit(word - 2) && digit(word);
    return line_at(text, at) + ": " + reason + ", expected a JSON object" +
           (comma ? " (1.5 has a point, not a comma)" : "");
  }
  const std::size_t quote = reason.find('\''), end = reason.rfind('\'');
  if (quote != std::string::npos && end > quote) {  // number overflow parsing '1e400'
    const std::size_t at = all.find(reason.substr(quote + 1, end - quote - 1));
    if (at != std::string_view::npos) {
      return line_at(text, at) + ": " + reason + ", expected a number up to 1.8e308";
    }
  }
  return ": " + reason + ", expected a JSON object";
}

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
  const std::string text = file == "-" ? read_bounded(std::cin, label, what)
                                       : text_of(file, what + " file", "a JSON file");
  try {
    return Json::parse(text, refuse_twice);
  } catch (const nlohmann::json::exception& error) {
    throw usage_error(label + complaint(text, error));
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

const Json& JsonForm::member(const Json& object, const std::string& who, const char* key) const {
  if (object.contains(key)) return object[key];
  throw usage_error(file + ": '" + key + "' of " + who + " is missing, expected it");
}

double JsonForm::number(const Json& value, const std::string& what) const {
  if (!value.is_number()) refuse(what, value, "a number");
  return value.get<double>();
}

std::vector<double> JsonForm::list(const Json& value, const std::string& what) const {
  if (!value.is_array()) return {number(value, what)};
  std::vector<double> out;
  for (const Json& x : value) out.push_back(number(x, what));
  return out;
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
  throw UnknownName(file + ": joint '" + name + "' in '" + key + "' is unknown or does not move" +
                    suggest(name, known) +
                    (name == "root" ? " (the root is fixed: add --root floating)" : ""));
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
