#include "formats/xml/node.hpp"

#include <tinyxml2.h>

#include <filesystem>
#include <fstream>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/mesh_files.hpp"
#include "formats/text.hpp"

namespace espalier::formats {

namespace {

/// Elements of one document with all that it includes: far above any robot.
constexpr std::size_t max_nodes = 1'000'000;

XmlNode copy(const tinyxml2::XMLElement& e, const std::string& origin, std::size_t& count) {
  XmlNode node;
  node.name = e.Name();
  node.where = {origin, e.GetLineNum()};
  if (++count > max_nodes)
    node.fail("xml",
              "number of elements is too large, expected at most " + std::to_string(max_nodes));
  for (const auto* a = e.FirstAttribute(); a; a = a->Next()) {
    node.attributes.emplace_back(a->Name(), a->Value());
  }
  for (const auto* n = e.FirstChild(); n; n = n->NextSibling()) {
    if (const auto* text = n->ToText()) node.text += text->Value();
    if (const auto* child = n->ToElement()) node.children.push_back(copy(*child, origin, count));
  }
  return node;
}

}  // namespace

const std::string* XmlNode::find(std::string_view attribute) const {
  for (const auto& [key, value] : attributes) {
    if (key == attribute) return &value;
  }
  return nullptr;
}

const XmlNode* XmlNode::child(std::string_view child_name) const {
  for (const XmlNode& c : children) {
    if (c.name == child_name) return &c;
  }
  return nullptr;
}

void XmlNode::fail(const std::string& who, const std::string& what) const {
  throw InvalidModel(who + " (" + where.text() + "): " + what);
}

XmlNode parse_xml(std::string_view text, const std::string& format, const std::string& origin) {
  require_readable(text, format, origin);
  tinyxml2::XMLDocument document;
  document.Parse(text.data(), text.size());
  if (document.Error()) {
    const bool deep = document.ErrorID() == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED;
    throw InvalidModel(format + ": file (" +
                       SourceLocation{origin, document.ErrorLineNum()}.text() +
                       ") is not readable XML (" +
                       (deep ? "nested deeper than " + std::to_string(TINYXML2_MAX_ELEMENT_DEPTH)
                             : document.ErrorName()) +
                       "), expected well-formed XML" + (deep ? "" : open_element(text)));
  }
  const tinyxml2::XMLElement* root = document.RootElement();
  if (root == nullptr) {
    throw InvalidModel(format + ": file (" + origin + ") has no element, expected a robot");
  }
  std::size_t count = 0;
  return copy(*root, origin, count);
}

NamedPlace find_named_place(const std::string& name, const XmlNode& at, const std::string& who,
                            const std::string& origin, const ReadOptions& options) {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders{fs::path(origin).parent_path()};
  for (const std::string& folder : options.search_paths) folders.emplace_back(folder);
  bool led_outside = false;
  for (const fs::path& folder : folders) {
    const fs::path path = folder / name;  // an absolute name stays what it is
    bool inside = options.outside;
    for (const fs::path& allowed : folders) inside = inside || lies_in(path, allowed);
    if (!inside) {
      led_outside = true;
      continue;
    }
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_regular_file(status)) return {path.string(), false};
    if (fs::is_directory(status)) return {path.string(), true};
  }
  if (led_outside) {
    at.fail(who, "file is " + in_quotes(name) +
                     ", expected one inside the folder of the robot's file or a search path "
                     "(--search names one, --outside allows all)");
  }
  at.fail(who, "file is " + in_quotes(name) + ", which is missing, expected a file (relative to " +
                   in_quotes(folders[0].string()) + " or a search path)");
}

NamedFile read_file(const std::string& path, const XmlNode& at, const std::string& who) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) > max_file_size || error) {
    at.fail(who, "file " + in_quotes(path) + " is too large or unreadable, expected at most " +
                     std::to_string(max_file_size) + " bytes");
  }
  std::ifstream stream(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (stream.bad()) at.fail(who, "file " + in_quotes(path) + " is unreadable, expected a file");
  return {path, std::move(text)};
}

NamedFile read_named_file(const std::string& name, const XmlNode& at, const std::string& who,
                          const std::string& origin, const ReadOptions& options) {
  const NamedPlace place = find_named_place(name, at, who, origin, options);
  if (place.folder)
    at.fail(who, "file is " + in_quotes(name) + ", which is a folder, expected a file");
  return read_file(place.path, at, who);
}

std::vector<double> numbers_of(const XmlNode& at, const std::string& who, const std::string& what,
                               std::string_view text, std::size_t count) {
  const auto numbers = parse_numbers(text);
  if (!numbers || (count != 0 && numbers->size() != count)) {
    at.fail(who,
            what + " is " + in_quotes(text) + ", expected " +
                (count == 0 ? "finite numbers"
                            : std::to_string(count) + " finite number" + (count == 1 ? "" : "s")) +
                advice_on_number(text));
  }
  return *numbers;
}

}  // namespace espalier::formats
