#pragma once

#include "algorithms/inverse_osim/bundle_plan.hpp"
#include "espalier/kernel/problems/inverse_osim.hpp"

namespace espalier {

/// Inverse operational-space inertia by the inward sweep of the Popov-Vereshchagin solver: rows of
/// constraint are carried to the ground and collect on every joint what it adds to J M^-1 J^T.
/// PV-OSIM carries all rows that have met, PV-OSIMr starts again from a twist where that is
/// cheaper. On cluster trees both are the same with clusters in place of joints. Cost: O(n + m^2 d)
/// and O(n + m^2). Frames: those of ArticulatedTree. Source: Sathya et al. (2023), Algorithms 1 and
/// 3; theory/delassus 4 and theory/clusters 5.6.
template <class T>
class PvOsimBase : public InverseOsim<T> {
 public:
  using V = typename RowLanes<T>::V;
  using Plan = BundlePlan<T>;
  enum class Choice { stack, least_cost };

  PvOsimBase(const Setup& setup, Choice choice)
      : PvOsimBase(setup, [&](const TaskRows<T>& rows, const ArticulatedTree<T>& tree) {
          return choice == Choice::stack ? Plan::stacked(rows, tree) : Plan::best(rows, tree);
        }) {}
  /// With nodes where the caller wants them. @param starts  per body
  PvOsimBase(const Setup& setup, const std::vector<bool>& starts)
      : PvOsimBase(setup, [&](const TaskRows<T>& rows, const ArticulatedTree<T>& tree) {
          return Plan(rows, tree, starts);
        }) {}

  const Plan& plan() const { return plan_; }
  /// At the last evaluate().
  const ArticulatedTree<T>& tree() const { return tree_; }
  const TaskRows<T>& rows() const { return rows_; }

 private:
  using Term = typename Plan::Term;
  using RowBundle = typename Plan::RowBundle;
  using Step = typename Plan::Step;
  static constexpr int lanes = Plan::lanes;

  template <class MakePlan>
  PvOsimBase(const Setup& setup, MakePlan&& make_plan)
    requires std::is_invocable_v<MakePlan, const TaskRows<T>&, const ArticulatedTree<T>&>
      : InverseOsim<T>(setup),
        tree_(this->model(), nullptr, TaskRows<T>::rotors(this->model(), this->task())),
        rows_(this->task(), tree_),
        plan_(make_plan(rows_, tree_)),
        K_(plan_.K_size()),
        w_(plan_.w_size()),
        Kq_(static_cast<std::size_t>(plan_.largest()) * std::max(6, tree_.largest_node())),
        z_(Kq_.size()),
        Y_(plan_.largest()),
        spare_(plan_.largest()) {
    int start = 0;
    std::size_t widest = 1;
    for (const RowBundle& p : plan_.bundles()) {
      if (p.end >= 0) widest = std::max(widest, plan_.terms()[p.end].sites.size());
    }
    for (const auto& part : rows_.parts()) {
      expanded_.push_back({start, 0});
      start += static_cast<int>(widest) * part.blocks;
    }
    spread_.resize(start);
    const std::size_t largest = std::max<std::size_t>(start, Y_.size() * widest);
    Y_.resize(largest), spare_.resize(largest);
    for (const RowBundle& p : plan_.bundles()) {
      under_.emplace_back();
      for (const int m : p.terms) collect(m, under_.back());
    }
    int last = 0;  // bundles that reach the ground, and end-effectors on it
    for (std::size_t p = 0; p < plan_.bundles().size(); ++p) {
      if (is_whole(p) && plan_.bundles()[p].end < 0) ++last;
    }
    for (const auto& part : rows_.parts()) last += part.way.empty() ? 2 : 0;
    has_zeros_ = last != 1;
  }
  /// Whether a bundle was not stacked into another one.
  bool is_whole(std::size_t p) const {
    return plan_.terms()[plan_.bundles()[p].terms[0]].bundle == static_cast<int>(p);
  }
  /// End-effectors under a term.
  void collect(int m, std::vector<int>& parts) const {
    const Term& term = plan_.terms()[m];
    if (term.part >= 0) return parts.push_back(term.part);
    for (const int p : term.bundles) {
      for (const int below : plan_.bundles()[p].terms) collect(below, parts);
    }
  }

