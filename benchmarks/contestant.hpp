#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/peers/peer.h"
#include "benchmarks/robot.hpp"

namespace espalier::bench {

/// What exact ways may differ by, relative to the largest entry: they sum in different orders,
/// factor matrices of different condition, and packs have a sine of their own. The most seen is
/// 3e-11 on the chain of 128 bodies, and 3e-10 by a regularized solver of contacts. It is far below
/// any error of a formula; ways that iterate differ by more.
inline constexpr double rounding = 1e-8;

/// One library's way to do one work for one robot, ready to be called.
class Contestant {
 public:
  Contestant(Work w, std::string of_library, std::string name, double tolerance)
      : work(w), library(std::move(of_library)), algorithm(std::move(name)), agreement(tolerance) {}
  virtual ~Contestant() = default;

  /// One call: what is timed.
  virtual void call(int state) = 0;
  /// What the last call computed for this state, which was the call's or is one of a batch: vdot,
  /// tau or the matrix by rows, in Espalier's conventions.
  virtual std::vector<double> result(int state) = 0;
  /// Why it is compared but not timed, or "".
  virtual std::string not_timed() const { return ""; }
  /// States that a call computes; times are given for one.
  virtual int states() const { return 1; }
  /// Whether a call works on several threads, so that its time is that of the clock on the wall.
  virtual bool threaded() const { return false; }

  const Work work;
  const std::string library, algorithm;
  const double
      agreement;  ///< largest relative difference from the reference with which it is timed
};
using Contestants = std::vector<std::unique_ptr<Contestant>>;

/// What is compared on a robot: single calls of forward and inverse dynamics, mass matrix,
/// Jacobians and placements, or inverse OSIM, derivatives and batches, too; on one body, bias
/// forces, centre of mass and energy alone.
enum class Works { calls, all, one_body };

/// aba, rnea, crba, body-jacobians and Placements (on one body rnea, center-of-mass and energy);
/// crba-ltl, the algorithms for inverse OSIM and
/// batches. The first for each work is the reference for all others.
Contestants our_contestants(const Host& host, const Robot& robot, Works works);

/// A library that is no part of Espalier, in a module of its own.
class Peer {
 public:
  /// Loads peers/peer_<name>.so of the build. @throws std::runtime_error: absent, and why
  explicit Peer(const std::string& name);
  const espalier_peer& table() const { return *table_; }
  /// @throws std::runtime_error with the library's message if it cannot read the robot
  Contestants contestants(const Robot& robot, Works works) const;

  static const std::vector<std::string>& known();

 private:
  const espalier_peer* table_ = nullptr;  ///< modules stay loaded
};

/// Runs both for all states.
/// @return the largest difference of an entry, relative to the largest entry of the reference's
///         result at that state; infinite where a result is not a number
double largest_difference(Contestant& reference, Contestant& other);

}  // namespace espalier::bench
