#include "espalier/host/batches/batch_impl.hpp"

#include <algorithm>
#include <cstdint>

namespace espalier {

/// Pieces of the states for all threads.
void Batch::Impl::share_out(Call call) {
  call.states = states_;
  if (threads_.count() > 1) {  // pieces enough that no thread waits long for another
    constexpr int pieces_each = 4;
    const int packs = call.N / (pieces_each * threads_.count() * lanes_);
    call.states = std::clamp(packs * lanes_, lanes_, states_);
  }
  if (call.N <= call.states) return run(0, call, 0, call.N);
  call.lanes = lanes_, call.head = states_before_a_line(call);
  threads_.run(call.pieces(), [&](int worker, int piece) {
    run(worker, call, call.begin(piece), call.begin(piece + 1));
  });
}

/// States before the first whole cache line of the results' rows, where pieces had better begin
/// with a line. A piece of few packs writes a line or two of each row. If they begin inside of a
/// line, two pieces share one, which is then brought from memory twice.
int Batch::Impl::states_before_a_line(const Call& call) const {
  constexpr int line = 64 / sizeof(double), few_packs = 4, many_pieces = 4;
  const bool are_rows_alike = call.in->layout == BatchLayout::arrays && call.N % line == 0;
  const bool pays = states_ <= few_packs * lanes_ && call.N >= many_pieces * states_;
  // Packs of variants and single calls stand where the caller's numbers of states put them.
  if (!are_rows_alike || !pays || call.variants != nullptr || call.out.empty() ||
      options_.remainder == Remainder::single_calls) {
    return 0;
  }
  const auto largest = std::max_element(
      call.out.begin(), call.out.end(),
      [](const auto& a, const auto& b) { return a.values.size() < b.values.size(); });
  const auto address = reinterpret_cast<std::uintptr_t>(largest->values.data());
  return static_cast<int>((line - address / sizeof(double) % line) % line);
}

void Batch::Impl::refuse_size(const char* what, long got, long rows, int N) const {
  throw SizeMismatch(who_ + ": size of " + what + " is " + std::to_string(got) + ", expected " +
                     std::to_string(rows) + " x " + std::to_string(N) + " = " +
                     std::to_string(rows * N) + " (numbers of each state x states)");
}

void Batch::Impl::refuse_result(std::string_view name) const {
  std::vector<std::string> known;
  for (const Result& r : shapes_) known.push_back(r.name);
  throw UnknownName(who_ + ": result is '" + std::string(name) + "'" + suggest(name, known));
}

void Batch::Impl::refuse_number(int N) const {
  throw SizeMismatch(who_ + ": number of states is " + std::to_string(N) + ", expected at least 0");
}

void Batch::Impl::evaluate(int N, const BatchInputs& in, std::span<const BatchOutput> out,
                           std::span<BatchStatus> status) {
  if (N < 0) refuse_number(N);
  for (int i = 0; i < detail::role_count; ++i) {
    const long got = (in.*detail::roles[i].batch).size();
    if (needed_[i] || got > 0) expect(detail::roles[i].name, got, rows_[i], N);
  }
  if (!in.wrenches.empty()) expect("wrenches", in.wrenches.size(), wrench_rows_, N);
  if (!status.empty()) expect("status", static_cast<long>(status.size()), 1, N);
  result_of_.resize(out.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Result& shape = shape_of(out[k].name);
    result_of_[k] = static_cast<int>(&shape - shapes_.data());
    expect(shape.name.c_str(), out[k].values.size(),
           static_cast<long>(shape.row_count) * shape.column_count, N);
  }
  const Call call{N, &in, out, status.empty() ? nullptr : status.data(), nullptr};
  if (options_.variants.size() > 1 || !in.variant.empty()) expect_variants(N, in.variant);
  if (in.variant.empty()) {
    solve(call);
  } else {
    solve_variants(call);
  }
}

void Batch::Impl::expect_variants(int N, std::span<const int> variant) const {
  const int count = static_cast<int>(options_.variants.size());
  expect("variant", static_cast<long>(variant.size()), 1, N);
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
  for (int i = 0; i < detail::role_count; ++i) {
    const In<double>& from = in.*detail::roles[i].batch;
    if (from.size() == 0) continue;
    slots.take(from.data(), detail::strides(in.layout, rows_[i], call.N), rows_[i],
               ordered_.inputs[i]);
    ordered.*detail::roles[i].batch = ordered_.inputs[i];
  }
  if (in.wrenches.size() > 0) {
    slots.take(in.wrenches.data(), detail::strides(in.layout, wrench_rows_, call.N), wrench_rows_,
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
    slots.give(ordered_.results[k], rows(k), call.N, detail::strides(in.layout, rows(k), call.N),
               call.out[k].values.data());
  }
  if (call.status != nullptr)
    slots.give(ordered_.status, 1, call.N, detail::Strides{}, call.status);
}

}  // namespace espalier
