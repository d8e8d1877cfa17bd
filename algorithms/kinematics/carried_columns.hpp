#pragma once

#include <algorithm>
#include <type_traits>

#include "algorithms/kinematics/joint_columns.hpp"
#include "algorithms/kinematics/store_six.hpp"

namespace espalier {

/// Columns of joints carried to a link, X S, straight into its Jacobian: four at once where a
/// stretch of them has so many, else one by one.
template <class T>
class CarriedColumns {
 public:
  using Frame = KeptFrame<T>;

  /// @param columns  what is carried is placed
  /// @param X        from the root's frame to the link's
  /// @param nv       columns of the Jacobian
  CarriedColumns(const JointColumns<T>& columns, const Frame& X, long nv)
      : columns_(columns), X_(X), nv_(nv) {}

  /// X itself: the columns of the floating root's rates. @param[out] J  where the first starts
  void write_root(T* J) const {
    for (int i = 0; i < 3; ++i) {
      T *angular = J + i * nv_, *linear = J + (3 + i) * nv_;
      if constexpr (plain) {
        X_.E[i].store(angular);  // the last number is zero, as that column is
        store_six(cross(X_.r, X_.E[i]), X_.E[i], linear);
      } else {
        const Vec3<T>& w = X_.E.row[i];
        const Vec3<T> v = cross(X_.r, w);
        for (int a = 0; a < 3; ++a) angular[a] = linear[3 + a] = w[a], linear[a] = v[a];
      }
    }
  }

  /// X S for the columns of the rates first to end - 1. From the link to the ground: the column
  /// before them may become zero.
  /// @param shift  from these rates to columns of the Jacobian
  /// @param[out] J  where the first column of all starts
  [[gnu::always_inline]] void write(int first, int end, int shift, T* J) const {
    J += first + shift;
    if constexpr (plain) {
      // Rows by two pointers of three each: what is left of a link's time is mostly addresses.
      const int count = end - first;
      const T* const S = columns_.component(0) + first;
      T* const linear = J + 3 * nv_;
      if (count >= Quad::size) {
        for (long j = 0;; j = std::min(j + Quad::size, long{count} - Quad::size)) {
          const Motion<Quad> m = four(S + j);  // up to three are done twice
          for (int r = 0; r < 3; ++r) m.w[r].store(J + j + r * nv_);
          for (int r = 0; r < 3; ++r) m.v[r].store(linear + j + r * nv_);
          if (j == count - Quad::size) return;
        }
      }
      if (count == 3 && first + shift > 0) {  // with the one before: half the stores
        const Motion<Quad> m = four(S - 1);
        for (int r = 0; r < 3; ++r) last_three(m.w[r]).store(J - 1 + r * nv_);
        for (int r = 0; r < 3; ++r) last_three(m.v[r]).store(linear - 1 + r * nv_);
        return;
      }
    }
    const auto X = by_columns();
    for (int j = first; j < end; ++j, ++J) {
      const auto m = column(X, j);
      for (int i = 0; i < 3; ++i) J[i * nv_] = m.w[i], J[(3 + i) * nv_] = m.v[i];
    }
  }
  /// J += X S G for one column of S. @param G  as many numbers as columns of J
  void add_times(int rate, const T* G, int count, T* J) const {
    const auto m = column(by_columns(), rate);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < count; ++j) {
        J[i * nv_ + j] += G[j] * m.w[i], J[(3 + i) * nv_ + j] += G[j] * m.v[i];
      }
    }
  }

 private:
  static constexpr bool plain = std::is_same_v<T, double>;
  struct Both {
    Quad w, v;
  };
  struct ByColumns {
    std::array<Quad, 3> E;
    Quad Er;
  };

  /// Zero in the first lane, whatever is there.
  static Quad last_three(const Quad& x) {
    return Quad(__builtin_shufflevector(x.lanes, Quad(0.0).lanes, 4, 1, 2, 3));
  }
  /// X S for four columns, one in each lane.
  /// @param S  where the first component of the first one is
  [[gnu::always_inline]] Motion<Quad> four(const T* S) const {
    const long stride = columns_.stride();
    const T* const linear = S + 3 * stride;
    Motion<Quad> m;
    for (int r = 0; r < 3; ++r) m.w[r] = Quad::load(S + r * stride);
    for (int r = 0; r < 3; ++r) m.v[r] = Quad::load(linear + r * stride);
    const Transform<double> X{{three(X_.E[0]), three(X_.E[1]), three(X_.E[2])}, three(X_.r)};
    return X * m;
  }
  /// What one column is multiplied with: of doubles E by columns, and E r.
  auto by_columns() const {
    if constexpr (plain) {
      const std::array<Quad, 3> E = transposed(X_.E);
      return ByColumns{E, Quad(X_.r[0]) * E[0] + Quad(X_.r[1]) * E[1] + Quad(X_.r[2]) * E[2]};
    } else {
      return X_;
    }
  }
  /// X S for one: of doubles E w and E v + E w x E r.
  template <class Given>
  auto column(const Given& X, int rate) const {
    if constexpr (plain) {
      const auto E_times = [&](int r) {
        return Quad(columns_.component(r)[rate]) * X.E[0] +
               Quad(columns_.component(r + 1)[rate]) * X.E[1] +
               Quad(columns_.component(r + 2)[rate]) * X.E[2];
      };
      const Quad w = E_times(0);
      return Both{w, E_times(3) + cross(w, X.Er)};
    } else {
      return X * columns_.column(rate);
    }
  }

  const JointColumns<T>& columns_;
  const Frame& X_;
  long nv_;
};

}  // namespace espalier
