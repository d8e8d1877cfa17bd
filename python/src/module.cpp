#include "robot.hpp"

// The module espalier._core: what of the C++ interface the Python files of espalier/ build on.

PYBIND11_MODULE(_core, module) {
  using namespace espalier::python;
  module.doc() = "C++ core of espalier; import espalier instead.";
  bind_errors(module);
  bind_description(module);
  bind_mesh_places(module);
  bind_host(module);
  bind_model(module);
  bind_algorithm(module);
  bind_simulation(module);
  bind_contact(module);
  bind_contact_simulation(module);
  bind_task_control(module);
  bind_traced_law(module);
}