  void compute(const T* q, T* inverse_osim) override {
    tree_.place(q);
    std::size_t next = 0;
    const std::vector<Step>& steps = plan_.steps();
    for (; next < steps.size() && steps[next].kind == Step::Kind::start_part; ++next) {
      start_part(steps[next]);
    }
    // Both sweeps in one: each waits for its own chain of results.
    for (std::size_t k = tree_.order().size(); k-- > 0;) {
      const int node = tree_.order()[k];
      tree_.backward_pass(node);
      for (; next < steps.size() && steps[next].at == node; ++next) take(steps[next]);
    }
    for (std::size_t p = plan_.bundles().size(); p-- > 0;) add_end(plan_.bundles()[p]);
    out_ = inverse_osim;
    if (has_zeros_) {  // pairs that have nothing but the ground in common
      const long m = this->task().size();
      std::fill(out_, out_ + m * m, T(0.0));
    }
    for (std::size_t p = 0; p < plan_.bundles().size(); ++p) {
      if (!is_whole(p)) continue;
      write_blocks(plan_.bundles()[p]);
      expand(plan_.bundles()[p]);
    }
  }

  // --- inward -----------------------------------------------------------------------------------

  void take(const Step& step) {
    switch (step.kind) {
      case Step::Kind::start_part: start_part(step); break;
      case Step::Kind::start_node: start_node(step); break;
      case Step::Kind::stack: stack(step); break;
      case Step::Kind::cross: cross(step); break;
    }
  }
  void start_part(const Step& step) {
    const auto& part = rows_.parts()[plan_.terms()[step.term].part];
    rows_.place(tree_, part, K_.data() + plan_.bundles()[step.bundle].K);
  }
  /// The identity: row 6 s + k is component k of the twist of site s.
  void start_node(const Step& step) {
    const RowBundle& p = plan_.bundles()[step.bundle];
    const int sites = static_cast<int>(step.sites.size());
    for (int s = 0; s < sites; ++s) {
      Force<V>* K = K_.data() + p.K + s * p.blocks;
      for (int b = 0; b < p.blocks; ++b) K[b] = Force<V>::zero();
      for (int k = 0; k < 6; ++k) {
        const int row = s * Plan::site_stride + k;
        row_of<T>(&K[row / lanes][k], row % lanes) = T(1.0);
      }
    }
  }
  void stack(const Step& step) {
    const RowBundle& p = plan_.bundles()[step.bundle];
    Force<V>* K = K_.data() + p.K;
    if (step.sites.size() > 1) {
      for (std::size_t i = 0; i < step.sites.size() * p.blocks; ++i) K[i] = Force<V>::zero();
    }
    if (step.first) std::fill_n(w_.data() + p.w, p.blocks * lanes * p.blocks, V(0.0));
    int start = 0;
    for (std::size_t i = 0; i < step.from.size(); ++i) {
      const RowBundle& part = plan_.bundles()[step.from[i]];
      for (std::size_t s = 0; s < step.slots[i].size(); ++s) {
        std::copy_n(K_.data() + part.K + s * part.blocks, part.blocks,
                    K + step.slots[i][s] * p.blocks + start);
      }
      const V* from = w_.data() + part.w;
      V* to = w_.data() + p.w;
      for (int row = 0; row < (step.first && part.has_w ? part.blocks * lanes : 0); ++row) {
        std::copy_n(from + row * part.blocks, row / lanes + 1,
                    to + (start * lanes + row) * p.blocks + start);
      }
      start += part.blocks;
    }
  }
  void cross(const Step& step) {
    const RowBundle& p = plan_.bundles()[step.bundle];
    const auto& node = tree_.nodes()[step.node];
    Force<V>* K = K_.data() + p.K;
    const bool in_place = step.sites.size() == 1 && node.supports.size() <= 1;
    Force<V>* out = in_place ? K : spare_.data();
    tree_.inward(node, step.sites, p.blocks, K, Kq_.data(), z_.data(), out);
    if (!in_place) std::copy_n(out, node.supports.size() * p.blocks, K);
    const V *x = z_.data(), *y = Kq_.data();
    with_rates(node.n, [&](auto n) {
      if (!step.from.empty()) return add_stacked<n()>(p, step.from, node.n, x, y);
      step.first ? add_rows<true, n()>(p, node.n, x, y) : add_rows<false, n()>(p, node.n, x, y);
    });
  }
  /// Code of its own for joints of one rate and free ones; 0 stands for any number.
  template <class F>
  static void with_rates(int n, F&& f) {
    switch (n) {
      case 1: return f(std::integral_constant<int, 1>{});
      case 6: return f(std::integral_constant<int, 6>{});
      default: return f(std::integral_constant<int, 0>{});
    }
  }
  /// w += x^T y for n rows of x and y, or w = where it is the first of them; lower triangle by
  /// blocks.
  template <bool first, int fixed>
  void add_rows(const RowBundle& p, int n, const V* x, const V* y) {
    const int blocks = p.blocks;
    V* w = w_.data() + p.w;
    const bool two = lanes > 1 && blocks == 2;  // six rows: by far the most frequent
    for (const int row : p.rows) {
      V* w_row = w + row * blocks;
      const int last = two ? 1 : row / lanes;
      add_row<fixed>(n, blocks, x, y, row, 0, last, [&](int b, const V& sum) {
        w_row[b] = first ? sum : w_row[b] + sum;
      });
    }
  }
  /// The same where bundles have just been stacked: their w stand beside each other.
  template <int fixed>
  void add_stacked(const RowBundle& p, const std::vector<int>& from, int n, const V* x, const V* y) {
    const int blocks = p.blocks;
    V* w = w_.data() + p.w;
    int start = 0;
    for (const int f : from) {
      const RowBundle& part = plan_.bundles()[f];
      for (const int own : part.rows) {
        const int row = start * lanes + own;
        V* w_row = w + row * blocks;
        const V* w_own = w_.data() + part.w + own * part.blocks;
        add_row<fixed>(n, blocks, x, y, row, 0, start - 1,
                       [&](int b, const V& sum) { w_row[b] = sum; });
        add_row<fixed>(n, blocks, x, y, row, start, row / lanes, [&](int b, const V& sum) {
          w_row[b] = part.has_w ? w_own[b - start] + sum : sum;
        });
      }
      start += part.blocks;
    }
  }
  /// Hands on blocks `begin` to `last` of a row of x^T y.
  template <int fixed, class F>
  static void add_row(int n, int blocks, const V* x, const V* y, int row, int begin, int last,
                      F&& f) {
    if constexpr (fixed > 0) {
      V s[fixed];
      for (int j = 0; j < fixed; ++j) s[j] = V(row_of<T>(x + j * blocks, row));
      for (int b = begin; b <= last; ++b) {
        V sum = s[0] * y[b];
        for (int j = 1; j < fixed; ++j) sum += s[j] * y[j * blocks + b];
        f(b, sum);
      }
    } else {
      for (int b = begin; b <= last; ++b) {
        V sum = V(0.0);
        for (int j = 0; j < n; ++j) sum += row_of<T>(x + j * blocks, row) * y[j * blocks + b];
        f(b, sum);
      }
    }
  }

