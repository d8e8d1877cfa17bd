#include <pybind11/stl.h>

#include "robot.hpp"
#include "values.hpp"

namespace espalier::python {

namespace {

std::string text(py::handle object, const char* key) {
  const py::object value = object.attr(key);
  return value.is_none() ? std::string() : text_of(value, who_is(object), key);
}

/// Six numbers.
std::array<double, 6> row_of_six(py::handle row, const std::string& who) {
  const std::vector<double> x = numbers_of(row, who, "row");
  std::array<double, 6> out{};
  if (x.size() != out.size()) {
    throw InvalidModel(who + ": size of a row is " + std::to_string(x.size()) + ", expected 6");
  }
  std::copy(x.begin(), x.end(), out.begin());
  return out;
}

/// From an EndEffector of parts.py, whose rows are lists of six numbers already.
EndEffector end_effector(py::handle object) {
  EndEffector out;
  out.link = text(object, "link");
  out.offset = vec3_at(object, "offset");
  for (const py::handle row : object.attr("rows")) {
    out.rows.push_back(row_of_six(row, who_is(object)));
  }
  out.axes = text(object, "axes") == "world" ? EndEffector::Axes::world : EndEffector::Axes::link;
  return out;
}

Input input(py::handle object) {
  Input out;
  out.name = text(object, "name");
  out.joint = text(object, "joint");
  const py::object contact = object.attr("contact");
  if (!contact.is_none()) out.contact = end_effector(contact);
  return out;
}

Sensor sensor(py::handle object) {
  Sensor out;
  out.kind = Sensor::kind_of(text(object, "kind"));
  out.name = text(object, "name");
  out.joint = text(object, "joint");
  out.link = text(object, "link");
  out.frame = {vec3_at(object, "xyz"), vec3_at(object, "rpy")};
  for (const py::handle row : object.attr("rows")) {
    out.rows.push_back(py::isinstance<py::str>(row) ? Sensor::row_of(row.cast<std::string>())
                                                    : row_of_six(row, who_is(object)));
  }
  out.covariance = numbers_of(object.attr("covariance"), who_is(object), "covariance");
  return out;
}

SubsystemGroup group(py::handle object) {
  return {text(object, "name"), texts_of(object.attr("joints"), who_is(object), "joints")};
}

template <class X, class F>
std::vector<X> list_of(py::handle objects, const F& from) {
  std::vector<X> out;
  if (objects.is_none()) return out;
  for (const py::handle object : objects) out.push_back(from(object));
  return out;
}

}  // namespace

Vec3<double> vec3_at(py::handle object, const char* key) {
  const std::vector<double> x = numbers_of(object.attr(key), who_is(object), key);
  if (x.size() != 3) {
    throw InvalidModel(who_is(object) + ": size of " + key + " is " + std::to_string(x.size()) +
                       ", expected 3");
  }
  return {x[0], x[1], x[2]};
}

Setup make_setup(const ModelPtr& model, py::handle end_effectors, py::handle inputs,
                 py::handle groups, py::handle sensors, const std::string& symbolic) {
  Setup setup;
  setup.model = model;
  setup.end_effectors = list_of<EndEffector>(end_effectors, end_effector);
  setup.inputs = list_of<Input>(inputs, input);
  setup.groups = list_of<SubsystemGroup>(groups, group);
  setup.sensors = list_of<Sensor>(sensors, sensor);
  setup.symbolic = symbolic;
  return setup;
}

}  // namespace espalier::python
