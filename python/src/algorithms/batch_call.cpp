#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "batch_arrays.hpp"
#include "espalier/kernel/text.hpp"
#include "python/src/values.hpp"

// A batch as Python calls it: arrays are (batch, n), one state after the other.

namespace espalier::python {

/// From the arguments of a call to what it returns.
class BoundAlgorithm::BatchCall {
 public:
  BatchCall(BoundAlgorithm& owner, Call& call) : owner_(owner), asker_(owner.asker_), call_(call) {
    arrays_.N = -1;
  }

  void read();
  void make_results();
  void run();
  py::object answer();

 private:
  const double* rows(const py::object& x);
  void expect_count(const char* what, const py::object& x);
  void read_wrenches();
  void read_wrenches_by_link(const py::dict& by_link);
  void read_others();
  py::object place_for(const Result& r) const;
  bool disturbs(const py::object& out) const;
  void expect_apart() const;
  void expect_place(const py::object& out, const std::vector<py::ssize_t>& dims) const;
  void expect_status() const;

  BoundAlgorithm& owner_;
  const Asker& asker_;
  Call& call_;
  BatchArrays arrays_;
  std::vector<py::object> kept_;  ///< what the pointers point into
  std::vector<Extent> in_place_;  ///< inputs that results may replace row for row
  std::vector<double> near_;      ///< whether a dead point is near, where that is told
  bool floats_ = false;           ///< whether q is of floats
  Choice choice_;
  std::vector<py::object> outputs_;  ///< as given; null where there is none
  std::vector<Plain> written_;
};

py::object BoundAlgorithm::solve_batch(Call& call) {
  BatchCall batch(*this, call);
  batch.read();
  batch.make_results();
  batch.run();
  return batch.answer();
}

const double* BoundAlgorithm::BatchCall::rows(const py::object& x) {
  Plain plain = Plain::ensure(x);
  if (!plain) throw py::error_already_set();
  kept_.push_back(plain);
  return plain.data();
}

void BoundAlgorithm::BatchCall::expect_count(const char* what, const py::object& x) {
  const long n = extent(x, 0);
  if (arrays_.N < 0) arrays_.N = n;
  if (arrays_.N == n) return;
  throw SizeMismatch(asker_.who + ": number of states of " + what + " is " + std::to_string(n) +
                     ", expected " + std::to_string(arrays_.N) + " as of the others");
}

void BoundAlgorithm::BatchCall::read() {
  for (int i = 0; i < 4; ++i) {
    const py::object& x = call_.role(i);
    if (!x) continue;
    if (i == 0) floats_ = py::reinterpret_borrow<py::array>(x).itemsize() == 4;
    arrays_.same[i] = dimensions(x) == 1;
    if (!arrays_.same[i]) expect_count(role_names[i], x);
    arrays_.inputs[i] = rows(x);
    // Positions are read once more, for the loops' residuals.
    if (i > 0 && !arrays_.same[i]) in_place_.push_back(extent_of(kept_.back()));
  }
  if (call_.wrenches) read_wrenches();
  read_others();
}

void BoundAlgorithm::BatchCall::read_wrenches() {
  if (py::isinstance<py::dict>(call_.wrenches)) {
    read_wrenches_by_link(py::reinterpret_borrow<py::dict>(call_.wrenches));
    return;
  }
  const auto links = static_cast<long>(owner_.robot_.model->links().size());
  const py::array array = real_array(call_.wrenches, "wrenches", asker_);
  const int nd = static_cast<int>(array.ndim());
  if ((nd != 2 && nd != 3) || array.shape(nd - 1) != 6 || array.shape(nd - 2) != links) {
    asker_.refuse_shape("wrenches", array, "(batch, " + std::to_string(links) + ", 6)");
  }
  if (nd == 3) {
    expect_count("wrenches", array);
    arrays_.wrenches = rows(array);
    return;
  }
  const double* w = rows(array);
  std::vector<double>& numbers = owner_.wrench_numbers_;
  numbers.resize(6 * links * arrays_.N);
  for (long k = 0; k < arrays_.N; ++k) {
    std::copy_n(w, 6 * links, numbers.begin() + 6 * links * k);
  }
  arrays_.wrenches = numbers.data();
}

/// The same on all states, given by link.
void BoundAlgorithm::BatchCall::read_wrenches_by_link(const py::dict& by_link) {
  const Model& model = *owner_.robot_.model;
  const auto links = static_cast<long>(model.links().size());
  std::vector<double>& numbers = owner_.wrench_numbers_;
  numbers.assign(6 * links * arrays_.N, 0.0);
  for (const auto& [name, wrench] : by_link) {
    const Link& link = model.link(text_of(name, asker_.who, "link of wrenches"));
    const long at = &link - model.links().data();
    const std::vector<double> w = vector_of(wrench, "wrench", 6, asker_);
    for (long k = 0; k < arrays_.N; ++k) {
      std::copy_n(w.begin(), 6, numbers.begin() + 6 * (k * links + at));
    }
  }
  arrays_.wrenches = numbers.data();
}

void BoundAlgorithm::BatchCall::read_others() {
  if (call_.acceleration) {
    const py::array a = real_array(call_.acceleration, "acceleration", asker_);
    if (a.ndim() != 1) asker_.refuse_shape("acceleration", a, "(rows,), the same for all states");
    arrays_.acceleration = vector_of(a, "acceleration", a.shape(0), asker_);
  }
  if (call_.measurements) {
    const py::array y = real_array(call_.measurements, "measurements", asker_);
    if (y.ndim() != 2) asker_.refuse_shape("measurements", y, "(batch, rows)");
    expect_count("measurements", y);
    arrays_.measurements = rows(y);
    arrays_.measurement_rows = y.shape(1);
  }
  if (call_.multipliers) {
    const py::array x = real_array(call_.multipliers, "multipliers", asker_);
    if (x.ndim() != 1 && x.ndim() != 2) {
      asker_.refuse_shape("multipliers", x, "(nv,) or (batch, nv)");
    }
    arrays_.same_multipliers = x.ndim() == 1;
    if (!arrays_.same_multipliers) expect_count("multipliers", x);
    arrays_.multipliers = rows(x);
    arrays_.multiplier_rows = x.shape(x.ndim() - 1);
  }
  if (call_.direction) {
    for (const int role : owner_.order_) {
      const py::array x =
          owner_.direction_along(py::reinterpret_borrow<py::dict>(call_.direction), role);
      arrays_.same_direction[role] = x.ndim() == 1;
      if (x.ndim() == 2) expect_count("direction", x);
      arrays_.direction[role] = rows(x);
    }
  }
  if (call_.time_step) arrays_.time_step = number_of(call_.time_step, asker_.who, "time_step");
  if (call_.variant) {
    const std::vector<double> v = vector_of(call_.variant, "variant", arrays_.N, asker_);
    for (const double x : v) {
      const bool whole = x >= 0.0 && x <= std::numeric_limits<int>::max() && x == std::floor(x);
      if (!whole) {
        throw UnknownName(asker_.who + ": variant[" + std::to_string(arrays_.variant.size()) +
                          "] is " + text::number(x) + ", expected a whole number from 0");
      }
      arrays_.variant.push_back(static_cast<int>(x));
    }
  }
}

/// Whether what is written to `out` may be read again, by another state's turn.
bool BoundAlgorithm::BatchCall::disturbs(const py::object& out) const {
  const Extent place = extent_of(out);
  const auto same = std::find(in_place_.begin(), in_place_.end(), place);
  return std::any_of(kept_.begin(), kept_.end(), [&](const py::object& in) {
    const Extent read = extent_of(in);
    return read.meets(place) && (same == in_place_.end() || read != place);
  });
}

/// @throws InvalidModel where two results would be written to one place
void BoundAlgorithm::BatchCall::expect_apart() const {
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    for (std::size_t i = 0; i < k; ++i) {
      if (outputs_[i] && outputs_[k]) owner_.expect_apart(outputs_[i], outputs_[k]);
    }
  }
}

