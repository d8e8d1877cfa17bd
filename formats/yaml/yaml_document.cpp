#include "formats/yaml/yaml_document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>

#include "espalier/kernel/errors.hpp"
#include "formats/text.hpp"

namespace espalier::formats {

namespace {

constexpr std::size_t max_values = 2'000'000;  // a robot of 500 bodies has about 20 000
constexpr std::size_t max_depth = 40;          // the schema needs 7

[[noreturn]] void fail(const std::string& origin, int line, const std::string& what) {
  throw InvalidModel("yaml: file (" + origin + (line > 0 ? ":" + std::to_string(line) : "") + ") " +
                     what);
}

/// Names a tab that stands where YAML wants spaces, which its parser calls by other names.
/// @param line  near which it is, from 0
void refuse_tab(const std::string& origin, std::string_view text, int line) {
  std::istringstream lines{std::string(text)};
  std::string one;
  for (int i = 0; i <= line && std::getline(lines, one); ++i) {
    const std::size_t indent = one.find_first_not_of(" \t");
    if (i + 1 < line || one.substr(0, indent).find('\t') == std::string::npos) continue;
    fail(origin, i + 1, "is indented with a tab, expected spaces, which YAML asks for");
  }
}

/// Builds the tree; the values that are still open are on a stack.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const std::string& origin) : origin_(origin) {}

  YamlPtr root() const { return root_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(YamlValue::Kind::null, mark, ""), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    auto scalar = make(YamlValue::Kind::scalar, mark, tag);
    scalar->text = value;
    add(std::move(scalar), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      fail(origin_, mark.line + 1, "holds an alias to a value that contains it, expected a tree");
    }
    attach(found->second, mark.line + 1);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(YamlValue::Kind::sequence, mark, tag), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make(YamlValue::Kind::mapping, mark, tag), anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    std::shared_ptr<YamlValue> value;
    YAML::anchor_t anchor = 0;
    bool has_key = false;              ///< whether a mapping's key waits for its value
    std::map<std::string, int> lines;  ///< of a mapping's keys
  };

  std::shared_ptr<YamlValue> make(YamlValue::Kind kind, const YAML::Mark& mark,
                                  const std::string& tag) const {
    // "?" and "!" are what the parser says of plain and of quoted values without a tag.
    if (!tag.empty() && tag != "?" && tag != "!") {
      fail(origin_, mark.line + 1,
           "holds the tag " + in_quotes(tag) + ", expected values without tags");
    }
    auto value = std::make_shared<YamlValue>();
    value->kind = kind;
    value->line = mark.line + 1;
    return value;
  }

  void open(std::shared_ptr<YamlValue> value, YAML::anchor_t anchor) {
    if (stack_.size() >= max_depth) {
      fail(origin_, value->line,
           "is nested deeper than " + std::to_string(max_depth) + " levels, expected less");
    }
    Open entry;
    entry.value = std::move(value);
    entry.anchor = anchor;
    stack_.push_back(std::move(entry));
  }
  void close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    add(std::move(done.value), done.anchor);
  }
  void add(std::shared_ptr<YamlValue> value, YAML::anchor_t anchor) {
    const int line = value->line;
    YamlPtr finished = std::move(value);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = finished;
    attach(finished, line);
  }
  void attach(const YamlPtr& value, int line) {
    if (stack_.empty()) {
      root_ = value;
      return;
    }
    Open& parent = stack_.back();
    YamlValue& into = *parent.value;
    into.size += value->size;
    if (into.size > max_values) {
      fail(origin_, line,
           "holds more than " + std::to_string(max_values) +
               " values (with aliases as copies), expected less");
    }
    if (into.kind == YamlValue::Kind::sequence) {
      into.items.push_back(value);
    } else if (parent.has_key) {
      into.entries.back().value = value;
      parent.has_key = false;
    } else {
      if (value->kind != YamlValue::Kind::scalar || !is_name(value->text)) {
        fail(origin_, line,
             std::string("holds a key that is ") +
                 (value->kind == YamlValue::Kind::scalar ? in_quotes(value->text)
                                                         : value->kind_name()) +
                 ", expected a name without control characters");
      }
      const auto [known, is_new] = parent.lines.emplace(value->text, line);
      if (!is_new) {
        throw DuplicateName("yaml: key " + in_quotes(value->text) + " (" + origin_ + ":" +
                            std::to_string(line) + ") is given twice, expected it once (it is at " +
                            origin_ + ":" + std::to_string(known->second) + " already)");
      }
      into.entries.push_back({value->text, line, nullptr});
      parent.has_key = true;
    }
  }

  const std::string& origin_;
  YamlPtr root_;
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, YamlPtr> anchors_;
};

}  // namespace

const YamlEntry* YamlValue::find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

const char* YamlValue::kind_name() const {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::scalar:
      return "a text";
    case Kind::sequence:
      return "a list";
    case Kind::mapping:
      break;
  }
  return "a mapping";
}

YamlPtr parse_yaml(std::string_view text, const std::string& origin) {
  require_readable(text, "yaml", origin);
  if (text.size() > max_yaml_size) {
    fail(origin, 0,
         "has " + std::to_string(text.size()) + " bytes, expected at most " +
             std::to_string(max_yaml_size));
  }
  Builder builder(origin);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder) || builder.root() == nullptr) {
      fail(origin, 0, "is empty, expected a mapping");
    }
    YamlPtr root = builder.root();
    Builder rest(origin);
    if (parser.HandleNextDocument(rest)) {
      fail(origin, rest.root() ? rest.root()->line : 0,
           "holds a second document, expected only one");
    }
    return root;
  } catch (const YAML::Exception& error) {
    refuse_tab(origin, text, error.mark.line);
    fail(origin, error.mark.line + 1,
         "is not readable YAML (" + error.msg + "), expected a well-formed document");
  }
}

}  // namespace espalier::formats
