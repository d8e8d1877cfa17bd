#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Numbers and names as the formats read and write them, independent of any locale.

namespace espalier::formats {

/// Largest file that is read [bytes]: far above any robot, far below what hurts the host.
inline constexpr std::size_t max_file_size = 64u << 20;

/// 'text' for a message: control characters replaced, cut where it is long.
std::string in_quotes(std::string_view text);

/// One finite decimal number: white space around it, a leading '+' and an exponent are accepted;
/// hexadecimal, inf and nan are not.
std::optional<double> parse_number(std::string_view text);
/// Numbers separated by white space.
std::optional<std::vector<double>> parse_numbers(std::string_view text);
/// "true" and "false", also as True and TRUE, 1 and 0.
std::optional<bool> parse_bool(std::string_view text);

/// What to do about a text that is no number, for the end of a message: a decimal comma, a macro of
/// xacro; empty where nothing is to be said.
std::string advice_on_number(std::string_view text);

/// The shortest decimal text that reads back to the same number.
/// @throws Unsupported if it is not finite; `who` is what it belongs to
std::string number_text(double value, const std::string& who);

/// Whether a text can name something: not empty, no control characters (they would break messages,
/// scripts and the formats' own escaping).
bool is_name(std::string_view text);
/// @throws Unsupported if `name` is no name; `who` is what is written
void require_writable_name(std::string_view name, const std::string& who);

/// The element of an XML text that is open where a parser stops, " (<link> of line 2 is open)", or
/// whose end is missing at the text's end; empty where all are closed.
std::string open_element(std::string_view text);

/// @throws InvalidModel if the file is larger than max_file_size or holds a zero byte
void require_readable(std::string_view text, const std::string& format, const std::string& origin);

}  // namespace espalier::formats
