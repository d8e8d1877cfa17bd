#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "algorithms/derivatives/variation/branch_factor.hpp"
#include "algorithms/derivatives/variation/independent_ltl.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"

namespace espalier {

/// M of robots as lanes, factored for them together for a single column; M^-1 and many columns are
/// solved for one robot after the other, whose columns are lanes then.
template <class T>
class LaneMassFactor {
 public:
  explicit LaneMassFactor(const Model& model)
      : size_(static_cast<long>(model.nv()) * model.nv()), ltl_(model), one_(model) {
    const BranchPlan plan(model);
    for (const BranchPlan::Branch& s : plan.branches()) {
      for (int k = s.begin; k < s.end; ++k) {
        for (const int j : plan.carriers(s)) relate(k, j, model.nv());
        for (int j = s.begin; j <= k; ++j) relate(k, j, model.nv());
      }
    }
    for (auto* x : {&M_, &A_, &B_}) x->assign(size_ + Pack::size, 0.0);
    for (auto* x : {&X_, &Y_, &Z_}) x->resize(size_ * T::size);
  }

  /// @param M  stays until it is solved with
  void factor(const T* M) {
    all_M_ = M;
    ltl_.factor(M);
  }
  /// x = M^-1 x.
  void solve(T* x) const { ltl_.solve(x); }
  /// Writes Z = M^-1, row-major.
  void invert(T* Z) {
    for (int lane = 0; lane < T::size; ++lane) {
      take(lane);
      one_.invert(Z_.data() + lane * size_);
    }
    write(Z_, Z);
  }
  /// Writes X = -M^-1 A, Y = -M^-1 B and Z = M^-1: see BranchFactor.
  void solve(const T* A, const T* B, T* X, T* Y, T* Z) {
    for (int lane = 0; lane < T::size; ++lane) {
      take(lane);
      for (const int e : entries_) A_[e] = A[e][lane], B_[e] = B[e][lane];
      const long at = lane * size_;
      one_.invert(Z_.data() + at);
      one_.solve(A_.data(), B_.data(), X_.data() + at, Y_.data() + at);
    }
    write(X_, X), write(Y_, Y), write(Z_, Z);
  }

 private:
  void relate(int k, int j, int n) {
    lower_.push_back(k * n + j);
    entries_.push_back(k * n + j);
    if (j != k) entries_.push_back(j * n + k);
  }
  void take(int lane) {
    for (const int e : lower_) M_[e] = all_M_[e][lane];
    one_.factor(M_.data());
  }
  void write(const std::vector<double>& from, T* to) const {
    detail::load_states<T>(from.data(), static_cast<int>(size_), std::span<T* const>(&to, 1));
  }

  long size_;  ///< of a matrix
  IndependentLtl<T> ltl_;
  BranchFactor one_;
  std::vector<int> lower_, entries_;  ///< of coordinates of which one carries the other
  const T* all_M_ = nullptr;
  std::vector<double> M_, A_, B_;  ///< of one robot; zero elsewhere
  std::vector<double> X_, Y_, Z_;  ///< of all
};

/// What solves with M at a scalar.
template <class T>
using MassFactor = std::conditional_t<std::is_same_v<T, double>, BranchFactor, LaneMassFactor<T>>;

}  // namespace espalier
