#pragma once

#include <algorithm>
#include <limits>
#include <memory>

#include "espalier/host/batches/batch_impl.hpp"
#include "espalier/host/batches/batch_loops.hpp"
#include "espalier/host/batches/batch_rows.hpp"
#include "espalier/host/batches/batch_single.hpp"
#include "espalier/kernel/model/packs/pack_code.hpp"
#include "espalier/plugins/processor/instruction_set.hpp"

/// A batch at one precision: states in packs, what fills none, the status of each.

namespace espalier {

namespace detail {

/// Singularity margin of loops below which floats keep too few digits: 6e-8 over it is what they
/// leave of the dependent joints' rates.
inline constexpr double least_margin_of_floats = 1e-3;

/// States that cost less as single calls of an algorithm than as one pack, of doubles or floats. A
/// pack of a tree takes the time of four to five calls, and of two to three where registers hold
/// all of its lanes.
inline int most_single_calls(const Entry& algorithm) {
  return instruction_set_of(algorithm.origin) == InstructionSet::v4 ? 2 : 3;
}

}  // namespace detail

/// A batch at one scalar of several robots.
template <class P>
class Batch::ImplAt final : public Impl {
 public:
  ImplAt(const Registry& registry, const Entry& algorithm, const Setup& setup,
         const BatchOptions& options);

  void set_gravity(const Vec3<double>& g) override {
    for (const auto& worker : workers_) {
      for (Robot& robot : worker->robots) robot.algorithm->set_gravity(g);
      if (worker->single != nullptr) worker->single->set_gravity(g);
    }
  }

 private:
  /// One variant.
  struct Robot {
    explicit Robot(const ModelPtr& model) : wrenches(model), loops(model) {}
    std::unique_ptr<Algorithm> algorithm;
    Wrenches<P> wrenches;
    detail::BatchLoops loops;
  };
  /// What one thread owns.
  struct alignas(64) Worker {
    std::vector<Robot> robots;
    std::vector<BasicInputs<P>> numbers;  ///< by block
    std::vector<BasicInputViews<P>> in;   ///< of these
    std::vector<BasicResults<P>> out;
    std::array<std::vector<P*>, detail::role_count> inputs;  ///< by role and block
    std::vector<std::vector<const P*>> results;              ///< by result and block
    std::vector<std::vector<Pack>> positions;                ///< of eight states each, in doubles
    std::unique_ptr<detail::BatchSingle> single;             ///< for Remainder::single_calls
    std::vector<Pack*> given;   ///< these, or where the algorithm has them
    std::vector<P> not_finite;  ///< by block: zero in the lanes whose numbers all are finite
  };

  void find_needed(Worker& worker);
  void choose_blocks();
  void run(int worker, const Call& call, int begin, int end) override;
  /// A piece's states as packs: whole ones, and one for those that are left.
  struct Packs {
    int begin, count;  ///< of the states
    int whole = count / P::size, all = (count + P::size - 1) / P::size;
    /// First state of a pack. That of the states that are left ends with the last of them and has
    /// some of the pack before again, if there is one; else it is filled up with copies.
    int first(int block) const {
      return begin + (block < whole || whole == 0 ? block * P::size : count - P::size);
    }
    bool is_filled_up() const { return whole == 0 && all > 0; }
  };
  /// Apart from run(), which saves no registers for a state alone.
  [[gnu::noinline]] void solve_piece(Worker& worker, const Call& call, int begin, int end);
  void solve_packs(Worker& worker, const Call& call, const Packs& packs);
  void load(Worker& worker, const Call& call, const Packs& packs);
  void store(Worker& worker, const Call& call, const Packs& packs);
  void solve_single(Worker& worker, const Call& call, int state);
  BatchStatus status_of_single(Worker& worker, const Call& call, int state);
  [[gnu::noinline]] BatchStatus loops_of_single(Worker& worker, const Call& call, int state);
  const Wrenches<P>* gather_wrenches(Robot& robot, const Call& call, int first) const;
  void judge(Worker& worker, Robot& robot, const Call& call, const Packs& packs, int block);
  bool judges_loops(const Call& call) const {
    return call.status != nullptr && checks_loops_ && call.in->q.size() > 0;
  }
  void load_given(Worker& worker, const Call& call, const Packs& packs);
  void round_given(const Worker& worker, std::span<P* const> to) const;

