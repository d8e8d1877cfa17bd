#pragma once

#include <memory>
#include <string>
#include <vector>

/// The processes among which a command's work is divided.

namespace espalier::cli {

/// All of them do the same calls in the same order; the first one speaks for all.
class Processes {
 public:
  virtual ~Processes() = default;

  virtual int rank() const = 0;  ///< of this process, from 0
  virtual int size() const = 0;
  /// What every process has, by rank, at the first one; empty at the others.
  virtual std::vector<std::vector<std::string>> gather(const std::vector<std::string>& mine) = 0;
  /// The lowest rank for which something failed, or -1; the same at all.
  virtual int first_failed(bool failed) = 0;
};

/// Those that mpirun started, or this process alone.
/// @throws Failure if mpirun started it and this installation has no MPI
std::unique_ptr<Processes> processes();

}  // namespace espalier::cli
