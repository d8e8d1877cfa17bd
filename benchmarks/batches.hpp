#pragma once

#include <string>
#include <vector>

#include "benchmarks/contestant.hpp"

namespace espalier::bench {

/// States of a batch: those of the robot over and over.
inline constexpr int batch_size = espalier_peer_batch_size;

/// One way to compute a batch.
struct BatchKind {
  std::string suffix;    ///< after "<algorithm> x 4096"
  BatchOptions options;  ///< threads are set, never "all"
  double agreement;      ///< as Contestant's
};

/// Doubles on one thread, and on two where there are two; floats on one. Each is timed for every
/// robot that has batches.
std::vector<BatchKind> batch_kinds();
/// What an algorithm is called as a batch of a kind.
std::string batch_name(const std::string& algorithm, const std::string& suffix = "",
                       int size = batch_size);

/// Adds an algorithm as a batch of each kind. The states are referred to.
/// @param work  forward or inverse
/// @param size  states of a call
void add_batch(const Host& host, const ModelPtr& model, const std::vector<RandomState>& states,
               Work work, const std::string& algorithm, const BatchKind& kind, int size,
               Contestants& all);
/// One of each kind, of `batch_size` states.
void add_batches(const Host& host, const ModelPtr& model, const std::vector<RandomState>& states,
                 Work work, const std::string& algorithm, Contestants& all);

}  // namespace espalier::bench
