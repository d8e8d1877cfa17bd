#pragma once

#include "espalier/kernel/model/layout.hpp"
#include "viewer/server/json.hpp"
#include "viewer/server/scene/meshes.hpp"

namespace espalier::viewer {

/// One number that a slider of the page sets.
struct Slider {
  std::string name;
  std::string label;  ///< what the page calls it: of a joint of several rates in words
  int joint = 0;      ///< among Model::joints()
  int cluster = 0;    ///< that it moves
  int rate = 0;       ///< independent rate
  int component = 0;  ///< of the joint's positions, or of its tangent vector
  /// The joint's position lies on a manifold (a quaternion): the number is a component of the
  /// tangent vector that leads from its neutral position there.
  bool tangent = false;
  bool limited = false;  ///< by the robot, else by what a screen needs
  double lower = 0.0, upper = 0.0;
  std::string unit;
};

/// All independent coordinates, in the order of the independent rates.
std::vector<Slider> sliders_of(const Model& model);
/// What the number of a slider is at a position.
double slider_value(const Model& model, const Slider& slider, const double* q);
/// Moves the joint of a slider alone, so that its number is `value`.
void set_slider(const Model& model, const Slider& slider, double value, double* q);

/// What the page draws and lists: bodies, links with their shapes or what stands for them, joints,
/// clusters, pins and rods of loops, sliders.
Json scene_of(const Description& description, const Model& model, const MeshFiles& meshes);

}  // namespace espalier::viewer
