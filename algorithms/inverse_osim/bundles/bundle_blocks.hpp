#pragma once

#include <vector>

#include "algorithms/inverse_osim/bundles/bundle_state.hpp"

namespace espalier {

/// The blocks of J M^-1 J^T from what bundles have collected: pairs within a bundle stand in its w,
/// pairs that have met at a node are products with Omega of the node.
/// Source: theory/delassus 4.
template <class T>
class BundleBlocks {
 public:
  using V = typename RowLanes<T>::V;
  using Plan = BundlePlan<T>;
  using Term = typename Plan::Term;
  using RowBundle = typename Plan::RowBundle;
  static constexpr int lanes = Plan::lanes;

  explicit BundleBlocks(BundleState<T>& state) : state_(state) {
    int start = 0, last = 0;
    for (const auto& part : state.rows.parts()) {
      expanded_.push_back({start, 0});
      start += static_cast<int>(state.widest) * part.blocks;
      last += part.way.empty() ? 2 : 0;  // end-effectors on the ground
    }
    spread_.resize(start);
    for (std::size_t p = 0; p < state.plan.bundles().size(); ++p) {
      under_.emplace_back();
      for (const int m : state.plan.bundles()[p].terms) collect(m, under_.back());
      if (is_whole(p) && state.plan.bundles()[p].end < 0) ++last;  // reaches the ground
    }
    has_zeros_ = last != 1;
  }

  /// After all bundles have ended. @param[out] out  m x m
  void write(T* out) {
    out_ = out;
    const long m = state_.rows.size();  // pairs may have nothing but the ground in common
    if (has_zeros_) std::fill(out_, out_ + m * m, T(0.0));
    for (std::size_t p = 0; p < under_.size(); ++p) {
      if (is_whole(p)) write_blocks(state_.plan.bundles()[p]), expand(state_.plan.bundles()[p]);
    }
  }

 private:
  /// Whether a bundle was not stacked into another one.
  bool is_whole(std::size_t p) const {
    return state_.plan.terms()[state_.plan.bundles()[p].terms[0]].bundle == static_cast<int>(p);
  }
  /// End-effectors under a term.
  void collect(int m, std::vector<int>& parts) const {
    const Term& term = state_.plan.terms()[m];
    if (term.part >= 0) return parts.push_back(term.part);
    for (const int p : term.bundles) {
      for (const int below : state_.plan.bundles()[p].terms) collect(below, parts);
    }
  }

  /// An end-effector's rows on the sites of the node where its bundle ends.
  struct Expanded {
    int start;  ///< in spread_
    int sites;
  };
  Force<V>* spread(int part) { return spread_.data() + expanded_[part].start; }

  /// After the blocks within a bundle are written: the rows of all end-effectors under it on the
  /// sites of the node where it ends.
  void expand(const RowBundle& p) {
    if (p.end < 0) return;
    const int sites = static_cast<int>(state_.plan.terms()[p.end].sites.size());
    for (const int m : p.terms) {
      const Term& term = state_.plan.terms()[m];
      const Force<V>* K = state_.K.data() + p.K + term.start;
      if (term.part >= 0) {
        for (int s = 0; s < sites; ++s) {
          std::copy_n(K + s * p.blocks, term.blocks, spread(term.part) + s * term.blocks);
        }
        expanded_[term.part].sites = sites;
        continue;
      }
      for (const int below : term.bundles) {
        for (const int part : under_[below]) {
          const int blocks = state_.rows.parts()[part].blocks;
          const int inner = static_cast<int>(term.sites.size());
          for (int s = 0; s < sites; ++s) {
            for (int b = 0; b < blocks; ++b) {
              Force<V> sum = Force<V>::zero();
              for (int t = 0; t < inner; ++t) {
                for (int k = 0; k < 6; ++k) {
                  const int row = t * Plan::site_stride + k;
                  const V x = spread(part)[t * blocks + b][k];
                  for (int c = 0; c < 6; ++c) {
                    sum[c] += row_of<T>(&K[s * p.blocks + row / lanes][c], row % lanes) * x;
                  }
                }
              }
              state_.spare[s * blocks + b] = sum;
            }
          }
          std::copy_n(state_.spare.data(), sites * blocks, spread(part));
          expanded_[part].sites = sites;
        }
      }
    }
  }

