// A plugin whose parts throw when they are armed, and which changes the processor's arithmetic.
#include <xmmintrin.h>
#include <espalier/plugin.hpp>
#include <stdexcept>

namespace {

using espalier::PartSpec;

/// As the start-up code of libraries that are linked with -ffast-math: flush and
/// denormals-are-zero.
__attribute__((constructor)) void flush_to_zero() { _mm_setcsr(_mm_getcsr() | 0x8040u); }

/// k = 2 j. Where `armed` is the number of a place, it throws there: 1 and 2 in the constructor,
/// 3 and 4 in phi, 5 in phi after so many calls that a model has been compiled.
struct Thrower {
  static constexpr int positions = 2, equations = 1;
  static constexpr std::array<std::string_view, 1> parameters{"armed"};
  static espalier::Parameters sample() { return {{"armed", {0.0}}}; }
  explicit Thrower(const PartSpec& spec) : armed(static_cast<int>(spec.number("armed"))) {
    if (armed == 1) throw std::runtime_error("no gears left");
    if (armed == 2) throw 42;
  }
  template <class T>
  void phi(const T* q, T* phi) const {
    if (armed == 3) throw std::runtime_error("phi is tired");
    if (armed == 4) throw 42;
    if (armed == 5 && ++calls > 20000) throw std::runtime_error("phi is worn out");
    phi[0] = q[1] - 2.0 * q[0];
  }
  int armed;
  mutable int calls = 0;
};

/// A joint about z that throws where it is told to.
struct ThrowingJoint {
  static constexpr int nq = 1, nv = 1;
  using Subspace = espalier::PrismaticAxes;
  static constexpr std::array<std::string_view, 1> parameters{"armed"};
  static espalier::Parameters sample() { return {{"armed", {0.0}}}; }
  explicit ThrowingJoint(const espalier::JointSpec& spec)
      : armed(static_cast<int>(spec.number("armed"))) {
    if (armed == 1) throw 42;
  }
  template <class T>
  auto position(const T* q) const {
    if (armed == 2) throw std::logic_error("no such place");
    return espalier::TranslationZ<T>{q[0]};
  }
  int armed;
};

/// A piece of a robot that is not there.
struct ThrowingPart {
  static constexpr std::array<std::string_view, 1> inputs{"base"}, outputs{"tip"};
  explicit ThrowingPart(const PartSpec&) {}
  void build(espalier::Assembly&) const { throw 42; }
};

}  // namespace

ESPALIER_PLUGIN("test-careless", "1.0") {
  registrar.sub_mechanism<Thrower>({.name = "test_thrower", .summary = "throws when it is armed"});
  registrar.joint<ThrowingJoint>({.name = "test-thrower", .summary = "throws when it is armed"});
  registrar.sub_mechanism<ThrowingPart>({.name = "test_part", .summary = "throws"});
}
