// A plugin as an author writes it: one joint type.
#include <espalier/plugin.hpp>

namespace {

/// Slides along its axis.
struct Slider {
  static constexpr int nq = 1, nv = 1;
  using Subspace = espalier::PrismaticAxes;
  explicit Slider(const espalier::JointSpec& /*joint*/) {}

  template <class T>
  auto position(const T* q) const {
    return espalier::TranslationZ<T>{q[0]};
  }
};

}  // namespace

ESPALIER_PLUGIN("test-joint", "1.0") {
  registrar.joint<Slider>({.name = "test-slider",
                           .summary = "slides along its axis",
                           .source = "Featherstone (2008), Table 4.1",
                           .cost = "O(1)"});
}
