#include "espalier/host/batches/batch_projector.hpp"

#include <algorithm>
#include <set>

#include "espalier/kernel/model/packs/loop_closing_code.hpp"

namespace espalier::detail {

namespace {

using Rows = ClusterConstraint::Rows;

/// 1 where a <= b, else 0; NaN gives 0.
Pack at_most(const Pack& a, const Pack& b) {
  const Pack one(1.0), zero(0.0);
  return select_less(b, a, zero, select_less(a - b, one, one, zero));
}
bool any(const Pack& mask) {
  for (int k = 0; k < Pack::size; ++k) {
    if (mask[k] != 0.0) return true;
  }
  return false;
}
/// to = from where the mask is 1.
void merge(const Pack& mask, const std::vector<Pack>& from, Pack* to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = select_less(Pack(0.5), mask, from[i], to[i]);
  }
}

/// By what residuals of the rows of K are multiplied before they are judged; empty: by ones.
std::vector<double> measures_of(const ClusterConstraint& constraint) {
  std::vector<double> measures(constraint.rows(), 1.0);
  std::size_t row = constraint.linear.size();
  bool any = false;
  for (const ClusterConstraint::LawUse& use : constraint.laws) {
    for (std::size_t e = 0; e < use.kept.size(); ++e) {
      if (!use.kept[e]) continue;
      any = any || use.measure[e] != 1.0;
      measures[row++] = use.measure[e];
    }
  }
  return any ? measures : std::vector<double>();
}

}  // namespace

BatchProjector::BatchProjector(ModelPtr model, const CloseOptions& options)
    : model_(std::move(model)),
      options_(options),
      joints_(*model_),
      start_(model_->nq()),
      before_(model_->nq()),
      move_(model_->spanning_nv(), Pack(0.0)) {
  model_->pack_code();  // finds it now, not in a call
  std::set<int> moved, placed;
  // A loop that moved as the list grows would leave the room behind that is reserved for its phi.
  loops_.reserve(model_->clusters().size());
  for (const Cluster& c : model_->clusters()) {
    if (c.constraint == nullptr) continue;
    Loop& loop = loops_.emplace_back();
    loop.cluster = &c;
    c.constraint->allocate(c, loop.work);
    loop.branch.resize(branch_size(*c.constraint));
    std::size_t equations = c.constraint->all_linear.size();
    for (const auto& use : c.constraint->laws) equations += use.law->equations();
    for (const auto& closure : c.constraint->loops) equations += closure.all_rows.size();
    loop.phi.reserve(equations);
    loop.measure = measures_of(*c.constraint);
    loop.judged.reserve(loop.measure.size());
    for (const int rate : c.constraint->rate) {
      moved.insert(model_->body(model_->joint_of_rate(rate).body).run);
    }
    const int bodies = c.constraint->loops.empty() ? 0 : c.count;  // laws take positions alone
    for (int i = c.first; i < c.first + bodies; ++i) placed.insert(model_->body(i).run);
  }
  moved_.assign(moved.begin(), moved.end());
  placed_.assign(placed.begin(), placed.end());
}

SpanningView<Pack> BatchProjector::view(const Pack* q) const {
  return {q, nullptr, joints_.X.data(), joints_.S.data(), nullptr};
}

/// K and phi of the rows that it has. @return the largest |phi|, not a number where one is none
Pack BatchProjector::evaluate(const Pack* q) {
  const PackCode& packs = model_->pack_code();
  for (const int r : placed_) joints_.update(model_->runs()[r], q, nullptr);
  Pack worst(0.0);
  for (Loop& loop : loops_) {
    const ClusterConstraint& constraint = *loop.cluster->constraint;
    packs.jacobian(constraint, *model_, *loop.cluster, view(q), loop.work);
    packs.residual(constraint, *model_, *loop.cluster, view(q), Rows::kept, loop.work, loop.phi);
    loop.residual = Pack(0.0);
    loop.judged.resize(loop.measure.size());
    for (std::size_t i = 0; i < loop.judged.size(); ++i) {
      loop.judged[i] = loop.measure[i] * loop.phi[i];
    }
    packs.take_largest(loop.measure.empty() ? loop.phi : loop.judged, loop.residual);
    packs.take_largest({&loop.residual, 1}, worst);
  }
  return worst;
}

/// One step of Newton's method from where the loops have just been evaluated.
void BatchProjector::step(Pack* q, const Pack& live) {
  const PackCode& packs = model_->pack_code();
  for (Loop& loop : loops_) {
    const ClusterConstraint& constraint = *loop.cluster->constraint;
    packs.newton_step(constraint, loop.work, loop.phi.data(), move_.data());
    // A loop that is closed stays as it is, whatever others of the robot do.
    for (const int column : constraint.dependent) {
      Pack& x = move_[constraint.rate[column]];
      x = select_less(Pack(options_.tolerance), loop.residual, x, Pack(0.0));
    }
  }
  std::copy_n(q, before_.size(), before_.begin());
  for (const int r : moved_) {
    const BodyRun& run = model_->runs()[r];
    run.joints->integrate(before_.data() + run.q, move_.data() + run.v, q + run.q);
  }
  merge(Pack(1.0) - live, before_, q);
}

/// 1 in lanes that are closed where the loops have just been evaluated, else 0. Writes branches.
Pack BatchProjector::judge(const Pack* q, const Pack* memory) {
  const PackCode& packs = model_->pack_code();
  const Pack one(1.0), zero(0.0);
  Pack most(0.0), far(1.0), same(1.0);
  for (Loop& loop : loops_) {
    const ClusterConstraint& constraint = *loop.cluster->constraint;
    packs.residual(constraint, *model_, *loop.cluster, view(q), Rows::all, loop.work, loop.phi);
    packs.take_largest(loop.phi, most);
    loop.margin = one;
    packs.take_margin(constraint, loop.work, loop.margin);
    far *= at_most(Pack(options_.least_margin), loop.margin);
    packs.take_branch(constraint, loop.work, loop.branch.data());
    Pack here(1.0);
    packs.take_same_branch(constraint, loop.work, memory + 1, loop.branch.data(), here);
    // Without a last position any branch will do.
    same *= select_less(zero, memory[0], here, one);
    memory += 1 + loop.branch.size();
  }
  return at_most(most, Pack(100.0 * options_.tolerance)) * far * same;
}

Pack BatchProjector::project(Pack* q, Pack* memory) {
  std::copy_n(q, start_.size(), start_.begin());
  const Pack one(1.0), zero(0.0), tolerance(options_.tolerance);
  Pack worst = evaluate(q);
  for (int k = 0; k < options_.iterations; ++k) {
    const Pack live = select_less(tolerance, worst, one, zero);
    if (!any(live)) break;
    step(q, live);
    const Pack now = evaluate(q);
    // Rounding ends the descent a little above zero.
    const Pack round = live * select_less(now, worst, zero, one) *
                       select_less(worst, Pack(100.0) * tolerance, one, zero);
    const Pack diverges = live * select_less(now, Pack(2.0) * worst, zero, one);
    worst = select_less(Pack(0.5), live, now, worst);
    // Where it ends, nothing is left to do.
    worst = select_less(Pack(0.5), round + diverges, zero, worst);
    if (any(round)) {
      merge(round, before_, q);
      evaluate(q);
    }
  }
  const Pack closed = judge(q, memory);
  merge(one - closed, start_, q);
  for (const Loop& loop : loops_) {
    memory[0] = select_less(Pack(0.5), closed, one, memory[0]);
    merge(closed, loop.branch, memory + 1);
    memory += 1 + loop.branch.size();
  }
  return closed;
}

}  // namespace espalier::detail
