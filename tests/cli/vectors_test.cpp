#include <cmath>
#include <functional>
#include <optional>

#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "tests/cli/run.hpp"
#include "tests/support/host.hpp"

/// Results that Pinocchio computed (../shared/vectors, an extra where that folder is), reproduced
/// through the command line. Conventions: those that each file states; its motion and force vectors
/// are linear first.

#ifdef ESPALIER_SHARED_DIR
namespace espalier::test::vectors_test {
namespace {

/// Relative to the largest number of a vector: what the issue asks for. Both sides compute in
/// double; the differences seen on these robots are below 1e-13.
constexpr double tolerance = 1e-9;

const std::string shared = ESPALIER_SHARED_DIR;

using Vector = std::vector<double>;

/// A reference file and the state files that say the same to Espalier.
class Reference {
 public:
  explicit Reference(const std::string& name)
      : json_(Json::parse(contents(shared + "/vectors/" + name + ".json"))) {
    Json independent = Json::array();
    for (const Json& j : json_["joints"]) {
      if (!j.contains("mimic")) independent.push_back(j);
    }
    json_["joints"] = independent;
  }

  std::string path() const { return shared + "/robots/" + json_["urdf"].get<std::string>(); }
  std::string robot() const { return "'" + path() + "'"; }
  const Json& states() const { return json_["states"]; }

  /// A vector over Pinocchio's rates, by joint name and angular first.
  Json by_joint(const Json& x) const {
    Json out = Json::object();
    for (const Json& j : json_["joints"]) {
      const int start = j["idx_v"], size = j["nv"];
      if (size == 1) {
        out[j["name"].get<std::string>()] = x[start];
      } else {
        Vector list;
        for (int k = 0; k < size; ++k) list.push_back(x[start + swapped(size, k)]);
        out[j["name"].get<std::string>()] = list;
      }
    }
    return out;
  }

  std::string state(const Json& s) const {
    Json q = Json::object();
    for (const Json& j : json_["joints"]) {
      const int start = j["idx_q"], size = j["nq"];
      Json& x = q[j["name"].get<std::string>()];
      if (size == 1) {
        x = s["q"][start];
      } else {
        for (int k = 0; k < size; ++k) x.push_back(s["q"][start + k]);
      }
    }
    const Json out{{"q", q},
                   {"v", by_joint(s["v"])},
                   {"tau", by_joint(s["tau"])},
                   {"vdot", by_joint(s["a"])},
                   {"gravity", json_["gravity"]},
                   {"end_effectors",
                    {{{"link", end_effector(0)}, {"rows", "6d"}},
                     {{"link", end_effector(1)}, {"rows", "6d"}}}}};
    return out.dump();
  }

  /// Where Espalier's rate k stands in Pinocchio's order.
  std::vector<int> order(const Json& coordinates) const {
    std::vector<int> out;
    for (const Json& c : coordinates) {
      for (const Json& j : json_["joints"]) {
        if (j["name"] != c["joint"]) continue;
        const int start = j["idx_v"], size = j["nv"];
        EXPECT_EQ(c["start"].get<std::size_t>(), out.size());
        EXPECT_EQ(c["size"], j["nv"]);
        for (int k = 0; k < size; ++k) out.push_back(start + swapped(size, k));
      }
    }
    EXPECT_EQ(out.size(), json_["nv"].get<std::size_t>());
    return out;
  }

  std::string end_effector(int k) const { return json_["end_effectors"][k]; }

 private:
  /// Six components change from angular first to linear first.
  static int swapped(int size, int k) { return size == 6 ? (k + 3) % 6 : k; }

