#include <algorithm>
#include <cmath>
#include <set>

#include "espalier/kernel/model/compile/compiler.hpp"

/// A motion that moves no inertia has no acceleration: an error if there is one at every position
/// that is looked at, a warning if at neutral only, as in a wrist whose massless axes line up
/// there.

namespace espalier {

void Compiler::check_inertia() {
  Model& m = *model_;
  auto groups = std::make_shared<std::vector<detail::InertiaGroup>>(
      detail::find_inertia_groups(m, detail::RatesOf::clusters, findings_.doubted()));
  if (!groups->empty()) {
    poses_.assign(4, std::vector<double>(m.nq_));
    m.neutral(poses_[0].data());
    for (std::size_t k = 1; k < poses_.size(); ++k) m.random(k, poses_[k].data());
  }
  for (detail::InertiaGroup& group : *groups) judge(group);
  m.inertia_groups_ = std::move(groups);
  if (!findings_.failed()) m.weightless_in_tree_ = detail::weightless_in_tree(m);
}

/// Looks at the rank of one group.
void Compiler::judge(detail::InertiaGroup& group) {
  if (group.hopeless) {
    report_weightless({{{group.rates.front(), 1.0}}, true}, false);
    return;
  }
  SpanningMotion<double> motion(*model_);
  detail::GroupInertia<double> M(*model_, group);
  detail::WeightlessMotion at_neutral, always;
  std::vector<double> first;
  bool varies = false;
  for (std::size_t k = 0; k < poses_.size(); ++k) {
    motion.update(poses_[k].data(), nullptr);
    M.compose(motion, poses_[k].data());
    std::vector<double> entries;
    double size = 0.0;
    for (int i = 0; i < M.size(); ++i) {
      for (int j = 0; j <= i; ++j) entries.push_back(M(i, j));
      size = std::max(size, std::abs(M(i, i)));
    }
    if (k == 0) first = entries;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      varies = varies || !(std::abs(entries[i] - first[i]) <= 1e-9 * size);
    }
    const detail::WeightlessMotion found = detail::find_weightless_motion(group, M);
    if (k == 0) at_neutral = found;
    if (k == 1) always = found;
    if (k > 1 && found.rates.empty()) always = {};
  }
  if (!always.rates.empty()) return report_weightless(always, false);
  if (!at_neutral.rates.empty()) report_weightless(at_neutral, true);
  group.guarded = group.guarded && varies;
}

void Compiler::report_weightless(const detail::WeightlessMotion& motion, bool at_neutral) {
  const auto report = [&](int rate, const std::string& how) {
    const int body = model_->joint_of_rate(rate).body;
    const std::string text = moves_no_inertia(body, how);
    if (at_neutral) {
      findings_.warning(joint_of(body).where, "at the neutral position, " + text);
    } else {
      findings_.error(joint_of(body).where, text);
    }
  };
  if (!motion.alone) return report(motion.rates.front().first, motion.text(*model_));
  std::set<int> named;
  for (const auto& [rate, share] : motion.rates) {
    if (named.insert(model_->joint_of_rate(rate).body).second) report(rate, "");
  }
}

/// @param motion  that it takes part in; "": it alone
std::string Compiler::moves_no_inertia(int body, const std::string& motion) const {
  const Group& group = groups_[order_[body - 1]];
  std::vector<std::string> links;
  for (int l : group.links) links.push_back(robot_.links[l].name);
  const bool massless = group.inertia.m == 0.0;
  const std::string who = "joint '" + joint_of(body).name + "': ";
  if (model_->clusters()[model_->body(body).cluster].constrained) {
    return who +
           "the mass matrix has no positive inertia along a motion of it and of what is tied " +
           "to it" + (motion.empty() ? "" : ", " + motion) +
           ", expected one (give the massless links there an <inertial> or the joint an armature)";
  }
  return who + "moves no inertia" + (motion.empty() ? "" : " in a motion of " + motion) +
         ", expected mass on its link " + detail::list_of(links) + " or beyond (" +
         (massless ? "the link has no mass; give it an <inertial>, weld it by a fixed joint, or "
                     "give the joint an armature"
                   : "its mass lies on the joint's axis; give it a rotational inertia or the "
                     "joint an armature") +
         ")";
}

}  // namespace espalier
