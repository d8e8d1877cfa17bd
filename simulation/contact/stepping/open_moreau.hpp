#pragma once

#include <cmath>
#include <vector>

#include "simulation/contact/stepping/moreau.hpp"

namespace espalier::contact {

/// Moreau's step with all that its derivatives look at.
class OpenMoreau final : public Moreau<double> {
 public:
  using Moreau<double>::Moreau;
  using Moreau<double>::Free;

  const Parts& parts() const { return parts_; }
  const std::vector<Free>& floating() const { return free_; }
  const std::vector<double>& weight() const { return forces_->weight(); }
  const std::vector<double>& force() const { return forces_->force(); }
  const std::vector<double>& rest() const { return rest_; }
  const std::vector<double>& drive_sides() const { return forces_->sides(); }
  const std::vector<double>& drive_lines() const { return forces_->lines(); }
  const std::vector<double>& dry_slips() const { return forces_->slips(); }
  const TreeFactor<double>& tree() const { return *tree_; }
  bool guarded() const { return guarded_; }
  /// Of the last response: rows that were pushed apart, their problem, and the displacement.
  const std::vector<int>& pushed_rows() const { return deep_rows_; }
  const std::vector<double>& pushed_depths() const { return depth_; }
  const ImpulseProblem<double>& push() const { return push_; }

  /// Derivatives of the forces on spanning rates by their own positions and rates.
  void force_slopes(double h, std::vector<double>& by_position,
                    std::vector<double>& by_rate) const {
    by_position.assign(force().size(), 0.0);
    by_rate.assign(force().size(), 0.0);
    const auto implicit = [&](int rate, double stiffness, double damping) {
      by_position[rate] -= stiffness;
      by_rate[rate] -= h * stiffness + damping;
    };
    for (const Plan::Passive& p : plan().passive()) {
      implicit(p.rate, p.position >= 0 ? p.stiffness : 0.0, p.damping);
    }
    for (std::size_t k = 0; k < plan().drives().size(); ++k) {
      const Plan::Drive& d = plan().drives()[k];
      if (std::abs(drive_sides()[k]) < 0.5) {
        implicit(d.rate, d.is.kp, d.is.kd);
      } else if (d.is.stall > 0.0) {
        by_rate[d.rate] -= drive_lines()[k] * d.is.stall / d.is.no_load_rate;
      }
    }
    for (std::size_t k = 0; k < plan().dry().size(); ++k) {
      const Plan::Dry& dry = plan().dry()[k];
      if (std::abs(dry_slips()[k]) < 0.5) {
        by_rate[dry.rate] -= dry.force / plan().options().friction_rate;
      }
    }
  }
};

}  // namespace espalier::contact
