#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>

#include "cli/output/row_blocks.hpp"
#include "espalier/simulation/sample_energies.hpp"

namespace espalier::cli {

/// What the energies of a run's rows came to; rows may come in any order.
struct EnergyRange {
  double first = 0.0, last = 0.0;  ///< kinetic and potential, of the first row and the last [J]
  double largest_kinetic = 0.0;    ///< [J]

  void take(std::size_t row, double kinetic, double sum);
  /// Largest change from the first row [J].
  double largest_drift() const;

 private:
  std::size_t last_row_ = 0;
  double least_ = std::numeric_limits<double>::infinity(), most_ = -least_;
};

/// Energies of the rows that a simulation leaves to others, computed on the thread that writes
/// them. Numbers of a row begin with time, q, v, kinetic energy, potential energies of gravity and
/// springs, and their sum.
class RowEnergies {
 public:
  /// @return null if no algorithm for the energies of this robot has packs
  static std::unique_ptr<RowEnergies> make(const Host& host, const ModelPtr& model,
                                           const Vec3<double>& gravity);

  /// Computes what is NaN in place, and takes all rows into range(); on any thread, one at a time.
  /// @param columns  numbers of a row
  void complete(RowBlocks::Block& block, std::size_t columns);
  /// Of all rows, once they are written.
  const EnergyRange& range() const { return range_; }

 private:
  RowEnergies(std::unique_ptr<SampleEnergies> energies, const Model& model);

  std::unique_ptr<SampleEnergies> energies_;
  const std::size_t nq_, nv_;
  std::mutex mutex_;  ///< guards the energies and the range
  EnergyRange range_;
};

}  // namespace espalier::cli