  std::vector<std::unique_ptr<Worker>> workers_;
  bool checks_loops_, checks_margins_;
  int blocks_ = 1;  ///< packs that a thread takes at once
  int most_single_calls_;
};

template <class P>
Batch::ImplAt<P>::ImplAt(const Registry& registry, const Entry& algorithm, const Setup& setup,
                         const BatchOptions& options)
    : Impl(algorithm, setup, options), most_single_calls_(detail::most_single_calls(algorithm)) {
  constexpr int scalar = ScalarTraits<P>::index;
  if (!algorithm.algorithm[scalar]) {
    std::string others;
    for (const Entry* e : registry.algorithms(algorithm.problem)) {
      if (!e->algorithm[scalar] || !model_ || !registry.can(*e, *model_).ok) continue;
      others += (others.empty() ? "use " : " or ") + ("'" + e->about.name + "'");
    }
    if (others.empty()) others = "no algorithm for " + algorithm.problem + " that fits has it";
    throw Unsupported(who_ + ": scalar " + std::string(scalar_names[scalar]) +
                      " is missing, expected an algorithm that has it (" + others + ")");
  }
  lanes_ = P::size;
  rows_ = {model_->nq(), model_->nv(), model_->nv(), model_->nv()};
  checks_loops_ =
      !model_->is_tree() && options.loop_tolerance < std::numeric_limits<double>::infinity();
  checks_margins_ = is_single<P> && model_->has_variable_constraints();
  for (int k = 0; k < threads_.count(); ++k) {
    Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
    for (const ModelPtr& variant : options_.variants) {
      Setup own = setup;
      own.model = variant;
      worker.robots.emplace_back(variant).algorithm = registry.create(algorithm, own, scalar);
    }
  }
  find_needed(*workers_.front());
  choose_blocks();
  if (options_.remainder == Remainder::single_calls && options.variants.empty()) {
    Inputs like;
    for (int i = 0; i < detail::role_count; ++i) {
      if (needed_[i]) (like.*detail::numbers_of<double>[i]).assign(rows_[i], 0.0);
    }
    if (needed_[0]) model_->neutral(like.q.data());
    for (const auto& worker : workers_) {
      worker->single = std::make_unique<detail::BatchSingle>(registry.create(algorithm, setup),
                                                             model_, like, shapes_);
    }
  }
  for (const auto& worker : workers_) {  // so that all of them have all their memory
    worker->numbers.resize(blocks_, workers_.front()->numbers.front());
    worker->in.assign(worker->numbers.begin(), worker->numbers.end());
    worker->out.resize(blocks_);
    worker->not_finite.resize(blocks_);
    const bool apart = checks_loops_ && !(std::is_same_v<P, Pack> && needed_[0]);
    worker->positions.assign(apart ? states_ / Pack::size : 0, std::vector<Pack>(model_->nq()));
    for (std::vector<Pack>& q : worker->positions) worker->given.push_back(q.data());
    for (Robot& robot : worker->robots) {
      robot.algorithm->solve_packs(worker->in[0], worker->out[0]);
      if (checks_loops_) robot.loops.residual(std::vector<Pack>(model_->nq()).data());
    }
    for (int block = 0; block < blocks_; ++block) {
      worker->robots[0].algorithm->solve_packs(worker->in[block], worker->out[block]);
      for (int i = 0; i < detail::role_count; ++i) {
        worker->inputs[i].push_back((worker->numbers[block].*detail::numbers_of<P>[i]).data());
      }
      if constexpr (std::is_same_v<P, Pack>) {
        if (!apart) worker->given.push_back(worker->inputs[0].back());
      }
      worker->results.resize(shapes_.size());
      for (std::size_t k = 0; k < shapes_.size(); ++k) {
        worker->results[k].push_back(worker->out[block][k].values.data());
      }
    }
  }
}

/// What the problem asks for: it is solved once, and once without each input. @throws Unsupported
template <class P>
void Batch::ImplAt<P>::find_needed(Worker& worker) {
  BasicInputs<P> in;
  for (int i = 0; i < detail::role_count; ++i)
    (in.*detail::numbers_of<P>[i]).assign(rows_[i], P(0.0));
  std::vector<double> neutral(model_->nq());
  model_->neutral(neutral.data());
  std::copy(neutral.begin(), neutral.end(), in.q.begin());
  BasicResults<P> out;
  Algorithm& algorithm = *worker.robots[0].algorithm;
  algorithm.solve_packs(in, out);
  for (const BasicResult<P>& r : out) {
    Result& shape = shapes_.emplace_back();
    shape.name = r.name, shape.rows = r.rows, shape.columns = r.columns, shape.names = r.names;
    shape.row_count = r.row_count, shape.column_count = r.column_count;
  }
  for (int i = 0; i < detail::role_count; ++i) {
    std::vector<P>& packs = in.*detail::numbers_of<P>[i];
    if (packs.empty()) continue;
    std::vector<P> kept;
    kept.swap(packs);
    try {
      algorithm.solve_packs(in, out);
    } catch (const SizeMismatch&) {
      needed_[i] = true;
    }
    if (needed_[i]) kept.swap(packs);
  }
  worker.numbers.assign(1, in);
}

/// Enough that rows of the structures of arrays are read by whole cache lines, few enough that what
/// a thread works on stays in its cache.
template <class P>
void Batch::ImplAt<P>::choose_blocks() {
  std::size_t numbers = 1;
  for (int i = 0; i < detail::role_count; ++i) numbers += needed_[i] ? rows_[i] : 0;
  for (const Result& r : shapes_) numbers += static_cast<std::size_t>(r.row_count) * r.column_count;
  constexpr std::size_t bytes = 256 * 1024;
  blocks_ = static_cast<int>(
      std::clamp<std::size_t>(bytes / (numbers * sizeof(P)), 2, detail::most_blocks));
  states_ = blocks_ * P::size;
}

template <class P>
void Batch::ImplAt<P>::run(int number, const Call& call, int begin, int end) {
  Worker& worker = *workers_[number];
  if (end - begin == 1 && worker.single != nullptr) return solve_single(worker, call, begin);
  solve_piece(worker, call, begin, end);
}

template <class P>
void Batch::ImplAt<P>::solve_piece(Worker& worker, const Call& call, int begin, int end) {
  const int left = (end - begin) % P::size;
  const int singles = worker.single != nullptr && left <= most_single_calls_ ? left : 0;
  if (end - begin > singles) solve_packs(worker, call, Packs{begin, end - begin - singles});
  for (int state = end - singles; state < end; ++state) solve_single(worker, call, state);
}

template <class P>
void Batch::ImplAt<P>::solve_packs(Worker& worker, const Call& call, const Packs& packs) {
  const auto robot_of = [&](int first) -> Robot& {
    return worker.robots[call.variants == nullptr ? 0 : call.variants[first / P::size]];
  };
  load(worker, call, packs);
  for (int b = 0; b < packs.all; ++b) {
    const int first = packs.first(b);
    Robot& robot = robot_of(first);
    worker.in[b].wrenches = gather_wrenches(robot, call, first);
    robot.algorithm->solve_packs(worker.in[b], worker.out[b]);
    if (call.status == nullptr) continue;
    // Results need not depend on every position; one that is NaN is no state all the same.
    worker.not_finite[b] = P(0.0);
    model_->pack_code().take_not_finite(worker.numbers[b].q, worker.not_finite[b]);
  }
  store(worker, call, packs);
  for (int b = 0; call.status != nullptr && b < packs.all; ++b) {
    judge(worker, robot_of(packs.first(b)), call, packs, b);
  }
}

template <class P>
void Batch::ImplAt<P>::load(Worker& worker, const Call& call, const Packs& packs) {
  const PackCode& code = model_->pack_code();
  const bool reads_positions = judges_loops(call) && !worker.positions.empty();
  if (reads_positions) load_given(worker, call, packs);
  for (int i = 0; i < detail::role_count; ++i) {
    if (!needed_[i]) continue;
    const detail::Strides at = detail::strides(call.in->layout, rows_[i], call.N);
    const double* const row = (call.in->*detail::roles[i].batch).data();
    P* const* to = worker.inputs[i].data();
    if (packs.is_filled_up()) {
      detail::load_some(row + packs.begin * at.state, at, rows_[i], packs.count, to[0]);
    } else if (i == 0 && reads_positions) {
      round_given(worker, std::span(to, packs.all));
    } else {
      code.load(row + packs.begin * at.state, at, rows_[i], std::span(to, packs.whole));
      for (int b = packs.whole; b < packs.all; ++b) {
        code.load(row + packs.first(b) * at.state, at, rows_[i], std::span(to + b, 1));
      }
    }
  }
}

/// Looks at results on the way, and at those that nobody takes.
template <class P>
void Batch::ImplAt<P>::store(Worker& worker, const Call& call, const Packs& packs) {
  const PackCode& code = model_->pack_code();
  const bool looks = call.status != nullptr;
  const auto seen = [&](int begin, int end) {
    return looks ? std::span(worker.not_finite).subspan(begin, end - begin) : std::span<P>();
  };
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    const Result& shape = shapes_[result_of_[k]];
    const int numbers = shape.row_count * shape.column_count;
    const detail::Strides at = detail::strides(call.in->layout, numbers, call.N);
    double* row = call.out[k].values.data();
    const P* const* from = worker.results[result_of_[k]].data();
    detail::store_and_look(code, std::span(from, packs.whole), numbers,
                           row + packs.begin * at.state, at, seen(0, packs.whole));
    for (int b = packs.whole; b < packs.all; ++b) {
      double* const first = row + packs.first(b) * at.state;
      if (!packs.is_filled_up()) {
        detail::store_and_look(code, std::span(from + b, 1), numbers, first, at, seen(b, b + 1));
        continue;
      }
      detail::store_some(from[b], numbers, first, at, packs.count);
      if (looks) code.take_not_finite(std::span(from[b], numbers), worker.not_finite[b]);
    }
  }
  for (std::size_t k = 0; looks && k < shapes_.size(); ++k) {
    const auto taken = result_of_.begin() + static_cast<long>(call.out.size());
    if (std::find(result_of_.begin(), taken, static_cast<int>(k)) != taken) continue;
    for (int b = 0; b < packs.all; ++b) {
      code.take_not_finite(worker.out[b][k].values, worker.not_finite[b]);
    }
  }
}

