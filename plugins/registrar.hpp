#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/kernel/format.hpp"
#include "espalier/kernel/integrator.hpp"
#include "espalier/kernel/model/adapters/joint_adapter.hpp"
#include "espalier/kernel/model/adapters/sub_mechanism_adapter.hpp"
#include "espalier/kernel/problems/quadratic_program.hpp"
#include "espalier/plugins/registry.hpp"

/// What a plugin says that it brings. For authors of plugins; programs need the registry alone.

namespace espalier {

namespace detail {
/// An algorithm made from all of a setup or, where it needs no more, from the model.
template <class A>
std::unique_ptr<A> bound(const Setup& setup) {
  if constexpr (std::is_constructible_v<A, const Setup&>) {
    return std::make_unique<A>(setup);
  } else {
    return std::make_unique<A>(setup.model);
  }
}
}  // namespace detail

/// Collects what a plugin registers; the registry takes all of it or nothing.
class ESPALIER_API Registrar {
 public:
  explicit Registrar(std::string origin) : origin_(std::move(origin)) {}  ///< file of the plugin

  /// A joint type from an author's class J (see kernel/model/adapters/joint_adapter.hpp).
  template <class J>
  void joint(About about) {
    Entry& e = add(Kind::joint, std::move(about));
    e.joint = std::make_shared<const detail::JointTypeOf<J>>(e.about.name);
  }
  template <class F>
  void format(About about) {  ///< a file format from a class that implements Format
    add(Kind::format, std::move(about)).format = std::make_shared<const F>();
  }
  /// Something that can only close loops, from a class that implements LoopJoint.
  template <class L>
  void loop_joint(About about) {
    add(Kind::loop_joint, std::move(about)).loop_joint = std::make_shared<const L>();
  }
  /// A sub-mechanism from an author's class M (see kernel/sub_mechanism.hpp): a law between joint
  /// positions (kernel/model/adapters/law_adapter.hpp), a piece of a robot, or both under one name.
  template <class M>
  void sub_mechanism(About about) {
    static_assert(detail::StatesLaw<M> || detail::BuildsBodies<M>,
                  "a sub-mechanism has a law (positions and equations with phi, or independent and "
                  "dependent with gamma) or build()");
    if constexpr (detail::StatesLaw<M>) {
      constexpr bool written = detail::WritesItsLaw<M>;
      static_assert(written,
                    "a law has positions, equations and template <class T> void phi(const T* q, "
                    "T* phi) const, or independent, dependent and template <class T> void "
                    "gamma(const T* y, T* q) const");
      if constexpr (written) {
        add(Kind::law, about).law = std::make_shared<const detail::LawTypeOf<M>>();
      }
    }
    if constexpr (detail::BuildsBodies<M>) {
      add(Kind::sub_mechanism, std::move(about)).sub_mechanism =
          std::make_shared<const detail::SubMechanismOf<M>>();
    }
  }
  /// An integrator from an author's class I (see kernel/integrator.hpp).
  template <class I>
  void integrator(About about) {
    Entry& e = add(Kind::integrator, std::move(about));
    e.integrator = [](const Setup& s, const PartSpec& options) -> std::unique_ptr<Integrator> {
      return std::make_unique<I>(s.model, options);
    };
    if constexpr (requires { I::parameters; }) {
      e.options = {I::parameters.begin(), I::parameters.end()};
    }
  }
  /// A solver of quadratic programs from an author's class S (see
  /// kernel/problems/quadratic_program.hpp).
  template <class S>
  void qp_solver(About about) {
    add(Kind::qp_solver, std::move(about)).qp_solver = [] { return std::make_unique<S>(); };
  }
  /// What the kernel and batches compute on packs, at this plugin's instruction set, from a class
  /// that implements PackCode (see kernel/model/packs/pack_code.hpp); taken if its name is "packs".
  template <class C>
  void pack_code(About about) {
    add(Kind::pack_code, std::move(about)).pack_code = std::make_shared<const C>();
  }
  /// An algorithm A<T> for a problem, at every scalar. One name may be registered for several
  /// problems.
  template <template <class> class A>
  void algorithm(About about, const Capabilities& capabilities) {
    algorithm_at<A, double, Pack, Count, FloatPack>(std::move(about), capabilities);
  }
  /// The same at some scalars only, double among them: what nobody runs in batches need not be
  /// compiled for packs.
  template <template <class> class A, class... Scalars>
  void algorithm_at(About about, const Capabilities& capabilities) {
    Entry& e = algorithm_entry<A<double>>(std::move(about), capabilities);
    ((e.algorithm[ScalarTraits<Scalars>::index] = [](const Setup& s) -> std::unique_ptr<Algorithm> {
       return detail::bound<A<Scalars>>(s);
     }),
     ...);
  }
  template <template <class> class A>
  void algorithm_at_double(About about, const Capabilities& capabilities) {  ///< at double alone
    algorithm_at<A, double>(std::move(about), capabilities);
  }
  /// Any entry, to be completed by hand; the reference stays valid until the registrar is
  /// committed.
  Entry& add(Kind kind, About about);

  const std::string& origin() const { return origin_; }                ///< file of the plugin
  std::vector<std::unique_ptr<Entry>>& entries() { return entries_; }  ///< so far

 private:
  template <class A>
  Entry& algorithm_entry(About about, const Capabilities& capabilities) {
    Entry& e = add(Kind::algorithm, std::move(about));
    e.problem = A::problem;
    e.needs_end_effectors = requires { requires A::needs_end_effectors; };
    e.needs_inputs = requires { requires A::needs_inputs; };
    e.needs_sensors = requires { requires A::needs_sensors; };
    e.capabilities = capabilities;
    return e;
  }

  std::string origin_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace espalier
