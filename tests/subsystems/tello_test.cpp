#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/subsystems/bench.hpp"

/// Tello's differentials against an independent program for docs/theory/tello.md.

namespace espalier::tello_test {
namespace {

using namespace test;
using Json = nlohmann::json;

/// Numbers have 16 digits; K_dep has condition numbers below 100.
constexpr double tolerance = 1e-12;

TEST(TelloLawsTest, PhiKAndLittleKAreThoseOfTheReference) {
  const Json file =
      Json::parse(std::ifstream(ESPALIER_SOURCE_DIR "/tests/reference/tello_laws.json"));
  for (const std::string type : {"tello_hip", "tello_knee_ankle"}) {
    const auto law = make_law(type, {});
    std::vector<double> terms(law->terms());
    ASSERT_GE(file[type].size(), 5u);
    for (const Json& s : file[type]) {
      const std::vector<double> q = s["q"], qd = s["qd"];
      double phi[2], K[8], k[2];
      law->phi(q.data(), phi);
      law->jacobian(q.data(), K, terms.data());
      law->bias(q.data(), qd.data(), terms.data(), k);
      for (int i = 0; i < 2; ++i) {
        EXPECT_NEAR(phi[i], s["phi"][i].get<double>(), tolerance) << type;
        EXPECT_NEAR(k[i], s["k"][i].get<double>(), tolerance) << type;
        for (int j = 0; j < 4; ++j) {
          EXPECT_NEAR(K[4 * i + j], s["K"][i][j].get<double>(), tolerance) << type;
        }
      }
    }
  }
}

#ifdef ESPALIER_SHARED_DIR
// Extras: what generalized_rbda computed for the same equations and bodies.

class TelloVectorsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    vectors_ = Json::parse(std::ifstream(ESPALIER_SHARED_DIR "/vectors/loop_cpp_TelloFixed.json"));
  }

  struct Differential {
    std::string law, cluster;
    std::vector<std::string> joints;
    std::vector<std::string> own;  ///< names of the same joints in the sub-mechanism
  };
  static std::vector<Differential> differentials() {
    std::vector<Differential> all;
    for (const std::string side : {"left", "right"}) {
      all.push_back(
          {"tello_hip",
           side + "-hip-differential",
           {side + "-hip-rotor-1", side + "-hip-rotor-2", side + "-gimbal", side + "-thigh"},
           {"rotor1", "rotor2", "gimbal", "thigh"}});
      all.push_back({"tello_knee_ankle",
                     side + "-knee-ankle-differential",
                     {side + "-knee-ankle-rotor-1", side + "-knee-ankle-rotor-2", side + "-shin",
                      side + "-foot"},
                     {"rotor1", "rotor2", "shin", "foot"}});
    }
    return all;
  }
  const Json& cluster(const std::string& name) const {
    for (const Json& c : vectors_["clusters"]) {
      if (c["name"] == name) return c;
    }
    throw std::runtime_error("no cluster " + name);
  }
  const Json& body(const std::string& name) const {
    for (const Json& b : vectors_["bodies"]) {
      if (b["name"] == name) return b;
    }
    throw std::runtime_error("no body " + name);
  }
  Json vectors_;
};

TEST_F(TelloVectorsTest, PhiKAndLittleKAreThoseOfTheVectors) {
  for (const Differential& d : differentials()) {
    const auto law = make_law(d.law, {});
    std::vector<double> terms(law->terms());
    for (const Json& state : vectors_["states"]) {
      const Json& expected = state["constraints"][cluster(d.cluster)["index"].get<int>()];
      double q[4], qd[4], phi[2], K[8], k[2];
      for (int i = 0; i < 4; ++i) {
        q[i] = state["spanning_position"]["joint_of:" + d.joints[i]][0];
        qd[i] = state["spanning_velocity"]["joint_of:" + d.joints[i]][0];
      }
      law->phi(q, phi);
      law->jacobian(q, K, terms.data());
      law->bias(q, qd, terms.data(), k);
      for (int i = 0; i < 2; ++i) {
        EXPECT_NEAR(phi[i], expected["phi"][i].get<double>(), 1e-15);
        EXPECT_NEAR(k[i], expected["k"][i].get<double>(), tolerance);
        for (int j = 0; j < 4; ++j) {
          EXPECT_NEAR(K[4 * i + j], expected["K"][i][j].get<double>(), tolerance);
        }
      }
    }
  }
}

