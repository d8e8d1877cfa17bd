#include "espalier/plugins/batch_loops.hpp"

#include <set>

namespace espalier::detail {

BatchLoops::BatchLoops(ModelPtr model)
    : model_(std::move(model)), joints_(*model_) {
  const std::span<const int> independent = model_->independent_rates();
  std::set<int> placed;
  for (const Cluster& c : model_->clusters()) {
    if (c.constraint != nullptr) {
      Loop& loop = loops_.emplace_back();
      loop.cluster = &c;
      c.constraint->allocate(*model_, c, loop.work);
      const int bodies = c.constraint->loops.empty() ? 0 : c.count;  // laws take positions alone
      for (int i = c.first; i < c.first + bodies; ++i) placed.insert(model_->body(i).run);
    }
    if (c.G.empty()) continue;
    for (int i = 0; i < c.rows(); ++i) {  // as Model::apply_couplings()
      const Joint& joint = model_->joint_of_rate(c.rate(i));
      if (joint.independent >= 0) continue;
      Follower& follower = followers_.emplace_back();
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
  for (const Follower& follower : followers_) {
    Pack sum(follower.offset);
    for (const auto& [position, factor] : follower.terms) sum += Pack(factor) * q[position];
    q[follower.position] = sum;
  }
}

Pack BatchLoops::residual(const Pack* q) {
  Pack worst(0.0), zero(0.0);  // the latter stays zero as long as all is finite
  for (const Follower& follower : followers_) {
    Pack sum = q[follower.position] - Pack(follower.offset);
    for (const auto& [position, factor] : follower.terms) sum -= Pack(factor) * q[position];
    worst = select_less(worst, abs(sum), abs(sum), worst);
    zero += sum - sum;
  }
  worst += zero;
  if (loops_.empty()) return worst;
  for (const int r : placed_runs_) joints_.update(model_->runs()[r], q, nullptr);
  const SpanningView<Pack> at{q, nullptr, joints_.X.data(), joints_.S.data(), nullptr};
  for (Loop& loop : loops_) {
    loop.cluster->constraint->residual(*model_, *loop.cluster, at, ClusterConstraint::Rows::all,
                                       loop.work, phi_);
    for (const Pack& x : phi_) {
      worst = select_less(worst, abs(x), abs(x), worst);
      worst += x - x;  // stays where x is finite
    }
  }
  return worst;
}

}  // namespace espalier::detail