  // --- outward: what nodes add ------------------------------------------------------------------

  /// Entry of a bundle's w.
  const T& entry(const RowBundle& p, int i, int j) const {
    const int row = std::max(i, j), column = std::min(i, j);
    return row_of<T>(w_.data() + p.w + row * p.blocks, column);
  }
  /// w += K Omega K^T with Omega that of the node where the bundle ends.
  void add_end(const RowBundle& p) {
    if (p.end < 0) return;
    const Term& node = plan_.terms()[p.end];
    const int sites = static_cast<int>(node.sites.size());
    const Force<V>* K = K_.data() + p.K;
    times_omega(K, sites, p.blocks, p.blocks, node, node, Y_.data());
    for (int s = 0; s < sites; ++s) {
      for (int k = 0; k < 6; ++k) {
        for (int b = 0; b < p.blocks; ++b) {
          Kq_[k * p.blocks + b] = K[s * p.blocks + b][k];
          z_[k * p.blocks + b] = Y_[s * p.blocks + b][k];
        }
      }
      if (p.has_w || s > 0) {
        add_rows<false, 6>(p, 6, z_.data(), Kq_.data());
      } else {
        add_rows<true, 6>(p, 6, z_.data(), Kq_.data());
      }
    }
  }
  /// Y = K Omega: rows on the sites of node `from` times its columns for node `to` of one bundle.
  /// @param stride  between the sites of K; those of Y lie `blocks` apart
  void times_omega(const Force<V>* K, int sites, int stride, int blocks, const Term& from,
                   const Term& to, Force<V>* Y) const {
    const RowBundle& p = plan_.bundles()[from.bundle];
    for (std::size_t t = 0; t < to.sites.size(); ++t) {
      for (int s = 0; s < sites; ++s) {
        T omega[6][6];
        for (int c = 0; c < 6; ++c) {
          const int column = to.start * lanes + static_cast<int>(t) * Plan::site_stride + c;
          for (int k = 0; k < 6; ++k) {
            omega[c][k] = entry(p, from.start * lanes + s * Plan::site_stride + k, column);
          }
        }
        for (int b = 0; b < blocks; ++b) {
          const Force<V>& f = K[s * stride + b];
          Force<V>& y = Y[t * blocks + b];
          for (int c = 0; c < 6; ++c) {
            V sum = omega[c][0] * f[0];
            for (int k = 1; k < 6; ++k) sum += omega[c][k] * f[k];
            y[c] = s == 0 ? sum : y[c] + sum;
          }
        }
      }
    }
  }

