#include "espalier/kernel/model/compile/clusters/cluster_compiler.hpp"

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/kernel/uniform.hpp"

/// Closes all loops near the neutral position, and at some positions around.

namespace espalier {

using text::quoted;

void ClusterCompiler::assemble_variable() {
  const Closure first = assemble(model_, model_.neutral_.data());
  if (first.verdict != Closure::Verdict::closed) return report_open();
  const std::vector<std::vector<double>> poses = closed_poses();
  for (std::size_t i = 0; i < model_.clusters_.size() && !findings_.failed(); ++i) {
    if (model_.clusters_[i].constraint != nullptr) settle(i, poses);
  }
}

void ClusterCompiler::report_open() {
  TreeKinematics<double> joints(model_);
  const std::vector<double>& q = model_.neutral_;
  joints.update(model_, q.data(), nullptr);
  for (const Cluster& c : model_.clusters_) {
    if (c.constraint == nullptr) continue;
    const auto [name, residual] = c.constraint->worst(
        model_, c,
        SpanningView<double>{q.data(), nullptr, joints.X.data(), joints.S.data(), nullptr});
    if (residual <= 1e-9) continue;
    findings_.error(where_[&c - model_.clusters_.data()],
                    "cluster " + quoted(c.name) + ": constraint " + quoted(name) +
                        " cannot be met, the best residual found is " + text::number(residual, 3) +
                        ", expected a mechanism that can be assembled (check the frames, lengths "
                        "and the type of joint that closes the loop of " +
                        names_of_joints(c) + ")");
  }
}

/// The neutral position and some around it.
std::vector<std::vector<double>> ClusterCompiler::closed_poses() const {
  std::vector<std::vector<double>> poses{model_.neutral_};
  UniformNumbers uniform(12345);
  // Of many loops hardly ever all close from far away: these start nearer, and nearer still.
  bool large = false;
  for (const Cluster& c : model_.clusters_) {
    large = large || (c.constraint != nullptr && c.constraint->is_sparse());
  }
  CloseOptions once;
  once.attempts = 1;
  for (int k = 0; k < 4; ++k) {
    std::vector<double> step(model_.spanning_nv_, 0.0);
    for (const Cluster& c : model_.clusters_) {
      if (c.constraint == nullptr) continue;
      for (int i = 0; i < c.rows(); ++i) step[c.rate(i)] = 0.15 * (k + 1) * uniform();
    }
    for (int halved = 0; halved < (large ? 4 : 1); ++halved) {
      std::vector<double> q = model_.neutral_;
      model_.integrate(q.data(), step.data(), q.data());
      if (assemble(model_, q.data(), large ? once : CloseOptions{}).verdict ==
          Closure::Verdict::closed) {
        poses.push_back(std::move(q));
        break;
      }
      for (double& x : step) x *= 0.4;
    }
  }
  return poses;
}

}  // namespace espalier
