#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "espalier/host/espalier.hpp"
#include "espalier/kernel/model/joint.hpp"

/// A run of joints of one registered type on the test bench: random axes, parameters and
/// placements, and the JointRun's functions on vectors.

namespace espalier::test {

/// All plugins of the build, and those on ESPALIER_PLUGIN_PATH: so are an author's own joints held
/// to the same tests.
inline const Registry& registry() {
  static const Host host(Host::Options{{ESPALIER_PLUGIN_DIR}, true});
  return host.registry();
}

class Random {
 public:
  explicit Random(unsigned seed) : generator_(seed) {}

  double uniform(double low = -1.0, double high = 1.0) {
    return std::uniform_real_distribution<double>(low, high)(generator_);
  }
  std::vector<double> vector(int n, double size = 1.0) {
    std::vector<double> v(n);
    for (double& x : v) x = uniform(-size, size);
    return v;
  }
  Vec3<double> direction() {
    for (;;) {
      const Vec3<double> d{uniform(), uniform(), uniform()};
      const double length = std::sqrt(dot(d, d));
      if (length > 0.1 && length < 1.0) return scale(1.0 / length, d);
    }
  }
  Transform<double> transform() {
    return {rpy_to_E({uniform(-3, 3), uniform(-1.5, 1.5), uniform(-3, 3)}),
            {uniform(), uniform(), uniform()}};
  }

