#include "espalier/kernel/scalar/count.hpp"

#include <cmath>

namespace espalier {

OperationCounts& operation_counts() {
  thread_local OperationCounts counts;
  return counts;
}

bool& fold_constants() {
  thread_local bool fold = false;
  return fold;
}

Count Count::make(double value, bool constant) {
  Count x(value);
  x.constant_ = constant;
  return x;
}

Count Count::sum(Count a, Count b, double sign) {
  const bool constant = a.constant_ && b.constant_;
  const double value = a.value_ + sign * b.value_;
  if (fold_constants() && (constant || a.is(0.0) || b.is(0.0))) return make(value, constant);
  ++operation_counts().additions;
  return make(value, constant);
}

Count operator+(Count a, Count b) { return Count::sum(a, b, 1.0); }
Count operator-(Count a, Count b) { return Count::sum(a, b, -1.0); }
Count operator-(Count a) { return Count::make(-a.value_, a.constant_); }

Count operator*(Count a, Count b) {
  const bool constant = a.constant_ && b.constant_;
  if (fold_constants()) {
    if (a.is(0.0) || b.is(0.0)) return Count(0.0);
    if (a.is(1.0) || a.is(-1.0)) return Count::make(a.value_ * b.value_, b.constant_);
    if (b.is(1.0) || b.is(-1.0)) return Count::make(a.value_ * b.value_, a.constant_);
    if (constant) return Count(a.value_ * b.value_);
  }
  ++operation_counts().multiplications;
  return Count::make(a.value_ * b.value_, constant);
}

Count operator/(Count a, Count b) {
  const bool constant = a.constant_ && b.constant_;
  if (fold_constants()) {
    if (a.is(0.0)) return Count(0.0);
    if (b.is(1.0) || b.is(-1.0)) return Count::make(a.value_ / b.value_, a.constant_);
    if (constant) return Count(a.value_ / b.value_);
  }
  ++operation_counts().divisions;
  return Count::make(a.value_ / b.value_, constant);
}

Count sqrt(Count x) {
  if (!(fold_constants() && x.constant_)) ++operation_counts().square_roots;
  return Count::make(std::sqrt(x.value_), x.constant_);
}

void sincos(Count x, Count& s, Count& c) {
  if (!(fold_constants() && x.constant_)) operation_counts().trigonometry += 2;
  s = Count::make(std::sin(x.value_), x.constant_);
  c = Count::make(std::cos(x.value_), x.constant_);
}

Count atan2(Count y, Count x) {
  const bool constant = y.constant_ && x.constant_;
  if (!(fold_constants() && constant)) ++operation_counts().trigonometry;
  return Count::make(std::atan2(y.value_, x.value_), constant);
}

Count abs(Count x) { return Count::make(std::fabs(x.value_), x.constant_); }

Count select_less(Count a, Count b, Count x, Count y) {
  const Count chosen = a.value_ < b.value_ ? x : y;
  return Count::make(chosen.value_, chosen.constant_ && a.constant_ && b.constant_);
}

}  // namespace espalier
