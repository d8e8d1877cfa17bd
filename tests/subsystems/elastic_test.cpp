#include <Eigen/Dense>
#include <numbers>

#include "espalier/kernel/model/motion/passive.hpp"
#include "espalier/kernel/problems/dynamics/bias_force.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"
#include "espalier/kernel/problems/kinematics/forward_kinematics.hpp"
#include "tests/subsystems/bench.hpp"
#include "tests/support/dense_algebra.hpp"

// Elastic subsystems: the drive is the same machine as elastic_joint, and the beam is the beam of
// the textbooks.

namespace espalier::elastic_test {
namespace {

using namespace test;
using Numbers = std::vector<double>;

Numbers neutral(const Model& model) {
  Numbers q(model.nq());
  model.neutral(q.data());
  return q;
}

// --- drive --------------------------------------------------------------------------------------

/// A hinge, and on it an elastic joint of one kind or the other with the same numbers.
ModelPtr with_elastic(const std::string& type) {
  Description robot;
  robot.name = type;
  robot.links.push_back({"ground", std::nullopt, {}});
  robot.links.push_back(
      {"base", Inertial{{{0.1, 0, 0}, {0, 0, 0}}, 2.0, {0.1, 0, 0, 0.1, 0, 0.1}}, {}});
  JointDescription hinge;
  hinge.name = "hinge", hinge.type = "revolute", hinge.parent = "ground", hinge.child = "base";
  hinge.axis = {0.6, 0, 0.8};
  robot.joints.push_back(hinge);
  Parameters p{{"ratio", {50}},
               {"stiffness", {300}},
               {"damping", {0.5}},
               {"axis", {0, 0.6, 0.8}},
               {"rotor_axis", {0.8, 0, 0.6}},
               {"rotor_xyz", {0.05, 0.1, -0.05}},
               {"rotor_rpy", {0.3, -0.4, 0.5}},
               {"rotor_mass", {0.1}},
               {"link_mass", {1}},
               {"link_com", {0.15, 0, 0.01}},
               {"link_inertia", {1e-3, 8e-3, 8e-3, 0, 0, 0}}};
  // 1e-5 across the axis and 2e-5 about it: 1e-5 (1 + a a^T).
  p["rotor_inertia"] = {1e-5 * 1.64, 1e-5, 1e-5 * 1.36, 0, 1e-5 * 0.48, 0};
  p["rotor_com"] = {0.02 * 0.8, 0, 0.02 * 0.6};
  attach(robot, mechanism(type), p, "", "base", {{0.2, 0.1, 0}, {0.1, 0.2, 0.3}});
  return Model::compile(robot, registry());
}

TEST(ElasticDriveTest, MovesAsTheElasticJointMadeOfBodies) {
  const ModelPtr bodies = with_elastic("elastic_joint"), drive = with_elastic("elastic_drive");
  ASSERT_EQ(bodies->nv(), 3);
  ASSERT_EQ(drive->nv(), 3);
  const int link = drive->joint("link").v, hinge = drive->joint("hinge").v;
  const auto reference = host().create<ForwardDynamics<double>>("c-aba", bodies);
  const auto forward = host().create<ForwardDynamics<double>>("c-aba", drive);
  Rng rng(1);
  for (int sample = 0; sample < 20; ++sample) {
    const double q_hinge = rng.uniform(-1, 1), q_link = rng.uniform(-1, 1),
                 q_rotor = 50 * (q_link + rng.uniform(-0.1, 0.1));
    const double v_hinge = rng.uniform(-3, 3), v_link = rng.uniform(-3, 3),
                 v_rotor = rng.uniform(-100, 100), torque = rng.uniform(-1, 1);
    Numbers q(bodies->nq()), v(3), tau(3, 0.0), vdot(3);
    q[bodies->joint("hinge").q] = q_hinge, q[bodies->joint("link").q] = q_link;
    q[bodies->joint("rotor").q] = q_rotor;
    bodies->apply_couplings(q.data());
    v[bodies->joint("hinge").independent] = v_hinge, v[bodies->joint("link").independent] = v_link;
    v[bodies->joint("rotor").independent] = v_rotor;
    passive_forces(bodies, q.data(), v.data(), tau.data());
    tau[bodies->joint("rotor").independent] += torque;
    reference->evaluate(q, v, tau, vdot);

    Numbers q_drive(3), v_drive(3), tau_drive(3, 0.0), vdot_drive(3);
    q_drive[hinge] = q_hinge, q_drive[link] = q_link, q_drive[link + 1] = q_rotor;
    v_drive[hinge] = v_hinge, v_drive[link] = v_link, v_drive[link + 1] = v_rotor;
    tau_drive[link + 1] = torque;
    forward->evaluate(q_drive, v_drive, tau_drive, vdot_drive);
    const double close = 1e-9 * (1.0 + largest(vdot));  // rotor of 2e-5 kg·m² beside a link's 0.03
    EXPECT_NEAR(vdot_drive[hinge], vdot[bodies->joint("hinge").independent], close);
    EXPECT_NEAR(vdot_drive[link], vdot[bodies->joint("link").independent], close);
    EXPECT_NEAR(vdot_drive[link + 1], vdot[bodies->joint("rotor").independent], close);
  }
  EXPECT_NEAR(drive->mass(), bodies->mass(), 1e-12);
}

// --- beam ---------------------------------------------------------------------------------------

constexpr double L = 0.8, mu = 0.5, EI_y = 20.0, EI_z = 45.0, GJ = 30.0, gy = 1e-3, gz = 2e-3;

/// A straight beam of `elements` in series, clamped at the ground, and a link of tip_mass.
ModelPtr beam(int elements, double tip_mass = 0.0, const Vec3<double>& gravity = {0, 0, 0},
              const char* hub = nullptr) {
  Description robot;
  robot.name = "beam";
  robot.gravity = gravity;
  robot.links.push_back({"ground", std::nullopt, {}});
  std::string on = "ground";
  if (hub != nullptr) {
    robot.links.push_back({"hub", Inertial{{}, 1.0, {1, 0, 0, 1, 0, 1}}, {}});
    JointDescription joint;
    joint.name = "hub", joint.type = hub, joint.parent = on, joint.child = "hub";
    joint.axis = {0, 0, 1};
    robot.joints.push_back(joint);
    on = "hub";
  }
  for (int k = 0; k < elements; ++k) {
    Parameters p{{"length", {L / elements}},
                 {"mass_per_length", {mu}},
                 {"EI_y", {EI_y}},
                 {"EI_z", {EI_z}},
                 {"GJ", {GJ}},
                 {"gyration_y", {gy}},
                 {"gyration_z", {gz}}};
    if (k + 1 == elements && tip_mass > 0.0) p["tip_mass"] = {tip_mass};
    const std::string prefix = "b" + std::to_string(k) + ".";
    on = attach(robot, mechanism("elastic_beam"), p, prefix, on).front().link;
  }
  return Model::compile(robot, registry());
}

Numbers bias(const ModelPtr& model, const Numbers& q, const Numbers& v,
             const Wrenches<double>* wrenches = nullptr) {
  Numbers out(model->nv());
  host().create<BiasForce<double>>("c-rnea", model)->evaluate(q, v, out, wrenches);
  return out;
}

/// Stiffness: derivative of the bias by the positions of the beams, at q and v.
Eigen::MatrixXd stiffness(const ModelPtr& model, const Numbers& q, const Numbers& v,
                          const Wrenches<double>* wrenches = nullptr) {
  const int n = model->nv();
  Eigen::MatrixXd K(n, n);
  const double h = 1e-5;  // cubic terms: 1e-10 of the result; rounding: 1e-11 of forces near 1
  for (int j = 0; j < n; ++j) {
    Numbers plus = q, minus = q;
    plus[j] += h, minus[j] -= h;
    const Numbers a = bias(model, plus, v, wrenches), b = bias(model, minus, v, wrenches);
    for (int i = 0; i < n; ++i) K(i, j) = (a[i] - b[i]) / (2 * h);
  }
  return K;
}
Eigen::MatrixXd mass_matrix(const ModelPtr& model, const Numbers& q) {
  Numbers M(model->nv() * model->nv());
  host().create<MassMatrix<double>>("dense", model)->evaluate(q, M);
  return Eigen::Map<Eigen::MatrixXd>(M.data(), model->nv(), model->nv());
}
/// Eigenfrequencies [rad/s] of small vibrations in the given coordinates of every element.
Numbers frequencies(const ModelPtr& model, const std::vector<int>& coordinates, const Numbers& v,
                    int first = 0) {
  const Numbers q = neutral(*model);
  const Eigen::MatrixXd M = mass_matrix(model, q), K = stiffness(model, q, v);
  std::vector<int> of;
  for (int element = first; element + 6 <= model->nv(); element += 6) {
    for (const int c : coordinates) of.push_back(element + c);
  }
  const int n = static_cast<int>(of.size());
  Eigen::MatrixXd m(n, n), k(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) m(i, j) = M(of[i], of[j]), k(i, j) = K(of[i], of[j]);
  }
  const Eigen::VectorXd squares = eigenvalues_of_pair(0.5 * (k + k.transpose()), m);
  Numbers out;
  for (int i = 0; i < n; ++i) out.push_back(std::sqrt(squares(i)));
  return out;
}
const std::vector<int> along_y{0, 1}, along_z{2, 3}, twist{4, 5};

TEST(ElasticBeamTest, DeflectsUnderATipForceAsTheTextbookSays) {
  const ModelPtr m = beam(1);
  const double F = 1e-3;  // small: the shortening is of second order in it
  Numbers q(6, 0.0);
  q[0] = F * L * L * L / (3 * EI_z), q[1] = F * L * L / (2 * EI_z);
  q[2] = -F * L * L * L / (3 * EI_y), q[3] = -F * L * L / (2 * EI_y);
  q[4] = 2 * F * L / GJ;
  Wrenches<double> w(m);
  const auto kinematics = any<Kinematics<double>>(m);
  // Forces in space, on a link that has turned.
  const Numbers zero(6, 0.0);
  kinematics->evaluate(q, zero, zero);
  const Mat3<double> E = kinematics->placement(m->link("b0.tip")).E;
  w.add("b0.tip", {E * Vec3<double>{2 * F, 0, 0}, E * Vec3<double>{0, F, -F}});
  EXPECT_LT(largest(bias(m, q, zero, &w)), 1e-3 * F);  // slopes of 1e-5 times loads of F
}

TEST(ElasticBeamTest, DeflectsUnderAMomentAndItsOwnWeightAsTheTextbookSays) {
  const double g = 1e-3;
  const ModelPtr heavy = beam(1, 0.0, {0, 0, -g});
  Numbers q(6, 0.0);
  const double p = mu * g;
  q[2] = -p * L * L * L * L / (8 * EI_y), q[3] = -p * L * L * L / (6 * EI_y);
  EXPECT_LT(largest(bias(heavy, q, Numbers(6, 0.0))), 1e-6 * p);

  const ModelPtr m = beam(1);
  const double moment = 1e-3;  // about z: bends towards y
  q.assign(6, 0.0);
  q[0] = moment * L * L / (2 * EI_z), q[1] = moment * L / EI_z;
  Wrenches<double> w(m);
  w.add("b0.tip", {{0, 0, moment}, {0, 0, 0}});
  EXPECT_LT(largest(bias(m, q, Numbers(6, 0.0), &w)), 1e-3 * moment);
}

TEST(ElasticBeamTest, VibratesAtTheFrequenciesOfTheClampedFreeBeam) {
  // beta L of cos x cosh x = -1. One element: 0.5 % (as the class says); four in series converge.
  const double beta[] = {1.875104069, 4.694091133, 7.854757438};
  const Numbers still1(6, 0.0), still4(24, 0.0);
  for (const auto& [coordinates, EI] : {std::pair{along_y, EI_z}, std::pair{along_z, EI_y}}) {
    const double unit = std::sqrt(EI / mu) / (L * L);
    const Numbers one = frequencies(beam(1), coordinates, still1);
    EXPECT_NEAR(one[0] / (unit * beta[0] * beta[0]), 1.0, 0.006);
    const Numbers four = frequencies(beam(4), coordinates, still4);
    // Rotary inertia of the sections takes 1e-5 off the third.
    EXPECT_NEAR(four[0] / (unit * beta[0] * beta[0]), 1.0, 1e-4);
    EXPECT_NEAR(four[1] / (unit * beta[1] * beta[1]), 1.0, 2e-3);
    EXPECT_NEAR(four[2] / (unit * beta[2] * beta[2]), 1.0, 8e-3);
  }
  const double rod = std::sqrt(GJ / (mu * (gy * gy + gz * gz))) / L * std::numbers::pi / 2;
  EXPECT_NEAR(frequencies(beam(1), twist, still1)[0] / rod, 1.0, 0.005);
  const Numbers four = frequencies(beam(4), twist, still4);
  EXPECT_NEAR(four[0] / rod, 1.0, 1e-4);
  EXPECT_NEAR(four[1] / (3 * rod), 1.0, 2e-3);
}

TEST(ElasticBeamTest, TipMassLowersTheFrequencyAsTheTextbookSays) {
  // 1 + cos x cosh x + m x (cos x sinh x - sin x cosh x) = 0 with m = tip mass / beam's mass = 1:
  // x = 1.24792.
  const double unit = std::sqrt(EI_z / mu) / (L * L);
  const Numbers f = frequencies(beam(2, mu * L), along_y, Numbers(12, 0.0));
  EXPECT_NEAR(f[0] / (unit * 1.24792 * 1.24792), 1.0, 1e-4);
}

TEST(ElasticBeamTest, TurningStiffensAsTheTextbookSays) {
  // Flapping of a uniform beam that turns with its clamped end on the axis; frequencies in units of
  // sqrt(EI / mu L^4) at speeds of 3 and 6 units: Wright et al., J. Applied Mechanics 49 (1982).
  const ModelPtr m = beam(6, 0.0, {0, 0, 0}, "revolute");
  const double unit = std::sqrt(EI_y / mu) / (L * L);
  for (const auto& [speed, flap] : {std::pair{0.0, 3.5160}, {3.0, 4.7973}, {6.0, 7.3604}}) {
    Numbers v(m->nv(), 0.0);
    v[m->joint("hub").v] = speed * unit;
    EXPECT_NEAR(frequencies(m, along_z, v, 1)[0] / unit, flap, 2e-3 * flap) << speed;
  }
}

TEST(ElasticBeamTest, BucklesAtEulersLoad) {
  const ModelPtr m = beam(3);
  const Numbers q = neutral(*m), v(m->nv(), 0.0);
  const double critical = std::numbers::pi * std::numbers::pi * EI_y / (4 * L * L);
  const auto softest = [&](double load) {
    // The load keeps its direction in space while the tip turns: on the mass's centre, by gravity.
    const double mass = 1000.0;
    const ModelPtr loaded = beam(3, mass, {-load / mass, 0, 0});
    return eigenvalues_of_symmetric(stiffness(loaded, q, v))(0);
  };
  // The beam's own weight, 0.4 of 1000 kg, adds about a third of itself at the tip: 1e-4.
  EXPECT_GT(softest(0.998 * critical), 0.0);
  EXPECT_LT(softest(1.002 * critical), 0.0);
}

TEST(ElasticBeamTest, IsARigidRodWhereItDoesNotBend) {
  const ModelPtr m = beam(1, 0.0, {0, 0, 0}, "floating");
  const Eigen::MatrixXd M = mass_matrix(m, neutral(*m)).topLeftCorner(6, 6);
  const double mass = mu * L;
  Eigen::MatrixXd rod = Eigen::MatrixXd::Zero(6, 6);
  rod(0, 0) = mass * (gy * gy + gz * gz) + 1.0;  // and the hub
  rod(1, 1) = mass * (L * L / 3 + gy * gy) + 1.0;
  rod(2, 2) = mass * (L * L / 3 + gz * gz) + 1.0;
  rod(3, 3) = rod(4, 4) = rod(5, 5) = mass + 1.0;
  rod(2, 4) = rod(4, 2) = mass * L / 2, rod(1, 5) = rod(5, 1) = -mass * L / 2;
  EXPECT_LT((M - rod).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(m->mass(), mass + 1.0, 1e-12);
}

TEST(ElasticBeamTest, LargeDeflectionConvergesToTheElastica) {
  // A tip moment of 2 pi EI / L bends a beam into a circle; a quarter of it into a quarter circle.
  const int elements = 16;
  const ModelPtr m = beam(elements);
  Numbers q = neutral(*m), v(m->nv(), 0.0);
  const double slope = std::numbers::pi / 2 / elements, l = L / elements;
  for (int k = 0; k < elements; ++k) q[6 * k] = slope * l / 2, q[6 * k + 1] = slope;
  Wrenches<double> w(m);
  const double moment = EI_z * std::numbers::pi / 2 / L;
  w.add("b15.tip", {{0, 0, moment}, {0, 0, 0}});
  // In balance up to terms of third order of an element's slope of 0.1.
  EXPECT_LT(largest(bias(m, q, v, &w)), 2e-3 * moment);
  const auto kinematics = any<Kinematics<double>>(m);
  kinematics->evaluate(q, v, v);
  const Vec3<double> tip = kinematics->placement(m->link("b15.tip")).r;
  const double radius = L * 2 / std::numbers::pi;
  EXPECT_NEAR(tip.x, radius, 2e-3 * L);
  EXPECT_NEAR(tip.y, radius, 2e-3 * L);
}

TEST(ElasticParametersTest, OutOfRangeIsRefusedByName) {
  const auto error_of = [](const std::string& type, const Parameters& changes) -> std::string {
    try {
      compile(type, changed(type, changes));
    } catch (const InvalidModel& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto expect = [&](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(error_of("elastic_beam", {{"EI_y", {0}}}), "'EI_y' is 0");
  expect(error_of("elastic_beam", {{"length", {-1}}}), "'length' is -1");
  expect(error_of("elastic_beam", {{"damping", {-0.1}}}), "'damping' is -0.1");
  expect(error_of("elastic_beam", {{"gyration_z", {0}}}), "'gyration_z' is 0");
  expect(error_of("elastic_drive", {{"stiffness", {0}}}), "'stiffness' is 0");
  expect(error_of("elastic_drive", {{"ratio", {0}}}), "'ratio' is 0");
  expect(error_of("elastic_drive", {{"damping", {-1}}}), "'damping' is -1");
  expect(error_of("elastic_drive", {{"rotor_inertia", {1e-5, 3e-5, 2e-5, 0, 0, 0}}}),
         "not the same at every angle");
  expect(error_of("elastic_drive", {{"rotor_com", {0.1, 0, 0}}}), "not the same at every angle");
  // A spring between a rotor and nothing.
  expect(error_of("elastic_drive", {{"link_mass", {0}}, {"link_inertia", {0, 0, 0, 0, 0, 0}}}),
         "moves no inertia");
}

}  // namespace
}  // namespace espalier::elastic_test
