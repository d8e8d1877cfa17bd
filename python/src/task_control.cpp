#include "espalier/control/task_control.hpp"

#include <pybind11/stl.h>

#include <limits>

#include "arrays.hpp"

namespace espalier::python {

namespace {

std::optional<double> number_or_none(py::handle object, const char* key) {
  const py::object value = object.attr(key);
  if (value.is_none()) return std::nullopt;
  return value.cast<double>();
}

/// From what parts.py makes of rows: an EndEffector, None for the centre of mass, or joints.
ControlRows rows_of(py::handle object, const ModelPtr& model) {
  const py::object rows = object.attr("rows");
  if (rows.is_none()) return CenterOfMassRows{};
  if (py::isinstance<py::list>(rows)) return JointRows{rows.cast<std::vector<std::string>>()};
  py::list one;
  one.append(rows);
  return make_setup(model, one, py::none(), py::none(), py::none(), "").end_effectors.front();
}

TaskControlSetup setup_of(const ModelPtr& model, py::handle motors, py::handle contacts,
                          py::handle tasks, py::handle limits) {
  TaskControlSetup setup;
  for (const py::handle m : motors) {
    setup.motors.push_back({m.attr("joint").cast<std::string>(), number_or_none(m, "lower"),
                            number_or_none(m, "upper"), m.attr("weight").cast<double>()});
  }
  for (const py::handle c : contacts) {
    ControlContact contact;
    contact.name = c.attr("name").cast<std::string>();
    contact.link = c.attr("link").cast<std::string>();
    contact.offset = vec3_at(c, "offset"), contact.normal = vec3_at(c, "normal");
    contact.friction = c.attr("friction").cast<double>();
    contact.least = c.attr("least").cast<double>();
    contact.most = number_or_none(c, "most").value_or(QuadraticProgram::infinity);
    contact.sides = c.attr("sides").cast<int>(), contact.weight = c.attr("weight").cast<double>();
    setup.contacts.push_back(contact);
  }
  for (const py::handle t : tasks) {
    setup.tasks.push_back({t.attr("name").cast<std::string>(), rows_of(t, model),
                           t.attr("priority").cast<int>(), t.attr("weight").cast<double>()});
  }
  for (const py::handle l : limits) {
    setup.limits.push_back({l.attr("name").cast<std::string>(), rows_of(l, model),
                            l.attr("lower").cast<std::vector<double>>(),
                            l.attr("upper").cast<std::vector<double>>()});
  }
  return setup;
}

/// TaskControl with vectors of NumPy.
class BoundTaskControl {
 public:
  BoundTaskControl(const Robot& robot, py::handle motors, py::handle contacts, py::handle tasks,
                   py::handle limits, const std::string& solver, const std::string& input_matrix)
      : robot_(robot),
        asker_{"task control of '" + robot.model->name() + "'"},
        setup_(setup_of(robot.model, motors, contacts, tasks, limits)),
        control_(make_task_control(*robot.host, robot.model, setup_,
                                   {.solver = solver, .input_matrix = input_matrix})) {}

  void want(const std::string& task, py::handle acceleration) {
    const py::array x = real_array(acceleration, "acceleration", asker_);
    if (x.ndim() != 1) asker_.refuse_shape("acceleration", x, "(rows,)");
    control_->want(task, vector_of(x, "acceleration", x.shape(0), asker_));
  }

  py::object evaluate(py::handle q, py::handle v, py::handle tau, py::handle wrenches) {
    const Model& m = *robot_.model;
    const auto Q = vector_of(q, "q", m.nq(), asker_), V = vector_of(v, "v", m.nv(), asker_);
    const auto T =
        tau.is_none() ? std::vector<double>(m.nv(), 0.0) : vector_of(tau, "tau", m.nv(), asker_);
    Wrenches<double> given(robot_.model);
    if (!wrenches.is_none()) {
      for (const auto& [link, wrench] :
           py::cast<py::dict>(py::reinterpret_borrow<py::object>(wrenches))) {
        const auto w = vector_of(wrench, "wrench", 6, asker_);
        given.add(link.cast<std::string>(), {{w[0], w[1], w[2]}, {w[3], w[4], w[5]}});
      }
    }
    const TaskControl::Answer* answer = nullptr;
    {
      WithoutGil released;
      answer = &control_->evaluate(Q, V, T, &given);
    }
    py::dict accelerations;
    for (const ControlTask& task : setup_.tasks) {
      accelerations[py::str(task.name)] =
          array_of(answer->accelerations.data() + control_->first_row(task.name),
                   {control_->rows(task.name)});
    }
    std::vector<double> forces(m.spanning_nv(), 0.0);
    control_->drive(forces.data());
    py::dict all;
    const auto put = [&](const char* name, const std::vector<double>& x) {
      all[name] = array_of(x.data(), {static_cast<py::ssize_t>(x.size())});
    };
    put("inputs", answer->inputs);
    put("vdot", answer->vdot);
    all["accelerations"] = accelerations;
    put("errors", answer->errors);
    all["violation"] = answer->violation;
    all["iterations"] = answer->iterations;
    put("forces", forces);
    return py::module_::import("espalier.results").attr("Results")(all);
  }

  const TaskControl& control() const { return *control_; }

 private:
  Robot robot_;
  Asker asker_;
  TaskControlSetup setup_;
  std::unique_ptr<TaskControl> control_;
};

}  // namespace

void bind_task_control(py::module_& module) {
  py::class_<BoundTaskControl>(
      module, "TaskControl",
      "Inputs of motors and contacts that accelerate tasks as wanted; Model.task_control() makes "
      "it.")
      .def(py::init<const Robot&, py::handle, py::handle, py::handle, py::handle,
                    const std::string&, const std::string&>(),
           py::arg("robot"), py::arg("motors"), py::arg("contacts"), py::arg("tasks"),
           py::arg("limits"), py::arg("solver"), py::arg("input_matrix"))
      .def("want", &BoundTaskControl::want, py::arg("task"), py::arg("acceleration"),
           "Wanted accelerations of a task's rows for the following calls; zero at first.")
      .def("__call__", &BoundTaskControl::evaluate, py::arg("q"), py::arg("v"),
           py::arg("tau") = py::none(), py::arg("wrenches") = py::none(),
           "inputs (by input_names), vdot, accelerations (by task), errors (by priority),\n"
           "violation, iterations, forces (of the motors, on spanning rates).\n"
           "tau: forces besides the inputs, (nv,). wrenches: dict of link to six numbers.")
      .def_property_readonly("input_names",
                             [](const BoundTaskControl& c) { return c.control().input_names(); })
      .def_property_readonly("priorities",
                             [](const BoundTaskControl& c) { return c.control().priorities(); });
}

}  // namespace espalier::python
