#pragma once

#include <pybind11/numpy.h>

#include <span>
#include <string>
#include <vector>

#include "robot.hpp"

/// NumPy arrays as algorithms want them.

namespace espalier::python {

/// Who asks for arrays, for messages: "forward-dynamics by aba on 'tello'".
struct Asker {
  std::string who;
  /// "<who>: shape of <what> is (3,), expected (24,) or (batch, 24)". Raises SizeMismatch.
  [[noreturn]] void refuse_shape(const char* what, py::handle got, const std::string& wanted) const;
};

/// Real numbers as an array of float64 or float32: the object itself if it is one, else what
/// NumPy makes of lists, integers and anything with __dlpack__.
/// @throws TypeError (Python) for complex numbers, texts, objects, booleans and masked entries
py::array real_array(py::handle object, const char* what, const Asker& asker);

/// Whether it is one of numpy.ma, whose entries may be none. Slow.
bool is_masked_array(py::handle array);

/// Whether it is a plain array of float64 in native byte order: the common case, and fast to tell.
inline bool is_float64(py::handle object) {
  const auto& api = py::detail::npy_api::get();
  if (!api.PyArray_Check_(object.ptr())) return false;
  if (Py_TYPE(object.ptr()) != api.PyArray_Type_ && is_masked_array(object)) return false;
  const auto* array = py::detail::array_proxy(object.ptr());
  const auto* type = py::detail::array_descriptor_proxy(array->descr);
  return type->type_num == py::detail::npy_api::NPY_DOUBLE_ &&
         (array->flags & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0 &&
         (type->byteorder == '=' || type->byteorder == '|');
}
inline int dimensions(py::handle array) { return py::detail::array_proxy(array.ptr())->nd; }
inline py::ssize_t extent(py::handle array, int axis) {
  return py::detail::array_proxy(array.ptr())->dimensions[axis];
}
inline py::ssize_t stride(py::handle array, int axis) {
  return py::detail::array_proxy(array.ptr())->strides[axis];
}
inline void* data(py::handle array) { return py::detail::array_proxy(array.ptr())->data; }
inline bool is_contiguous(py::handle array) {
  return (py::detail::array_proxy(array.ptr())->flags &
          py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_) != 0;
}
inline bool is_writeable(py::handle array) {
  return (py::detail::array_proxy(array.ptr())->flags &
          py::detail::npy_api::NPY_ARRAY_WRITEABLE_) != 0;
}

/// Where the numbers of an array lie.
struct Extent {
  const char *begin, *end;
  bool meets(const Extent& other) const { return begin < other.end && other.begin < end; }
  bool operator==(const Extent&) const = default;
};
Extent extent_of(py::handle array);
/// Whether two arrays have a number in common.
bool share_memory(py::handle a, py::handle b);

/// A vector of size n, copied. @throws TypeError, SizeMismatch
std::vector<double> vector_of(py::handle object, const char* what, long n, const Asker& asker);

/// An array (N, n) as n rows of N numbers. @param N  -1: any number
/// @throws TypeError, SizeMismatch
std::vector<double> columns_of(py::handle object, const char* what, long n, long N,
                               const Asker& asker);
/// A new array (N, n) from n rows of N numbers.
py::array_t<double> rows_of(std::span<const double> columns, long n, long N);

/// A new array of float64 that holds a copy.
py::array_t<double> array_of(const double* values, std::vector<py::ssize_t> shape);

}  // namespace espalier::python
