#pragma once

#include <string>
#include <vector>

#include "espalier/espalier.hpp"

namespace espalier::bench {

/// The methods in the order of the tables; the first two are forward dynamics alone, by our fastest
/// method and by the paper's own.
enum Method { on, bremer_on, iim, closed_form, eufm, dense };
constexpr int method_count = 6;

/// Times of all methods on one robot.
struct Times {
  std::string robot;
  int nv = 0, inputs = 0;
  double ns[method_count] = {};          ///< per call
  double difference[method_count] = {};  ///< of the input matrix and the free acceleration from
                                         ///< those of `dense`, relative to the largest entry
  double ratio(Method m) const { return ns[m] / ns[on]; }
};

/// @param forward  algorithm of the O(n) method
/// @param seconds  for all methods together
Times measure(const Host& host, const Setup& setup, const std::string& forward, double seconds);

/// A chain of revolute bodies. @param inputs  of its last joints
Setup pendulum(const Host& host, int bodies, int inputs);
/// The MIT Humanoid with a motor on each of its 18 joints and four point contacts at each sole.
/// @param rotors  as it is, or without what turns beside the links
Setup humanoid(const Host& host, bool rotors);

}  // namespace espalier::bench
