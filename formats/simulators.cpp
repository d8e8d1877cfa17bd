#include "espalier/plugin.hpp"
#include "formats/mjcf/mjcf.hpp"
#include "formats/sdf/sdf.hpp"

ESPALIER_PLUGIN("simulator-formats", "0.2.0") {
  registrar.format<espalier::MjcfFormat>(
      {.name = "mjcf",
       .summary =
           "MuJoCo's MJCF: bodies, defaults, geoms, equality constraints, tendons, actuators",
       .source = "Todorov, Erez, Tassa (2012); docs/formats.md",
       .cost = ""});
  registrar.format<espalier::SdfFormat>(
      {.name = "sdf",
       .summary = "SDFormat of Gazebo: frames, nested models, joints that close loops, gearboxes",
       .source = "http://sdformat.org/spec; docs/formats.md",
       .cost = ""});
}
