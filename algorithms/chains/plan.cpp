#include "algorithms/chains/plan.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {

ChainJoints ChainJoints::of(const Model& model) {
  ChainJoints joints(model);
  for (const auto& [rate, armature] : model.armature()) {
    const int body = model.joint_of_rate(rate).body;
    if (body <= model.active_body_count()) joints.inertia[body] = armature;
  }
  for (const Cluster& c : model.clusters()) {
    const bool geared = is_geared_body(model, c), pair = is_belt_pair(model, c);
    bool turning = !c.constrained || geared || pair;
    for (int i = c.first; i < c.first + c.count; ++i) {
      turning = turning && are_revolute(model.runs()[model.body(i).run]);
    }
    for (int i = c.first; i < c.first + c.count; ++i) joints.turning[i] = turning;
    if (pair && turning) joints.coupled[c.first + 1] = true;
    for (int r = 0; r < c.rotors; ++r) {
      if (geared) joints.add_rotor(model, c, r, c.first);
      if (pair) joints.add_rotor_of_pair(model, c, r);
    }
  }
  for (const int i : model.bodies_with_equations()) joints.turning[i] = false;
  return joints;
}

void ChainJoints::add_asymmetric_rotors(const Model& model) {
  asymmetric = asymmetric_rotors(model);
  for (const AsymmetricRotor& rotor : asymmetric) {
    const Body& body = model.body(rotor.body);
    const Cluster& c = model.clusters()[body.cluster];
    turning[rotor.joint] = true;
    inertia[rotor.joint] += rotor.ratio * rotor.ratio * (body.inertia.I.zz + inertia[rotor.body]);
    momentum[rotor.joint] += scale(rotor.ratio * body.inertia.I.zz, body.placement.E.row[2]);
    for (int r = 0; r < c.rotors; ++r) add_rotor(model, c, r, rotor.joint);
  }
}

void ChainJoints::add_rotor(const Model& model, const Cluster& c, int r, int joint) {
  const Rotor& rotor = model.rotors()[c.rotor + r];
  const double rho = c.G[c.spanning_nv + r];
  inertia[joint] += rho * rho * rotor.inertia;
  momentum[joint] += scale(rho, rotor.momentum);
}

void ChainJoints::add_rotor_of_pair(const Model& model, const Cluster& c, int r) {
  const Rotor& rotor = model.rotors()[c.rotor + r];
  const double* rho = c.G.data() + 2 * (2 + r);
  const int first = c.first, second = c.first + 1;
  inertia[first] += rho[0] * rho[0] * rotor.inertia;
  inertia[second] += rho[1] * rho[1] * rotor.inertia;
  coupling[second] += rho[0] * rho[1] * rotor.inertia;
  if (rotor.parent == first) {
    momentum[second] += scale(rho[1], rotor.momentum);
    return;
  }
  momentum[first] += scale(rho[0], rotor.momentum);
  const double axial = rho[1] * dot(model.body(first).placement.E.row[2], rotor.momentum);
  momentum[second].z += axial;
  coupling[second] -= axial;
}

namespace {

// Rounding of products of a few rotations.
constexpr double tiny = 2e-15;
/// Axes that are closer to parallel, but not parallel, have a common normal too far away.
constexpr double nearly_parallel = 1e-2;

/// Whether the common normal of this axis and z passes through the origin and r, to rounding: a
/// file's 3.14159265359 leans an axis by 2e-13, mostly across the link that carries it.
bool is_normal_at_hand(const Vec3<double>& axis, const Vec3<double>& r) {
  const double length = std::hypot(r.x, r.y);
  return length <= tiny || std::fabs(axis.x * r.x + axis.y * r.y) < tiny * length;
}

/// Right angles and zeros, freed of rounding.
double rounded(double x) {
  if (std::fabs(x) < tiny) return 0.0;
  if (std::fabs(x - 1.0) < tiny) return 1.0;
  if (std::fabs(x + 1.0) < tiny) return -1.0;
  return x;
}

void take_axial_momentum(ChainBody& b) {
  const Vec3<double> axis{0.0, -b.sin_alpha, b.cos_alpha}, all = b.momentum;
  b.axial = dot(axis, all);
  b.momentum -= scale(b.axial, axis);
  if (dot(b.momentum, b.momentum) <= 1e-28 * dot(all, all)) b.momentum = {0, 0, 0};
}

/// Turns the frame of the last body about z, which moves the zero of its angle.
void turn_frame(Chain& chain, const Transform<double>& turn) {
  ChainBody& b = chain.bodies.back();
  const double c = turn.E.row[0].x, s = turn.E.row[0].y;
  b.F = turn * b.F;
  const double cos_theta = b.cos_theta * c - b.sin_theta * s;
  b.sin_theta = rounded(b.sin_theta * c + b.cos_theta * s);
  b.cos_theta = rounded(cos_theta);
}

RigidInertia<double> take_regrouped(RigidInertia<double>& I) {
  const double along = 0.5 * (I.I.xx + I.I.yy - I.I.zz);
  const RigidInertia<double> regrouped{I.m, {0, 0, I.h.z}, {along, 0, 0, along, 0, 0}};
  I.m = I.h.z = 0.0;
  I.I.xx -= along, I.I.yy -= along;
  return regrouped;
}

std::vector<RigidInertia<double>> folded_inertias(const Model& model) {
  std::vector<RigidInertia<double>> all;
  for (int i = 0; i <= model.active_body_count(); ++i) all.push_back(model.folded_inertia(i));
  return all;
}

}  // namespace

