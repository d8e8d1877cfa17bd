#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "python/src/arrays.hpp"

/// An algorithm bound to a robot as Python calls it: one state or a batch of them, by the shapes of
/// what it is given. There is one class for all problems, since Algorithm::solve() and Batch take
/// and give everything by name.

namespace espalier::python {

/// A direction of (q, v, tau or vdot), by role as in BoundAlgorithm; nv numbers each.
using Direction = std::array<std::vector<double>, 4>;
/// Whether an algorithm for this problem takes a direction.
bool takes_direction(const Entry& entry);
/// Algorithm::solve() of a Hessian product, along a direction of the caller's instead of ones.
void solve_along(Algorithm& algorithm, const Inputs& in, const Direction& along, Results& out);

class BoundAlgorithm {
 public:
  struct Options {
    int threads = 0;               ///< of batches; 0: all cores
    std::string precision = {};    ///< "double", "float"; empty: as the dtype of q
    double loop_tolerance = 1e-6;  ///< of batches
    bool check = true;             ///< whether open loops and results that are not finite raise
    std::vector<ModelPtr> variants = {};
  };

  BoundAlgorithm(Robot robot, const Entry& entry, Setup setup, Options options);

  /// algorithm([result,] q, v, ..., out=None, wrenches=None, ...).
  py::object call(PyObject* args, PyObject* kwargs);

  const Robot& robot() const { return robot_; }
  const Entry& entry() const { return entry_; }
  const Setup& setup() const { return setup_; }
  /// What it is called with, in order: "q", "v", ...
  std::vector<std::string> argument_names() const;
  const Results& results() const { return results_; }
  Vec3<double> gravity() const { return algorithm_->gravity(); }
  void set_gravity(const Vec3<double>& g);
  bool checks() const { return options_.check; }
  void set_checks(bool check) { options_.check = check; }
  /// Seconds of one Algorithm::solve() at the inputs of the last call, the best of `rounds` rounds
  /// of `calls` calls: what C++ takes without Python.
  double seconds_per_solve(int calls, int rounds);
  /// Seconds of one call of Batch::evaluate() on structures of arrays, as a C++ program has them,
  /// at N copies of the last call's inputs.
  double seconds_per_batch(int N, int rounds);
  std::string symbolic() const;
  const std::optional<std::string>& no_packs() const { return no_packs_; }

 private:
  static constexpr std::array<const char*, 4> role_names{"q", "v", "tau", "vdot"};
  static constexpr std::array<std::vector<double> Inputs::*, 4> role_members{
      &Inputs::q, &Inputs::v, &Inputs::tau, &Inputs::vdot};
  /// Arguments of one call.
  struct Call {
    py::object q, v, tau, vdot;  ///< arrays by role
    py::object acceleration, measurements, multipliers, time_step, wrenches, out, status, variant;
    py::object direction;  ///< of a Hessian product: a dict of arrays by role
    std::string select;    ///< name of the result, row or link that is wanted alone; empty: all
    py::object& role(int i) { return i == 0 ? q : i == 1 ? v : i == 2 ? tau : vdot; }
  };
  /// Which result, and which of its rows (-1: all), `select` means.
  struct Choice {
    int result = -1, row = -1;
  };

  Call parse(PyObject* args, PyObject* kwargs) const;
  void find_roles();
  void expect_setup() const;
  bool takes(const std::string& name);
  bool try_argument(const std::string& name);
  void expect_taken(const Call& call);
  void expect_out(const Call& call) const;
  Choice choose(const std::string& select) const;
  std::vector<py::ssize_t> shape(const Result& r) const;
  void take(py::handle from, const char* what, long size, std::vector<double>& to) const;
  void read_wrenches(py::handle object);
  py::array direction_along(const py::dict& direction, int role) const;
  void expect_direction(py::handle object) const;
  void read_direction(py::handle object);
  py::object solve_one(Call& call);
  py::object result_of_one(const Call& call, const Choice& choice);
  py::object value_of_one(const Result& r, py::handle out) const;
  void expect_finite() const;
  /// @throws InvalidModel where two results would be written to one place
  void expect_apart(py::handle out, py::handle other) const;
  /// Results that a call gives by themselves: not what derivatives through loops say of theirs
  /// besides, so that a call gives the same on trees and on loops.
  int answers() const;
  /// Whether these come by name: there are several, or they are named after parts of the robot.
  bool several() const;
  void warn_near_dead_point() const;

  // Batches: batch_call.cpp and, how they run, algorithm_batch.cpp.
  class BatchCall;
  py::object solve_batch(Call& call);
  struct BatchArrays;
  class BatchState;
  void solve_packs(BatchArrays& arrays, Precision precision);
  void solve_by_loop(BatchArrays& arrays);
  void expect_ok(const std::vector<BatchStatus>& status) const;
  Batch* batch(Precision precision);

  Robot robot_;
  const Entry& entry_;
  Setup setup_;
  Options options_;
  Asker asker_;
  std::unique_ptr<Algorithm> algorithm_;
  std::array<bool, 4> needed_{};
  std::array<long, 4> sizes_{};
  std::vector<int> order_;  ///< of positional arguments, by role
  std::mutex mutex_;        ///< guards all below
  Inputs inputs_;
  Results results_;
  std::optional<Wrenches<double>> wrenches_;
  Direction direction_;
  std::map<std::string, bool> taken_;                ///< what was asked of takes()
  int calls_ = 0;                                    ///< that were timed
  double least_seconds_ = 1.0;                       ///< of these
  std::array<std::unique_ptr<Batch>, 2> batches_;    ///< by precision
  std::array<int, 2> forks_{};                       ///< of this process when they were made
  std::optional<std::string> no_packs_;              ///< why there is no Batch, once that is known
  std::vector<std::unique_ptr<Algorithm>> workers_;  ///< of solve_by_loop
  std::vector<double> wrench_numbers_;
  /// What is the same for all states, repeated; kept since new memory of this size costs as much
  /// as to fill it.
  std::array<std::vector<double>, 4> rows_;
};

/// How often this process is a fork of one that had the module.
int fork_count();

}  // namespace espalier::python
