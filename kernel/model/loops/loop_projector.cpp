#include "espalier/kernel/model/loops/loop_projector.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/model/loops/loop_elimination.hpp"

namespace espalier {

namespace {

/// Householder's A = Q R of m x n numbers, row-major, m >= n: R above the diagonal, reflections on
/// and below it, `beta` holds their factors and then the diagonal of R. False if a column vanishes.
bool factor(std::vector<double>& A, int m, int n, std::vector<double>& beta) {
  for (int j = 0; j < n; ++j) {
    double square = 0.0;
    for (int i = j; i < m; ++i) square += A[i * n + j] * A[i * n + j];
    const double a = A[j * n + j];
    const double alpha = a < 0.0 ? std::sqrt(square) : -std::sqrt(square);
    if (!(std::abs(alpha) > 0.0)) return false;
    A[j * n + j] = a - alpha;
    beta[j] = 1.0 / (alpha * (alpha - a));
    beta[n + j] = alpha;
    for (int l = j + 1; l < n; ++l) {
      double s = 0.0;
      for (int i = j; i < m; ++i) s += A[i * n + j] * A[i * n + l];
      s *= beta[j];
      for (int i = j; i < m; ++i) A[i * n + l] -= s * A[i * n + j];
    }
  }
  return true;
}

/// R x = b in place.
void back_substitute(const std::vector<double>& A, int n, const std::vector<double>& beta,
                     double* b) {
  for (int j = n - 1; j >= 0; --j) {
    for (int l = j + 1; l < n; ++l) b[j] -= A[j * n + l] * b[l];
    b[j] /= beta[n + j];
  }
}

}  // namespace

LoopProjector::LoopProjector(ModelPtr model, const CloseOptions& options)
    : model_(std::move(model)),
      options_(options),
      joints_(*model_),
      step_(model_->spanning_nv()),
      before_(model_->nq()) {
  for (const Cluster& c : model_->clusters()) {
    if (c.constraint == nullptr) continue;
    const ClusterConstraint& constraint = *c.constraint;
    Loop& loop = loops_.emplace_back();
    loop.cluster = &c;
    constraint.allocate(c, loop.work);
    const std::size_t m = constraint.rows(), n = constraint.dependent.size();
    if (constraint.blocks) {
      loop.last.resize(constraint.blocks->blocks.size());
    } else {
      loop.K.resize(m * n), loop.last.resize(m * n), loop.factor.resize(std::max(m, n) * n);
      loop.beta.resize(2 * n);
    }
    std::size_t equations = constraint.all_linear.size();
    for (const auto& use : constraint.laws) equations += use.law->equations();
    for (const auto& closure : constraint.loops) equations += closure.all_rows.size();
    loop.phi.reserve(equations), loop.kept.reserve(equations);
    loop.choice = std::make_unique<IndependentChoice>(constraint);
    places_ = places_ || !constraint.loops.empty();
  }
}

int LoopProjector::cluster_of(int loop) const {
  return static_cast<int>(loops_[loop].cluster - model_->clusters().data());
}

const IndependentChoice& LoopProjector::look(int loop) {
  Loop& it = loops_[loop];
  it.choice->look(*it.cluster->constraint, it.work);
  return *it.choice;
}

void LoopProjector::restart() {
  for (Loop& loop : loops_) loop.has_last = false;
}

std::size_t LoopProjector::memory_size() const {
  std::size_t size = 0;
  for (const Loop& loop : loops_) size += 1 + loop.last.size();
  return size;
}

void LoopProjector::save(double* memory) const {
  for (const Loop& loop : loops_) {
    *memory++ = loop.has_last ? 1.0 : 0.0;
    memory = std::copy(loop.last.begin(), loop.last.end(), memory);
  }
}

void LoopProjector::restore(const double* memory) {
  for (Loop& loop : loops_) {
    loop.has_last = *memory++ != 0.0;
    std::copy_n(memory, loop.last.size(), loop.last.begin());
    memory += loop.last.size();
  }
}

SpanningView<double> LoopProjector::view(const double* q) const {
  return {q, nullptr, joints_.X.data(), joints_.S.data(), nullptr};
}

double LoopProjector::evaluate(const double* q) {
  if (places_) joints_.update(*model_, q, nullptr);
  const SpanningView<double> at = view(q);
  double worst = 0.0;
  for (Loop& loop : loops_) {
    const Cluster& c = *loop.cluster;
    const ClusterConstraint& constraint = *c.constraint;
    constraint.jacobian(*model_, c, at, loop.work);
    constraint.residual(*model_, c, at, ClusterConstraint::Rows::all, loop.work, loop.phi);
    if (!constraint.blocks) detail::take_dependents(constraint, loop.work, loop.K.data());
    loop.residual = 0.0;
    for (const double x : loop.phi) {  // keeps NaN
      loop.residual = std::abs(x) <= loop.residual ? loop.residual : std::abs(x);
    }
    worst = loop.residual <= worst ? worst : loop.residual;
  }
  return worst;
}

double LoopProjector::residual(const double* q) { return evaluate(q); }

double LoopProjector::margin() {
  double least = 1.0;
  for (Loop& loop : loops_) {
    const double margin = detail::margin(*loop.cluster->constraint, loop.work);
    least = margin < least ? margin : least;
  }
  return least;
}

/// The least-squares step of the dependent columns that takes phi to zero, at most half a radian or
/// metre long. @param q  where the loops have just been evaluated
bool LoopProjector::add_newton_step(const double* q, Loop& loop) {
  const ClusterConstraint& constraint = *loop.cluster->constraint;
  if (constraint.blocks) return add_block_step(q, loop);
  const int m = constraint.rows(), n = static_cast<int>(constraint.dependent.size());
  std::copy(loop.K.begin(), loop.K.end(), loop.factor.begin());
  if (m < n || !factor(loop.factor, m, n, loop.beta)) return false;
  std::vector<double>& b = loop.kept;
  constraint.residual(*model_, *loop.cluster, view(q), ClusterConstraint::Rows::kept, loop.work, b);
  for (int j = 0; j < n; ++j) {
    double s = 0.0;
    for (int i = j; i < m; ++i) s += loop.factor[i * n + j] * b[i];
    s *= loop.beta[j];
    for (int i = j; i < m; ++i) b[i] -= s * loop.factor[i * n + j];
  }
  back_substitute(loop.factor, n, loop.beta, b.data());
  double longest = 0.0;
  for (int j = 0; j < n; ++j) longest = std::max(longest, std::abs(b[j]));
  const double scale = longest > 0.5 ? 0.5 / longest : 1.0;
  for (int j = 0; j < n; ++j) step_[constraint.rate[constraint.dependent[j]]] = -scale * b[j];
  return true;
}

/// The same block by block.
bool LoopProjector::add_block_step(const double* q, Loop& loop) {
  const ClusterConstraint& constraint = *loop.cluster->constraint;
  detail::factor_blocks(*constraint.blocks, loop.work);
  constraint.residual(*model_, *loop.cluster, view(q), ClusterConstraint::Rows::kept, loop.work,
                      loop.kept);
  detail::solve_blocks(constraint, loop.work, loop.kept.data(), step_.data());
  double longest = 0.0;
  for (const int column : constraint.dependent) {
    const double x = std::abs(step_[constraint.rate[column]]);
    longest = x <= longest ? longest : x;  // keeps NaN
  }
  const bool finite = std::isfinite(longest);
  const double scale = !finite ? 0.0 : longest > 0.5 ? 0.5 / longest : 1.0;
  for (const int column : constraint.dependent) {
    double& step = step_[constraint.rate[column]];
    step = finite ? -scale * step : 0.0;
  }
  return finite;
}

/// How the loops lie now, for turned_over().
void LoopProjector::remember(Loop& loop) {
  loop.has_last = true;
  if (!loop.cluster->constraint->blocks) {
    loop.last = loop.K;
    return;
  }
  const LoopBlocks& all = *loop.cluster->constraint->blocks;
  for (std::size_t i = 0; i < all.blocks.size(); ++i) {
    loop.last[i] = detail::negative(all.blocks[i], loop.work);
  }
}

/// Whether the dependent columns have passed a dead point since they were last closed. Blocks are
/// factored.
bool LoopProjector::turned_over(Loop& loop) {
  if (!loop.has_last) return false;
  if (loop.cluster->constraint->blocks) {
    const LoopBlocks& all = *loop.cluster->constraint->blocks;
    for (std::size_t i = 0; i < all.blocks.size(); ++i) {
      if (loop.last[i] != detail::negative(all.blocks[i], loop.work)) return true;
    }
    return false;
  }
  const int n = static_cast<int>(loop.cluster->constraint->dependent.size());
  const int m = n == 0 ? 0 : static_cast<int>(loop.K.size()) / n;
  std::fill(loop.factor.begin(), loop.factor.end(), 0.0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < m; ++k)
        loop.factor[i * n + j] += loop.last[k * n + i] * loop.K[k * n + j];
    }
  }
  if (!factor(loop.factor, n, n, loop.beta)) return true;
  bool negative = n % 2 == 1;  // every reflection turns the sign of the determinant
  for (int j = 0; j < n; ++j) negative = negative != (loop.beta[n + j] < 0.0);
  return negative;
}