/// Places for the results that are wanted: the caller's arrays where they can be written to as
/// they are, else new ones.
void BoundAlgorithm::BatchCall::make_results() {
  if (!call_.select.empty()) choice_ = owner_.choose(call_.select);
  const Results& results = owner_.results_;
  if (results.empty()) {
    throw Unsupported(asker_.who +
                      ": shapes of results are unknown, expected a call with one state "
                      "first (the neutral position has no answer)");
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (choice_.result >= 0 ? choice_.result != static_cast<int>(k)
                            : static_cast<int>(k) >= owner_.answers()) {
      continue;
    }
    std::vector<py::ssize_t> dims = owner_.shape(results[k]);
    dims.insert(dims.begin(), arrays_.N);
    const py::object out = place_for(results[k]);
    if (out) expect_place(out, dims);
    const bool direct = out && is_float64(out) && is_contiguous(out) && !disturbs(out);
    written_.push_back(direct ? Plain(py::reinterpret_borrow<py::array>(out)) : Plain(dims));
    outputs_.push_back(out);
    arrays_.results.push_back(static_cast<int>(k));
    arrays_.values.push_back(written_.back().mutable_data());
  }
  expect_apart();
  const int remarks = owner_.answers();  // the margin, and whether a dead point is near
  if (owner_.options_.check && !call_.status && remarks < static_cast<int>(results.size()) &&
      choice_.result < remarks) {
    near_.resize(arrays_.N);
    arrays_.results.push_back(remarks + 1);
    arrays_.values.push_back(near_.data());
  }
  if (call_.status) expect_status();
  if (call_.status || owner_.options_.check) arrays_.status.assign(arrays_.N, BatchStatus::ok);
}

