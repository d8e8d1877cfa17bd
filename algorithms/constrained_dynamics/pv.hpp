#pragma once

#include "algorithms/constrained_dynamics/held.hpp"
#include "algorithms/task_rows.hpp"

namespace espalier {

/// Constrained dynamics by the Popov-Vereshchagin solver: one sweep inward that carries articulated
/// inertias, forces and the rows of all constraints at once, a small system at the ground for the
/// constraint forces, and one sweep outward. On cluster trees the same with clusters for joints.
/// Cost: O(n + m^2 d + m^3).
/// Frames: those of ArticulatedTree.
/// Source: Popov, Vereshchagin, Zenkevich (1978); Sathya et al. (2023), Algorithm 1;
/// theory/input-matrix 3.1 (forces) and theory/delassus 4 (rows).
///
/// At node i, with G = D^-1 (forces on the rates) and Kq of each row, what is left over is
///   w += Kq D^-1 Kq^T  and  free += Kq G,
/// and on the way out the rates are G + D^-1 Kq^T f - D^-1 U^T a.
template <class T>
class PopovVereshchagin final : public HeldRobot<T> {
 public:
  explicit PopovVereshchagin(const Setup& setup)
      : HeldRobot<T>(setup),
        tree_(this->model(), nullptr, TaskRows<T>::rotors(this->model(), this->task())),
        rows_(this->task(), tree_),
        F_(this->model().body_count() + 1),
        a_(F_.size()),
        G_(this->model().nv()),
        Kq_one_(tree_.largest_node()),
        inverse_osim_(static_cast<std::size_t>(this->task().size()) * this->task().size()),
        free_(this->task().size()) {
    stops_.resize(tree_.nodes().size());
    std::size_t K = 0, Kq = 0, widest = 1, blocks = 1;
    for (std::size_t e = 0; e < rows_.parts().size(); ++e) {
      const auto& part = rows_.parts()[e];
      starts_.push_back(K);
      std::size_t sites = 1;
      for (const auto& stop : part.way) {
        stops_[stop.node].push_back({static_cast<int>(e), stop.sites, Kq});
        Kq += static_cast<std::size_t>(part.blocks) * tree_.nodes()[stop.node].n;
        sites = std::max(sites, stop.sites.size());
      }
      K += sites * part.blocks;
      widest = std::max(widest, sites);
      blocks = std::max<std::size_t>(blocks, part.blocks);
    }
    std::size_t bodies = 1;  // that forces or motions of one node speak of
    for (const auto& node : tree_.nodes()) {
      widest = std::max(widest, node.supports.size());
      bodies = std::max({bodies, node.supports.size(), node.parents.size()});
    }
    K_.resize(K), Kq_.resize(Kq), z_.resize(Kq);
    spare_.resize(widest * blocks);
    wrench_.resize(bodies), wrench_out_.resize(bodies), supports_.resize(bodies);
  }

 private:
  using V = typename RowLanes<T>::V;
  using Answer = typename HeldRobot<T>::Answer;
  static constexpr int lanes = RowLanes<T>::size;

  /// An end-effector whose rows pass a node.
  struct Stop {
    int part;
    std::vector<int> sites;
    std::size_t Kq;  ///< where its Kq and z start
  };

