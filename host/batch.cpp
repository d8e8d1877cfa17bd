#include "espalier/host/batch.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "espalier/host/batch_loops.hpp"
#include "espalier/host/batch_variants.hpp"
#include "espalier/host/block_threads.hpp"
#include "espalier/kernel/model/pack_code.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"
#include "espalier/plugins/registry.hpp"

namespace espalier {

namespace {

/// The arrays of BatchInputs.
struct Role {
  const char* name;
  In<double> BatchInputs::*batch;
};
constexpr int role_count = 4;
constexpr std::array<Role, role_count> roles{{{"q", &BatchInputs::q},
                                              {"v", &BatchInputs::v},
                                              {"tau", &BatchInputs::tau},
                                              {"vdot", &BatchInputs::vdot}}};
/// Where packs have them.
template <class P>
constexpr std::array<std::vector<P> BasicInputs<P>::*, role_count> packs_of{
    {&BasicInputs<P>::q, &BasicInputs<P>::v, &BasicInputs<P>::tau, &BasicInputs<P>::vdot}};

/// Singularity margin of loops below which floats keep too few digits: 6e-8 over it is what they
/// leave of the dependent joints' rates.
constexpr double least_margin_of_floats = 1e-3;

using detail::gather;
using detail::scatter;
using detail::Strides;

/// Of arrays of N states with so many numbers each.
Strides strides(BatchLayout layout, long numbers, int N) {
  return layout == BatchLayout::states ? Strides{numbers, 1} : Strides{1, N};
}

}  // namespace

std::string_view to_string(BatchStatus status) {
  switch (status) {
    case BatchStatus::ok:
      return "ok";
    case BatchStatus::singular:
      return "singular";
    case BatchStatus::loop_open:
      break;
  }
  return "loop open";
}

std::string_view to_string(Precision precision) {
  return precision == Precision::doubles ? "double" : "float";
}

/// What does not depend on the scalar.
class Batch::Impl {
 public:
  Impl(const Entry& algorithm, const Setup& setup, const BatchOptions& options)
      : model_(setup.model),
        who_("batch of " + algorithm.about.name),
        options_(options),
        threads_(options.threads) {
    int number = 0;
    for (const ModelPtr& variant : options_.variants) {
      detail::expect_alike(who_, *model_, *variant, number++);
    }
    if (options_.variants.empty()) options_.variants.push_back(model_);
  }
  virtual ~Impl() = default;

  virtual void set_gravity(const Vec3<double>& g) = 0;
  void evaluate(int N, const BatchInputs& in, std::span<const BatchOutput> out,
                std::span<BatchStatus> status);

  ModelPtr model_;
  std::string who_;
  BatchOptions options_;
  detail::BlockThreads threads_;
  std::vector<Result> shapes_;

 protected:
  /// The call that is under way.
  struct Call {
    int N;
    const BatchInputs* in;
    std::span<const BatchOutput> out;
    BatchStatus* status;
    const int* variants;  ///< of each pack, or nullptr: all of the first
    int states = 0;       ///< that a thread takes at once
  };

  /// Piece number `piece` of the states: gathers, solves and scatters them.
  virtual void run(int worker, const Call& call, int piece) = 0;

  std::array<int, role_count> rows_{};
  std::array<bool, role_count> needed_{};
  int states_ = 1;              ///< that a thread takes at once, at most
  int lanes_ = 1;               ///< of a pack
  std::vector<int> result_of_;  ///< of each output of the call

 private:
  void solve(Call call);
  void expect_variants(int N, std::span<const int> variant) const;
  void solve_variants(const Call& call);

  /// States in the order of their variants.
  struct Ordered {
    detail::BatchVariants slots;
    std::array<std::vector<double>, role_count> inputs;
    std::vector<double> wrenches;
    std::vector<std::vector<double>> results;
    std::vector<BatchOutput> out;
    std::vector<BatchStatus> status;
  } ordered_;