/// @returns the array that the caller gives for a result, or null
py::object BoundAlgorithm::BatchCall::place_for(const Result& r) const {
  const py::object& out = call_.out;
  if (out && py::isinstance<py::dict>(out)) {
    const py::str name(r.name);
    return py::dict(out).contains(name) ? py::object(out[name]) : py::object();
  }
  if (out && choice_.result < 0 && owner_.several()) {
    throw py::type_error(asker_.who +
                         ": out is no dict, expected one of arrays by name, since "
                         "there are several results");
  }
  return out;
}

void BoundAlgorithm::BatchCall::expect_place(const py::object& out,
                                             const std::vector<py::ssize_t>& dims) const {
  if (!py::isinstance<py::array>(out)) {
    throw py::type_error(asker_.who + ": out is no array, expected one");
  }
  const py::array given = out;
  const bool whole = choice_.row < 0;
  if (!whole || given.ndim() != static_cast<py::ssize_t>(dims.size()) ||
      !std::equal(dims.begin(), dims.end(), given.shape())) {
    asker_.refuse_shape("out", given, std::string(py::str(py::tuple(py::cast(dims)))));
  }
  if (given.dtype().kind() != 'f') {
    throw py::type_error(asker_.who + ": dtype of out is " + std::string(py::str(given.dtype())) +
                         ", expected float64 or float32");
  }
  if (!is_writeable(out)) {
    raise("InvalidModel", asker_.who + ": out is read-only, expected an array to write to");
  }
}

void BoundAlgorithm::BatchCall::expect_status() const {
  const py::array given = py::array::ensure(call_.status);
  if (!given || given.dtype().kind() != 'u' || given.itemsize() != 1 || given.ndim() != 1 ||
      given.shape(0) != arrays_.N || !is_contiguous(given) || !is_writeable(given)) {
    throw SizeMismatch(asker_.who +
                       ": status is no such array, expected a contiguous one of "
                       "uint8 and shape (" +
                       std::to_string(arrays_.N) + ",)");
  }
}

void BoundAlgorithm::BatchCall::run() {
  const Options& options = owner_.options_;
  const bool single = options.precision.empty() ? floats_ : options.precision == "float";
  const Precision precision = single ? Precision::floats : Precision::doubles;
  // Batch has no place for these.
  const bool by_state = call_.acceleration || call_.measurements || call_.multipliers ||
                        call_.direction || call_.time_step;
  const bool packs = !by_state && owner_.batch(precision) != nullptr;
  if (arrays_.N > 0) {
    WithoutGil released;
    if (packs) {
      owner_.solve_packs(arrays_, precision);
    } else {
      owner_.solve_by_loop(arrays_);
    }
  }
  if (call_.status) {
    std::memcpy(data(call_.status), arrays_.status.data(), arrays_.status.size());
  } else if (options.check) {
    owner_.expect_ok(arrays_.status);
    if (std::find(near_.begin(), near_.end(), 1.0) != near_.end()) owner_.warn_near_dead_point();
  }
}

py::object BoundAlgorithm::BatchCall::answer() {
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (!outputs_[k]) {
      outputs_[k] = floats_ ? py::object(written_[k].attr("astype")("float32")) : written_[k];
    } else if (!outputs_[k].is(written_[k])) {
      outputs_[k].attr("__setitem__")(py::ellipsis(), written_[k]);
    }
  }
  if (choice_.row >= 0) {
    return outputs_[0].attr("__getitem__")(py::make_tuple(py::slice(0, arrays_.N, 1), choice_.row));
  }
  if (choice_.result >= 0 || !owner_.several()) return outputs_[0];
  py::dict all;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    all[py::str(owner_.results_[arrays_.results[k]].name)] = outputs_[k];
  }
  return py::module_::import("espalier.results").attr("Results")(all);
}

}  // namespace espalier::python
