#pragma once

#include "espalier/kernel/model/motion/body_placements.hpp"
#include "espalier/kernel/model/packs/loop_closing_code.hpp"
#include "espalier/kernel/model/packs/pack_code.hpp"
#include "espalier/kernel/model/packs/streamed_rows.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"

namespace espalier::detail {

/// The largest of `most` and the |x|; NaN where one is NaN.
template <class T>
static void take_largest(std::span<const T> numbers, T& most) {
  T now = most, zero = T(0.0);  // the latter stays zero as long as all is finite
  for (const T& x : numbers) {
    now = select_less(now, abs(x), abs(x), now);
    zero += x - x;
  }
  most = now + zero;
}
/// The same of what positions miss of those that constant couplings give.
template <class T>
static void take_largest_miss(std::span<const CoupledPosition> coupled, const T* q, T& most) {
  T now = most, zero = T(0.0);
  for (const CoupledPosition& c : coupled) {
    T miss = q[c.position] - T(c.offset);
    for (const auto& [position, factor] : c.terms) miss -= T(factor) * q[position];
    now = select_less(now, abs(miss), abs(miss), now);
    zero += miss - miss;
  }
  most = now + zero;
}

/// Zero, or NaN where some number is not finite. Four sums, which do not wait for each
/// other: a single one takes as long as all other work on a number.
template <class T>
static T not_finite(std::span<const T> numbers) {
  const T zero(0.0);
  T sum[4] = {zero, zero, zero, zero};
  std::size_t i = 0;
  for (; i + 4 <= numbers.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sum[k] += numbers[i + k] * zero;
  }
  for (; i < numbers.size(); ++i) sum[0] += numbers[i] * zero;
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// PackCode for the instruction set that this header is compiled for.
class CompiledPackCode final : public PackCode {
 public:
#define ESPALIER_OVERRIDE(P)                                                                      \
  void jacobian(const ClusterConstraint& constraint, const Model& model, const Cluster& cluster,  \
                const SpanningView<P>& at, ConstraintWorkspace<P>& w) const override {            \
    detail::jacobian(constraint, model, cluster, at, w);                                          \
  }                                                                                               \
  void eliminate_loops(const Model& model, std::span<const Cluster* const> loops,                 \
                       std::span<ConstraintWorkspace<P>> work, const SpanningView<P>& at,         \
                       const P* v, P* G, P* qd, P* g) const override {                            \
    detail::eliminate_loops(model, loops, work, at, v, G, qd, g);                                 \
  }                                                                                               \
  void eliminate_biases(const Model& model, std::span<const Cluster* const> loops,                \
                        std::span<ConstraintWorkspace<P>> work, const SpanningView<P>& at, P* g)  \
      const override {                                                                            \
    detail::eliminate_biases(model, loops, work, at, g);                                          \
  }                                                                                               \
  void residual(const ClusterConstraint& constraint, const Model& model, const Cluster& cluster,  \
                const SpanningView<P>& at, ClusterConstraint::Rows which,                         \
                ConstraintWorkspace<P>& w, std::vector<P>& phi) const override {                  \
    detail::residual(constraint, model, cluster, at, which, w, phi);                              \
  }                                                                                               \
  void expand(std::span<const Cluster* const> clusters, const P* G, const P* x, P* out)           \
      const override {                                                                            \
    detail::expand(clusters, G, x, out);                                                          \
  }                                                                                               \
  void reduce(std::span<const Cluster* const> clusters, const P* G, const P* x, P* out)           \
      const override {                                                                            \
    detail::reduce(clusters, G, x, out);                                                          \
  }                                                                                               \
  void expand_in_blocks(const Cluster& cluster, ConstraintWorkspace<P>& w, const P* x, P* out)    \
      const override {                                                                            \
    detail::expand_in_blocks(cluster, w, x, out);                                                 \
  }                                                                                               \
  void reduce_in_blocks(const Cluster& cluster, ConstraintWorkspace<P>& w, P* x, P* out)          \
      const override {                                                                            \
    detail::reduce_in_blocks(cluster, w, x, out);                                                 \
  }                                                                                               \
  void take_margin(const ClusterConstraint& constraint, ConstraintWorkspace<P>& w, P& least)      \
      const override {                                                                            \
    const P margin = detail::margin(constraint, w);                                               \
    least = select_less(margin, least, margin, least);                                            \
  }                                                                                               \
  void newton_step(const ClusterConstraint& constraint, ConstraintWorkspace<P>& w, P* phi,        \
                   P* step) const override {                                                      \
    detail::newton_step(constraint, w, phi, step);                                                \
  }                                                                                               \
  void take_branch(const ClusterConstraint& constraint, ConstraintWorkspace<P>& w, P* branch)     \
      const override {                                                                            \
    detail::take_branch(constraint, w, branch);                                                   \
  }                                                                                               \
  void take_same_branch(const ClusterConstraint& constraint, ConstraintWorkspace<P>& w,           \
                        const P* last, const P* now, P& same) const override {                    \
    same *= detail::same_branch(constraint, w, last, now);                                        \
  }                                                                                               \
  void take_largest(std::span<const P> numbers, P& most) const override {                         \
    detail::take_largest(numbers, most);                                                          \
  }                                                                                               \
  void take_largest_miss(std::span<const CoupledPosition> coupled, const P* q, P& most)           \
      const override {                                                                            \
    detail::take_largest_miss(coupled, q, most);                                                  \
  }                                                                                               \
  void take_not_finite(std::span<const P> numbers, P& zero) const override {                      \
    zero += detail::not_finite(numbers);                                                          \
  }                                                                                               \
  void load(const double* first, const detail::Strides& at, int rows, std::span<P* const> packs)  \
      const override {                                                                            \
    detail::load_rows(first, at, rows, packs);                                                    \
  }                                                                                               \
  void store(std::span<const P* const> packs, int rows, double* first, const detail::Strides& at) \
      const override {                                                                            \
    if (detail::is_streamed(first, at, packs.size())) {                                           \
      detail::stream_rows(packs, rows, first, at);                                                \
    } else {                                                                                      \
      detail::store_rows(packs, rows, first, at);                                                 \
    }                                                                                             \
  }
  ESPALIER_OVERRIDE(Pack)
  ESPALIER_OVERRIDE(FloatPack)
#undef ESPALIER_OVERRIDE

  void place_bodies(BodyPlacements& bodies) const override { detail::place_bodies(bodies); }
  void round(std::span<const Pack* const> from, int rows,
             std::span<FloatPack* const> to) const override {
    for (std::size_t k = 0; k < to.size(); ++k) {
      const Pack *low = from[2 * k], *high = from[2 * k + 1];
      for (int r = 0; r < rows; ++r) {
        FloatPack& x = to[k][r];
        for (int i = 0; i < Pack::size; ++i) {
          x.lanes[i] = static_cast<float>(low[r].lanes[i]);
          x.lanes[Pack::size + i] = static_cast<float>(high[r].lanes[i]);
        }
      }
    }
  }
};

}  // namespace espalier::detail