template <class P>
const Wrenches<P>* Batch::ImplAt<P>::gather_wrenches(Robot& robot, const Call& call,
                                                     int first) const {
  if (call.in->wrenches.size() == 0) return nullptr;
  robot.wrenches.clear();
  const double* row = call.in->wrenches.data();
  const detail::Strides at = detail::strides(call.in->layout, wrench_rows_, call.N);
  for (const Link& link : model_->links()) {
    Force<P> wrench;
    for (int i = 0; i < 6; ++i, row += at.number) wrench[i] = gather<P>(row, at, first, call.N);
    robot.wrenches.add(link, wrench);
  }
  return &robot.wrenches;
}

template <class P>
void Batch::ImplAt<P>::solve_single(Worker& worker, const Call& call, int state) {
  detail::BatchSingle& single = *worker.single;
  const BatchInputs& in = *call.in;
  if (call.N == 1) {
    single.set_inputs(in);
  } else {
    for (int i = 0; i < detail::role_count; ++i) {
      if (!needed_[i]) continue;
      const detail::Strides at = detail::strides(in.layout, rows_[i], call.N);
      single.set_input(i, (in.*detail::roles[i].batch).data() + state * at.state, at.number);
    }
  }
  if (in.wrenches.empty()) {
    single.take_off_wrenches();
  } else {
    const detail::Strides at = detail::strides(in.layout, wrench_rows_, call.N);
    single.set_wrenches(in.wrenches.data() + state * at.state, at);
  }
  single.solve();
  // Before results are written, whose arrays may be those of the positions.
  if (call.status != nullptr) call.status[state] = status_of_single(worker, call, state);
  const bool beside = call.N == 1 || in.layout == BatchLayout::states;  // numbers of a state
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    const std::vector<double>& values = single.results()[result_of_[k]].values;
    double* const to = call.out[k].values.data();
    const auto numbers = static_cast<long>(values.size());
    if (beside) {
      std::copy_n(values.data(), numbers, to + state * numbers);
    } else {
      for (long i = 0; i < numbers; ++i) to[i * call.N + state] = values[i];
    }
  }
}