  void expect(const char* what, long got, long rows, int N) const;
};

void Batch::Impl::solve(Call call) {
  call.states = states_;
  if (threads_.count() > 1) {  // pieces enough that no thread waits long for another
    constexpr int pieces_each = 4;
    const int packs = call.N / (pieces_each * threads_.count() * lanes_);
    call.states = std::clamp(packs * lanes_, lanes_, states_);
  }
  threads_.run((call.N + call.states - 1) / call.states,
               [&](int worker, int piece) { run(worker, call, piece); });
}

void Batch::Impl::expect(const char* what, long got, long rows, int N) const {
  if (got == rows * N) return;
  throw SizeMismatch(who_ + ": size of " + what + " is " + std::to_string(got) + ", expected " +
                     std::to_string(rows) + " x " + std::to_string(N) + " = " +
                     std::to_string(rows * N) + " (numbers of each state x states)");
}

void Batch::Impl::evaluate(int N, const BatchInputs& in, std::span<const BatchOutput> out,
                           std::span<BatchStatus> status) {
  if (N < 0) {
    throw SizeMismatch(who_ + ": number of states is " + std::to_string(N) +
                       ", expected at least 0");
  }
  for (int i = 0; i < role_count; ++i) {
    const long got = (in.*roles[i].batch).size();
    if (needed_[i] || got > 0) expect(roles[i].name, got, rows_[i], N);
  }
  if (in.wrenches.size() > 0) {
    expect("wrenches", in.wrenches.size(), 6L * static_cast<long>(model_->links().size()), N);
  }
  if (!status.empty()) expect("status", static_cast<long>(status.size()), 1, N);
  result_of_.resize(out.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto found = std::find_if(shapes_.begin(), shapes_.end(),
                                    [&](const Result& r) { return r.name == out[k].name; });
    if (found == shapes_.end()) {
      std::vector<std::string> known;
      for (const Result& r : shapes_) known.push_back(r.name);
      throw UnknownName(who_ + ": result is '" + std::string(out[k].name) + "'" +
                        suggest(out[k].name, known));
    }
    result_of_[k] = static_cast<int>(found - shapes_.begin());
    expect(found->name.c_str(), out[k].values.size(),
           static_cast<long>(found->row_count) * found->column_count, N);
  }
  const Call call{N, &in, out, status.empty() ? nullptr : status.data(), nullptr};
  expect_variants(N, in.variant);
  if (in.variant.empty()) {
    solve(call);
  } else {
    solve_variants(call);
  }
}

void Batch::Impl::expect_variants(int N, std::span<const int> variant) const {
  const int count = static_cast<int>(options_.variants.size());
  if (count > 1 || !variant.empty()) {
    expect("variant", static_cast<long>(variant.size()), 1, N);
  }
  for (std::size_t k = 0; k < variant.size(); ++k) {
    if (variant[k] >= 0 && variant[k] < count) continue;
    throw UnknownName(who_ + ": variant of state " + std::to_string(k) + " is " +
                      std::to_string(variant[k]) + ", expected 0 to " + std::to_string(count - 1) +
                      " (BatchOptions::variants)");
  }
}

/// The same by copies of all arrays in the order of the variants.
void Batch::Impl::solve_variants(const Call& call) {
  const BatchInputs& in = *call.in;
  detail::BatchVariants& slots = ordered_.slots;
  slots.order(in.variant, static_cast<int>(options_.variants.size()), lanes_);
  BatchInputs ordered;
  for (int i = 0; i < role_count; ++i) {
    const In<double>& from = in.*roles[i].batch;
    if (from.size() == 0) continue;
    slots.take(from.data(), strides(in.layout, rows_[i], call.N), rows_[i], ordered_.inputs[i]);
    ordered.*roles[i].batch = ordered_.inputs[i];
  }
  const long wrench_rows = 6L * static_cast<long>(model_->links().size());
  if (in.wrenches.size() > 0) {
    slots.take(in.wrenches.data(), strides(in.layout, wrench_rows, call.N), wrench_rows,
               ordered_.wrenches);
    ordered.wrenches = ordered_.wrenches;
  }
  ordered_.results.resize(std::max(ordered_.results.size(), call.out.size()));
  ordered_.out.clear();
  const auto rows = [&](std::size_t k) {
    const Result& shape = shapes_[result_of_[k]];
    return static_cast<long>(shape.row_count) * shape.column_count;
  };
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    ordered_.results[k].resize(rows(k) * slots.slots());
    ordered_.out.push_back({call.out[k].name, ordered_.results[k]});
  }
  ordered_.status.resize(slots.slots());
  solve({slots.slots(), &ordered, ordered_.out,
         call.status == nullptr ? nullptr : ordered_.status.data(), slots.of_packs().data()});
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    slots.give(ordered_.results[k], rows(k), call.N, strides(in.layout, rows(k), call.N),
               call.out[k].values.data());
  }
  if (call.status != nullptr) slots.give(ordered_.status, 1, call.N, Strides{}, call.status);
}

