#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"
#include "espalier/kernel/problems/derivatives/design_variation.hpp"

/// What a family of robots has to keep for its numbers to be differentiated.

namespace espalier {

namespace detail {

inline bool same_rows(const ClusterConstraint& a, const ClusterConstraint& b) {
  bool same = a.rows() == b.rows() && a.rate == b.rate && a.dependent == b.dependent &&
              a.planar.has_value() == b.planar.has_value() && a.linear.size() == b.linear.size() &&
              a.laws.size() == b.laws.size() && a.loops.size() == b.loops.size();
  for (std::size_t i = 0; same && i < a.laws.size(); ++i) {
    same = a.laws[i].positions == b.laws[i].positions && a.laws[i].kept == b.laws[i].kept;
  }
  for (std::size_t i = 0; same && i < a.loops.size(); ++i) {
    same = a.loops[i].columns == b.loops[i].columns &&
           std::equal(a.loops[i].rows.begin(), a.loops[i].rows.end(), b.loops[i].rows.begin(),
                      b.loops[i].rows.end(),
                      [](const LoopRow& x, const LoopRow& y) { return x.kind == y.kind; });
  }
  return same;
}

/// Whether a neighbour has the joints, rotors and clusters of a model.
inline bool same_parts(const Model& m, const Model& other) {
  bool same =
      other.nq() == m.nq() && other.nv() == m.nv() && other.spanning_nv() == m.spanning_nv() &&
      other.body_count() == m.body_count() && other.joints().size() == m.joints().size() &&
      other.rotors().size() == m.rotors().size() && other.clusters().size() == m.clusters().size();
  for (std::size_t i = 0; same && i < m.joints().size(); ++i) {
    const Joint &a = m.joints()[i], &b = other.joints()[i];
    same = a.name == b.name && a.type == b.type && a.q == b.q && a.v == b.v && a.body == b.body &&
           a.independent == b.independent;
  }
  for (std::size_t i = 0; same && i < m.clusters().size(); ++i) {
    const Cluster &a = m.clusters()[i], &b = other.clusters()[i];
    same = a.rows() == b.rows() && a.G.size() == b.G.size() && a.offset.size() == b.offset.size() &&
           (a.constraint == nullptr) == (b.constraint == nullptr);
  }
  return same;
}

/// The first joint that moves otherwise in two models where it stands equal, or nullptr: a number
/// of the joint itself differs, as a screw's pitch does.
inline const Joint* first_other_motion(const Model& a, const Model& b) {
  std::vector<double> q(a.nq()), qd(a.spanning_nv());
  a.random(1, q.data());
  for (std::size_t k = 0; k < qd.size(); ++k) qd[k] = 1.0 + 0.1 * static_cast<double>(k % 7);
  TreeKinematics<double> at(a), other(b);
  at.update(a, q.data(), qd.data());
  other.update(b, q.data(), qd.data());
  constexpr double rounding = 1e-11;  // of placements of some metres
  const auto apart = [](const Vec3<double>& x, const Vec3<double>& y) {
    const Vec3<double> d = x - y;
    return std::sqrt(dot(d, d)) > rounding * (1.0 + std::sqrt(dot(x, x)));
  };
  for (int i = 1; i <= a.body_count(); ++i) {
    const Body& body = a.body(i);
    const Transform<double> x = at.X[i] * body.placement.inverse();
    const Transform<double> y = other.X[i] * b.body(i).placement.inverse();
    bool differs = apart(x.r, y.r);
    for (int k = 0; k < 3; ++k) differs = differs || apart(x.E.row[k], y.E.row[k]);
    if (a.runs()[body.run].subspace == SubspaceKind::dense) {
      for (int k = body.v; k < body.v + body.nv; ++k) {
        differs = differs || apart(at.S[k].w, other.S[k].w) || apart(at.S[k].v, other.S[k].v);
      }
    }
    if (differs) return &a.joints()[body.joint];
  }
  return nullptr;
}

}  // namespace detail

/// @throws InvalidModel, DuplicateName or Unsupported, naming the family
template <class T>
void expect_family(const Model& m, const std::vector<typename DesignVariation<T>::Family>& known,
                   const typename DesignVariation<T>::Family& f) {
  const std::string who = "design variation: ";
  for (const auto& other : known) {
    if (other.name != f.name) continue;
    throw DuplicateName(who + "family '" + f.name + "' is there already, expected another name");
  }
  if (!(f.apart > 0.0) || !std::isfinite(f.apart)) {
    throw InvalidModel(who + "the neighbours in family '" + f.name + "' are " +
                       std::to_string(f.apart) + " apart, expected a positive number");
  }
  for (const ModelPtr& neighbour : {f.less, f.more}) {
    if (neighbour == nullptr || !detail::same_parts(m, *neighbour)) {
      throw InvalidModel(who + "a neighbour in family '" + f.name +
                         "' has other joints, rotors or clusters than the model, expected the "
                         "same (compile it from the same file with the same options)");
    }
    for (std::size_t k = 0; k < m.clusters().size(); ++k) {
      const Cluster &a = m.clusters()[k], &b = neighbour->clusters()[k];
      if (a.constraint == nullptr || detail::same_rows(*a.constraint, *b.constraint)) continue;
      throw InvalidModel(who + "a neighbour in family '" + f.name +
                         "' has other constraint equations in cluster '" + a.name +
                         "' than the model, expected the same (a number at which loops leave a "
                         "plane or become redundant has no derivative)");
    }
  }
  const Vec3<double> g = f.more->gravity() - f.less->gravity();
  if (dot(g, g) != 0.0) {
    throw Unsupported(who + "family '" + f.name +
                      "' changes gravity, expected the same (difference the dynamics)");
  }
  if (const Joint* joint = detail::first_other_motion(*f.less, *f.more)) {
    throw Unsupported(who + "family '" + f.name + "' changes how joint '" + joint->name +
                      "' moves, expected its placement, bodies and constraints alone (difference "
                      "the dynamics)");
  }
}

}  // namespace espalier