ChainPlan::ChainPlan(const Model& model, const ChainJoints& joints, Branches branches)
    : ChainPlan(model, joints, branches, folded_inertias(model)) {}

ChainPlan::ChainPlan(const Model& model, const ChainJoints& joints, Branches branches,
                     const std::vector<RigidInertia<double>>& bodies)
    : chain_of(model.active_body_count() + 1, -1),
      index_in(chain_of.size(), -1),
      inertia(chain_of.size(), RigidInertia<double>::zero()) {
  const int n = model.active_body_count();
  std::vector<const AsymmetricRotor*> rotor_of(n + 1, nullptr);  // per body that drives one
  for (const AsymmetricRotor& rotor : joints.asymmetric) rotor_of[rotor.joint] = &rotor;
  std::vector<int> next_in_chain(n + 1, 0), chain_length(n + 1, 0);  // along the longest way
  std::vector<int> children(n + 1, 0);
  for (int i = n; i > 0; --i) {
    if (!joints.turning[i]) continue;
    if (branches == Branches::end && children[i] > 1 && !joints.coupled[next_in_chain[i]])
      next_in_chain[i] = 0;
    chain_length[i] = 1 + (next_in_chain[i] > 0 ? chain_length[next_in_chain[i]] : 0);
    const int p = model.body(i).parent;
    if (p == 0 || !joints.turning[p]) continue;
    ++children[p];
    if (joints.coupled[i] ||
        (!joints.coupled[next_in_chain[p]] &&
         (next_in_chain[p] == 0 || chain_length[i] >= chain_length[next_in_chain[p]])))
      next_in_chain[p] = i;
  }
  for (int i = 1; i <= n; ++i) {
    if (!joints.turning[i] || chain_of[i] >= 0) continue;
    const int parent = model.body(i).parent;
    const bool alone = chain_length[i] < 2 && chain_of[parent] < 0;
    if (alone && rotor_of[i] == nullptr) continue;  // going there would cost more
    for (int first = i; first > 0;) first = add(model, first, next_in_chain, joints, rotor_of);
  }
  level.assign(n + 1, 0);
  for (const Cluster& c : model.clusters()) {
    int of_cluster = 0;  // chains that its supports have passed
    for (const int o : c.supports) of_cluster = std::max(of_cluster, passed(o));
    for (int i = c.first; i < c.first + c.count; ++i) {
      if (chain_of[i] == carried) continue;
      if (chain_of[i] < 0) {
        const int p = model.body(i).parent;
        level[i] = std::max(of_cluster, passed(p));
        if (chain_of[p] >= 0) chains[chain_of[p]].leaf = false;
        for (const int o : c.supports) {
          if (chain_of[o] >= 0) chains[chain_of[o]].leaf = false;
        }
        continue;
      }
      Chain& chain = chains[chain_of[i]];
      if (index_in[i] == 0) {
        chain.level = passed(chain.parent);
        if (chain_of[chain.parent] >= 0) chains[chain_of[chain.parent]].leaf = false;
      }
      level[i] = chain.level;
    }
  }
  regroup(model, bodies);
}

