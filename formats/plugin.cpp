#include "espalier/plugin.hpp"
#include "formats/mjcf/mjcf.hpp"
#include "formats/sdf/sdf.hpp"
#include "formats/urdf/urdf.hpp"
#include "formats/yaml/yaml.hpp"

ESPALIER_PLUGIN("formats", "0.1") {
  registrar.format<espalier::MjcfFormat>(
      {.name = "mjcf",
       .summary = "MuJoCo's MJCF: bodies, defaults, geoms, equality constraints, tendons, actuators",
       .source = "Todorov, Erez, Tassa (2012); docs/formats.md",
       .cost = ""});
  registrar.format<espalier::SdfFormat>(
      {.name = "sdf",
       .summary = "SDFormat of Gazebo: frames, nested models, joints that close loops, gearboxes",
       .source = "http://sdformat.org/spec; docs/formats.md",
       .cost = ""});
  registrar.format<espalier::UrdfFormat>(
      {.name = "urdf",
       .summary = "URDF, and URDF+ with couplings, loops, laws and independent joints",
       .source = "http://wiki.ros.org/urdf/XML; Chignoli et al. (2024), URDF+; docs/urdf.md",
       .cost = ""});
  registrar.format<espalier::YamlFormat>(
      {.name = "yaml",
       .summary = "Espalier YAML: robots composed of subsystems with parameters and ports",
       .source = "docs/yaml.md",
       .cost = ""});
}
