#pragma once

#include <cmath>
#include <string>
#include <type_traits>

#include "algorithms/chains/composites/composites.hpp"
#include "algorithms/chains/kernels.hpp"
#include "tests/spatial/dense.hpp"

// Random chains' numbers with each lane its own, and one lane of everything, for the tests of the
// hand-expanded kernels of chains, each alone against dense 6 x 6 algebra.

namespace espalier::test {

/// S of the state, C of the robot's constants (chains/kernels.hpp).
template <class S_, class C_>
struct Scalars {
  using S = S_;
  using C = C_;
};
template <class S>
constexpr int lane_count = 1;
template <class E, int n>
constexpr int lane_count<BasicPack<E, n>> = n;

/// Some dozen operations on numbers up to ten: 1e3 times half a unit in the last place of one.
template <class S>
constexpr double tolerance = is_single<S> ? 6e-5 : 1e-13;

// --- one lane of everything
// -----------------------------------------------------------------------

template <class S>
double one(const S& x, int k) {
  return lane(x, k);
}
template <class S>
Vec3<double> one(const Vec3<S>& v, int k) {
  return {one(v.x, k), one(v.y, k), one(v.z, k)};
}
template <class S>
Force<double> one(const Force<S>& f, int k) {
  return {one(f.n, k), one(f.f, k)};
}
template <class S>
Motion<double> one(const Motion<S>& m, int k) {
  return {one(m.w, k), one(m.v, k)};
}
template <class S>
Sym3<double> one(const Sym3<S>& A, int k) {
  return {one(A.xx, k), one(A.xy, k), one(A.xz, k), one(A.yy, k), one(A.yz, k), one(A.zz, k)};
}
template <class S>
Mat3<double> one(const Mat3<S>& B, int k) {
  return {{one(B.row[0], k), one(B.row[1], k), one(B.row[2], k)}};
}
template <class S>
ArticulatedInertia<double> one(const ArticulatedInertia<S>& I, int k) {
  return {one(I.A, k), one(I.B, k), one(I.C, k)};
}

/// Of chain moments as the rigid body without mass that they are.
template <class C>
Matrix6d dense_body(const ChainMoments<C>& b, int k) {
  const double xx = one(b.xx, k), xy = one(b.xy, k), xz = one(b.xz, k), yy = one(b.yy, k),
               yz = one(b.yz, k);
  return dense(
      RigidInertia<double>{0.0, {one(b.x, k), one(b.y, k), 0.0}, {yy, -xy, -xz, xx, -yz, xx + yy}});
}
template <class S>
Matrix6d dense_body(const CompositeMoments<S>& b, int k) {
  const Sym3<double> Sigma = one(b.Sigma, k);
  return dense(RigidInertia<double>{one(b.m, k),
                                    one(b.h, k),
                                    {Sigma.yy + Sigma.zz, -Sigma.xy, -Sigma.xz, Sigma.xx + Sigma.zz,
                                     -Sigma.yz, Sigma.xx + Sigma.yy}});
}

// --- random numbers
// -------------------------------------------------------------------------------

class Lanes : public Random {
 public:
  template <class S>
  S any() {
    if constexpr (is_pack<S>) {
      S x;
      for (int k = 0; k < S::size; ++k) x.set(k, static_cast<typename S::Element>(number()));
      return x;
    } else {
      return S(number());
    }
  }
  template <class S>
  Vec3<S> vec() {
    return {any<S>(), any<S>(), any<S>()};
  }
  template <class S>
  Force<S> force() {
    return {vec<S>(), vec<S>()};
  }
  template <class S>
  Motion<S> motion() {
    return {vec<S>(), vec<S>()};
  }
  template <class S>
  Sym3<S> sym() {
    return {any<S>(), any<S>(), any<S>(), any<S>(), any<S>(), any<S>()};
  }
  template <class S>
  Mat3<S> mat() {
    return {{vec<S>(), vec<S>(), vec<S>()}};
  }
  template <class S>
  ArticulatedInertia<S> articulated() {
    return {sym<S>(), mat<S>(), sym<S>()};
  }
  template <class C>
  ChainMoments<C> chain_moments() {
    return {any<C>(), any<C>(), any<C>(), any<C>(), any<C>(), any<C>(), any<C>()};
  }
  /// @param sine, cosine  where not both are zero, in all lanes
  template <class C>
  Turn<C> turn(double cosine = 0.0, double sine = 0.0) {
    if (cosine != 0.0 || sine != 0.0) return Turn<C>::of(C(cosine), C(sine));
    C c = any<C>(), s = any<C>();
    if constexpr (is_pack<C>) {
      for (int k = 0; k < C::size; ++k) {
        const double angle = 3.0 * c[k];
        c.set(k, static_cast<typename C::Element>(std::cos(angle)));
        s.set(k, static_cast<typename C::Element>(std::sin(angle)));
      }
    } else {
      const double angle = 3.0 * lane(c, 0);
      c = C(std::cos(angle)), s = C(std::sin(angle));
    }
    return Turn<C>::of(c, s);
  }
};

/// Of a robot: what its joint axes are to each other.
enum class Placement { parallel, right, any };

template <class C>
ChainPlacement<C> random_placement(Lanes& random, Placement placement, bool offset) {
  ChainPlacement<C> P;
  P.alpha = placement == Placement::parallel ? random.turn<C>(1.0, 0.0)
            : placement == Placement::right  ? random.turn<C>(0.0, 1.0)
                                             : random.turn<C>();
  P.a = P.d = C(0.0);
  if (offset) P.a = random.any<C>();
  if (offset && placement != Placement::parallel) P.d = random.any<C>();
  return P;
}
inline PairedPlacement random_paired_placement(Lanes& random, Placement placement, bool offset) {
  PairedPlacement P;
  static_cast<ChainPlacement<double>&>(P) = random_placement<double>(random, placement, offset);
  P.make_pairs();
  return P;
}
/// E = Rz Rx(alpha), r = (a, 0, d).
template <class C, class S>
Transform<double> transform_of(const ChainPlacement<C>& P, const Turn<S>& t, int k) {
  const double ca = one(P.alpha.c, k), sa = one(P.alpha.s, k), c = one(t.c, k), s = one(t.s, k);
  const Mat3<double> Rx{{{1, 0, 0}, {0, ca, sa}, {0, -sa, ca}}};
  const Mat3<double> Rz{{{c, s, 0}, {-s, c, 0}, {0, 0, 1}}};
  return {Rz * Rx, {one(P.a, k), 0.0, one(P.d, k)}};
}

/// Calls f.operator()<kind>(placement, offset) for every kernel, with every class of placements
/// that it covers: lanes may be narrower than their common kind.
template <class F>
void for_kernels(F&& f) {
  for (const Twist twist : {Twist::parallel, Twist::right, Twist::any}) {
    for (const bool offset : {false, true}) {
      for (const bool geared : {false, true}) {
        with_kind({twist, offset, geared}, [&]<ChainKind kind>() {
          for (const Placement placement :
               {Placement::parallel, Placement::right, Placement::any}) {
            const bool covered = kind.twist == Twist::any ||
                                 static_cast<int>(kind.twist) == static_cast<int>(placement);
            if (!covered) continue;
            SCOPED_TRACE("twist " + std::to_string(static_cast<int>(kind.twist)) + ", offset " +
                         std::to_string(kind.offset) + ", geared " + std::to_string(kind.geared) +
                         ", placement " + std::to_string(static_cast<int>(placement)));
            f.template operator()<kind>(placement, false);
            if (kind.offset) f.template operator()<kind>(placement, true);
          }
        });
      }
    }
  }
}

template <class Types>
class ChainKernelTest : public testing::Test {
 protected:
  using S = typename Types::S;
  using C = typename Types::C;
  static constexpr int lanes = lane_count<S>;

  template <class A, class B>
  static void expect_close(const A& a, const B& b) {
    expect_near(a, b, tolerance<S>);
  }
  /// Calls f.operator()<kind>(P, t) with random placements for every kernel.
  template <class F>
  void for_placements(F&& f) {
    for_kernels([&]<ChainKind kind>(Placement placement, bool offset) {
      const auto P = random_placement<C>(random_, placement, offset);
      const Turn<S> t = random_.template turn<S>();
      f.template operator()<kind>(P, t);
    });
  }

  Lanes random_;
};

// In each test: S, C and the random numbers of the fixture, by short names.
#define ESPALIER_HERE                                   \
  using S = typename TypeParam::S;                      \
  using C [[maybe_unused]] = typename TypeParam::C;     \
  [[maybe_unused]] constexpr int lanes = lane_count<S>; \
  Lanes& random = this->random_

}  // namespace espalier::test