void ChainPlan::regroup(const Model& model, const std::vector<RigidInertia<double>>& bodies) {
  std::copy(bodies.begin(), bodies.begin() + inertia.size(), inertia.begin());
  for (const AsymmetricRotor& rotor : asymmetric) {
    const Body& b = model.body(rotor.body);
    inertia[b.parent] += congruence(b.placement, mean_about_axis(b.inertia));
  }
  for (std::size_t i = 0; i < chain_of.size(); ++i) {
    if (chain_of[i] < 0) continue;
    inertia[i] = congruence(body(static_cast<int>(i)).F.inverse(), inertia[i]);
  }
  for (std::size_t l = chains.size(); l-- > 0;) {
    const Chain& chain = chains[l];
    for (std::size_t k = chain.bodies.size(); k-- > 0;) {
      const ChainBody& b = chain.bodies[k];
      const double c = b.cos_alpha, s = b.sin_alpha;
      const Transform<double> placement{{{{1, 0, 0}, {0, c, s}, {0, -s, c}}}, {b.a, 0, b.d}};
      const RigidInertia<double> regrouped = congruence(placement, take_regrouped(inertia[b.body]));
      if (k > 0) {
        inertia[chain.bodies[k - 1].body] += regrouped;
        continue;
      }
      Transform<double> base_frame{rotation_z(chain.sin_base, chain.cos_base), chain.r};
      if (chain_of[chain.parent] >= 0) base_frame = base_frame * body(chain.parent).F.inverse();
      inertia[chain.parent] += congruence(base_frame, regrouped);
    }
  }
}

int ChainPlan::add(const Model& model, int first, const std::vector<int>& next_in_chain,
                   const ChainJoints& joints, const std::vector<const AsymmetricRotor*>& rotor_of) {
  Chain chain;
  chain.parent = model.body(first).parent;
  const int number = static_cast<int>(chains.size());
  int next = first;
  while (next > 0) {
    const Body& body = model.body(next);
    // The placement, seen from the frame of the body before.
    Transform<double> P = body.placement;
    const bool root = next == first;
    if (!root) P = P * chain.bodies.back().F.inverse();
    const Vec3<double> axis = P.E.row[2];
    const double sine = std::hypot(axis.x, axis.y);
    const bool parallel = sine < tiny;
    const bool nearly = !root && !parallel && sine < nearly_parallel;
    if (nearly && !is_normal_at_hand(axis, P.r)) break;
    // The x-axis of the body before: along the normal of both axes, or to the other axis.
    const bool across = !parallel && !(nearly && std::hypot(P.r.x, P.r.y) > tiny);
    const Vec3<double> x = across ? Vec3<double>{-axis.y, axis.x, 0.0}
                           : root ? Vec3<double>{1.0, 0.0, 0.0}
                                  : Vec3<double>{P.r.x, P.r.y, 0.0};
    const double length = std::hypot(x.x, x.y);
    double c = 1.0, s = 0.0;
    if (length > tiny) c = rounded(x.x / length), s = rounded(x.y / length);
    const Transform<double> turn{rotation_z(s, c), Vec3<double>::zero()};
    if (root) chain.r = {rounded(P.r.x), rounded(P.r.y), rounded(P.r.z)};
    P = P * turn.inverse();
    ChainBody b;
    b.body = next;
    if (root) {
      chain.cos_base = c, chain.sin_base = s;
      b.momentum = turn.E * joints.momentum[next];
    } else {
      turn_frame(chain, turn);
      b.momentum = chain.bodies.back().F.E * joints.momentum[next];
    }
    b.cos_alpha = rounded(P.E.row[2].z), b.sin_alpha = rounded(-P.E.row[2].y);
    b.cos_theta = rounded(P.E.row[0].x), b.sin_theta = rounded(-P.E.row[1].x);
    if (!root) {  // along the axis until the shift has no y, or no z
      const double slide = parallel ? -P.r.z * b.cos_alpha : nearly ? 0.0 : P.r.y / b.sin_alpha;
      b.F.r.z = slide;
      b.a = rounded(P.r.x);
      b.d = parallel ? 0.0 : rounded(P.r.z + slide * b.cos_alpha);
    }
    if (rotor_of[next] != nullptr) {
      b.asymmetric = static_cast<int>(asymmetric.size());
      add_rotor(*rotor_of[next], root ? turn.E : chain.bodies.back().F.E);
    }
    take_axial_momentum(b);
    b.reflected = joints.inertia[next];
    b.coupling = joints.coupling[next];
    chain_of[next] = number, index_in[next] = static_cast<int>(chain.bodies.size());
    chain.bodies.push_back(b);
    next = next_in_chain[next];
  }
  chains.push_back(std::move(chain));
  return next;
}

void ChainPlan::add_rotor(AsymmetricRotor rotor, const Mat3<double>& E) {
  const Mat3<double> back = E.transposed();
  rotor.cosine = congruence(back, rotor.cosine), rotor.sine = congruence(back, rotor.sine);
  chain_of[rotor.body] = carried;
  asymmetric.push_back(rotor);
}

}  // namespace espalier
