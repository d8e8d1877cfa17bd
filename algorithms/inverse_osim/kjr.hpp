#pragma once

#include <algorithm>

#include "algorithms/task_rows.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"

namespace espalier {

/// Inverse operational-space inertia by the recursion of Kreutz-Delgado, Jain and Rodriguez: the
/// operational-space inertia Omega of every body that carries end-effectors, base to tips, and of
/// pairs of bodies, from their closest common ancestor one joint at a time. On cluster trees the
/// same with clusters in place of joints. Cost: O(n + m^2 d). Frames: those of ArticulatedTree.
/// Source: Kreutz-Delgado, Jain, Rodriguez (1992); theory/delassus 4 and theory/clusters 5.6.
///
/// Omega is kept by columns: the motion of some bodies that a unit wrench on other bodies causes,
/// 6 columns for each of the latter ("loads").
template <class T>
class Kjr final : public InverseOsim<T> {
 public:
  using V = typename RowLanes<T>::V;

  explicit Kjr(const Setup& setup)
      : InverseOsim<T>(setup),
        tree_(this->model(), nullptr, TaskRows<T>::rotors(this->model(), this->task())),
        rows_(this->task(), tree_) {
    std::size_t widest = 1;
    int blocks = column_blocks;
    for (const auto& part : rows_.parts()) {
      blocks = std::max(blocks, part.blocks);
      for (std::size_t k = 0; k < part.way.size(); ++k) {
        widest = std::max(widest, part.way[k].sites.size());
        if (k > 0) add_inertia(part.way[k]);
      }
    }
    std::sort(omega_.begin(), omega_.end(),
              [](const Inertia& a, const Inertia& b) { return a.node < b.node; });
    for (const auto& node : tree_.nodes()) {
      const auto at = std::find_if(omega_.begin(), omega_.end(),
                                   [&](const Inertia& o) { return o.sites == node.supports; });
      above_.push_back(static_cast<int>(at - omega_.begin()));
    }
    const std::size_t size = widest * widest * std::max(blocks, column_blocks);
    for (auto* x : {&x_, &y_, &next_}) x->resize(size);
    const std::size_t rates = static_cast<std::size_t>(tree_.largest_node()) * widest *
                              static_cast<std::size_t>(std::max(blocks, column_blocks));
    Kq_.resize(rates), yd_.resize(rates);
    K_.resize(widest * std::max(blocks, column_blocks)), out_.resize(K_.size());
  }

 private:
  static constexpr int lanes = RowLanes<T>::size;
  static constexpr int column_blocks = (6 + lanes - 1) / lanes;

  /// Omega of those bodies of a node that rows of other clusters pass: for each load its columns,
  /// sites x column_blocks.
  struct Inertia {
    int node;
    std::vector<int> sites;
    std::vector<Motion<V>> columns;
  };
  using Stop = typename TaskRows<T>::Stop;

  void add_inertia(const Stop& stop) {
    const auto is_same = [&](const Inertia& o) { return o.sites == stop.sites; };
    if (std::any_of(omega_.begin(), omega_.end(), is_same)) return;
    omega_.push_back({stop.node, stop.sites, {}});
    omega_.back().columns.resize(stop.sites.size() * stop.sites.size() * column_blocks);
  }

  void compute(const T* q, T* inverse_osim) override {
    tree_.update(q);
    const long m = this->task().size();
    std::fill(inverse_osim, inverse_osim + m * m, T(0.0));
    for (Inertia& omega : omega_) self_inertia(omega);
    for (std::size_t e = 0; e < rows_.parts().size(); ++e) {
      for (std::size_t g = 0; g <= e; ++g) block(g, e, inverse_osim);
    }
  }

  void self_inertia(Inertia& at) {
    for (std::size_t load = 0; load < at.sites.size(); ++load) {
      const std::size_t size = at.sites.size() * column_blocks;
      std::copy_n(respond(at.node, at.sites[load], at.sites), size,
                  at.columns.data() + load * size);
    }
  }

