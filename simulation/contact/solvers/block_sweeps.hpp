#pragma once

#include "simulation/contact/solvers/cones.hpp"

namespace espalier::contact {

/// Gauss-Seidel with every contact's three rows solved exactly at once.
///
/// The 3 x 3 block is turned into the eigenbasis of its Schur complement S = D_tt - D_tn D_nt /
/// d_n, where a slipping impulse is a rational function of one multiplier a, lam_i = -c_i / (s_i +
/// a), whose root is bracketed: a block is always solved, Painlevé's included.
/// Source: theory/contact 4.1, 4.2.
template <class T>
class BlockSweeps {
 public:
  void reserve(int contacts) { blocks_.reserve(contacts); }
  /// Eigenbases of all contacts. Cost: O(contacts).
  void prepare(const ImpulseProblem<T>& p) {
    const int m = p.size();
    blocks_.resize(p.contacts);
    for (int c = 0; c < p.contacts; ++c) {
      const auto D = [&](int i, int j) -> const T& {
        return p.G[static_cast<std::size_t>(3 * c + i) * m + 3 * c + j];
      };
      Block& b = blocks_[c];
      // Planar mechanisms have blocks of rank 1 or 2: a proximal term, without bias in solve().
      b.prox = larger(T(1e-9) * (D(0, 0) + D(1, 1) + D(2, 2)), T(1e-300));
      b.n = D(0, 0) + b.prox;
      b.inverse_n = reciprocal(b.n);
      const T S11 = D(1, 1) + b.prox - D(1, 0) * D(0, 1) * b.inverse_n;
      const T S22 = D(2, 2) + b.prox - D(2, 0) * D(0, 2) * b.inverse_n;
      const T S12 = D(1, 2) - D(1, 0) * D(0, 2) * b.inverse_n;
      // Jacobi's rotation.
      const T tau = T(0.5) * (S22 - S11);
      const T root = abs(tau) + Length<T>(tau * tau + S12 * S12).length;
      const T t = select(less(tau, T(0.0)), -S12, S12) * reciprocal(larger(root, T(1e-300)));
      b.cosine = reciprocal_root(T(1.0) + t * t);
      b.sine = t * b.cosine;
      b.s[0] = larger(S11 - t * S12, T(1e-3) * b.prox);
      b.s[1] = larger(S22 + t * S12, T(1e-3) * b.prox);
      for (int k = 0; k < 2; ++k) b.inverse_s[k] = reciprocal(b.s[k]);
      b.d[0] = b.cosine * D(0, 1) - b.sine * D(0, 2);
      b.d[1] = b.sine * D(0, 1) + b.cosine * D(0, 2);
    }
  }

  /// Sweeps [first, first + count) over all rows in the lanes that are live; even ones go forward,
  /// odd ones backward.
  void run(const ImpulseProblem<T>& p, int first, int count, Mask<T> live, T* lam, T* slip) const {
    if (count == 0) return;
    with_product(p, [&](const auto& product) {
      product.start(lam);
      for (int k = first; k < first + count; ++k) {
        sweep(p, product, k % 2 == 0, live, lam, slip);
      }
    });
  }

 private:
  struct Block {
    T prox, n, inverse_n, cosine, sine;
    T s[2], inverse_s[2], d[2];
  };

  template <class Product>
  void sweep(const ImpulseProblem<T>& p, const Product& product, bool forward, Mask<T> live, T* lam,
             T* slip) const {
    const int contacts = p.contacts, all = contacts + p.scalars;
    for (int k = 0; k < all; ++k) {
      const int i = forward ? k : all - 1 - k;
      if (i < contacts) {
        solve(p, product, i, live, lam, slip[i]);
        continue;
      }
      const int row = 3 * contacts + (i - contacts);
      T u;
      rates<1>(p, product, row, lam, &u);
      const T diagonal = p.G[static_cast<std::size_t>(row) * (p.size() + 1)];
      const Bounds<T> within = bounds(p, i - contacts, lam);
      const T next =
          clip(lam[row] - u * reciprocal(larger(diagonal, T(1e-300))), within.low, within.high);
      set(product, live, row, &next, lam);
    }
  }
  /// Impulses of a row or of the three of a contact.
  template <int q = 1, class Product>
  static void set(const Product& product, Mask<T> live, int row, const T* next, T* lam) {
    T change[q];
    for (int i = 0; i < q; ++i) {
      const T before = lam[row + i];
      lam[row + i] = select(live, next[i], before);
      change[i] = lam[row + i] - before;
    }
    product.template change<q>(row, change);
  }

