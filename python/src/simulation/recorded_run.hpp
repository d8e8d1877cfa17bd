#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/simulation/sample_energies.hpp"
#include "espalier/simulation/simulation.hpp"
#include "python/src/arrays.hpp"

// What simulations of one robot share, with and without ground.

namespace espalier::python {

/// Rows of numbers that grow.
class Rows {
 public:
  void add(std::span<const double> row) {
    columns_ = static_cast<py::ssize_t>(row.size());
    values_.insert(values_.end(), row.begin(), row.end());
    ++rows_;
  }
  void add(double x) { add(std::span(&x, 1)); }
  double* data() { return values_.data(); }
  std::size_t rows() const { return static_cast<std::size_t>(rows_); }
  std::size_t columns() const { return static_cast<std::size_t>(columns_); }
  py::array matrix() const { return array_of(values_.data(), {rows_, columns_}); }
  py::array vector() const { return array_of(values_.data(), {rows_}); }

 private:
  std::vector<double> values_;
  py::ssize_t rows_ = 0, columns_ = 0;
};

/// What a run shows of each of its samples.
class RecordedRun {
 public:
  /// @param progress  called with the part of the duration that is done, or None
  RecordedRun(double duration, const py::object& progress)
      : duration_(duration), progress_(progress) {}

  /// Keeps a row, without Python's lock. @return true: go on
  bool take(const Sample& now) {
    times_.add(now.t);
    positions_.add(now.q);
    rates_.add(now.v);
    kinetic_.add(now.kinetic);
    potential_.add(now.gravity);
    springs_.add(now.springs);
    residuals_.add(now.residual);
    signals_.look();
    if (!progress_.is_none() && seconds_now() - shown_ > 0.1) {
      shown_ = seconds_now();
      const WithGil held;
      call_unless_ending(progress_, py::make_tuple(duration_ > 0.0 ? now.t / duration_ : 1.0));
    }
    return true;
  }
  /// Is asked after each step, which may take less time than a look at the clock. @return true
  bool go_on() {
    if (++steps_ % 16 == 0) signals_.look();
    return true;
  }
  /// Computes the energies that samples lacked, without Python's lock.
  void complete(SampleEnergies& energies) {
    energies.complete({.count = times_.rows(),
                       .q = positions_.data(),
                       .q_stride = positions_.columns(),
                       .v = rates_.data(),
                       .v_stride = rates_.columns(),
                       .kinetic = kinetic_.data(),
                       .gravity = potential_.data()});
  }
  py::dict arrays() const {
    py::dict out;
    out["t"] = times_.vector();
    out["q"] = positions_.matrix();
    out["v"] = rates_.matrix();
    out["kinetic"] = kinetic_.vector();
    out["gravity"] = potential_.vector();
    out["springs"] = springs_.vector();
    out["residual"] = residuals_.vector();
    return out;
  }

 private:
  double duration_, shown_ = 0.0;
  const py::object& progress_;
  Rows times_, positions_, rates_, kinetic_, potential_, springs_, residuals_;
  Signals signals_;
  unsigned steps_ = 0;
};

/// Controllers as simulation.py gives them: callables, and ("pd", ...) and ("constant", ...).
std::vector<std::unique_ptr<Controller>> controllers_of(const Robot& robot, const py::list& from);
/// @throws what errors.py calls InvalidState for loops that are open farther than simulations close
/// them at the start
void expect_start(const Asker& asker, const Model& model, std::vector<double> q);
/// @throws InvalidModel
void expect_times(const std::string& who, double duration, double h, int every);

}  // namespace espalier::python
