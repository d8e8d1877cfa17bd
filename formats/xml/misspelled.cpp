#include "formats/xml/misspelled.hpp"

#include "formats/text.hpp"

namespace espalier::formats {

namespace {

class Search {
 public:
  Search(const Grammar& grammar, std::vector<Finding>& findings)
      : grammar_(grammar), findings_(findings) {}

  /// @param above  name of the element around it
  void look(const XmlNode& node, const std::string& above) {
    auto content = grammar_.find(above + "/" + node.name);
    if (content == grammar_.end()) content = grammar_.find(node.name);
    if (content == grammar_.end()) return;
    for (const auto& [attribute, value] : node.attributes) {
      if (const auto wanted = meant(attribute, content->second.attributes)) {
        tell(node, node, "attribute " + in_quotes(attribute), in_quotes(*wanted));
      }
    }
    for (const XmlNode& child : node.children) {
      if (const auto wanted = meant(child.name, content->second.children)) {
        tell(node, child, "element <" + child.name + ">", "<" + std::string(*wanted) + ">");
      } else {
        look(child, node.name);
      }
    }
  }

 private:
  void tell(const XmlNode& in, const XmlNode& at, const std::string& what,
            const std::string& wanted) {
    const std::string* name = in.find("name");
    findings_.push_back({Finding::Severity::warning,
                         in.name + (name ? " " + in_quotes(*name) : "") + " (" + at.where.text() +
                             "): " + what + " is unknown, expected " + wanted +
                             " (did you mean that? it is left out)",
                         at.where.text(), true});
  }

  const Grammar& grammar_;
  std::vector<Finding>& findings_;
};

}  // namespace

void find_misspelled(const XmlNode& root, const Grammar& grammar, std::vector<Finding>& findings) {
  Search(grammar, findings).look(root, "");
}

}  // namespace espalier::formats
