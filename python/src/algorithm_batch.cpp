#include <pthread.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <ctime>
#include <exception>
#include <thread>

#include "algorithm.hpp"

// Batches: arrays of Python are (batch, n), one state after the other. What cannot run on packs
// runs in a loop, a state after the other on every core.

namespace espalier::python {

namespace {

constexpr std::array<const char*, 4> role_names{"q", "v", "tau", "vdot"};
constexpr std::array<In<double> BatchInputs::*, 4> batch_members{
    &BatchInputs::q, &BatchInputs::v, &BatchInputs::tau, &BatchInputs::vdot};
constexpr std::array<std::vector<double> Inputs::*, 4> role_members{&Inputs::q, &Inputs::v,
                                                                    &Inputs::tau, &Inputs::vdot};

std::atomic<int> forks{0};

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

using Plain = py::array_t<double, py::array::c_style | py::array::forcecast>;

}  // namespace

int fork_count() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
  return forks.load() + 0 * registered;
}

/// What a batch reads and writes; rows of states.
struct BoundAlgorithm::BatchArrays {
  long N = 0;
  std::array<const double*, 4> inputs{};  ///< (N, size) or, if `same`, (size); null: zeros
  std::array<bool, 4> same{};
  const double* wrenches = nullptr;  ///< (N, links, 6)
  std::vector<double> acceleration;
  const double* measurements = nullptr;  ///< (N, rows)
  long measurement_rows = 0;
  const double* multipliers = nullptr;  ///< (N, multiplier_rows) or, if the same, one row
  long multiplier_rows = 0;
  bool same_multipliers = false;
  double time_step = Inputs{}.time_step;
  std::vector<int> variant;
  /// Results that are wanted, by their index, and where they go.
  std::vector<int> results;
  std::vector<double*> values;
  std::vector<BatchStatus> status;
};

Batch* BoundAlgorithm::batch(Precision precision) {
  const int which = precision == Precision::floats ? 1 : 0;
  if (no_packs_) return nullptr;
  // Threads do not live on in a child process.
  if (batches_[which] != nullptr && forks_[which] == fork_count()) return batches_[which].get();
  BatchOptions options;
  options.threads = fork_count() > 0 ? 1 : options_.threads;
  options.precision = precision;
  options.loop_tolerance = options_.loop_tolerance;
  options.variants = options_.variants;
  try {
    auto made = std::make_unique<Batch>(robot_.host->registry(), entry_, setup_, options);
    made->set_gravity(algorithm_->gravity());
    if (batches_[which] != nullptr) (void)batches_[which].release();  // its threads are gone
    batches_[which] = std::move(made);
    forks_[which] = fork_count();
  } catch (const Unsupported& e) {
    if (!options_.variants.empty() || precision == Precision::floats) throw;
    no_packs_ = e.what();
  }
  return batches_[which].get();
}

/// Straight from Python's arrays and into them.
void BoundAlgorithm::solve_packs(BatchArrays& arrays, Precision precision) {
  Batch& run = *batch(precision);
  const long N = arrays.N;
  BatchInputs in;
  in.layout = BatchLayout::states;
  for (int i = 0; i < 4; ++i) {
    if (!needed_[i]) continue;
    if (arrays.inputs[i] != nullptr && !arrays.same[i]) {
      in.*batch_members[i] = {arrays.inputs[i], sizes_[i] * N};
      continue;
    }
    rows_[i].resize(sizes_[i] * N);
    for (long k = 0; k < N; ++k) {
      double* to = rows_[i].data() + k * sizes_[i];
      if (arrays.inputs[i] == nullptr) {
        std::fill_n(to, sizes_[i], 0.0);
      } else {
        std::copy_n(arrays.inputs[i], sizes_[i], to);
      }
    }
    in.*batch_members[i] = rows_[i];
  }
  if (arrays.wrenches != nullptr) {
    in.wrenches = {arrays.wrenches, 6L * static_cast<long>(robot_.model->links().size()) * N};
  }
  in.variant = arrays.variant;
  std::vector<BatchOutput> out;
  for (std::size_t k = 0; k < arrays.results.size(); ++k) {
    const Result& r = results_[arrays.results[k]];
    out.push_back({r.name, {arrays.values[k], static_cast<long>(r.values.size()) * N}});
  }
  run.evaluate(static_cast<int>(N), in, out, arrays.status);
}