/// Of a loop where it was evaluated last, after its margin.
Closure::Verdict LoopProjector::judge(Loop& loop) {
  if (!(loop.residual <= 100.0 * options_.tolerance)) return Closure::Verdict::out_of_reach;
  if (turned_over(loop)) return Closure::Verdict::branch_lost;
  if (!(loop.margin >= options_.least_margin)) return Closure::Verdict::singular;
  return Closure::Verdict::closed;
}

LoopProjector::End LoopProjector::close(double* q) {
  End end;
  model_->normalize(q);
  model_->apply_couplings(q);
  if (loops_.empty()) return end;
  double worst = evaluate(q);
  for (int k = 0; k < options_.iterations && worst > options_.tolerance; ++k) {
    std::fill(step_.begin(), step_.end(), 0.0);
    bool moves = false;
    for (Loop& loop : loops_) {
      if (loop.residual > options_.tolerance) moves = add_newton_step(q, loop) || moves;
    }
    if (!moves) break;
    std::copy_n(q, before_.size(), before_.begin());
    model_->integrate(q, step_.data(), q);
    const double now = evaluate(q);
    // Rounding ends the descent a little above zero.
    if (!(now < worst) && worst < 100.0 * options_.tolerance) {
      std::copy(before_.begin(), before_.end(), q);
      worst = evaluate(q);
      break;
    }
    const bool worse = !(now < 2.0 * worst);
    worst = now;
    if (worse) break;
  }
  end.residual = worst;
  for (Loop& loop : loops_) {
    loop.margin = detail::margin(*loop.cluster->constraint, loop.work);
    end.margin = loop.margin < end.margin ? loop.margin : end.margin;
    const Closure::Verdict verdict = judge(loop);
    if (verdict == Closure::Verdict::closed) {
      remember(loop);
    } else if (end.open == nullptr) {
      end.verdict = verdict, end.margin = loop.margin, end.open = &loop;
    }
  }
  return end;
}

Closure::Verdict LoopProjector::try_project(double* q) { return close(q).verdict; }

Closure LoopProjector::project(double* q) {
  const End end = close(q);
  Closure closure;
  closure.verdict = end.verdict, closure.residual = end.residual, closure.margin = end.margin;
  if (end.open == nullptr) return closure;
  closure.reached = 0.0;
  closure.cluster = end.open->cluster->name;
  return closure;
}

}  // namespace espalier
