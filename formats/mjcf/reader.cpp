// Reads MJCF: the file, what it includes, options and assets.

#include "formats/mjcf/reader.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/registry.hpp"
#include "formats/mjcf/mjcf.hpp"
#include "formats/mjcf/words.hpp"
#include "formats/text.hpp"
#include "formats/xml/misspelled.hpp"

namespace espalier {

namespace mjcf {

using formats::in_quotes;

namespace {

constexpr int deepest_include = 16;

/// Elements at the top level that say nothing about motion, looks of links or contacts.
const std::set<std::string, std::less<>> harmless{
    "visual", "statistic", "size",    "sensor",   "custom", "default",  "compiler", "option",
    "asset",  "worldbody", "contact", "equality", "tendon", "actuator", "keyframe"};

}  // namespace

Description Reader::read(std::string_view text) {
  XmlNode root = formats::parse_xml(text, "mjcf", origin_);
  if (root.name != "mujoco") {
    const std::string other = root.name == "robot" ? " (this is URDF: name the file .urdf)"
                              : root.name == "sdf" ? " (this is SDF: name the file .sdf)"
                                                   : "";
    root.fail("mjcf", "root element is <" + root.name + ">, expected <mujoco>" + other);
  }
  include(root, 0);
  robot_.where = root.where;
  if (const std::string* model = root.find("model")) {
    if (formats::is_name(*model)) robot_.name = *model;
  }
  const auto each = [&](std::string_view name, auto read) {
    for (const XmlNode& node : root.children) {
      if (node.name == name) read(node);
    }
  };
  refuse_unknown(root);
  formats::find_misspelled(root, grammar(), robot_.findings);
  each("compiler", [&](const XmlNode& n) { read_compiler(n); });
  each("default", [&](const XmlNode& n) { defaults_.read(n); });
  each("option", [&](const XmlNode& n) { read_option(n); });
  each("asset", [&](const XmlNode& n) { read_assets(n); });
  LinkDescription world;
  world.name = "world", world.where = root.where;
  bodies_.push_back({"world"});
  body_number_["world"] = 0;
  link_names_.insert("world");
  robot_.links.push_back(std::move(world));
  each("worldbody", [&](const XmlNode& n) { collect_names(n); });
  each("worldbody", [&](const XmlNode& n) { read_world(n); });
  settle_masses();
  each("custom", [&](const XmlNode& n) { collect_restored(n); });
  each("tendon", [&](const XmlNode& n) { read_tendons(n); });
  each("equality", [&](const XmlNode& n) { read_equalities(n); });
  resolve_mimics();
  each("contact", [&](const XmlNode& n) { read_contact(n); });
  exclude_by_types();
  warn_of_friction();
  if (with_margin_ > 0) {
    lose(*first_margin_,
         "margin, in which geoms touch before they meet, has no counterpart" +
             (with_margin_ > 1 ? "; so have " + std::to_string(with_margin_ - 1) + " more"
                               : std::string()),
         false);
  }
  each("actuator", [&](const XmlNode& n) { read_actuators(n); });
  each("keyframe", [&](const XmlNode& n) { read_keyframes(n); });
  each("custom", [&](const XmlNode& n) { read_custom(n); });
  name_start();
  restore_tree();
  return std::move(robot_);
}

/// Puts the content of included files where their <include> stands.
void Reader::include(XmlNode& node, int depth) {
  std::vector<XmlNode> children;
  for (XmlNode& child : node.children) {
    if (child.name != "include") {
      include(child, depth);
      children.push_back(std::move(child));
      continue;
    }
    const std::string* file = child.find("file");
    if (file == nullptr || !formats::is_name(*file)) {
      child.fail("mjcf", "attribute 'file' of <include> is missing, expected a file");
    }
    if (depth >= deepest_include) {
      child.fail("mjcf", "files include one another deeper than " +
                             std::to_string(deepest_include) + ", expected fewer");
    }
    const formats::NamedFile found =
        formats::read_named_file(*file, child, "mjcf", origin_, options_);
    if (!included_.insert(found.path).second) {
      child.fail("mjcf", "file " + in_quotes(*file) + " is included twice, expected it once");
    }
    XmlNode content = formats::parse_xml(found.text, "mjcf", found.path);
    include(content, depth + 1);
    for (XmlNode& inner : content.children) children.push_back(std::move(inner));
  }
  node.children = std::move(children);
}

void Reader::refuse_unknown(const XmlNode& root) {
  for (const XmlNode& node : root.children) {
    if (harmless.contains(node.name)) continue;
    if (node.name == "extension") {
      for (const XmlNode& plugin : node.children) {
        lose(plugin, "<extension> asks for a plugin of MuJoCo, which Espalier has not", false);
      }
      continue;
    }
    const bool flexible = node.name == "deformable" || node.name == "flex";
    lose(node,
         "<" + node.name + "> has no counterpart" + (flexible ? ": rigid bodies alone remain" : ""),
         flexible);
  }
}

/// A warning of something that is computed as it is written.
void Reader::tell(const XmlNode& node, const std::string& what) {
  const std::string* name = node.find("name");
  robot_.findings.push_back(
      {Finding::Severity::warning,
       node.name + (name ? " " + in_quotes(*name) : "") + " (" + node.where.text() + "): " + what,
       node.where.text(), false});
}

void Reader::lose(const XmlNode& node, const std::string& what, bool changes) {
  const std::string* name = node.find("name");
  const std::string who = node.name + (name ? " " + in_quotes(*name) : "");
  robot_.findings.push_back(
      {changes ? Finding::Severity::error : Finding::Severity::warning,
       who + " (" + node.where.text() + "): " + what +
           (changes ? ", expected a file without it (the motion would be another one; "
                      "--lenient leaves it out)"
                    : " (left out)"),
       node.where.text(), changes});
}

void Reader::read_compiler(const XmlNode& node) {
  const Element e(node, "compiler", compiler_, nullptr);
  compiler_.degrees =
      e.word("angle", compiler_.degrees ? "degree" : "radian", {"degree", "radian"}) == "degree";
  compiler_.eulerseq = e.text("eulerseq", compiler_.eulerseq);
  if (compiler_.eulerseq.size() != 3 ||
      compiler_.eulerseq.find_first_not_of("xyzXYZ") != std::string::npos) {
    e.fail("attribute 'eulerseq' is " + in_quotes(compiler_.eulerseq) +
           ", expected three of x, y, z, X, Y, Z");
  }
  compiler_.autolimits = e.boolean("autolimits", compiler_.autolimits);
  using FromGeom = CompilerOptions::FromGeom;
  if (e.has("inertiafromgeom")) {
    const std::string word = e.word("inertiafromgeom", "auto", {"false", "true", "auto"});
    compiler_.inertia_from_geom = word == "true"    ? FromGeom::yes
                                  : word == "false" ? FromGeom::no
                                                    : FromGeom::automatic;
  }
  if (e.has("inertiagrouprange")) {
    const auto range = e.numbers("inertiagrouprange", 2);
    compiler_.first_group = static_cast<int>(std::clamp(range[0], 0.0, 1e6));
    compiler_.last_group = static_cast<int>(std::clamp(range[1], 0.0, 1e6));
  }
  compiler_.balance_inertia = e.boolean("balanceinertia", compiler_.balance_inertia);
  compiler_.bound_mass = e.number("boundmass", compiler_.bound_mass);
  compiler_.bound_inertia = e.number("boundinertia", compiler_.bound_inertia);
  compiler_.total_mass = e.number("settotalmass", compiler_.total_mass);
  compiler_.global =
      e.word("coordinate", compiler_.global ? "global" : "local", {"local", "global"}) == "global";
  compiler_.mesh_folder = e.text("meshdir", e.text("assetdir", compiler_.mesh_folder));
}

void Reader::read_option(const XmlNode& node) {
  const Element e(node, "option", compiler_, nullptr);
  robot_.gravity = e.vector("gravity", robot_.gravity);
  for (const char* medium : {"density", "viscosity"}) {
    if (e.number(medium, 0.0) != 0.0) {
      lose(node, std::string("attribute '") + medium + "' is not 0: forces of a fluid", true);
    }
  }
  if (const XmlNode* flag = node.child("flag")) {
    const Element f(*flag, "flag", compiler_, nullptr);
    if (!f.boolean("gravity", true)) robot_.gravity = {0, 0, 0};
    for (const char* part : {"equality", "passive", "spring", "damper", "frictionloss"}) {
      if (!f.boolean(part, true)) {
        lose(*flag, std::string("attribute '") + part + "' is disabled, which has no counterpart",
             true);
      }
    }
    // Of what acts on ground alone.
    for (const char* part : {"limit", "contact", "filterparent"}) {
      if (!f.boolean(part, true)) {
        lose(*flag, std::string("attribute '") + part + "' is disabled, which has no counterpart",
             false);
      }
    }
  }
  if (e.has("collision") && e.text("collision") != "all") {
    lose(node,
         "attribute 'collision' is " + in_quotes(e.text("collision")) +
             ", which has no counterpart (here it is 'all')",
         false);
  }
}

void Reader::read_mesh(const XmlNode& child, const Element& e, const std::string& file) {
  MeshAsset mesh;
  mesh.where = child.where;
  mesh.file = file;
  mesh.scale = e.vector("scale", mesh.scale);
  mesh.shell = e.text("inertia") == "shell";
  Mat3<double> E = Mat3<double>::identity();
  const Vec3<double>& s = mesh.scale;
  if (e.has("refquat")) {
    const auto v = e.numbers("refquat", 4);
    const double norm = std::hypot(std::hypot(v[0], v[1], v[2]), v[3]);
    if (!(norm > 1e-14)) e.fail("attribute 'refquat' is zero, expected a quaternion");
    const double q[4] = {v[1] / norm, v[2] / norm, v[3] / norm, v[0] / norm};
    E = quaternion_to_E(q);
    const bool turned = v[1] != 0.0 || v[2] != 0.0 || v[3] != 0.0;
    if (turned && (s.x != s.y || s.y != s.z)) {
      lose(child, "mesh is turned (refquat) before it is stretched, which has no counterpart",
           true);
    }
  }
  // MuJoCo moves by refpos, turns by refquat and scales then.
  const Vec3<double> origin = e.vector("refpos", {0, 0, 0});
  mesh.reference = {E, {s.x * origin.x, s.y * origin.y, s.z * origin.z}};
  const std::string stem = std::filesystem::path(mesh.file).stem().string();
  const std::string name = e.text("name", stem);
  if (mesh.file.empty()) {
    lose(child, "mesh is given by its vertices, which have no counterpart", false);
    mesh.file = name;
  }
  if (!formats::is_name(mesh.file)) e.fail("attribute 'file' is no name, expected a file");
  assets_.meshes.emplace(name, mesh);
}

void Reader::read_assets(const XmlNode& node) {
  for (const XmlNode& child : node.children) {
    const Element e = element(child, child.name, "");
    const auto file_of = [&]() {
      const std::string file = e.text("file");
      const bool whole = compiler_.mesh_folder.empty() || file.empty() || file.front() == '/';
      return whole ? file : (std::filesystem::path(compiler_.mesh_folder) / file).string();
    };
    if (child.name == "mesh") {
      read_mesh(child, e, file_of());
    } else if (child.name == "hfield") {
      HeightField field;
      field.file = file_of();
      const auto size = e.numbers("size", 4);
      field.size = {2.0 * size[0], 2.0 * size[1], size[2]};
      field.base = size[3];
      if (field.file.empty()) {
        const double rows = e.number("nrow", 0.0), columns = e.number("ncol", 0.0);
        if (!(rows >= 1.0 && columns >= 1.0 && rows * columns <= 1e7)) {
          e.fail("numbers 'nrow' and 'ncol' are missing or wrong, expected sizes of a field");
        }
        field.rows = static_cast<int>(rows), field.columns = static_cast<int>(columns);
        const std::size_t count = static_cast<std::size_t>(field.rows) * field.columns;
        field.heights.assign(count, 0.0);
        if (e.has("elevation")) {
          field.heights = e.numbers("elevation", count);
          // MuJoCo normalises them to 0 .. 1.
          const auto [low, high] = std::minmax_element(field.heights.begin(), field.heights.end());
          const double least = *low, range = *high - *low;
          for (double& h : field.heights) h = range > 0.0 ? (h - least) / range : 0.0;
        }
      }
      assets_.fields.emplace(e.text("name"), std::move(field));
    } else if (child.name == "material" && e.has("rgba")) {
      const auto c = e.numbers("rgba", 4);
      assets_.materials.emplace(e.text("name"), Color{c[0], c[1], c[2], c[3]});
    }
  }
}

// --- pieces -------------------------------------------------------------------------------------

Element Reader::element(const XmlNode& node, const std::string& kind,
                        const std::string& childclass) {
  const std::string* name = node.find("name");
  const std::string who = kind + (name && !name->empty() ? " " + in_quotes(*name) : "");
  const std::string* own = node.find("class");
  return {node, who, compiler_, defaults_.find(node, who, own ? *own : childclass)};
}

int Reader::body_named(const Element& e, std::string_view attribute) const {
  if (!e.has(attribute)) return 0;
  const std::string name = e.name(attribute);
  const auto known = body_number_.find(name);
  if (known != body_number_.end()) return known->second;
  std::vector<std::string> names;
  for (const auto& [other, number] : body_number_) names.push_back(other);
  e.fail("attribute " + in_quotes(attribute) + " is " + in_quotes(name) + ", which is no body" +
         suggest(name, names));
}

const ReadJoint& Reader::joint_named(const Element& e, const std::string& name) const {
  const auto known = joint_number_.find(name);
  if (known != joint_number_.end()) return joints_[known->second];
  std::vector<std::string> names;
  for (const auto& [other, number] : joint_number_) names.push_back(other);
  e.fail("joint " + in_quotes(name) + " is unknown" + suggest(name, names));
}

std::string Reader::unused(const std::string& wanted, std::set<std::string>& used,
                           const std::set<std::string>& given) const {
  std::string name = wanted;
  for (int i = 2; given.contains(name) || !used.insert(name).second; ++i) {
    name = wanted + "_" + std::to_string(i);
  }
  return name;
}

/// Names that the file gives are its own bodies' and joints', whatever is made up besides.
void Reader::collect_names(const XmlNode& node) {
  for (const XmlNode& child : node.children) {
    const bool joint = child.name == "joint" || child.name == "freejoint";
    if (const std::string* name = child.find("name"); name != nullptr && !name->empty()) {
      if (joint) given_joints_.insert(*name);
      if (child.name == "body") given_links_.insert(*name);
    }
    collect_names(child);
  }
}

}  // namespace mjcf

Description MjcfFormat::read(std::string_view text, const std::string& origin,
                             const SubMechanisms& parts) const {
  return read(text, origin, parts, ReadOptions());
}

Description MjcfFormat::read(std::string_view text, const std::string& origin,
                             const SubMechanisms& /*parts*/, const ReadOptions& options) const {
  return mjcf::Reader(origin, options).read(text);
}

}  // namespace espalier
