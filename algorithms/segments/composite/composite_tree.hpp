#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "algorithms/chains/geared_clusters.hpp"
#include "algorithms/linear_algebra/mirror.hpp"
#include "algorithms/segments/composite/composite_frame.hpp"
#include "algorithms/segments/free_body.hpp"
#include "espalier/kernel/model/motion/joint_turns.hpp"

namespace espalier {

/// The mass matrix of a tree of joints of one rate, on the ground or on a floating root, body by
/// body, where the rates of what a body carries follow its own: the wrenches F of unit
/// accelerations lie side by side in memory, and row i of M is J_i^T F of these, four at a time.
/// Of a floating root, whose rates meet F itself, they are the first rows of M.
///
/// Frames: axes of the world, or of the floating root; composite bodies about their own origins; F
/// and J about the world's.  Cost: O(n d).  Source: Featherstone (2008), Table 6.2.
class CompositeTree {
 public:
  /// Whether all joints but a floating root's turn about z or slide along it, no rotor spins on
  /// any, and rates are in depth-first order.
  static bool can_pass(const Model& model) {
    if (!model.is_tree() || !model.rotors().empty() || !model.bodies_with_equations().empty()) {
      return false;
    }
    const int n = model.active_body_count(), root = floating_root(model, n);
    for (const BodyRun& run : model.active_runs()) {
      if (run.first == root && run.count == 1) continue;
      if (!are_revolute(run) && !slides(model, run)) return false;
    }
    for (int i = root + 1; i <= n; ++i) {
      int before = i - 1;
      while (before > root && before != model.body(i).parent) before = model.body(before).parent;
      if (before != model.body(i).parent) return false;
    }
    return n > root;
  }

  /// @param model  can_pass() is true
  explicit CompositeTree(const Model& model)
      : root_(floating_root(model, model.active_body_count())),
        size_(model.nv()),
        first_(root_ > 0 ? 6 : 0),
        bodies_(model.active_body_count() - root_ + 1),
        frames_(bodies_.size(), CompositeFrame::world()),
        armature_(size_, 0.0),
        sine_(model.active_body_count() + 1),
        cosine_(sine_.size()) {
    for (const auto& [rate, value] : model.armature()) armature_[rate] = value;
    for (const BodyRun& run : model.active_runs()) {
      if (are_revolute(run)) turning_.emplace_back(run);
    }
    std::vector<int> end(size_, size_);  // of the root's rates: all
    for (int k = static_cast<int>(bodies_.size()); k-- > 0;) {
      const int i = k + root_;
      OfBody& b = bodies_[k];
      const RigidInertia<double> I = i > 0 ? model.folded_inertia(i) : RigidInertia<double>::zero();
      b.constants.moments = Moments<double>::from(I);
      b.constants.mass += I.m;
      if (k == 0) continue;
      const Body& body = model.body(i);
      b.constants.placement = body.placement;
      b.constants.turned_about_x = CompositeFrame::Constants::is_turned_about_x(body.placement);
      b.constants.slides = !are_revolute(model.runs()[body.run]);
      b.q = body.q;
      b.parent = body.parent - root_;
      b.end = std::max(b.end, body.v + 1);
      bodies_[b.parent].end = std::max(bodies_[b.parent].end, b.end);
      bodies_[b.parent].constants.mass += b.constants.mass;
      end[body.v] = b.end;
      const int own = body.v + before(), last = b.end + before() - 1;
      b.more_blocks = last / width - own / width, b.diagonal = own % width;
      b.zero_blocks = blocks() - 1 - last / width;
      b.armature = armature_[body.v];
      const int column = own / width * width - before();
      b.row = static_cast<long>(body.v) * size_ + column, b.outside = std::max(0, -column);
      b.inside = last % width + 1;
    }
    mirrored_ = MirroredBlocks(end);
    blocks_.resize(blocks());
    const Quad zero(0.0);
    wrenches_.assign(blocks_.size() * width, {zero, zero});
  }

  /// From now on entries above the diagonal, and those that are zero at every position, need not be
  /// written.
  void leave_out_upper_triangle() { lower_ = true; }

  /// @param q       positions
  /// @param turns   of q, or nullptr
  /// @param[out] M  symmetric, full storage
  void compute(const double* q, const JointTurns<double>* turns, double* M) {
    const double *sine = sine_.data(), *cosine = cosine_.data();
    if (turns != nullptr) {
      sine = turns->sine(), cosine = turns->cosine();
    } else {
      for (const RunTurns<double>& run : turning_) run.update(q, sine_.data(), cosine_.data());
    }
    sine += root_, cosine += root_;
    frames_[0].composite = Composite::zero();
    const int count = static_cast<int>(bodies_.size());
    const OfBody* const bodies = bodies_.data();
    CompositeFrame* const frames = frames_.data();
    CompositeFrame::Place last = frames[0].at;
    for (int k = 1; k < count; ++k) {
      const OfBody& b = bodies[k];
      if (b.parent != k - 1) last = frames[b.parent].at;
      last = frames[k].place(b.constants, last, q + b.q, cosine + k, sine + k);
    }
    collect(M);
    if (root_ > 0) write_root(M);
    mirrored_.apply(M, !lower_);
  }

