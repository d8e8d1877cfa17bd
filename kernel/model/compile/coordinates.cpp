#include "espalier/kernel/model/compile/compiler.hpp"

#include <algorithm>
#include <numeric>

#include "espalier/kernel/errors.hpp"

/// Coordinates, runs of joints of one type, and names.

namespace espalier {

void Compiler::lay_out_coordinates() {
  Model& m = *model_;
  m.joints_.reserve(order_.size());
  std::vector<int> last_rate(groups_.size(), -1);  // of each body, for the expanded parents
  for (int g : order_) {
    const Group& group = groups_[g];
    const JointDescription& joint = joints_[group.joint];
    const JointType& type = *joint_types_[group.joint];
    Body& body = m.bodies_[group.body];
    body.joint = static_cast<int>(m.joints_.size());
    body.q = m.nq_, body.v = m.spanning_nv_;
    body.nq = type.nq(), body.nv = type.nv();
    m.joints_.push_back({joint.name, joint.type, group.body, body.q, body.v, body.nq, body.nv, -1,
                         joint.limits, joint.passive});
    m.nq_ += body.nq, m.spanning_nv_ += body.nv;
    for (int k = 0; k < body.nv; ++k) {
      m.joint_of_rate_.push_back(body.joint);
      m.rate_parents_.push_back(k == 0 ? last_rate[body.parent] : body.v + k - 1);
      if (joint.armature > 0.0) m.armature_.emplace_back(body.v + k, joint.armature);
    }
    last_rate[group.body] = body.v + body.nv - 1;
  }
  for (Rotor& rotor : m.rotors_) rotor.v = m.bodies_[rotor.body].v;
}

void Compiler::make_runs() {
  Model& m = *model_;
  const int n = m.body_count();
  for (int first = 1; first <= n;) {
    if (first == active_ + 1) m.active_runs_ = static_cast<int>(m.runs_.size());
    const JointType* type = joint_types_[groups_[order_[first - 1]].joint];
    int end = first + 1;
    while (end <= n && end != active_ + 1 && joint_types_[groups_[order_[end - 1]].joint] == type)
      ++end;
    std::vector<Transform<double>> placements;
    for (int i = first; i < end; ++i) {
      placements.push_back(m.bodies_[i].placement);
      m.bodies_[i].run = static_cast<int>(m.runs_.size());
      if (type->has_equations()) m.bodies_with_equations_.push_back(i);
    }
    BodyRun run;
    run.first = first, run.count = end - first;
    run.q = m.bodies_[first].q, run.v = m.bodies_[first].v;
    run.nq = type->nq(), run.nv = type->nv();
    run.subspace = type->subspace();
    run.type = type;
    try {
      run.joints = type->make_run(
          std::span<const JointSpec>(specs_).subspan(first - 1, end - first), placements);
    } catch (const Error& error) {
      findings_.error(robot_.where, error.what());
      return;
    }
    m.runs_.push_back(std::move(run));
    first = end;
  }
  if (active_ == n) m.active_runs_ = static_cast<int>(m.runs_.size());
}

void Compiler::index_names() {
  Model& m = *model_;
  m.link_order_.resize(m.links_.size()), m.joint_order_.resize(m.joints_.size());
  std::iota(m.link_order_.begin(), m.link_order_.end(), 0);
  std::iota(m.joint_order_.begin(), m.joint_order_.end(), 0);
  std::sort(m.link_order_.begin(), m.link_order_.end(),
            [&](int a, int b) { return m.links_[a].name < m.links_[b].name; });
  std::sort(m.joint_order_.begin(), m.joint_order_.end(),
            [&](int a, int b) { return m.joints_[a].name < m.joints_[b].name; });
}

}  // namespace espalier
