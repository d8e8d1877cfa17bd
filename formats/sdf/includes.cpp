// SDF: the models of other files, put where they are included.

#include <algorithm>
#include <filesystem>

#include "espalier/kernel/errors.hpp"
#include "formats/sdf/reader.hpp"
#include "formats/text.hpp"

namespace espalier::sdf {

using formats::in_quotes;

namespace {

/// Deeper, and more often, than any robot includes: files that include each other twice grow fast.
constexpr int deepest = 16;
constexpr int most_includes = 1000;
constexpr std::size_t most_nodes = 1'000'000;

std::size_t count(const XmlNode& node) {
  std::size_t all = 1;
  for (const XmlNode& child : node.children) all += count(child);
  return all;
}

class Includer {
 public:
  Includer(const ReadOptions& options, std::vector<Finding>& findings)
      : options_(options), findings_(findings) {}

  /// @param origin  the file that the node stands in
  void expand(XmlNode& node, const std::string& origin, int depth) {
    std::vector<XmlNode> children;
    for (XmlNode& child : node.children) {
      if (child.name == "include" && may_include(node)) {
        for (XmlNode& part : included(child, origin, depth)) children.push_back(std::move(part));
      } else {
        if (child.name == "world" || child.name == "model") expand(child, origin, depth);
        children.push_back(std::move(child));
      }
    }
    node.children = std::move(children);
  }

 private:
  static bool may_include(const XmlNode& node) {
    return node.name == "sdf" || node.name == "world" || node.name == "model";
  }

  std::vector<XmlNode> included(const XmlNode& include, const std::string& origin, int depth) {
    const std::string who = "include";
    if (depth >= deepest || ++includes_ > most_includes) {
      include.fail(who, "files include one another too deep or too often, expected at most " +
                            std::to_string(deepest) + " levels and " +
                            std::to_string(most_includes) + " in all");
    }
    const XmlNode* uri = include.child("uri");
    if (uri == nullptr || !formats::is_name(trimmed(uri->text))) {
      include.fail(who, "<uri> is missing, expected a model's file or folder");
    }
    const formats::NamedFile file = find(trimmed(uri->text), *uri, origin);
    XmlNode root = formats::parse_xml(file.text, "sdf", file.path);
    if (root.name != "sdf") {
      include.fail(
          who, "file " + in_quotes(file.path) + " begins with <" + root.name + ">, expected <sdf>");
    }
    nodes_ += count(root);
    if (nodes_ > most_nodes) {
      include.fail(who, "included files have more elements than " + std::to_string(most_nodes) +
                            ", expected fewer");
    }
    expand(root, file.path, depth + 1);
    for (XmlNode& model : root.children) {
      if (model.name != "model") continue;
      adjust(model, include);
      const std::string* merge = include.find("merge");
      if (merge != nullptr && formats::parse_bool(*merge).value_or(false)) return merged(model);
      return {std::move(model)};
    }
    const bool other = root.child("light") != nullptr || root.child("actor") != nullptr;
    if (!other) include.fail(who, "file " + in_quotes(file.path) + " has no <model>, expected one");
    findings_.push_back({Finding::Severity::warning,
                         who + " (" + include.where.text() + "): file " + in_quotes(file.path) +
                             " holds no model (left out)",
                         include.where.text(), false});
    return {};
  }

  /// `model://name`, `package://name`, `file://path` or a path: a file, or a folder with a
  /// model.config that names it.
  formats::NamedFile find(const std::string& uri, const XmlNode& at, const std::string& origin) {
    std::string name = uri;
    const auto scheme = uri.find("://");
    if (scheme != std::string::npos) {
      const std::string kind = uri.substr(0, scheme);
      if (kind != "model" && kind != "package" && kind != "file") {
        at.fail("include",
                "uri is " + in_quotes(uri) +
                    ", expected a path, file://, model:// or package:// (fetch the model "
                    "and name its folder as a search path)");
      }
      name = uri.substr(scheme + 3);
    }
    const formats::NamedPlace place =
        formats::find_named_place(name, at, "include", origin, options_);
    if (!place.folder) return formats::read_file(place.path, at, "include");
    return formats::read_file(
        (std::filesystem::path(place.path) / model_file(place.path, at)).string(), at, "include");
  }

  /// The newest file that a folder's model.config names.
  static std::string model_file(const std::string& folder, const XmlNode& at) {
    const std::string config = (std::filesystem::path(folder) / "model.config").string();
    std::error_code error;
    if (!std::filesystem::is_regular_file(config, error)) return "model.sdf";
    const XmlNode root =
        formats::parse_xml(formats::read_file(config, at, "include").text, "sdf", config);
    std::string best = "model.sdf";
    double newest = -1.0;
    for (const XmlNode& sdf : root.children) {
      if (sdf.name != "sdf" || !formats::is_name(trimmed(sdf.text))) continue;
      const std::string* version = sdf.find("version");
      // 1.10 is newer than 1.9.
      const auto dot = version ? version->find('.') : std::string::npos;
      const auto minor =
          dot == std::string::npos ? std::nullopt : formats::parse_number(version->substr(dot + 1));
      if (minor.value_or(0.0) < newest) continue;
      newest = minor.value_or(0.0), best = trimmed(sdf.text);
    }
    if (std::filesystem::path(best).is_absolute() || best.find("..") != std::string::npos) {
      at.fail("include", "model.config (" + config + ") names " + in_quotes(best) +
                             ", expected a file in its folder");
    }
    return best;
  }

