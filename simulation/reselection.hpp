#pragma once

#include <cstddef>

/// When simulations look for other independent joints, and when they take them
/// (docs/theory/dead-points.md, D.3).

namespace espalier::detail {

/// Others are looked for where the margin has fallen to this part of its best.
constexpr double look_below = 0.3;
/// They are taken if they are this much better: what keeps the choice from going to and fro.
constexpr double worthwhile = 3.0;
/// Where a look found nothing better, the next one waits for this part of the margin.
constexpr double look_again = 0.7;
/// At the start, where others would be worthwhile but the present ones do: these are kept until the
/// margin falls below this part of the start's.
constexpr double poor_start = 0.9;
/// On the same branch Newton's method moves a prediction by less than this part of its motion.
constexpr double same_branch = 0.02;
/// Choices of independent joints that are kept, the model's own among them.
constexpr std::size_t most_forms = 64;

}  // namespace espalier::detail
