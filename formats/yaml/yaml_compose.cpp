#include "formats/yaml/yaml_compose.hpp"

#include <algorithm>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/graph/subsystem_graph.hpp"
#include "espalier/kernel/guard.hpp"
#include "espalier/plugins/registry.hpp"
#include "formats/text.hpp"

namespace espalier::formats {

namespace {

constexpr std::size_t max_instances = 5'000;
constexpr std::size_t max_nesting = 32;
constexpr std::size_t max_ports = 250;
/// The instance itself as a unit beside its parts; its links and inputs are one port of it.
const std::string self = "this";
const std::string self_output = "link";

std::vector<std::string> with(std::vector<std::string> keys, std::vector<std::string> more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const Instance* find_part(const Instance& instance, std::string_view name) {
  const auto found = instance.part_named.find(name);
  return found == instance.part_named.end() ? nullptr : found->second;
}

void require_plain(const std::string& name, const std::string& what, const Fields& fields,
                   int line) {
  if (name.find('.') == std::string::npos && name != self) return;
  fields.fail(line, "name of " + what + " is " + in_quotes(name) +
                        ", expected a name without dots " + "other than '" + self +
                        "' (ports are written 'subsystem.port')");
}

std::vector<std::string> output_names(const Instance& part) {
  std::vector<std::string> names;
  for (const auto& [name, attachment] : part.outputs) names.push_back(name);
  return names;
}

[[noreturn]] void refuse_number(const Fields& use) {
  use.fail(use.where().line, "number of subsystems is too large, expected at most " +
                                 std::to_string(max_instances) + " and at most " +
                                 std::to_string(max_nesting) + " inside each other");
}

}  // namespace

std::vector<std::string> definition_keys() {
  return {"parameters", "ports", "links", "joints", "loops", "couplings", "laws", "subsystems"};
}
std::vector<std::string> library_keys() { return {"espalier", "include", "definitions"}; }
std::vector<std::string> robot_keys() {
  return with(library_keys(),
              {"name", "gravity", "root", "parameters", "links", "joints", "loops", "couplings",
               "laws", "subsystems", "states", "actuators", "excluded_contacts", "contact_pairs"});
}

Fields body_fields(const Instance& instance) {
  return {{*instance.definition->file, instance.expressions},
          instance.who,
          *instance.definition->value,
          instance.prefix.empty() ? robot_keys() : definition_keys()};
}

Fields use_fields(const Instance& whole, const std::string& part, const YamlValue& use) {
  return {{*whole.definition->file, whole.expressions},
          "subsystem " + in_quotes(whole.prefix + part),
          use,
          {"type", "parameters", "connect", "close", "visual", "collision"}};
}

std::vector<ConnectionText> connections(const Fields& use, std::string_view key) {
  std::vector<ConnectionText> result;
  for (const YamlEntry& entry : use.entries(key)) {
    const std::string what = "port " + in_quotes(entry.key) + " is ";
    ConnectionText c{entry.key, "", {}, entry.line};
    if (entry.value->kind == YamlValue::Kind::mapping) {
      const Fields fields(use.context(), use.who(), *entry.value, {"to", "xyz", "rpy"});
      c.target = fields.text("to");
      c.pose = fields.pose();
    } else {
      c.target = use.text_of(*entry.value, what);
    }
    result.push_back(std::move(c));
  }
  return result;
}

Pose compose(const Pose& outer, const Pose& inner) {
  if (outer == Pose{}) return inner;
  if (inner == Pose{}) return outer;
  Pose result = Pose::from(inner.transform() * outer.transform());
  // One rotation alone is kept to the last digit.
  const Vec3<double> none{0, 0, 0};
  if (outer == Pose{outer.xyz, none}) result.rpy = inner.rpy;
  if (inner == Pose{inner.xyz, none}) result.rpy = outer.rpy;
  return result;
}

std::vector<std::string> known_names(const Instance& instance) {
  std::vector<std::string> known(instance.links.begin(), instance.links.end());
  known.insert(known.end(), instance.inputs.begin(), instance.inputs.end());
  for (const auto& [name, part] : instance.part_named) {
    for (const auto& port : output_names(*part)) known.push_back(name + "." + port);
  }
  return known;
}

Attachment resolve(const Instance& instance, const std::map<std::string, Attachment>& inputs,
                   const std::string& name, const Fields& fields, int line) {
  if (instance.links.contains(name)) return {instance.prefix + name, {}};
  const auto input = inputs.find(name);
  if (input != inputs.end()) return input->second;
  const auto dot = name.find('.');
  const Instance* part = find_part(instance, name.substr(0, dot));
  if (part != nullptr) {
    const std::string port = dot == std::string::npos ? "" : name.substr(dot + 1);
    const auto output = part->outputs.find(port);
    if (output != part->outputs.end()) return output->second;
    fields.fail(line, "output port " + in_quotes(port) + " of subsystem " +
                          in_quotes(instance.prefix + part->name) + " is unknown" +
                          suggest(port, output_names(*part)));
  }
  if (instance.prefix.empty()) return {name, {}};
  fields.fail(line, "link or port " + in_quotes(name) + " is unknown" +
                        suggest(name, known_names(instance)));
}

std::unique_ptr<Instance> Composer::robot(const Definition& content) {
  auto robot = std::make_unique<Instance>();
  robot->definition = &content;
  robot->who = "robot";
  fill(*robot, {}, nullptr);
  return robot;
}

void Composer::fill(Instance& instance, const std::vector<YamlEntry>& given,
                    const Fields* given_in) {
  const Fields body = body_fields(instance);
  if (std::find(open_.begin(), open_.end(), instance.definition) != open_.end()) {
    given_in->fail(given_in->where("type").line, "type " + in_quotes(instance.definition->name) +
                                                     " contains itself, expected a tree of types");
  }
  if (open_.size() >= max_nesting || ++count_ > max_instances) refuse_number(*given_in);
  open_.push_back(instance.definition);
  define_parameters(instance, body, given, given_in);
  for (const YamlEntry& link : body.entries("links")) instance.links.insert(link.key);
  if (body.has("ports")) {
    const Fields ports(body.context(), instance.who, body.required("ports"), {"inputs", "outputs"});
    if (std::max(ports.items("inputs").size(), ports.entries("outputs").size()) > max_ports) {
      ports.fail(ports.where().line, "number of ports is too large, expected at most " +
                                         std::to_string(max_ports) + " inputs and outputs each");
    }
    name_inputs(instance, ports);
    add_parts(instance, body);
    place_outputs(instance, ports);
  } else {
    add_parts(instance, body);
  }
  open_.pop_back();
}

void Composer::define_parameters(Instance& instance, const Fields& body,
                                 const std::vector<YamlEntry>& given,
                                 const Fields* given_in) const {
  std::map<std::string_view, const YamlEntry*> own_values;
  for (const YamlEntry& value : given) own_values.emplace(value.key, &value);
  for (const YamlEntry& d : body.entries("parameters")) {
    const std::string what = "parameter " + in_quotes(d.key) + " is ";
    const auto own = own_values.extract(d.key);
    if (own.empty() && d.value->kind == YamlValue::Kind::null) {
      // Without a value the user of the definition has to give one.
      const Fields& at = given_in ? *given_in : body;
      at.fail(given_in ? at.where().line : d.line, what + "missing, expected a number");
    }
    const double value = own.empty() ? body.number_of(*d.value, what)
                                     : given_in->number_of(*own.mapped()->value, what);
    if (const auto problem = instance.expressions.define(d.key, value)) {
      body.fail(d.line, *problem);
    }
  }
  if (own_values.empty()) return;
  std::vector<std::string> known;
  for (const YamlEntry& d : body.entries("parameters")) known.push_back(d.key);
  const YamlEntry& unknown = *own_values.begin()->second;
  given_in->fail(unknown.line,
                 "parameter " + in_quotes(unknown.key) + " is unknown" +
                     suggest(unknown.key, known) +
                     (known.empty() ? " (list it under 'parameters' of the type)" : ""));
}

/// An instance of a registered sub-mechanism: what a plugin gives is checked as a file is.
void Composer::assemble(Instance& instance, const SubMechanism& type, const Fields& use) const {
  PartSpec spec;
  spec.what = "subsystem", spec.name = instance.prefix.substr(0, instance.prefix.size() - 1);
  spec.parameters = use.parameters(), spec.where = use.where().text();
  const auto names = type.parameter_names();
  const std::vector<std::string> known(names.begin(), names.end());
  for (const YamlEntry& given : use.entries("parameters")) {
    if (contains(known, given.key)) continue;
    use.fail(given.line, "parameter " + in_quotes(given.key) + " is unknown to type " +
                             in_quotes(instance.type) + suggest(given.key, known));
  }
  Assembly assembly = detail::guarded(
      [&] { return "sub-mechanism " + in_quotes(instance.type) + " for " + use.who(); },
      "its constructor or build", [&] { return type.assemble(spec); });
  for (const std::string_view input : type.inputs()) instance.inputs.emplace_back(input);
  for (const LinkDescription& link : assembly.parts.links) instance.links.insert(link.name);
  for (const Assembly::Output& output : assembly.outputs) {
    Attachment frame = resolve(instance, {}, output.link, use, use.where().line);
    frame.pose = output.origin;
    instance.outputs[output.name] = std::move(frame);
  }
  instance.assembly = std::move(assembly.parts);
}

void Composer::add_parts(Instance& instance, const Fields& body) {
  for (const YamlEntry& entry : body.entries("subsystems")) {
    require_plain(entry.key, "subsystem", body, entry.line);
    const Fields use = use_fields(instance, entry.key, *entry.value);
    auto part = std::make_unique<Instance>();
    part->type = use.text("type");
    part->name = entry.key;
    part->prefix = instance.prefix + entry.key + ".";
    part->who = use.who();
    part->use = entry.value.get();
    const SubsystemType type = definitions_.find(part->type, use);
    part->definition = type.definition;
    if (type.registered != nullptr) {
      if (++count_ > max_instances) refuse_number(use);
      assemble(*part, *type.registered, use);
    } else {
      for (const char* key : {"visual", "collision"}) {
        if (!use.has(key)) continue;
        use.fail(use.where(key).line, in_quotes(key) + " is given to a type of this file, " +
                                          in_quotes(part->type) +
                                          ", expected shapes under the type's own links");
      }
      fill(*part, use.entries("parameters"), &use);
    }
    instance.part_named.emplace(part->name, part.get());
    instance.parts.push_back(std::move(part));
  }
  if (!instance.parts.empty()) connect_parts(instance, body);
}

/// The subsystem graph of one level: its units are the parts and, where a part hangs on it, the
/// instance itself. Puts the parts into the order in which they hang on one another.
void Composer::connect_parts(Instance& instance, const Fields& body) const {
  struct Edge {
    std::string target, port;
    bool closure;
    const Instance* part;
    int line;
  };
  std::vector<Edge> edges;
  bool hangs_on_self = false;
  for (const auto& part : instance.parts) {
    const Fields use = use_fields(instance, part->name, *part->use);
    std::vector<std::string> open = part->inputs;
    for (const char* key : {"connect", "close"}) {
      for (const ConnectionText& c : connections(use, key)) {
        if (!contains(part->inputs, c.port)) {
          use.fail(c.line, "input port " + in_quotes(c.port) + " is unknown" +
                               suggest(c.port, part->inputs));
        }
        if (std::erase(open, c.port) == 0) {
          use.fail(c.line,
                   "input port " + in_quotes(c.port) + " is connected twice, expected once");
        }
        const bool own = instance.links.contains(c.target) || contains(instance.inputs, c.target);
        if (!own && find_part(instance, c.target.substr(0, c.target.find('.'))) == nullptr) {
          use.fail(c.line, "target " + in_quotes(c.target) + " of port " + in_quotes(c.port) +
                               " is unknown" + suggest(c.target, known_names(instance)));
        }
        hangs_on_self = hangs_on_self || own;
        edges.push_back({own ? self + "." + self_output : c.target, part->name + "." + c.port,
                         key == std::string_view("close"), part.get(), c.line});
      }
    }
    if (!open.empty()) {
      use.fail(use.where().line, "input port " + in_quotes(open.front()) +
                                     " is not connected, expected it under 'connect' or 'close'");
    }
  }

  graph::SubsystemGraph graph;
  if (hangs_on_self) graph.add_unit(self, "", {}, {self_output});
  for (const auto& part : instance.parts) {
    graph.add_unit(part->name, part->type, part->inputs, output_names(*part));
  }
  for (const Edge& e : edges) {
    try {
      e.closure ? graph.close(e.target, e.port) : graph.connect(e.target, e.port);
    } catch (const Error& error) {
      use_fields(instance, e.part->name, *e.part->use).fail(e.line, error.what());
    }
  }
  std::vector<std::unique_ptr<Instance>> ordered;
  try {
    for (const int unit : graph.resolve().order) {
      const int index = unit - (hangs_on_self ? 1 : 0);
      if (index >= 0) ordered.push_back(std::move(instance.parts[static_cast<std::size_t>(index)]));
    }
  } catch (const Error& error) {
    body.fail(body.where("subsystems").line, error.what());
  }
  instance.parts = std::move(ordered);
  instance.graph = std::make_shared<const graph::SubsystemGraph>(std::move(graph));
}

void Composer::name_inputs(Instance& instance, const Fields& ports) const {
  for (const YamlPtr& item : ports.items("inputs")) {
    const std::string name = ports.text_of(*item, "input port is ");
    require_plain(name, "port", ports, item->line);
    if (instance.links.contains(name) || contains(instance.inputs, name)) {
      ports.fail(item->line, "name of input port is " + in_quotes(name) +
                                 ", expected one that no other port or link of it has");
    }
    instance.inputs.push_back(name);
  }
}

void Composer::place_outputs(Instance& instance, const Fields& ports) const {
  for (const YamlEntry& entry : ports.entries("outputs")) {
    require_plain(entry.key, "port", ports, entry.line);
    if (contains(instance.inputs, entry.key)) {
      ports.fail(entry.line, "name of output port is " + in_quotes(entry.key) +
                                 ", expected one that no input port has");
    }
    const std::string what = "output port " + in_quotes(entry.key) + " is ";
    if (entry.value->kind != YamlValue::Kind::mapping) {
      instance.outputs[entry.key] =
          resolve(instance, {}, ports.text_of(*entry.value, what), ports, entry.line);
      continue;
    }
    const Fields fields(ports.context(), ports.who(), *entry.value, {"link", "xyz", "rpy"});
    Attachment frame = resolve(instance, {}, fields.text("link"), fields, entry.line);
    frame.pose = compose(frame.pose, fields.pose());
    instance.outputs[entry.key] = std::move(frame);
  }
}

}  // namespace espalier::formats