/// A batch at one scalar of several robots.
template <class P>
class Batch::ImplAt final : public Impl {
 public:
  ImplAt(const Registry& registry, const Entry& algorithm, const Setup& setup,
         const BatchOptions& options);

  void set_gravity(const Vec3<double>& g) override {
    for (const auto& worker : workers_) {
      for (Robot& robot : worker->robots) robot.algorithm->set_gravity(g);
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
    std::vector<BasicInputs<P>> in;
    std::vector<BasicResults<P>> out;
    std::array<std::vector<P*>, role_count> inputs;  ///< by role and block
    std::vector<std::vector<const P*>> results;      ///< by result and block
    std::vector<std::vector<Pack>> positions;        ///< of eight states each, in doubles
    std::vector<Pack*> given;                        ///< these, or where the algorithm has them
  };

  void find_needed(Worker& worker);
  void choose_blocks();
  void run(int worker, const Call& call, int piece) override;
  void judge(Worker& worker, Robot& robot, const Call& call, int first, int block);
  bool judges_loops(const Call& call) const {
    return call.status != nullptr && checks_loops_ && call.in->q.size() > 0;
  }
  void load_given(Worker& worker, const Call& call, int begin, int states);
  void round_given(const Worker& worker, std::span<P* const> to) const;

  std::vector<std::unique_ptr<Worker>> workers_;
  bool checks_loops_, checks_margins_;
  int blocks_ = 1;  ///< packs that a thread takes at once
};

template <class P>
Batch::ImplAt<P>::ImplAt(const Registry& registry, const Entry& algorithm, const Setup& setup,
                         const BatchOptions& options)
    : Impl(algorithm, setup, options) {
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
  for (const auto& worker : workers_) {  // so that all of them have all their memory
    worker->in.resize(blocks_, workers_.front()->in.front());
    worker->out.resize(blocks_);
    const bool apart = checks_loops_ && !(std::is_same_v<P, Pack> && needed_[0]);
    worker->positions.assign(apart ? states_ / Pack::size : 0, std::vector<Pack>(model_->nq()));
    for (std::vector<Pack>& q : worker->positions) worker->given.push_back(q.data());
    for (Robot& robot : worker->robots) {
      robot.algorithm->solve_packs(worker->in[0], worker->out[0]);
      if (checks_loops_) robot.loops.residual(std::vector<Pack>(model_->nq()).data());
    }
    for (int block = 0; block < blocks_; ++block) {
      worker->robots[0].algorithm->solve_packs(worker->in[block], worker->out[block]);
      for (int i = 0; i < role_count; ++i) {
        worker->inputs[i].push_back((worker->in[block].*packs_of<P>[i]).data());
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
  for (int i = 0; i < role_count; ++i) (in.*packs_of<P>[i]).assign(rows_[i], P(0.0));
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
  for (int i = 0; i < role_count; ++i) {
    std::vector<P>& packs = in.*packs_of<P>[i];
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
  worker.in.assign(1, in);
}

/// Enough that rows of the structures of arrays are read by whole cache lines, few enough that what
/// a thread works on stays in its cache.
template <class P>
void Batch::ImplAt<P>::choose_blocks() {
  std::size_t numbers = 1;
  for (int i = 0; i < role_count; ++i) numbers += needed_[i] ? rows_[i] : 0;
  for (const Result& r : shapes_) numbers += static_cast<std::size_t>(r.row_count) * r.column_count;
  constexpr std::size_t bytes = 256 * 1024;
  blocks_ = static_cast<int>(std::clamp<std::size_t>(bytes / (numbers * sizeof(P)), 2, 16));
  states_ = blocks_ * P::size;
}

template <class P>
void Batch::ImplAt<P>::run(int number, const Call& call, int piece) {
  Worker& worker = *workers_[number];
  const int N = call.N, begin = piece * call.states;
  const int states = std::min(N - begin, call.states);
  const int whole = states / P::size, blocks = (states + P::size - 1) / P::size;
  const PackCode& packs = model_->pack_code();
  const bool reads_positions = judges_loops(call) && !worker.positions.empty();
  if (reads_positions) load_given(worker, call, begin, states);
  for (int i = 0; i < role_count; ++i) {
    if (!needed_[i]) continue;
    const Strides at = strides(call.in->layout, rows_[i], N);
    const double* row = (call.in->*roles[i].batch).data() + begin * at.state;
    P* const* to = worker.inputs[i].data();
    if (i == 0 && reads_positions) {
      round_given(worker, std::span(to, whole));
    } else {
      packs.load(row, at, rows_[i], std::span(to, whole));
    }
    for (int r = 0; whole < blocks && r < rows_[i]; ++r, row += at.number) {
      to[whole][r] = gather<P>(row, at, whole * P::size, N - begin);
    }
  }
  for (int b = 0; b < blocks; ++b) {
    const int first = begin + b * P::size;
    Robot& robot = worker.robots[call.variants == nullptr ? 0 : call.variants[first / P::size]];
    worker.in[b].wrenches = nullptr;
    if (call.in->wrenches.size() > 0) {
      robot.wrenches.clear();
      const double* row = call.in->wrenches.data();
      const Strides at =
          strides(call.in->layout, 6L * static_cast<long>(model_->links().size()), N);
      for (const Link& link : model_->links()) {
        Force<P> wrench;
        for (int i = 0; i < 6; ++i, row += at.number) wrench[i] = gather<P>(row, at, first, N);
        robot.wrenches.add(link, wrench);
      }
      worker.in[b].wrenches = &robot.wrenches;
    }
    robot.algorithm->solve_packs(worker.in[b], worker.out[b]);
    if (call.status != nullptr) judge(worker, robot, call, first, b);
  }
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    const Result& shape = shapes_[result_of_[k]];
    const int numbers = shape.row_count * shape.column_count;
    const Strides at = strides(call.in->layout, numbers, N);
    double* row = call.out[k].values.data() + begin * at.state;
    const P* const* from = worker.results[result_of_[k]].data();
    packs.store(std::span(from, whole), numbers, row, at);
    for (int i = 0; whole < blocks && i < numbers; ++i, row += at.number) {
      scatter(from[whole][i], row, at, whole * P::size, N - begin);
    }
  }
}

template <class P>
void Batch::ImplAt<P>::judge(Worker& worker, Robot& robot, const Call& call, int first, int block) {
  P zero(0.0);
  for (const BasicResult<P>& r : worker.out[block]) {
    model_->pack_code().take_not_finite(r.values, zero);
  }
  // Results need not depend on every position; one that is NaN is no state all the same.
  model_->pack_code().take_not_finite(worker.in[block].q, zero);
  const bool loops = judges_loops(call);
  const int end = std::min(first + P::size, call.N);
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
        const bool enough = !checks_margins_ || margin[lane] >= least_margin_of_floats;
        status = enough ? BatchStatus::ok : BatchStatus::singular;
      }
    }
  }
}

/// Positions of the states of a piece in doubles, eight to a pack, for those who judge loops.
template <class P>
void Batch::ImplAt<P>::load_given(Worker& worker, const Call& call, int begin, int states) {
  const Strides at = strides(call.in->layout, rows_[0], call.N);
  const double* row = call.in->q.data() + begin * at.state;
  const int whole = states / Pack::size;
  model_->pack_code().load(row, at, rows_[0], std::span(worker.given.data(), whole));
  if (whole * Pack::size == states) return;
  for (int r = 0; r < rows_[0]; ++r, row += at.number) {
    worker.given[whole][r] = gather<Pack>(row, at, whole * Pack::size, call.N - begin);
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

Batch::Batch(const Registry& registry, const Entry& algorithm, const Setup& setup,
             const BatchOptions& options) {
  if (options.precision == Precision::floats) {
    impl_ = std::make_unique<ImplAt<FloatPack>>(registry, algorithm, setup, options);
  } else {
    impl_ = std::make_unique<ImplAt<Pack>>(registry, algorithm, setup, options);
  }
}

Batch::~Batch() = default;

const Model& Batch::model() const { return *impl_->model_; }

int Batch::threads() const { return impl_->threads_.count(); }

Precision Batch::precision() const { return impl_->options_.precision; }

const std::vector<Result>& Batch::results() const { return impl_->shapes_; }

void Batch::set_gravity(const Vec3<double>& g) { impl_->set_gravity(g); }

void Batch::evaluate(int N, const BatchInputs& in, std::span<const BatchOutput> out,
                     std::span<BatchStatus> status) {
  impl_->evaluate(N, in, out, status);
}

}  // namespace espalier
