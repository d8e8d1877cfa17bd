// Reads Espalier YAML: instances -> links, joints, loops, couplings and laws of one flat robot.

#include "espalier/kernel/errors.hpp"
#include "formats/shapes.hpp"
#include "formats/text.hpp"
#include "formats/yaml/yaml.hpp"
#include "formats/yaml/yaml_compose.hpp"

namespace espalier {

namespace {

using namespace formats;

constexpr std::size_t max_elements = 200'000;

class Expander {
 public:
  Description expand(const Instance& root) {
    const Fields fields = body_fields(root);
    if (fields.has("name")) robot_.name = fields.text("name");
    robot_.gravity = fields.vector("gravity", robot_.gravity);
    if (fields.has("root")) {
      const std::string stated = fields.text("root");
      if (stated != "fixed" && stated != "floating") {
        fields.fail(fields.where("root").line,
                    "root is '" + stated + "', expected 'fixed' or 'floating'");
      }
      robot_.floating = stated == "floating";
    }
    robot_.where = fields.where();
    add(root, {});
    for (const YamlEntry& e : fields.entries("states")) add_state(fields, e);
    for (const YamlEntry& e : fields.entries("actuators")) add_actuator(fields, e);
    add_pairs(fields, "excluded_contacts", robot_.excluded_contacts);
    add_pairs(fields, "contact_pairs", robot_.contact_pairs);
    return std::move(robot_);
  }

 private:
  using Inputs = std::map<std::string, Attachment>;

  void add(const Instance& instance, const Inputs& inputs) {
    const Fields body = body_fields(instance);
    for (const YamlEntry& e : body.entries("links")) add_link(instance, body, e);
    for (const YamlEntry& e : body.entries("joints")) add_joint(instance, inputs, body, e);
    for (const YamlEntry& e : body.entries("loops")) add_loop(instance, inputs, body, e);
    for (const YamlEntry& e : body.entries("couplings")) add_coupling(instance, inputs, body, e);
    for (const YamlEntry& e : body.entries("laws")) add_law(instance, body, e);
    for (const auto& part : instance.parts) {
      const Fields use = use_fields(instance, part->name, *part->use);
      Inputs part_inputs;
      for (const char* key : {"connect", "close"}) {
        for (const ConnectionText& c : connections(use, key)) {
          Attachment to = resolve(instance, inputs, c.target, use, c.line);
          to.pose = compose(to.pose, c.pose);
          part_inputs[c.port] = std::move(to);
        }
      }
      if (part->definition != nullptr) {
        add(*part, part_inputs);
      } else {
        add_assembly(*part, part_inputs, use);
      }
    }
  }

  /// The parts of a registered sub-mechanism, under the names and at the frames of its use.
  void add_assembly(const Instance& instance, const Inputs& inputs, const Fields& use) {
    const Description& parts = instance.assembly;
    const SourceLocation where = use.where();
    const auto own = [&](auto element) {
      count(use, where.line);
      element.name = instance.prefix + element.name;
      element.where = where;
      return element;
    };
    const auto attach = [&](std::string& link, Pose* origin) {
      const Attachment to = resolve(instance, inputs, link, use, where.line);
      link = to.link;
      if (origin != nullptr) *origin = compose(to.pose, *origin);
    };
    const std::vector<std::string> links(instance.links.begin(), instance.links.end());
    for (const LinkDescription& from : parts.links) {
      LinkDescription link = own(from);
      for (FrameDescription& frame : link.frames) frame = own(frame);
      for (auto* shapes : {&link.visuals, &link.collisions}) {
        for (ShapeDescription& shape : *shapes) {
          const bool named = !shape.name.empty();
          shape = own(shape);
          if (!named) shape.name.clear();
        }
      }
      // Shapes that the use gives a link stand in place of those that the type gives it.
      for (const auto& [key, shapes] :
           {std::pair("visual", &link.visuals), std::pair("collision", &link.collisions)}) {
        if (!use.has(key)) continue;
        const Fields of_links(use.context(), use.who(), use.required(key), links);
        if (!of_links.has(from.name)) continue;
        shapes->clear();
        for (const YamlPtr& item : of_links.items(from.name)) {
          shapes->push_back(read_shape(instance, of_links, *item));
        }
      }
      robot_.links.push_back(std::move(link));
    }
    for (const JointDescription& from : parts.joints) {
      JointDescription joint = own(from);
      attach(joint.parent, &joint.origin);
      if (!instance.links.contains(from.child)) {
        use.fail(where.line, "child of joint " + in_quotes(joint.name) + " of type " +
                                 in_quotes(instance.type) + " is " + in_quotes(from.child) +
                                 ", expected a link of its own");
      }
      joint.child = instance.prefix + from.child;
      if (joint.mimic) joint.mimic->joint = instance.prefix + joint.mimic->joint;
      robot_.joints.push_back(std::move(joint));
    }
    for (const LoopDescription& from : parts.loops) {
      LoopDescription loop = own(from);
      attach(loop.predecessor, &loop.predecessor_origin);
      attach(loop.successor, &loop.successor_origin);
      robot_.loops.push_back(std::move(loop));
    }
    for (const CouplingDescription& from : parts.couplings) {
      CouplingDescription coupling = own(from);
      attach(coupling.predecessor, nullptr);
      attach(coupling.successor, nullptr);
      robot_.couplings.push_back(std::move(coupling));
    }
    for (const LawDescription& from : parts.laws) {
      LawDescription law = own(from);
      for (std::string& joint : law.joints) joint = instance.prefix + joint;
      robot_.laws.push_back(std::move(law));
    }
  }