  void write_blocks(const RowBundle& p) {
    for (std::size_t a = 0; a < p.terms.size(); ++a) {
      const Term& term = state_.plan.terms()[p.terms[a]];
      if (term.part < 0) {
        for (std::size_t i = 1; i < term.bundles.size(); ++i) {
          for (const int g : under_[term.bundles[i]]) {
            state_.times_omega(spread(g), static_cast<int>(term.sites.size()), blocks(g), blocks(g),
                               term, term, state_.Y.data());
            for (std::size_t j = 0; j < i; ++j) {
              for (const int h : under_[term.bundles[j]]) write_product(g, h, term.sites.size());
            }
          }
        }
      }
      for (std::size_t b = 0; b <= a; ++b)
        write_pair(p, term, state_.plan.terms()[p.terms[b]], a == b);
    }
  }
  int blocks(int part) const { return state_.rows.parts()[part].blocks; }

  void write_pair(const RowBundle& p, const Term& g, const Term& h, bool same) {
    if (g.part >= 0 && h.part >= 0) {
      const long m = state_.rows.size();
      const long R = state_.rows.parts()[g.part].part->first,
                 C = state_.rows.parts()[h.part].part->first;
      for (int i = 0; i < g.rows; ++i) {
        const V* w = state_.w.data() + p.w + (g.start * lanes + i) * p.blocks + h.start;
        T *row = out_ + (R + i) * m + C, *column = out_ + C * m + R + i;
        const int last = same ? i + 1 : h.rows;
        for (int j = 0; j < last; ++j) row[j] = column[j * m] = row_of<T>(w, j);
      }
    } else if (same) {
      return;  // pairs under one node
    } else if (g.part >= 0) {
      write_mixed(p, g, h);
    } else if (h.part >= 0) {
      write_mixed(p, h, g);
    } else {
      for (const int below : g.bundles) {
        for (const int part : under_[below]) {
          state_.times_omega(spread(part), static_cast<int>(g.sites.size()), blocks(part),
                             blocks(part), g, h, state_.Y.data());
          for (const int other : h.bundles) {
            for (const int second : under_[other]) write_product(part, second, h.sites.size());
          }
        }
      }
    }
  }
  /// An end-effector of a bundle and those under a node of it.
  void write_mixed(const RowBundle& p, const Term& g, const Term& node) {
    const int n = g.blocks;
    for (std::size_t s = 0; s < node.sites.size(); ++s) {
      for (int c = 0; c < 6; ++c) {
        const int column = node.start * lanes + static_cast<int>(s) * Plan::site_stride + c;
        for (int i = 0; i < n * lanes; ++i) {
          row_of<T>(&state_.Y[s * n + i / lanes][c], i % lanes) =
              i < g.rows ? state_.entry(p, g.start * lanes + i, column) : T(0.0);
        }
      }
    }
    for (const int below : node.bundles) {
      for (const int part : under_[below]) write_product(g.part, part, node.sites.size());
    }
  }
  /// Y of end-effector g times the rows of h.
  void write_product(int g, int h, std::size_t sites) {
    const int rows = state_.rows.parts()[g].part->size(), n = blocks(g), m = blocks(h);
    const Force<V>* K = spread(h);
    for (int i = 0; i < rows; ++i) {
      for (int b = 0; b < m; ++b) {
        V sum = V(0.0);
        for (std::size_t s = 0; s < sites; ++s) {
          for (int c = 0; c < 6; ++c) {
            sum += row_of<T>(&state_.Y[s * n + i / lanes][c], i % lanes) * K[s * m + b][c];
          }
        }
        state_.rows.write(state_.rows.parts()[g], i, state_.rows.parts()[h], b, sum, out_);
      }
    }
  }

  BundleState<T>& state_;
  std::vector<Force<V>> spread_;
  std::vector<Expanded> expanded_;
  std::vector<std::vector<int>> under_;  ///< end-effectors per bundle
  bool has_zeros_ = false;
  T* out_ = nullptr;
};

}  // namespace espalier
