#pragma once

#include "espalier/host/host.hpp"
#include "espalier/host/link_frames.hpp"
#include "espalier/host/named.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/state.hpp"
#include "espalier/kernel/problems/dynamics/bias_force.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"
#include "espalier/kernel/problems/dynamics/inverse_dynamics.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"
#include "espalier/kernel/problems/kinematics/forward_kinematics.hpp"
#include "espalier/kernel/problems/kinematics/jacobian.hpp"

/// All that a program includes which uses Espalier:
///
///   espalier::Host host;                                   // finds and loads the plugins
///   auto robot = host.load("robots/mini_cheetah.urdf");    // file -> Model
///   auto aba = host.create<espalier::ForwardDynamics<double>>("aba", robot);
///   aba->evaluate(q, v, tau, vdot);
///
/// Other problems are in espalier/kernel/problems/, libraries on top of the algorithms in
/// espalier/sensing/, espalier/control/ and espalier/simulation/.

namespace espalier {

/// Whether the root link floats: host.load(file, {.root = espalier::Root::floating}).
using Root = CompileOptions::Root;

}  // namespace espalier
