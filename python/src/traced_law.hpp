#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "robot.hpp"

/// Laws that Python traced: lists of operations that are evaluated at every scalar of the kernel.
/// Nothing here calls Python.

namespace espalier::python {

enum class Operation : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  negate,
  sine,
  cosine,
  sine_cosine,  ///< sine to `to`, cosine to `b`
  square_root,
  arc_tangent,
  absolute,
  select_less  ///< c where a < b, else d
};

/// One operation on registers.
struct Instruction {
  Operation operation;
  std::uint16_t to = 0, a = 0, b = 0, c = 0, d = 0;
};

/// A straight line of operations. Its registers hold inputs first, then constants, then what is
/// computed; the same register is used again once nobody reads it any more.
struct Tape {
  int inputs = 0;
  int registers = 0;
  /// Index into the constants of an instance, and the register it is loaded to.
  std::vector<std::pair<int, std::uint16_t>> constants;
  std::vector<Instruction> instructions;
  std::vector<std::uint16_t> outputs;

  static constexpr int most_registers = 512;

  /// @param in  arrays of the inputs, one after the other
  template <class T>
  void run(const double* constants, std::initializer_list<std::pair<const T*, int>> in,
           T* out) const;
};

/// A traced law: what its parameters and constants are, and the lines of operations that give phi,
/// K with the terms, and k (kernel/model/law.hpp).
struct TracedLaw {
  std::string name;
  int positions = 0, equations = 0;
  bool is_explicit = false;
  std::vector<std::string> parameters;
  std::vector<std::vector<double>> defaults;  ///< by parameter; empty: it must be given
  std::vector<double> sample;                 ///< by parameter
  /// Numbers that depend on parameters alone: computed once for an instance. Inputs are the
  /// parameters, outputs the constants.
  Tape setup;
  std::vector<double> literals;  ///< constants of `setup`
  int terms = 0;
  Tape phi, jacobian, bias, solution;  ///< constants of all of them are the outputs of `setup`
};

}  // namespace espalier::python