  // --- results ----------------------------------------------------------------------------------

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
    const int sites = static_cast<int>(plan_.terms()[p.end].sites.size());
    for (const int m : p.terms) {
      const Term& term = plan_.terms()[m];
      const Force<V>* K = K_.data() + p.K + term.start;
      if (term.part >= 0) {
        for (int s = 0; s < sites; ++s) {
          std::copy_n(K + s * p.blocks, term.blocks, spread(term.part) + s * term.blocks);
        }
        expanded_[term.part].sites = sites;
        continue;
      }
      for (const int below : term.bundles) {
        for (const int part : under_[below]) {
          const int blocks = rows_.parts()[part].blocks;
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
              spare_[s * blocks + b] = sum;
            }
          }
          std::copy_n(spare_.data(), sites * blocks, spread(part));
          expanded_[part].sites = sites;
        }
      }
    }
  }

  void write_blocks(const RowBundle& p) {
    for (std::size_t a = 0; a < p.terms.size(); ++a) {
      const Term& term = plan_.terms()[p.terms[a]];
      if (term.part < 0) {
        for (std::size_t i = 1; i < term.bundles.size(); ++i) {
          for (const int g : under_[term.bundles[i]]) {
            times_omega(spread(g), static_cast<int>(term.sites.size()), blocks(g), blocks(g),
                        term, term, Y_.data());
            for (std::size_t j = 0; j < i; ++j) {
              for (const int h : under_[term.bundles[j]]) write_product(g, h, term.sites.size());
            }
          }
        }
      }
      for (std::size_t b = 0; b <= a; ++b) write_pair(p, term, plan_.terms()[p.terms[b]], a == b);
    }
  }
  int blocks(int part) const { return rows_.parts()[part].blocks; }

  void write_pair(const RowBundle& p, const Term& g, const Term& h, bool same) {
    if (g.part >= 0 && h.part >= 0) {
      const long m = this->task().size();
      const long R = rows_.parts()[g.part].part->first, C = rows_.parts()[h.part].part->first;
      for (int i = 0; i < g.rows; ++i) {
        const V* w = w_.data() + p.w + (g.start * lanes + i) * p.blocks + h.start;
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
          times_omega(spread(part), static_cast<int>(g.sites.size()), blocks(part), blocks(part), g,
                      h, Y_.data());
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
          row_of<T>(&Y_[s * n + i / lanes][c], i % lanes) =
              i < g.rows ? entry(p, g.start * lanes + i, column) : T(0.0);
        }
      }
    }
    for (const int below : node.bundles) {
      for (const int part : under_[below]) write_product(g.part, part, node.sites.size());
    }
  }
  /// Y of end-effector g times the rows of h.
  void write_product(int g, int h, std::size_t sites) {
    const int rows = rows_.parts()[g].part->size(), n = blocks(g), m = blocks(h);
    const Force<V>* K = spread(h);
    for (int i = 0; i < rows; ++i) {
      for (int b = 0; b < m; ++b) {
        V sum = V(0.0);
        for (std::size_t s = 0; s < sites; ++s) {
          for (int c = 0; c < 6; ++c) {
            sum += row_of<T>(&Y_[s * n + i / lanes][c], i % lanes) * K[s * m + b][c];
          }
        }
        rows_.write(rows_.parts()[g], i, rows_.parts()[h], b, sum, out_);
      }
    }
  }

  ArticulatedTree<T> tree_;
  TaskRows<T> rows_;
  Plan plan_;
  std::vector<Force<V>> K_;
  std::vector<V> w_;        ///< per bundle: rows x blocks, row-major, lower triangle
  std::vector<V> Kq_, z_;
  std::vector<Force<V>> Y_, spare_, spread_;
  std::vector<Expanded> expanded_;
  std::vector<std::vector<int>> under_;  ///< per bundle
  bool has_zeros_ = false;
  T* out_ = nullptr;
};

template <class T>
class PvOsim final : public PvOsimBase<T> {
 public:
  explicit PvOsim(const Setup& setup) : PvOsimBase<T>(setup, PvOsimBase<T>::Choice::stack) {}
};

template <class T>
class PvOsimr final : public PvOsimBase<T> {
 public:
  explicit PvOsimr(const Setup& setup) : PvOsimBase<T>(setup, PvOsimBase<T>::Choice::least_cost) {}
};

}  // namespace espalier