  Json json_;
};

void flatten(const Json& x, Vector& out) {
  if (x.is_structured()) {
    for (const Json& item : x) flatten(item, out);
  } else {
    out.push_back(x.get<double>());
  }
}

/// Expects two documents of the same shape to have the same numbers.
void expect_near(const Json& got, const Json& wanted, const std::string& what) {
  Vector a, b;
  flatten(got, a);
  if (wanted.is_object()) {  // by name: the order is the reader's
    for (const auto& item : got.items()) {
      ASSERT_TRUE(wanted.contains(item.key())) << what << " of " << item.key();
      flatten(wanted[item.key()], b);
    }
    EXPECT_EQ(got.size(), wanted.size()) << what;
  } else {
    flatten(wanted, b);
  }
  ASSERT_EQ(a.size(), b.size()) << what;
  ASSERT_FALSE(a.empty()) << what;
  double size = 1.0, difference = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    size = std::max(size, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  EXPECT_LE(difference, tolerance * size) << what;
}

/// Runs the algorithm on every state and hands the answers to `check`.
void for_each_state(const Reference& reference, const std::string& options,
                    const std::function<void(const Json& answer, const Json& state)>& check) {
  for (const Json& s : reference.states()) {
    const Answer a =
        run("eval " + reference.robot() + " " + options + " --state - --json", reference.state(s));
    ASSERT_EQ(a.code, 0) << options << "\n" << a.err;
    check(a.json(), s);
  }
}

void check_mass_matrix(const Reference& reference, const Json& answer, const Json& M) {
  const std::vector<int> order = reference.order(answer["coordinates"]);
  Json wanted = Json::array();
  for (const int i : order) {
    Json row = Json::array();
    for (const int j : order) row.push_back(M[i][j]);
    wanted.push_back(std::move(row));
  }
  expect_near(answer["mass_matrix"], wanted, "mass_matrix");
}

Json angular_first(const Json& x) { return {x[3], x[4], x[5], x[0], x[1], x[2]}; }

class TreeVectors : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    reference_.emplace(GetParam());
    const bool mimic = std::string(GetParam()).starts_with("mimic_");
    mimic_ = mimic ? " --mimic honour" : " --mimic ignore";
    forward_ = {"c-aba", "c-aba-stacked", "projection", "lagrange-multiplier", "kkt", "dense"};
    inverse_ = {"c-rnea", "projected-rnea", "dense"};
    bias_ = {"c-rnea", "dense"};
    inertia_ = {"c-crba", "dense"};
    if (mimic) return;
    forward_.insert(forward_.end(), {"aba", "crba-ltl"});
    inverse_.push_back("rnea");
    bias_.push_back("rnea");
    inertia_.push_back("crba");
  }
  std::optional<Reference> reference_;
  std::string mimic_;
  std::vector<std::string> forward_, inverse_, bias_, inertia_;
};

TEST_P(TreeVectors, ForwardDynamics) {
  for (const std::string& name : forward_) {
    for_each_state(*reference_, "--algorithm " + name + mimic_ + " --problem forward-dynamics",
                   [&](const Json& answer, const Json& s) {
                     const Json& qdd = s.contains("aba_qdd") ? s["aba_qdd"] : s["qdd"];
                     expect_near(answer["vdot"], reference_->by_joint(qdd), name);
                   });
  }
}

TEST_P(TreeVectors, InverseDynamicsAndBias) {
  for (const std::string& name : inverse_) {
    for_each_state(*reference_, "--algorithm " + name + mimic_ + " --problem inverse-dynamics",
                   [&](const Json& answer, const Json& s) {
                     expect_near(answer["tau"], reference_->by_joint(s["rnea_tau"]), name);
                   });
  }
  for (const std::string& name : bias_) {
    for_each_state(*reference_, "--algorithm " + name + mimic_ + " --problem bias-force",
                   [&](const Json& answer, const Json& s) {
                     expect_near(answer["bias"], reference_->by_joint(s["nle"]), name + " bias");
                   });
  }
}

TEST_P(TreeVectors, MassMatrix) {
  for (const std::string& name : inertia_) {
    for_each_state(
        *reference_, "--algorithm " + name + mimic_ + " --problem mass-matrix",
        [&](const Json& answer, const Json& s) { check_mass_matrix(*reference_, answer, s["M"]); });
  }
}

TEST_P(TreeVectors, KinematicsOfEndEffectors) {
  for_each_state(
      *reference_, "--algorithm forward-kinematics" + mimic_,
      [&](const Json& answer, const Json& s) {
        for (int k = 0; k < 2; ++k) {
          const std::string ee = "ee" + std::to_string(k + 1);
          const Json& link = answer["links"][reference_->end_effector(k)];
          expect_near(link["position"], s[ee + "_translation"], ee + " position");
          expect_near(link["velocity"], angular_first(s[ee + "_velocity"]), ee + " velocity");
          // The link's axes in the world from its quaternion.
          const double x = link["quaternion"][0], y = link["quaternion"][1],
                       z = link["quaternion"][2], w = link["quaternion"][3];
          const Json R{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                       {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                       {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
          expect_near(R, s[ee + "_rotation"], ee + " rotation");
        }
      });
}

TEST_P(TreeVectors, BiasAccelerationOfEndEffectors) {
  for (Json s : reference_->states()) {
    s["a"] = Json(Vector(s["a"].size(), 0.0));
    const Answer a = run("eval " + reference_->robot() + " --algorithm forward-kinematics" +
                             mimic_ + " --state - --json",
                         reference_->state(s));
    ASSERT_EQ(a.code, 0) << a.err;
    const Json answer = a.json();
    for (int k = 0; k < 2; ++k) {
      const std::string ee = "ee" + std::to_string(k + 1);
      expect_near(answer["links"][reference_->end_effector(k)]["acceleration"],
                  angular_first(s[ee + "_bias_acceleration"]), ee + " bias acceleration");
    }
  }
}

TEST_P(TreeVectors, JacobiansOfEndEffectors) {
  for_each_state(*reference_, "--algorithm body-jacobians" + mimic_,
                 [&](const Json& answer, const Json& s) {
                   const std::vector<int> order = reference_->order(answer["coordinates"]);
                   for (int k = 0; k < 2; ++k) {
                     const Json& J = s["ee" + std::to_string(k + 1) + "_J"];
                     Json wanted = Json::array();
                     for (int i = 0; i < 6; ++i) {
                       Json row = Json::array();
                       for (const int j : order) row.push_back(J[(i + 3) % 6][j]);
                       wanted.push_back(std::move(row));
                     }
                     expect_near(answer["jacobians"][reference_->end_effector(k)], wanted, "J");
                   }
                 });
}

TEST_P(TreeVectors, InverseOsimOfEndEffectors) {
  const bool tree = std::string(GetParam()).starts_with("tree_");
  CompileOptions options;
  if (tree) options.mimic = CompileOptions::MimicRule::ignore;
  const espalier::Setup setup{host().load(reference_->path(), options),
                              {EndEffector::weld(reference_->end_effector(0)),
                               EndEffector::weld(reference_->end_effector(1))}};
  const auto all = every<InverseOsim<double>>(setup);
  EXPECT_GE(all.size(), tree ? 11u : 6u);
  for (const auto& [name, algorithm] : all) {
    const auto check = [&, &name = name](const Json& answer, const Json& s) {
      const auto linear_first = [](int i) { return i / 6 * 6 + (i + 3) % 6; };
      Json wanted = Json::array();
      for (int i = 0; i < 12; ++i) {
        Json row = Json::array();
        for (int j = 0; j < 12; ++j) {
          row.push_back(s["Lambda_inv"][linear_first(i)][linear_first(j)]);
        }
        wanted.push_back(std::move(row));
      }
      expect_near(answer["inverse_osim"], wanted, name);
    };
    for_each_state(*reference_, "--algorithm " + name + mimic_ + " --problem inverse-osim", check);
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, TreeVectors,
                         testing::Values("tree_panda", "tree_chain16",
                                         "tree_mini_cheetah_approximate", "mimic_panda_mimic"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace espalier::test::vectors_test
#endif  // ESPALIER_SHARED_DIR
