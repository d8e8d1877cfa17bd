#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cli/output/row_energies.hpp"
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

 private:
  /// Where the next row's numbers go; end_row() takes them.
  virtual double* begin_row() = 0;
  virtual void end_row() = 0;
};

/// CSV, or NPZ where the name of the file ends in .npz: an array of doubles for each column. Both
/// are written while rows come, on cores that are free.
/// @param more      names of columns beside those of all motions
/// @param rows      that are expected; there may be fewer or more
/// @param energies  computes those that samples lack, as long as the table is there; null: none do
/// @throws OutputError
std::unique_ptr<MotionTable> motion_table(const std::string& file, const Model& model,
                                          const std::vector<std::string>& more, std::size_t rows,
                                          RowEnergies* energies);

}  // namespace espalier::cli
