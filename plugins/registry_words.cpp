#include "registry_words.hpp"

#include <cctype>

#include "espalier/kernel/text.hpp"

namespace espalier {

namespace detail {

std::string joined(const std::vector<std::string>& names, std::string_view separator) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += separator;
    text += name;
  }
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string title(const Entry& e) {
  std::string words = std::string(to_string(e.kind)) + " " + text::quoted(e.about.name);
  if (e.kind == Kind::algorithm) words += " for " + e.problem;
  return words;
}

}  // namespace detail

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::joint:
      return "joint";
    case Kind::loop_joint:
      return "loop joint";
    case Kind::law:
      return "law";
    case Kind::sub_mechanism:
      return "sub-mechanism";
    case Kind::format:
      return "format";
    case Kind::algorithm:
      return "algorithm";
    case Kind::integrator:
      return "integrator";
    case Kind::qp_solver:
      return "QP solver";
    case Kind::pack_code:
      return "pack code";
  }
  return "unknown kind";
}

}  // namespace espalier