/// For algorithms without packs: every core takes the next state that nobody has.
void BoundAlgorithm::solve_by_loop(BatchArrays& arrays) {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const long wanted = options_.threads > 0 ? options_.threads : cores;
  const int threads = static_cast<int>(std::clamp(arrays.N / 16, 1L, wanted));
  while (static_cast<int>(workers_.size()) < threads) {
    workers_.push_back(robot_.host->registry().create(entry_, setup_));
    workers_.back()->set_gravity(algorithm_->gravity());
  }
  std::atomic<long> next{0};
  std::mutex first;
  std::exception_ptr error;
  const auto work = [&](int number) {
    Inputs in;
    Results results;
    Wrenches<double> wrenches(robot_.model);
    in.task_acceleration = arrays.acceleration;
    in.time_step = arrays.time_step;
    for (int i = 0; i < 4; ++i) (in.*role_members[i]).assign(sizes_[i], 0.0);
    try {
      for (long k; (k = next.fetch_add(1)) < arrays.N;) {
        for (int i = 0; i < 4; ++i) {
          if (arrays.inputs[i] == nullptr) continue;
          const double* from = arrays.inputs[i] + (arrays.same[i] ? 0 : k * sizes_[i]);
          std::copy_n(from, sizes_[i], (in.*role_members[i]).begin());
        }
        if (arrays.measurements != nullptr) {
          const double* y = arrays.measurements + k * arrays.measurement_rows;
          in.measurements.assign(y, y + arrays.measurement_rows);
        }
        if (arrays.multipliers != nullptr) {
          const double* x =
              arrays.multipliers + (arrays.same_multipliers ? 0 : k * arrays.multiplier_rows);
          in.multipliers.assign(x, x + arrays.multiplier_rows);
        }
        if (arrays.wrenches != nullptr) {
          wrenches.clear();
          const double* w = arrays.wrenches + k * 6 * robot_.model->links().size();
          for (const Link& link : robot_.model->links()) {
            wrenches.add(link, {{w[0], w[1], w[2]}, {w[3], w[4], w[5]}});
            w += 6;
          }
          in.wrenches = &wrenches;
        }
        workers_[number]->solve(in, results);
        double sum = 0.0;
        for (const Result& r : results) {
          for (const double x : r.values) sum += x - x;
        }
        for (std::size_t r = 0; r < arrays.results.size(); ++r) {
          const std::vector<double>& from = results[arrays.results[r]].values;
          std::copy(from.begin(), from.end(), arrays.values[r] + k * from.size());
        }
        if (arrays.status.empty()) continue;
        BatchStatus& status = arrays.status[k];
        status = sum == 0.0 ? BatchStatus::ok : BatchStatus::singular;
        if (robot_.model->is_tree() || !needed_[0] || sum != 0.0) continue;
        if (!(examine(*robot_.model, in.q.data()).residual <= options_.loop_tolerance)) {
          status = BatchStatus::loop_open;
        }
      }
    } catch (...) {
      const std::scoped_lock lock(first);
      if (!error) error = std::current_exception();
      next.store(arrays.N);
    }
  };
  std::vector<std::thread> others;
  for (int number = 1; number < threads; ++number) others.emplace_back(work, number);
  work(0);
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

void BoundAlgorithm::expect_ok(const std::vector<BatchStatus>& status) const {
  for (const BatchStatus bad : {BatchStatus::loop_open, BatchStatus::singular}) {
    const auto found = std::find(status.begin(), status.end(), bad);
    if (found == status.end()) continue;
    const std::string message =
        asker_.who + ": state " + std::to_string(found - status.begin()) + " of the batch is " +
        std::string(to_string(bad)) + " (and " +
        std::to_string(std::count(status.begin(), status.end(), bad) - 1) +
        " more), expected ok (give status= an array to be told of each state instead)";
    if (bad == BatchStatus::loop_open) raise("InvalidState", message);
    throw SingularMechanism(message);
  }
}

py::object BoundAlgorithm::solve_batch(Call& call) {
  BatchArrays arrays;
  arrays.N = -1;
  std::vector<py::object> kept;  // what the pointers point into
  bool floats = false;
  const auto rows = [&](const py::object& x) {
    Plain plain = Plain::ensure(x);
    if (!plain) throw py::error_already_set();
    kept.push_back(plain);
    return plain.data();
  };
  const auto expect_count = [&](const char* what, const py::object& x) {
    const long n = extent(x, 0);
    if (arrays.N < 0) arrays.N = n;
    if (arrays.N == n) return;
    throw SizeMismatch(asker_.who + ": number of states of " + what + " is " + std::to_string(n) +
                       ", expected " + std::to_string(arrays.N) + " as of the others");
  };
  for (int i = 0; i < 4; ++i) {
    const py::object& x = call.role(i);
    if (!x) continue;
    if (i == 0) floats = py::reinterpret_borrow<py::array>(x).itemsize() == 4;
    arrays.same[i] = dimensions(x) == 1;
    if (!arrays.same[i]) expect_count(role_names[i], x);
    arrays.inputs[i] = rows(x);
  }
  const long N = arrays.N;
  const auto links = static_cast<long>(robot_.model->links().size());
  if (call.wrenches && py::isinstance<py::dict>(call.wrenches)) {
    // The same on all states, given by link.
    wrench_numbers_.assign(6 * links * N, 0.0);
    for (const auto& [name, wrench] : py::reinterpret_borrow<py::dict>(call.wrenches)) {
      const Link& link = robot_.model->link(name.cast<std::string>());
      const long at = &link - robot_.model->links().data();
      const std::vector<double> w = vector_of(wrench, "wrench", 6, asker_);
      for (long k = 0; k < N; ++k) {
        std::copy_n(w.begin(), 6, wrench_numbers_.begin() + 6 * (k * links + at));
      }
    }
    arrays.wrenches = wrench_numbers_.data();
  } else if (call.wrenches) {
    const py::array array = real_array(call.wrenches, "wrenches", asker_);
    const int nd = static_cast<int>(array.ndim());
    if ((nd != 2 && nd != 3) || array.shape(nd - 1) != 6 || array.shape(nd - 2) != links) {
      asker_.refuse_shape("wrenches", array, "(batch, " + std::to_string(links) + ", 6)");
    }
    if (nd == 3) {
      expect_count("wrenches", array);
      arrays.wrenches = rows(array);
    } else {
      const double* w = rows(array);
      wrench_numbers_.resize(6 * links * N);
      for (long k = 0; k < N; ++k)
        std::copy_n(w, 6 * links, wrench_numbers_.begin() + 6 * links * k);
      arrays.wrenches = wrench_numbers_.data();
    }
  }
  if (call.acceleration) {
    const py::array a = real_array(call.acceleration, "acceleration", asker_);
    if (a.ndim() != 1) asker_.refuse_shape("acceleration", a, "(rows,), the same for all states");
    arrays.acceleration = vector_of(a, "acceleration", a.shape(0), asker_);
  }
  if (call.measurements) {
    const py::array y = real_array(call.measurements, "measurements", asker_);
    if (y.ndim() != 2) asker_.refuse_shape("measurements", y, "(batch, rows)");
    expect_count("measurements", y);
    arrays.measurements = rows(y);
    arrays.measurement_rows = y.shape(1);
  }
  if (call.multipliers) {
    const py::array x = real_array(call.multipliers, "multipliers", asker_);
    if (x.ndim() != 1 && x.ndim() != 2) {
      asker_.refuse_shape("multipliers", x, "(nv,) or (batch, nv)");
    }
    arrays.same_multipliers = x.ndim() == 1;
    if (!arrays.same_multipliers) expect_count("multipliers", x);
    arrays.multipliers = rows(x);
    arrays.multiplier_rows = x.shape(x.ndim() - 1);
  }
  if (call.time_step) arrays.time_step = call.time_step.cast<double>();
  if (call.variant) {
    const auto v = py::array_t<int, py::array::c_style | py::array::forcecast>(call.variant);
    if (v.ndim() != 1 || v.shape(0) != N) {
      asker_.refuse_shape("variant", v, "(" + std::to_string(N) + ",)");
    }
    arrays.variant.assign(v.data(), v.data() + N);
  }

  const Choice choice = call.select.empty() ? Choice{} : choose(call.select);
  if (results_.empty()) {
    throw Unsupported(asker_.who +
                      ": shapes of results are unknown, expected a call with one state "
                      "first (the neutral position has no answer)");
  }
  std::vector<py::object> outputs;
  std::vector<Plain> written;
  for (std::size_t k = 0; k < results_.size(); ++k) {
    if (choice.result >= 0 && choice.result != static_cast<int>(k)) continue;
    std::vector<py::ssize_t> dims = shape(results_[k]);
    dims.insert(dims.begin(), N);
    py::object out = call.out;
    if (out && py::isinstance<py::dict>(out)) {
      const py::str name(results_[k].name);
      out = py::dict(out).contains(name) ? py::object(call.out[name]) : py::object();
    } else if (out && choice.result < 0 && results_.size() > 1) {
      throw py::type_error(asker_.who +
                           ": out is no dict, expected one of arrays by name, since "
                           "there are several results");
    }
    if (out) {
      if (!py::isinstance<py::array>(out)) {
        throw py::type_error(asker_.who + ": out is no array, expected one");
      }
      const py::array given = out;
      const bool whole = choice.row < 0;
      if (!whole || given.ndim() != static_cast<py::ssize_t>(dims.size()) ||
          !std::equal(dims.begin(), dims.end(), given.shape())) {
        asker_.refuse_shape("out", given, std::string(py::str(py::tuple(py::cast(dims)))));
      }
      if (given.dtype().kind() != 'f') {
        throw py::type_error(asker_.who + ": dtype of out is " +
                             std::string(py::str(given.dtype())) + ", expected float64 or float32");
      }
      if (!is_writeable(out)) {
        throw py::value_error(asker_.who + ": out is read-only, expected an array to write to");
      }
    }
    const bool direct = out && is_float64(out) && is_contiguous(out);
    written.push_back(direct ? Plain(py::reinterpret_borrow<py::array>(out)) : Plain(dims));
    outputs.push_back(out);
    arrays.results.push_back(static_cast<int>(k));
    arrays.values.push_back(written.back().mutable_data());
  }
  if (call.status) {
    const py::array given = py::array::ensure(call.status);
    if (!given || given.dtype().kind() != 'u' || given.itemsize() != 1 || given.ndim() != 1 ||
        given.shape(0) != N || !is_contiguous(given) || !is_writeable(given)) {
      throw SizeMismatch(asker_.who +
                         ": status is no such array, expected a contiguous one of "
                         "uint8 and shape (" +
                         std::to_string(N) + ",)");
    }
  }
  if (call.status || options_.check) arrays.status.assign(N, BatchStatus::ok);

  const bool single = options_.precision.empty() ? floats : options_.precision == "float";
  const Precision precision = single ? Precision::floats : Precision::doubles;
  // Batch has no place for these.
  const bool by_state =
      call.acceleration || call.measurements || call.multipliers || call.time_step;
  const bool packs = !by_state && batch(precision) != nullptr;
  if (N > 0) {
    WithoutGil released;
    if (packs) {
      solve_packs(arrays, precision);
    } else {
      solve_by_loop(arrays);
    }
  }
  if (call.status) {
    std::memcpy(data(call.status), arrays.status.data(), arrays.status.size());
  } else if (options_.check) {
    expect_ok(arrays.status);
  }

  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k]) {
      outputs[k] = floats ? py::object(written[k].attr("astype")("float32")) : written[k];
    } else if (!outputs[k].is(written[k])) {
      outputs[k].attr("__setitem__")(py::ellipsis(), written[k]);
    }
  }
  if (choice.row >= 0) {
    return outputs[0].attr("__getitem__")(py::make_tuple(py::slice(0, N, 1), choice.row));
  }
  if (outputs.size() == 1) return outputs[0];
  py::dict all;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    all[py::str(results_[arrays.results[k]].name)] = outputs[k];
  }
  return py::module_::import("espalier.results").attr("Results")(all);
}

double BoundAlgorithm::seconds_per_batch(int N, int rounds) {
  Batch* run = batch(options_.precision == "float" ? Precision::floats : Precision::doubles);
  if (run == nullptr) throw Unsupported(*no_packs_);
  WithoutGil released;
  const std::scoped_lock lock(mutex_);
  std::array<std::vector<double>, 4> rows;
  BatchInputs in;
  for (int i = 0; i < 4; ++i) {
    if (!needed_[i]) continue;
    for (const double x : inputs_.*role_members[i]) rows[i].insert(rows[i].end(), N, x);
    in.*batch_members[i] = rows[i];
  }
  std::vector<std::vector<double>> values;
  for (const Result& r : results_) values.emplace_back(r.values.size() * N);
  std::vector<BatchOutput> out;
  for (std::size_t k = 0; k < values.size(); ++k) out.push_back({results_[k].name, values[k]});
  std::vector<BatchStatus> status(options_.check ? N : 0);
  // One thread's own time is not lengthened by what else the machine does.
  const clockid_t clock = run->threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const double start = seconds_of(clock);
    run->evaluate(N, in, out, status);
    best = std::min(best, seconds_of(clock) - start);
  }
  return best;
}

}  // namespace espalier::python
