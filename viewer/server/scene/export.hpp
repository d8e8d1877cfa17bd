#pragma once

#include <string>
#include <vector>

#include "viewer/server/client.hpp"

namespace espalier::viewer {

/// A motion to play: spanning positions at times.
struct Trajectory {
  std::vector<double> times;
  std::vector<std::vector<double>> positions;  ///< size nq each
  std::vector<std::string> columns;            ///< of the charts
  std::vector<std::vector<double>> charts;     ///< a row for each time
};

/// Reads what `espalier simulate --output` writes: time, q.<joint>, and columns to chart.
/// @param file  its name, for messages
/// @throws InvalidModel naming file, line and column; DuplicateName
Trajectory read_trajectory(const Model& model, const std::string& text, const std::string& file);

/// What a viewer of a motion has to know beside it: a sentence where loops are open, else "".
std::string doubts_of(const ModelPtr& model, const Trajectory& trajectory);

/// Poses along the independent coordinates of each cluster, from a position on: a line, a net of
/// two, or one line for each of more. Those that do not close are left out.
Json sweeps_of(Mechanism& mechanism);
/// Many poses along one independent coordinate, for a file that plays them.
/// @param name  of the coordinate  @throws UnknownName listing the coordinates
Json sweep_of(Mechanism& mechanism, const std::string& name);
/// The poses of a motion, thinned to what a small file holds.
Json motion_of(Mechanism& mechanism, const Trajectory& trajectory);

/// The page with all that it shows inside: opens from a disk, needs no server and no network.
/// @param data  {"scene", "pose", "sweeps" or "motion", "sweep": name of the one that plays}
/// @throws InvalidModel for a page that has no place for it
std::string self_contained(const std::string& page, const Json& data);
/// The data of a stage for it, meshes included.
/// @param trajectory  to play, or null  @param sweep  coordinate to play; empty: all can be moved
/// @throws as sweep_of()
Json exported(const Stage& stage, const Trajectory* trajectory, const std::string& sweep = "");

/// Renders a self-contained page to a picture by a headless Chromium.
/// @param html  file with what self_contained() gives  @param png  file to write
/// @param profile  folder for what the browser keeps, which the caller removes
/// @throws InvalidModel if there is no Chromium, or it does not draw
void picture(const std::string& html, const std::string& png, const std::string& profile, int width,
             int height, const std::string& view);

}  // namespace espalier::viewer
