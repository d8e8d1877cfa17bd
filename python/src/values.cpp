#include "values.hpp"

#include <limits>

namespace espalier::python {

namespace {

[[noreturn]] void refuse(py::handle object, const std::string& who, const std::string& what,
                         const std::string& wanted) {
  constexpr std::size_t longest = 60;
  PyErr_Clear();
  std::string is = py::repr(object);
  if (is.size() > longest) {
    is = "of type " + std::string(py::str(py::type::of(object).attr("__name__")));
  }
  throw py::type_error(who + ": " + what + " is " + is + ", expected " + wanted);
}

template <class X, class F>
std::vector<X> list_of(py::handle object, const std::string& who, const std::string& what,
                       const char* wanted, const F& one) {
  const bool several = py::isinstance<py::iterable>(object) && !py::isinstance<py::str>(object);
  if (!several) refuse(object, who, what, wanted);
  std::vector<X> out;
  for (const py::handle item : object) {
    out.push_back(one(item, who, what + "[" + std::to_string(out.size()) + "]"));
  }
  return out;
}

}  // namespace

double number_of(py::handle object, const std::string& who, const std::string& what) {
  const double x = PyFloat_AsDouble(object.ptr());
  if (x == -1.0 && PyErr_Occurred() != nullptr) refuse(object, who, what, "a number");
  return x;
}

int whole_of(py::handle object, const std::string& who, const std::string& what) {
  using Limits = std::numeric_limits<int>;
  const py::object whole = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  const long x = whole ? PyLong_AsLong(whole.ptr()) : 0;
  const bool fits = PyErr_Occurred() == nullptr && x >= Limits::min() && x <= Limits::max();
  if (!fits || py::isinstance<py::bool_>(object)) {
    refuse(object, who, what,
           "a whole number from " + std::to_string(Limits::min()) + " to " +
               std::to_string(Limits::max()));
  }
  return static_cast<int>(x);
}

std::string text_of(py::handle object, const std::string& who, const std::string& what) {
  if (!py::isinstance<py::str>(object)) refuse(object, who, what, "a text");
  const char* text = PyUnicode_AsUTF8(object.ptr());
  if (text == nullptr) refuse(object, who, what, "a text of UTF-8");  // a half of a surrogate pair
  return text;
}

std::vector<double> numbers_of(py::handle object, const std::string& who, const std::string& what) {
  return list_of<double>(object, who, what, "a list of numbers", number_of);
}

std::vector<std::string> texts_of(py::handle object, const std::string& who,
                                  const std::string& what) {
  return list_of<std::string>(object, who, what, "a list of texts", text_of);
}

std::string who_is(py::handle part) {
  const std::string kind = py::str(py::type::of(part).attr("__name__"));
  for (const char* key : {"name", "joint", "link"}) {
    const py::object name = py::getattr(part, key, py::none());
    if (py::isinstance<py::str>(name) && py::len(name) > 0) {
      return kind + " '" + std::string(py::str(name)) + "'";
    }
  }
  return kind;
}

}  // namespace espalier::python