  /// Motion of `sites` that unit wrenches on one body of the same node cause: Omega of the two,
  /// P Omega_out P^T + J D^-1 J^T.
  const Motion<V>* respond(int node_index, int load, const std::vector<int>& sites) {
    const auto& node = tree_.nodes()[node_index];
    for (int b = 0; b < column_blocks; ++b) K_[b] = Force<V>::zero();
    for (int k = 0; k < 6; ++k) row_of<T>(&K_[k / lanes][k], k % lanes) = T(1.0);
    tree_.inward(node, std::span(&load, 1), column_blocks, K_.data(), Kq_.data(), yd_.data(),
                 out_.data());
    const std::size_t supports = node.supports.size();
    if (supports > 0) {
      // Omega of the supports times the wrenches that reach them.
      const Inertia& above = omega_[above_[node_index]];
      times(above, out_.data(), x_.data());
      tree_.outward(node, column_blocks, x_.data(), yd_.data());
    }
    for (std::size_t s = 0; s < sites.size(); ++s) {
      tree_.motion_of(node, sites[s], column_blocks, x_.data(), yd_.data(),
                      y_.data() + s * column_blocks);
    }
    return y_.data();
  }
  /// out = Omega f for column_blocks columns of wrenches on its sites.
  static void times(const Inertia& omega, const Force<V>* f, Motion<V>* out) {
    const std::size_t sites = omega.sites.size();
    for (std::size_t s = 0; s < sites; ++s) {
      for (int b = 0; b < column_blocks; ++b) {
        Motion<V> sum = Motion<V>::zero();
        for (std::size_t load = 0; load < sites; ++load) {
          const Motion<V>* columns = omega.columns.data() + (load * sites + s) * column_blocks;
          for (int k = 0; k < 6; ++k) {
            const V& x = f[load * column_blocks + b][k];
            for (int c = 0; c < 6; ++c) {
              sum[c] += row_of<T>(&columns[k / lanes][c], k % lanes) * x;
            }
          }
        }
        out[s * column_blocks + b] = sum;
      }
    }
  }

  /// K_g Omega_ge K_e^T with Omega of the two links, from where their ways first meet.
  void block(std::size_t g, std::size_t e, T* out) {
    const auto &first = rows_.parts()[g], &second = rows_.parts()[e];
    const auto [anywhere, i, k] = TaskRows<T>::meeting(first, second);
    if (!anywhere) return;
    const std::vector<int>& loads = second.way[k].sites;
    // Unit wrenches on each load in turn; the motion is carried to the first link.
    for (std::size_t load = 0; load < loads.size(); ++load) {
      const Motion<V>* a = respond(second.way[k].node, loads[load], first.way[i].sites);
      const Motion<V>* moved = carry(first.way, i, a);
      transpose(moved, next_.data() + load * column_blocks);
    }
    // Now the motion of the loads for unit wrenches on the first link; on to the second link.
    const Motion<V>* moved = carry(second.way, k, next_.data());
    write(first, second, moved, out);
  }

  /// Motion a of the sites of stop `from` of a way, joint by joint to its link. No force acts
  /// there.
  const Motion<V>* carry(const std::vector<Stop>& way, std::size_t from, const Motion<V>* a) {
    for (std::size_t k = from; k-- > 0;) {
      const auto& node = tree_.nodes()[way[k].node];
      std::fill(yd_.begin(), yd_.begin() + node.n * column_blocks, V(0.0));
      tree_.outward(node, column_blocks, a, yd_.data());
      Motion<V>* next = a == x_.data() ? y_.data() : x_.data();
      for (std::size_t s = 0; s < way[k].sites.size(); ++s) {
        tree_.motion_of(node, way[k].sites[s], column_blocks, a, yd_.data(),
                        next + s * column_blocks);
      }
      a = next;
    }
    return a;
  }
  static void transpose(const Motion<V>* from, Motion<V>* to) {
    for (int b = 0; b < column_blocks; ++b) to[b] = Motion<V>::zero();
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) {
        row_of<T>(&to[i / lanes][j], i % lanes) = row_of<T>(&from[j / lanes][i], j % lanes);
      }
    }
  }

  /// @param omega  motion of the second link for unit wrenches on the first, by columns
  void write(const typename TaskRows<T>::Part& first, const typename TaskRows<T>::Part& second,
             const Motion<V>* omega, T* out) {
    rows_.place(tree_, first, K_.data());
    rows_.place(tree_, second, out_.data());
    for (int r = 0; r < first.part->size(); ++r) {
      Motion<T> a = Motion<T>::zero();  // of the second link, for a force along row r
      for (int k = 0; k < 6; ++k) {
        const T& x = row_of<T>(&K_[r / lanes][k], r % lanes);
        for (int c = 0; c < 6; ++c) a[c] += row_of<T>(&omega[k / lanes][c], k % lanes) * x;
      }
      for (int b = 0; b < second.blocks; ++b) {
        const V product = dot(a, out_[b]);
        rows_.write(first, r, second, b, product, out);
      }
    }
  }

  ArticulatedTree<T> tree_;
  TaskRows<T> rows_;
  std::vector<Inertia> omega_;  ///< base to tips
  std::vector<int> above_;      ///< per node: that of its supports
  std::vector<Motion<V>> x_, y_, next_;
  std::vector<V> Kq_, yd_;
  std::vector<Force<V>> K_, out_;
};

}  // namespace espalier
