#pragma once

namespace espalier::cli {

/// What write_shortest() may write to: more than the 24 characters of the longest number.
inline constexpr int longest_text = 40;

/// Writes the shortest text that reads back as the same number: that of std::to_chars, whose digits
/// take three times as long. Source of the digits: Jeon (2020), by the library dragonbox.
/// @param[out] to  longest_text characters; those beyond the text are not what they were
/// @return the end of the text
char* write_shortest(double x, char* to);

}  // namespace espalier::cli
