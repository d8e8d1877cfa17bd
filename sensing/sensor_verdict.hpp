#pragma once

#include <string>
#include <utility>
#include <vector>

#include "espalier/sensing/sensor_system.hpp"

namespace espalier {

/// Whether sensors determine a robot's dynamics, said before there are numbers to solve for.
struct ESPALIER_API SensorVerdict {
  /// Where the sensors determine the dynamics.
  enum class Kind {
    well_posed,          ///< determined at almost every position
    singular_somewhere,  ///< determined at almost every position, not at those listed
    singular_everywhere  ///< at no position
  };
  Kind kind = Kind::well_posed;  ///< the verdict in a word
  int unknowns = 0;              ///< of the system
  int equations = 0;             ///< those of the model and of the sensors
  /// Of the pattern, whatever the numbers (maximum matching).
  int structural_rank = 0;
  int rank = 0;        ///< at sampled positions
  int redundancy = 0;  ///< equations - rank: measurements that others imply
  /// Smallest cosine between what is free and what is measured, at a sampled position: 1 is best, 0
  /// is singular. Near 0 the sensors determine the dynamics badly.
  double margin = 0.0;

  /// A way in which unknowns can vary so that no sensor sees it.
  struct Combination {
    /// Unknowns that have to vary together and by how much: of external wrenches and torques, or
    /// of accelerations where these alone vary; the largest is 1.
    std::vector<std::pair<std::string, double>> terms;
    std::string text;  ///< "wrench on l_foot[mz] and wrench on r_foot[mz]: only their sum is seen"
  };
  /// Where singular: as many as independent ways to vary.
  std::vector<Combination> unseen;
  /// Where singular: everything that then is not determined, but the bodies' accelerations and
  /// joints' wrenches.
  std::vector<std::string> undetermined;
  /// Sampled positions that are singular though most are not.
  std::vector<std::vector<double>> positions;
  std::vector<std::string> places;  ///< where these are, in words
  /// Where singular: sensors of which each alone would make it well-posed, those with fewer rows
  /// first. Empty where it takes more than one.
  std::vector<Sensor> cures;

  /// Whether the dynamics are determined at almost every position.
  bool well_posed() const { return kind != Kind::singular_everywhere; }
  std::string text() const;  ///< a few lines for people
};
/// "well-posed", ...
ESPALIER_API std::string_view to_string(SensorVerdict::Kind kind);

/// How closely judge() looks.
struct SensorVerdictOptions {
  /// Random positions. The rank at the best of them counts; fewer where one of them is good.
  int samples = 3;
  unsigned long long seed = 1;  ///< of the positions
  /// Whether positions are tried that are often special: all joints at 0, at 90, at 180 degrees,
  /// and mixtures of them. Loops are closed there as far as they can be.
  bool special_positions = true;
  bool cures = true;  ///< whether sensors are looked for that would help
};

/// Judges sensors by the pattern and the numerical rank at several positions.
/// Cost: O(n f²) for each position, with f motors and components of external wrenches.
/// @throws as SensorSystem
ESPALIER_API SensorVerdict judge(const Model& model, const std::vector<Sensor>& sensors,
                                 const SensorVerdictOptions& options = {});
/// The same for a system that is there already; changes its values.
ESPALIER_API SensorVerdict judge(SensorSystem& system, const SensorVerdictOptions& options = {});

}  // namespace espalier
