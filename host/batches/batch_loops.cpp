#include "espalier/host/batches/batch_loops.hpp"

#include <set>

namespace espalier::detail {

BatchLoops::BatchLoops(ModelPtr model) : model_(std::move(model)), joints_(*model_) {
  const std::span<const int> independent = model_->independent_rates();
  std::set<int> placed;
  for (const Cluster& c : model_->clusters()) {
    if (c.constraint != nullptr) {
      loops_.push_back(&c);
      c.constraint->allocate(c, work_);
      const int bodies = c.constraint->loops.empty() ? 0 : c.count;  // laws take positions alone
      for (int i = c.first; i < c.first + bodies; ++i) placed.insert(model_->body(i).run);
    }
    if (c.G.empty()) continue;
    for (int i = 0; i < c.rows(); ++i) {  // as Model::apply_couplings()
      const Joint& joint = model_->joint_of_rate(c.rate(i));
      if (joint.independent >= 0) continue;
      CoupledPosition& follower = followers_.emplace_back();
      follower.position = joint.q;
      follower.offset = c.offset[i];
      for (int j = 0; j < c.nv; ++j) {
        const int rate = independent[c.v + j];
        const Joint& leader = model_->joint_of_rate(rate);
        const double factor = c.G[i * c.nv + j];
        if (leader.nq != leader.nv || factor == 0.0) continue;
        follower.terms.push_back({leader.q + rate - leader.v, factor});
      }
    }
  }
  placed_runs_.assign(placed.begin(), placed.end());
}

void BatchLoops::follow(Pack* q) const {
  for (const CoupledPosition& follower : followers_) {
    Pack sum(follower.offset);
    for (const auto& [position, factor] : follower.terms) sum += Pack(factor) * q[position];
    q[follower.position] = sum;
  }
}

Pack BatchLoops::residual(const Pack* q) {
  const PackCode& packs = model_->pack_code();
  Pack worst(0.0);
  packs.take_largest_miss(followers_, q, worst);
  if (loops_.empty()) return worst;
  for (const int r : placed_runs_) joints_.update(model_->runs()[r], q, nullptr);
  for (const Cluster* c : loops_) {
    packs.residual(*c->constraint, *model_, *c, view(q), ClusterConstraint::Rows::all, work_, phi_);
    packs.take_largest(phi_, worst);
  }
  return worst;
}

Pack BatchLoops::margin(const Pack* q) {
  const PackCode& packs = model_->pack_code();
  Pack least(1.0);
  for (const Cluster* c : loops_) {
    packs.jacobian(*c->constraint, *model_, *c, view(q), work_);
    packs.take_margin(*c->constraint, work_, least);
  }
  return least;
}

SpanningView<Pack> BatchLoops::view(const Pack* q) const {
  return {q, nullptr, joints_.X.data(), joints_.S.data(), nullptr};
}

}  // namespace espalier::detail
