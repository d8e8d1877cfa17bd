#include <Eigen/Dense>
#include <map>
#include <sdf/sdf.hh>

#include "formats/sdf/sdf.hpp"
#include "tests/support/host.hpp"
#include "tests/support/temporary_folder.hpp"

// libsdformat, which Gazebo reads SDF with, against our reader: where links and joints are, what
// they join and turn about, and what links weigh.

namespace espalier::test::libsdformat_test {
namespace {

using Pose3 = ignition::math::Pose3d;

const std::string models = ESPALIER_SOURCE_DIR "/tests/sdf/models";

/// Of poses that are resolved through a dozen products of rotations, one way and another.
constexpr double rounding = 1e-14;

Transform<double> transform(const Pose3& pose) {
  const auto& r = pose.Rot();
  const double q[4] = {r.X(), r.Y(), r.Z(), r.W()};
  return {quaternion_to_E(q), {pose.Pos().X(), pose.Pos().Y(), pose.Pos().Z()}};
}

Vec3<double> vec(const ignition::math::Vector3d& v) { return {v.X(), v.Y(), v.Z()}; }

void expect_near(const Vec3<double>& a, const Vec3<double>& b, double tolerance,
                 const std::string& what) {
  EXPECT_NEAR(a.x, b.x, tolerance) << what;
  EXPECT_NEAR(a.y, b.y, tolerance) << what;
  EXPECT_NEAR(a.z, b.z, tolerance) << what;
}

/// Placements at the zero position, from the description alone.
class Placements {
 public:
  explicit Placements(const Description& robot) {
    for (const JointDescription& joint : robot.joints) joint_to_[joint.child] = &joint;
    for (const LinkDescription& link : robot.links) of(link.name);
  }
  const Transform<double>& of(const std::string& link) {
    const auto known = X_.find(link);
    if (known != X_.end()) return known->second;
    Transform<double> X = Transform<double>::identity();
    const auto up = joint_to_.find(link);
    if (up != joint_to_.end()) X = up->second->origin.transform() * of(up->second->parent);
    return X_[link] = X;
  }
  /// The link that floats, or the root.
  std::string base(const std::string& link) const {
    const auto up = joint_to_.find(link);
    if (up == joint_to_.end() || up->second->type == "floating") return link;
    return base(up->second->parent);
  }

 private:
  std::map<std::string, const JointDescription*> joint_to_;
  std::map<std::string, Transform<double>> X_;
};

/// Holds what libsdformat read against what we read.
class Comparison {
 public:
  Comparison(const Description& robot) : robot_(robot), ours_(robot) {}

  void collect(const sdf::Model& model, const std::string& prefix, const Transform<double>& X) {
    for (uint64_t i = 0; i < model.LinkCount(); ++i) {
      const sdf::Link& link = *model.LinkByIndex(i);
      links_[prefix + link.Name()] = {&link, resolved(link.SemanticPose()) * X};
    }
    for (uint64_t i = 0; i < model.JointCount(); ++i) {
      const sdf::Joint& joint = *model.JointByIndex(i);
      joints_.push_back({&joint, prefix, resolved(joint.SemanticPose()) * X, X});
    }
    for (uint64_t i = 0; i < model.ModelCount(); ++i) {
      const sdf::Model& inner = *model.ModelByIndex(i);
      collect(inner, prefix + inner.Name() + "::", resolved(inner.SemanticPose()) * X);
    }
  }

  void links() {
    std::size_t found = 0;
    for (const LinkDescription& link : robot_.links) {
      const auto theirs = links_.find(link.name);
      if (theirs == links_.end()) continue;  // the world, and frames of joints
      ++found;
      const std::string base = ours_.base(link.name);
      const Transform<double> root =
          base == "world" ? Transform<double>::identity() : links_.at(base).second;
      const Transform<double> wanted = theirs->second.second * root.inverse();
      const Transform<double> got = ours_.of(link.name) * ours_.of(base).inverse();
      expect_near(got.r, wanted.r, rounding, link.name);
      for (int k = 0; k < 9; ++k)
        EXPECT_NEAR(got.E(k / 3, k % 3), wanted.E(k / 3, k % 3), rounding);
      mass(link, theirs->second.first->Inertial());
    }
    EXPECT_EQ(found, links_.size());
  }

