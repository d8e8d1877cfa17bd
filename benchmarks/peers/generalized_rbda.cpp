#include <grbda/Dynamics/ClusterTreeModel.h>
#include <grbda/Dynamics/RigidBodyTreeModel.h>
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "loop_peer.hpp"

/// generalized_rbda's ways to forward dynamics of robots with loops: C-ABA on its cluster tree, and
/// projection on its tree of rigid bodies, rotors being bodies. Clusters are made of its own joints
/// for geared links and for pairs of links with belts where they are such, of its generic joint
/// otherwise. Its Lagrange multipliers are slower than both and not finite on pairs with belts.

namespace {

using Joint = grbda::JointPtr<double>;
using Bodies = std::vector<int>;  ///< of a cluster, by their numbers, parents first
using Symbol = casadi::SX;
using Rotation = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
constexpr auto axis = grbda::ori::CoordinateAxis::Z;

class Robot {
 public:
  explicit Robot(const espalier_loop_robot& robot) : robot_(robot), place_(robot.body_count, -1) {
    if (robot.G == nullptr && robot.pin_count == 0) {
      throw std::runtime_error("neither a constant G nor pins are given");
    }
    for (int b = 0; b < robot.body_count; ++b) {
      if (robot.bodies[b].joint != espalier_loop_revolute) {
        throw std::runtime_error("a joint does not turn about one axis, expected those that do");
      }
    }
    for (int p = 0; p < robot.pin_count; ++p) {
      if (robot.pins[p].body[0] < 0 || robot.pins[p].body[1] < 0) {
        throw std::runtime_error("a pin is on the ground, expected two bodies");
      }
    }
    tree_.setGravity(Eigen::Map<const Eigen::Vector3d>(robot.gravity));
    std::vector<Bodies> left = clusters();
    while (!left.empty()) {
      const auto next = std::find_if(left.begin(), left.end(), [&](const Bodies& bodies) {
        return std::all_of(bodies.begin(), bodies.end(), [&](int b) {
          const int parent = robot_.bodies[b].parent;
          return parent < 0 || place_[parent] >= 0 || contains(bodies, parent);
        });
      });
      if (next == left.end()) throw std::runtime_error("clusters hang on one another");
      append(*next);
      left.erase(next);
    }
    spanning_ = std::make_unique<grbda::RigidBodyTreeModel<double>>(tree_);
    robot_ = {};  // the caller's memory
  }

  void set(int k, const double* q, const double* v, const double* tau) {
    // Its quaternion: w x y z.
    const auto position = [&](int body, double* out) {
      if (!is_root(body)) {
        *out = q[rate(body) + (floating_ ? 1 : 0)];
        return;
      }
      std::copy_n(q, 3, out);
      out[3] = q[6];
      std::copy_n(q + 3, 3, out + 4);
    };
    states_[k].clear();
    for (const Cluster& c : clusters_) {
      grbda::DVec<double> positions(c.nq), rates(static_cast<int>(c.rates.size()));
      int at = 0;
      for (const int b : c.positions) {
        position(b, positions.data() + at);
        at += is_root(b) ? 7 : 1;
      }
      for (int i = 0; i < rates.size(); ++i) rates[i] = v[c.rates[i]];
      states_[k].emplace_back(grbda::JointCoordinate<double>(positions, c.implicit),
                              grbda::JointCoordinate<double>(rates, false));
    }
    q_[k].resize(spanning_->getNumPositions()), v_[k].resize(spanning_->getNumDegreesOfFreedom());
    int at = 0, rate_at = 0;
    for (const int b : order_) {
      position(b, q_[k].data() + at);
      at += is_root(b) ? 7 : 1;
      for (int i = 0; i < (is_root(b) ? 6 : 1); ++i) v_[k][rate_at++] = v[rate(b) + i];
    }
    tau_[k].resize(static_cast<int>(independent_.size()));
    for (std::size_t i = 0; i < independent_.size(); ++i) tau_[k][i] = tau[independent_[i]];
  }

  /// The library keeps what it has computed until it is given a state, which is why that is part of
  /// the call.
  void run(int way, int k) {
    if (way == 0) {
      tree_.setState(states_[k]);
      vdot_ = tree_.forwardDynamics(tau_[k]);
      return;
    }
    spanning_->setState(q_[k], v_[k]);
    vdot_ = spanning_->forwardDynamics(tau_[k]);
  }
  bool iterates(int /*way*/) const { return false; }
  bool is_derivatives(int /*way*/) const { return false; }
  void read(int way, double* out) const {
    for (std::size_t i = 0; i < independent_.size(); ++i) {
      out[independent_[i]] = vdot_[way == 0 ? static_cast<int>(i) : spanning_rate_[i]];
    }
  }

  static int way_count() { return 2; }
  static const char* way(int way) {
    return way == 0 ? "ClusterTreeModel (C-ABA)" : "RigidBodyTreeModel, Projection";
  }

 private:
  /// What of Espalier's state makes the library's for a cluster.
  struct Cluster {
    bool implicit = false;
    int nq = 0;
    Bodies positions;        ///< bodies whose positions it takes
    std::vector<int> rates;  ///< spanning rates that are its independent ones
  };

  static bool contains(const Bodies& bodies, int body) {
    return std::find(bodies.begin(), bodies.end(), body) != bodies.end();
  }
  bool is_root(int body) const { return floating_ && body == 0; }
  /// First spanning rate of a body.
  int rate(int body) const { return floating_ && body > 0 ? body + 5 : body; }
  double G(int body, int column) const { return robot_.G[rate(body) * robot_.nv + column]; }

  /// Bodies that share an independent rate, or lie on the loop that a pin closes.
  std::vector<Bodies> clusters() const {
    std::vector<int> label(robot_.body_count);
    std::iota(label.begin(), label.end(), 0);
    const auto tie = [&](int a, int b) {
      const int from = label[a], to = label[b];
      std::replace(label.begin(), label.end(), from, to);
    };
    for (int column = 0; robot_.G != nullptr && column < robot_.nv; ++column) {
      int first = -1;
      for (int b = 0; b < robot_.body_count; ++b) {
        if (G(b, column) == 0.0 || is_root(b)) continue;
        if (first < 0) first = b;
        tie(b, first);
      }
    }
    for (int p = 0; p < robot_.pin_count; ++p) {
      int a = robot_.pins[p].body[0], b = robot_.pins[p].body[1];
      while (a != b) {  // up to the body on which both sides hang
        int& lower = a > b ? a : b;
        tie(lower, robot_.pins[p].body[0]);
        lower = robot_.bodies[lower].parent;
      }
    }
    std::vector<Bodies> all;
    for (const int l : std::set<int>(label.begin(), label.end())) {
      Bodies& bodies = all.emplace_back();
      for (int b = 0; b < robot_.body_count; ++b) {
        if (label[b] == l) bodies.push_back(b);
      }
    }
    return all;
  }

  void append(const Bodies& bodies) {
    Cluster c;
    std::vector<int> columns;  // of G
    for (const int b : bodies) {
      for (int j = 0; j < robot_.nv; ++j) {
        if (robot_.independent[j] < rate(b) || robot_.independent[j] >= rate(b) + rates_of(b)) {
          continue;
        }
        if (robot_.independent[j] == rate(b)) c.positions.push_back(b);
        c.rates.push_back(robot_.independent[j]);
        columns.push_back(j);
      }
    }
    if (bodies.size() == 1) {
      append_one(bodies[0]);
    } else if (robot_.G == nullptr) {
      append_pinned(bodies);
      c.implicit = true;
      c.positions = bodies;
    } else if (!append_geared(bodies, c, columns) && !append_pair(bodies, c, columns)) {
      append_linear(bodies, c, columns);
    }
    for (const int b : c.positions) c.nq += is_root(b) ? 7 : 1;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const int body = std::max(0, c.rates[i] - (floating_ ? 5 : 0));
      independent_.push_back(columns[i]);
      spanning_rate_.push_back(first_rate_[place_[body]] + c.rates[i] - rate(body));
    }
    clusters_.push_back(std::move(c));
  }
  int rates_of(int body) const { return is_root(body) ? 6 : 1; }

  grbda::Body<double> add(int b) {
    const espalier_loop_body& body = robot_.bodies[b];
    place_[b] = static_cast<int>(order_.size());
    order_.push_back(b);
    first_rate_.push_back(next_rate_);
    next_rate_ += rates_of(b);
    const grbda::Mat3<double> E = Eigen::Map<const Rotation>(body.rotation).transpose();
    return tree_.registerBody(
        name(b),
        grbda::SpatialInertia<double>(body.mass, Eigen::Map<const Eigen::Vector3d>(body.com),
                                      Eigen::Map<const Rotation>(body.inertia)),
        body.parent < 0 ? "ground" : name(body.parent),
        grbda::spatial::Transform<double>(E, Eigen::Map<const Eigen::Vector3d>(body.offset)));
  }
  static std::string name(int body) { return "body_" + std::to_string(body); }

