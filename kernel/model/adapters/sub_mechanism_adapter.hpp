#pragma once

#include <string_view>
#include <vector>

#include "espalier/kernel/model/adapters/law_adapter.hpp"
#include "espalier/kernel/sub_mechanism.hpp"

/// From one author's class to a SubMechanism.

namespace espalier {
namespace detail {

/// Whether a class builds bodies (else it is a law alone).
template <class M>
concept BuildsBodies = requires(const M& m, Assembly& a) {
  m.build(a);
};
template <class M>
concept StatesLaw = requires {
  M::dependent;
}
|| requires { M::equations; };

/// From one author's class M to a SubMechanism. M has
///   explicit M(const PartSpec&);
///   static constexpr std::array<std::string_view, k> parameters, inputs, outputs;
///   static Parameters sample();  a working instance; not needed if it has defaults for everything
///   void build(Assembly&) const;
/// and may also have the members of a law (law_adapter.hpp), which is then registered under the
/// sub-mechanism's name.
template <class M>
class SubMechanismOf final : public SubMechanism {
 public:
  std::vector<std::string_view> parameter_names() const override {
    if constexpr (requires { M::parameters; }) {
      return {M::parameters.begin(), M::parameters.end()};
    } else {
      return {};
    }
  }
  std::vector<std::string_view> inputs() const override {
    return {M::inputs.begin(), M::inputs.end()};
  }
  std::vector<std::string_view> outputs() const override {
    return {M::outputs.begin(), M::outputs.end()};
  }
  Parameters sample() const override { return sample_of<M>(); }
  Assembly assemble(const PartSpec& spec) const override {
    Assembly assembly;
    M(spec).build(assembly);
    return assembly;
  }
};

}  // namespace detail

}  // namespace espalier
