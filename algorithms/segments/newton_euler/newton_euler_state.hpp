#pragma once

#include <span>
#include <vector>

#include "algorithms/segments/schedule.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/kernel/spatial/second_moments.hpp"

namespace espalier {

/// A body of the Newton-Euler recursion, in its own axes at its origin.
template <class T>
struct NewtonEulerBody {
  int parent = 0;
  Moments<double> moments;
  BodyMotion<T> motion;  ///< omega, alpha, a
  Force<T> f;            ///< wrench that its joint transmits
};

/// State of the Newton-Euler recursion on bodies that are in no chain: what segments write and
/// read. It works on the rates of the spanning tree, qd = G v and qdd = G vdot + g, so that
/// couplings are met before the first pass and after the last one only, and clusters dissolve into
/// runs of bodies. Frame: body.  Source: Featherstone (2008), Table 5.1.
template <class T>
struct NewtonEulerState {
  /// @param inertia  per body, from the ground on
  NewtonEulerState(const Model& m, std::span<const RigidInertia<double>> inertia)
      : model(m), body(inertia.size()) {
    for (std::size_t i = 0; i < inertia.size(); ++i) {
      body[i].moments = Moments<double>::from(inertia[i]);
      body[i].f = Force<T>::zero();
      if (i > 0) body[i].parent = m.body(static_cast<int>(i)).parent;
    }
    const Vec3<T> none = Vec3<T>::zero();
    body[0].motion = {{none, none, none}, Mat3<T>::zero()};
  }

  /// Sets what the passes read, and the ground's acceleration against gravity.
  /// @param kinematics     joints at the position
  /// @param rates          of the spanning tree
  /// @param accelerations  likewise, or nullptr for zero
  void start(const TreeKinematics<T>& kinematics, const T* rates, const T* accelerations,
             const Vec3<double>& gravity) {
    joints = &kinematics, qd = rates, qdd = accelerations;
    body[0].motion.a = Vec3<T>::from(-gravity);
    body[0].f = Force<T>::zero();
  }
  /// Subtracts an external wrench, in the body's frame, from the one that the body needs.
  void apply(int i, const Force<T>& wrench) { body[i].f -= wrench; }

  /// What the spin of a folded rotor takes of its parent, which is added there, and of its own
  /// rate.
  /// @returns  the latter  Source: theory/clusters 5.4
  T spin(const Rotor& rotor) {
    NewtonEulerBody<T>& parent = body[rotor.parent];
    T tau = dot(parent.motion.alpha, rotor.momentum);
    parent.f.n += cross(parent.motion.omega, scale(qd[rotor.v], rotor.momentum));
    if (qdd == nullptr) return tau;
    parent.f.n += scale(qdd[rotor.v], rotor.momentum);
    tau += rotor.inertia * qdd[rotor.v];
    return tau;
  }

  const Model& model;
  std::vector<NewtonEulerBody<T>> body;
  const TreeKinematics<T>* joints = nullptr;
  const T *qd = nullptr, *qdd = nullptr;  ///< spanning; qdd may be nullptr for zero
  std::vector<T> tau_spanning;            ///< empty where the caller takes tau itself
};

/// Of all bodies of the spanning tree, folded rotors among them, from the ground on.
inline std::vector<RigidInertia<double>> spanning_inertias(const Model& model) {
  std::vector<RigidInertia<double>> all;
  for (int i = 0; i <= model.body_count(); ++i) all.push_back(model.body(i).inertia);
  return all;
}
/// Whole runs as segments.
inline Segments<PlainRun> segments_of(std::span<const BodyRun> runs) {
  Segments<PlainRun> segments;
  for (const BodyRun& run : runs) segments.add(PlainRun{&run, 0, run.count, 0});
  return segments;
}

}  // namespace espalier
