#pragma once

#include <tinyxml2.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "espalier/kernel/model/description.hpp"

namespace espalier::mjcf {

/// Sites at the ends of a rod, after its name.
inline constexpr const char *rod_first = " (predecessor)", *rod_second = " (successor)";
/// The ending of the second joint that stands for one of two rates.
inline constexpr const char* second_joint = "_2";
/// The second of two equalities that stand for one constraint, after its name.
inline constexpr const char* second_equality = " (2)";

/// Writes MJCF. What MJCF cannot say, or says softly, stands in <custom><text name="espalier ...">
/// as well, which MuJoCo ignores and Espalier reads: a text "espalier loop a" takes the place of
/// the equality "loop a". What MuJoCo makes of it is listed as a loss.
class Writer {
 public:
  explicit Writer(const Description& robot);
  std::string write();
  const std::vector<std::string>& losses() const { return losses_; }

 private:
  // writer.cpp: the tree
  void write_root();
  void place(const std::string& link, const Transform<double>& X, int depth);
  void children(const LinkDescription& link);
  void body(const LinkDescription& link, const JointDescription* joint);
  void inertial(const Inertial& I);
  bool has_mass(const LinkDescription& link) const;
  void doubt_mass(const LinkDescription& link, const JointDescription* joint);

  // writer_joints.cpp
  void write_joint(const JointDescription& joint);
  std::string two(const JointDescription& joint, const char* second, const Vec3<double>& axis);
  void direction(const Vec3<double>& axis);
  void one(const JointDescription& joint, const std::string& name, const char* type,
           const Vec3<double>& axis, bool whole);
  void terms(const JointDescription& joint, bool single);
  void keep_limits(const JointDescription& joint, bool one_sided);

  // writer_shapes.cpp: geoms, sites and what they are made of
  void contents(const LinkDescription& link);
  void site(const std::string& name, const Pose& origin);
  void geom(const ShapeDescription& shape, bool visual, bool collision);
  void kind(const char* type) { xml_.PushAttribute("type", type); }
  void friction(const ShapeDescription& shape);
  void geometry(const Box& s);
  void geometry(const Sphere& s);
  void geometry(const Cylinder& s);
  void geometry(const Capsule& s);
  void geometry(const Ellipsoid& s);
  void geometry(const Plane& s);
  void geometry(const Mesh& s);
  void geometry(const HeightField& s);
  void assets();
  void asset(const Mesh& mesh, const LinkDescription& link);
  void asset(const HeightField& field);

  // writer_constraints.cpp: equalities and tendons
  struct Tie {  ///< first = polynomial of second
    std::string name, first, second;
    std::vector<double> polynomial;
  };
  struct Sum {  ///< a fixed tendon whose length is constant
    std::string name;
    std::map<std::string, double> weights;
    double sum = 0.0;
  };
  void collect_constraints();
  void tendons();
  void equalities();
  void fixed_tendon(const std::string& name, const std::map<std::string, double>& weights);
  std::vector<const JointDescription*> way_up(const std::string& link) const;
  void add_coupling(const CouplingDescription& coupling);
  void add_law(const LawDescription& law);
  void write_loop(const LoopDescription& loop);
  void write_connects(const LoopDescription& loop, bool hinge);
  void write_weld(const LoopDescription& loop);
  void keep_loop(const LoopDescription& loop);

  // writer_states.cpp: inputs, contacts, named states, texts
  void actuators();
  bool is_unwritten_root(const std::string& joint) const;
  bool is_free(const std::string& joint) const;
  std::string unsayable(const ActuatorDescription& actuator) const;
  void contacts();
  void keyframes();
  void key(const NamedState& state);
  void keep_states();
  void keep_actuators();
  void custom();

  // pieces
  void open(const char* element) { xml_.OpenElement(element); }
  void close() { xml_.CloseElement(); }
  void lose(const std::string& what) { losses_.push_back(what); }
  /// Something that MJCF cannot say: a piece of XML under a name.
  void keep(const std::string& name, const std::string& xml) { texts_.emplace_back(name, xml); }
  void text(const char* attribute, const std::string& value, const char* what);
  void number(const char* attribute, double value);
  std::string list(const std::vector<double>& values) const;
  void numbers(const char* attribute, const std::vector<double>& values);
  void vector(const char* attribute, const Vec3<double>& v) { numbers(attribute, {v.x, v.y, v.z}); }
  void frame(const Pose& pose);
  std::string quoted(const std::string& value) const;
  std::string parameters(const Parameters& parameters) const;

  const Description& robot_;
  tinyxml2::XMLPrinter xml_;
  std::string who_ = "mjcf";
  const LinkDescription* root_ = nullptr;
  JointDescription free_root_;  ///< of a floating root; the description has none
  std::map<std::string, std::size_t> link_number_;
  std::map<std::string, std::vector<const JointDescription*>> carried_;
  std::vector<const JointDescription*> cut_;     ///< joints that close loops
  std::vector<const JointDescription*> joints_;  ///< in the file's order
  std::map<std::string, Transform<double>> at_zero_;
  std::map<std::string, int> meshes_;
  std::vector<const HeightField*> fields_;
  std::set<std::string> geom_names_, site_names_, joint_names_;
  std::vector<Tie> ties_;
  std::vector<Sum> sums_;
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<std::string> losses_;
};

/// w, x, y, z of E, from its largest component, so that nothing is lost to cancellation.
std::array<double, 4> quaternion(const Mat3<double>& E);

}  // namespace espalier::mjcf
