#include "arrays.hpp"

namespace espalier::python {

namespace {

std::string shape_of(py::handle array) {
  return py::str(py::tuple(py::reinterpret_borrow<py::array>(array).attr("shape")));
}

}  // namespace

void Asker::refuse_shape(const char* what, py::handle got, const std::string& wanted) const {
  throw SizeMismatch(who + ": shape of " + what + " is " + shape_of(got) + ", expected " + wanted);
}

bool is_masked_array(py::handle array) {
  return py::isinstance(array, py::module_::import("numpy").attr("ma").attr("MaskedArray"));
}

Extent extent_of(py::handle array) {
  const char *begin = static_cast<const char*>(data(array)), *end = begin;
  for (int axis = 0; axis < dimensions(array); ++axis) {
    const py::ssize_t n = extent(array, axis), step = stride(array, axis);
    if (n == 0) return {begin, begin};
    (step < 0 ? begin : end) += (n - 1) * step;
  }
  return {begin, end + py::reinterpret_borrow<py::array>(array).itemsize()};
}

bool share_memory(py::handle a, py::handle b) {
  return extent_of(a).meets(extent_of(b)) &&
         py::module_::import("numpy").attr("shares_memory")(a, b).cast<bool>();
}

py::array real_array(py::handle object, const char* what, const Asker& asker) {
  if (is_float64(object)) return py::reinterpret_borrow<py::array>(object);
  py::object given = py::reinterpret_borrow<py::object>(object);
  if (!py::isinstance<py::array>(given) && py::hasattr(given, "__dlpack__")) {
    given = py::module_::import("numpy").attr("from_dlpack")(given);
  }
  if (py::isinstance<py::array>(given) && is_masked_array(given)) {
    const auto masked = py::module_::import("numpy").attr("ma").attr("count_masked")(given);
    if (masked.cast<long>() > 0) {
      throw py::type_error(asker.who + ": number of masked entries of " + what + " is " +
                           std::string(py::str(masked)) +
                           ", expected 0 (.filled(x) gives them a number)");
    }
    given = given.attr("data");
  }
  const py::array array = py::array::ensure(given);
  if (!array) {
    PyErr_Clear();
    throw py::type_error(asker.who + ": " + what + " is of type " +
                         std::string(py::str(py::type::of(object).attr("__name__"))) +
                         ", expected an array of float64 or float32");
  }
  const char kind = array.dtype().kind();
  const bool real = kind == 'f' || kind == 'i' || kind == 'u';
  if (!real) {
    throw py::type_error(asker.who + ": dtype of " + what + " is " +
                         std::string(py::str(array.dtype())) + ", expected float64 or float32");
  }
  if (array.dtype().is(py::dtype::of<float>()) ||
      (kind == 'f' && array.itemsize() == 4 && array.dtype().byteorder() == '=')) {
    return array;
  }
  return py::array_t<double, py::array::c_style | py::array::forcecast>(array);
}

std::vector<double> vector_of(py::handle object, const char* what, long n, const Asker& asker) {
  const py::array array = real_array(object, what, asker);
  if (array.ndim() != 1 || array.shape(0) != n) {
    asker.refuse_shape(what, array, "(" + std::to_string(n) + ",)");
  }
  const py::array_t<double, py::array::c_style | py::array::forcecast> plain(array);
  return {plain.data(), plain.data() + n};
}

std::vector<double> columns_of(py::handle object, const char* what, long n, long N,
                               const Asker& asker) {
  const py::array array = real_array(object, what, asker);
  if (array.ndim() != 2 || array.shape(1) != n || (N >= 0 && array.shape(0) != N)) {
    asker.refuse_shape(
        what, array,
        "(" + (N < 0 ? std::string("batch") : std::to_string(N)) + ", " + std::to_string(n) + ")");
  }
  const py::array_t<double, py::array::c_style | py::array::forcecast> plain(array);
  const long count = plain.shape(0);
  std::vector<double> out(n * count);
  for (long k = 0; k < count; ++k) {
    for (long i = 0; i < n; ++i) out[i * count + k] = plain.data()[k * n + i];
  }
  return out;
}

py::array_t<double> rows_of(std::span<const double> columns, long n, long N) {
  py::array_t<double> out({N, n});
  for (long k = 0; k < N; ++k) {
    for (long i = 0; i < n; ++i) out.mutable_data()[k * n + i] = columns[i * N + k];
  }
  return out;
}

py::array_t<double> array_of(const double* values, std::vector<py::ssize_t> shape) {
  return py::array_t<double>(std::move(shape), values);
}

}  // namespace espalier::python
