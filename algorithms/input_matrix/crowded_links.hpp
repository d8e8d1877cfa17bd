#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "algorithms/input_matrix/contact_points.hpp"

namespace espalier {

/// Columns of an input matrix for contacts on links that have many: combinations of the columns of
/// six unit wrenches, row by row of the answer, several columns in the lanes of a V. Point contacts
/// take a way of their own.
/// Source: theory/input-matrix 3.6.
template <class T>
class CrowdedLinks {
 public:
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;

  /// @param place  of each column that passes, in a row that combine() gets
  CrowdedLinks(const ActingColumns& columns, const std::vector<int>& place) {
    for (const ActingColumns::Crowd& crowd : columns.crowds()) {
      Link& link = links_.emplace_back();
      link.body = crowd.body, link.place = place[crowd.first], link.world = crowd.world;
      const int count = static_cast<int>(crowd.rows.size());
      for (int k = 0, end = 0; k < count; k = end) {
        if (const auto points = ContactPoints<T>::at(crowd.rows, k)) {
          link.points.push_back(*points);
          end = k + ContactPoints<T>::columns;
          continue;
        }
        for (end = k + 1; end < count && crowd.rows[end].column == crowd.rows[end - 1].column + 1 &&
                          !ContactPoints<T>::at(crowd.rows, end);) {
          ++end;
        }
        // The last pack of columns that stand side by side may overlap the one before it.
        const int size = std::min(lanes, end - k);
        for (int i = k; i < end; i += lanes) add_pack(link, crowd, std::min(i, end - size), size);
      }
      const auto is_full = [](const Pack& pack) { return pack.size == lanes; };
      link.full =
          std::partition(link.packs.begin(), link.packs.end(), is_full) - link.packs.begin();
    }
  }

  /// Rows about the links' origins. @param attitude  attitude(body) is world to body axes
  template <class AttitudeOf>
  void turn(AttitudeOf&& attitude) {
    for (Link& link : links_) {
      if (!link.world) continue;
      const Mat3<T> E = attitude(link.body);
      for (Pack& pack : link.packs) {
        pack.K.n = pack.row.n + cross(transpose_times(E, pack.point), pack.row.f);
      }
      for (ContactPoints<T>& c : link.points) c.p = c.arm + transpose_times(E, c.point);
    }
  }

  /// Rows of an answer.
  /// @param in     the first row of the columns that pass, the next a `stride` away
  /// @param width  of a row of `out`
  void combine(const T* in, std::size_t stride, std::size_t rows, std::size_t width, T* out) const {
    for (const Link& link : links_) {
      const T* const units = in + link.place;
      std::size_t k = 0;
      for (; k + 3 <= link.full; k += 3) {
        combine<3>(&link.packs[k], units, stride, rows, width, out);
      }
      for (; k < link.full; ++k) combine<1>(&link.packs[k], units, stride, rows, width, out);
      for (; k < link.packs.size(); ++k) {
        combine_part(link.packs[k], units, stride, rows, width, out);
      }
      for (const ContactPoints<T>& points : link.points) {
        points.combine(units, stride, rows, width, out);
      }
    }
  }

 private:
  /// Columns that stand side by side in the setup.
  struct Pack {
    int column, size;
    Vec3<V> point;
    Force<V> row;  ///< about `point` where axes are the world's, else about the body's origin
    Force<V> K;    ///< about the body's origin
  };
  struct Link {
    int body, place;  ///< place: of the six unit wrenches, which stand side by side
    bool world;
    std::size_t full;  ///< packs whose lanes are all used; they come first
    std::vector<Pack> packs;
    std::vector<ContactPoints<T>> points;
  };

  /// Of a row of the unit wrenches, in all lanes.
  static Motion<V> spread(const T* in) {
    return {{V(in[0]), V(in[1]), V(in[2])}, {V(in[3]), V(in[4]), V(in[5])}};
  }
  /// dot() has two sums and adds them, for fewer steps that wait; here other packs fill the time.
  static V in_one_sum(const Motion<V>& a, const Force<V>& K) {
    return a.w.x * K.n.x + a.w.y * K.n.y + a.w.z * K.n.z + a.v.x * K.f.x + a.v.y * K.f.y +
           a.v.z * K.f.z;
  }
  /// `count` packs whose lanes are all used: the unit wrenches are read once for them.
  template <int count>
  static void combine(const Pack* packs, const T* in, std::size_t stride, std::size_t rows,
                      std::size_t width, T* out) {
    std::size_t column[count];
    for (int k = 0; k < count; ++k) column[k] = packs[k].column;
    for (std::size_t r = 0; r < rows; ++r, in += stride, out += width) {
      const Motion<V> a = spread(in);
      for (int k = 0; k < count; ++k) {
        const V sum = in_one_sum(a, packs[k].K);
        std::memcpy(static_cast<void*>(out + column[k]), &sum, sizeof(V));
      }
    }
  }
  static void combine_part(const Pack& pack, const T* in, std::size_t stride, std::size_t rows,
                           std::size_t width, T* out) {
    out += pack.column;
    for (std::size_t r = 0; r < rows; ++r, in += stride, out += width) {
      const V sum = in_one_sum(spread(in), pack.K);
      for (int i = 0; i < pack.size; ++i) out[i] = row_of<T>(&sum, i);
    }
  }
  static void add_pack(Link& link, const ActingColumns::Crowd& crowd, int first, int size) {
    Pack pack{crowd.rows[first].column, size, Vec3<V>::zero(), Force<V>::zero(), Force<V>::zero()};
    for (int k = 0; k < size; ++k) {
      const ActingColumns::Row& row = crowd.rows[first + k];
      for (int i = 0; i < 3; ++i) row_of<T>(&pack.point[i], k) = T(row.point[i]);
      for (int i = 0; i < 6; ++i) row_of<T>(&pack.row[i], k) = T(row.wrench[i]);
    }
    pack.K = pack.row;
    link.packs.push_back(pack);
  }

  std::vector<Link> links_;
};

}  // namespace espalier
