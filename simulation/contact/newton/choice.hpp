#pragma once

#include <string>

#include "espalier/simulation/contact/plan.hpp"

namespace espalier::contact {

/// Why a way cannot solve a plan's Newton systems; empty: it can.
std::string newton_obstacle(const Plan& plan, NewtonWay way);

/// Multiplications of one round's system with all points touching, and of what a step prepares for
/// it, of which a round bears a half: warm starts need two rounds at most as a rule.
double newton_cost(const Plan& plan, NewtonWay way);

/// The cheapest way that can, or the one that is asked for.
/// @throws Unsupported if that one cannot
NewtonWay choose_newton_way(const Plan& plan, NewtonWay asked);

}  // namespace espalier::contact
