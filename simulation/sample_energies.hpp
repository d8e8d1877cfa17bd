#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "espalier/host/host.hpp"
#include "espalier/kernel/problems/kinematics/energy.hpp"

/// Energies of the samples that a simulation left to its caller.

namespace espalier {

/// Samples of a run as its caller keeps them: number i of row k of an array stands at
/// [k * stride + i].
struct SampleRows {
  std::size_t count = 0;          ///< rows
  const double* q = nullptr;      ///< spanning positions, size nq each
  std::size_t q_stride = 0;       ///< at least nq
  const double* v = nullptr;      ///< independent rates, size nv each
  std::size_t v_stride = 0;       ///< at least nv
  double* kinetic = nullptr;      ///< [J]
  double* gravity = nullptr;      ///< potential energy of weights [J]
  std::size_t energy_stride = 1;  ///< of both energies
};

/// Computes the energies that Simulation::leave_energies() leaves out: eight samples at a time.
/// What a row's energies are does not depend on the rows beside it, so that all who keep a run by
/// this class have the same bits. Belongs to one thread.
class ESPALIER_API SampleEnergies {
 public:
  /// @param host     knows the algorithms
  /// @param model    the robot
  /// @param gravity  [m/s²], world axes: that of the simulation
  /// @return null if no algorithm for the energies of this robot has packs
  static std::unique_ptr<SampleEnergies> make(const Host& host, const ModelPtr& model,
                                              const Vec3<double>& gravity);
  ~SampleEnergies();

  /// Computes both energies of those of the `rows` whose kinetic energy is NaN.
  void complete(const SampleRows& rows);

 private:
  explicit SampleEnergies(std::unique_ptr<Energy<Pack>> energy);
  /// Of up to eight rows.
  void evaluate(const SampleRows& rows, std::span<const std::size_t> which);

  std::unique_ptr<Energy<Pack>> energy_;
  std::vector<Pack> q_, v_;
  std::vector<double> states_q_, states_v_;  ///< the same, one state after the other
};

}  // namespace espalier
