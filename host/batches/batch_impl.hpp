#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "espalier/host/batch.hpp"
#include "espalier/host/batches/batch_variants.hpp"
#include "espalier/host/batches/block_threads.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"
#include "espalier/plugins/registry.hpp"

/// What all batches do: sizes, names and variants; pieces of states for threads.

namespace espalier {

namespace detail {

/// The arrays of BatchInputs.
struct Role {
  const char* name;
  In<double> BatchInputs::*batch;
};
inline constexpr int role_count = 4;
inline constexpr std::array<Role, role_count> roles{{{"q", &BatchInputs::q},
                                                     {"v", &BatchInputs::v},
                                                     {"tau", &BatchInputs::tau},
                                                     {"vdot", &BatchInputs::vdot}}};
/// Where an algorithm reads them.
template <class T>
inline constexpr std::array<In<T> BasicInputViews<T>::*, role_count> views_of{
    {&BasicInputViews<T>::q, &BasicInputViews<T>::v, &BasicInputViews<T>::tau,
     &BasicInputViews<T>::vdot}};
/// Where they are kept.
template <class T>
inline constexpr std::array<std::vector<T> BasicInputs<T>::*, role_count> numbers_of{
    {&BasicInputs<T>::q, &BasicInputs<T>::v, &BasicInputs<T>::tau, &BasicInputs<T>::vdot}};
/// Of arrays of N states with so many numbers each.
inline Strides strides(BatchLayout layout, long numbers, int N) {
  return layout == BatchLayout::states || N == 1 ? Strides{numbers, 1} : Strides{1, N};
}

}  // namespace detail

/// What does not depend on the scalar.
class Batch::Impl {
 public:
  Impl(const Entry& algorithm, const Setup& setup, const BatchOptions& options)
      : model_(detail::expect_model("batch of " + algorithm.about.name, setup.model)),
        who_("batch of " + algorithm.about.name),
        options_(options),
        threads_(options.threads),
        wrench_rows_(6L * static_cast<long>(model_->links().size())) {
    int number = 0;
    for (const ModelPtr& variant : options_.variants) {
      detail::expect_model(who_ + ": variant " + std::to_string(number), variant);
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
    int lanes = 0;        ///< of a pack
    int head = 0;         ///< states of the first piece besides a pack; 0: pieces are alike

    int pieces() const {
      return head == 0 ? (N + states - 1) / states : 1 + (N - second() + states - 1) / states;
    }
    /// First state of a piece; of the one behind the last: N.
    int begin(int piece) const {
      if (piece >= pieces()) return N;
      if (head == 0 || piece == 0) return piece * states;
      const int at = second() + (piece - 1) * states;
      // No piece is less than a pack: its numbers would be written one by one.
      return N - at < lanes ? at - lanes : at;
    }

   private:
    int second() const { return head + lanes; }
  };

  /// A piece of the states, [begin, end): gathers, solves and scatters them.
  virtual void run(int worker, const Call& call, int begin, int end) = 0;

  std::array<int, detail::role_count> rows_{};
  std::array<bool, detail::role_count> needed_{};
  long wrench_rows_ = 0;        ///< numbers of a state's wrenches
  int states_ = 1;              ///< that a thread takes at once, at most
  int lanes_ = 1;               ///< of a pack
  std::vector<int> result_of_;  ///< of each output of the call

 private:
  void solve(const Call& call) { call.N <= lanes_ ? run(0, call, 0, call.N) : share_out(call); }
  void share_out(Call call);
  int states_before_a_line(const Call& call) const;
  void expect_variants(int N, std::span<const int> variant) const;
  void solve_variants(const Call& call);

  /// States in the order of their variants.
  struct Ordered {
    detail::BatchVariants slots;
    std::array<std::vector<double>, detail::role_count> inputs;
    std::vector<double> wrenches;
    std::vector<std::vector<double>> results;
    std::vector<BatchOutput> out;
    std::vector<BatchStatus> status;
  } ordered_;

  void expect(const char* what, long got, long rows, int N) const {
    if (got != rows * N) [[unlikely]]
      refuse_size(what, got, rows, N);
  }
  [[noreturn, gnu::cold]] void refuse_size(const char* what, long got, long rows, int N) const;
  /// Name and shape of a result. @throws UnknownName
  const Result& shape_of(std::string_view name) const {
    for (const Result& r : shapes_) {
      if (r.name == name) return r;
    }
    refuse_result(name);
  }
  [[noreturn, gnu::cold]] void refuse_result(std::string_view name) const;
  [[noreturn, gnu::cold]] void refuse_number(int N) const;
};

}  // namespace espalier