 private:
  std::mt19937 generator_;
};

/// A joint with a random axis. Parameters are the type's sample or, where it has none, directions
/// if their name begins with "axis" and else positive numbers.
inline JointSpec random_spec(const JointType& type, Random& random) {
  JointSpec spec;
  spec.name = "under test";
  spec.axis = random.direction();
  spec.parameters = type.sample();
  for (const std::string_view name : type.parameter_names()) {
    if (!type.sample().empty()) break;
    const Vec3<double> d = random.direction();
    spec.parameters[std::string(name)] = name.starts_with("axis")
                                             ? std::vector<double>{d.x, d.y, d.z}
                                             : std::vector<double>{random.uniform(0.1, 1.0)};
  }
  return spec;
}

inline Eigen::Matrix3d matrix(const Mat3<double>& m) {
  Eigen::Matrix3d out;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out(i, j) = m(i, j);
  return out;
}
inline Eigen::Vector3d vector(const Vec3<double>& v) { return {v.x, v.y, v.z}; }

inline double largest_difference(const Transform<double>& a, const Transform<double>& b) {
  return std::max((matrix(a.E) - matrix(b.E)).cwiseAbs().maxCoeff(),
                  (vector(a.r) - vector(b.r)).cwiseAbs().maxCoeff());
}
inline double largest_difference(const Motion<double>& a, const Motion<double>& b) {
  double largest = 0.0;
  for (int i = 0; i < 6; ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}
inline double largest(const std::vector<double>& a) {
  return largest_difference(a, std::vector<double>(a.size(), 0.0));
}

inline std::vector<double> scaled(double s, std::vector<double> v) {
  for (double& x : v) x *= s;
  return v;
}

/// What JointRun::kinematics gives, the columns of constant subspaces filled in.
template <class T>
struct Kinematics {
  std::vector<Transform<T>> X;  ///< per joint
  std::vector<Motion<T>> S;     ///< per rate
  std::vector<Motion<T>> bias;  ///< per joint
};

class JointBench {
 public:
  JointBench(const JointType& type, std::vector<JointSpec> specs,
             std::vector<Transform<double>> placements)
      : type_(type),
        specs_(std::move(specs)),
        placements_(std::move(placements)),
        run_(type.make_run(specs_, placements_)) {}

  /// `count` joints with random axes, parameters and placements.
  static JointBench random(const JointType& type, int count, Random& random) {
    std::vector<JointSpec> specs;
    std::vector<Transform<double>> placements;
    for (int k = 0; k < count; ++k) {
      specs.push_back(random_spec(type, random));
      placements.push_back(random.transform());
    }
    return {type, std::move(specs), std::move(placements)};
  }
  /// One joint whose frame is the parent's, as the model compiler places it.
  static JointBench at_origin(const JointType& type, const JointSpec& spec) {
    return {type, {spec}, {Transform<double>{type.alignment(spec), {0, 0, 0}}}};
  }

  int count() const { return static_cast<int>(specs_.size()); }
  int nq() const { return type_.nq() * count(); }
  int nv() const { return type_.nv() * count(); }
  const std::vector<JointSpec>& specs() const { return specs_; }
  const std::vector<Transform<double>>& placements() const { return placements_; }

  template <class T>
  Kinematics<T> kinematics(const std::vector<T>& q, const std::vector<T>& qd) const {
    return kinematics(q.data(), qd.data());
  }
  std::vector<Transform<double>> X(const std::vector<double>& q) const {
    return kinematics<double>(q.data(), nullptr).X;
  }
  /// qd may be null.
  template <class T>
  Kinematics<T> kinematics(const T* q, const T* qd) const {
    Kinematics<T> out;
    out.X.resize(count());
    out.S.assign(nv(), Motion<T>::zero());
    out.bias.assign(count(), Motion<T>::zero());
    run_->kinematics(q, qd, {out.X.data(), out.S.data(), out.bias.data()});
    const auto fill = [&](int first, int axes) {
      for (int j = 0; j < nv(); ++j) out.S[j][first + j % axes] = T(1.0);
    };
    switch (type_.subspace()) {
      case SubspaceKind::revolute_z:
        fill(2, 1);
        break;
      case SubspaceKind::prismatic_z:
        fill(5, 1);
        break;
      case SubspaceKind::spherical:
        fill(0, 3);
        break;
      case SubspaceKind::free:
        fill(0, 6);
        break;
      case SubspaceKind::dense:
        break;
    }
    return out;
  }
  template <class T>
  std::vector<T> integrate(const std::vector<T>& q, const std::vector<T>& v) const {
    std::vector<T> out(nq());
    run_->integrate(q.data(), v.data(), out.data());
    return out;
  }
  void integrate_in_place(std::vector<double>& q, const std::vector<double>& v) const {
    run_->integrate(q.data(), v.data(), q.data());
  }
  template <class T>
  std::vector<T> difference(const std::vector<T>& q0, const std::vector<T>& q1) const {
    std::vector<T> out(nv());
    run_->difference(q0.data(), q1.data(), out.data());
    return out;
  }
  template <class T>
  std::vector<T> normalized(std::vector<T> q) const {
    run_->normalize(q.data());
    return q;
  }
  std::vector<double> neutral() const {
    std::vector<double> q(nq(), std::nan(""));
    run_->neutral(q.data());
    return q;
  }
  std::vector<double> random_position(Random& random) const {
    return normalized(random.vector(nq(), 2.0));
  }

 private:
  const JointType& type_;
  std::vector<JointSpec> specs_;
  std::vector<Transform<double>> placements_;
  std::unique_ptr<JointRun> run_;
};

/// The twist, in the body frame at t = 0, of a body whose transform at time t is X(t): central
/// differences of fourth order. For X with derivatives of order 1 and step 1e-3 s, truncation is
/// below 1e-12 and rounding below 1e-12.
template <class F>
Motion<double> twist_of(F&& X, double step = 1e-3) {
  const Transform<double> back = X(0.0).inverse();
  const auto moved = [&](double t) {
    const Transform<double> D = X(t) * back;  // from the frame at 0 to the frame at t
    return Motion<double>{{0.5 * (D.E(1, 2) - D.E(2, 1)), 0.5 * (D.E(2, 0) - D.E(0, 2)),
                           0.5 * (D.E(0, 1) - D.E(1, 0))},
                          D.r};
  };
  return scale(1.0 / (12.0 * step),
               scale(8.0, moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step)));
}

}  // namespace espalier::test
