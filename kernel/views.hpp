#pragma once

#include <string>

#include "espalier/kernel/errors.hpp"

namespace espalier {

/// Read-only view of a contiguous vector: anything with data() and size() converts to it.
template <class T>
class In {
 public:
  /// Of `size` numbers.
  In(const T* data, long size) : data_(data), size_(size) {}
  /// Of a container's numbers.
  template <class C>
    requires requires(const C& c) { static_cast<const T*>(c.data()), c.size(); }
  // NOLINTNEXTLINE(google-explicit-constructor): Eigen, std::vector and std::span convert.
  In(const C& c) : data_(c.data()), size_(static_cast<long>(c.size())) {}

  /// The first number.
  const T* data() const { return data_; }
  /// How many.
  long size() const { return size_; }
  /// Number i; not checked.
  const T& operator[](long i) const { return data_[i]; }

 private:
  const T* data_;
  long size_;
};

/// Writable view of a contiguous vector.
template <class T>
class Out {
 public:
  /// Of `size` numbers.
  Out(T* data, long size) : data_(data), size_(size) {}
  /// Of a container's numbers.
  template <class C>
    requires requires(C& c) { static_cast<T*>(c.data()), c.size(); }
  // NOLINTNEXTLINE(google-explicit-constructor)
  Out(C& c) : data_(c.data()), size_(static_cast<long>(c.size())) {}
  /// Of a view or map that is made on the spot.
  template <class C>
    requires requires(C& c) { static_cast<T*>(c.data()), c.size(); }
  // NOLINTNEXTLINE(google-explicit-constructor): views and maps made on the spot.
  Out(C&& c) : data_(c.data()), size_(static_cast<long>(c.size())) {}

  /// The first number.
  T* data() const { return data_; }
  /// How many.
  long size() const { return size_; }
  /// Number i; not checked.
  T& operator[](long i) const { return data_[i]; }

 private:
  T* data_;
  long size_;
};

namespace detail {
/// Apart from expect_size(), which is then inlined into evaluate().
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_size(const char* who, const char* what,
                                                               long got, long wanted) {
  throw SizeMismatch(std::string(who) + ": size of " + what + " is " + std::to_string(got) +
                     ", expected " + std::to_string(wanted));
}
}  // namespace detail

/// @throws SizeMismatch if got != wanted
inline void expect_size(const char* who, const char* what, long got, long wanted) {
  if (got != wanted) detail::refuse_size(who, what, got, wanted);
}

}  // namespace espalier
