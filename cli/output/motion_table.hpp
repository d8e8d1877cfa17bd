#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "espalier/simulation/simulation.hpp"

namespace espalier::cli {

/// What `simulate --output` writes: a row for each sample under names of columns.
class MotionTable {
 public:
  virtual ~MotionTable() = default;
  /// @param more  columns beside those of all motions
  /// @throws OutputError
  void row(const Sample& s, const std::vector<double>& more);
  /// Gives the file its name, with all rows until here. @throws OutputError
  virtual void close() = 0;

 protected:
  virtual void add(const std::vector<double>& row) = 0;

 private:
  std::vector<double> row_;
};

/// CSV, or NPZ where the name of the file ends in .npz: an array of doubles for each column. Both
/// are written while rows come, on cores that are free.
/// @param more  names of columns beside those of all motions
/// @param rows  that are expected; there may be fewer or more
/// @throws OutputError
std::unique_ptr<MotionTable> motion_table(const std::string& file, const Model& model,
                                          const std::vector<std::string>& more, std::size_t rows);

}  // namespace espalier::cli
