#pragma once

#include "espalier/simulation/contact/problems/lanes.hpp"

namespace espalier::contact {

/// A way to solve (Q G + D) x = b for the G of one problem of impulses, other than by elimination
/// of that matrix: what each round of Newton's method asks for.
template <class T>
class NewtonSystem {
 public:
  virtual ~NewtonSystem() = default;

  /// @param Q, D  modes of the rows: 3 x 3 blocks of the contacts, row-major, then one number for
  ///              each scalar row. Normal rows have entries at the normal alone; D is regular, and
  ///              symmetric between tangents.
  /// @param[in,out] x  m, in: b
  virtual void solve(const T* Q, const T* D, T* x) = 0;
};

}  // namespace espalier::contact
