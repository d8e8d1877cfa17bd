#pragma once

#include <utility>

#include "algorithms/task_rows.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"

namespace espalier {

/// Inverse operational-space inertia by extended force propagators: the rows chi of every
/// end-effector are carried inward to all of its ancestors, the motion W that unit forces along
/// them cause is carried outward again, and a block is chi W at the closest common ancestor. On
/// cluster trees the same with clusters in place of joints (C-EFPA). Cost: O(n + m d + m^2).
/// Frames: those of ArticulatedTree.
/// Source: Wensing, Featherstone, Orin (2012), Table I; Chignoli et al. (2023), section VIII;
/// theory/delassus 4 and theory/clusters 5.6.
template <class T>
class Efpa : public InverseOsim<T> {
 public:
  using V = typename RowLanes<T>::V;

  explicit Efpa(const Setup& setup) : Efpa(setup, nullptr) {}

 protected:
  /// @param links  if not null, of the approximate robot; outlives this
  Efpa(const Setup& setup, const LinkTree* links)
      : InverseOsim<T>(setup),
        tree_(this->model(), links,
              links == nullptr ? TaskRows<T>::rotors(this->model(), this->task())
                               : std::vector<int>{}),
        rows_(this->task(), tree_) {
    std::size_t chi = 0, yd = 0, a = 0, widest = 0;
    for (const auto& part : rows_.parts()) {
      std::vector<Place> places;
      for (const auto& stop : part.way) {
        const auto& node = tree_.nodes()[stop.node];
        places.push_back({chi, yd, a});
        chi += stop.sites.size() * part.blocks;
        yd += static_cast<std::size_t>(node.n) * part.blocks;
        a += node.supports.size() * part.blocks;
        widest = std::max(widest, stop.sites.size());
      }
      largest_ = std::max(largest_, part.blocks);
      places_.push_back(std::move(places));
    }
    chi_.resize(chi), yd_.resize(yd), a_.resize(a), W_.resize(widest * largest_);
    on_link_.resize(largest_);
    Kq_.resize(static_cast<std::size_t>(largest_) * tree_.largest_node());
  }

 private:
  /// Where an end-effector's data at one stop of its way start.
  struct Place {
    std::size_t chi, yd, a;
  };

  void compute(const T* q, T* inverse_osim) override {
    tree_.update(q);
    const long m = this->task().size();
    std::fill(inverse_osim, inverse_osim + m * m, T(0.0));
    const std::size_t count = rows_.parts().size();
    for (std::size_t e = 0; e < count; ++e) carry_inward(e);
    for (std::size_t e = 0; e < count; ++e) {
      carry_outward(e);
      for (std::size_t g = 0; g <= e; ++g) write_block(g, e, inverse_osim);
    }
  }

  /// chi at every stop, and the forces that it puts on the rates.
  void carry_inward(std::size_t e) {
    const auto& part = rows_.parts()[e];
    if (part.way.empty()) return;
    rows_.place(tree_, part, chi_.data() + places_[e][0].chi);
    for (std::size_t k = 0; k < part.way.size(); ++k) {
      const Place& at = places_[e][k];
      Force<V>* next = k + 1 < part.way.size() ? chi_.data() + places_[e][k + 1].chi : nullptr;
      tree_.inward(tree_.nodes()[part.way[k].node], part.way[k].sites, part.blocks,
                   chi_.data() + at.chi, Kq_.data(), yd_.data() + at.yd, next);
    }
  }
  /// The motion that unit forces along the rows cause, at the supports of every stop and on the
  /// link.
  void carry_outward(std::size_t e) {
    const auto& part = rows_.parts()[e];
    for (std::size_t k = part.way.size(); k-- > 0;) {
      const Place& at = places_[e][k];
      const auto& node = tree_.nodes()[part.way[k].node];
      tree_.outward(node, part.blocks, a_.data() + at.a, yd_.data() + at.yd);
      Motion<V>* next = k == 0 ? on_link_.data() : a_.data() + places_[e][k - 1].a;
      for (std::size_t o = 0; o < part.way[k].sites.size(); ++o) {
        tree_.motion_of(node, part.way[k].sites[o], part.blocks, a_.data() + at.a,
                        yd_.data() + at.yd, next + o * part.blocks);
      }
    }
  }

  /// The block of two end-effectors, chi of g times W of e where their ways first meet.
  void write_block(std::size_t g, std::size_t e, T* out) {
    const auto &first = rows_.parts()[g], &second = rows_.parts()[e];
    const auto [anywhere, i, k] = TaskRows<T>::meeting(first, second);
    if (!anywhere) return;
    const auto& node = tree_.nodes()[second.way[k].node];
    const Place& at = places_[e][k];
    const std::vector<int>& sites = first.way[i].sites;
    const Motion<V>* W = k == 0 ? on_link_.data() : a_.data() + places_[e][k - 1].a;
    if (sites != second.way[k].sites) {  // other bodies of the same cluster
      for (std::size_t s = 0; s < sites.size(); ++s) {
        tree_.motion_of(node, sites[s], second.blocks, a_.data() + at.a, yd_.data() + at.yd,
                        W_.data() + s * second.blocks);
      }
      W = W_.data();
    }
    const Force<V>* chi = chi_.data() + places_[g][i].chi;
    constexpr int lanes = RowLanes<T>::size;
    for (int r = 0; r < first.part->size(); ++r) {
      for (int b = 0; b < second.blocks; ++b) {
        V sum = V(0.0);
        for (std::size_t s = 0; s < sites.size(); ++s) {
          for (int c = 0; c < 6; ++c) {
            sum += row_of<T>(&chi[s * first.blocks + r / lanes][c], r % lanes) *
                   W[s * second.blocks + b][c];
          }
        }
        rows_.write(first, r, second, b, sum, out);
      }
    }
  }

  ArticulatedTree<T> tree_;
  TaskRows<T> rows_;
  std::vector<std::vector<Place>> places_;  ///< per end-effector and stop
  std::vector<Force<V>> chi_;
  std::vector<V> yd_;
  std::vector<Motion<V>> a_;
  std::vector<Motion<V>> on_link_, W_;
  std::vector<V> Kq_;
  int largest_ = 0;
};

namespace detail {
/// A link tree that an algorithm owns before its base class is made.
struct OwnLinks {
  explicit OwnLinks(const Setup& setup) : links(*setup.model) {}
  LinkTree links;
};
}  // namespace detail

/// EFPA on the links alone, what transmissions turn beside them being reflected into armature.
/// Source: Chignoli et al. (2023), section II-E; link_tree.hpp.
template <class T>
class ApproximateEfpa final : private detail::OwnLinks, public Efpa<T> {
 public:
  explicit ApproximateEfpa(const Setup& setup)
      : OwnLinks(expect_links(setup)), Efpa<T>(setup, &this->links) {}

 private:
  /// @throws Unsupported for an end-effector on what the approximation has no body for
  static const Setup& expect_links(const Setup& setup) {
    const LinkTree links(*setup.model);
    for (const EndEffector& e : setup.end_effectors) {
      const Link* link = setup.model->find_link(e.link);
      if (link == nullptr || !links.is_reflected(link->body)) continue;
      throw Unsupported("approximate-efpa: link '" + e.link +
                        "' of an end-effector is a rotor that is reflected into its joint, "
                        "expected a link that is a body (use 'c-efpa')");
    }
    return setup;
  }
};

}  // namespace espalier