  /// What the <include> says of the model takes the place of what its file says.
  void adjust(XmlNode& model, const XmlNode& include) {
    const auto replace = [&](const char* element) {
      const XmlNode* given = include.child(element);
      if (given == nullptr) return;
      std::erase_if(model.children, [&](const XmlNode& c) { return c.name == element; });
      model.children.push_back(*given);
    };
    const auto set = [&](const char* attribute, const std::string& value) {
      std::erase_if(model.attributes, [&](const auto& a) { return a.first == attribute; });
      model.attributes.emplace_back(attribute, value);
    };
    if (const XmlNode* name = include.child("name")) set("name", trimmed(name->text));
    if (const XmlNode* frame = include.child("placement_frame")) {
      if (include.child("pose") == nullptr) {
        include.fail("include", "<placement_frame> stands without <pose>, expected both");
      }
      set("placement_frame", trimmed(frame->text));
    }
    replace("pose"), replace("static");
    if (const XmlNode* changes = include.child("experimental:params")) {
      findings_.push_back({Finding::Severity::error,
                           "include (" + changes->where.text() +
                               "): <experimental:params> has no counterpart, expected a file "
                               "without it (the robot would be another one; --lenient leaves it "
                               "out)",
                           changes->where.text(), true});
    }
  }

  /// The members of a model as those of the model around it: a frame stands for the model's own.
  static std::vector<XmlNode> merged(const XmlNode& model) {
    const std::string own = "_merged__" + name_of(model, "model") + "__model__";
    XmlNode frame;
    frame.name = "frame", frame.where = model.where;
    frame.attributes = {{"name", own}, {"espalier:merged", "true"}};
    if (const std::string* placement = model.find("placement_frame")) {
      frame.attributes.emplace_back("placement_frame", *placement);
    }
    std::string canonical;
    if (const std::string* link = model.find("canonical_link")) canonical = *link;
    std::vector<XmlNode> parts;
    for (const XmlNode& child : model.children) {
      if (child.name == "pose") frame.children.push_back(child);
      if (child.name != "link" && child.name != "joint" && child.name != "frame" &&
          child.name != "model") {
        continue;
      }
      if (child.name == "link" && canonical.empty()) canonical = name_of(child, "link");
      parts.push_back(child);
      anchor(parts.back(), own);
    }
    if (frame.child("pose") == nullptr) frame.children.push_back(pose_in(model, model_frame));
    XmlNode& pose = *std::find_if(frame.children.begin(), frame.children.end(),
                                  [](const XmlNode& c) { return c.name == "pose"; });
    if (pose.find("relative_to") == nullptr) {
      pose.attributes.emplace_back("relative_to", model_frame);
    }
    frame.attributes.emplace_back("attached_to", canonical);
    parts.push_back(std::move(frame));
    return parts;
  }

  static XmlNode pose_in(const XmlNode& at, const std::string& frame) {
    XmlNode pose;
    pose.name = "pose", pose.where = at.where;
    pose.attributes = {{"relative_to", frame}};
    return pose;
  }

  /// Poses that are relative to the model's frame, said or not, become relative to another one.
  static void anchor(XmlNode& node, const std::string& frame) {
    const bool hangs_on_it = node.name == "link" || node.name == "model" ||
                             (node.name == "frame" && node.find("attached_to") == nullptr);
    rename(node, frame, node.name == "model");
    if (node.name == "frame" && hangs_on_it) node.attributes.emplace_back("attached_to", frame);
    if (!hangs_on_it) return;
    for (XmlNode& child : node.children) {
      if (child.name != "pose") continue;
      const std::string* to = child.find("relative_to");
      if (to == nullptr || to->empty()) child.attributes.emplace_back("relative_to", frame);
      return;
    }
    node.children.push_back(pose_in(node, frame));
  }

  /// @param shallow  a model inside has a frame of its own: only its pose speaks of the outer one
  static void rename(XmlNode& node, const std::string& frame, bool shallow) {
    for (auto& [key, value] : node.attributes) {
      if ((key == "relative_to" || key == "attached_to" || key == "expressed_in") &&
          value == model_frame) {
        value = frame;
      }
    }
    if ((node.name == "parent" || node.name == "child") && trimmed(node.text) == model_frame) {
      node.text = frame;
    }
    for (XmlNode& child : node.children) {
      if (!shallow || child.name == "pose") rename(child, frame, child.name == "model");
    }
  }

  const ReadOptions& options_;
  std::vector<Finding>& findings_;
  int includes_ = 0;
  std::size_t nodes_ = 0;
};

}  // namespace

void expand_includes(XmlNode& root, const std::string& origin, const ReadOptions& options,
                     std::vector<Finding>& findings) {
  Includer(options, findings).expand(root, origin, 0);
}

}  // namespace espalier::sdf
