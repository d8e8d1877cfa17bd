#include <cxxabi.h>

#include <algorithm>
#include <boost/core/demangle.hpp>
#include <typeinfo>

#include "espalier/kernel/integrator.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/problems/quadratic_program.hpp"
#include "espalier/kernel/suggest.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/plugins/registry.hpp"
#include "registry_words.hpp"

// What an entry can have, and what it makes.

namespace espalier {

namespace {

using detail::joined;
using detail::title;

/// What a factory makes; whatever else it does is told by its name and its file.
template <class F>
auto made_by(const Entry& e, const std::string& wanted, F&& factory) {
  std::string how = "returned null";
  try {
    if (auto made = factory()) return made;
  } catch (const Error&) {
    throw;  // says itself what is wrong with the model or the options
  } catch (const abi::__forced_unwind&) {  // a thread ends; nobody may stop it
    throw;
  } catch (const std::exception& error) {
    how = "threw '" + std::string(error.what()) + "'";
  } catch (...) {
    how = "threw " + boost::core::demangle(abi::__cxa_current_exception_type()->name());
  }
  throw PluginError(e.origin + ": factory of " + title(e) + " " + how + ", expected " + wanted);
}

/// What ties a cluster.
enum class Tie { none, coupling, loop };

Tie tie_of(const Cluster& c) {
  if (!c.constrained) return Tie::none;
  return c.constraint == nullptr ? Tie::coupling : Tie::loop;
}

/// The first cluster that an algorithm of these capabilities cannot have: who, what and expected;
/// "" if there is none.
std::string obstacle(const Capabilities& capabilities, const Model& model, Tie& tie) {
  for (const Cluster& c : model.clusters()) {
    const std::string who = "cluster " + text::quoted(c.name);
    tie = tie_of(c);
    if ((tie == Tie::coupling && !capabilities.couplings) ||
        (tie == Tie::loop && !capabilities.loops)) {
      std::string by;
      for (const std::string& name : c.constraints)
        by += (by.empty() ? "" : ", ") + text::quoted(name);
      std::string kind = tie == Tie::coupling ? "a coupling" : "a loop";
      if (!c.laws.empty()) {  // "by the law 'four_bar'", and what else there is
        kind = c.laws.size() == 1 ? "the law " : "the laws ";
        for (const std::string& law : c.laws)
          kind += (&law == &c.laws[0] ? "" : ", ") + text::quoted(law);
        if (c.laws.size() < c.constraints.size()) kind += " and more";
      }
      std::string text = who + " is tied by " + kind;
      if (!by.empty()) text += " (" + by + ")";
      if (capabilities.couplings) return text + ", expected a tree or constant couplings";
      return text + (capabilities.loops ? ", expected a tree or loops" : ", expected a tree");
    }
    if (c.supports.size() > 1 && !capabilities.several_supports) {
      return who + " hangs on " + std::to_string(c.supports.size()) +
             " supporting bodies, expected one";
    }
  }
  tie = Tie::none;
  if (!model.bodies_with_equations().empty() && !capabilities.joint_supplied_dynamics) {
    const Joint& joint = model.joints()[model.body(model.bodies_with_equations().front()).joint];
    return "joint " + text::quoted(joint.name) + " of type " + text::quoted(joint.type) +
           " brings equations of motion of its own, expected bodies alone";
  }
  if (!capabilities.weightless_tree && !model.weightless_in_tree().empty()) {
    return "the spanning tree, its loops being open, moves no positive inertia along " +
           model.weightless_in_tree() + ", expected some along each of its joints";
  }
  return "";
}

}  // namespace

Verdict Registry::can(const Entry& algorithm, const Model& model) const {
  Verdict verdict;
  verdict.exact = algorithm.capabilities.exact;
  for (int k = 0; k < scalar_count; ++k) {
    if (algorithm.algorithm[k]) verdict.scalars.push_back(scalar_names[k]);
  }
  Tie tie = Tie::none;
  verdict.obstacle = obstacle(algorithm.capabilities, model, tie);
  verdict.ok = verdict.obstacle.empty();
  for (const bool exact : {true, false}) {
    for (const Entry* e : algorithms(algorithm.problem)) {
      if (e->capabilities.exact != exact || e->about.name == algorithm.about.name) continue;
      if (obstacle(e->capabilities, model, tie).empty()) {
        verdict.alternatives.push_back(e->about.name);
      }
    }
  }
  return verdict;
}

std::unique_ptr<Integrator> Registry::create_integrator(std::string_view name, const Setup& setup,
                                                        const Parameters& options) const {
  const Entry& e = find(Kind::integrator, name);
  PartSpec spec;
  spec.what = "integrator", spec.name = e.about.name, spec.parameters = options;
  const std::vector<std::string> known(e.options.begin(), e.options.end());
  for (const auto& [option, values] : options) {
    if (std::find(known.begin(), known.end(), option) != known.end()) continue;
    throw UnknownName(title(e) + ": option " + text::quoted(option) + " is unknown" +
                      (known.empty() ? ", expected none" : suggest(option, known)));
  }
  detail::expect_model(title(e), setup.model);
  return made_by(e, "an integrator", [&] { return e.integrator(setup, spec); });
}

std::unique_ptr<QuadraticProgramSolver> Registry::create_qp_solver(std::string_view name) const {
  const Entry& e = find(Kind::qp_solver, name);
  return made_by(e, "a solver", [&] { return e.qp_solver(); });
}

std::unique_ptr<Algorithm> Registry::make(const Entry& e, const Setup& setup, int scalar) const {
  const std::string& name = e.about.name;
  detail::expect_model(name, setup.model);
  // What stands in the way is asked first: alternatives may be in plugins that are not open.
  Tie tie = Tie::none;
  const bool able = obstacle(e.capabilities, *setup.model, tie).empty();
  if (able && e.algorithm[scalar]) {
    return made_by(e, "an algorithm bound to model " + text::quoted(setup.model->name()),
                   [&] { return e.algorithm[scalar](setup); });
  }
  const Verdict verdict = can(e, *setup.model);
  if (!e.algorithm[scalar]) {
    const std::vector<std::string> scalars(verdict.scalars.begin(), verdict.scalars.end());
    throw Unsupported(name + ": scalar is " + std::string(scalar_names[scalar]) + ", expected " +
                      joined(scalars, " or ") + " (" + title(e) + " of " + e.origin +
                      " is not registered at other scalars)");
  }
  std::string advice;
  for (const std::string& other : verdict.alternatives) {
    advice += advice.empty() ? "use " : " or ";
    if (!find_algorithm(e.problem, other).capabilities.exact) advice += "the approximate ";
    advice += text::quoted(other);
  }
  if (advice.empty()) advice = "no known algorithm for " + e.problem + " can";
  if (tie == Tie::coupling) {
    advice +=
        "; a coupling that is a mimic is free with --mimic ignore, CompileOptions::mimic or "
        "mimic='ignore'";
  }
  throw Unsupported(name + ": " + verdict.obstacle + " (" + advice + ")");
}

void Registry::refuse_type(const Entry& e) {
  throw PluginError(e.origin + ": " + title(e) +
                    " is of another C++ type than the problem's interface, expected a class "
                    "derived from it (is another problem of the same name in use?)");
}

}  // namespace espalier
