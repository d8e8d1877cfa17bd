#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <espalier/espalier.hpp>
#include <espalier/kernel/model/layout.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

/// What the files of the Python module share.

namespace espalier::python {

namespace py = pybind11;

/// A model with all that Python needs to keep beside it: the host, so that its registry outlives
/// the model's algorithms, and what the model was compiled from.
struct Robot {
  std::shared_ptr<Host> host;
  ModelPtr model;
  std::shared_ptr<const Description> description;
  CompileOptions options;
};

/// Three numbers from an attribute of an object of espalier/parts.py.
Vec3<double> vec3_at(py::handle object, const char* key);

/// What an algorithm is bound to besides the model, from the plain Python objects of
/// espalier/parts.py, each an iterable of them or None.
Setup make_setup(const ModelPtr& model, py::handle end_effectors, py::handle inputs,
                 py::handle groups, py::handle sensors, const std::string& symbolic);

/// An error whose Python type only Python knows, as espalier.InvalidState.
[[noreturn]] void raise(const char* type, const std::string& message);
/// Makes a C++ exception the current one of Python.
void set_python_error(const std::exception_ptr& thrown);
/// @throws what errors.py calls InvalidState unless the loops are closed; by default as well as
/// state files and batches want them
void expect_closed(const std::string& who, const Model& model, const double* q,
                   double tolerance = 1e-6);

/// Has shapes remember the whole path of the file that names their meshes.
void keep_places(Description& robot);

/// Calls something that may wait for Python's lock or run Python. Where the interpreter ends
/// meanwhile, this thread sleeps until the process is gone.
void unless_ending(const std::function<void()>& call_python);
/// The last object of a block that holds some of Python's: where the interpreter ends this thread
/// by unwinding it, the others would be given back without its lock. This one goes first, and
/// sleeps.
class StopIfEnded {
 public:
  StopIfEnded() = default;
  ~StopIfEnded();
  StopIfEnded(const StopIfEnded&) = delete;
  StopIfEnded& operator=(const StopIfEnded&) = delete;
};
/// Calls a function of Python's; the interpreter may end meanwhile.
py::object call_unless_ending(const py::object& function, const py::tuple& arguments);

/// Lets other Python threads run while C++ works. Unlike py::gil_scoped_release it never takes the
/// lock again once the interpreter ends: the thread then sleeps until the process is gone.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Does things one after the other without Python's lock; other threads wait, and let Python run.
/// The thread at work may come again: Python handles its signals between two steps of a long one.
class OneAtATime {
 public:
  template <class F>
  void operator()(F&& f) {
    const WithoutGil released;
    const std::lock_guard lock(mutex_);
    f();
  }

 private:
  std::recursive_mutex mutex_;
};

/// Lets a thread that came from WithoutGil call Python.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Raises KeyboardInterrupt and the like, now and then.
class Signals {
 public:
  void look() {
    if (seconds_now() - last_ < 0.1) return;
    last_ = seconds_now();
    const WithGil held;
    unless_ending([] {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    });
  }

 private:
  double last_ = seconds_now();
};

// Each adds its classes to the module.
void bind_errors(py::module_& module);
void bind_description(py::module_& module);
void bind_mesh_places(py::module_& module);
void bind_host(py::module_& module);
void bind_model(py::module_& module);
void bind_algorithm(py::module_& module);
void bind_simulation(py::module_& module);
void bind_contact(py::module_& module);
void bind_contact_simulation(py::module_& module);
void bind_task_control(py::module_& module);
void bind_traced_law(py::module_& module);

}  // namespace espalier::python