  void joints() {
    EXPECT_FALSE(joints_.empty());
    for (const Theirs& theirs : joints_) {
      std::string parent, child;
      EXPECT_TRUE(theirs.joint->ResolveParentLink(parent).empty());
      EXPECT_TRUE(theirs.joint->ResolveChildLink(child).empty());
      if (parent != "world") parent = theirs.prefix + parent;
      child = theirs.prefix + child;
      const std::string name = theirs.prefix + theirs.joint->Name();
      SCOPED_TRACE(name);
      bool found = false;
      for (const JointDescription& joint : robot_.joints) {
        // A joint that shares a link's name is called otherwise in the file.
        if (joint.name != name && joint.name + "_joint" != name) continue;
        found = true;
        const bool reversed = joint.parent == child;
        EXPECT_EQ(joint.parent, reversed ? child : parent);
        // A joint beside its child's frame carries a massless link that the child is welded to.
        if (links_.contains(joint.child)) EXPECT_EQ(joint.child, reversed ? parent : child);
        if (joint.type == "fixed") continue;
        frame(theirs, joint.origin.transform() * ours_.of(joint.parent), joint.axis,
              joint.type == "spherical" ? 0.0
              : reversed                ? -1.0
                                        : 1.0);
      }
      for (const LoopDescription& loop : robot_.loops) {
        if (loop.name != name) continue;
        found = true;
        EXPECT_EQ(loop.predecessor, parent);
        EXPECT_EQ(loop.successor, child);
        frame(theirs, loop.predecessor_origin.transform() * ours_.of(loop.predecessor), loop.axis,
              1.0);
      }
      EXPECT_TRUE(found);
    }
  }

 private:
  struct Theirs {
    const sdf::Joint* joint;
    std::string prefix;
    Transform<double> X, model;
  };

  static Transform<double> resolved(const sdf::SemanticPose& pose) {
    Pose3 out;
    const sdf::Errors errors = pose.Resolve(out, "__model__");
    for (const sdf::Error& error : errors) ADD_FAILURE() << error.Message();
    return transform(out);
  }

  /// A joint's point and axis in the world. @param sign  of the axis; 0: it has none
  void frame(const Theirs& theirs, const Transform<double>& X, const Vec3<double>& axis,
             double sign) {
    if (!robot_is_fixed()) return;  // what floats is somewhere else at zero
    expect_near(X.r, theirs.X.r, rounding, "point");
    if (sign == 0.0) return;
    ignition::math::Vector3d in_model;
    EXPECT_TRUE(theirs.joint->Axis(0)->ResolveXyz(in_model, "__model__").empty());
    expect_near(transpose_times(X.E, axis),
                transpose_times(theirs.model.E, scale(sign, vec(in_model))), rounding, "axis");
  }
  bool robot_is_fixed() const {
    return std::none_of(robot_.joints.begin(), robot_.joints.end(),
                        [](const JointDescription& j) { return j.type == "floating"; });
  }

  static void mass(const LinkDescription& link, const ignition::math::Inertiald& theirs) {
    if (!link.inertial) return;  // massless by our own attribute
    const Inertial& I = *link.inertial;
    EXPECT_EQ(I.mass, theirs.MassMatrix().Mass()) << link.name;
    expect_near(I.origin.xyz, vec(theirs.Pose().Pos()), rounding, link.name);
    const Sym3<double> ours = congruence(rpy_to_E(I.origin.rpy), I.I);
    const ignition::math::Matrix3d moments = theirs.Moi();
    EXPECT_NEAR(ours.xx, moments(0, 0), rounding);
    EXPECT_NEAR(ours.yy, moments(1, 1), rounding);
    EXPECT_NEAR(ours.zz, moments(2, 2), rounding);
    EXPECT_NEAR(ours.xy, moments(0, 1), rounding);
    EXPECT_NEAR(ours.xz, moments(0, 2), rounding);
    EXPECT_NEAR(ours.yz, moments(1, 2), rounding);
  }

