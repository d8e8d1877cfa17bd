#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>

#include "algorithm.hpp"

// What Python gets: which results, in which arrays, and whether they are numbers.

namespace espalier::python {

int BoundAlgorithm::answers() const {
  const auto count = static_cast<int>(results_.size());
  return count > 2 && results_[count - 2].name == "singularity_margin" ? count - 2 : count;
}

bool BoundAlgorithm::several() const {
  // A robot may have one link or joint, but scripts do not ask how many there are.
  static constexpr std::array<std::string_view, 4> by_part{
      "jacobian", "joint-wrenches", "kinematics-derivatives", "subsystem-matrices"};
  return answers() > 1 ||
         std::find(by_part.begin(), by_part.end(), entry_.problem) != by_part.end();
}

void BoundAlgorithm::warn_near_dead_point() const {
  const std::string text = asker_.who +
                           ": near_dead_point is 1, expected 0 (derivatives may be far off here; "
                           "declare other joints of the loop independent)";
  constexpr int caller = 2;  // of the function of a model
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), caller) != 0) throw py::error_already_set();
}

void BoundAlgorithm::expect_apart(py::handle out, py::handle other) const {
  if (!py::isinstance<py::array>(out) || !py::isinstance<py::array>(other)) return;
  if (!share_memory(out, other)) return;
  raise("InvalidModel",
        asker_.who + ": two arrays of out share memory, expected one of its own for each result");
}

void BoundAlgorithm::expect_finite() const {
  for (const Result& r : results_) {
    double sum = 0.0;
    for (const double x : r.values) sum += x - x;
    if (sum == 0.0) continue;
    for (int i = 0; i < 4; ++i) {
      if (!needed_[i]) continue;
      const std::vector<double>& given = inputs_.*role_members[i];
      for (std::size_t k = 0; k < given.size(); ++k) {
        if (std::isfinite(given[k])) continue;
        throw SingularMechanism(asker_.who + ": " + role_names[i] + "[" + std::to_string(k) +
                                "] is " + (std::isnan(given[k]) ? "nan" : "infinite") +
                                ", expected a finite number");
      }
    }
    const auto bad =
        std::find_if(r.values.begin(), r.values.end(), [](double x) { return !std::isfinite(x); });
    throw SingularMechanism(
        asker_.who + ": " + r.name + "[" +
        std::to_string((bad - r.values.begin()) / std::max(1, r.column_count)) + "] is " +
        (std::isnan(*bad) ? "nan" : "infinite") +
        ", expected a finite number (a singular pose, or bodies without inertia about their "
        "joints; algorithm.check = False gives them all the same)");
  }
}

BoundAlgorithm::Choice BoundAlgorithm::choose(const std::string& select) const {
  std::vector<std::string> known;
  for (std::size_t k = 0; k < results_.size(); ++k) {
    if (results_[k].name == select) return {static_cast<int>(k), -1};
    known.push_back(results_[k].name);
  }
  for (std::size_t k = 0; k < results_.size(); ++k) {
    const Result& r = results_[k];
    const auto find = [&](int count, const auto& name_of) {
      for (int i = 0; i < count; ++i) {
        known.push_back(name_of(i));
        if (known.back() == select) return i;
      }
      return -1;
    };
    int row = -1;
    if (r.rows == ResultAxis::links) {
      row = find(r.row_count, [&](int i) { return robot_.model->links()[i].name; });
    } else if (r.rows == ResultAxis::named) {
      row = find(r.row_count, [&](int i) { return r.names[i]; });
    } else if (r.rows == ResultAxis::rates) {
      for (const Coordinate& c : robot_.model->coordinates()) {
        known.push_back(c.name);
        if (c.name == select && c.size == 1) row = c.start;
      }
    }
    if (row >= 0) return {static_cast<int>(k), row};
  }
  throw UnknownName(asker_.who + ": result is '" + select + "'" + suggest(select, known));
}

/// Of a result in NumPy: axes that stand for one thing are left out.
std::vector<py::ssize_t> BoundAlgorithm::shape(const Result& r) const {
  std::vector<py::ssize_t> out;
  if (r.rows != ResultAxis::one) out.push_back(r.row_count);
  if (r.columns != ResultAxis::one) out.push_back(r.column_count);
  return out;
}

py::object BoundAlgorithm::value_of_one(const Result& r, py::handle out) const {
  const std::vector<py::ssize_t> dims = shape(r);
  if (out) {
    if (!py::isinstance<py::array>(out)) {
      throw py::type_error(asker_.who + ": out is no array, expected one of shape of '" + r.name +
                           "'");
    }
    const py::array array = py::reinterpret_borrow<py::array>(out);
    if (array.ndim() != static_cast<py::ssize_t>(dims.size()) ||
        !std::equal(dims.begin(), dims.end(), array.shape())) {
      asker_.refuse_shape("out", array, std::string(py::str(py::tuple(py::cast(dims)))));
    }
    if (!is_writeable(out)) {
      raise("InvalidModel", asker_.who + ": out is read-only, expected an array to write to");
    }
    if (is_float64(out) && is_contiguous(out)) {
      std::memcpy(data(out), r.values.data(), r.values.size() * sizeof(double));
    } else {
      real_array(out, "out", asker_);  // refuses other dtypes
      if (array.dtype().kind() != 'f') {
        throw py::type_error(asker_.who + ": dtype of out is " +
                             std::string(py::str(array.dtype())) + ", expected float64 or float32");
      }
      array.attr("__setitem__")(py::ellipsis(), array_of(r.values.data(), dims));
    }
    return py::reinterpret_borrow<py::object>(out);
  }
  if (dims.empty()) return py::float_(r.values[0]);
  return array_of(r.values.data(), dims);
}

py::object BoundAlgorithm::result_of_one(const Call& call, const Choice& choice) {
  if (choice.row >= 0) {
    const Result& r = results_[choice.result];
    Result row;
    row.name = r.name;
    row.shape(ResultAxis::one, 1, r.columns, r.column_count);
    std::copy_n(r.values.begin() + choice.row * r.column_count, r.column_count, row.values.begin());
    return value_of_one(row, call.out);
  }
  if (choice.result >= 0) return value_of_one(results_[choice.result], call.out);
  const std::span<const Result> given(results_.data(), answers());
  if (!several()) return value_of_one(given[0], call.out);
  if (call.out && !py::isinstance<py::dict>(call.out)) {
    throw py::type_error(asker_.who +
                         ": out is no dict, expected one of arrays by name, since "
                         "there are several results");
  }
  std::vector<py::object> outs(given.size());
  for (std::size_t k = 0; call.out && k < given.size(); ++k) {
    const py::str name(given[k].name);
    if (!py::reinterpret_borrow<py::dict>(call.out).contains(name)) continue;
    outs[k] = call.out[name];
    for (std::size_t i = 0; i < k; ++i) {
      if (outs[i]) expect_apart(outs[i], outs[k]);
    }
  }
  py::dict all;
  for (std::size_t k = 0; k < given.size(); ++k) {
    all[py::str(given[k].name)] = value_of_one(given[k], outs[k]);
  }
  return py::module_::import("espalier.results").attr("Results")(all);
}

}  // namespace espalier::python
