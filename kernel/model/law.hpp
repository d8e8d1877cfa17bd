#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/scalar/dual.hpp"

/// Laws between the positions of joints of one rate: what a gear, a differential or a four-bar
/// demands. An author writes one class (see law_adapter.hpp) with the equation alone; the kernel
/// derives the rest where the author does not.

namespace espalier {

/// phi(q) = 0 between the positions of some joints of one rate, with K = dphi/dq and
/// k = -(dK/dt) qd, so that K qd = 0 and K qdd = k (theory/clusters 5.1).
///
/// An explicit law q_dep = gamma(y) has the positions (y, q_dep) and phi = q_dep - gamma(y).
/// Immutable, shared by threads.
class ESPALIER_API Law {
 public:
  virtual ~Law();
  virtual int positions() const = 0;  ///< number of positions that it ties
  virtual int equations() const = 0;  ///< number of equations
  /// Whether the last positions are gamma of the first ones.
  virtual bool is_explicit() const = 0;
  /// How many numbers jacobian() leaves for bias() at the same position.
  virtual int terms() const = 0;

#define ESPALIER_DECLARE(T)                                                                      \
  virtual void phi(const T* q, T* phi) const = 0;                                                \
  /** K, equations x positions, row-major, and the terms. */                                     \
  virtual void jacobian(const T* q, T* K, T* terms) const = 0;                                   \
  /** k, one number per equation, from jacobian()'s terms at this q. */                          \
  virtual void bias(const T* q, const T* qd, const T* terms, T* k) const = 0;                    \
  /** How the first two derivatives of phi by t vary with e, at t = e = 0, on the path           \
      q + e x + t (qd + e xd) + t²/2 qdd: phi''(qd, x) + K xd, and                              \
      phi'''(qd, qd, x) + 2 phi''(qd, xd) + phi''(qdd, x). */                                    \
  virtual void vary(const T* q, const T* qd, const T* qdd, const T* x, const T* xd, T* d, T* dd) \
      const = 0;
  ESPALIER_SCALARS(ESPALIER_DECLARE)
#undef ESPALIER_DECLARE
  /// The same along one more direction, for second derivatives of the dynamics.
  virtual void jacobian(const Dual<double>* q, Dual<double>* K, Dual<double>* terms) const = 0;
  virtual void bias(const Dual<double>* q, const Dual<double>* qd, const Dual<double>* terms,
                    Dual<double>* k) const = 0;  ///< likewise
  virtual void vary(const Dual<double>* q, const Dual<double>* qd, const Dual<double>* qdd,
                    const Dual<double>* x, const Dual<double>* xd, Dual<double>* d,
                    Dual<double>* dd) const = 0;  ///< likewise

  /// phi or gamma as its author wrote it, from the positions that it reads to the numbers that it
  /// gives: what else it touches is looked for before anything rests on it.
  virtual void as_written(const double* in, double* out) const = 0;

  /// Number of assemblies for given values of the first positions that solve() knows: 0 if it
  /// knows none and Newton's method has to do.
  virtual int branches() const = 0;
  /// Solves in closed form: writes the last `equations` positions of q from the first ones on an
  /// assembly 0 <= branch < branches(). Returns false if the law cannot be met there.
  virtual bool solve(double* q, int branch) const = 0;
};

/// A registered kind of law.
class ESPALIER_API LawType {
 public:
  virtual ~LawType();
  /// Names of the parameters it reads; others are refused.
  virtual std::vector<std::string_view> parameter_names() const = 0;
  virtual int positions() const = 0;  ///< number of positions that it ties
  /// Parameters of a working instance, as an example.
  virtual Parameters sample() const = 0;
  /// @throws InvalidModel naming a parameter that is missing or out of range
  virtual std::unique_ptr<Law> make(const PartSpec& spec) const = 0;
};

}  // namespace espalier
