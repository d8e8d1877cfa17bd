#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/model.hpp"
#include "espalier/kernel/views.hpp"

/// Positions on a robot's loops: dependent ones from independent ones, and first assembly.
/// Positions are vectors whose sizes are checked (std::vector, std::span, Eigen), or pointers to nq
/// numbers.

namespace espalier {

/// What came of closing loops.
struct Closure {
  /// How closing ended.
  enum class Verdict {
    closed,        ///< all constraints met, on the branch that the start was on
    out_of_reach,  ///< the dependent joints cannot follow that far: it stays where they could
    singular,      ///< a dead point lies in the way, where the branch cannot be told
    branch_lost    ///< it closes, but on another assembly than the start's
  };
  Verdict verdict = Verdict::closed;  ///< how it ended
  /// Largest |phi| [m, rad or cosine], of `cluster` unless `closed`. Laws are measured by their own
  /// slopes where these are small, as of levers of a centimetre (ClusterConstraint::LawUse).
  double residual = 0.0;
  /// Smallest over largest singular value of the dependent columns, over all clusters: 0 at a dead
  /// point, where the independent joints no longer determine the others.
  double margin = 1.0;
  double reached = 1.0;  ///< part of the way that was closed: 1 for closed
  std::string cluster;   ///< that stands in the way (of largest residual); else of smallest margin
  /// Where the verdict is `singular` or `branch_lost`: independent joints of the cluster that
  /// would determine the others there; none where no choice does.
  std::vector<std::string> better;
  ESPALIER_API std::string text() const;  ///< one sentence with the cluster's joints and numbers
};
/// "closed", "out of reach", "singular", "branch lost".
ESPALIER_API std::string_view to_string(Closure::Verdict verdict);

/// When to be content and when to give up.
struct CloseOptions {
  double tolerance = 1e-12;    ///< for |phi|
  double least_margin = 1e-6;  ///< of Closure::margin, on the way
  int iterations = 50;         ///< of Newton's method, in each sub-step
  int attempts = 60;           ///< guesses that assemble() starts from
};

/// Solves the dependent positions for the independent ones in `q`, starting from an assembled
/// position: the dependent joints follow on the way from there, in as many sub-steps as they need,
/// so that the branch is kept.
/// @param model      whose loops are closed
/// @param start      assembled position, size nq
/// @param[in,out] q  in: independent positions (dependent ones are ignored); out: assembled, or as
///                   far as it goes if the verdict is not `closed`. Never a jump to another branch.
///                   From a start at a dead point it goes on with one of the branches there, and
///                   says `singular`. A start or q that is not finite: `out_of_reach`, q unchanged.
/// @param options    tolerance and when to give up
ESPALIER_API Closure close(const Model& model, const double* start, double* q,
                           const CloseOptions& options = {});

/// Newton's method on the dependent positions from where they are: for small residuals, as after a
/// time step. Does not move independent positions.
ESPALIER_API Closure project(const Model& model, double* q, const CloseOptions& options = {});

/// First assembly from any guess: moves all positions of the clusters that are open, as little as
/// it can, trying other guesses where that fails. Independent positions may move.
ESPALIER_API Closure assemble(const Model& model, double* q, const CloseOptions& options = {});

/// Largest residual and smallest margin at a position, nothing moved; `out_of_reach` means open.
ESPALIER_API Closure examine(const Model& model, const double* q, const CloseOptions& options = {});

/// Independent joints that determine the others well at a position: in clusters with loops those
/// that column-pivoted QR of K leaves over, where they do it at least twice as well as the present
/// ones; else the present ones. Near a dead point, declare these independent and compile again.
/// @param model    whose loops are looked at
/// @param q        assembled position, size nq
/// @param cluster  name of the only cluster to look at; empty: all with loops
/// @return names of coordinates (as in Model::coordinates()); those of clusters where no choice
///         determines the others are left out
ESPALIER_API std::vector<std::string> better_independents(const Model& model, const double* q,
                                                          std::string_view cluster = {});

/// The neutral position, loops closed; size nq.
ESPALIER_API std::vector<double> neutral_position(const Model& model);
/// A random position within the limits of joints, loops closed where they can be; size nq.
ESPALIER_API std::vector<double> random_position(const Model& model, unsigned long long seed);

/// As close() of pointers.
/// @param model      whose loops are closed
/// @param start      assembled position, size nq
/// @param[in,out] q  independent positions, size nq; out: assembled
/// @param options    tolerance and when to give up
/// @throws SizeMismatch
ESPALIER_API Closure close(const Model& model, In<double> start, Out<double> q,
                           const CloseOptions& options = {});
/// Newton's method on the dependent positions from where they are. @throws SizeMismatch
ESPALIER_API Closure project(const Model& model, Out<double> q, const CloseOptions& options = {});
/// First assembly from any guess. @throws SizeMismatch
ESPALIER_API Closure assemble(const Model& model, Out<double> q, const CloseOptions& options = {});
/// Largest residual and smallest margin at a position, nothing moved. @throws SizeMismatch
ESPALIER_API Closure examine(const Model& model, In<double> q, const CloseOptions& options = {});

}  // namespace espalier