  template <class Product>
  void solve(const ImpulseProblem<T>& p, const Product& product, int c, Mask<T> live, T* lam_all,
             T& slip) const {
    const Block& k = blocks_[c];
    const T& mu = p.mu[c];
    const T* lam = lam_all + 3 * c;
    const T t1 = k.cosine * lam[1] - k.sine * lam[2], t2 = k.sine * lam[1] + k.cosine * lam[2];
    T u[3];
    rates<3>(p, product, 3 * c, lam_all, u);
    const T &u_n = u[0], &u_1 = u[1], &u_2 = u[2];
    // Rates without this contact's impulse, around which the proximal term is.
    const T b_n = u_n - (k.n * lam[0] + k.d[0] * t1 + k.d[1] * t2);
    const auto free = [&](const T& rate, int i, const T& t) {
      // S t + d (d . t + n lam_n) / n is the block's row; c_i = b_i - d_i b_n / n.
      return rate - k.d[i] * lam[0] - k.s[i] * t -
             k.d[i] * k.inverse_n * (k.d[0] * t1 + k.d[1] * t2) - k.d[i] * b_n * k.inverse_n;
    };
    const T c1 = free(k.cosine * u_1 - k.sine * u_2, 0, t1);
    const T c2 = free(k.sine * u_1 + k.cosine * u_2, 1, t2);

    T l1 = -c1 * k.inverse_s[0], l2 = -c2 * k.inverse_s[1];
    T n = -(b_n + k.d[0] * l1 + k.d[1] * l2) * k.inverse_n;
    const Mask<T> pressed = less(b_n, T(0.0));
    const Mask<T> rough = less(T(0.0), mu);
    const Mask<T> stick = less_equal(l1 * l1 + l2 * l2, mu * mu * n * n) & less_equal(T(0.0), n);
    const Mask<T> slides = live & pressed & rough & ~stick;
    if (slides.any()) {
      T a = slide(k, mu, b_n, c1, c2, slides, slip);
      slip = select(slides, a, slip);
      l1 = select(slides, -c1 * reciprocal(k.s[0] + a), l1);
      l2 = select(slides, -c2 * reciprocal(k.s[1] + a), l2);
      n = -(b_n + k.d[0] * l1 + k.d[1] * l2) * k.inverse_n;
    }
    l1 = select(rough, l1, T(0.0));
    l2 = select(rough, l2, T(0.0));
    n = select(rough, n, -b_n * k.inverse_n);
    T next[3] = {select(pressed, n, T(0.0)), select(pressed, k.cosine * l1 + k.sine * l2, T(0.0)),
                 select(pressed, k.cosine * l2 - k.sine * l1, T(0.0))};
    clip_contact(mu, next);
    // NaN in, NaN out: without this a NaN would look like a contact that is apart.
    const T poison = u_n - u_n;
    for (T& x : next) x += poison;
    set<3>(product, live, 3 * c, next, lam_all);
  }

  /// The root a > 0 of 1 - mu n(a) / |lam_t(a)|, by Newton's method within a bracket.
  T slide(const Block& k, const T& mu, const T& b_n, const T& c1, const T& c2, Mask<T> live,
          const T& start) const {
    const T c = Length<T>(c1 * c1 + c2 * c2).length;
    const T d = Length<T>(k.d[0] * k.d[0] + k.d[1] * k.d[1]).length;
    T low(0.0);
    const T push = larger(-mu * b_n, T(1e-300));
    T high = larger(c * (T(1.0) + mu * d * k.inverse_n) * k.n * reciprocal(push) -
                        smaller(k.s[0], k.s[1]),
                    T(0.0)) +
             smaller(k.s[0], k.s[1]) * T(1e-6);
    T a = select(less(T(0.0), start) & less(start, high), start, T(0.0));
    for (int iteration = 0; iteration < 60; ++iteration) {
      const T i1 = reciprocal(k.s[0] + a), i2 = reciprocal(k.s[1] + a);
      const T l1 = -c1 * i1, l2 = -c2 * i2;
      const Length<T> of(l1 * l1 + l2 * l2);
      const T &q = of.length, &inverse_q = of.inverse;
      const T n = -(b_n + k.d[0] * l1 + k.d[1] * l2) * k.inverse_n;
      const T F = T(1.0) - mu * n * inverse_q;
      live = live & less(T(1e-13), abs(F));
      if (!live.any()) break;
      const T dq = -(l1 * l1 * i1 + l2 * l2 * i2) * inverse_q;
      const T dn = (k.d[0] * l1 * i1 + k.d[1] * l2 * i2) * k.inverse_n;
      const T dF = -mu * (dn * q - n * dq) * (inverse_q * inverse_q);
      const Mask<T> above = less(T(0.0), F);
      low = select(above & live, a, low);
      high = select(~above & live, a, high);
      const T newton = a - F * reciprocal(select(less(T(1e-300), abs(dF)), dF, T(1e300)));
      const Mask<T> inside = less(low, newton) & less(newton, high);
      const T next = select(inside, newton, T(0.5) * (low + high));
      live = live & (less(next, a) | less(a, next));  // until rounding
      a = select(live, next, a);
    }
    return a;
  }

  std::vector<Block> blocks_;
};

}  // namespace espalier::contact
