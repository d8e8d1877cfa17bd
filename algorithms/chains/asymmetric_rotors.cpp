#include "algorithms/chains/asymmetric_rotors.hpp"

#include <cmath>

namespace espalier {
namespace {

/// Whether a body turns about a principal axis through its centre of mass, and which of both
/// principal moments across is larger depends on where it stands.
bool is_balanced_and_asymmetric(const RigidInertia<double>& b) {
  const Sym3<double>& I = b.I;
  const double small = 1e-12 * (std::abs(I.xx) + std::abs(I.yy) + std::abs(I.zz));  // rounding
  const double offset = 1e-12 * (std::abs(b.h.z) + b.m);
  return std::abs(I.xz) <= small && std::abs(I.yz) <= small && std::abs(b.h.x) <= offset &&
         std::abs(b.h.y) <= offset && (std::abs(I.xx - I.yy) > small || std::abs(I.xy) > small);
}

}  // namespace

RigidInertia<double> mean_about_axis(const RigidInertia<double>& b) {
  const double across = 0.5 * (b.I.xx + b.I.yy);
  return {b.m, {0, 0, b.h.z}, {across, 0, 0, across, 0, b.I.zz}};
}

std::vector<AsymmetricRotor> asymmetric_rotors(const Model& model) {
  std::vector<AsymmetricRotor> found;
  std::vector<bool> taken(model.active_body_count() + 1, false);  // by others
  for (int i = 1; i <= model.active_body_count(); ++i) taken[model.body(i).parent] = true;
  for (const Rotor& rotor : model.rotors()) taken[rotor.parent] = true;
  for (const int i : model.bodies_with_equations()) taken[i] = true;
  for (const Cluster& c : model.clusters()) {
    if (!c.constrained || c.constraint != nullptr || c.count != 2 || c.nv != 1) continue;
    if (c.spanning_nv != 2) continue;
    const Body &first = model.body(c.first), &second = model.body(c.first + 1);
    if (first.parent != second.parent || !are_revolute(model.runs()[first.run]) ||
        !are_revolute(model.runs()[second.run]) || !drives_rotors_on(model, c, first.parent)) {
      continue;
    }
    for (int rotor = c.first; rotor < c.first + 2; ++rotor) {
      const int joint = 2 * c.first + 1 - rotor;
      const double ratio = c.G[c.row(model.body(rotor).v)];
      const RigidInertia<double>& I = model.body(rotor).inertia;
      if (taken[rotor] || c.G[c.row(model.body(joint).v)] != 1.0 || ratio == 0.0 ||
          !is_balanced_and_asymmetric(I)) {
        continue;
      }
      const double a = 0.5 * (I.I.xx - I.I.yy), b = I.I.xy;
      const Mat3<double>& E = model.body(rotor).placement.E;
      found.push_back({rotor, joint, ratio, congruence(E, Sym3<double>{a, b, 0, -a, 0, 0}),
                       congruence(E, Sym3<double>{-b, a, 0, b, 0, 0})});
      break;
    }
  }
  return found;
}

}  // namespace espalier
