#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

/// Single Python objects as C++ wants them. What is of another type is a TypeError that names who
/// asks and for what: "ControlTask 'reach': priority is 1.5, expected a whole number".

namespace espalier::python {

namespace py = pybind11;

double number_of(py::handle object, const std::string& who, const std::string& what);
/// @throws TypeError also for what an int does not hold
int whole_of(py::handle object, const std::string& who, const std::string& what);
std::string text_of(py::handle object, const std::string& who, const std::string& what);
std::vector<double> numbers_of(py::handle object, const std::string& who, const std::string& what);
std::vector<std::string> texts_of(py::handle object, const std::string& who,
                                  const std::string& what);

/// Who an object of espalier/parts.py is: its class, and the name, joint or link that it has.
std::string who_is(py::handle part);

}  // namespace espalier::python
