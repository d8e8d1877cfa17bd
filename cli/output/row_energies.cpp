#include "cli/output/row_energies.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/host/batch.hpp"
#include "espalier/kernel/problems/kinematics/energy.hpp"

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
  const Registry& registry = host.registry();
  for (const Entry* e : registry.algorithms(Energy<double>::problem)) {
    const Verdict verdict = registry.can(*e, *model);
    if (!verdict.ok || !verdict.exact || !e->algorithm[ScalarTraits<Pack>::index]) continue;
    // Rows come from a simulation, which closes loops.
    auto batch = host.batch<Energy>(
        e->about.name, model,
        {.threads = 1, .loop_tolerance = std::numeric_limits<double>::infinity()});
    batch->set_gravity(gravity);
    return std::unique_ptr<RowEnergies>(new RowEnergies(std::move(batch), *model));
  }
  return nullptr;
}

RowEnergies::RowEnergies(std::unique_ptr<Batch> batch, const Model& model)
    : batch_(std::move(batch)),
      nq_(static_cast<std::size_t>(model.nq())),
      nv_(static_cast<std::size_t>(model.nv())) {}

void RowEnergies::gather(const RowBlocks::Block& block, std::size_t columns) {
  const std::size_t rows = block.numbers.size() / columns;
  missing_.clear();
  q_.resize(rows * nq_), v_.resize(rows * nv_);
  double *q = q_.data(), *v = v_.data();
  for (std::size_t k = 0; k < rows; ++k) {
    const double* const row = block.numbers.data() + k * columns;
    if (!std::isnan(row[1 + nq_ + nv_])) continue;
    missing_.push_back(k);
    q = std::copy_n(row + 1, nq_, q);
    v = std::copy_n(row + 1 + nq_, nv_, v);
  }
}

void RowEnergies::evaluate() {
  const std::size_t count = missing_.size();
  kinetic_.resize(count), gravity_.resize(count);
  batch_->evaluate(static_cast<int>(count),
                   {.q = {q_.data(), static_cast<long>(count * nq_)},
                    .v = {v_.data(), static_cast<long>(count * nv_)},
                    .layout = BatchLayout::states},
                   {{"kinetic_energy", kinetic_}, {"potential_energy", gravity_}});
}

void RowEnergies::complete(RowBlocks::Block& block, std::size_t columns) {
  const std::lock_guard lock(mutex_);
  gather(block, columns);
  if (!missing_.empty()) evaluate();
  double* const energies = block.numbers.data() + 1 + nq_ + nv_;
  for (std::size_t k = 0; k < missing_.size(); ++k) {
    double* const of_row = energies + missing_[k] * columns;
    of_row[0] = kinetic_[k], of_row[1] = gravity_[k];
    of_row[3] = of_row[0] + of_row[1] + of_row[2];
  }
  for (std::size_t k = 0; k < block.numbers.size() / columns; ++k) {
    const double* const of_row = energies + k * columns;
    range_.take(block.first + k, of_row[0], of_row[3]);
  }
}

}  // namespace espalier::cli
