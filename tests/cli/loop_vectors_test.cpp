#include <Eigen/Dense>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "tests/cli/run.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/host.hpp"

// Results that generalized_rbda computed for robots with gears and loops (../shared/vectors, an
// extra where that folder is), reproduced through the command line by every exact algorithm; Tello,
// which has no URDF, through the library. Conventions: those that each file states.

#ifdef ESPALIER_SHARED_DIR
namespace espalier::test::loop_vectors_test {
namespace {

/// Relative to the largest number of a vector: what the issue asks for.
constexpr double tolerance = 1e-8;
/// For G, g, K and k, which are computed from positions of order 1 with less than a hundred
/// roundings and one elimination of condition below 1e3.
constexpr double constraint_tolerance = 1e-10;

using Vector = std::vector<double>;
using Matrix = Eigen::MatrixXd;

const std::string shared = ESPALIER_SHARED_DIR;

Matrix matrix(const Json& rows) {
  Matrix m(rows.size(), rows.empty() ? 0 : rows[0].size());
  for (long i = 0; i < m.rows(); ++i) {
    for (long j = 0; j < m.cols(); ++j) m(i, j) = rows[i][j].get<double>();
  }
  return m;
}
Vec3<double> vec3(const Json& x) { return {x[0], x[1], x[2]}; }

void expect_near(const Vector& got, const Vector& wanted, double relative,
                 const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  double size = 1.0, difference = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    size = std::max(size, std::abs(wanted[i]));
    difference = std::max(difference, std::abs(got[i] - wanted[i]));
  }
  EXPECT_LE(difference, relative * size) << what;
}

/// One file: its robot, and its numbers in Espalier's conventions.
class Reference {
 public:
  explicit Reference(const std::string& name)
      : json_(Json::parse(contents(shared + "/vectors/loop_" + name + ".json"))) {}

  const Json& json() const { return json_; }
  const Json& states() const { return json_["states"]; }

  /// A vector over its independent rates by joint name.
  Json by_joint(const Json& x) const {
    Json out = Json::object();
    for (const Json& c : json_["clusters"]) {
      std::size_t at = c["velocity_index"];
      for (const Json& joint : c["independent_joints"]) {
        const int size = rates_of(joint);
        if (size == 1) {
          out[joint.get<std::string>()] = x[at];
        } else {
          out[joint.get<std::string>()] = Vector(x.begin() + at, x.begin() + at + size);
        }
        at += size;
      }
    }
    return out;
  }

  /// The same in the order of a model's independent rates.
  Vector in_order(const Model& model, const Json& x) const {
    Vector out;
    for (const int i : order(model)) out.push_back(x[i]);
    return out;
  }
  /// Where each of the model's independent rates stands in its order.
  std::vector<int> order(const Model& model) const {
    std::vector<int> out(model.nv(), -1);
    for (const Json& c : json_["clusters"]) {
      int at = c["velocity_index"];
      for (const Json& joint : c["independent_joints"]) {
        const int start = model.joint(joint.get<std::string>()).independent;
        EXPECT_GE(start, 0) << joint << " is not independent";
        for (int k = rates_of(joint); start >= 0 && k-- > 0;) out[start + k] = at + k;
        at += rates_of(joint);
      }
    }
    return out;
  }

  /// q of all spanning joints; quaternions stand last and begin with x here.
  Json positions(const Json& state) const {
    Json q = Json::object();
    for (const auto& [joint, x] : state["spanning_position"].items()) {
      if (x.size() == 1) {
        q[joint] = x[0];
      } else {
        q[joint] = Json{x[0], x[1], x[2], x[4], x[5], x[6], x[3]};
      }
    }
    return q;
  }
  Vector q(const Model& model, const Json& state) const {
    Vector q(model.nq());
    const Json by_joint = positions(state);
    for (const auto& [joint, x] : by_joint.items()) {
      const Joint& j = model.joint(joint);
      for (int k = 0; k < j.nq; ++k) q[j.q + k] = j.nq == 1 ? x.get<double>() : x[k].get<double>();
    }
    return q;
  }

  /// The file's wrenches, world axes about the world's origin, in the frames of their links.
  std::map<std::string, Force<double>> wrenches(const ModelPtr& model, const Json& state) const {
    const auto kinematics = any<Kinematics<double>>(model);
    const Vector zero(model->nv(), 0.0);
    kinematics->evaluate(q(*model, state), zero, zero);
    std::map<std::string, Force<double>> out;
    for (const auto& [link, f] : state["fext"].items()) {
      const Force<double> world{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}};
      out[link] = kinematics->placement(model->link(link)).force_to(world);
    }
    return out;
  }

  /// In link axes.
  std::vector<EndEffector> end_effectors() const {
    std::vector<EndEffector> all;
    for (const Json& e : json_["end_effectors"]) {
      all.push_back(EndEffector::weld(e["body"].get<std::string>(), vec3(e["offset"])));
    }
    return all;
  }
  Vector inverse_osim(const Json& state) const {
    Vector out;
    for (const Json& row : state["expected"]["inverse_osim"]) {
      out.insert(out.end(), row.begin(), row.end());
    }
    return out;
  }

  Json state(const ModelPtr& model, const Json& s, bool with_wrenches) const {
    Json out{{"q", positions(s)},
             {"v", by_joint(s["yd"])},
             {"tau", by_joint(s["tau"])},
             {"vdot", by_joint(s["ydd_in"])},
             {"gravity", json_["gravity"]}};
    for (const Json& e : json_["end_effectors"]) {
      out["end_effectors"].push_back(
          {{"link", e["body"]}, {"offset", e["offset"]}, {"rows", "6d"}});
    }
    if (with_wrenches) {
      for (const auto& [link, f] : wrenches(model, s)) {
        out["external_wrenches"][link] = Vector{f.n.x, f.n.y, f.n.z, f.f.x, f.f.y, f.f.z};
      }
    }
    return out;
  }

 private:
  int rates_of(const Json& joint) const {
    for (const Json& body : json_["bodies"]) {
      if (body["joint"] == joint) return body["joint_nv"];
    }
    throw std::out_of_range("joint " + joint.get<std::string>());
  }

  Json json_;
};

/// G, g, K and k of every cluster at a state.
void expect_constraints(const Reference& reference, const Model& model, const Json& state) {
  SpanningMotion<double> motion(model);
  const Vector q = reference.q(model, state), v = reference.in_order(model, state["yd"]);
  motion.update(q.data(), v.data());
  const SpanningView<double> at{q.data(), motion.qd(), motion.joints.X.data(),
                                motion.joints.S.data(), motion.joints.bias.data()};
  for (std::size_t k = 0; k < state["constraints"].size(); ++k) {
    const Json& wanted = state["constraints"][k];
    const Json& cluster = reference.json()["clusters"][k];
    if (wanted["K"].empty()) continue;  // nothing is tied
    const std::string name = cluster["name"];
    const Json& joints = cluster["joints"];
    const Cluster& c =
        model.clusters()[model.body(model.joint(joints[0].get<std::string>()).body).cluster];
    ASSERT_EQ(c.rows(), static_cast<int>(joints.size())) << name;
    std::vector<int> row, column;  // of our G, in the order of the file
    for (const Json& joint : joints) {
      row.push_back(c.row(model.joint(joint.get<std::string>()).v));
    }
    for (const Json& joint : cluster["independent_joints"]) {
      column.push_back(model.joint(joint.get<std::string>()).independent - c.v);
    }
    Vector G, wanted_G, g, wanted_g;
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (std::size_t j = 0; j < column.size(); ++j) {
        G.push_back(motion.G(c)[row[i] * c.nv + column[j]]);
        wanted_G.push_back(wanted["G"][i][j]);
      }
      g.push_back(motion.g() == nullptr ? 0.0 : motion.g()[c.rate(row[i])]);
      wanted_g.push_back(wanted["g"][i]);
    }
    expect_near(G, wanted_G, constraint_tolerance, name + " G");
    expect_near(g, wanted_g, constraint_tolerance, name + " g");
    if (c.constraint == nullptr) continue;  // constant couplings: G says all
    // Our rows and theirs span one space: A K = their K, A k = their k with one A.
    ConstraintWorkspace<double> w;
    c.constraint->allocate(c, w);
    c.constraint->jacobian(model, c, at, w);
    c.constraint->bias(model, c, at, w);
    Matrix ours(c.constraint->rows(), c.rows() + 1), theirs(wanted["K"].size(), c.rows() + 1);
    for (long i = 0; i < ours.rows(); ++i) {
      std::vector<double> all(c.rows(), 0.0);
      c.constraint->each_in_row(w, static_cast<int>(i), [&](int l, double x) { all[l] = x; });
      for (int j = 0; j < c.rows(); ++j) ours(i, j) = all[row[j]];
      ours(i, c.rows()) = w.k[i];
    }
    theirs << matrix(wanted["K"]),
        Eigen::Map<const Eigen::VectorXd>(wanted["k"].get<Vector>().data(), wanted["k"].size());
    const Matrix A =
        least_squares(ours.leftCols(c.rows()).transpose(), theirs.leftCols(c.rows()).transpose());
    const Matrix off = A.transpose() * ours - theirs;
    EXPECT_LE(off.cwiseAbs().maxCoeff(), constraint_tolerance * theirs.cwiseAbs().maxCoeff())
        << name << " K, k";
  }
}

class LoopVectors : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    reference_.emplace(GetParam());
    urdf_ = shared + "/robots/" + GetParam() + ".urdf";
    model_ = host().load(urdf_);
  }

  espalier::Setup setup() const { return {model_, reference_->end_effectors()}; }
  /// Names of all exact algorithms of a problem that run on the robot.
  template <class P>
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& [name, algorithm] : every<P>(setup())) out.push_back(name);
    return out;
  }

  Json eval(const std::string& name, std::string_view problem, const Json& s,
            bool wrenches = false) const {
    const Answer a = run("eval '" + urdf_ + "' --algorithm " + name + " --problem " +
                             std::string(problem) + " --state - --json",
                         reference_->state(model_, s, wrenches).dump());
    EXPECT_EQ(a.code, 0) << a.err;
    return a.code == 0 ? a.json() : Json();
  }

  /// The numbers of an answer by joint, against a vector of the file.
  void expect(const Json& answer, const char* key, const Json& wanted, const std::string& what) {
    ASSERT_TRUE(answer.contains(key)) << what;
    const Json by_joint = reference_->by_joint(wanted);
    ASSERT_EQ(answer[key].size(), by_joint.size()) << what;
    Vector got, numbers;
    const auto append = [](const Json& x, Vector& to) {
      if (x.is_array()) {
        for (const Json& one : x) to.push_back(one);
      } else {
        to.push_back(x);
      }
    };
    for (const auto& [joint, x] : answer[key].items()) {
      append(x, got);
      append(by_joint.at(joint), numbers);
    }
    expect_near(got, numbers, tolerance, what);
  }

  std::optional<Reference> reference_;
  std::string urdf_;
  ModelPtr model_;
};

TEST_P(LoopVectors, ForwardDynamics) {
  using P = ForwardDynamics<double>;
  for (const std::string& name : names<P>()) {
    for (const Json& s : reference_->states()) {
      expect(eval(name, P::problem, s), "vdot", s["expected"]["ydd_caba"], name);
      expect(eval(name, P::problem, s, true), "vdot", s["expected_fext"]["ydd_caba"],
             name + " with wrenches");
    }
  }
}

TEST_P(LoopVectors, InverseDynamics) {
  using P = InverseDynamics<double>;
  for (const std::string& name : names<P>()) {
    for (const Json& s : reference_->states()) {
      expect(eval(name, P::problem, s), "tau", s["expected"]["tau_crnea"], name);
      expect(eval(name, P::problem, s, true), "tau", s["expected_fext"]["tau_crnea"],
             name + " with wrenches");
    }
  }
}

TEST_P(LoopVectors, BiasForce) {
  using P = BiasForce<double>;
  for (const std::string& name : names<P>()) {
    for (const Json& s : reference_->states()) {
      expect(eval(name, P::problem, s), "bias", s["expected"]["bias_force"], name);
    }
  }
}

TEST_P(LoopVectors, MassMatrix) {
  using P = MassMatrix<double>;
  const std::vector<int> order = reference_->order(*model_);
  for (const std::string& name : names<P>()) {
    for (const Json& s : reference_->states()) {
      const Json M = eval(name, P::problem, s)["mass_matrix"];
      Vector got, wanted;
      for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t j = 0; j < order.size(); ++j) {
          got.push_back(M[i][j]);
          wanted.push_back(s["expected"]["mass_matrix"][order[i]][order[j]]);
        }
      }
      expect_near(got, wanted, tolerance, name);
    }
  }
}

TEST_P(LoopVectors, InverseOsimOfEndEffectors) {
  using P = InverseOsim<double>;
  EXPECT_GE(names<P>().size(), 6u);
  for (const std::string& name : names<P>()) {
    for (const Json& s : reference_->states()) {
      const Json rows = eval(name, P::problem, s)["inverse_osim"];
      Vector got;
      for (const Json& row : rows) {
        got.insert(got.end(), row.begin(), row.end());
      }
      expect_near(got, reference_->inverse_osim(s), tolerance, name);
    }
  }
}

TEST_P(LoopVectors, ConstraintsOfEveryCluster) {
  for (const Json& s : reference_->states()) expect_constraints(*reference_, *model_, s);
}

INSTANTIATE_TEST_SUITE_P(Shared, LoopVectors,
                         testing::Values("four_bar", "six_bar", "revolute_rotor_chain",
                                         "mit_humanoid_leg", "mini_cheetah",
                                         "bm_parallel_implicit_d5_l5"),
                         [](const auto& parameter) { return std::string(parameter.param); });

/// The robot of a file that holds its bodies instead of a URDF, with the laws of Tello.
Description tello_of(const Json& json) {
  Description robot;
  robot.name = json["model"];
  robot.gravity = vec3(json["gravity"]);
  robot.links.push_back({"ground", std::nullopt, {}});
  for (const Json& body : json["bodies"]) {
    const Matrix I = matrix(body["spatial_inertia"]);
    // [I h×; -h× m 1] about the link's origin, to the centre of mass.
    Inertial inertial;
    inertial.mass = I(5, 5);
    const Vec3<double> h{I(2, 4), I(0, 5), I(1, 3)};
    const Vec3<double> com = scale(1.0 / inertial.mass, h);
    inertial.origin.xyz = com;
    const double hc = dot(h, com);
    inertial.I = {I(0, 0) - (hc - h.x * com.x), I(0, 1) + h.x * com.y,
                  I(0, 2) + h.x * com.z,        I(1, 1) - (hc - h.y * com.y),
                  I(1, 2) + h.y * com.z,        I(2, 2) - (hc - h.z * com.z)};
    robot.links.push_back({body["name"], inertial, {}});

    JointDescription joint;
    joint.name = body["joint"];
    joint.parent = body["parent"];
    joint.child = body["name"];
    const Matrix E = matrix(body["tree_E"]);
    Transform<double> X{Mat3<double>::zero(), vec3(body["tree_r"])};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) X.E(i, j) = E(i, j);
    }
    joint.origin = Pose::from(X);
    if (body["S"].is_string()) {
      joint.type = "floating";
    } else {
      joint.type = "revolute";
      joint.axis = vec3(body["S"]);
    }
    robot.joints.push_back(joint);
  }
  const auto joint_named = [&](const Json& name) -> JointDescription& {
    for (JointDescription& joint : robot.joints) {
      if (joint.name == name) return joint;
    }
    throw std::out_of_range("joint " + name.get<std::string>());
  };
  for (std::size_t k = 0; k < json["clusters"].size(); ++k) {
    const Json& c = json["clusters"][k];
    if (c["num_constraints"] == 0) continue;
    const Json& joints = c["joints"];
    for (std::size_t i = 0; i < joints.size(); ++i) {
      joint_named(joints[i]).independent = c["independent_mask"][i].get<bool>();
    }
    if (c["constraint"] == "explicit") {
      const double ratio = json["states"][0]["constraints"][k]["G"][1][0];
      joint_named(joints[1]).mimic = Mimic{joints[0], ratio, 0.0};
      continue;
    }
    LawDescription law;
    law.name = c["name"];
    law.type = law.name.find("hip") != std::string::npos ? "tello_hip" : "tello_knee_ankle";
    for (const Json& joint : joints) law.joints.push_back(joint);
    robot.laws.push_back(law);
  }
  return robot;
}

class TelloVectors : public testing::Test {
 protected:
  void SetUp() override {
    reference_.emplace("cpp_TelloFixed");
    model_ = host().compile(tello_of(reference_->json()));
  }
  Wrenches<double> wrenches(const Json& s) const {
    Wrenches<double> all(model_);
    for (const auto& [link, f] : reference_->wrenches(model_, s)) all.add(link, f);
    return all;
  }
  std::optional<Reference> reference_;
  ModelPtr model_;
};

TEST_F(TelloVectors, ForwardDynamics) {
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model_)) {
    for (const Json& s : reference_->states()) {
      const auto over = [&](const Json& x) { return reference_->in_order(*model_, x); };
      Vector vdot(model_->nv());
      algorithm->evaluate(reference_->q(*model_, s), over(s["yd"]), over(s["tau"]), vdot);
      expect_near(vdot, over(s["expected"]["ydd_caba"]), tolerance, name);
      const Wrenches<double> w = wrenches(s);
      algorithm->evaluate(reference_->q(*model_, s), over(s["yd"]), over(s["tau"]), vdot, &w);
      expect_near(vdot, over(s["expected_fext"]["ydd_caba"]), tolerance, name + " with wrenches");
    }
  }
}

TEST_F(TelloVectors, InverseDynamics) {
  for (const auto& [name, algorithm] : every<InverseDynamics<double>>(model_)) {
    for (const Json& s : reference_->states()) {
      const auto over = [&](const Json& x) { return reference_->in_order(*model_, x); };
      Vector tau(model_->nv());
      algorithm->evaluate(reference_->q(*model_, s), over(s["yd"]), over(s["ydd_in"]), tau);
      expect_near(tau, over(s["expected"]["tau_crnea"]), tolerance, name);
      const Wrenches<double> w = wrenches(s);
      algorithm->evaluate(reference_->q(*model_, s), over(s["yd"]), over(s["ydd_in"]), tau, &w);
      expect_near(tau, over(s["expected_fext"]["tau_crnea"]), tolerance, name + " with wrenches");
    }
  }
}

TEST_F(TelloVectors, MassMatrixAndBias) {
  const std::vector<int> order = reference_->order(*model_);
  for (const Json& s : reference_->states()) {
    const Matrix M = matrix(s["expected"]["mass_matrix"]);
    Vector wanted;
    for (const int i : order) {
      for (const int j : order) wanted.push_back(M(i, j));
    }
    for (const auto& [name, algorithm] : every<MassMatrix<double>>(model_)) {
      Vector got(wanted.size());
      algorithm->evaluate(reference_->q(*model_, s), got);
      expect_near(got, wanted, tolerance, name);
    }
    for (const auto& [name, algorithm] : every<BiasForce<double>>(model_)) {
      Vector bias(model_->nv());
      algorithm->evaluate(reference_->q(*model_, s), reference_->in_order(*model_, s["yd"]), bias);
      expect_near(bias, reference_->in_order(*model_, s["expected"]["bias_force"]), tolerance,
                  name);
    }
  }
}

TEST_F(TelloVectors, InverseOsimOfEndEffectors) {
  const espalier::Setup setup{model_, reference_->end_effectors()};
  for (const auto& [name, algorithm] : every<InverseOsim<double>>(setup)) {
    for (const Json& s : reference_->states()) {
      Vector got(algorithm->task().size() * algorithm->task().size());
      algorithm->evaluate(reference_->q(*model_, s), got);
      expect_near(got, reference_->inverse_osim(s), tolerance, name);
    }
  }
}

TEST_F(TelloVectors, ConstraintsOfEveryCluster) {
  for (const Json& s : reference_->states()) expect_constraints(*reference_, *model_, s);
}

}  // namespace
}  // namespace espalier::test::loop_vectors_test
#endif  // ESPALIER_SHARED_DIR
