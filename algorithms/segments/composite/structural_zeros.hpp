#pragma once

#include <vector>

#include "espalier/kernel/model/layout.hpp"

namespace espalier {

/// The entries of a mass matrix that are zero at every position, in runs of neighbours: of two
/// rates of which neither moves a body that the other one moves. Which rates of a cluster of
/// several bodies move which of them is not asked: with one of these, all entries count.
///
/// A matrix of packs does not fit into the nearest cache beside what is computed with: these are
/// zeroed, a third of a quadruped's, not all before most are written again.
class StructuralZeros {
 public:
  StructuralZeros() = default;  ///< none
  /// @param rates  of the matrix: m.nv(), or m.spanning_nv() for a spanning tree whose rates are
  ///               its own
  StructuralZeros(const Model& m, int rates) {
    const long n = rates;
    const bool spanning = rates == m.spanning_nv();
    for (const Cluster& c : m.clusters()) {
      if (c.count > 1 && !spanning) {
        runs_ = {{0, n * n}};
        return;
      }
    }
    std::vector<bool> met(n * n, false);
    const int bodies = spanning ? m.body_count() : m.active_body_count();
    for (int tip = 1; tip <= bodies; ++tip) {
      const Rates a = rates_of(m, tip, spanning);
      for (int i = tip; i != 0; i = m.body(i).parent) {
        const Rates b = rates_of(m, i, spanning);
        for (int k = a.first; k < a.first + a.count; ++k) {
          for (int l = b.first; l < b.first + b.count; ++l) met[k * n + l] = met[l * n + k] = true;
        }
      }
    }
    for (long k = 0; k < n * n; ++k) {
      if (met[k]) continue;
      const bool goes_on = k > 0 && !met[k - 1];
      if (!goes_on) runs_.push_back({k, 0});
      ++runs_.back().count;
    }
  }

  /// @param[out] M  of rates x rates numbers; others than these stay as they are
  template <class T>
  void write(T* M) const {
    const volatile double unknown = 0.0;  // else each short run becomes a call of memset
    const T zero(unknown);
    for (const Run& run : runs_) {
      for (T *x = M + run.first, *end = x + run.count; x != end; ++x) *x = zero;
    }
  }

 private:
  struct Run {
    long first, count;
  };
  struct Rates {
    int first, count;
  };
  static Rates rates_of(const Model& m, int body, bool spanning) {
    if (spanning) return {m.body(body).v, m.body(body).nv};
    const Cluster& c = m.clusters()[m.body(body).cluster];
    return {c.v, c.nv};
  }

  std::vector<Run> runs_;
};

}  // namespace espalier