  void count(const Fields& fields, int line) {
    if (++count_ > max_elements) {
      fields.fail(line, "number of elements is larger than " + std::to_string(max_elements) +
                            ", expected a smaller robot");
    }
  }

  /// Fields of one element. @param kind  "link", "joint", ... for messages
  Fields element(const Instance& instance, const Fields& body, const char* kind, const YamlEntry& e,
                 std::vector<std::string> keys) {
    Fields fields(body.context(), kind + (" " + in_quotes(instance.prefix + e.key)), *e.value,
                  std::move(keys));
    count(fields, e.line);
    return fields;
  }

  void add_link(const Instance& instance, const Fields& body, const YamlEntry& e) {
    const Fields fields =
        element(instance, body, "link", e,
                {"mass", "com", "inertia", "inertia_rpy", "visual", "collision", "frames"});
    LinkDescription link;
    link.name = instance.prefix + e.key;
    link.where = {body.context().file, e.line};
    for (const YamlPtr& item : fields.items("visual")) {
      link.visuals.push_back(read_shape(instance, fields, *item));
    }
    for (const YamlPtr& item : fields.items("collision")) {
      link.collisions.push_back(read_shape(instance, fields, *item));
    }
    for (const YamlEntry& f : fields.entries("frames")) {
      const Fields frame(fields.context(), fields.who(), *f.value, {"xyz", "rpy"});
      count(fields, f.line);
      link.frames.push_back({instance.prefix + f.key, frame.pose(), frame.where()});
    }
    const bool massless = !fields.has("mass") && !fields.has("com") && !fields.has("inertia") &&
                          !fields.has("inertia_rpy");
    if (!massless) {
      Inertial& I = link.inertial.emplace();
      I.mass = fields.number("mass");
      I.origin = {fields.vector("com", {0, 0, 0}), fields.vector("inertia_rpy", {0, 0, 0})};
      if (fields.has("inertia")) {
        const auto v = fields.numbers("inertia", 6);
        I.I.xx = v[0], I.I.yy = v[1], I.I.zz = v[2];
        I.I.xy = v[3], I.I.xz = v[4], I.I.yz = v[5];
      }
    }
    robot_.links.push_back(std::move(link));
  }

  ShapeDescription read_shape(const Instance& instance, const Fields& link,
                              const YamlValue& value) {
    count(link, value.line);
    const Fields fields = shape_fields(link, value);
    ShapeDescription shape;
    shape.shape = fields.shape();
    if (const auto wrong = formats::wrong_size(shape.shape))
      fields.fail(fields.where().line, *wrong);
    if (fields.has("name")) shape.name = instance.prefix + fields.text("name");
    shape.origin = fields.pose();
    if (fields.has("color")) {
      const auto c = fields.numbers("color", 4);
      shape.color = Color{c[0], c[1], c[2], c[3]};
    }
    if (fields.has("material")) shape.material = fields.text("material");
    shape.friction = fields.optional_number("friction");
    shape.torsional_friction = fields.optional_number("torsional_friction");
    shape.rolling_friction = fields.optional_number("rolling_friction");
    shape.where = fields.where();
    return shape;
  }

