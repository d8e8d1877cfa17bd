#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "cli/command.hpp"
#include "cli/files/state.hpp"
#include "cli/files/sweep_plan.hpp"
#include "cli/output/hdf5_table.hpp"
#include "cli/output/results.hpp"
#include "cli/output/table.hpp"
#include "cli/processes.hpp"
#include "cli/progress.hpp"

namespace espalier::cli {

namespace {

/// One problem for many designs of a robot.
class Sweep final : public Command {
  void add_options(CLI::App& app) override {
    app.add_option("SWEEP", file_, "sweep file (YAML)")->required()->type_name("FILE");
    app.add_option("--output", output_,
                   "CSV file, or HDF5 if the name ends in .h5; default: CSV on "
                   "standard output")
        ->type_name("FILE");
    app.add_option("--threads", threads_, "default: all cores")->check(CLI::Range(1, 4096));
    app.footer(R"(
Sweep file:
  robot: leg.yaml              relative to the sweep file
  root: fixed | floating
  problem: inverse-dynamics    default: forward-dynamics
  algorithm: c-rnea
  seed: 1
  parameters:                  the grid of all lists and ranges; random ones are drawn anew
    shank: {set: links.shank.mass, range: [1, 2], count: 5}    count 1: the first end
    ratio: {set: couplings.gear.ratio, list: [6, 9, 12]}
    masses: {scale: [links.thigh.mass, links.shank.mass], uniform: [0.8, 1.2]}
    offset: {set: "joints.knee.xyz[2]", normal: [-0.2, 0.001]}
  samples: 100                 random draws at each point of the grid
  states: {random: 10}         for each design; default: the neutral one
  record:
    knee: {result: tau, row: knee}
    worst: {result: tau, reduce: max_abs}      or norm; without row
Fields: links: mass, com[k]; joints: xyz[k], rpy[k], damping, friction, stiffness, rest, armature;
couplings: ratio; laws: their parameters, [k] where they are lists; loops: likewise, and
predecessor_xyz[k], successor_xyz[k].

Writes a row for each state of each design, in order, with the same bits for any number of threads
and processes: 'mpirun -n 64 espalier sweep FILE --output OUT.csv' divides the designs among
processes, and the first one writes. HDF5 has a data set for each column.
If a design is not a valid robot or has no answer, its columns are empty, the last column says why,
and the exit code is 1.)");
  }

  int run(Session& session) override {
    const std::unique_ptr<Processes> group = processes();
    std::vector<std::string> rows;  // of every size()-th design from rank() on
    std::optional<SweepPlan> plan;
    std::atomic<long> failed{0};
    std::exception_ptr error;
    try {
      plan = SweepPlan::read(file_);
      if (output_ && is_hdf5(*output_)) expect_data_sets(*output_, plan->columns());
      rows = own_rows(session, *plan, *group, failed);
    } catch (...) {
      error = std::current_exception();
    }
    // Whoever fails first speaks for all; the others end well, or mpirun would kill it meanwhile.
    const int speaker = group->first_failed(error != nullptr);
    if (speaker >= 0) {
      if (speaker == group->rank()) std::rethrow_exception(error);
      return ok;
    }
    const auto all = group->gather(rows);
    const auto counts = group->gather({std::to_string(failed.load())});
    if (group->rank() > 0) return ok;
    long failures = 0;
    for (const auto& count : counts) failures += std::stol(count.front());
    std::string table = header(*plan);
    const long designs = plan->designs();
    for (long k = 0; k < designs; ++k) table += all[k % group->size()][k / group->size()];
    report(session, *plan, table, failures);
    return failures == 0 ? ok : unusable;
  }

  void report(Session& session, const SweepPlan& plan, const std::string& table,
              long failures) const {
    if (output_ && is_hdf5(*output_)) {
      write_hdf5(*output_, columns_of_csv(table, {"error"}, {"design", "state"}));
    } else if (output_) {
      write_file(*output_, table);
    }
    if (session.json) {
      session.print(Json{{"designs", plan.designs()},
                         {"states", std::max(1, plan.random_states)},
                         {"failed", failures}});
    } else if (output_) {
      session.print(fmt::format("{}: {} designs, {} rows without an answer\n", *output_,
                                plan.designs(), failures));
    } else {
      session.print(table);
    }
  }

