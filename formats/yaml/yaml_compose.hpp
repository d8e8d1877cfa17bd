#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/description.hpp"
#include "formats/yaml/yaml_definitions.hpp"
#include "formats/yaml/yaml_fields.hpp"

namespace espalier::formats {

// Keys of the mappings that may stand at several places.
std::vector<std::string> robot_keys();       ///< top level of a robot's file
std::vector<std::string> library_keys();     ///< top level of an included file
std::vector<std::string> definition_keys();  ///< a definition

/// A frame on a link of the whole robot.
struct Attachment {
  std::string link;
  Pose pose;
};

/// One use of a definition or of a registered sub-mechanism (or the robot itself), its parts inside
/// it.
struct Instance {
  const Definition* definition = nullptr;  ///< null: a registered sub-mechanism
  Description assembly;                    ///< what that one is made of
  std::string type;                        ///< name of what it is an instance of
  std::string name;    ///< within the instance that it is part of; empty for the robot
  std::string prefix;  ///< of the names in it: "leg.shank."; empty for the robot
  std::string who;     ///< for errors
  Expressions expressions;
  std::set<std::string, std::less<>> links;
  std::vector<std::string> inputs;
  std::map<std::string, Attachment, std::less<>> outputs;
  const YamlValue* use = nullptr;                ///< its mapping among `subsystems`
  std::vector<std::unique_ptr<Instance>> parts;  ///< a part after those that it hangs on
  std::map<std::string, const Instance*, std::less<>> part_named;
  std::shared_ptr<const graph::SubsystemGraph> graph;  ///< of its parts; null: it has none
};

/// Builds instances from definitions: evaluates parameters, checks ports and connections.
class Composer {
 public:
  explicit Composer(const Definitions& definitions) : definitions_(definitions) {}
  std::unique_ptr<Instance> robot(const Definition& content);

 private:
  void fill(Instance& instance, const std::vector<YamlEntry>& given, const Fields* given_in);
  void define_parameters(Instance& instance, const Fields& body,
                         const std::vector<YamlEntry>& given, const Fields* given_in) const;
  void assemble(Instance& instance, const SubMechanism& type, const Fields& use) const;
  void add_parts(Instance& instance, const Fields& body);
  void connect_parts(Instance& instance, const Fields& body) const;
  void name_inputs(Instance& instance, const Fields& ports) const;
  void place_outputs(Instance& instance, const Fields& ports) const;

  const Definitions& definitions_;
  std::vector<const Definition*> open_;  ///< from the robot to the instance being built
  std::size_t count_ = 0;
};

/// A connection as it is written: `port: target` or `port: {to: target, xyz: ..., rpy: ...}`.
struct ConnectionText {
  std::string port, target;
  Pose pose;
  int line = 0;
};
/// Connections under key `connect` or `close` of an instance's use.
std::vector<ConnectionText> connections(const Fields& use, std::string_view key);
/// Fields of an instance's mapping among `subsystems`, in the context of what it is part of.
Fields use_fields(const Instance& whole, const std::string& part, const YamlValue& use);
/// Fields of an instance's definition, which it has.
Fields body_fields(const Instance& instance);

/// Names of the links, ports and parts' ports that can be referred to inside an instance.
std::vector<std::string> known_names(const Instance& instance);

/// What a name means inside an instance: a link of it, an input port, or "part.port".
/// @param inputs  what the instance's input ports are connected to
/// @throws InvalidModel from `fields` listing the known names; in the robot itself, names that are
///         unknown are taken as links, for the compiler to report with all else that is wrong
Attachment resolve(const Instance& instance, const std::map<std::string, Attachment>& inputs,
                   const std::string& name, const Fields& fields, int line);

/// The pose of a frame that is placed by `inner` in a frame that is placed by `outer`.
Pose compose(const Pose& outer, const Pose& inner);

}  // namespace espalier::formats
