#include "registry_words.hpp"

#include <cctype>
#include <mutex>
#include <set>

#include "espalier/kernel/text.hpp"
#include "espalier/plugins/log.hpp"

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

void warn_of_two_formats(const Entry& taken, const Entry& other, const std::string& ending) {
  const std::string warning = "format of file name ending " + text::quoted(ending) + " is " +
                              text::quoted(taken.about.name) + " of " + taken.origin + " and " +
                              text::quoted(other.about.name) + " of " + other.origin +
                              ", expected one (the first is taken; leave out a plugin, or give a "
                              "format an ending of its own)";
  static std::mutex mutex;
  static std::set<std::string> told;
  {
    const std::lock_guard lock(mutex);
    if (!told.insert(warning).second) return;
  }
  log_warning(warning);
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
