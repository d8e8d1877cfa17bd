#pragma once

#include <vector>

#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/simulation/contact/problems/lanes.hpp"
#include "espalier/simulation/contact/problems/newton_system.hpp"
#include "espalier/simulation/contact/problems/row_factors.hpp"

namespace espalier::contact {

/// Impulses of one step: u = G lam + g with, for every contact, lam in its friction cone, u_n >= 0
/// orthogonal to lam_n >= 0 and friction against the slip (Signorini, Coulomb); for every scalar
/// row, lam within bounds and u zero or pushing towards the bound.
///
/// Contact c has the rows 3c (normal), 3c + 1 and 3c + 2 (tangents); scalar rows follow. A contact
/// that is absent in a lane has zero rows of G but for ones on the diagonal, and g = 1 in each: its
/// impulse is then exactly zero.
template <class T>
struct ESPALIER_API ImpulseProblem {
  int contacts = 0, scalars = 0;
  std::vector<T> G;             ///< m x m, symmetric, positive semidefinite, row-major
  std::vector<T> g;             ///< m, rates without impulses, and what is wanted of them
  std::vector<T> mu;            ///< of contacts, not below zero
  std::vector<T> lower, upper;  ///< of scalar rows
  /// So many of the scalar rows of each contact, the last ones, contact by contact, have bounds
  /// that its normal impulse gives: |lam| <= upper lam_n, upper in metres.
  int turning = 0;
  std::vector<T> lam;                 ///< m, in: where to start, out: impulses [N·s]
  std::vector<T> slip;                ///< of contacts: multiplier of the last slip, in and out
  NewtonSystem<T>* system = nullptr;  ///< of Newton's rounds; null: Q G + D is eliminated
  /// Where they are there, G has the contacts' blocks and scalar rows' entries on its diagonal
  /// alone until somebody writes the rest, and `system` is not null.
  RowFactors<T> factors = {};

  int size() const { return 3 * contacts + scalars; }
  /// First of the scalar rows whose bounds follow a contact's normal impulse.
  int first_turning() const { return scalars - turning * contacts; }
  int contact_of_turning(int scalar) const { return (scalar - first_turning()) / turning; }
  /// Makes room for so many.
  void reserve(int contact_count, int scalar_count);
  /// Zero vectors and matrices, no turning rows; keeps the storage.
  void resize(int contact_count, int scalar_count);
  /// The same sizes with g zero, no turning rows, and all else left to be written.
  void reshape(int contact_count, int scalar_count);
};

/// What became of a problem, lane by lane.
template <class T>
struct ImpulseReport {
  T residual = T(0.0);  ///< natural residual [m/s]: zero at a solution
  T rounds = T(0.0);    ///< of Newton's method, or iterations
};

/// How much is done. A solver ends in each lane as soon as the tolerance is met.
struct Effort {
  double tolerance = 1e-6;  ///< of the natural residual [m/s]
  int sweeps = -1;          ///< of Gauss-Seidel before the rest; -1: the solver's choice
  int rounds = -1;          ///< of Newton's method, or iterations; -1: the solver's choice
};

/// Solves for impulses; owns its workspace, belongs to one thread. No state is a reason to throw:
/// what is not solved has a residual above the tolerance, and NaN stays in its lane.
template <class T>
class ESPALIER_API ContactImpulses : public Algorithm {
 public:
  static constexpr std::string_view problem = "contact-impulses";
  using Algorithm::Algorithm;

  /// Makes room for problems of so many rows; what is larger allocates when it comes.
  virtual void reserve(int contacts, int scalars) = 0;
  /// Solves in place, starting from problem.lam and problem.slip.
  /// Lanes that have met the tolerance keep their bits, whatever the others do. Allocates only
  /// where a problem is larger than all before and than what was reserved.
  virtual ImpulseReport<T> solve_impulses(ImpulseProblem<T>& problem,
                                          const Effort& effort = {}) = 0;

  /// @throws Unsupported: the problem has no named inputs
  void solve(const InputViews& in, Results& out) override;
};

/// Largest over rows of |lam - P(lam - (u + mu |u_t| n) / d)| d with P the projection onto cone or
/// bounds and d the scale of the row: cone, complementarity and maximum dissipation in one number;
/// at least -u_n of each contact, of which a steep cone shows the part 1 / mu alone.
/// @param[out] u  m, G lam + g
/// Source: de Saxcé, Feng (1998); theory/contact 2.4.
template <class T>
ESPALIER_API T natural_residual(const ImpulseProblem<T>& problem, const T* lam, T* u);

/// The scale d of contacts: max(G_nn, 1e-9 trace), and of scalar rows: their diagonal.
template <class T>
ESPALIER_API void row_scales(const ImpulseProblem<T>& problem, T* d);

#define ESPALIER_EXTERN(T)                                                                     \
  extern template struct ImpulseProblem<T>;                                                    \
  extern template class ContactImpulses<T>;                                                    \
  extern template T natural_residual<T>(const ImpulseProblem<T>& problem, const T* lam, T* u); \
  extern template void row_scales<T>(const ImpulseProblem<T>& problem, T* d);
ESPALIER_EXTERN(double)
ESPALIER_EXTERN(Pack)
#undef ESPALIER_EXTERN

}  // namespace espalier::contact
