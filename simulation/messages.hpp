#pragma once

#include <span>
#include <string>

#include "espalier/kernel/model/model.hpp"

/// What simulations of both kinds say where they stop.

namespace espalier::detail {

/// After a controller has added its forces, which are no longer finite. A state that is not finite
/// is not the controller's.
/// @param who     "simulation at t = 0.1 s"
/// @param q,qd    what the controller was told
/// @param forces  on spanning rates
/// @param number  of the controller, from 1. @param count  of controllers
/// @throws InvalidModel naming the joint
ESPALIER_API void refuse_controller(const std::string& who, const Model& model,
                                    std::span<const double> q, std::span<const double> qd,
                                    std::span<const double> forces, int number, int count);

/// @throws InvalidModel naming the first coordinate whose force is not finite
ESPALIER_API void expect_finite_tau(const std::string& who, const Model& model,
                                    std::span<const double> tau);

/// Steps of a run, the last of which may be shorter.
/// @param who       for the message
/// @param duration  [s]. @param h  the step [s]. @param every  steps from output to output
/// @throws InvalidModel  for numbers below what they may be, and more steps than time can tell
/// apart
ESPALIER_API long long steps_of_run(const std::string& who, double duration, double h, int every,
                                    bool output);

/// Whether all coordinates of these names are the model's.
ESPALIER_API bool are_independent(const Model& model, std::span<const std::string> names);

/// What helps where loops could not be followed.
/// @param better  joints that determine the others there, as better_independents() has them
/// @param v       rates in the coordinates that it computes in
ESPALIER_API std::string advice_past(const Model& model, std::span<const std::string> better,
                                     std::span<const double> v);

}  // namespace espalier::detail
