#include "cli/output/row_energies.hpp"

#include <algorithm>
#include <utility>

namespace espalier::cli {

void EnergyRange::take(std::size_t row, double kinetic, double sum) {
  if (row == 0) first = sum;
  if (row >= last_row_) last = sum, last_row_ = row;
  least_ = std::min(least_, sum), most_ = std::max(most_, sum);
  largest_kinetic = std::max(largest_kinetic, kinetic);
}

double EnergyRange::largest_drift() const {
  return least_ <= most_ ? std::max(most_ - first, first - least_) : 0.0;
}

std::unique_ptr<RowEnergies> RowEnergies::make(const Host& host, const ModelPtr& model,
                                               const Vec3<double>& gravity) {
  auto energies = SampleEnergies::make(host, model, gravity);
  if (energies == nullptr) return nullptr;
  return std::unique_ptr<RowEnergies>(new RowEnergies(std::move(energies), *model));
}

RowEnergies::RowEnergies(std::unique_ptr<SampleEnergies> energies, const Model& model)
    : energies_(std::move(energies)),
      nq_(static_cast<std::size_t>(model.nq())),
      nv_(static_cast<std::size_t>(model.nv())) {}

void RowEnergies::complete(RowBlocks::Block& block, std::size_t columns) {
  const std::lock_guard lock(mutex_);
  double* const numbers = block.numbers.data();
  double* const energies = numbers + 1 + nq_ + nv_;
  const std::size_t rows = block.numbers.size() / columns;
  energies_->complete({.count = rows,
                       .q = numbers + 1,
                       .q_stride = columns,
                       .v = numbers + 1 + nq_,
                       .v_stride = columns,
                       .kinetic = energies,
                       .gravity = energies + 1,
                       .energy_stride = columns});
  for (std::size_t k = 0; k < rows; ++k) {
    double* const of_row = energies + k * columns;
    of_row[3] = of_row[0] + of_row[1] + of_row[2];
    range_.take(block.first + k, of_row[0], of_row[3]);
  }
}

}  // namespace espalier::cli
