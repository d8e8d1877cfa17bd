#pragma once

#include <memory>
#include <new>
#include <type_traits>

#include "espalier/kernel/model/law.hpp"
#include "espalier/kernel/scalar/dual.hpp"
#include "espalier/kernel/scalar/functions.hpp"

/// From one author's class to a LawType at every scalar.
///
/// The class L has
///   explicit L(const PartSpec&);                               reads its parameters
///   static constexpr std::array<std::string_view, k> parameters;  if there are any
///   static constexpr std::array<std::string_view, k> law_parameters;  those that the law reads,
///                                                if the class builds bodies, too, from others
///   static Parameters sample();       values for those without default, as an example
/// and either
///   static constexpr int positions, equations;
///   template <class T> void phi(const T* q, T* phi) const;     phi(q) = 0
/// or
///   static constexpr int independent, dependent;
///   template <class T> void gamma(const T* y, T* q) const;     q = gamma(y); the law's positions
///                                                              are (y, q)
/// The kernel differentiates these. For speed, an author may add to phi
///   template <class T> void K(const T* q, T* K) const;         dphi/dq, row-major
///   template <class T> void k(const T* q, const T* qd, T* k) const;  -(dK/dt) qd
/// or, where the two have sines or the like in common, these computed once for both,
///   template <class T> Terms<T> terms(const T* q) const;       a struct of T's
///   template <class T> void K(const Terms<T>&, T* K) const;
///   template <class T> void k(const Terms<T>&, const T* qd, T* k) const;
/// or to gamma
///   template <class T> void G(const T* y, T* G) const;         dgamma/dy, row-major
///   template <class T> void g(const T* y, const T* yd, T* g) const;  (dG/dt) yd
/// and to phi a solution in closed form
///   static constexpr int branches;
///   bool solve(double* q, int branch) const;  last `equations` positions from the first ones
/// All that is written by hand is compared with phi or gamma when the plugin registers, by
/// sample(), and when a model compiles (kernel/model/adapters/plugin_checks.hpp).

namespace espalier {

namespace detail {

template <class L>
concept ExplicitLaw = requires {
  L::dependent;
};

/// Whether phi or gamma can be called at scalars other than double, too.
template <class L>
concept WritesItsLaw = requires(const L& law, const Pack* q, Pack* out) {
  requires ExplicitLaw<L>;
  law.gamma(q, out);
}
|| requires(const L& law, const Pack* q, Pack* out) {
  L::positions;
  law.phi(q, out);
};

template <class L, class T>
using Terms = decltype(std::declval<const L&>().terms(std::declval<const T*>()));

template <class L>
class LawOf final : public Law {
 public:
  explicit LawOf(const PartSpec& spec) : law_(spec) {}

  static constexpr int position_count() {
    if constexpr (ExplicitLaw<L>) {
      return L::independent + L::dependent;
    } else {
      return L::positions;
    }
  }
  static constexpr int equation_count() {
    if constexpr (ExplicitLaw<L>) {
      return L::dependent;
    } else {
      return L::equations;
    }
  }
  int positions() const override { return position_count(); }
  int equations() const override { return equation_count(); }
  bool is_explicit() const override { return ExplicitLaw<L>; }
  int terms() const override {
    if constexpr (has_terms<double>) {
      return static_cast<int>(sizeof(Terms<L, double>) / sizeof(double));
    } else {
      return 0;
    }
  }

#define ESPALIER_OVERRIDE(T)                                                             \
  void phi(const T* q, T* phi) const override { phi_at(q, phi); }                        \
  void jacobian(const T* q, T* K, T* terms) const override { jacobian_at(q, K, terms); } \
  void bias(const T* q, const T* qd, const T* terms, T* k) const override {              \
    bias_at(q, qd, terms, k);                                                            \
  }                                                                                      \
  void vary(const T* q, const T* qd, const T* qdd, const T* x, const T* xd, T* d, T* dd) \
      const override {                                                                   \
    vary_at(q, qd, qdd, x, xd, d, dd);                                                   \
  }
  ESPALIER_SCALARS(ESPALIER_OVERRIDE)
#undef ESPALIER_OVERRIDE
  using Along = Dual<double>;
  void jacobian(const Along* q, Along* K, Along* terms) const override { jacobian_at(q, K, terms); }
  void bias(const Along* q, const Along* qd, const Along* terms, Along* k) const override {
    bias_at(q, qd, terms, k);
  }
  void vary(const Along* q, const Along* qd, const Along* qdd, const Along* x, const Along* xd,
            Along* d, Along* dd) const override {
    vary_at(q, qd, qdd, x, xd, d, dd);
  }

  void as_written(const double* in, double* out) const override {
    if constexpr (ExplicitLaw<L>) {
      law_.gamma(in, out);
    } else {
      law_.phi(in, out);
    }
  }

  int branches() const override {
    if constexpr (ExplicitLaw<L>) {
      return 1;
    } else if constexpr (requires { L::branches; }) {
      return L::branches;
    } else {
      return 0;
    }
  }
  bool solve(double* q, int branch) const override {
    if constexpr (ExplicitLaw<L>) {
      law_.gamma(q, q + L::independent);
      return true;
    } else if constexpr (requires { L::branches; }) {
      return law_.solve(q, branch);
    } else {
      return false;
    }
  }

