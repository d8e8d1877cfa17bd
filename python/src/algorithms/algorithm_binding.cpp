#include <pybind11/stl.h>

#include <cmath>

#include "algorithm.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"
#include "python/src/values.hpp"

// The class Algorithm of Python.

namespace espalier::python {

namespace {

PyObject* call_algorithm(PyObject* self, PyObject* args, PyObject* kwargs) {
  try {
    return py::handle(self).cast<BoundAlgorithm&>().call(args, kwargs).release().ptr();
  } catch (...) {
    set_python_error(std::current_exception());
    return nullptr;
  }
}

std::shared_ptr<BoundAlgorithm> make(const Robot& robot, const std::string& problem,
                                     const std::string& name, py::handle end_effectors,
                                     py::handle inputs, py::handle groups, py::handle sensors,
                                     const std::string& symbolic, int threads,
                                     const std::string& precision, double loop_tolerance,
                                     bool check, const std::vector<Robot>& variants) {
  if (!precision.empty() && precision != "double" && precision != "float") {
    throw UnknownName("algorithm: precision is '" + precision + "'" +
                      suggest(precision, {"double", "float"}));
  }
  BoundAlgorithm::Options options{threads, precision, loop_tolerance, check, {}};
  for (const Robot& variant : variants) options.variants.push_back(variant.model);
  const Entry& entry = robot.host->registry().find_algorithm(problem, name);
  return std::make_shared<BoundAlgorithm>(
      robot, entry, make_setup(robot.model, end_effectors, inputs, groups, sensors, symbolic),
      std::move(options));
}

using AlgorithmClass = py::class_<BoundAlgorithm, std::shared_ptr<BoundAlgorithm>>;

/// What it is and what it takes and gives.
void bind_facts(AlgorithmClass& algorithm) {
  algorithm.def_property_readonly("name",
                                  [](const BoundAlgorithm& a) { return a.entry().about.name; });
  algorithm.def_property_readonly("problem",
                                  [](const BoundAlgorithm& a) { return a.entry().problem; });
  algorithm.def_property_readonly("arguments", &BoundAlgorithm::argument_names,
                                  "Names of the arrays it is called with, in order.");
  algorithm.def_property_readonly("robot_name",
                                  [](const BoundAlgorithm& a) { return a.robot().model->name(); });
  algorithm.def_property_readonly("results", [](const BoundAlgorithm& a) {
    std::vector<std::string> out;
    for (const Result& r : a.results()) out.push_back(r.name);
    return out;
  });
  algorithm.def_property_readonly("input_names", [](const BoundAlgorithm& a) {
    return InputColumns(*a.setup().model, a.setup().inputs).names();
  });
  algorithm.def_property_readonly("symbolic", &BoundAlgorithm::symbolic,
                                  "Order of pivots of sensor dynamics, to be given again.");
  algorithm.def_property_readonly("no_packs", &BoundAlgorithm::no_packs,
                                  "Why batches run in a loop, or None.");
  algorithm.def("__repr__", [](const BoundAlgorithm& a) {
    return "<espalier.Algorithm " + a.entry().about.name + " for " + a.entry().problem + " on '" +
           a.robot().model->name() + "'>";
  });
}

}  // namespace

void bind_algorithm(py::module_& module) {
  // Called straight through the type's slot: a call by pybind11's own dispatch costs as much again
  // as all of the checks here.
  AlgorithmClass algorithm(
      module, "Algorithm",
      py::custom_type_setup([](PyHeapTypeObject* type) { type->ht_type.tp_call = call_algorithm; }),
      "An algorithm bound to a robot, with its workspace.\n\n"
      "Call it with arrays of one state, (n,), or of many, (batch, n); those it needs are\n"
      "`arguments`, by position or name. Further arguments by name: out (array, or dict of them),\n"
      "wrenches (dict of link to 6 numbers, or array (links, 6) or (batch, links, 6)),\n"
      "acceleration (of end-effectors' rows), measurements (of sensors), multipliers (what\n"
      "adjoints and Hessian products weigh components with, (nv,) or (batch, nv)), direction (of\n"
      "Hessian products: a dict of arrays of rates by q, v and tau or vdot, zeros where one is "
      "left\n"
      "out; ones without it), time_step (of steps, [s]), status (uint8 array of the batch: 0 ok, "
      "1\n"
      "singular, 2 loop open; then nothing is raised), variant (int array).\n"
      "A text in front chooses one result, or a row of it by its link or joint.");
  algorithm.def(py::init(&make), py::arg("robot"), py::arg("problem"), py::arg("name"),
                py::arg("end_effectors") = py::none(), py::arg("inputs") = py::none(),
                py::arg("groups") = py::none(), py::arg("sensors") = py::none(),
                py::arg("symbolic") = "", py::arg("threads") = 0, py::arg("precision") = "",
                py::arg("loop_tolerance") = 1e-6, py::arg("check") = true,
                py::arg("variants") = std::vector<Robot>{});
  bind_facts(algorithm);
  algorithm.def_property(
      "gravity",
      [](const BoundAlgorithm& a) {
        const Vec3<double> g = a.gravity();
        return py::make_tuple(g.x, g.y, g.z);
      },
      [](BoundAlgorithm& a, py::handle gravity) {
        const std::string who = a.entry().about.name + " of '" + a.robot().model->name() + "'";
        const std::vector<double> g = numbers_of(gravity, who, "gravity");
        if (g.size() != 3) {
          throw SizeMismatch(who + ": size of gravity is " + std::to_string(g.size()) +
                             ", expected 3");
        }
        for (int k = 0; k < 3; ++k) {
          if (std::isfinite(g[k])) continue;
          throw InvalidModel(who + ": gravity[" + std::to_string(k) + "] is " +
                             std::to_string(g[k]) + ", expected a finite number");
        }
        a.set_gravity({g[0], g[1], g[2]});
      },
      "[m/s²], world axes.");
  algorithm.def_property("check", &BoundAlgorithm::checks, &BoundAlgorithm::set_checks,
                         "Whether open loops and results that are not finite raise.");
  algorithm.def("_seconds_per_solve", &BoundAlgorithm::seconds_per_solve, py::arg("calls"),
                py::arg("rounds") = 5);
  algorithm.def("_seconds_per_batch", &BoundAlgorithm::seconds_per_batch, py::arg("N"),
                py::arg("rounds") = 5);
}

}  // namespace espalier::python
