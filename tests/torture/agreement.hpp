#pragma once

#include "espalier/kernel/model/layout.hpp"
#include "tests/torture/kind.hpp"

namespace espalier::torture {

/// Runs all exact algorithms of some problems on one random state of a robot that compiled.
/// Good: those that answer agree within what the condition of the mass matrix explains, and nobody
/// answers where the matrix is singular or refuses as singular where it is regular.
/// @param problems  how many problems besides forward and inverse dynamics
Outcome agree(const ModelPtr& model, Rng& rng, int problems);

}  // namespace espalier::torture
