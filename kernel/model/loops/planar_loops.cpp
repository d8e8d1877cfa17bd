#include "espalier/kernel/model/loops/planar_loops.hpp"

#include <cmath>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"

namespace espalier {

namespace {

/// Rounding of products of rotations, for sines. A cosine is 1 to the same digits at an angle of
/// 1e-6, as of axes that a file gives to six digits: pins of such a loop bear forces across it.
constexpr double rounding = 1e-12;

bool parallel(const Vec3<double>& a, const Vec3<double>& b) {
  const Vec3<double> sine = cross(a, b);
  return dot(a, b) > 0.0 && dot(sine, sine) <= rounding * rounding;
}

}  // namespace

std::optional<PlanarLoops> PlanarLoops::find(const Model& model, const Cluster& c,
                                             const ClusterConstraint& constraint) {
  if (constraint.loops.empty() || c.supports.size() != 1) return std::nullopt;
  PlanarLoops out;
  Vec3<double>&u = out.u, &w = out.w;
  Vec3<double> n{0, 0, 0};
  const Vec3<double> z{0, 0, 1};
  for (int i = c.first; i < c.first + c.count; ++i) {
    const Body& body = model.body(i);
    const BodyRun& run = model.runs()[body.run];
    if (run.subspace != SubspaceKind::revolute_z || run.nq != 1) return std::nullopt;
    const Transform<double>& X = body.placement;
    Bar bar;
    if (body.parent >= c.first) {
      if (!parallel(X.E.row[2], z)) return std::nullopt;
      bar.parent = body.parent - c.first;
      bar.x = X.r.x, bar.y = X.r.y;
    } else {
      if (out.bars.empty()) {
        u = X.E.row[0], w = X.E.row[1], n = X.E.row[2];
      } else if (!parallel(X.E.row[2], n)) {
        return std::nullopt;
      }
      bar.x = dot(X.r, u), bar.y = dot(X.r, w);
    }
    out.bars.push_back(std::move(bar));
  }
  for (const ClusterConstraint::Loop& loop : constraint.loops) {
    if (loop.rows.size() != 2) return std::nullopt;
    Pin pin;
    const auto end = [&](int body, const Transform<double>& at, int& bar, double& x, double& y) {
      if (body >= c.first) {
        bar = body - c.first;
        x = at.r.x, y = at.r.y;
      } else {
        bar = -1;
        x = dot(at.r, u), y = dot(at.r, w);
      }
    };
    end(loop.predecessor, loop.at_predecessor, pin.predecessor, pin.px, pin.py);
    end(loop.successor, loop.at_successor, pin.successor, pin.sx, pin.sy);
    // Both rows hold the successor's origin on the predecessor's, in the plane.
    for (const LoopRow& row : loop.rows) {
      if (row.kind != LoopRow::Kind::along || row.value != 0.0) return std::nullopt;
      const Vec3<double> a = transpose_times(loop.at_predecessor.E, row.a);
      const double out_of_plane = loop.predecessor >= c.first ? a.z : dot(a, n);
      if (std::abs(out_of_plane) > rounding) return std::nullopt;
    }
    for (const auto& [body, sign] : loop.path) pin.path.emplace_back(body - c.first, sign);
    out.pins.push_back(std::move(pin));
  }
  return out;
}

}  // namespace espalier