 private:
  static constexpr int n = position_count(), m = equation_count();
  template <class T>
  static constexpr bool has_terms = requires(const L& law, const T* q) {
    law.terms(q);
  };

  template <class T>
  void phi_at(const T* q, T* phi) const {
    if constexpr (ExplicitLaw<L>) {
      T gamma[m];
      law_.gamma(q, gamma);
      for (int i = 0; i < m; ++i) phi[i] = q[L::independent + i] - gamma[i];
    } else {
      law_.phi(q, phi);
    }
  }

  template <class T>
  void jacobian_at(const T* q, T* K, [[maybe_unused]] T* terms) const {
    if constexpr (has_terms<T>) {
      const Terms<L, T> now = law_.terms(q);
      static_assert(
          std::is_trivially_copyable_v<Terms<L, double>> && sizeof(Terms<L, T>) % sizeof(T) == 0,
          "terms() returns a struct of T's");
      law_.K(now, K);
      std::construct_at(reinterpret_cast<Terms<L, T>*>(terms), now);
    } else if constexpr (ExplicitLaw<L>) {
      T G[m * L::independent];
      if constexpr (requires { law_.G(q, G); }) {
        law_.G(q, G);
      } else {
        for (int j = 0; j < L::independent; ++j) {
          Jet<T> y[L::independent], gamma[m];
          for (int i = 0; i < L::independent; ++i) y[i] = {q[i], T(i == j ? 1.0 : 0.0)};
          law_.gamma(static_cast<const Jet<T>*>(y), gamma);
          for (int i = 0; i < m; ++i) G[i * L::independent + j] = gamma[i].d;
        }
      }
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < L::independent; ++j) K[i * n + j] = -G[i * L::independent + j];
        for (int j = 0; j < m; ++j) K[i * n + L::independent + j] = T(i == j ? 1.0 : 0.0);
      }
    } else if constexpr (requires { law_.K(q, K); }) {
      law_.K(q, K);
    } else {
      for (int j = 0; j < n; ++j) {
        Jet<T> x[n], phi[m];
        for (int i = 0; i < n; ++i) x[i] = {q[i], T(i == j ? 1.0 : 0.0)};
        law_.phi(static_cast<const Jet<T>*>(x), phi);
        for (int i = 0; i < m; ++i) K[i * n + j] = phi[i].d;
      }
    }
  }

  template <class T>
  void bias_at(const T* q, const T* qd, [[maybe_unused]] const T* terms, T* k) const {
    if constexpr (has_terms<T>) {
      law_.k(*std::launder(reinterpret_cast<const Terms<L, T>*>(terms)), qd, k);
    } else if constexpr (ExplicitLaw<L>) {
      if constexpr (requires { law_.g(q, qd, k); }) {
        law_.g(q, qd, k);
      } else {
        Jet<T> y[L::independent], gamma[m];
        for (int i = 0; i < L::independent; ++i) y[i] = {q[i], qd[i]};
        law_.gamma(static_cast<const Jet<T>*>(y), gamma);
        for (int i = 0; i < m; ++i) k[i] = gamma[i].dd;
      }
    } else if constexpr (requires { law_.k(q, qd, k); }) {
      law_.k(q, qd, k);
    } else {
      Jet<T> x[n], phi[m];
      for (int i = 0; i < n; ++i) x[i] = {q[i], qd[i]};
      law_.phi(static_cast<const Jet<T>*>(x), phi);
      for (int i = 0; i < m; ++i) k[i] = -phi[i].dd;
    }
  }

  /// Taylor coefficients in t over dual numbers in e.
  template <class T>
  void vary_at(const T* q, const T* qd, const T* qdd, const T* x, const T* xd, T* d, T* dd) const {
    Jet<Dual<T>> path[n], phi[m];
    for (int i = 0; i < n; ++i) {
      path[i] = {Dual<T>(q[i], x[i]), Dual<T>(qd[i], xd[i]), Dual<T>(qdd[i], T(0.0))};
    }
    phi_at(static_cast<const Jet<Dual<T>>*>(path), phi);
    for (int i = 0; i < m; ++i) d[i] = phi[i].d.d, dd[i] = phi[i].dd.d;
  }

  L law_;
};

/// Those of the parameters that are named.
ESPALIER_API Parameters only(const Parameters& parameters,
                             const std::vector<std::string_view>& names);

/// An author's example, or none if everything has a default.
template <class M>
Parameters sample_of() {
  if constexpr (requires { M::sample(); }) {
    return M::sample();
  } else {
    return {};
  }
}

template <class L>
class LawTypeOf final : public LawType {
 public:
  std::vector<std::string_view> parameter_names() const override {
    if constexpr (requires { L::law_parameters; }) {
      return {L::law_parameters.begin(), L::law_parameters.end()};
    } else if constexpr (requires { L::parameters; }) {
      return {L::parameters.begin(), L::parameters.end()};
    } else {
      return {};
    }
  }
  int positions() const override { return LawOf<L>::position_count(); }
  Parameters sample() const override { return only(sample_of<L>(), parameter_names()); }
  std::unique_ptr<Law> make(const PartSpec& spec) const override {
    return std::make_unique<LawOf<L>>(spec);
  }
};

}  // namespace detail
}  // namespace espalier
