#include "algorithms/segments/link_tree.hpp"

#include <algorithm>

namespace espalier {

LinkTree::LinkTree(const Model& model)
    : welded(model.body_count() + 1, false), armature(model.nv(), 0.0) {
  for (int i = 0; i <= model.active_body_count(); ++i) inertia.push_back(model.folded_inertia(i));
  std::vector<bool> carries(model.body_count() + 1, false);
  for (int i = 1; i <= model.body_count(); ++i) carries[model.body(i).parent] = true;
  std::vector<double> joint_armature(model.spanning_nv(), 0.0);
  for (const auto& [rate, value] : model.armature()) joint_armature[rate] = value;
  for (const Cluster& c : model.clusters()) {
    if (c.G.empty()) continue;
    for (int r = 0; r < c.rotors; ++r) {
      const Rotor& rotor = model.rotors()[c.rotor + r];
      reflect({rotor.body, rotor.parent, &c, c.spanning_nv + r, false, rotor.inertia});
    }
    for (int i = c.first; i < c.first + c.count; ++i) {
      const Body& body = model.body(i);
      const SubspaceKind kind = model.runs()[body.run].subspace;
      const double* rho = c.G.data() + c.row(body.v) * c.nv;
      const bool fast = std::any_of(rho, rho + c.nv, [](double x) { return x * x > 1.0; });
      if (!fast || carries[i] || body.nq != 1 ||
          (kind != SubspaceKind::revolute_z && kind != SubspaceKind::prismatic_z)) {
        continue;
      }
      const bool slides = kind == SubspaceKind::prismatic_z;
      welded[i] = true;
      inertia[body.parent] += congruence(body.placement, body.inertia);
      reflect({i, body.parent, &c, c.row(body.v), slides,
               (slides ? body.inertia.m : body.inertia.I.zz) + joint_armature[body.v]});
    }
  }
  for (const BodyRun& run : model.active_runs()) {
    for (int k = 0; k < run.count; ++k) {
      if (welded[run.first + k]) continue;
      if (runs.empty() || runs.back().first + runs.back().count != run.first + k ||
          runs.back().type != run.type) {
        runs.push_back(run);
        runs.back().first += k, runs.back().count = 0;
        runs.back().q += k * run.nq, runs.back().v += k * run.nv;
      }
      ++runs.back().count;
    }
  }
}

bool LinkTree::is_free(const Model& m, const Cluster& c) const {
  if (!c.constrained) return true;
  if (c.G.empty()) return false;
  int next = 0;
  for (int b = c.first; b < c.first + c.count; ++b) {
    if (welded[b]) continue;
    const Body& body = m.body(b);
    for (int k = 0; k < body.nv; ++k, ++next) {
      for (int j = 0; j < c.nv; ++j) {
        if (c.G[c.row(body.v + k) * c.nv + j] != (next == j ? 1.0 : 0.0)) return false;
      }
    }
  }
  return next == c.nv;
}

ChainJoints LinkTree::chain_joints(const Model& m, Rotors rotors) const {
  ChainJoints joints(m);
  std::vector<double> joint_armature(m.spanning_nv(), 0.0);
  for (const auto& [rate, value] : m.armature()) joint_armature[rate] = value;
  for (const Cluster& c : m.clusters()) {
    if (!is_free(m, c)) continue;
    int next = c.v;
    for (int i = c.first; i < c.first + c.count; ++i) {
      if (welded[i]) continue;
      const Body& body = m.body(i);
      joints.turning[i] = are_revolute(m.runs()[body.run]) &&
                          m.independent_rates()[next] == body.v &&
                          next - c.v == body.v - c.spanning_v;
      joints.inertia[i] = joint_armature[body.v];
      if (rotors == Rotors::reflected) joints.inertia[i] += armature[next];
      next += body.nv;
    }
  }
  for (const int i : m.bodies_with_equations()) joints.turning[i] = false;
  return joints;
}

void LinkTree::reflect(const Reflected& r) {
  reflected.push_back(r);
  for (int j = 0; j < r.cluster->nv; ++j) {
    const double rho = r.cluster->G[r.row * r.cluster->nv + j];
    armature[r.cluster->v + j] += r.inertia * rho * rho;
  }
}

}  // namespace espalier