  const Answer& compute(const T* q, const T* v, const T* tau, const T* acceleration,
                        const Wrenches<T>* wrenches) override {
    this->prepare(q, v, tau, acceleration, wrenches);
    tree_.update(q);
    std::fill(F_.begin(), F_.end(), Force<V>::zero());
    std::fill(inverse_osim_.begin(), inverse_osim_.end(), T(0.0));
    std::fill(free_.begin(), free_.end(), T(0.0));
    for (std::size_t e = 0; e < starts_.size(); ++e) {
      if (rows_.parts()[e].way.empty()) continue;
      rows_.place(tree_, rows_.parts()[e], K_.data() + starts_[e]);
    }
    for (std::size_t k = tree_.order().size(); k-- > 0;) inward(tree_.order()[k]);
    const std::size_t m = free_.size();
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < i; ++j) inverse_osim_[j * m + i] = inverse_osim_[i * m + j];
    }
    this->solve_forces(inverse_osim_.data(), free_.data());
    a_[0] = Motion<V>::zero();
    for (const int n : tree_.order()) outward(n);
    return this->answer_;
  }

  void inward(int n) {
    const auto& node = tree_.nodes()[n];
    // Forces: one column, in the first lane.
    V* G = G_.data() + node.v;
    for (int j = 0; j < node.n; ++j) G[j] = V(this->r_[node.v + j]);
    tree_.from_rates(node, 1, G);
    for (std::size_t s = 0; s < node.parents.size(); ++s) wrench_[s] = F_[node.parents[s]];
    tree_.inward(node, node.parents, 1, wrench_.data(), Kq_one_.data(), G, wrench_out_.data(), G);
    for (std::size_t o = 0; o < node.supports.size(); ++o) F_[node.supports[o]] += wrench_out_[o];
    // Rows of all constraints.
    for (const Stop& stop : stops_[n]) {
      const int blocks = rows_.parts()[stop.part].blocks;
      Force<V>* K = K_.data() + starts_[stop.part];
      tree_.inward(node, stop.sites, blocks, K, Kq_.data() + stop.Kq, z_.data() + stop.Kq,
                   spare_.data());
      std::copy_n(spare_.data(), node.supports.size() * blocks, K);
    }
    const long m = this->task().size();
    for (const Stop& a : stops_[n]) {
      const auto& first = rows_.parts()[a.part];
      for (int i = 0; i < first.part->size(); ++i) {
        const long row = first.part->first + i;
        for (int j = 0; j < node.n; ++j) {
          const T x = row_of<T>(z_.data() + a.Kq + j * first.blocks, i);
          free_[row] += row_of<T>(Kq_.data() + a.Kq + j * first.blocks, i) * row_of<T>(&G[j], 0);
          for (const Stop& b : stops_[n]) {
            if (b.part > a.part) break;
            const auto& second = rows_.parts()[b.part];
            const V* y = Kq_.data() + b.Kq + j * second.blocks;
            T* out = inverse_osim_.data() + row * m + second.part->first;
            const int last = a.part == b.part ? i + 1 : second.part->size();
            for (int l = 0; l < last; ++l) out[l] += x * row_of<T>(y, l);
          }
        }
      }
    }
  }

  void outward(int n) {
    const auto& node = tree_.nodes()[n];
    V* eta = G_.data() + node.v;
    for (const Stop& stop : stops_[n]) {
      const auto& part = rows_.parts()[stop.part];
      for (int j = 0; j < node.n; ++j) {
        const V* z = z_.data() + stop.Kq + j * part.blocks;
        T sum = T(0.0);
        for (int i = 0; i < part.part->size(); ++i) {
          sum += row_of<T>(z, i) * this->answer_.force[part.part->first + i];
        }
        eta[j] += V(sum);
      }
    }
    for (std::size_t o = 0; o < node.supports.size(); ++o) supports_[o] = a_[node.supports[o]];
    tree_.outward(node, 1, supports_.data(), eta);
    for (const int body : node.parents) {
      tree_.motion_of(node, body, 1, supports_.data(), eta, &a_[body]);
    }
    tree_.to_rates(node, 1, eta);
    for (int j = 0; j < node.n; ++j) this->answer_.vdot[node.v + j] = row_of<T>(&eta[j], 0);
  }

  ArticulatedTree<T> tree_;
  TaskRows<T> rows_;
  std::vector<std::vector<Stop>> stops_;  ///< per node, by end-effector
  std::vector<std::size_t> starts_;       ///< per end-effector, in K_
  std::vector<Force<V>> K_, F_, wrench_, wrench_out_, spare_;
  std::vector<Motion<V>> a_, supports_;
  std::vector<V> Kq_, z_, G_, Kq_one_;
  std::vector<T> inverse_osim_, free_;
};

}  // namespace espalier
