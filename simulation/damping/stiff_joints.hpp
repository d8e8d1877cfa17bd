#pragma once

#include <string>
#include <vector>

#include "espalier/host/host.hpp"
#include "espalier/simulation/batch_simulation.hpp"

namespace espalier {

/// Joints whose damping or dry friction (about rest) decays faster than an integrator bears at
/// steps of a length: damping ends in numbers that are not finite, friction drives the joint.
/// Batches take both in the integrator's stages, whatever the step.
/// @param options  of the batch: algorithm, integrator, passive, friction_rate
/// @param h        length of a step [s]
/// @return a sentence for each of the two, at the neutral position: joint, decay, what would do
/// @throws as Registry::create(), Registry::create_integrator()
ESPALIER_API std::vector<std::string> stiff_joints(const Host& host, const ModelPtr& model,
                                                   const BatchSimulationOptions& options, double h);

}  // namespace espalier
