#include <pthread.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <ctime>
#include <exception>
#include <span>
#include <thread>

#include "python/src/algorithms/batch_arrays.hpp"

// How batches run: on packs or, what cannot, in a loop, a state after the other on every core.

namespace espalier::python {

namespace {

constexpr std::array<In<double> BatchInputs::*, 4> batch_members{
    &BatchInputs::q, &BatchInputs::v, &BatchInputs::tau, &BatchInputs::vdot};

std::atomic<int> forks{0};

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int fork_count() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
  return forks.load() + 0 * registered;
}

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

/// One state of a batch as an algorithm takes it.
class BoundAlgorithm::BatchState {
 public:
  BatchState(const BoundAlgorithm& owner, const BatchArrays& arrays)
      : owner_(owner), arrays_(arrays), wrenches_(owner.robot_.model) {
    in_.task_acceleration = arrays.acceleration;
    in_.time_step = arrays.time_step;
    for (int i = 0; i < 4; ++i) (in_.*role_members[i]).assign(owner.sizes_[i], 0.0);
  }

  const Inputs& read(long k) {
    for (int i = 0; i < 4; ++i) {
      if (arrays_.inputs[i] == nullptr) continue;
      const long size = owner_.sizes_[i];
      const double* from = arrays_.inputs[i] + (arrays_.same[i] ? 0 : k * size);
      std::copy_n(from, size, (in_.*role_members[i]).begin());
    }
    if (arrays_.measurements != nullptr) {
      const double* y = arrays_.measurements + k * arrays_.measurement_rows;
      in_.measurements.assign(y, y + arrays_.measurement_rows);
    }
    if (arrays_.multipliers != nullptr) {
      const long rows = arrays_.multiplier_rows;
      const double* x = arrays_.multipliers + (arrays_.same_multipliers ? 0 : k * rows);
      in_.multipliers.assign(x, x + rows);
    }
    if (arrays_.wrenches != nullptr) {
      const std::span<const Link> links = owner_.robot_.model->links();
      wrenches_.clear();
      const double* w = arrays_.wrenches + k * 6 * static_cast<long>(links.size());
      for (const Link& link : links) {
        wrenches_.add(link, {{w[0], w[1], w[2]}, {w[3], w[4], w[5]}});
        w += 6;
      }
      in_.wrenches = &wrenches_;
    }
    return in_;
  }

  void solve(long k, Algorithm& algorithm, Results& results) {
    const Inputs& in = read(k);
    if (arrays_.direction[0] == nullptr) return algorithm.solve(in, results);
    const long nv = owner_.sizes_[1];
    for (std::size_t i = 0; i < along_.size(); ++i) {
      if (arrays_.direction[i] == nullptr) continue;
      const double* from = arrays_.direction[i] + (arrays_.same_direction[i] ? 0 : k * nv);
      along_[i].assign(from, from + nv);
    }
    solve_along(algorithm, in, along_, results);
  }

  BatchStatus status(const Results& results) const {
    double sum = 0.0;  // 0 where all numbers are finite
    for (const Result& r : results) {
      for (const double x : r.values) sum += x - x;
    }
    if (sum != 0.0) return BatchStatus::singular;
    const Model& model = *owner_.robot_.model;
    if (model.is_tree() || !owner_.needed_[0]) return BatchStatus::ok;
    const bool closed = examine(model, in_.q.data()).residual <= owner_.options_.loop_tolerance;
    return closed ? BatchStatus::ok : BatchStatus::loop_open;
  }

 private:
  const BoundAlgorithm& owner_;
  const BatchArrays& arrays_;
  Inputs in_;
  Wrenches<double> wrenches_;
  Direction along_;
};

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
    try {
      BatchState state(*this, arrays);
      Results results;
      Signals signals;
      for (long k; (k = next.fetch_add(1)) < arrays.N;) {
        if (number == 0) signals.look();  // Python's are those of the thread that calls
        state.solve(k, *workers_[number], results);
        for (std::size_t r = 0; r < arrays.results.size(); ++r) {
          const std::vector<double>& from = results[arrays.results[r]].values;
          std::copy(from.begin(), from.end(), arrays.values[r] + k * from.size());
        }
        if (!arrays.status.empty()) arrays.status[k] = state.status(results);
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
