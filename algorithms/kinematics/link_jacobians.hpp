#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/kinematics/carried_columns.hpp"
#include "algorithms/kinematics/path_columns.hpp"
#include "algorithms/linear_algebra/zeros.hpp"
#include "algorithms/segments/free_body.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/kinematics/jacobian.hpp"

namespace espalier {

/// Jacobian of a link: the motion subspaces of the joints that support it, carried to the link.
/// The first link that is asked for after a move, and links that are not far from the ground, go
/// from the link to the ground. For others, joints are placed once; each keeps its columns in the
/// frame of its tree's root, so that a link turns and shifts those of its path, several at a time.
/// Cost: O(d) for each link, d its depth, and O(nv) for the zeros of all others.
/// Source: Featherstone (2008), section 3.2.
template <class T>
class LinkJacobians final : public BodyJacobians<T> {
 public:
  explicit LinkJacobians(ModelPtr model)
      : BodyJacobians<T>(std::move(model)),
        motion_(this->model()),
        turns_(this->model()),
        path_(this->model(), turns_.runs()),
        columns_(this->model(), turns_.runs()) {
    const Model& m = this->model();
    motion_.leave_out(turns_.runs(), std::vector<bool>(m.clusters().size()));
    stretches_.resize(m.body_count() + 1);
    const int root = floating_root(m, m.body_count());
    for (int i = 1; i <= m.body_count(); ++i) {
      const Body& body = m.body(i);
      const Cluster& cluster = m.clusters()[body.cluster];
      Stretch& own =
          stretches_[i] = {body.v,      body.v + body.nv,    cluster.v - cluster.spanning_v,
                           body.parent, cluster.constrained, i == root};
      const Stretch& above = stretches_[body.parent];
      if (body.parent == 0 || above.free || own.tied || above.tied || above.end != own.first ||
          above.shift != own.shift) {
        continue;
      }
      own.first = above.first, own.parent = above.parent;
    }
    // Whoever places the tip of a chain that stands on the ground has placed all of it.
    std::vector<bool> placed(stretches_.size(), false);  // for a link further out
    for (int i = m.body_count(); i > 0; --i) {
      Stretch& own = stretches_[i];
      own.by_path = own.by_path && pays_by_path(i, placed[i]);
      const int above = m.body(i).parent;
      placed[above] = placed[above] || placed[i] || !own.by_path;
      if (!own.by_path && own.parent == 0) stretches_[above].by_path = false;
    }
  }

 private:
  void compute(const T* q) override {
    motion_.update(q, nullptr);
    turns_.move(q);
    columns_.move();
    asked_ = false;
  }

  void compute_one(const T* q, const Link& link, T* J) override {
    motion_.update(q, nullptr);
    turns_.move_for_now(q);
    asked_ = false;
    write(link, J);
    turns_.forget();
  }

  /// Not inlined: all that it calls is compiled into it once.
  [[gnu::noinline]] void write(const Link& link, T* J) const override {
    const Model& model = this->model();
    const int nv = model.nv();
    const bool first = !std::exchange(asked_, true);
    if (first) {
      turns_.place_path(link.body);
    } else {
      turns_.place_all();
    }
    if (first || stretches_[link.body].by_path) {
      write_zeros(J, 6L * nv);
      return path_.write(link, turns_, motion_, J);
    }
    columns_.place(link.body, turns_, motion_.joints);
    const auto X = link.X * columns_.placement(link.body);
    // Not before: columns are placed number by number and read four at a time, which waits until
    // all stores before have reached the cache.
    write_zeros(J, 6L * nv);
    const CarriedColumns<T> carried(columns_, X, nv);
    for (int i = link.body; i != 0; i = stretches_[i].parent) {
      const Stretch& s = stretches_[i];
      if (s.free) {
        carried.write_root(J);  // its rates are the first ones
      } else if (s.tied) {
        add_dependent(model.body(i), carried, J);
      } else {
        carried.write(s.first, s.end, s.shift, J);
      }
    }
  }

  /// J += columns of a body's joint times their rows of the cluster's G.
  void add_dependent(const Body& body, const CarriedColumns<T>& carried, T* J) const {
    const Cluster& c = this->model().clusters()[body.cluster];
    for (int k = 0; k < body.nv; ++k) {
      carried.add_times(body.v + k, motion_.G(c) + c.row(body.v + k) * c.nv, c.nv, J + c.v);
    }
  }

  /// Whether a link of the body takes less time from the link to the ground than by what is placed.
  /// In tenths of a body of such a path (67 instructions, clang 14, x86-64-v3): to place a body
  /// takes 13 and the link 5, the root 8, a stretch 4 and for up to four columns 9 more; one or two
  /// columns take 13 or 19.
  /// @param placed  for another link anyway
  bool pays_by_path(int body, bool placed) const {
    int cost = placed ? 5 : 18;
    for (int i = body; i != 0; i = stretches_[i].parent) {
      const Stretch& s = stretches_[i];
      const int count = s.end - s.first;
      if (s.free) {
        cost += 8;
      } else {
        cost += count < 3 ? 7 + 6 * count : 4 + 9 * ((count + Quad::size - 1) / Quad::size);
      }
    }
    return 10 * path_.depth(body) <= cost;
  }

  /// Bodies one above the other whose rates follow one another: carried together.
  struct Stretch {
    int first = 0, end = 0;  ///< spanning rates, from the uppermost body to this one
    int shift = 0;           ///< from them to independent rates
    int parent = 0;          ///< of the uppermost body
    bool tied = false;       ///< in a cluster that a loop or coupling ties: alone
    bool free = false;       ///< the floating root: alone
    bool by_path = true;     ///< PathColumns is faster for links of this body
  };

  std::vector<Stretch> stretches_;  ///< per body, up from it
  SpanningMotion<T> motion_;
  mutable PathTurns<T> turns_;  ///< computed as links ask
  PathColumns<T> path_;
  mutable JointColumns<T> columns_;  ///< filled as links ask
  mutable bool asked_ = true;        ///< for a link since the last move
};

}  // namespace espalier
