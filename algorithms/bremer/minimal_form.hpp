#pragma once

#include "algorithms/bremer/subsystem_terms.hpp"
#include "algorithms/linear_algebra/large_ldlt.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"

namespace espalier {

/// Forward dynamics in minimal form: the subsystems' matrices projected on the independent rates,
///   M = sum J_i^T M_i J_i,  h = sum J_i^T (M_i d_i + h_i),  J_i = dy_i/dqd = T_ip J_p + F_i,
/// with d_i = T_ip d_p + c_i, which is yd_i at qdd = 0; then a dense solve of M qdd = tau - h.
/// Frames: those of SubsystemTerms.  Cost: O(n d^2 + nv^3) for subsystems of bounded size.
/// Source: Krög et al., equations (6) and (9); theory/template 2.
template <class T>
class MinimalForm final : public ForwardDynamics<T> {
 public:
  explicit MinimalForm(const Setup& setup)
      : ForwardDynamics<T>(setup.model), tree_(setup), terms_(tree_) {
    std::size_t largest = 0;
    for (const SubsystemTree::Node& node : tree_.nodes()) {
      support_.push_back(node.parent < 0 ? std::vector<int>{} : support_[node.parent]);
      std::vector<int>& rates = support_.back();
      rates.insert(rates.end(), node.rates.begin(), node.rates.end());
      J_.emplace_back(node.size() * rates.size(), T(0.0));
      d_.emplace_back(node.size(), T(0.0));
      largest = std::max(largest, J_.back().size());
      for (std::size_t j = 0; j < node.rates.size(); ++j) {  // F_i
        const std::size_t column = rates.size() - node.rates.size() + j;
        J_.back()[(node.twists() + j) * rates.size() + column] = T(1.0);
      }
    }
    MJ_.resize(largest);
    M_.resize(static_cast<std::size_t>(this->model().nv()) * this->model().nv());
  }

 private:
  using Node = SubsystemTree::Node;

  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    terms_.update(q, v, this->gravity(), wrenches);
    const int nv = this->model().nv();
    std::fill(M_.begin(), M_.end(), T(0.0));
    std::copy_n(tau, nv, vdot);
    for (int i = 0; i < static_cast<int>(tree_.nodes().size()); ++i) {
      if (tree_.nodes()[i].parent >= 0) propagate(i);
      project(i, vdot);
    }
    large_ldlt(M_.data(), nv);
    large_ldlt_solve(M_.data(), nv, vdot);
  }

  /// J_i and d_i from those of the parent.
  void propagate(int i) {
    const Node& node = tree_.nodes()[i];
    const std::size_t columns = support_[i].size(), inherited = support_[node.parent].size();
    for (std::size_t a = 0; a < node.supports.size(); ++a) {
      const SubsystemTree::Site& at = tree_.seen_from_parent(node.supports[a]);
      T* J = J_[i].data() + 6 * a * columns;
      for (int r = 0; r < 6; ++r) {
        std::fill_n(J + r * columns, inherited, T(0.0));
        d_[i][6 * a + r] = terms_.xi(at)[r];
      }
      for (int k = 0; k < terms_.columns(at); ++k) {
        const Motion<T> Z = terms_.column(at, k);
        const int from = terms_.index(at, k);
        const T* J_p = J_[node.parent].data() + from * inherited;
        for (int r = 0; r < 6; ++r) {
          for (std::size_t c = 0; c < inherited; ++c) J[r * columns + c] += Z[r] * J_p[c];
          d_[i][6 * a + r] += Z[r] * d_[node.parent][from];
        }
      }
    }
  }

  /// M += J_i^T M_i J_i, upper triangle; rest -= J_i^T (M_i d_i + h_i).
  void project(int i, T* rest) {
    const std::vector<int>& rates = support_[i];
    const int size = tree_.nodes()[i].size(), columns = static_cast<int>(rates.size());
    const T* J = J_[i].data();
    const T* h = terms_.h(i);
    const T* M_i = terms_.M(i);
    const auto M = [&](int r, int c) { return M_i[std::max(r, c) * size + std::min(r, c)]; };
    for (int r = 0; r < size; ++r) {
      T* row = MJ_.data() + r * columns;
      std::fill_n(row, columns, T(0.0));
      T f = h[r];
      for (int l = 0; l < size; ++l) {
        const T m = M(r, l);
        for (int c = 0; c < columns; ++c) row[c] += m * J[l * columns + c];
        f += m * d_[i][l];
      }
      for (int c = 0; c < columns; ++c) rest[rates[c]] -= J[r * columns + c] * f;
    }
    const long nv = this->model().nv();
    for (int a = 0; a < columns; ++a) {
      for (int b = 0; b <= a; ++b) {
        T sum = T(0.0);
        for (int r = 0; r < size; ++r) sum += J[r * columns + a] * MJ_[r * columns + b];
        M_[std::min(rates[a], rates[b]) * nv + std::max(rates[a], rates[b])] += sum;
      }
    }
  }

  SubsystemTree tree_;
  SubsystemTerms<T> terms_;
  std::vector<std::vector<int>> support_;  ///< rates that move a subsystem: its parent's, its own
  std::vector<std::vector<T>> J_, d_;      ///< per subsystem; J by rows, columns as `support_`
  std::vector<T> MJ_, M_;
};

}  // namespace espalier