  /// This process's part of the designs, on all threads.
  std::vector<std::string> own_rows(Session& session, SweepPlan plan, const Processes& group,
                                    std::atomic<long>& failed) const {
    const Host& host = session.host();
    expect_problem(host.registry(), plan.problem);
    const Entry& entry = host.registry().find_algorithm(plan.problem, plan.algorithm);
    input_files().add(file_);
    input_files().add(plan.robot);
    const Description robot = reading_model([&] { return host.read(plan.robot); });
    input_files().add(robot);
    if (group.rank() == 0) {
      warn_of(session, robot, diagnose(robot, host.registry(), plan.options));
    }
    {  // what is wrong with the targets themselves is said once
      Description probe = robot;
      plan.expect_effect(probe);
    }
    const long first = group.rank(), every = group.size();
    const long count = std::max(0L, (plan.designs() - first + every - 1) / every);
    std::vector<std::string> rows(count);
    std::atomic<long> next{0}, done{0};
    std::mutex mutex;
    std::exception_ptr error;
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    const long threads = std::clamp<long>(threads_ > 0 ? threads_ : cores, 1, std::max(1L, count));
    Progress progress("sweep " + file_);
    const auto work = [&](bool shows) {
      try {
        for (long k; (k = next.fetch_add(1)) < count;) {
          rows[k] = one(host, entry, plan, robot, first + k * every, failed);
          const long finished = done.fetch_add(1) + 1;
          if (shows) progress.show(static_cast<double>(finished) / static_cast<double>(count));
        }
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!error) error = std::current_exception();
        next.store(count);
      }
    };
    std::vector<std::thread> others;
    for (long t = 1; t < threads; ++t) others.emplace_back(work, false);
    work(first == 0);
    for (std::thread& other : others) other.join();
    if (error) std::rethrow_exception(error);
    return rows;
  }

  static std::string header(const SweepPlan& plan) {
    std::vector<std::string> cells;
    for (const std::string& name : plan.columns()) cells.push_back(csv_cell(name));
    return joined(cells, ",") + "\n";
  }

  /// Rows of one design; depends on nothing but the plan and its number.
  static std::string one(const Host& host, const Entry& entry, const SweepPlan& plan,
                         const Description& robot, long design, std::atomic<long>& failed) {
    const std::vector<double> values = plan.values(design);
    const int states = std::max(1, plan.random_states);
    const std::string empty(plan.records.size(), ',');
    std::string out;
    const auto begin = [&](int state) {
      // Shortest digits that read back as the same number.
      std::string row = fmt::format("{},{}", design, state);
      for (const double x : values) row += fmt::format(",{}", x);
      return row;
    };
    int state = 0;
    try {
      Description variant = robot;
      for (std::size_t i = 0; i < values.size(); ++i) {
        for (const std::string& target : plan.parameters[i].targets) {
          set_parameter(variant, target, values[i], plan.parameters[i].scales);
        }
      }
      const ModelPtr model = host.compile(variant, plan.options);
      const Setup setup{model, tips(*model), default_inputs(*model), {}, forward_sensors(*model)};
      const std::unique_ptr<Algorithm> algorithm = host.registry().create(entry, setup);
      for (; state < states; ++state) {
        // The states of all designs are the same: of the seeds that follow the sweep's.
        const State at =
            plan.random_states == 0
                ? neutral_state(model)
                : random_state(model, plan.seed + static_cast<unsigned long long>(state),
                               setup.end_effectors);
        try {
          Results results;
          algorithm->solve(at.inputs, results);
          expect_finite(entry.about.name, setup, results);
          std::string row = begin(state);
          for (const SweepRecord& r : plan.records) {
            row += fmt::format(",{}", recorded(*model, r, results));
          }
          out += row + ",\n";
        } catch (const SingularMechanism& error) {
          failed.fetch_add(1);
          out += begin(state) + empty + "," + csv_cell(error.what()) + "\n";
        }
      }
    } catch (const InvalidModel& error) {
      for (; state < states; ++state) {
        failed.fetch_add(1);
        out += begin(state) + empty + "," + csv_cell(error.what()) + "\n";
      }
    }
    return out;
  }

  static double recorded(const Model& model, const SweepRecord& record, const Results& results) {
    std::vector<std::string> known;
    for (const Result& r : results) {
      known.push_back(r.name);
      if (r.name != record.result) continue;
      if (record.reduction == SweepRecord::Reduction::max_abs) {
        double most = 0.0;
        for (const double x : r.values) most = std::max(most, std::abs(x));
        return most;
      }
      if (record.reduction == SweepRecord::Reduction::norm) {
        double sum = 0.0;
        for (const double x : r.values) sum += x * x;
        return std::sqrt(sum);
      }
      return entry_of(model, record, r);
    }
    throw usage_error("sweep: record '" + record.name + "': result is '" + record.result + "'" +
                      suggest(record.result, known));
  }

  static double entry_of(const Model& model, const SweepRecord& record, const Result& r) {
    if (record.row.empty() && r.values.size() == 1) return r.values[0];
    std::vector<std::string> known;
    if (r.rows == Result::Axis::rates && r.columns == Result::Axis::one) {
      for (int k = 0; k < r.row_count; ++k) {
        known.push_back(rate_label(model, k));
        if (known.back() == record.row) return r.values[k];
      }
    }
    std::size_t index = 0;
    const char* end = record.row.data() + record.row.size();
    const auto [stop, code] = std::from_chars(record.row.data(), end, index);
    if (code == std::errc() && stop == end && index < r.values.size()) return r.values[index];
    known.push_back("0 to " + std::to_string(r.values.size() - 1));
    throw usage_error("sweep: record '" + record.name + "': row is '" + record.row + "'" +
                      suggest(record.row, known));
  }

  std::string file_;
  std::optional<std::string> output_;
  int threads_ = 0;
};

const Registered<Sweep> registered_sweep{
    {"sweep", "solve a problem for many designs of a robot", 13}};

}  // namespace

}  // namespace espalier::cli
