#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "formats/mjcf/elements.hpp"
#include "formats/mjcf/geoms.hpp"
#include "formats/mjcf/pair_friction.hpp"

namespace espalier::mjcf {

/// A joint of the file at its reference position.
struct ReadJoint {
  std::string name;
  enum class Type { hinge, slide, ball, free } type = Type::hinge;
  int body = 0;
  Vec3<double> axis{0, 0, 1};  ///< world axes at the reference position
  double reference = 0.0;      ///< `ref`
  std::size_t index = 0;       ///< among the Description's joints
};

/// A body of the file at its reference position.
struct ReadBody {
  std::string link;
  int parent = -1;
  Transform<double> X = Transform<double>::identity();          ///< from the world
  std::size_t index = 0;                                        ///< among the Description's links
  bool by_geoms = false;                                        ///< weighed by its geoms
  RigidInertia<double> inertia = RigidInertia<double>::zero();  ///< of its geoms, body frame
};

/// A fixed tendon: the sum of coefficients times joint positions.
struct FixedTendon {
  std::map<std::string, double> coefficients;  ///< by joints
};

/// Reads a file of MJCF: one function for each kind of element. Lives for one file.
class Reader {
 public:
  Reader(const std::string& origin, const ReadOptions& options)
      : origin_(origin), options_(options) {}
  Description read(std::string_view text);

 private:
  // reader.cpp: the file, its includes, options and assets
  void include(XmlNode& node, int depth);
  void read_compiler(const XmlNode& node);
  void read_option(const XmlNode& node);
  void read_mesh(const XmlNode& child, const Element& e, const std::string& file);
  void read_assets(const XmlNode& node);
  void refuse_unknown(const XmlNode& root);

  // contacts.cpp: which bodies may touch, and the friction of pairs
  void read_contact(const XmlNode& node);
  void read_pair(const XmlNode& node);
  void exclude_by_types();
  void warn_of_friction();

  // bodies.cpp: bodies, joints, inertias, frames
  void read_world(const XmlNode& node);
  void read_children(const XmlNode& node, int body, const std::string& childclass,
                     const Transform<double>& frame);
  void read_body(const XmlNode& node, int parent, const std::string& childclass,
                 const Transform<double>& frame);
  void read_joints(const XmlNode& node, int body, const std::string& childclass,
                   const Transform<double>& placement);
  double coefficient(const Element& e, std::string_view attribute);
  void read_joint_terms(const Element& e, ReadJoint::Type type, JointDescription& joint);
  void read_inertial(const XmlNode& node, int body);
  void read_geom_of(const XmlNode& node, int body, const std::string& childclass,
                    const Transform<double>& frame);
  void read_site(const XmlNode& node, int body, const std::string& childclass,
                 const Transform<double>& frame);
  void settle_masses();
  Transform<double> placed(const Element& e, int body) const;

  // constraints.cpp: equalities and tendons
  void read_tendons(const XmlNode& node);
  void read_equalities(const XmlNode& node);
  void read_connects(const XmlNode& equality);
  void read_weld(const Element& e);
  void read_joint_equality(const Element& e);
  void read_tendon_equality(const Element& e);
  void mimic(const Element& e, const ReadJoint& dependent, const ReadJoint& leader,
             const std::vector<double>& polynomial);
  void resolve_mimics();
  void lock(const Element& e, const ReadJoint& joint, double position);
  bool is_planar(int first, int second, const Vec3<double>& axis) const;
  std::optional<Vec3<double>> common_axis(int first, int second) const;
  std::vector<int> path_joints(int first, int second) const;

  // states.cpp: actuators and named states
  void read_actuators(const XmlNode& node);
  void read_keyframes(const XmlNode& node);
  void name_start();

  // custom.cpp: what Espalier wrote of things that MJCF cannot say
  void collect_restored(const XmlNode& custom);
  bool is_restored(const std::string& name) const;
  void read_custom(const XmlNode& node);
  static void restore_limits(const Element& e, Limits& limits);
  void restore_coupling(const Element& e, const SourceLocation& where);
  void restore_law(const Element& e, const SourceLocation& where);
  void restore_loop(const Element& e, const SourceLocation& where);
  void restore_values(const Element& e, const SourceLocation& where);
  void restore_tree();
  void erase_link(const std::string& name);

  Element element(const XmlNode& node, const std::string& kind, const std::string& childclass);
  int body_named(const Element& e, std::string_view attribute) const;
  const ReadJoint& joint_named(const Element& e, const std::string& name) const;
  /// A name that is neither used nor given to another thing by the file.
  std::string unused(const std::string& wanted, std::set<std::string>& used,
                     const std::set<std::string>& given = {}) const;
  void collect_names(const XmlNode& node);
  /// What has no counterpart. @param changes  whether dynamics would change silently
  void tell(const XmlNode& node, const std::string& what);
  void lose(const XmlNode& node, const std::string& what, bool changes);

  const std::string& origin_;
  const ReadOptions& options_;
  Description robot_;
  CompilerOptions compiler_;
  Defaults defaults_;
  Assets assets_;
  std::vector<ReadBody> bodies_;
  std::vector<ReadJoint> joints_;
  std::map<std::string, int, std::less<>> body_number_;
  std::map<std::string, std::size_t, std::less<>> joint_number_;
  std::map<std::string, FixedTendon, std::less<>> tendons_;
  std::map<std::string, std::pair<std::string, std::string>, std::less<>> rods_;  ///< by tendon
  std::vector<TouchingGeom> geoms_;
  std::set<std::pair<std::string, std::string>> pairs_;  ///< explicit ones, by geoms, both ways
  struct Site {
    int body = 0;
    Transform<double> X = Transform<double>::identity();
  };
  std::map<std::string, Site, std::less<>> sites_;
  std::set<std::string> given_links_, given_joints_;  ///< by the file, to be read yet or already
  std::set<std::string> link_names_, joint_names_, constraint_names_, actuator_names_, included_;
  std::map<std::string, double, std::less<>> locked_;
  std::set<std::string, std::less<>> restored_;  ///< elements that texts take the place of
  std::vector<XmlNode> wholes_;                  ///< joints that were written as two
  const XmlNode* first_margin_ = nullptr;        ///< of geoms that touch before they meet
  int with_margin_ = 0;                          ///< how many these are
  std::string own_root_;                         ///< link that is the root, not the world
  std::optional<bool> own_root_floats_;          ///< what the description said of it
};

}  // namespace espalier::mjcf
