#pragma once

#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/kernel/problems/setup.hpp"

/// One algorithm on many states of one robot, eight or sixteen at a time on every core.

namespace espalier {

class Registry;
struct Entry;

/// What became of one state of a batch.
enum class BatchStatus : unsigned char {
  ok,
  /// Some number of the positions or results is not finite, or some motion has no inertia; with
  /// floats also, where loops are looked at, so near a dead point (singularity margin below 1e-3)
  /// that few digits are left.
  singular,
  loop_open,  ///< the loops are open by more than BatchOptions::loop_tolerance; results are finite
};
/// "ok", "singular", "loop open".
ESPALIER_API std::string_view to_string(BatchStatus status);

/// What a batch computes with. What goes in and comes out are doubles at both.
enum class Precision {
  doubles,  ///< eight states at a time, at the scalar Pack
  floats    ///< sixteen, at the scalar FloatPack: docs/batches.md has the error
};
/// "double", "float".
ESPALIER_API std::string_view to_string(Precision precision);

/// What becomes of states that fill no pack: the last N modulo eight, or sixteen.
enum class Remainder {
  packs,  ///< a pack like the others: all results have the same bits wherever they stand
  /// Up to three (x86-64-v4: two) are single calls at the scalar double, which cost less than a
  /// pack: a batch of one state costs a single call. The last digits of a result depend on which
  /// way it goes.
  single_calls
};

/// How a batch computes.
struct BatchOptions {
  int threads = 0;                           ///< 0: one for each core that the process may use
  Precision precision = Precision::doubles;  ///< of what is computed inside
  /// Largest |phi| of couplings, laws and loops at a state as it is given, in doubles at both
  /// precisions [m, rad or cosine]. Infinity: they are not looked at, which saves their evaluation.
  double loop_tolerance = 1e-6;
  /// Robots with the links and joints of the batch's own and other numbers (masses, lengths,
  /// ratios: domain randomisation). Not empty: each state is of one of them, BatchInputs::variant.
  std::vector<ModelPtr> variants = {};
  Remainder remainder = Remainder::packs;  ///< with variants always packs
};

/// How the numbers of N states stand in arrays, n numbers for each state.
enum class BatchLayout {
  arrays,  ///< structures of arrays: number i of state k at [i * N + k]; the fastest
  states   ///< one state after the other: number i of state k at [k * n + i]
};

/// Arrays of N states; the sizes below are those of structures of arrays, rows x N. What a problem
/// does not ask for may be left out.
struct BatchInputs {
  In<double> q{nullptr, 0};     ///< nq x N, spanning positions
  In<double> v{nullptr, 0};     ///< nv x N, independent rates
  In<double> tau{nullptr, 0};   ///< nv x N, generalized forces
  In<double> vdot{nullptr, 0};  ///< nv x N, generalized accelerations
  /// External wrenches, 6 links x N: six numbers for each of Model::links(), moment first, link
  /// frame. Empty: none.
  In<double> wrenches{nullptr, 0};
  /// Size N where the batch has variants: which one each state is of. The lanes of a pack are of
  /// one variant, so that as many states of each as a pack has lanes cost the least.
  std::span<const int> variant = {};
  BatchLayout layout = BatchLayout::arrays;  ///< of all arrays above, and of the results
};

/// Where a result goes: rows x columns x N; entry (i, j) is number i * columns + j of a state, and
/// stands where BatchInputs::layout says.
struct BatchOutput {
  std::string_view name;  ///< as Batch::results() call it
  Out<double> values;     ///< rows x columns x N
};

/// An algorithm bound to a model for batches: one object of it for each thread, at the scalar Pack
/// or FloatPack. Belongs to one thread, which calls it; Host::batch() makes one.
///
/// Results of a state are the same bit by bit wherever it stands in the batch, whatever the other
/// states, their number and the number of threads, but with Remainder::single_calls. Packs have a
/// sine of their own, so that they differ from those at the scalar double in the last digits.
class ESPALIER_API Batch {
 public:
  /// @throws as Registry::create(); InvalidModel for a variant of other links or joints, naming
  ///         them; Unsupported where the algorithm does not have the scalar or its
  ///         problem does not take packs, naming what does; SizeMismatch for a negative number of
  ///         threads
  Batch(const Registry& registry, const Entry& algorithm, const Setup& setup,
        const BatchOptions& options = {});
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// The model that it is bound to.
  const Model& model() const;
  /// Threads that it computes with.
  int threads() const;
  /// Of what is computed inside.
  Precision precision() const;
  /// Names and shapes of the results of one state; no values.
  const std::vector<Result>& results() const;
  /// Gravity for the following calls [m/s²], world axes.
  void set_gravity(const Vec3<double>& g);

  /// Solves N states. Nothing is allocated after the first call.
  /// @param N       number of states
  /// @param in      what the problem asks for
  /// @param out     results that are wanted
  /// @param status  size N, or empty: not wanted
  /// @throws SizeMismatch naming the array, UnknownName for a result; what the algorithm throws
  void evaluate(int N, const BatchInputs& in, std::span<const BatchOutput> out,
                std::span<BatchStatus> status = {});
  /// The same for results that are listed in the call.
  void evaluate(int N, const BatchInputs& in, std::initializer_list<BatchOutput> out,
                std::span<BatchStatus> status = {}) {
    evaluate(N, in, std::span<const BatchOutput>(out.begin(), out.size()), status);
  }

 private:
  class Impl;
  template <class P>
  class ImplAt;
  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier
