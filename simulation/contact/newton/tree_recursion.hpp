#pragma once

#include "simulation/contact/newton/elimination.hpp"
#include "simulation/contact/newton/link_way.hpp"

namespace espalier::contact {

/// The Newton system through the tree: rows fold into articulated inertias of links and into the
/// inertias of clusters' rates, and one recursion over the clusters as C-ABA has it solves
/// (M + J^T W J) z = J^T y. Slip makes the inertias unsymmetric: with I the articulated inertia of
/// a cluster's bodies, Phi their motion by its rates,
///
///   U = I Phi,  V = Phi^T I,  H = Phi^T I Phi,  I_parent += I - U H^-1 V.
///
/// All twists are in world axes about the origin of the way's first body, so that nothing is
/// transformed on the way. What no row touches is eliminated once a step.
/// Cost: O(n) a step and a solve, for any number of rows.
/// Source: theory/contact 4.4; theory/clusters 5.3.
template <class T>
class TreeRecursion final : public LinkWay<T> {
  using Base = LinkWay<T>;

 public:
  explicit TreeRecursion(const Plan& plan)
      : Base(plan), model_(plan.model()), nodes_(model_.clusters().size()) {
    lay_out();
    const std::size_t bodies = model_.active_body_count() + 1;
    I_.resize(36 * bodies), force_.resize(6 * bodies), twist_.resize(6 * bodies);
    for (int k = 0; k < joints_; ++k) {
      const int rate = this->plan_.joint_row(k).rate;
      const int cluster = model_.body(model_.joint_of_rate(rate).body).cluster;
      joint_node_.push_back(cluster);
      joint_first_.push_back(joint_size_);
      joint_size_ += nodes_[cluster].nv;
      nodes_[cluster].joints.push_back(k);
    }
  }

  std::size_t state_size() const override { return touched_size_; }
  void prepare(StepState<T>& s, const typename Base::Robot& robot) override {
    s.links.state.resize(touched_size_);
    std::fill(force_.begin(), force_.end(), T(0.0));
    for (std::size_t c = 0; c < nodes_.size(); ++c) {
      T* numbers = nodes_[c].touched ? s.links.state.data() : rest_.data();
      place(nodes_[c], robot, numbers);
      if (robot.masses != nullptr) change_masses(nodes_[c], *robot.masses, numbers);
    }
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (node->touched) continue;
      start(*node, rest_.data());
      eliminate(*node, rest_.data());
    }
    for (const Node& node : nodes_) {
      if (!node.touched) continue;
      for (int k = 0; k < node.count; ++k) {
        std::copy_n(I(node.first + k), 36, s.links.state.data() + node.at(k));
      }
    }
  }

 protected:
  void solve_links(const T* impulse) override {
    const T* numbers = rows_->state.data();
    for (const Node& node : nodes_) {
      if (!node.touched) continue;
      for (int k = 0; k < node.count; ++k) {
        std::copy_n(numbers + node.at(k), 36, I(node.first + k));
        std::fill_n(force(node.first + k), 6, T(0.0));
      }
    }
    for (int k = 0; k < sites_; ++k) {
      const int body = this->plan_.sites()[k].body;
      for (int i = 0; i < 36; ++i) I(body)[i] += this->N(this->block(k, k))[i];
      for (int i = 0; i < 6; ++i) force(body)[i] += this->f(k)[i];
    }
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (!node->touched) continue;
      start(*node, numbers);
      for (const int k : node->joints) fold_joint(*node, k, impulse[k]);
      eliminate(*node, numbers);
    }
    for (const Node& node : nodes_) {
      if (node.touched) move(node, numbers);
    }
    for (int k = 0; k < sites_; ++k) std::copy_n(twist(this->plan_.sites()[k].body), 6, this->z(k));
    for (int k = 0; k < joints_; ++k) {
      const Node& node = nodes_[joint_node_[k]];
      T rate(0.0);
      for (int l = 0; l < node.nv; ++l) rate += joint(k)[l] * E_[node.E + 7 * l + 6];
      this->joint_rate_[k] = rate;
    }
  }

 private:
  using Base::joints_;
  using Base::rows_;
  using Base::sites_;

  /// A cluster; where its numbers stand among those of the state, or of rest_ if no row touches it.
  struct Node {
    int first = 0, count = 0, nv = 0;  ///< bodies; rates
    int base = 0;                      ///< body that carries all; 0: the ground
    bool touched = false;
    std::size_t bodies = 0, H = 0, U = 0;  ///< inertias and Phi by bodies; nv x nv; nv x 6
    std::size_t E = 0;                     ///< H^-1 [V, rhs], nv x 7, then the rates in column 6
    std::vector<int> joints;               ///< rows of its joints

    std::size_t at(int k) const { return bodies + k * (36 + 6 * static_cast<std::size_t>(nv)); }
  };

  T* I(int body) { return I_.data() + 36 * static_cast<std::size_t>(body); }
  T* force(int body) { return force_.data() + 6 * static_cast<std::size_t>(body); }
  T* twist(int body) { return twist_.data() + 6 * static_cast<std::size_t>(body); }
  const T* joint(int k) const { return rows_->joint.data() + joint_first_[k]; }

  void lay_out() {
    const Plan& plan = this->plan_;
    for (const Plan::Site& site : plan.sites()) touch(model_.body(site.body).cluster);
    for (int k = 0; k < joints_; ++k) {
      touch(model_.body(model_.joint_of_rate(this->plan_.joint_row(k).rate).body).cluster);
    }
    std::size_t rest = 0, E = 0, most = 0;
    for (std::size_t c = 0; c < nodes_.size(); ++c) {
      const Cluster& cluster = model_.clusters()[c];
      Node& node = nodes_[c];
      node.first = cluster.first, node.count = cluster.count, node.nv = cluster.nv;
      node.base = cluster.supports.empty() ? 0 : cluster.supports.front();
      std::size_t& size = node.touched ? touched_size_ : rest;
      const std::size_t nv = cluster.nv;
      node.bodies = size, size += cluster.count * (36 + 6 * nv);
      node.H = size, size += nv * nv;
      node.U = size, size += 6 * nv;
      node.E = E, E += 7 * nv;
      most = std::max(most, nv);
    }
    rest_.resize(rest), E_.resize(E);
    H_.resize(most * most), U_.resize(6 * most), product_.resize(6 * most);
  }
  void touch(int cluster) {
    for (; cluster >= 0 && !nodes_[cluster].touched; cluster = model_.clusters()[cluster].parent) {
      nodes_[cluster].touched = true;
    }
  }

  /// Inertias of a cluster's bodies, Phi, and what joints and rotors add to H and U.
  void place(const Node& node, const typename Base::Robot& robot, T* numbers) {
    const Cluster& c = model_.clusters()[&node - nodes_.data()];
    for (int k = 0; k < node.count; ++k) {
      const int body = node.first + k;
      const Transform<T>& X = robot.rows.links().X(body);
      const Vec3<T>& origin = robot.rows.links().origin(body);
      write(congruence(Transform<T>{X.E, X.r - origin}, model_.folded_inertia(body)), I(body));
      const Motion<T>* columns =
          &robot.rows.links()[this->plan_.placed_bodies().first_column(body)];
      T* Phi = numbers + node.at(k) + 36;
      for (int l = 0; l < node.nv; ++l) {
        for (int i = 0; i < 6; ++i) Phi[6 * l + i] = columns[l][i];
      }
    }
    std::fill_n(numbers + node.H, node.nv * node.nv + 6 * node.nv, T(0.0));  // U is next to H
    for (int r = 0; r < c.rows(); ++r) {
      const T inertia =
          robot.weight[c.rate(r)] + T(r < c.spanning_nv ? armature_of(c.rate(r)) : 0.0);
      add_rate(node, c, robot, r, inertia, numbers);
    }
    for (int k = 0; k < c.rotors; ++k) add_rotor(node, c, robot, k, numbers);
  }
  double armature_of(int rate) const {
    for (const auto& [r, inertia] : model_.armature()) {
      if (r == rate) return inertia;
    }
    return 0.0;
  }
  /// Row r of a cluster's G.
  static T G(const Cluster& c, const typename Base::Robot& robot, int r, int l) {
    if (!c.constrained) return T(r == l ? 1.0 : 0.0);
    return robot.motion.G(c)[static_cast<std::size_t>(r) * c.nv + l];
  }
  /// An inertia on one spanning rate.
  void add_rate(const Node& node, const Cluster& c, const typename Base::Robot& robot, int r,
                const T& inertia, T* numbers) const {
    for (int i = 0; i < node.nv; ++i) {
      for (int j = 0; j < node.nv; ++j) {
        numbers[node.H + i * node.nv + j] += inertia * G(c, robot, r, i) * G(c, robot, r, j);
      }
    }
  }
  /// A folded rotor: its spin, and its momentum in the body that carries it.
  void add_rotor(const Node& node, const Cluster& c, const typename Base::Robot& robot, int k,
                 T* numbers) {
    const Rotor& rotor = model_.rotors()[c.rotor + k];
    const int r = c.spanning_nv + k;
    add_rate(node, c, robot, r, T(rotor.inertia), numbers);
    const Vec3<T> m = rotor.parent == 0
                          ? Vec3<T>::from(rotor.momentum)
                          : transpose_times(robot.rows.links().X(rotor.parent).E, rotor.momentum);
    for (int i = 0; i < node.nv; ++i) {
      for (int x = 0; x < 3; ++x) numbers[node.U + 6 * i + x] += G(c, robot, r, i) * m[x];
    }
    if (rotor.parent < node.first) return;
    const T* Phi = numbers + node.at(rotor.parent - node.first) + 36;
    for (int i = 0; i < node.nv; ++i) {
      const T turn = m.x * Phi[6 * i] + m.y * Phi[6 * i + 1] + m.z * Phi[6 * i + 2];
      for (int j = 0; j < node.nv; ++j) {
        numbers[node.H + i * node.nv + j] += turn * G(c, robot, r, j);
        numbers[node.H + j * node.nv + i] += turn * G(c, robot, r, j);
      }
    }
  }
  /// Links of a cluster that are heavier or lighter than the model's. A folded rotor is a body that
  /// the recursion does not pass: its part of H and U is kept, and what carries the cluster bears
  /// it.
  void change_masses(const Node& node, const MassChange<T>& masses, T* numbers) {
    const std::vector<LinkMasses::Piece>& pieces = masses.masses().pieces();
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const int body = pieces[p].at.body;
      const bool rotor = body > model_.active_body_count();
      if (&nodes_[model_.body(body).cluster] != &node) continue;
      T change[36];
      write(masses.inertia(p), change);
      if (const int bearer = rotor ? node.base : body; bearer != 0) {
        for (int i = 0; i < 36; ++i) I(bearer)[i] += change[i];
      }
      if (!rotor) continue;
      const Motion<T>* Phi = &masses.links()[masses.masses().placed().first_column(body)];
      for (int a = 0; a < node.nv; ++a) {
        const Force<T> momentum = masses.inertia(p) * Phi[a];
        for (int i = 0; i < 6; ++i) numbers[node.U + 6 * a + i] += momentum[i];
        for (int b = 0; b < node.nv; ++b) {
          numbers[node.H + b * node.nv + a] += dot(Phi[b], momentum);
        }
      }
    }
  }
  /// [I h x; -h x m 1].
  static void write(const RigidInertia<T>& inertia, T* out) {
    const Mat3<T> h = cross_matrix(inertia.h);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        out[6 * i + j] = inertia.I(i, j);
        out[6 * i + 3 + j] = h(i, j);
        out[6 * (3 + i) + j] = -h(i, j);
        out[6 * (3 + i) + 3 + j] = i == j ? inertia.m : T(0.0);
      }
    }
  }

  /// H_, U_ and [V, rhs] as joints and rotors make them.
  void start(const Node& node, const T* numbers) {
    const int n = node.nv;
    std::copy_n(numbers + node.H, n * n, H_.data());
    std::copy_n(numbers + node.U, 6 * n, U_.data());
    T* E = E_.data() + node.E;
    for (int l = 0; l < n; ++l) {
      std::copy_n(numbers + node.U + 6 * l, 6, E + 7 * l);
      E[7 * l + 6] = T(0.0);
    }
  }
  void fold_joint(const Node& node, int k, const T& impulse) {
    const T* g = joint(k);
    const T& w = this->blocks_.w(k);
    for (int i = 0; i < node.nv; ++i) {
      for (int j = 0; j < node.nv; ++j) H_[i * node.nv + j] += w * g[i] * g[j];
      E_[node.E + 7 * i + 6] += g[i] * impulse;
    }
  }
  /// Bodies into the rates, and what is left into the base.
  void eliminate(const Node& node, const T* numbers) {
    const int n = node.nv;
    T* E = E_.data() + node.E;
    for (int k = 0; k < node.count; ++k) {
      const int body = node.first + k;
      const T *Phi = numbers + node.at(k) + 36, *inertia = I(body), *f = force(body);
      for (int l = 0; l < n; ++l) {
        const T* column = Phi + 6 * l;
        T* product = product_.data() + 6 * l;
        for (int i = 0; i < 6; ++i) {
          T sum(0.0), left(0.0);
          for (int j = 0; j < 6; ++j) {
            sum += inertia[6 * i + j] * column[j];
            left += column[j] * inertia[6 * j + i];
          }
          product[i] = sum;
          U_[6 * l + i] += sum;
          E[7 * l + i] += left;
        }
        for (int i = 0; i < 6; ++i) E[7 * l + 6] += column[i] * f[i];
      }
      for (int a = 0; a < n; ++a) {
        for (int b = 0; b < n; ++b) {
          T sum(0.0);
          for (int i = 0; i < 6; ++i) sum += Phi[6 * a + i] * product_[6 * b + i];
          H_[a * n + b] += sum;
        }
      }
    }
    contact::eliminate(n, H_.data(), 7, E);
    if (node.base == 0) return;
    T *inertia = I(node.base), *f = force(node.base);
    for (int k = 0; k < node.count; ++k) {
      for (int i = 0; i < 36; ++i) inertia[i] += I(node.first + k)[i];
      for (int i = 0; i < 6; ++i) f[i] += force(node.first + k)[i];
    }
    for (int l = 0; l < n; ++l) {
      for (int i = 0; i < 6; ++i) {
        const T& u = U_[6 * l + i];
        for (int j = 0; j < 6; ++j) inertia[6 * i + j] -= u * E[7 * l + j];
        f[i] -= u * E[7 * l + 6];
      }
    }
  }
  /// Rates of a cluster, in the last column of E, and twists of its bodies.
  void move(const Node& node, const T* numbers) {
    T* E = E_.data() + node.E;
    for (int l = 0; node.base != 0 && l < node.nv; ++l) {
      for (int j = 0; j < 6; ++j) E[7 * l + 6] -= E[7 * l + j] * twist(node.base)[j];
    }
    for (int k = 0; k < node.count; ++k) {
      T* out = twist(node.first + k);
      for (int i = 0; i < 6; ++i) out[i] = node.base != 0 ? twist(node.base)[i] : T(0.0);
      const T* Phi = numbers + node.at(k) + 36;
      for (int l = 0; l < node.nv; ++l) {
        for (int i = 0; i < 6; ++i) out[i] += Phi[6 * l + i] * E[7 * l + 6];
      }
    }
  }

  const Model& model_;
  std::vector<Node> nodes_;
  std::size_t touched_size_ = 0;
  std::vector<T> rest_;                 ///< numbers of clusters that no row touches
  std::vector<T> I_, force_, twist_;    ///< by bodies
  std::vector<T> H_, U_, product_, E_;  ///< of the cluster at hand; E_ of all
  std::vector<int> joint_node_;
  std::vector<std::size_t> joint_first_;
  std::size_t joint_size_ = 0;
};

}  // namespace espalier::contact
