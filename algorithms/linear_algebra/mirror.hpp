#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "espalier/kernel/scalar/pack.hpp"

namespace espalier {

/// Columns of the matrix of four rows.
inline std::array<Quad, 4> transposed(const std::array<Quad, 4>& m) {
  const auto low_01 = __builtin_shufflevector(m[0].lanes, m[1].lanes, 0, 4, 2, 6);
  const auto high_01 = __builtin_shufflevector(m[0].lanes, m[1].lanes, 1, 5, 3, 7);
  const auto low_23 = __builtin_shufflevector(m[2].lanes, m[3].lanes, 0, 4, 2, 6);
  const auto high_23 = __builtin_shufflevector(m[2].lanes, m[3].lanes, 1, 5, 3, 7);
  return {Quad(__builtin_shufflevector(low_01, low_23, 0, 1, 4, 5)),
          Quad(__builtin_shufflevector(high_01, high_23, 0, 1, 4, 5)),
          Quad(__builtin_shufflevector(low_01, low_23, 2, 3, 6, 7)),
          Quad(__builtin_shufflevector(high_01, high_23, 2, 3, 6, 7))};
}

/// Copies the upper triangle of a symmetric matrix of doubles to the lower one, in blocks of four
/// rows and columns. Before, the lower one may hold anything. Row by row, so that a matrix that is
/// larger than the nearest cache comes into it once.
class MirroredBlocks {
 public:
  MirroredBlocks() = default;  ///< of no matrix
  /// @param end  per row: from where on it is zero in the upper triangle
  explicit MirroredBlocks(const std::vector<int>& end)
      : size_(static_cast<long>(end.size())), left_over_(static_cast<int>(end.size()) % width) {
    for (int I = left_over_; I < static_cast<int>(size_); I += width) {
      for (int J = left_over_; J < I; J += width) {
        const bool zero = *std::max_element(end.begin() + J, end.begin() + J + width) <= I;
        if (runs_.empty() || runs_.back().I != I || runs_.back().zero != zero) {
          runs_.push_back({I, J, 0, zero});
        }
        ++runs_.back().blocks;
      }
    }
  }
  /// Rows and columns before the first block.
  int left_over() const { return left_over_; }

  /// @param zeros  whether zeros are written, too
  void apply(double* M, bool zeros) const {
    const long n = size_;
    for (long j = 0; j < left_over_; ++j) {
      for (long i = j + 1; i < n; ++i) M[i * n + j] = M[j * n + i];
    }
    const volatile double unknown = 0.0;  // else runs of zeros become calls of memset
    const Quad zero(static_cast<double>(unknown));
    for (const Run& run : runs_) {
      double* const to = M + run.I * n + run.J;
      double *const to_1 = to + n, *const to_2 = to_1 + n, *const to_3 = to_2 + n;
      const long end = run.blocks * width;
      if (!run.zero) {
        const double* from = M + run.J * n + run.I;
        for (long k = 0; k < end; k += width, from += width * n) {
          const std::array<Quad, 4> block = transposed(load(from));
          block[0].store(to + k), block[1].store(to_1 + k);
          block[2].store(to_2 + k), block[3].store(to_3 + k);
        }
      } else if (zeros) {
        for (long k = 0; k < end; k += width) {
          zero.store(to + k), zero.store(to_1 + k), zero.store(to_2 + k), zero.store(to_3 + k);
        }
      }
    }
    for (long I = left_over_; I < n; I += width) {
      double* const at = M + I * (n + 1);
      const std::array<Quad, 4> a = load(at), b = transposed(a);
      Quad(__builtin_shufflevector(a[1].lanes, b[1].lanes, 4, 1, 2, 3)).store(at + n);
      Quad(__builtin_shufflevector(a[2].lanes, b[2].lanes, 4, 5, 2, 3)).store(at + 2 * n);
      Quad(__builtin_shufflevector(a[3].lanes, b[3].lanes, 4, 5, 6, 3)).store(at + 3 * n);
    }
  }

 private:
  static constexpr int width = Quad::size;
  /// Neighbours below the diagonal: first row, first column, and how many.
  struct Run {
    int I, J, blocks;
    bool zero;
  };
  std::array<Quad, 4> load(const double* at) const {
    return {Quad::load(at), Quad::load(at + size_), Quad::load(at + 2 * size_),
            Quad::load(at + 3 * size_)};
  }

  long size_ = 0;
  int left_over_ = 0;
  std::vector<Run> runs_;
};

}  // namespace espalier
