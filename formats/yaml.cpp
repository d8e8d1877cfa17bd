#include "formats/yaml/yaml.hpp"

#include "espalier/plugin.hpp"

ESPALIER_PLUGIN("yaml", "0.2.0") {
  registrar.format<espalier::YamlFormat>(
      {.name = "yaml",
       .summary = "Espalier YAML: robots composed of subsystems with parameters and ports",
       .source = "docs/yaml.md",
       .cost = ""});
}
