#pragma once

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"

/// Clusters whose joints may stand in chains.

namespace espalier {

/// Whether joints are turns about z by their positions, so that sine and cosine say all.
bool are_revolute(const BodyRun& run);

/// Whether all folded rotors of a cluster are on one body.
bool drives_rotors_on(const Model& model, const Cluster& c, int body);

/// Whether a cluster is one body of one rate that is the independent one, with all rotors that this
/// drives on the parent.
bool is_geared_body(const Model& model, const Cluster& c);

/// Whether a cluster is a body and another one on it, with parallel axes and rates that are the
/// independent ones, and with rotors that both drive (by belts) on the first one's parent, about
/// the same axes, or that the second drives on the first.
bool is_belt_pair(const Model& model, const Cluster& c);

}  // namespace espalier
