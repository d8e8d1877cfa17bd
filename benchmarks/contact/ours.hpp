#pragma once

#include "benchmarks/contact/robots.hpp"
#include "espalier/simulation/contact/contact_batch.hpp"

/// Standing robots as Espalier's contact gets them.

namespace espalier::bench {

/// Feet on the ground; nothing for a robot that flies.
contact::World world_of(const StandingRobot& robot);
/// Drives of all its joints; limits do not act.
contact::StepOptions options_of(const StandingRobot& robot);
/// Puts so many robots at rest into their stance, which is the drives' target.
void start_standing(contact::ContactBatch& batch, const StandingRobot& robot, int robots);

}  // namespace espalier::bench
