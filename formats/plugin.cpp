#include "espalier/plugin.hpp"
#include "formats/urdf/urdf.hpp"
#include "formats/yaml/yaml.hpp"

ESPALIER_PLUGIN("formats", "0.1") {
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
