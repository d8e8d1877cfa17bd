#include "benchmarks/chain.hpp"

#include <cstdio>

#include "espalier/kernel/uniform.hpp"

namespace espalier::bench {

namespace {

/// With all digits that a double has.
std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

std::string triple(double x, double y, double z) {
  return number(x) + " " + number(y) + " " + number(z);
}

/// Inertia of mass points: a tensor that every library accepts, whatever the points are.
class PointCloud {
 public:
  void add(double m, double x, double y, double z) {
    xx_ += m * (y * y + z * z), yy_ += m * (x * x + z * z), zz_ += m * (x * x + y * y);
    xy_ -= m * x * y, xz_ -= m * x * z, yz_ -= m * y * z;
  }
  std::string element() const {
    return "<inertia ixx=\"" + number(xx_) + "\" ixy=\"" + number(xy_) + "\" ixz=\"" + number(xz_) +
           "\" iyy=\"" + number(yy_) + "\" iyz=\"" + number(yz_) + "\" izz=\"" + number(zz_) +
           "\"/>";
  }

 private:
  double xx_ = 0, xy_ = 0, xz_ = 0, yy_ = 0, yz_ = 0, zz_ = 0;
};

}  // namespace

std::string chain_urdf(int bodies, int branches) {
  UniformNumbers uniform(7);
  static const char* const axes[] = {"1 0 0", "0 1 0", "0 0 1"};

  std::string urdf =
      "<robot name=\"chain_" + std::to_string(bodies) + "\">\n<link name=\"base\"/>\n";
  for (int i = 1; i <= bodies; ++i) {
    const std::string name = "link_" + std::to_string(i);
    const int above = (i - 1) / branches;
    const std::string parent = above == 0 ? "base" : "link_" + std::to_string(above);
    const double mass = 1.5 + 0.5 * uniform();
    PointCloud cloud;
    for (int k = 0; k < 6; ++k) {
      const double x = 0.1 * uniform(), y = 0.1 * uniform(), z = 0.1 * uniform();
      cloud.add(mass / 6, x, y, z);
    }
    const double x = 0.05 * uniform(), y = 0.05 * uniform(), z = 0.1 + 0.05 * uniform();
    urdf += "<link name=\"" + name + "\"><inertial><origin xyz=\"" + triple(x, y, z) +
            "\"/><mass value=\"" + number(mass) + "\"/>" + cloud.element() + "</inertial></link>\n";
    const double jx = 0.05 * uniform(), jy = 0.05 * uniform();
    const double roll = uniform(), pitch = uniform(), yaw = uniform();
    urdf += "<joint name=\"joint_" + std::to_string(i) + "\" type=\"revolute\"><parent link=\"" +
            parent + "\"/><child link=\"" + name + "\"/><origin xyz=\"" + triple(jx, jy, 0.2) +
            "\" rpy=\"" + triple(roll, pitch, yaw) + "\"/><axis xyz=\"" + axes[i % 3] +
            "\"/><limit lower=\"-3\" upper=\"3\" effort=\"100\" velocity=\"10\"/></joint>\n";
  }
  return urdf + "</robot>\n";
}

}  // namespace espalier::bench