TEST_F(TelloVectorsTest, GAndLittleGAreThoseOfTheVectors) {
  for (const Differential& d : differentials()) {
    const ModelPtr m = compile(d.law, {});
    ASSERT_EQ(m->nv(), 2);
    const int first = m->joint("rotor1").independent, second = m->joint("rotor2").independent;
    ASSERT_GE(first, 0);
    ASSERT_GE(second, 0);
    SpanningMotion<double> motion(*m);
    for (const Json& state : vectors_["states"]) {
      const Json& expected = state["constraints"][cluster(d.cluster)["index"].get<int>()];
      std::vector<double> q(4), v(2);
      for (int i = 0; i < 4; ++i) {
        q[m->joint(d.own[i]).q] = state["spanning_position"]["joint_of:" + d.joints[i]][0];
      }
      v[first] = state["spanning_velocity"]["joint_of:" + d.joints[0]][0];
      v[second] = state["spanning_velocity"]["joint_of:" + d.joints[1]][0];
      motion.update(q.data(), v.data());
      for (int i = 0; i < 4; ++i) {
        const int rate = m->joint(d.own[i]).v;
        EXPECT_NEAR(motion.g()[rate], expected["g"][i].get<double>(), tolerance) << d.own[i];
        const double qd = state["spanning_velocity"]["joint_of:" + d.joints[i]][0];
        EXPECT_NEAR(motion.qd()[rate], qd, tolerance) << d.own[i];
        for (const auto& [column, index] : {std::pair{0, first}, {1, second}}) {
          std::vector<double> unit(2, 0.0), out(m->spanning_nv());
          unit[index] = 1.0;
          motion.expand(unit.data(), out.data());
          EXPECT_NEAR(out[rate], expected["G"][i][column].get<double>(), tolerance) << d.own[i];
        }
      }
    }
  }
}

TEST_F(TelloVectorsTest, KneeAnkleClosesInClosedFormWhereTheVectorsDo) {
  const auto law = make_law("tello_knee_ankle", {});
  for (const Differential& d : differentials()) {
    if (d.law != "tello_knee_ankle") continue;
    for (const Json& state : vectors_["states"]) {
      double q[4], expected[4];
      for (int i = 0; i < 4; ++i) {
        q[i] = expected[i] = state["spanning_position"]["joint_of:" + d.joints[i]][0];
      }
      q[2] = q[3] = 0.0;
      ASSERT_TRUE(law->solve(q, 0));
      EXPECT_NEAR(q[2], expected[2], tolerance);
      EXPECT_NEAR(q[3], expected[3], tolerance);
    }
  }
}

TEST_F(TelloVectorsTest, BodiesAndFramesAreThoseOfTheVectors) {
  for (const Differential& d : differentials()) {
    const Assembly a = mechanism(d.law).assemble(spec_of("leg", {}));
    for (int i = 0; i < 4; ++i) {
      const Json& expected = body(d.joints[i]);
      const auto named = [&](const auto& x) { return x.name == d.own[i]; };
      const auto& link = *std::find_if(a.parts.links.begin(), a.parts.links.end(), named);
      const auto& joint = *std::find_if(a.parts.joints.begin(), a.parts.joints.end(), named);
      const Transform<double> X = joint.origin.transform();
      const RigidInertia<double> I = link.inertial->about_link();
      EXPECT_NEAR(I.m, expected["spatial_inertia"][3][3].get<double>(), tolerance);
      const double rotational[3][3] = {
          {I.I.xx, I.I.xy, I.I.xz}, {I.I.xy, I.I.yy, I.I.yz}, {I.I.xz, I.I.yz, I.I.zz}};
      const double first[3] = {I.h.x, I.h.y, I.h.z};
      EXPECT_NEAR(expected["spatial_inertia"][2][4].get<double>(), first[0], tolerance);
      EXPECT_NEAR(expected["spatial_inertia"][0][5].get<double>(), first[1], tolerance);
      EXPECT_NEAR(expected["spatial_inertia"][1][3].get<double>(), first[2], tolerance);
      for (int r = 0; r < 3; ++r) {
        EXPECT_NEAR(X.r[r], expected["tree_r"][r].get<double>(), tolerance);
        EXPECT_EQ(joint.axis[r], expected["S"][r].get<double>());
        for (int c = 0; c < 3; ++c) {
          EXPECT_NEAR(X.E.row[r][c], expected["tree_E"][r][c].get<double>(), tolerance);
          EXPECT_NEAR(rotational[r][c], expected["spatial_inertia"][r][c].get<double>(), tolerance);
        }
      }
    }
  }
}

#endif  // ESPALIER_SHARED_DIR

}  // namespace
}  // namespace espalier::tello_test
