#include "benchmarks/suite/generated_robots.hpp"

#include <array>
#include <cstdio>

#include "espalier/espalier.hpp"
#include "espalier/kernel/uniform.hpp"

namespace espalier::bench {

namespace {

template <class... Numbers>
std::string numbers(Numbers... x) {
  std::string text;
  char digits[32];
  const auto add = [&](double number) {
    std::snprintf(digits, sizeof digits, "%.17g", number);
    text += (text.empty() ? "" : " ") + std::string(digits);
  };
  (add(x), ...);
  return text;
}

/// A link of mass m: a box of sides about `size`, a little turned, somewhere near its frame.
std::string link(UniformNumbers& uniform, const std::string& name, double m, double size) {
  const double a = size * size, turned = 0.02 * m * a;
  // Drawn one after the other, so that all compilers write the same robot.
  const std::array<double, 5> u{uniform(), uniform(), uniform(), uniform(), uniform()};
  const std::string at = numbers(0.2 * size * u[0], 0.2 * size * u[1], 0.4 * size);
  const auto attribute = [](const char* name_of, double x) {
    return std::string(" ") + name_of + "=\"" + numbers(x) + "\"";
  };
  return "<link name=\"" + name + "\"><inertial><origin xyz=\"" + at + "\"/><mass value=\"" +
         numbers(m) + "\"/><inertia" + attribute("ixx", m * a * 0.10) +
         attribute("iyy", m * a * 0.09) + attribute("izz", m * a * 0.05) +
         attribute("ixy", turned * u[2]) + attribute("ixz", turned * u[3]) +
         attribute("iyz", turned * u[4]) + "/></inertial></link>\n";
}
std::string joint(const std::string& name, const std::string& type, const std::string& parent,
                  const std::string& child, const std::string& xyz, const std::string& rpy,
                  const std::string& axis) {
  return "<joint name=\"" + name + "\" type=\"" + type + "\"><parent link=\"" + parent +
         "\"/><child link=\"" + child + "\"/><origin xyz=\"" + xyz + "\" rpy=\"" + rpy +
         "\"/><axis xyz=\"" + axis +
         "\"/><limit lower=\"-1.5\" upper=\"1.5\" effort=\"10\" velocity=\"5\"/></joint>\n";
}

}  // namespace

std::string general_arm_urdf() {
  struct Frame {
    double x, y, z, roll;
  };
  constexpr std::array<Frame, 7> frames{{{0, 0, 0.15643, 3.1416},
                                         {0, 0.005375, -0.12838, 1.5708},
                                         {0, -0.21038, -0.006375, -1.5708},
                                         {0, 0.006375, -0.21038, 1.5708},
                                         {0, -0.20843, -0.006375, -1.5708},
                                         {0, 0.00017505, -0.10593, 1.5708},
                                         {0, -0.10593, -0.00017505, -1.5708}}};
  UniformNumbers uniform(5);
  std::string urdf = "<robot name=\"general_arm\">\n<link name=\"base\"/>\n", parent = "base";
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::string name = "link_" + std::to_string(i + 1);
    const Frame& f = frames[i];
    urdf += link(uniform, name, 1.3 - 0.1 * static_cast<double>(i), 0.2);
    urdf += joint("joint_" + std::to_string(i + 1), "continuous", parent, name,
                  numbers(f.x, f.y, f.z), numbers(f.roll, 0.0, 0.0), "0 0 1");
    parent = name;
  }
  return urdf + "</robot>\n";
}

std::string quadrotor_urdf() {
  UniformNumbers uniform(3);
  return "<robot name=\"quadrotor\">\n" + link(uniform, "frame", 1.2, 0.3) + "</robot>\n";
}

std::string with_hands(std::string urdf, const std::string& left, const std::string& right) {
  UniformNumbers uniform(9);
  std::string hands;
  for (const std::string& hand : {left, right}) {
    if (urdf.find("<link name=\"" + hand + "\"") == std::string::npos) {
      throw InvalidModel("URDF: link '" + hand + "' is missing, expected one to put a hand on");
    }
    for (int finger = 0; finger < 5; ++finger) {
      const std::array<double, 5> u{uniform(), uniform(), uniform(), uniform(), uniform()};
      std::string parent = hand;
      for (int k = 0; k < (finger == 0 ? 3 : 4); ++k) {
        const std::string name =
            hand + "_finger_" + std::to_string(finger) + "_" + std::to_string(k);
        hands += link(uniform, name, 0.05, 0.03);
        const std::string xyz =
            k == 0 ? numbers(0.04 * u[0], 0.04 * u[1], 0.08) : numbers(0.0, 0.0, 0.04);
        const std::string rpy = k == 0 ? numbers(u[2], u[3], u[4]) : numbers(0.0, 0.0, 0.0);
        hands +=
            joint("joint_" + name, "revolute", parent, name, xyz, rpy, k == 0 ? "1 0 0" : "0 1 0");
        parent = name;
      }
    }
  }
  const std::size_t end = urdf.rfind("</robot>");
  if (end == std::string::npos) {
    throw InvalidModel("URDF: text is no robot, expected an element <robot>");
  }
  return urdf.insert(end, hands);
}

}  // namespace espalier::bench
