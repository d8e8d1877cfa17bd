#include "espalier/plugins/batch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "espalier/plugins/batch_loops.hpp"
#include "espalier/plugins/block_threads.hpp"
#include "espalier/plugins/registry.hpp"
#include "espalier/plugins/structure_of_arrays.hpp"

namespace espalier {

namespace {

/// The arrays of BatchInputs, and where packs of four states have them.
struct Role {
  const char* name;
  In<double> BatchInputs::*batch;
  std::vector<Pack> PackInputs::*packs;
};
constexpr int role_count = 4;
constexpr std::array<Role, role_count> roles{{{"q", &BatchInputs::q, &PackInputs::q},
                                              {"v", &BatchInputs::v, &PackInputs::v},
                                              {"tau", &BatchInputs::tau, &PackInputs::tau},
                                              {"vdot", &BatchInputs::vdot, &PackInputs::vdot}}};

using detail::gather;
using detail::scatter;

}  // namespace

std::string_view to_string(BatchStatus status) {
  switch (status) {
    case BatchStatus::ok: return "ok";
    case BatchStatus::singular: return "singular";
    case BatchStatus::loop_open: break;
  }
  return "loop open";
}

class Batch::Impl {
 public:
  Impl(const Registry& registry, const Entry& algorithm, const Setup& setup,
       const BatchOptions& options);

  void evaluate(int N, const BatchInputs& in, std::span<const BatchOutput> out,
                std::span<BatchStatus> status);

  ModelPtr model_;
  std::string who_;
  double loop_tolerance_;
  detail::BlockThreads threads_;
  std::vector<Result> shapes_;
  int blocks_ = 1;  ///< packs that a thread takes at once

  /// What one thread owns.
  struct alignas(64) Worker {
    explicit Worker(const ModelPtr& model) : wrenches(model), loops(model) {}
    std::unique_ptr<Algorithm> algorithm;
    std::vector<PackInputs> in;
    std::vector<PackResults> out;
    std::array<std::vector<Pack*>, role_count> inputs;  ///< by role and block
    std::vector<std::vector<const Pack*>> results;      ///< by result and block
    Wrenches<Pack> wrenches;
    detail::BatchLoops loops;
  };
  std::vector<std::unique_ptr<Worker>> workers_;

 private:
  /// The call that is under way.
  struct Call {
    int N;
    const BatchInputs* in;
    std::span<const BatchOutput> out;
    BatchStatus* status;
  };

  void find_needed(Worker& worker);
  void choose_blocks();
  void expect(const char* what, long got, long rows, int N) const;
  void run(Worker& worker, const Call& call, int piece);
  void judge(Worker& worker, const Call& call, int first, int block);

