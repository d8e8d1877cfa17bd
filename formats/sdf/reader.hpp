#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "espalier/kernel/format.hpp"
#include "formats/xml/node.hpp"

namespace espalier::sdf {

using formats::XmlNode;

inline constexpr const char* model_frame = "__model__";

/// Puts the models of other files where their <include> stands, with the name, pose, placement
/// frame and `static` that it gives; with merge="true", what is in them.
/// @throws InvalidModel naming file and line, where a file is missing or lies outside of the
/// folders
void expand_includes(XmlNode& root, const std::string& origin, const ReadOptions& options,
                     std::vector<Finding>& findings);

/// Something with a pose: a link, a joint, a frame, a model.
struct Frame {
  std::string relative_to;  ///< full name of a frame
  Transform<double> X = Transform<double>::identity();
  std::string attached_to;      ///< of frames: what moves it
  std::string placement_frame;  ///< of models: the frame in them that the pose places
  const XmlNode* node = nullptr;
  enum class State { open, running, done } state = State::open;
  Transform<double> in_model = Transform<double>::identity();  ///< from the world, when done
};

struct ReadJoint {
  const XmlNode* node;
  std::string name, scope, type, parent, child;  ///< links, resolved
};

/// As Pose::from(), with angles of exactly 0 where there is no rotation.
Pose pose_of(const Transform<double>& X);
/// A text without the white space around it.
std::string trimmed(const std::string& text);
/// The number in a child element. @throws InvalidModel if it is none
double number(const XmlNode& parent, const std::string& who, const char* child, double fallback);
Vec3<double> vector(const XmlNode& node, const std::string& who);
/// The numbers of a pose as they are written, if they are angles in radians.
Pose pose_text(const XmlNode& node);
/// The attribute `name`. @throws InvalidModel if it is missing or no name
std::string name_of(const XmlNode& node, const std::string& what);

/// Reads SDF: first all frames, links and joints with what their poses are relative to, then the
/// tree. Lives for one file.
class Reader {
 public:
  Reader(const std::string& origin, const ReadOptions& options)
      : origin_(origin), options_(options) {}
  Description read(std::string_view text);

 private:
  // frames.cpp: names and poses
  void nest(const XmlNode& model, const std::string& scope, bool is_static);
  void read_model(const XmlNode& model, const std::string& scope, bool is_static);
  void read_member(const XmlNode& node, const std::string& scope, bool is_static);
  void add_joint(const XmlNode& node, const std::string& scope);
  Frame& add_frame(const std::string& full_name, const XmlNode& node, const std::string& scope,
                   const std::string& standard);
  static std::string full(const std::string& local, const std::string& scope);
  void place_models();
  const std::string& known_frame(const std::string& given, const XmlNode* at) const;
  const Transform<double>& resolve(const std::string& given);
  std::string link_of(const std::string& given, const XmlNode& at) const;

  // reader.cpp: the tree
  void look_over(const XmlNode& root);
  void build();
  void grow(const std::string& root);
  void add_roots(const std::vector<std::string>& roots);
  std::string unused(const std::string& wanted);
  /// What has no counterpart. @param changes  whether the motion would silently be another one
  void lose(const XmlNode& node, const std::string& what, bool changes);

  // links.cpp: mass properties and shapes
  void read_link(const std::string& link_name);
  void lose_surface(const XmlNode& surface);
  ShapeDescription read_shape(const XmlNode& node, const std::string& who, const std::string& link);
  Shape read_geometry(const XmlNode& node, const std::string& who) const;
  std::string file_of(const XmlNode& uri) const;

  // joints.cpp
  Vec3<double> direction(const ReadJoint& joint, const char* element);
  template <class Part>
  void read_kind(const ReadJoint& joint, Part& part);
  void read_tree_joint(const ReadJoint& from, bool reversed);
  void turn_round(const ReadJoint& from, JointDescription& joint);
  PassiveDynamics passive_of(const XmlNode& axis, const std::string& who) const;
  void read_terms(const ReadJoint& from, JointDescription& joint);
  void read_limits(const XmlNode& limit, const std::string& who, JointDescription& joint) const;
  void read_loop(const ReadJoint& from);
  void read_loop_with_terms(const ReadJoint& from, JointDescription joint);
  void read_gearbox(const ReadJoint& from);

  // own.cpp: what Espalier wrote of things that SDF cannot say
  void read_own(const XmlNode& within);
  void restore_names();

  const std::string& origin_;
  const ReadOptions& options_;
  XmlNode root_;
  Description robot_;
  std::map<std::string, Frame> frames_;
  std::map<std::string, std::string> alias_;      ///< names of models -> their frames
  std::map<std::string, std::string> canonical_;  ///< scopes of models -> links they name
  std::map<std::string, const XmlNode*> links_;
  std::vector<std::string> link_order_, frame_order_;
  std::vector<ReadJoint> joints_;
  std::vector<bool> used_;                          ///< joints that are in the tree
  std::set<std::string> reached_;                   ///< links that are in the tree
  std::vector<std::pair<std::size_t, bool>> tree_;  ///< its joints, and whether turned round
  std::set<std::string> static_, names_;
  std::map<std::string, std::string> originals_;  ///< joints that a link shared its name with
};

}  // namespace espalier::sdf
