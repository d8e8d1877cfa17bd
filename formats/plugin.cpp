#include "espalier/plugin.hpp"
#include "formats/urdf/urdf.hpp"

ESPALIER_PLUGIN("formats", "0.2.0") {
  registrar.format<espalier::UrdfFormat>(
      {.name = "urdf",
       .summary = "URDF, and URDF+ with couplings, loops, laws and independent joints",
       .source = "http://wiki.ros.org/urdf/XML; Chignoli et al. (2024), URDF+; docs/urdf.md",
       .cost = ""});
}
