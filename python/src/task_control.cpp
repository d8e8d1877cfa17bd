#include "espalier/control/task_control.hpp"

#include <pybind11/stl.h>

#include <limits>

#include "arrays.hpp"
#include "values.hpp"

namespace espalier::python {

namespace {

double number_at(py::handle object, const char* key) {
  return number_of(object.attr(key), who_is(object), key);
}

std::optional<double> number_or_none(py::handle object, const char* key) {
  if (py::object(object.attr(key)).is_none()) return std::nullopt;
  return number_at(object, key);
}

std::string text_at(py::handle object, const char* key) {
  return text_of(object.attr(key), who_is(object), key);
}

/// From what parts.py makes of rows: an EndEffector, None for the centre of mass, or joints.
ControlRows rows_of(py::handle object, const ModelPtr& model) {
  const py::object rows = object.attr("rows");
  if (rows.is_none()) return CenterOfMassRows{};
  if (py::isinstance<py::list>(rows)) return JointRows{texts_of(rows, who_is(object), "rows")};
  py::list one;
  one.append(rows);
  return make_setup(model, one, py::none(), py::none(), py::none(), "").end_effectors.front();
}

TaskControlSetup setup_of(const ModelPtr& model, py::handle motors, py::handle contacts,
                          py::handle tasks, py::handle limits) {
  TaskControlSetup setup;
  for (const py::handle m : motors) {
    setup.motors.push_back({text_at(m, "joint"), number_or_none(m, "lower"),
                            number_or_none(m, "upper"), number_at(m, "weight")});
  }
  for (const py::handle c : contacts) {
    ControlContact contact;
    contact.name = text_at(c, "name"), contact.link = text_at(c, "link");
    contact.offset = vec3_at(c, "offset"), contact.normal = vec3_at(c, "normal");
    contact.friction = number_at(c, "friction"), contact.least = number_at(c, "least");
    contact.most = number_or_none(c, "most").value_or(QuadraticProgram::infinity);
    contact.sides = whole_of(c.attr("sides"), who_is(c), "sides");
    contact.weight = number_at(c, "weight");
    setup.contacts.push_back(contact);
  }
  for (const py::handle t : tasks) {
    setup.tasks.push_back({text_at(t, "name"), rows_of(t, model),
                           whole_of(t.attr("priority"), who_is(t), "priority"),
                           number_at(t, "weight")});
  }
  for (const py::handle l : limits) {
    setup.limits.push_back({text_at(l, "name"), rows_of(l, model),
                            numbers_of(l.attr("lower"), who_is(l), "lower"),
                            numbers_of(l.attr("upper"), who_is(l), "upper")});
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

  void want(py::handle name, py::handle acceleration) {
    const std::string task = text_of(name, asker_.who, "task");
    const py::array x = real_array(acceleration, "acceleration", asker_);
    if (x.ndim() != 1) asker_.refuse_shape("acceleration", x, "(rows,)");
    const auto wanted = vector_of(x, "acceleration", x.shape(0), asker_);
    alone_([&] { control_->want(task, wanted); });
  }

  py::object evaluate(py::handle q, py::handle v, py::handle tau, py::handle wrenches) {
    const Model& m = *robot_.model;
    const auto Q = vector_of(q, "q", m.nq(), asker_), V = vector_of(v, "v", m.nv(), asker_);
    const auto T =
        tau.is_none() ? std::vector<double>(m.nv(), 0.0) : vector_of(tau, "tau", m.nv(), asker_);
    Wrenches<double> given(robot_.model);
    if (!wrenches.is_none()) {
      if (!py::isinstance<py::dict>(wrenches)) {
        throw py::type_error(asker_.who + ": wrenches are of type " +
                             std::string(py::str(py::type::of(wrenches).attr("__name__"))) +
                             ", expected a dict of link to six numbers");
      }
      for (const auto& [link, wrench] : py::reinterpret_borrow<py::dict>(wrenches)) {
        const auto w = vector_of(wrench, "wrench", 6, asker_);
        given.add(text_of(link, asker_.who, "link of wrenches"),
                  {{w[0], w[1], w[2]}, {w[3], w[4], w[5]}});
      }
    }
    expect_closed(asker_.who, m, Q.data());
    TaskControl::Answer answer;
    std::vector<double> forces(m.spanning_nv(), 0.0);
    alone_([&] {
      answer = control_->evaluate(Q, V, T, &given);
      control_->drive(forces.data());
    });
    py::dict accelerations;
    for (const ControlTask& task : setup_.tasks) {
      accelerations[py::str(task.name)] =
          array_of(answer.accelerations.data() + control_->first_row(task.name),
                   {control_->rows(task.name)});
    }
    py::dict all;
    const auto put = [&](const char* name, const std::vector<double>& x) {
      all[name] = array_of(x.data(), {static_cast<py::ssize_t>(x.size())});
    };
    put("inputs", answer.inputs);
    put("vdot", answer.vdot);
    all["accelerations"] = accelerations;
    put("errors", answer.errors);
    all["violation"] = answer.violation;
    all["iterations"] = answer.iterations;
    put("forces", forces);
    return py::module_::import("espalier.results").attr("Results")(all);
  }

  const TaskControl& control() const { return *control_; }

 private:
  Robot robot_;
  Asker asker_;
  TaskControlSetup setup_;
  OneAtATime alone_;
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
