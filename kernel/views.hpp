#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include "espalier/kernel/errors.hpp"

namespace espalier {

namespace detail {
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_size(const char* who, const char* what,
                                                               long got, long wanted) {
  throw SizeMismatch(std::string(who) + ": size of " + what + " is " + std::to_string(got) +
                     ", expected " + std::to_string(wanted));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_shape(const char* who, const char* what,
                                                                long rows, long columns,
                                                                long wanted_rows,
                                                                long wanted_columns) {
  throw SizeMismatch(std::string(who) + ": shape of " + what + " is " + std::to_string(rows) +
                     " x " + std::to_string(columns) + ", expected " + std::to_string(wanted_rows) +
                     " x " + std::to_string(wanted_columns));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_stride(long stride, long wanted) {
  throw SizeMismatch("view: rows or columns of a matrix start " + std::to_string(stride) +
                     " numbers apart, expected " + std::to_string(wanted) +
                     " (a block of a larger matrix: copy it into one of its own)");
}

/// What has numbers of type T one after the other.
template <class C, class T>
concept Contiguous = requires(C& c) {
  static_cast<T*>(c.data()), c.size();
};

// What Eigen's matrices, maps and blocks say of themselves; this header needs no Eigen.
template <class C>
concept EigenDense = requires {
  std::remove_cvref_t<C>::IsRowMajor;
  std::remove_cvref_t<C>::IsVectorAtCompileTime;
  std::remove_cvref_t<C>::InnerStrideAtCompileTime;
};
template <class C>
concept EigenMatrix = EigenDense<C> && !bool(std::remove_cvref_t<C>::IsVectorAtCompileTime);
/// Its numbers have gaps, as those of a row of a column-major matrix.
template <class C>
concept EigenScattered = EigenDense<C> &&
                         int(std::remove_cvref_t<C>::InnerStrideAtCompileTime) != 1;
template <class C>
concept EigenColumnMajor = EigenMatrix<C> && !bool(std::remove_cvref_t<C>::IsRowMajor);

/// @throws SizeMismatch for a block of a larger matrix
template <class C>
void expect_whole(const C& c) {
  if constexpr (EigenMatrix<C>) {
    const long inner = static_cast<long>(c.innerSize()),
               stride = static_cast<long>(c.outerStride());
    if (stride != inner && c.outerSize() > 1) refuse_stride(stride, inner);
  }
}
}  // namespace detail

/// Read-only view of numbers one after the other: anything with data() and size() converts to it. A
/// matrix stands row after row; Eigen's column-major ones, and rows and maps with gaps, do not
/// compile.
template <class T>
class In {
 public:
  /// Of `size` numbers.
  In(const T* data, long size) : data_(data), size_(size) {}
  /// Of a container's numbers. @throws SizeMismatch for a block of a larger matrix
  template <class C>
  requires(detail::Contiguous<const C, const T> && !detail::EigenScattered<C> &&
           !detail::EigenColumnMajor<C>)
      // NOLINTNEXTLINE(google-explicit-constructor): Eigen, std::vector and std::span convert.
      In(const C& c)
      : data_(c.data()), size_(static_cast<long>(c.size())) {
    detail::expect_whole(c);
  }
  /// Column by column, or with gaps: give a matrix of Eigen::RowMajor, or a copy.
  template <class C>
  requires(detail::Contiguous<const C, const T> &&
           (detail::EigenScattered<C> || detail::EigenColumnMajor<C>)) In(const C& c)
  = delete;

  /// The first number.
  const T* data() const { return data_; }
  /// How many.
  long size() const { return size_; }
  /// Whether there are none.
  bool empty() const { return size_ == 0; }
  /// Number i; not checked.
  const T& operator[](long i) const { return data_[i]; }

 private:
  const T* data_;
  long size_;
};

/// Writable view of numbers one after the other; of a matrix, row after row, as In.
template <class T>
class Out {
 public:
  /// Of `size` numbers.
  Out(T* data, long size) : data_(data), size_(size) {}
  /// Of a container's numbers, also of a view or map that is made on the spot.
  /// @throws SizeMismatch for a block of a larger matrix
  template <class C>
  requires(detail::Contiguous<C, T> && !detail::EigenScattered<C> && !detail::EigenColumnMajor<C>)
      // NOLINTNEXTLINE(google-explicit-constructor)
      Out(C&& c)
      : data_(c.data()), size_(static_cast<long>(c.size())) {
    detail::expect_whole(c);
  }
  /// Column by column, or with gaps: see OutMatrix.
  template <class C>
  requires(detail::Contiguous<C, T> && (detail::EigenScattered<C> || detail::EigenColumnMajor<C>))
      Out(C&& c)
  = delete;

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

/// Writable view of a matrix: an Eigen matrix of either storage order, or numbers row after row.
///
/// Algorithms write rows one after the other; finish() then puts a column-major matrix's numbers
/// where it has them, without memory of its own.
template <class T>
class OutMatrix {
 public:
  /// Of `size` numbers, row after row.
  OutMatrix(T* data, long size) : data_(data), size_(size) {}
  /// Of a container's numbers, or of an Eigen matrix.
  /// @throws SizeMismatch for a block of a larger matrix
  template <class C>
  requires(detail::Contiguous<C, T> && !detail::EigenScattered<C>)
      // NOLINTNEXTLINE(google-explicit-constructor)
      OutMatrix(C&& c)
      : data_(c.data()), size_(static_cast<long>(c.size())) {
    detail::expect_whole(c);
    if constexpr (detail::EigenMatrix<C>) {
      rows_ = static_cast<long>(c.rows()), columns_ = static_cast<long>(c.cols());
      column_major_ = detail::EigenColumnMajor<C>;
    }
  }
  /// With gaps: give a copy.
  template <class C>
  requires(detail::Contiguous<C, T>&& detail::EigenScattered<C>) OutMatrix(C&& c)
  = delete;

  /// Where rows are written, one after the other.
  T* data() const { return data_; }
  /// How many numbers.
  long size() const { return size_; }
  /// @throws SizeMismatch unless it has rows x columns numbers and, if it has a shape, this one
  void expect(const char* who, const char* what, long rows, long columns) const {
    if (size_ != rows * columns) detail::refuse_size(who, what, size_, rows * columns);
    if (rows_ >= 0 && (rows_ != rows || columns_ != columns)) {
      detail::refuse_shape(who, what, rows_, columns_, rows, columns);
    }
  }
  /// Once rows are written: puts the numbers in the matrix's own order.
  void finish() const {
    if (column_major_ && rows_ > 1 && columns_ > 1) transpose(data_, size_, rows_, columns_);
  }

 private:
  /// Rows one after the other become columns one after the other, in place: number k goes to
  /// k rows mod (size - 1), cycle by cycle.
  /// Out of line, so that calls which hand a matrix on are inlined: passed to a call, the view is
  /// copied on the stack, and that copy waits until all stores before have reached the cache.
  [[gnu::noinline]] static void transpose(T* data, long size, long rows, long columns) {
    if (rows == columns) {
      for (long i = 0; i < rows; ++i) {
        for (long j = 0; j < i; ++j) std::swap(data[i * rows + j], data[j * rows + i]);
      }
      return;
    }
    const long last = size - 1;
    const auto next = [&](long k) { return k * rows % last; };
    for (long first = 1; first < last; ++first) {
      long k = next(first);
      while (k > first) k = next(k);
      if (k < first) continue;  // of a cycle that has been moved
      T moving = data[first];
      do {
        k = next(k);
        std::swap(moving, data[k]);
      } while (k != first);
    }
  }

  T* data_;
  long size_;
  long rows_ = -1, columns_ = -1;  ///< -1: numbers without a shape
  bool column_major_ = false;
};

/// @throws SizeMismatch if got != wanted
inline void expect_size(const char* who, const char* what, long got, long wanted) {
  if (got != wanted) detail::refuse_size(who, what, got, wanted);
}

}  // namespace espalier