/// As judge() does, of one state.
template <class P>
BatchStatus Batch::ImplAt<P>::status_of_single(Worker& worker, const Call& call, int state) {
  const In<double>& q = worker.single->inputs().q;
  bool finite = !needed_[0] || detail::is_finite_sum(q.data(), q.size());
  for (const Result& r : worker.single->results()) {
    const long numbers = static_cast<long>(r.values.size());
    finite = finite && detail::is_finite_sum(r.values.data(), numbers);
  }
  if (!finite) return BatchStatus::singular;
  return judges_loops(call) ? loops_of_single(worker, call, state) : BatchStatus::ok;
}

template <class P>
BatchStatus Batch::ImplAt<P>::loops_of_single(Worker& worker, const Call& call, int state) {
  const detail::Strides at = detail::strides(call.in->layout, rows_[0], call.N);
  Pack* const q = worker.given[0];
  detail::load_some(call.in->q.data() + state * at.state, at, rows_[0], 1, q);
  detail::BatchLoops& loops = worker.robots[0].loops;
  if (!(loops.residual(q)[0] <= options_.loop_tolerance)) return BatchStatus::loop_open;
  const bool enough = !checks_margins_ || loops.margin(q)[0] >= detail::least_margin_of_floats;
  return enough ? BatchStatus::ok : BatchStatus::singular;
}