  void append_one(int b) {
    grbda::Body<double> body = add(b);
    if (is_root(b)) {
      tree_.appendRegisteredBodiesAsCluster<grbda::ClusterJoints::Free<double>>(name(b), body);
    } else {
      tree_.appendRegisteredBodiesAsCluster<grbda::ClusterJoints::Revolute<double>>(name(b), body,
                                                                                    axis);
    }
  }

  /// A link and its rotor, side by side.
  bool append_geared(const Bodies& bodies, const Cluster& c, const std::vector<int>& columns) {
    if (bodies.size() != 2 || columns.size() != 1) return false;
    const int link = c.positions[0], rotor = bodies[0] == link ? bodies[1] : bodies[0];
    if (contains(bodies, robot_.bodies[link].parent) ||
        contains(bodies, robot_.bodies[rotor].parent)) {
      return false;
    }
    const grbda::Body<double> first = add(link), second = add(rotor);
    grbda::ClusterJoints::GearedTransmissionModule<double> module{
        first, second, name(link), name(rotor), axis, axis, G(rotor, columns[0])};
    tree_.appendRegisteredBodiesAsCluster<grbda::ClusterJoints::RevoluteWithRotor<double>>(
        name(link), module);
    return true;
  }

  /// Two links in series, whose rotors sit beside the first; that of the second turns with both.
  bool append_pair(const Bodies& bodies, const Cluster& c, const std::vector<int>& columns) {
    if (bodies.size() != 4 || columns.size() != 2) return false;
    const int link1 = c.positions[0], link2 = c.positions[1];
    std::vector<int> rotors;
    for (const int b : bodies) {
      if (b == link1 || b == link2) continue;
      if (contains(bodies, robot_.bodies[b].parent)) return false;
      rotors.push_back(b);
    }
    if (contains(bodies, robot_.bodies[link1].parent) || robot_.bodies[link2].parent != link1) {
      return false;
    }
    if (G(rotors[0], columns[1]) != 0.0) std::swap(rotors[0], rotors[1]);
    const double ratio1 = G(rotors[0], columns[0]), ratio2 = G(rotors[1], columns[0]);
    if (G(rotors[0], columns[1]) != 0.0 || ratio2 == 0.0) return false;

    using Pair = grbda::ClusterJoints::RevolutePairWithRotor<double>;
    const grbda::Body<double> first = add(link1), motor1 = add(rotors[0]), motor2 = add(rotors[1]),
                              second = add(link2);
    Pair::ProximalTransmission proximal{first, motor1, axis,
                                        axis,  1.0,    Eigen::Matrix<double, 1, 1>(ratio1)};
    Pair::DistalTransmission distal{
        second, motor2, axis,
        axis,   1.0,    Eigen::Vector2d(ratio2, G(rotors[1], columns[1]) / ratio2)};
    tree_.appendRegisteredBodiesAsCluster<Pair>(name(link1), proximal, distal);
    return true;
  }

  std::pair<std::vector<grbda::Body<double>>, std::vector<Joint>> add_all(const Bodies& bodies) {
    std::pair<std::vector<grbda::Body<double>>, std::vector<Joint>> all;
    for (const int b : bodies) {
      all.first.push_back(add(b));
      all.second.push_back(std::make_shared<grbda::Joints::Revolute<double>>(axis, name(b)));
    }
    return all;
  }

