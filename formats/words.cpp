#include "formats/words.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace espalier::formats {

namespace {

/// Letters that are missing, too many, other ones or swapped with their neighbours; case counts
/// nothing.
std::size_t mistakes(std::string_view a, std::string_view b) {
  const auto letter = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const bool same = letter(a[i - 1]) == letter(b[j - 1]);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && letter(a[i - 1]) == letter(b[j - 2]) &&
          letter(a[i - 2]) == letter(b[j - 1])) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

Words words_of(std::string_view text) {
  Words all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::optional<std::string_view> meant(std::string_view name, const Words& known) {
  constexpr std::size_t longest = 40;  // words of no file are longer, and the table is quadratic
  if (name.size() > longest || name.find(':') != std::string_view::npos) return std::nullopt;
  if (std::find(known.begin(), known.end(), name) != known.end()) return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t least = 3;
  for (const std::string_view word : known) {
    const std::size_t wrong = mistakes(name, word);
    const bool swapped =
        word.size() == 3 && std::is_permutation(name.begin(), name.end(), word.begin(), word.end());
    const std::size_t allowed = word.size() < 4 ? (swapped ? 1 : 0) : word.size() < 7 ? 1 : 2;
    if (wrong <= allowed && wrong < least) least = wrong, nearest = word;
  }
  return nearest;
}

}  // namespace espalier::formats
