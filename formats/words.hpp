#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace espalier::formats {

using Words = std::vector<std::string_view>;

/// What an element of XML may hold. Words of a format that Espalier leaves alone are known, too.
struct Content {
  Words children, attributes;
};
/// By the element's name; where that means several things, by "parent/name".
using Grammar = std::map<std::string_view, Content>;

/// Words between spaces of a text that lasts as long as they do.
Words words_of(std::string_view text);

/// The known word that a name is meant to be; nothing where it is known, or like none of them. Of
/// words of three letters two neighbours may be swapped, of short words one letter may be wrong, of
/// long ones two.
std::optional<std::string_view> meant(std::string_view name, const Words& known);

}  // namespace espalier::formats
