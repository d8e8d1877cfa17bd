#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "cli/output/row_blocks.hpp"
#include "espalier/host/host.hpp"

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

/// Energies of the rows that a simulation leaves to others: eight rows at a time, on the thread
/// that writes them. Numbers of a row begin with time, q, v, kinetic energy, potential energies of
/// gravity and springs, and their sum.
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
  RowEnergies(std::unique_ptr<Batch> batch, const Model& model);
  /// States of the rows without energies, one after the other.
  void gather(const RowBlocks::Block& block, std::size_t columns);
  void evaluate();

  std::unique_ptr<Batch> batch_;
  const std::size_t nq_, nv_;
  std::mutex mutex_;  ///< guards what follows, and the batch
  std::vector<std::size_t> missing_;
  std::vector<double> q_, v_, kinetic_, gravity_;
  EnergyRange range_;
};

}  // namespace espalier::cli