  /// Any other constant G.
  void append_linear(const Bodies& bodies, const Cluster& c, const std::vector<int>& columns) {
    const int n = static_cast<int>(bodies.size()), free = static_cast<int>(columns.size());
    grbda::DMat<double> explicit_G(n, free), K = grbda::DMat<double>::Zero(n - free, n);
    int row = 0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < free; ++j) explicit_G(i, j) = G(bodies[i], columns[j]);
      if (contains(c.positions, bodies[i])) continue;
      for (int j = 0; j < free; ++j) {
        const auto at = std::find(bodies.begin(), bodies.end(), c.positions[j]);
        K(row, static_cast<int>(at - bodies.begin())) = explicit_G(i, j);
      }
      K(row++, i) = -1.0;
    }
    const auto [registered, joints] = add_all(bodies);
    const std::shared_ptr<grbda::LoopConstraint::Base<double>> law =
        std::make_shared<grbda::LoopConstraint::Static<double>>(explicit_G, K);
    tree_.appendRegisteredBodiesAsCluster<grbda::ClusterJoints::Generic<double>>(
        name(bodies[0]), registered, joints, law);
  }

  /// Planar loops closed by pins: their points coincide in the plane across the first axis.
  void append_pinned(const Bodies& bodies) {
    struct Side {
      Bodies chain;  ///< from the pinned body down
      grbda::Vec3<double> point;
    };
    std::vector<espalier_loop_body> of;
    for (const int b : bodies) of.push_back(robot_.bodies[b]);
    std::vector<bool> independent;
    for (const int b : bodies) {
      independent.push_back(std::find(robot_.independent, robot_.independent + robot_.nv,
                                      rate(b)) != robot_.independent + robot_.nv);
    }
    std::vector<std::array<Side, 2>> pins;
    for (int p = 0; p < robot_.pin_count; ++p) {
      if (!contains(bodies, robot_.pins[p].body[0])) continue;
      std::array<Side, 2>& pin = pins.emplace_back();
      for (int s = 0; s < 2; ++s) {
        pin[s].point = Eigen::Map<const Eigen::Vector3d>(robot_.pins[p].point[s]);
        for (int b = robot_.pins[p].body[s]; contains(bodies, b); b = robot_.bodies[b].parent) {
          const auto at = std::find(bodies.begin(), bodies.end(), b);
          pin[s].chain.push_back(static_cast<int>(at - bodies.begin()));
        }
      }
    }
    const auto phi = [of, pins](const grbda::JointCoordinate<Symbol>& q) {
      using Vector = grbda::Vec3<Symbol>;
      const grbda::Mat3<Symbol> plane =
          Eigen::Map<const Rotation>(of[0].rotation).transpose().cast<Symbol>();
      grbda::DVec<Symbol> out(2 * static_cast<int>(pins.size()));
      for (std::size_t p = 0; p < pins.size(); ++p) {
        Vector ends[2];
        for (int s = 0; s < 2; ++s) {
          Vector x = pins[p][s].point.cast<Symbol>();
          for (const int b : pins[p][s].chain) {
            const Symbol sine = sin(q[b]), cosine = cos(q[b]);
            const Vector turned(cosine * x[0] - sine * x[1], sine * x[0] + cosine * x[1], x[2]);
            const Rotation R = Eigen::Map<const Rotation>(of[b].rotation);
            const Eigen::Vector3d r = Eigen::Map<const Eigen::Vector3d>(of[b].offset);
            x = R.cast<Symbol>() * turned + r.cast<Symbol>();
          }
          ends[s] = x;
        }
        const Vector gap = plane * Vector(ends[0] - ends[1]);
        out[2 * static_cast<int>(p)] = gap[0], out[2 * static_cast<int>(p) + 1] = gap[1];
      }
      return out;
    };
    const auto [registered, joints] = add_all(bodies);
    const auto law =
        std::make_shared<grbda::LoopConstraint::GenericImplicit<double>>(independent, phi);
    tree_.appendRegisteredBodiesAsCluster<grbda::ClusterJoints::Generic<double>>(
        name(bodies[0]), registered, joints, law);
  }

  espalier_loop_robot robot_;
  const bool floating_ = robot_.floating != 0;
  grbda::ClusterTreeModel<double> tree_;
  std::unique_ptr<grbda::RigidBodyTreeModel<double>> spanning_;
  std::vector<Cluster> clusters_;
  std::vector<int> place_, order_;  ///< where the library has a body, and the body there
  std::vector<int> first_rate_;     ///< of the body at a place, in the library's spanning tree
  int next_rate_ = 0;
  std::vector<int> independent_;    ///< Espalier's of each independent rate of the library
  std::vector<int> spanning_rate_;  ///< where that is in the library's spanning tree
  std::array<grbda::ModelState<double>, espalier_peer_state_count> states_;
  std::array<grbda::DVec<double>, espalier_peer_state_count> q_, v_, tau_;
  grbda::DVec<double> vdot_;
};

}  // namespace

const espalier_loop_peer* espalier_loop_peer_table(void) {
  static const espalier_loop_peer table =
      peers::loop_peer_table<Robot>("generalized_rbda " ESPALIER_PEER_VERSION);
  return &table;
}
