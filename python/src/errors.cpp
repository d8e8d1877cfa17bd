#include <cxxabi.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <atomic>
#include <cmath>

#include "arrays.hpp"

namespace espalier::python {

namespace {

/// Whether the interpreter is about to end; set by an atexit function.
std::atomic<bool> ending{false};

/// The class of errors.py of this name; new reference.
py::object error_class(const char* type) {
  return py::module_::import("espalier.errors").attr(type);
}

void set_error(const char* type, const char* message) {
  PyErr_SetObject(error_class(type).ptr(), py::str(message).ptr());
}

}  // namespace

void unless_ending(const std::function<void()>& call_python) {
  try {
    if (!ending.load()) return call_python();
  } catch (abi::__forced_unwind&) {
    // The interpreter ends this thread by unwinding it, which C++ destructors do not outlive. To
    // leave this block would end the process, too.
    for (;;) pause();
  }
  for (;;) pause();
}

StopIfEnded::~StopIfEnded() {
  while (PyGILState_Check() == 0) pause();
}

py::object call_unless_ending(const py::object& function, const py::tuple& arguments) {
  const StopIfEnded stop;
  PyObject* const answer = PyObject_CallObject(function.ptr(), arguments.ptr());
  if (answer == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(answer);
}

void raise(const char* type, const std::string& message) {
  set_error(type, message.c_str());
  throw py::error_already_set();
}

void expect_closed(const std::string& who, const Model& model, const double* q, double tolerance) {
  for (int k = 0; k < model.nq(); ++k) {
    if (std::isfinite(q[k])) continue;
    throw SingularMechanism(who + ": q[" + std::to_string(k) + "] is " +
                            (std::isnan(q[k]) ? "nan" : "infinite") + ", expected a finite number");
  }
  const Closure now = examine(model, q);
  if (now.residual <= tolerance) return;
  raise("InvalidState", who + ": q: " + now.text() +
                            ", expected closed loops (robot.state() and robot.close() give "
                            "positions that close them)");
}

WithoutGil::~WithoutGil() {
  unless_ending([&] { PyEval_RestoreThread(state_); });
}

WithGil::WithGil() {
  unless_ending([&] { state_ = PyGILState_Ensure(); });
}

WithGil::~WithGil() {
  { const StopIfEnded stop; }
  PyGILState_Release(state_);
}

void set_python_error(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const py::cast_error&) {
    // Each reader names what it reads; this is for what none has thought of.
    PyErr_SetString(PyExc_TypeError, "espalier: an argument is of another type than expected");
  } catch (const py::builtin_exception& e) {
    e.set_error();
  } catch (const InvalidModel& e) {
    set_error("InvalidModel", e.what());
  } catch (const SizeMismatch& e) {
    set_error("SizeMismatch", e.what());
  } catch (const SingularMechanism& e) {
    set_error("SingularMechanism", e.what());
  } catch (const UnknownName& e) {
    set_error("UnknownName", e.what());
  } catch (const DuplicateName& e) {
    set_error("DuplicateName", e.what());
  } catch (const PluginError& e) {
    set_error("PluginError", e.what());
  } catch (const Unsupported& e) {
    set_error("Unsupported", e.what());
  } catch (const Error& e) {
    set_error("Error", e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

void bind_errors(py::module_& module) {
  // Errors of Espalier and of types; others are for the translators that pybind11 has itself.
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error&) {
      set_python_error(thrown);
    } catch (const py::cast_error&) {
      set_python_error(thrown);
    }
  });
  module.def("_suggest", [](const std::string& name, const std::vector<std::string>& known) {
    return suggest(name, known);
  });
  module.def(
      "_real_array",
      [](py::handle values, const char* what, const std::string& who) -> py::array {
        const py::array array = real_array(values, what, {who});
        if (is_float64(array)) return array;
        return py::array_t<double, py::array::c_style | py::array::forcecast>(array);
      },
      py::arg("values"), py::arg("what"), py::arg("who"),
      "Real numbers as an array of float64: itself, if it is one.");
  py::module_::import("atexit").attr("register")(py::cpp_function([] { ending.store(true); }));
}

}  // namespace espalier::python