  const Description& robot_;
  Placements ours_;
  std::map<std::string, std::pair<const sdf::Link*, Transform<double>>> links_;
  std::vector<Theirs> joints_;
};

sdf::ParserConfig config() {
  sdf::ParserConfig config;
  config.SetFindCallback([](const std::string& uri) {
    const auto scheme = uri.find("://");
    return models + "/" + (scheme == std::string::npos ? uri : uri.substr(scheme + 3));
  });
  return config;
}

Description read(const std::string& file) {
  ReadOptions options;
  options.search_paths = {models};
  return host().read(file, options);
}

void compare(const std::string& file) {
  SCOPED_TRACE(file);
  sdf::Root root;
  for (const sdf::Error& error : root.Load(file, config())) FAIL() << error.Message();
  const Description robot = read(file);
  Comparison comparison(robot);
  if (root.Model() != nullptr) {
    comparison.collect(*root.Model(), "", transform(root.Model()->RawPose()));
  }
  for (uint64_t w = 0; w < root.WorldCount(); ++w) {
    const sdf::World& world = *root.WorldByIndex(w);
    EXPECT_EQ(robot.gravity.z, world.Gravity().Z());
    const bool alone = world.ModelCount() == 1;
    for (uint64_t i = 0; i < world.ModelCount(); ++i) {
      const sdf::Model& model = *world.ModelByIndex(i);
      Pose3 pose;
      EXPECT_TRUE(model.SemanticPose().Resolve(pose).empty());
      comparison.collect(model, alone ? "" : model.Name() + "::", transform(pose));
    }
  }
  comparison.links();
  comparison.joints();
}

TEST(LibsdformatTest, PosesAxesAndMassesOfAnArm) { compare(models + "/arm.sdf"); }
TEST(LibsdformatTest, LoopsAndReversedJoints) { compare(models + "/four_bar.sdf"); }
TEST(LibsdformatTest, IncludedModelsPlacedByFramesAndMerged) { compare(models + "/world.sdf"); }

using Matrix = Eigen::Matrix<double, -1, -1, Eigen::RowMajor>;

/// Mass matrix and bias at a random state, rows in the order of coordinates' names.
std::pair<Matrix, Eigen::VectorXd> numbers(const ModelPtr& robot) {
  std::map<std::string, int> order;
  for (const Coordinate& c : robot->coordinates()) {
    for (int k = 0; k < c.size; ++k) order[c.joint + std::to_string(k)] = c.start + k;
  }
  std::vector<double> q(robot->nq());
  Eigen::VectorXd v(robot->nv());
  robot->neutral(q.data());
  int i = 0;
  for (const auto& [name, start] : order) {
    ++i;
    v[start] = std::cos(2.0 * i);
  }
  i = 0;
  std::map<std::string, const Joint*> joints;
  for (const Joint& joint : robot->joints()) joints[joint.name] = &joint;
  for (const auto& [name, joint] : joints) {
    if (joint->nq == 1) q[joint->q] = std::sin(++i);
  }
  Matrix M(robot->nv(), robot->nv()), sorted = M;
  Eigen::VectorXd h(robot->nv()), sorted_h = h;
  any<MassMatrix<double>>(robot)->evaluate(q, M);
  any<BiasForce<double>>(robot)->evaluate(q, v, h);
  int r = 0;
  for (const auto& [name, row] : order) {
    int c = 0;
    for (const auto& [other, column] : order) sorted(r, c++) = M(row, column);
    sorted_h(r++) = h(row);
  }
  return {sorted, sorted_h};
}

/// What we write is what libsdformat reads, and the robot that the URDF is.
TEST(LibsdformatTest, RobotsOfUrdfAreTheSameInSdf) {
  for (const char* name : {"ur5.urdf", "panda.urdf", "humanoid.urdf", "solo12.urdf"}) {
    const Description robot = host().read(std::string(ESPALIER_SOURCE_DIR "/robots/") + name);
    const test::TemporaryFolder folder;
    const std::string file = folder.write("robot.sdf", SdfFormat().write(robot));
    compare(file);
    const auto [M, h] = numbers(host().compile(robot));
    const auto [N, g] = numbers(host().load(file));
    ASSERT_EQ(M.rows(), N.rows()) << name;
    EXPECT_LT((M - N).cwiseAbs().maxCoeff(), 1e-12 * M.cwiseAbs().maxCoeff()) << name;
    EXPECT_LT((h - g).cwiseAbs().maxCoeff(), 1e-12 * h.cwiseAbs().maxCoeff()) << name;
  }
}

}  // namespace
}  // namespace espalier::test::libsdformat_test