  std::array<int, role_count> rows_{};
  std::array<bool, role_count> needed_{};
  bool checks_loops_;
  std::vector<int> result_of_;  ///< of each output of the call
};

Batch::Impl::Impl(const Registry& registry, const Entry& algorithm, const Setup& setup,
                  const BatchOptions& options)
    : model_(setup.model),
      who_("batch of " + algorithm.about.name),
      loop_tolerance_(options.loop_tolerance),
      threads_(options.threads) {
  constexpr int scalar = ScalarTraits<Pack>::index;
  if (!algorithm.algorithm[scalar]) {
    std::string others;
    for (const Entry* e : registry.algorithms(algorithm.problem)) {
      if (!e->algorithm[scalar] || !model_ || !registry.can(*e, *model_).ok) continue;
      others += (others.empty() ? "use " : " or ") + ("'" + e->about.name + "'");
    }
    if (others.empty()) others = "no algorithm for " + algorithm.problem + " that fits has it";
    throw Unsupported(who_ + ": scalar pack is missing, expected an algorithm that has it (" +
                      others + ")");
  }
  std::unique_ptr<Algorithm> first = registry.create(algorithm, setup, scalar);
  rows_ = {model_->nq(), model_->nv(), model_->nv(), model_->nv()};
  checks_loops_ = !model_->is_tree() && loop_tolerance_ < std::numeric_limits<double>::infinity();
  for (int k = 0; k < threads_.count(); ++k) {
    workers_.push_back(std::make_unique<Worker>(model_));
    workers_.back()->algorithm =
        k == 0 ? std::move(first) : registry.create(algorithm, setup, scalar);
  }
  find_needed(*workers_.front());
  choose_blocks();
  for (const auto& worker : workers_) {  // so that all of them have all their memory
    worker->in.resize(blocks_, workers_.front()->in.front());
    worker->out.resize(blocks_);
    for (int block = 0; block < blocks_; ++block) {
      worker->algorithm->solve_packs(worker->in[block], worker->out[block]);
      if (checks_loops_) worker->loops.residual(worker->in[block].q.data());
      for (int i = 0; i < role_count; ++i) {
        worker->inputs[i].push_back((worker->in[block].*roles[i].packs).data());
      }
      worker->results.resize(shapes_.size());
      for (std::size_t k = 0; k < shapes_.size(); ++k) {
        worker->results[k].push_back(worker->out[block][k].values.data());
      }
    }
  }
}

/// What the problem asks for: it is solved once, and once without each input. @throws Unsupported
void Batch::Impl::find_needed(Worker& worker) {
  PackInputs in;
  for (int i = 0; i < role_count; ++i) (in.*roles[i].packs).assign(rows_[i], Pack(0.0));
  std::vector<double> neutral(model_->nq());
  model_->neutral(neutral.data());
  std::copy(neutral.begin(), neutral.end(), in.q.begin());
  PackResults out;
  worker.algorithm->solve_packs(in, out);
  for (const BasicResult<Pack>& r : out) {
    Result& shape = shapes_.emplace_back();
    shape.name = r.name, shape.rows = r.rows, shape.columns = r.columns, shape.names = r.names;
    shape.row_count = r.row_count, shape.column_count = r.column_count;
  }
  for (int i = 0; i < role_count; ++i) {
    std::vector<Pack>& packs = in.*roles[i].packs;
    if (packs.empty()) continue;
    std::vector<Pack> kept;
    kept.swap(packs);
    try {
      worker.algorithm->solve_packs(in, out);
    } catch (const SizeMismatch&) {
      needed_[i] = true;
    }
    if (needed_[i]) kept.swap(packs);
  }
  worker.in.assign(1, in);
}

/// Enough that rows of the structures of arrays are read by whole cache lines, few enough that what
/// a thread works on stays in its cache.
void Batch::Impl::choose_blocks() {
  std::size_t numbers = 1;
  for (int i = 0; i < role_count; ++i) numbers += needed_[i] ? rows_[i] : 0;
  for (const Result& r : shapes_) numbers += static_cast<std::size_t>(r.row_count) * r.column_count;
  constexpr std::size_t bytes = 256 * 1024;
  blocks_ = static_cast<int>(std::clamp<std::size_t>(bytes / (numbers * sizeof(Pack)), 2, 32));
}

void Batch::Impl::expect(const char* what, long got, long rows, int N) const {
  if (got == rows * N) return;
  throw SizeMismatch(who_ + ": size of " + what + " is " + std::to_string(got) + ", expected " +
                     std::to_string(rows) + " x " + std::to_string(N) + " = " +
                     std::to_string(rows * N) +
                     " (number i of state k stands at [i * N + k], N states)");
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
  const Call call{N, &in, out, status.empty() ? nullptr : status.data()};
  const int states = blocks_ * Pack::size;
  threads_.run((N + states - 1) / states,
               [&](int worker, int piece) { run(*workers_[worker], call, piece); });
}

/// Piece number `piece` of the states: gathers, solves and scatters its blocks.
void Batch::Impl::run(Worker& worker, const Call& call, int piece) {
  const int N = call.N, begin = piece * blocks_ * Pack::size;
  const int states = std::min(N - begin, blocks_ * Pack::size);
  const int whole = states / Pack::size, blocks = (states + Pack::size - 1) / Pack::size;
  for (int i = 0; i < role_count; ++i) {
    if (!needed_[i]) continue;
    const double* row = (call.in->*roles[i].batch).data() + begin;
    Pack* const* to = worker.inputs[i].data();
    for (int r = 0; r < rows_[i]; ++r, row += N) {
      for (int b = 0; b < whole; ++b) to[b][r] = Pack::load(row + b * Pack::size);
      if (whole < blocks) to[whole][r] = gather(row, whole * Pack::size, N - begin);
    }
  }
  for (int b = 0; b < blocks; ++b) {
    const int first = begin + b * Pack::size;
    worker.in[b].wrenches = nullptr;
    if (call.in->wrenches.size() > 0) {
      worker.wrenches.clear();
      const double* row = call.in->wrenches.data();
      for (const Link& link : model_->links()) {
        Force<Pack> wrench;
        for (int i = 0; i < 6; ++i, row += N) wrench[i] = gather(row, first, N);
        worker.wrenches.add(link, wrench);
      }
      worker.in[b].wrenches = &worker.wrenches;
    }
    worker.algorithm->solve_packs(worker.in[b], worker.out[b]);
    if (call.status != nullptr) judge(worker, call, first, b);
  }
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    double* row = call.out[k].values.data() + begin;
    const Result& shape = shapes_[result_of_[k]];
    const int numbers = shape.row_count * shape.column_count;
    const Pack* const* from = worker.results[result_of_[k]].data();
    for (int i = 0; i < numbers; ++i, row += N) {
      for (int b = 0; b < whole; ++b) from[b][i].store(row + b * Pack::size);
      if (whole < blocks) scatter(from[whole][i], row, whole * Pack::size, N - begin);
    }
  }
}

void Batch::Impl::judge(Worker& worker, const Call& call, int first, int block) {
  Pack zero(0.0);  // stays zero as long as all is finite
  for (const BasicResult<Pack>& r : worker.out[block]) {
    for (const Pack& x : r.values) zero += x - x;
  }
  Pack residual(0.0);
  if (checks_loops_) residual = worker.loops.residual(worker.in[block].q.data());
  const int lanes = std::min(Pack::size, call.N - first);
  for (int k = 0; k < lanes; ++k) {
    const bool closed = !checks_loops_ || residual[k] <= loop_tolerance_;
    call.status[first + k] = zero[k] != 0.0 ? BatchStatus::singular
                             : closed       ? BatchStatus::ok
                                            : BatchStatus::loop_open;
  }
}

Batch::Batch(const Registry& registry, const Entry& algorithm, const Setup& setup,
             const BatchOptions& options)
    : impl_(std::make_unique<Impl>(registry, algorithm, setup, options)) {}

Batch::~Batch() = default;

const Model& Batch::model() const { return *impl_->model_; }

int Batch::threads() const { return impl_->threads_.count(); }

const std::vector<Result>& Batch::results() const { return impl_->shapes_; }

void Batch::set_gravity(const Vec3<double>& g) {
  for (const auto& worker : impl_->workers_) worker->algorithm->set_gravity(g);
}

void Batch::evaluate(int N, const BatchInputs& in, std::span<const BatchOutput> out,
                     std::span<BatchStatus> status) {
  impl_->evaluate(N, in, out, status);
}

}  // namespace espalier
