#pragma once

#include <string>
#include <vector>

#include "espalier/host/host.hpp"
#include "espalier/kernel/model/description.hpp"

namespace espalier::viewer {

/// A robot with other independent coordinates, at the same position.
struct OtherCoordinates {
  Description description;
  ModelPtr model;
  std::vector<double> q;
};

/// Positions of one model at the joints of the same names of another; its other joints are neutral.
std::vector<double> carried_over(const Model& from, In<double> q, const Model& to);

/// The description with the independent joints that a model has declared to be so.
Description with_declared_coordinates(const Description& description, const Model& model);

/// Makes a joint of a cluster independent, in the place of the one whose leaving keeps the
/// singularity margin largest. The cluster's other independent joints stay.
/// @param q        closed position of the model
/// @param cluster  among Model::clusters()
/// @param joint    of one rate, dependent; empty: those that better_independents() names at q
/// @throws SizeMismatch for a cluster that is none; UnknownName for a joint that is none of its
///         dependent ones; InvalidModel where no choice determines the others
OtherCoordinates with_other_coordinates(const Host& host, const Description& description,
                                        const CompileOptions& options, const Model& model,
                                        In<double> q, int cluster, const std::string& joint);

}  // namespace espalier::viewer