 private:
  using Composite = CompositeFrame::Composite;
  static constexpr int width = Quad::size;
  struct OfBody {
    CompositeFrame::Constants constants;
    int parent = 0;  ///< 0: the ground, or the floating root
    int q = 0;
    int end = 0;           ///< of the rates of what it carries
    long row = 0;          ///< where the block of its own rate begins in its row of M
    long outside = 0;      ///< numbers of that block that are before the row
    long diagonal = 0;     ///< place of its own rate in that block
    long more_blocks = 0;  ///< of the rates of what it carries
    long inside = width;   ///< lanes of the last one that are theirs
    long zero_blocks = 0;  ///< after that
    double armature = 0.0;
  };

  /// The wrenches of four neighbours.
  struct Block {
    std::array<Quad, 3> n, f;
  };

  /// Whether joints shift their bodies along z by their positions: their rates do, but where a
  /// joint stands at a position is its own affair, and is looked at.
  static bool slides(const Model& model, const BodyRun& run) {
    if (run.subspace != SubspaceKind::prismatic_z || run.nq != 1) return false;
    std::vector<Transform<double>> X(run.count);
    const JointKinematics<double> out{X.data(), nullptr, nullptr};
    for (const double position : {0.0, 1.0, -0.3}) {
      const std::vector<double> q(run.count, position);
      run.joints->kinematics(q.data(), nullptr, out);
      for (int k = 0; k < run.count; ++k) {
        const Transform<double>& P = model.body(run.first + k).placement;
        const Vec3<double> r = P.r + transpose_times(P.E, Vec3<double>{0.0, 0.0, position});
        constexpr double rounding = 1e-14;
        for (int i = 0; i < 3; ++i) {
          if (std::fabs(X[k].r[i] - r[i]) > rounding * (1.0 + std::fabs(r[i]))) return false;
          for (int j = 0; j < 3; ++j) {
            if (std::fabs(X[k].E(i, j) - P.E(i, j)) > rounding) return false;
          }
        }
      }
    }
    return true;
  }
  /// Rates before the first whole block, as MirroredBlocks has them. With these, blocks begin at
  /// -before().
  int before() const { return (width - size_ % width) % width; }
  int blocks() const { return (size_ + before()) / width; }

