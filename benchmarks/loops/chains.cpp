#include "benchmarks/loops/chains.hpp"

#include <cstdio>
#include <vector>

#include "espalier/kernel/uniform.hpp"

namespace espalier::bench {

namespace {

class Text {
 public:
  explicit Text(unsigned seed) : numbers_(seed) {}

  double uniform(double low, double high) { return numbers_.between(low, high); }
  /// A flow sequence, numbers with all digits that a double has.
  static std::string list(const std::vector<double>& numbers) {
    std::string text = "[";
    for (const double x : numbers) {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%.17g", x);
      text += (text.size() > 1 ? ", " : "") + std::string(digits);
    }
    return text + "]";
  }
  static std::string number(double x) {
    const std::string text = list({x});
    return text.substr(1, text.size() - 2);
  }
  std::string vector(double size) {
    const double x = uniform(-size, size), y = uniform(-size, size);
    return list({x, y, uniform(-size, size)});
  }

  /// connect: the base of a unit in the link before it.
  std::string connect(const std::string& to, double x) {
    const std::string offset = list({x, uniform(-0.03, 0.03), 0.1 + uniform(0.0, 0.1)});
    return "    connect: {base: {to: " + to + ", xyz: " + offset + ", rpy: " + vector(0.8) + "}}\n";
  }
  /// mass, com and inertia of a box of random sides, about axes that are a little turned.
  std::string link(const std::string& name) {
    const double m = uniform(0.8, 2.0);
    const double a = uniform(0.01, 0.04), b = uniform(0.01, 0.04), c = uniform(0.01, 0.04);
    // A twentieth of the least side square keeps the density positive.
    const double xy = uniform(-5e-4, 5e-4), xz = uniform(-5e-4, 5e-4), yz = uniform(-5e-4, 5e-4);
    const std::vector<double> inertia{m / 12 * (b + c), m / 12 * (a + c), m / 12 * (a + b),
                                      m / 12 * xy,      m / 12 * xz,      m / 12 * yz};
    return "      " + name + "_mass: " + number(m) + "\n      " + name + "_com: " + vector(0.06) +
           "\n      " + name + "_inertia: " + list(inertia) + "\n";
  }
  /// A rotor that is symmetric about an axis: 0, 1, 2 for x, y, z.
  std::string rotor(const std::string& name, int axis) {
    const double m = uniform(0.05, 0.1);
    std::vector<double> inertia(6, 0.0);
    for (int i = 0; i < 3; ++i) inertia[i] = i == axis ? m * 1e-3 : m * 6e-4;
    return "      " + name + "_xyz: " + vector(0.05) + "\n      " + name + "_mass: " + number(m) +
           "\n      " + name + "_inertia: " + list(inertia) + "\n";
  }
  static std::string axis(int i) {
    std::vector<double> direction(3, 0.0);
    direction[i] = 1.0;
    return "      axis: " + list(direction) + "\n";
  }

  std::string geared_joint(const std::string& name, const std::string& to, int about) {
    return "  " + name + ":\n    type: geared_joint\n" + connect(to, 0.0) +
           "    parameters:\n      ratio: " + number(uniform(5.0, 9.0)) + "\n" + axis(about) +
           link("link") + rotor("rotor", about);
  }

 private:
  UniformNumbers numbers_;
};

std::string head(const std::string& name, int number) {
  return "espalier: 1\nname: " + name + "_" + std::to_string(number) +
         "\nlinks: {base: {}}\nsubsystems:\n";
}

}  // namespace

std::string geared_chain_yaml(int links) {
  Text text(21);
  std::string yaml = head("geared_chain", links), before = "base";
  for (int i = 1; i <= links; ++i) {
    const std::string name = "link_" + std::to_string(i);
    yaml += text.geared_joint(name, before, i % 3);
    before = name + ".link";
  }
  return yaml;
}

std::string belt_chain_yaml(int links) {
  Text text(22);
  std::string yaml = head("belt_chain", links), before = "base";
  for (int i = 1; i <= links / 2; ++i) {
    const std::string name = "pair_" + std::to_string(i);
    const int about = i % 3;
    const double gear1 = text.uniform(5.0, 9.0), gear2 = text.uniform(5.0, 9.0);
    const double b1 = text.uniform(1.0, 2.5), b21 = text.uniform(1.0, 2.5);
    yaml += "  " + name + ":\n    type: belt_pair\n" + text.connect(before, 0.0) +
            "    parameters:\n      gear_ratios: " + Text::list({gear1, gear2}) +
            "\n      belt_products: " + Text::list({b1, b21, text.uniform(1.0, 2.5)}) + "\n" +
            Text::axis(about) + "      link2_xyz: " + Text::list({0, 0, -0.2}) + "\n" +
            text.link("link1") + text.link("link2") + text.rotor("rotor1", about) +
            text.rotor("rotor2", about);
    before = name + ".link2";
  }
  if (links % 2 == 1) yaml += text.geared_joint("last", before, 0);
  return yaml;
}

std::string four_bar_chain_yaml(int four_bars) {
  Text text(23);
  std::string yaml = head("four_bar_chain", four_bars), before = "base";
  for (int i = 1; i <= four_bars; ++i) {
    const std::string name = "bar_" + std::to_string(i);
    yaml += "  " + name + ":\n    type: four_bar\n" +
            text.connect(before, i == 1 ? 0.0 : four_bar_coupler) +
            "    parameters:\n      crank: " + Text::number(four_bar_crank) +
            "\n      coupler: " + Text::number(four_bar_coupler) +
            "\n      rocker: " + Text::number(four_bar_rocker) +
            "\n      pivot: " + Text::list({0.22, 0.03}) +
            "\n      angle: " + Text::number(text.uniform(0.8, 1.6)) + "\n" + text.link("crank") +
            text.link("coupler") + text.link("rocker");
    before = name + ".coupler";
  }
  return yaml;
}

}  // namespace espalier::bench