  void add_joint(const Instance& instance, const Inputs& inputs, const Fields& body,
                 const YamlEntry& e) {
    const Fields fields =
        element(instance, body, "joint", e,
                {"type", "parent", "child", "xyz", "rpy", "axis", "parameters", "limits", "damping",
                 "friction", "stiffness", "rest", "armature", "mimic", "independent"});
    JointDescription joint;
    joint.name = instance.prefix + e.key;
    joint.where = {body.context().file, e.line};
    joint.type = fields.text("type");
    const Attachment parent = attachment(instance, inputs, fields, "parent");
    joint.parent = parent.link;
    joint.origin = compose(parent.pose, fields.pose());
    joint.child = whole_link(instance, inputs, fields, "child");
    joint.axis = fields.vector("axis", {1, 0, 0});
    joint.parameters = fields.parameters();
    if (fields.has("limits")) {
      const Fields limits(fields.context(), fields.who(), fields.required("limits"),
                          {"lower", "upper", "velocity", "effort"});
      joint.limits = {limits.optional_number("lower"), limits.optional_number("upper"),
                      limits.optional_number("velocity"), limits.optional_number("effort")};
    }
    joint.passive = {fields.number("damping", 0.0), fields.number("friction", 0.0),
                     fields.number("stiffness", 0.0), fields.number("rest", 0.0)};
    joint.armature = fields.number("armature", 0.0);
    if (fields.has("mimic")) {
      const Fields mimic(fields.context(), fields.who(), fields.required("mimic"),
                         {"joint", "multiplier", "offset"});
      joint.mimic = Mimic{instance.prefix + mimic.text("joint"), mimic.number("multiplier", 1.0),
                          mimic.number("offset", 0.0)};
    }
    joint.independent = fields.optional_bool("independent");
    robot_.joints.push_back(std::move(joint));
  }

  void add_loop(const Instance& instance, const Inputs& inputs, const Fields& body,
                const YamlEntry& e) {
    const Fields fields = element(instance, body, "loop", e,
                                  {"type", "predecessor", "successor", "axis", "parameters"});
    LoopDescription loop;
    loop.name = instance.prefix + e.key;
    loop.where = {body.context().file, e.line};
    loop.type = fields.text("type");
    const Attachment predecessor = frame(instance, inputs, fields, "predecessor");
    const Attachment successor = frame(instance, inputs, fields, "successor");
    loop.predecessor = predecessor.link;
    loop.successor = successor.link;
    loop.predecessor_origin = predecessor.pose;
    loop.successor_origin = successor.pose;
    loop.axis = fields.vector("axis", {1, 0, 0});
    loop.parameters = fields.parameters();
    robot_.loops.push_back(std::move(loop));
  }

  void add_coupling(const Instance& instance, const Inputs& inputs, const Fields& body,
                    const YamlEntry& e) {
    const Fields fields =
        element(instance, body, "coupling", e, {"predecessor", "successor", "ratio"});
    CouplingDescription coupling;
    coupling.name = instance.prefix + e.key;
    coupling.where = {body.context().file, e.line};
    // A coupling is about links; where on them a port's frame is makes no difference.
    coupling.predecessor = attachment(instance, inputs, fields, "predecessor").link;
    coupling.successor = attachment(instance, inputs, fields, "successor").link;
    coupling.ratio = fields.number("ratio");
    robot_.couplings.push_back(std::move(coupling));
  }

  void add_law(const Instance& instance, const Fields& body, const YamlEntry& e) {
    const Fields fields = element(instance, body, "law", e, {"type", "joints", "parameters"});
    LawDescription law;
    law.name = instance.prefix + e.key;
    law.where = {body.context().file, e.line};
    law.type = fields.text("type");
    if (fields.required("joints"), fields.items("joints").empty()) {
      fields.fail(fields.where("joints").line,
                  "key 'joints' is empty, expected a list of the names of joints");
    }
    for (const YamlPtr& joint : fields.items("joints")) {
      law.joints.push_back(instance.prefix + fields.text_of(*joint, "item of 'joints' is "));
    }
    law.parameters = fields.parameters();
    robot_.laws.push_back(std::move(law));
  }

