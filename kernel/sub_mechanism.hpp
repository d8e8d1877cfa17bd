#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/adapters/law_adapter.hpp"
#include "espalier/kernel/model/description.hpp"

namespace espalier {

/// A piece of a robot with ports. Inside it, the name of an input stands for the link that it will
/// be joined to.
struct ESPALIER_API Assembly {
  /// A frame that others may attach to.
  struct Output {
    std::string name, link;  ///< that it stands on
    Pose origin;             ///< the port's frame in the link
  };
  Description parts;            ///< links, joints, loops, couplings, laws; names are relative to it
  std::vector<Output> outputs;  ///< ports that others may attach to
  /// Names under which the sub-mechanism's author asks for laws of classes, by law<M>().
  std::vector<std::string> stated_laws;

  // What most sub-mechanisms consist of. References are valid until the next call.
  /// A link and, of the same name, the joint by which it hangs on `parent`; axis z.
  JointDescription& body(const std::string& name, const std::string& type,
                         const std::string& parent, const std::optional<Inertial>& inertial,
                         const Pose& origin = {});
  /// ratio * (path to predecessor) = (path to successor), as CouplingDescription says.
  void couple(const std::string& predecessor, const std::string& successor, double ratio);
  /// A law between the positions of joints, with those of the parameters that are named.
  void law(const std::string& type, const std::vector<std::string>& joints,
           const Parameters& parameters, const std::vector<std::string_view>& names);
  /// The law of a class that states one and builds bodies, too.
  template <class M>
  void law(const std::string& type, const std::vector<std::string>& joints,
           const Parameters& parameters) {
    stated_laws.push_back(type);
    law(type, joints, parameters, detail::LawTypeOf<M>().parameter_names());
  }
  /// Something that closes a loop, between two frames on links.
  LoopDescription& loop(const std::string& name, const std::string& type,
                        const std::string& predecessor, const Pose& predecessor_origin,
                        const std::string& successor, const Pose& successor_origin);
  /// Lets others attach to a link, at its own frame.
  void output(const std::string& link) { outputs.push_back({link, link, {}}); }
};

/// Names of the parameters of a body, for the list `parameters` (see PartSpec::inertial).
#define ESPALIER_INERTIA_PARAMETERS(body) body "_mass", body "_com", body "_inertia"
/// Names of the parameters of a frame (see PartSpec::pose).
#define ESPALIER_POSE_PARAMETERS(frame) frame "_xyz", frame "_rpy"

/// A registered sub-mechanism: a composable piece of a robot, e.g. a geared joint.
class ESPALIER_API SubMechanism {
 public:
  virtual ~SubMechanism();
  /// Names of the parameters it reads; others are refused.
  virtual std::vector<std::string_view> parameter_names() const = 0;
  virtual std::vector<std::string_view> inputs() const = 0;   ///< ports it hangs on, its base first
  virtual std::vector<std::string_view> outputs() const = 0;  ///< ports that others hang on
  /// Parameters of a working instance, as an example.
  virtual Parameters sample() const = 0;
  /// One instance. @throws InvalidModel naming a parameter that is missing or out of range
  virtual Assembly assemble(const PartSpec& spec) const = 0;
};

/// Looks up sub-mechanisms by name; the registry of plugins implements it.
class ESPALIER_API SubMechanisms {
 public:
  virtual ~SubMechanisms();
  /// Null if there is none of this name.
  virtual const SubMechanism* find_sub_mechanism(std::string_view name) const = 0;
  /// All names, sorted.
  virtual std::vector<std::string> sub_mechanism_names() const = 0;
};

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
