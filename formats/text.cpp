#include "formats/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/utf8.hpp"

namespace espalier::formats {

namespace {

constexpr std::string_view white_space = " \t\r\n\f\v";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(white_space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string result(text.substr(0, longest));
  std::replace_if(result.begin(), result.end(), is_control, ' ');
  return "'" + result + (text.size() > longest ? "...'" : "'");
}

std::optional<double> parse_number(std::string_view text) {
  text = trimmed(text);
  // std::from_chars takes no '+'; a sign after it would be a second one.
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::vector<double>> parse_numbers(std::string_view text) {
  std::vector<double> numbers;
  numbers.reserve(3);  // most are vectors
  for (text = trimmed(text); !text.empty();) {
    const auto end = std::min(text.find_first_of(white_space), text.size());
    const auto number = parse_number(text.substr(0, end));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    text = trimmed(text.substr(end));
  }
  return numbers;
}

std::string advice_on_number(std::string_view text) {
  for (const char* macro : {"${", "$("}) {
    if (text.find(macro) != std::string_view::npos) return " (this is xacro: run xacro first)";
  }
  std::string with_points(text);
  std::replace(with_points.begin(), with_points.end(), ',', '.');
  if (with_points != text && parse_number(with_points)) return " (1.5 has a point, not a comma)";
  std::replace(with_points.begin(), with_points.end(), '.', ' ');
  const bool list = text.find(',') != std::string_view::npos && parse_numbers(with_points);
  return list ? " (white space stands between numbers, and a point in 1.5)" : "";
}

namespace {

/// What an XML tag is called; `text` begins behind '<' or '</'.
std::string_view tag_name(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t\r\n\f\v/>"));
}

/// Where the tag at `from` ends, '>' in quotes apart.
std::size_t end_of_tag(std::string_view text, std::size_t from) {
  char quote = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (quote != 0) {
      if (text[i] == quote) quote = 0;
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == '>') {
      return i;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string open_element(std::string_view text) {
  std::vector<std::pair<std::string_view, std::size_t>> open;  // name and where it begins
  const auto skip = [&](std::size_t at, std::string_view end) {
    const std::size_t found = text.find(end, at);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  for (std::size_t at = text.find('<'); at < text.size(); at = text.find('<', at)) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("<!--")) {
      at = skip(at, "-->");
    } else if (rest.starts_with("<![CDATA[")) {
      at = skip(at, "]]>");
    } else if (rest.starts_with("<?") || rest.starts_with("<!")) {
      at = skip(at, ">");
    } else if (rest.starts_with("</")) {
      if (open.empty() || open.back().first != tag_name(rest.substr(2))) break;
      open.pop_back();
      at = skip(at, ">");
    } else {
      const std::size_t end = end_of_tag(text, at);
      if (end == std::string_view::npos) {
        open.emplace_back(tag_name(rest.substr(1)), at);
        break;
      }
      if (text[end - 1] != '/') open.emplace_back(tag_name(rest.substr(1)), at);
      at = end + 1;
    }
  }
  if (open.empty() || open.back().first.empty()) return "";
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<long>(open.back().second), '\n');
  const std::string quoted = in_quotes(open.back().first);
  return " (<" + quoted.substr(1, quoted.size() - 2) + "> of line " + std::to_string(line) +
         " is open)";
}

std::optional<bool> parse_bool(std::string_view text) {
  text = trimmed(text);
  for (const std::string_view yes : {"true", "True", "TRUE", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "False", "FALSE", "0"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

std::string number_text(double value, const std::string& who) {
  if (!std::isfinite(value)) {
    throw Unsupported(who +
                      ": number is not finite, expected finite numbers (files hold no other)");
  }
  std::array<char, 32> buffer;  // the longest double has 24 characters
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

bool is_name(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), is_control);
}

void require_writable_name(std::string_view name, const std::string& who) {
  if (!text::is_utf8(name)) {
    throw Unsupported(text::shown(who) + ": name is " + in_quotes(text::shown(name)) +
                      ", which is not UTF-8, expected UTF-8");
  }
  if (is_name(name)) return;
  throw Unsupported(who + ": name is " + in_quotes(name) +
                    ", expected one or more characters without control characters");
}

void require_readable(std::string_view text, const std::string& format, const std::string& origin) {
  if (text.size() > max_file_size) {
    throw InvalidModel(format + ": size of file (" + origin + ") is " +
                       std::to_string(text.size()) + " bytes, expected at most " +
                       std::to_string(max_file_size));
  }
  const auto zero = text.find('\0');
  if (zero != std::string_view::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(zero), '\n');
    throw InvalidModel(format + ": file (" + origin + ":" + std::to_string(line) +
                       ") holds a zero byte, expected text in UTF-8");
  }
}

}  // namespace espalier::formats
