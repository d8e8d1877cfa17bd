#include "algorithms/chains/geared_clusters.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {

bool are_revolute(const BodyRun& run) {
  return run.subspace == SubspaceKind::revolute_z && run.joints->turns_about_z();
}

bool drives_rotors_on(const Model& model, const Cluster& c, int body) {
  const auto rotors = model.rotors().subspan(c.rotor, c.rotors);
  return std::all_of(rotors.begin(), rotors.end(),
                     [&](const Rotor& r) { return r.parent == body; });
}

bool is_geared_body(const Model& model, const Cluster& c) {
  if (!c.constrained || c.constraint != nullptr) return false;
  if (c.count != 1 || c.nv != 1 || c.spanning_nv != 1 || c.G[0] != 1.0) return false;
  return drives_rotors_on(model, c, model.body(c.first).parent);
}

bool is_belt_pair(const Model& model, const Cluster& c) {
  if (!c.constrained || c.constraint != nullptr) return false;
  if (c.count != 2 || c.nv != 2 || c.spanning_nv != 2) return false;
  if (c.G[0] != 1.0 || c.G[1] != 0.0 || c.G[2] != 0.0 || c.G[3] != 1.0) return false;
  constexpr double parallel = 1e-15;  // as ChainPlan sees it
  const Transform<double>& first = model.body(c.first).placement;
  const Transform<double>& second = model.body(c.first + 1).placement;
  if (model.body(c.first + 1).parent != c.first) return false;
  if (std::hypot(second.E.row[2].x, second.E.row[2].y) > parallel) return false;
  for (int r = 0; r < c.rotors; ++r) {
    const Rotor& rotor = model.rotors()[c.rotor + r];
    const double* rho = c.G.data() + 2 * (2 + r);
    if (rotor.parent == c.first) {
      if (rho[0] != 0.0) return false;
    } else if (rotor.parent != model.body(c.first).parent) {
      return false;
    } else if (rho[1] != 0.0) {
      const Vec3<double> transverse = cross(first.E.row[2], rotor.momentum);
      if (dot(transverse, transverse) > 1e-28 * dot(rotor.momentum, rotor.momentum)) return false;
    }
  }
  return true;
}

}  // namespace espalier
