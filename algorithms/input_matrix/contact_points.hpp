#pragma once

#include <optional>
#include <vector>

#include "algorithms/chains/columns/row_lanes.hpp"
#include "algorithms/input_matrix/acting_columns.hpp"
#include "espalier/kernel/spatial/spatial.hpp"

namespace espalier {

/// Point contacts on one link, a point in each lane, whose columns stand side by side: forces along
/// x, y and z at the first point, then at the next. What a unit wrench does to a rate is what that
/// rate does to the link, so these columns are the velocity v + w x p of the points: two products
/// each instead of six.
/// Source: theory/input-matrix 3.6.
template <class T>
struct ContactPoints {
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;
  /// Columns of the setup.
  static constexpr int columns = 3 * lanes;

  int column;     ///< the first one
  Vec3<V> point;  ///< in the link's axes, where rows are in the world's
  Vec3<V> arm;    ///< from there to where the forces act, in axes of the rows
  Vec3<V> p;      ///< where the forces act from the body's origin, likewise

  /// The points whose rows start at number k of a link, if there are enough.
  static std::optional<ContactPoints> at(const std::vector<ActingColumns::Row>& rows, int k) {
    if (k + columns > static_cast<int>(rows.size())) return std::nullopt;
    ContactPoints points{rows[k].column, {}, {}, {}};
    for (int lane = 0; lane < lanes; ++lane, k += 3) {
      if (rows[k].column != points.column + 3 * lane) return std::nullopt;
      const std::optional<Vec3<double>> arm = arm_of(&rows[k]);
      if (!arm) return std::nullopt;
      for (int i = 0; i < 3; ++i) {
        row_of<T>(&points.point[i], lane) = T(rows[k].point[i]);
        row_of<T>(&points.arm[i], lane) = T((*arm)[i]);
      }
    }
    points.p = points.arm;
    return points;
  }

  /// Rows of an answer.
  /// @param in     the six unit wrenches in the first row, the next a `stride` away
  /// @param width  of a row of `out`
  void combine(const T* in, std::size_t stride, std::size_t rows, std::size_t width, T* out) const {
    const Vec3<V> at = p;
    out += column;
    for (std::size_t r = 0; r < rows; ++r, in += stride, out += width) {
      const Vec3<V> w{V(in[0]), V(in[1]), V(in[2])}, v{V(in[3]), V(in[4]), V(in[5])};
      write_in_turn(v + cross(w, at), out);
    }
  }

 private:
  /// Of three rows that are unit forces along x, y and z at one point.
  static std::optional<Vec3<double>> arm_of(const ActingColumns::Row* rows) {
    const Vec3<double> arm{rows[1].wrench.n.z, rows[2].wrench.n.x, rows[0].wrench.n.y};
    for (int i = 0; i < 3; ++i) {
      Vec3<double> unit = Vec3<double>::zero();
      unit[i] = 1.0;
      const Force<double> expected{cross(arm, unit), unit};
      for (int k = 0; k < 6; ++k) {
        if (rows[i].wrench[k] != expected[k]) return std::nullopt;
      }
      if (rows[i].column != rows[0].column + i || !same(rows[i].point, rows[0].point)) {
        return std::nullopt;
      }
    }
    return arm;
  }
  static bool same(const Vec3<double>& a, const Vec3<double>& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
  /// x, y and z of the first lane, then of the next.
  static void write_in_turn(const Vec3<V>& x, T* out) {
    if constexpr (lanes == 1) {
      out[0] = x.x, out[1] = x.y, out[2] = x.z;
    } else {
      static_assert(lanes == 4);
      const auto xy = __builtin_shufflevector(x.x.lanes, x.y.lanes, 0, 4, 2, 6);
      const auto yz = __builtin_shufflevector(x.y.lanes, x.z.lanes, 1, 5, 3, 7);
      const auto zx = __builtin_shufflevector(x.z.lanes, x.x.lanes, 0, 5, 2, 7);
      V(__builtin_shufflevector(xy, zx, 0, 1, 4, 5)).store(out);
      V(__builtin_shufflevector(yz, xy, 0, 1, 6, 7)).store(out + 4);
      V(__builtin_shufflevector(zx, yz, 2, 3, 6, 7)).store(out + 8);
    }
  }
};

}  // namespace espalier