template <class P>
void Batch::ImplAt<P>::judge(Worker& worker, Robot& robot, const Call& call, const Packs& packs,
                             int block) {
  const P& zero = worker.not_finite[block];
  const bool loops = judges_loops(call);
  const int first = packs.first(block);
  const int end = std::min(first + P::size, packs.begin + packs.count);
  for (int pack = first; pack < end; pack += Pack::size) {
    Pack residual(0.0), margin(1.0);
    if (loops) {
      const Pack* q = worker.given[(block * P::size + pack - first) / Pack::size];
      residual = robot.loops.residual(q);
      if (checks_margins_) margin = robot.loops.margin(q);
    }
    for (int k = pack; k < std::min(pack + Pack::size, end); ++k) {
      const int lane = k - pack;
      BatchStatus& status = call.status[k];
      if (zero[k - first] != 0) {
        status = BatchStatus::singular;
      } else if (loops && !(residual[lane] <= options_.loop_tolerance)) {
        status = BatchStatus::loop_open;
      } else {
        const bool enough = !checks_margins_ || margin[lane] >= detail::least_margin_of_floats;
        status = enough ? BatchStatus::ok : BatchStatus::singular;
      }
    }
  }
}

/// Positions of the states of a piece in doubles, eight to a pack, for those who judge loops.
template <class P>
void Batch::ImplAt<P>::load_given(Worker& worker, const Call& call, const Packs& packs) {
  const detail::Strides at = detail::strides(call.in->layout, rows_[0], call.N);
  constexpr int parts = P::size / Pack::size;
  const double* const row = call.in->q.data();
  const std::size_t whole = static_cast<std::size_t>(packs.whole) * parts;
  model_->pack_code().load(row + packs.begin * at.state, at, rows_[0],
                           std::span(worker.given.data(), whole));
  if (packs.whole == packs.all) return;
  const int end = packs.begin + packs.count;
  for (int part = 0; part < parts; ++part) {  // of the states that are left
    const int first = packs.first(packs.whole) + part * Pack::size;
    Pack* const to = worker.given[whole + static_cast<std::size_t>(part)];
    const int count = std::clamp(end - first, 1, static_cast<int>(Pack::size));
    detail::load_some(row + std::min(first, end - 1) * at.state, at, rows_[0], count, to);
  }
}

/// The positions of an algorithm's own scalar from these.
template <class P>
void Batch::ImplAt<P>::round_given(const Worker& worker, std::span<P* const> to) const {
  if constexpr (is_single<P>) {
    const std::span<const Pack* const> from(worker.given.data(), worker.given.size());
    model_->pack_code().round(from, rows_[0], to);
  }
}

}  // namespace espalier
