#include "espalier/simulation/sample_energies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "espalier/host/exact_algorithm.hpp"
#include "espalier/kernel/model/packs/pack_code.hpp"
#include "espalier/kernel/problems/kinematics/energy.hpp"

namespace espalier {

std::unique_ptr<SampleEnergies> SampleEnergies::make(const Host& host, const ModelPtr& model,
                                                     const Vec3<double>& gravity) {
  const Entry* entry =
      exact_algorithm(host.registry(), Energy<double>::problem, *model, ScalarTraits<Pack>::index);
  if (entry == nullptr) return nullptr;
  auto energy = host.create<Energy<Pack>>(entry->about.name, model);
  energy->set_gravity(gravity);
  return std::unique_ptr<SampleEnergies>(new SampleEnergies(std::move(energy)));
}

SampleEnergies::SampleEnergies(std::unique_ptr<Energy<Pack>> energy)
    : energy_(std::move(energy)),
      q_(energy_->model().nq()),
      v_(energy_->model().nv()),
      states_q_(q_.size() * Pack::size),
      states_v_(v_.size() * Pack::size) {}

SampleEnergies::~SampleEnergies() = default;

void SampleEnergies::complete(const SampleRows& rows) {
  std::array<std::size_t, Pack::size> missing;
  int count = 0;
  for (std::size_t k = 0; k < rows.count; ++k) {
    if (!std::isnan(rows.kinetic[k * rows.energy_stride])) continue;
    missing[count++] = k;
    if (count < Pack::size) continue;
    evaluate(rows, missing);
    count = 0;
  }
  if (count > 0) evaluate(rows, std::span(missing).first(count));
}

void SampleEnergies::evaluate(const SampleRows& rows, std::span<const std::size_t> which) {
  const int nq = static_cast<int>(q_.size()), nv = static_cast<int>(v_.size());
  double *q = states_q_.data(), *v = states_v_.data();
  for (std::size_t lane = 0; lane < Pack::size; ++lane) {
    // Lanes that are left compute the last row again.
    const std::size_t row = which[std::min(lane, which.size() - 1)];
    q = std::copy_n(rows.q + row * rows.q_stride, nq, q);
    v = std::copy_n(rows.v + row * rows.v_stride, nv, v);
  }
  const PackCode& code = energy_->model().pack_code();
  Pack *const packs_q = q_.data(), *const packs_v = v_.data();
  code.load(states_q_.data(), {nq, 1}, nq, std::span(&packs_q, 1));
  code.load(states_v_.data(), {nv, 1}, nv, std::span(&packs_v, 1));
  const auto [kinetic, gravity] = energy_->evaluate(q_, v_);
  for (std::size_t lane = 0; lane < which.size(); ++lane) {
    rows.kinetic[which[lane] * rows.energy_stride] = kinetic[static_cast<int>(lane)];
    rows.gravity[which[lane] * rows.energy_stride] = gravity[static_cast<int>(lane)];
  }
}

}  // namespace espalier