  /// From the tips on, four rates at a time, so that what is written of M leaves for the caches
  /// while the next ones are computed: their wrenches, composite bodies to the parents, and rows
  ///   M(i, j) = J_i^T F_j
  /// for all rates j of what a body carries, by whole blocks: what they have before the diagonal is
  /// written over by the mirror image. The rates of a floating root meet wrenches as they are.
  void collect(double* M) {
    // Read once: what is written might be anything to the compiler.
    const OfBody* const bodies = bodies_.data();
    CompositeFrame* const frames = frames_.data();
    Block* const sides = blocks_.data();
    const long size = size_, root = root_, first = first_ - 1 + before();
    CompositeFrame::Wrench* const wrenches = wrenches_.data();
    long k = static_cast<long>(bodies_.size());
    // From a body to its parent, where that comes next: from memory it would wait for the store.
    Composite passed = Composite::zero();
    for (long block = blocks(); k > 1;) {
      --block;
      const long end = k, begin = std::max(1L, block * width - first);
      while (k > begin) {
        const OfBody& b = bodies[--k];
        const CompositeFrame& frame = frames[k];
        CompositeFrame& parent = frames[b.parent];
        Composite sum = frame.composite;
        sum += passed;
        wrenches[k + first] = frame.wrench(b.constants, sum);
        passed = sum.shifted(b.constants.mass, frame.at.origin - parent.at.origin);
        if (b.parent == k - 1) continue;
        parent.composite += passed;
        passed = Composite::zero();
      }
      put_side_by_side(wrenches + block * width, sides[block],
                       root > 0 ? M + (block * width - before()) : nullptr, size);
      for (long i = begin; i < end; ++i) {
        write_row(bodies[i], frames[i], sides + block, M + bodies[i].row);
      }
    }
    frames[0].composite += passed;
  }
  /// @param F          wrenches of four rates
  /// @param[out] rows  their columns in the rows of the root's rates; nullptr: there is no root.
  ///   What belongs to the root's own rates is written over later.
  ESPALIER_ALWAYS_INLINE static void put_side_by_side(const CompositeFrame::Wrench* F, Block& to,
                                                      double* rows, long size) {
    const std::array<Quad, 4> n = transposed({F[0].n, F[1].n, F[2].n, F[3].n});
    const std::array<Quad, 4> f = transposed({F[0].f, F[1].f, F[2].f, F[3].f});
    for (int axis = 0; axis < 3; ++axis) to.n[axis] = n[axis], to.f[axis] = f[axis];
    if (rows == nullptr) return;
    for (int axis = 0; axis < 3; ++axis) {
      n[axis].store(rows + axis * size), f[axis].store(rows + (3 + axis) * size);
    }
  }
  /// Row i of M from the block of the diagonal on, with its zeros.
  /// @param own  that block  @param row  where it begins in the row
  ESPALIER_ALWAYS_INLINE static void write_row(const OfBody& b, const CompositeFrame& frame,
                                               const Block* own, double* row) {
    const Quad wx(frame.w[0]), wy(frame.w[1]), wz(frame.w[2]);
    const Quad vx(frame.v[0]), vy(frame.v[1]), vz(frame.v[2]);
    const auto met = [&](const Block& F) ESPALIER_INLINED {
      return (wx * F.n[0] + wy * F.n[1] + wz * F.n[2]) + (vx * F.f[0] + vy * F.f[1] + vz * F.f[2]);
    };
    const Block* F = own + b.more_blocks;
    double* to = row + b.more_blocks * width;
    Quad x = first_lanes(b.inside, met(*F));
    for (; F != own; x = met(*--F), to -= width) x.store(to);
    if (b.outside == 0) {
      x.store(row);
    } else {
      double numbers[width];
      x.store(numbers);
      const volatile long outside = b.outside;  // few rows: not to be unrolled
      for (long l = outside; l < width; ++l) row[l] = numbers[l];
    }
    row[b.diagonal] += b.armature;
    if (b.zero_blocks == 0) return;
    const volatile double unknown = 0.0;  // else zeros become a call of memset
    const Quad zero(static_cast<double>(unknown));
    to = row + (b.more_blocks + 1) * width;
    double* const row_end = to + b.zero_blocks * width;
    for (; to + 3 * width < row_end; to += 4 * width) {
      for (int l = 0; l < 4; ++l) zero.store(to + l * width);
    }
    for (; to < row_end; to += width) zero.store(to);
  }
  /// Zero in all lanes from `count` on, whatever is there.
  ESPALIER_ALWAYS_INLINE static Quad first_lanes(long count, const Quad& x) {
    using Bits [[gnu::vector_size(sizeof(Quad)), gnu::aligned(8), gnu::may_alias]] = long long;
    static constexpr long long kept[2 * width] = {-1, -1, -1, -1};
    const Bits mask = *reinterpret_cast<const Bits*>(kept + width - count);
    return Quad(reinterpret_cast<Quad::Lanes>(reinterpret_cast<Bits>(x.lanes) & mask));
  }
  void write_root(double* M) {
    CompositeFrame& frame = frames_[0];
    const CompositeFrame::Constants& b = bodies_[0].constants;
    const Vec3<double>& h0 = b.moments.h;
    const Sym3<double>& S = b.moments.Sigma;
    const auto& [h_carried, Sigma] = frame.composite;
    const Vec3<double> h{h_carried[0] + h0.x, h_carried[1] + h0.y, h_carried[2] + h0.z};
    const Moments<double> sum{b.mass,
                              h,
                              {Sigma[0][0] + S.xx, Sigma[0][1] + S.xy, Sigma[0][2] + S.xz,
                               Sigma[1][1] + S.yy, Sigma[1][2] + S.yz, Sigma[2][2] + S.zz}};
    const Sym3<double> I = sum.inertia();
    const double m = b.mass;
    const double rows[6][6] = {{I.xx, I.xy, I.xz, 0, -h.z, h.y}, {I.xy, I.yy, I.yz, h.z, 0, -h.x},
                               {I.xz, I.yz, I.zz, -h.y, h.x, 0}, {0, h.z, -h.y, m, 0, 0},
                               {-h.z, 0, h.x, 0, m, 0},          {h.y, -h.x, 0, 0, 0, m}};
    for (int k = 0; k < 6; ++k) {
      double* row = M + static_cast<long>(k) * size_;
      std::copy_n(rows[k], 6, row);
      row[k] += armature_[k];
    }
  }

  int root_, size_;
  int first_;                           ///< rate of the first body that is no root
  std::vector<OfBody> bodies_;          ///< from the ground or the floating root on
  std::vector<CompositeFrame> frames_;  ///< of these
  std::vector<double> armature_;        ///< per rate
  std::vector<double> sine_, cosine_;   ///< per body of the model
  std::vector<RunTurns<double>> turning_;
  std::vector<CompositeFrame::Wrench> wrenches_;  ///< per rate, from the first block on
  std::vector<Block> blocks_;                     ///< the same side by side
  MirroredBlocks mirrored_;
  bool lower_ = false;
};

}  // namespace espalier
