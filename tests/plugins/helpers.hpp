#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "espalier/host/espalier.hpp"
#include "espalier/kernel/model/description.hpp"
#include "tests/support/contents.hpp"
#include "tests/support/environment_variable.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::test {

/// File of a plugin of tests/plugins: "good_joint", "bad_throws_int", ...
inline std::string plugin_file(const std::string& name) {
  return (std::filesystem::canonical(ESPALIER_TEST_PLUGIN_DIR) / ("test_" + name + ".so")).string();
}

/// What an error of type E says that `action` throws.
template <class E, class F>
std::string error_of(F&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another type of error: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

/// Kind, name and origin of all entries.
inline std::vector<std::string> inventory(const Registry& registry) {
  std::vector<std::string> result;
  for (const Kind kind : {Kind::joint, Kind::sub_mechanism, Kind::format, Kind::algorithm,
                          Kind::integrator, Kind::qp_solver, Kind::pack_code}) {
    for (const Entry* e : registry.entries(kind)) {
      result.push_back(std::string(to_string(kind)) + " " + e->problem + " " + e->about.name +
                       " of " + e->origin);
    }
  }
  return result;
}

/// A link of 1 kg at its origin.
inline LinkDescription solid(const std::string& name) {
  LinkDescription link;
  link.name = name;
  link.inertial = Inertial{{}, 1.0, Sym3<double>{0.1, 0, 0, 0.1, 0, 0.1}};
  return link;
}

/// Links "l0" (the root) to "l<n>", joined in a chain by joints "j1" to "j<n>" of the given type.
inline Description chain(int n, const std::string& joint_type) {
  Description robot;
  robot.name = "chain";
  for (int i = 0; i <= n; ++i) {
    robot.links.push_back(solid("l" + std::to_string(i)));
    if (i == 0) continue;
    JointDescription joint;
    joint.name = "j" + std::to_string(i);
    joint.type = joint_type;
    joint.parent = "l" + std::to_string(i - 1);
    joint.child = "l" + std::to_string(i);
    robot.joints.push_back(joint);
  }
  return robot;
}

}  // namespace espalier::test
