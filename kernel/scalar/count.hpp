#pragma once

#include <cstdint>

#include "espalier/kernel/export.hpp"

namespace espalier {

/// How many operations of each kind were carried out.
struct OperationCounts {
  std::int64_t additions = 0;  ///< additions and subtractions; sign changes are free
  std::int64_t multiplications = 0;
  std::int64_t divisions = 0;
  std::int64_t square_roots = 0;
  std::int64_t trigonometry = 0;  ///< sine, cosine and arc tangent, each one
};

/// The counters of this thread, in the kernel so that all plugins count into the same place.
ESPALIER_API OperationCounts& operation_counts();

/// Whether operations on known constants (0, 1, model parameters) are folded away, as generated
/// code would do, or counted like any other. Per thread; false at the start.
ESPALIER_API bool& fold_constants();

/// A double that counts what is done to it: runs through the same templates as `double`.
///
/// A value made from a plain double is a known constant; results of operations on constants are
/// constants. With fold_constants() on, such operations, and additions of 0 and multiplications by
/// 0, 1 and -1, are free.
class ESPALIER_API Count {
 public:
  Count() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a double is a known constant.
  Count(double value) : value_(value), constant_(true) {}

  /// A value that is only known at run time.
  static Count variable(double value) {
    Count x(value);
    x.constant_ = false;
    return x;
  }

  double value() const { return value_; }
  bool constant() const { return constant_; }

  Count& operator+=(Count b) { return *this = *this + b; }
  Count& operator-=(Count b) { return *this = *this - b; }
  Count& operator*=(Count b) { return *this = *this * b; }
  Count& operator/=(Count b) { return *this = *this / b; }

  // Out of line: algorithms are long, and a counter need not be fast.
  friend ESPALIER_API Count operator+(Count a, Count b);
  friend ESPALIER_API Count operator-(Count a, Count b);
  friend ESPALIER_API Count operator-(Count a);
  friend ESPALIER_API Count operator*(Count a, Count b);
  friend ESPALIER_API Count operator/(Count a, Count b);
  friend ESPALIER_API Count sqrt(Count x);
  friend ESPALIER_API void sincos(Count x, Count& s, Count& c);
  friend ESPALIER_API Count atan2(Count y, Count x);
  /// Free: a bit operation.
  friend ESPALIER_API Count abs(Count x);
  /// x where a < b, else y. Free: a comparison and a move.
  friend ESPALIER_API Count select_less(Count a, Count b, Count x, Count y);

 private:
  static Count make(double value, bool constant);
  bool is(double x) const { return constant_ && value_ == x; }
  static Count sum(Count a, Count b, double sign);

  double value_ = 0.0;
  bool constant_ = true;
};

}  // namespace espalier