  // --- of the whole robot, in names as they are seen from outside
  // ---------------------------------

  void add_state(const Fields& body, const YamlEntry& e) {
    const Fields fields(body.context(), "state " + in_quotes(e.key), *e.value,
                        {"positions", "velocities"});
    count(fields, e.line);
    robot_.states.push_back({e.key,
                             numbers_by_name(fields, "positions"),
                             numbers_by_name(fields, "velocities"),
                             {body.context().file, e.line}});
  }

  void add_actuator(const Fields& body, const YamlEntry& e) {
    const Fields fields(body.context(), "actuator " + in_quotes(e.key), *e.value,
                        {"gear", "lower", "upper"});
    count(fields, e.line);
    robot_.actuators.push_back({e.key,
                                numbers_by_name(fields, "gear"),
                                fields.optional_number("lower"),
                                fields.optional_number("upper"),
                                {body.context().file, e.line}});
  }

  static std::map<std::string, std::vector<double>> numbers_by_name(const Fields& fields,
                                                                    std::string_view key) {
    std::map<std::string, std::vector<double>> all;
    for (const YamlEntry& e : fields.entries(key)) {
      std::vector<double>& values = all[e.key];
      const std::string what = "joint " + in_quotes(e.key) + " is ";
      if (e.value->kind != YamlValue::Kind::sequence) {
        values = {fields.number_of(*e.value, what)};
        continue;
      }
      for (const YamlPtr& item : e.value->items) values.push_back(fields.number_of(*item, what));
      if (values.empty()) fields.fail(e.line, what + "an empty list, expected numbers");
    }
    return all;
  }

  void add_pairs(const Fields& body, std::string_view key, std::vector<PairDescription>& pairs) {
    for (const YamlPtr& item : body.items(key)) {
      const std::string what = "item of " + in_quotes(key) + " is ";
      count(body, item->line);
      if (item->kind != YamlValue::Kind::sequence || item->items.size() != 2) {
        body.fail(item->line, what + item->kind_name() + ", expected a list of two names");
      }
      pairs.push_back({body.text_of(*item->items[0], what),
                       body.text_of(*item->items[1], what),
                       {body.context().file, item->line}});
    }
  }

  Attachment attachment(const Instance& instance, const Inputs& inputs, const Fields& fields,
                        std::string_view key) {
    return resolve(instance, inputs, fields.text(key), fields, fields.where(key).line);
  }

  /// A link by itself, where a frame on a link cannot stand.
  std::string whole_link(const Instance& instance, const Inputs& inputs, const Fields& fields,
                         std::string_view key) {
    const std::string name = fields.text(key);
    const Attachment found = attachment(instance, inputs, fields, key);
    if (inputs.contains(name) || !(found.pose == Pose{})) {
      fields.fail(fields.where(key).line,
                  "key " + in_quotes(key) + " is the port " + in_quotes(name) +
                      ", expected a link, or an output port without xyz and rpy");
    }
    return found.link;
  }

  /// `link` or `{link: ..., xyz: ..., rpy: ...}`.
  Attachment frame(const Instance& instance, const Inputs& inputs, const Fields& fields,
                   std::string_view key) {
    const YamlValue& value = fields.required(key);
    if (value.kind != YamlValue::Kind::mapping) return attachment(instance, inputs, fields, key);
    const Fields in(fields.context(), fields.who(), value, {"link", "xyz", "rpy"});
    Attachment result = attachment(instance, inputs, in, "link");
    result.pose = compose(result.pose, in.pose());
    return result;
  }

  Description robot_;
  std::size_t count_ = 0;
};

}  // namespace

std::vector<std::string> YamlFormat::extensions() const { return {".yaml", ".yml"}; }

Description YamlFormat::read(std::string_view text, const std::string& origin,
                             const SubMechanisms& parts) const {
  return read(text, origin, parts, ReadOptions());
}

Description YamlFormat::read(std::string_view text, const std::string& origin,
                             const SubMechanisms& parts, const ReadOptions& options) const {
  Definitions definitions(parts, options);
  const Definition content = definitions.load(text, origin);
  Composer composer(definitions);
  const std::unique_ptr<Instance> whole = composer.robot(content);
  Description robot = Expander().expand(*whole);
  robot.subsystems = whole->graph;
  return robot;
}

}  // namespace espalier
