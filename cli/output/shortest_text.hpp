#pragma once

#include <span>

namespace espalier::cli {

/// What a number and the comma behind it may write to: more than the 24 characters of the longest
/// number.
inline constexpr int longest_text = 40;

/// Writes the shortest text that reads back as the same number: that of std::to_chars, which takes
/// four times as long.
/// @param[out] to  longest_text characters; those beyond the text are not what they were
/// @return the end of the text
char* write_shortest(double x, char* to);

/// Writes numbers so, commas between them and an end of line behind them.
/// @param row      at least one number
/// @param[out] to  longest_text characters for each; those beyond the text are not what they were
/// @return the end of the text
char* write_row(std::span<const double> row, char* to);

}  // namespace espalier::cli
