#include "espalier/kernel/suggest.hpp"

#include <algorithm>
#include <cctype>

#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {

std::string in_small_letters(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// In small letters, without what stands between words: "C-ABA" and "c_aba" are "caba".
std::string letters_of(std::string_view text) {
  std::string result = in_small_letters(text);
  std::erase_if(result, [](char c) { return c == '-' || c == '_' || c == ' '; });
  return result;
}

/// Number of insertions, deletions and replacements that turn a into b (Levenshtein distance).
std::size_t letters_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// The known name that is meant, or null.
const std::string* nearest_of(std::string_view name, const std::vector<std::string>& known) {
  const std::string wanted = in_small_letters(name), letters = letters_of(name);
  // A third of the letters may be wrong, but never all of them.
  std::size_t best = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  best = std::min(best, std::max<std::size_t>(wanted.size(), 1));
  const std::string* nearest = nullptr;
  for (const std::string& candidate : known) {
    if (!letters.empty() && letters_of(candidate) == letters) return &candidate;
    const std::size_t distance = letters_between(wanted, in_small_letters(candidate));
    if (distance < best) best = distance, nearest = &candidate;
  }
  if (nearest != nullptr) return nearest;
  const auto begins = [&](const std::string& candidate) {
    return wanted.size() > 2 && in_small_letters(candidate).starts_with(wanted);
  };
  if (std::count_if(known.begin(), known.end(), begins) != 1) return nullptr;
  return &*std::find_if(known.begin(), known.end(), begins);
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string* nearest = nearest_of(name, known);
  return nearest == nullptr ? "" : " (did you mean " + text::quoted(*nearest) + "?)";
}

std::string suggest(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return ", expected none (none is known)";
  std::string text = known.size() > 1 ? ", expected one of " : ", expected ";
  for (std::size_t i = 0; i < known.size(); ++i) text += (i == 0 ? "" : ", ") + known[i];
  return text + did_you_mean(name, known);
}

}  // namespace espalier
