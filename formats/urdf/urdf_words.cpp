#include "formats/urdf/urdf_words.hpp"

#include <algorithm>
#include <iterator>

#include "formats/text.hpp"
#include "formats/words.hpp"

namespace espalier::urdf {

using formats::in_quotes;

namespace {

/// What an element may hold, with blanks between the words; words of URDF that Espalier leaves
/// alone are known, too. A table of texts: one of objects would be made at every start that reads a
/// file.
struct Content {
  std::string_view element;  ///< its name; where that means several things, "parent/name"
  std::string_view children, attributes;
};
constexpr Content grammar[] = {
    {"actuator", "joint", "name lower upper"},
    {"actuator/joint", "", "name gear"},
    {"axis", "", "xyz"},
    {"box", "", "size"},
    {"capsule", "", "radius length"},
    {"child", "", "link"},
    {"child_axis", "", "xyz"},
    {"child_origin", "", "xyz rpy quat_xyzw"},
    {"collision", "origin geometry material espalier verbose", "name"},
    {"collision/espalier", "", "friction torsional_friction rolling_friction"},
    {"color", "", "rgba"},
    {"constraint", "parent child parent_origin child_origin parent_axis child_axis", "name type"},
    {"contact_pair", "", "first second"},
    {"coupling", "predecessor successor ratio", "name"},
    {"cylinder", "", "radius length"},
    {"dynamics", "", "damping friction"},
    {"ellipsoid", "", "radii"},
    {"excluded_contact", "", "first second"},
    {"frame", "origin", "name"},
    {"geometry", "box sphere cylinder capsule mesh ellipsoid plane height_field", ""},
    {"inertia", "", "ixx ixy ixz iyy iyz izz"},
    {"inertial", "origin mass inertia", ""},
    {"joint",
     "parent child origin axis limit dynamics mimic calibration "
     "safety_controller espalier hardwareInterface",
     "name type independent"},
    {"joint/espalier", "parameter", "armature stiffness rest lower upper"},
    {"law", "joint parameter", "name type"},
    {"law/joint", "", "name"},
    {"limit", "", "lower upper effort velocity acceleration deceleration jerk"},
    {"link", "inertial visual collision espalier", "name type"},
    {"link/espalier", "frame visual collision", ""},
    {"loop", "predecessor successor axis espalier", "name type"},
    {"loop/espalier", "parameter", ""},
    {"mass", "", "value"},
    {"material", "color texture", "name"},
    {"mesh", "", "filename scale"},
    {"mimic", "", "joint multiplier offset"},
    {"origin", "", "xyz rpy quat_xyzw"},
    {"parameter", "", "name value"},
    {"parent", "", "link"},
    {"parent_axis", "", "xyz"},
    {"parent_origin", "", "xyz rpy quat_xyzw"},
    {"predecessor", "origin", "link"},
    {"ratio", "", "value"},
    {"robot",
     "link joint loop constraint coupling law espalier material transmission "
     "gazebo sensor group",
     "name version"},
    {"robot/espalier", "state actuator excluded_contact contact_pair", "gravity root"},
    {"sphere", "", "radius"},
    {"state", "joint", "name"},
    {"state/joint", "", "name position velocity"},
    {"successor", "origin", "link"},
    {"visual", "origin geometry material espalier verbose", "name"},
    {"visual/espalier", "", "friction torsional_friction rolling_friction"}};
constexpr auto by_element = [](const Content& a, const Content& b) {
  return a.element < b.element;
};
static_assert(std::is_sorted(std::begin(grammar), std::end(grammar), by_element));

/// Words that the elements around them give a meaning.
constexpr bool is_ambiguous(std::string_view word) { return word == "joint" || word == "espalier"; }
static_assert(std::all_of(std::begin(grammar), std::end(grammar), [](const Content& c) {
  const std::size_t slash = c.element.find('/');
  return slash == std::string_view::npos || is_ambiguous(c.element.substr(slash + 1));
}));

const Content* find(std::string_view element) {
  const auto* const it = std::lower_bound(std::begin(grammar), std::end(grammar),
                                          Content{element, "", ""}, by_element);
  return it != std::end(grammar) && it->element == element ? it : nullptr;
}

/// The word among those of a text that is equal to another one; empty if none is.
std::string_view same_word(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(' '), text.size());
    if (text.substr(0, length) == word) return text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return {};
}

/// The word of a text that an unknown one is meant to be.
std::optional<std::string_view> meant_of(std::string_view text, std::string_view name) {
  if (!same_word(text, name).empty()) return std::nullopt;
  return formats::meant(name, formats::words_of(text));
}

class Search {
 public:
  Search(const Elements& in, std::vector<Finding>& findings) : in_(in), findings_(findings) {}

  /// @param word   the element's name without prefix
  /// @param above  that of the element around it
  /// @param who    part of the robot in which it stands
  void look(const XMLElement& e, std::string_view word, std::string_view above,
            const std::string& who) {
    const Content* content = content_of(word, above);
    if (content == nullptr) return;
    for (const auto* a = e.FirstAttribute(); a; a = a->Next()) {
      const auto wanted = meant_of(content->attributes, a->Name());
      if (wanted) {
        tell(who, e, "attribute " + in_quotes(a->Name()) + " of <" + std::string(word) + ">",
             in_quotes(*wanted));
      }
    }
    for (const XMLElement* c = e.FirstChildElement(); c; c = c->NextSiblingElement()) {
      const std::string_view child = same_word(content->children, in_.local_name(*c));
      if (!child.empty()) {
        const char* name = word == "robot" ? c->Attribute("name") : nullptr;
        const std::string part =
            word != "robot" ? who
                            : std::string(child) + (name ? " " + in_quotes(name) : std::string());
        look(*c, child, word, part);
      } else if (const auto wanted = meant_of(content->children, c->Name())) {
        tell(who, *c, "element <" + std::string(c->Name()) + ">", "<" + std::string(*wanted) + ">");
      }
    }
  }

 private:
  /// What an element may hold, or null. Two words mean several things: a key with the element above
  /// for each was a fifth of reading a file.
  static const Content* content_of(std::string_view word, std::string_view above) {
    if (is_ambiguous(word)) {
      const std::string key = std::string(above) + "/" + std::string(word);
      if (const Content* content = find(key)) return content;
    }
    return find(word);
  }
  void tell(const std::string& who, const XMLElement& e, const std::string& what,
            const std::string& wanted) {
    findings_.push_back({Finding::Severity::warning,
                         who + " (" + in_.at(e).text() + "): " + what + " is unknown, expected " +
                             wanted + " (did you mean that? it is left out)",
                         in_.at(e).text(), true});
  }

  const Elements& in_;
  std::vector<Finding>& findings_;
};

}  // namespace

void find_misspelled(const Elements& in, const XMLElement& robot, std::vector<Finding>& findings) {
  const char* name = robot.Attribute("name");
  Search(in, findings).look(robot, "robot", "", "robot " + in_quotes(name ? name : ""));
}

}  // namespace espalier::urdf
