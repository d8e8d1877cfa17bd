#include "espalier/plugins/registry.hpp"

#include <cxxabi.h>
#include <algorithm>
#include <boost/core/demangle.hpp>
#include <cctype>
#include <set>
#include <typeinfo>

#include "espalier/kernel/model/plugin_checks.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {

using text::quoted;

std::string joined(const std::vector<std::string>& names, std::string_view separator = ", ") {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += separator;
    text += name;
  }
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Number of insertions, deletions and replacements that turn a into b (Levenshtein distance).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// "algorithm 'aba' for forward-dynamics".
std::string title(const Entry& e) {
  std::string text = std::string(to_string(e.kind)) + " " + quoted(e.about.name);
  if (e.kind == Kind::algorithm) text += " for " + e.problem;
  return text;
}

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

constexpr std::string_view plugin_hint =
    "; more come from plugins, see `espalier list plugins` and ESPALIER_PLUGIN_PATH";

/// What an entry lacks to be of its kind, or "".
std::string_view missing_content(const Entry& e) {
  const auto empty = [](const AlgorithmFactory& factory) { return !factory; };
  switch (e.kind) {
    case Kind::joint:
      return e.joint == nullptr ? "no joint type" : "";
    case Kind::loop_joint:
      return e.loop_joint == nullptr ? "no loop joint" : "";
    case Kind::law:
      return e.law == nullptr ? "no law" : "";
    case Kind::sub_mechanism:
      return e.sub_mechanism == nullptr ? "no sub-mechanism" : "";
    case Kind::format:
      return e.format == nullptr ? "no format" : "";
    case Kind::integrator:
      return !e.integrator ? "no factory" : "";
    case Kind::qp_solver:
      return !e.qp_solver ? "no factory" : "";
    case Kind::pack_code:
      return e.pack_code == nullptr ? "no code" : "";
    case Kind::algorithm:
      if (e.problem.empty()) return "no problem";
      return std::all_of(e.algorithm.begin(), e.algorithm.end(), empty) ? "no factory" : "";
  }
  return "an unknown kind";
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
    const std::string who = "cluster " + quoted(c.name);
    tie = tie_of(c);
    if ((tie == Tie::coupling && !capabilities.couplings) ||
        (tie == Tie::loop && !capabilities.loops)) {
      std::string by;
      for (const std::string& name : c.constraints) by += (by.empty() ? "" : ", ") + quoted(name);
      std::string kind = tie == Tie::coupling ? "a coupling" : "a loop";
      if (!c.laws.empty()) {  // "by the law 'four_bar'", and what else there is
        kind = c.laws.size() == 1 ? "the law " : "the laws ";
        for (const std::string& law : c.laws)
          kind += (&law == &c.laws[0] ? "" : ", ") + quoted(law);
        if (c.laws.size() < c.constraints.size()) kind += " and more";
      }
      std::string text = who + " is tied by " + kind;
      if (!by.empty()) text += " (" + by + ")";
      if (capabilities.couplings) return text + ", expected a tree or constant couplings";
      return text + (capabilities.loops ? ", expected a tree or loops" : ", expected a tree");
    }
    if (c.supports.size() > 1 && !capabilities.several_supports) {
      return who + " hangs on " + std::to_string(c.supports.size()) +
             " output bodies, expected one";
    }
  }
  tie = Tie::none;
  if (!model.bodies_with_equations().empty() && !capabilities.joint_supplied_dynamics) {
    const Joint& joint = model.joints()[model.body(model.bodies_with_equations().front()).joint];
    return "joint " + quoted(joint.name) + " of type " + quoted(joint.type) +
           " brings equations of motion of its own, expected bodies alone";
  }
  if (!capabilities.weightless_tree && !model.weightless_in_tree().empty()) {
    return "the spanning tree, its loops being open, moves no positive inertia along " +
           model.weightless_in_tree() + ", expected some along each of its joints";
  }
  return "";
}

/// Laws that sub-mechanisms ask for by Assembly::law<M>(), whose class says nothing of the name.
/// They are seen in the working instances; one that does not work is not this function's to tell.
std::vector<std::pair<const Entry*, std::string>> stated_laws(
    const std::vector<std::unique_ptr<Entry>>& added) {
  std::vector<std::pair<const Entry*, std::string>> laws;
  for (const std::unique_ptr<Entry>& e : added) {
    if (e->kind != Kind::sub_mechanism) continue;
    try {
      PartSpec spec;
      spec.what = "sub-mechanism", spec.name = e->about.name;
      spec.parameters = e->sub_mechanism->sample();
      for (std::string& law : e->sub_mechanism->assemble(spec).stated_laws) {
        laws.emplace_back(e.get(), std::move(law));
      }
    } catch (...) {
      continue;  // whoever makes one is told by kernel/guard.hpp what was thrown, of any type
    }
  }
  return laws;
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::joint:
      return "joint";
    case Kind::loop_joint:
      return "loop joint";
    case Kind::law:
      return "law";
    case Kind::sub_mechanism:
      return "sub-mechanism";
    case Kind::format:
      return "format";
    case Kind::algorithm:
      return "algorithm";
    case Kind::integrator:
      return "integrator";
    case Kind::qp_solver:
      return "QP solver";
    case Kind::pack_code:
      return "pack code";
  }
  return "unknown kind";
}

std::string suggest(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return ", expected none (none is known)";
  const std::string wanted = lower(name);
  // A third of the letters may be wrong, but never all of them.
  std::size_t best = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  best = std::min(best, std::max<std::size_t>(wanted.size(), 1));
  const std::string* nearest = nullptr;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(wanted, lower(candidate));
    if (distance < best) best = distance, nearest = &candidate;
  }
  std::string text = ", expected " + std::string(known.size() > 1 ? "one of " : "") + joined(known);
  if (nearest != nullptr) text += " (did you mean " + quoted(*nearest) + "?)";
  return text;
}

Entry& Registrar::add(Kind kind, About about) {
  entries_.push_back(std::make_unique<Entry>());
  Entry& e = *entries_.back();
  e.kind = kind;
  e.about = std::move(about);
  e.origin = origin_;
  return e;
}

Registry::Registry() = default;
Registry::~Registry() = default;

void Registry::commit(Registrar&& registrar) {
  std::vector<std::unique_ptr<Entry>>& added = registrar.entries();
  for (const std::unique_ptr<Entry>& e : added) {
    if (e == nullptr || e->about.name.empty()) {
      const std::string kind(e == nullptr ? "entry" : to_string(e->kind));
      throw PluginError(registrar.origin() + ": the name of a registered " + kind +
                        " is empty, expected a name");
    }
    if (const std::string_view lacks = missing_content(*e); !lacks.empty()) {
      throw PluginError(registrar.origin() + ": " + title(*e) + " has " + std::string(lacks) +
                        ", expected one");
    }
    const std::string fault = e->law != nullptr     ? detail::fault_of(*e->law)
                              : e->joint != nullptr ? detail::fault_of(*e->joint)
                                                    : "";
    if (!fault.empty()) throw PluginError(registrar.origin() + ": " + title(*e) + ": " + fault);
  }

  const auto stated = stated_laws(added);
  const std::lock_guard lock(mutex_);
  // Everything that can fail happens on a copy.
  std::map<Key, const Entry*> by_key = by_key_;
  for (const std::unique_ptr<Entry>& e : added) {
    const bool has_problem = e->kind == Kind::algorithm;
    const Key key{e->kind, has_problem ? std::string_view(e->problem) : "", e->about.name};
    const auto [first, is_new] = by_key.emplace(key, e.get());
    std::string other = first->second->origin;
    if (is_new) {
      const Name name{e->kind, has_problem ? e->problem : "", e->about.name};
      const auto by_other = [&](const std::shared_ptr<const Promise>& p) {
        return p->origin != e->origin &&
               std::find(p->names.begin(), p->names.end(), name) != p->names.end();
      };
      const auto taken = std::find_if(promises_.begin(), promises_.end(), by_other);
      if (taken == promises_.end()) continue;
      other = (*taken)->origin;
    }
    throw DuplicateName(registrar.origin() + ": " + title(*e) + " is registered by " +
                        (other == e->origin ? "this plugin twice" : other + " already") +
                        ", expected a name of its own");
  }
  for (const auto& [e, law] : stated) {
    if (by_key.contains(Key{Kind::law, "", law}) || promised(Kind::law, law)) continue;
    throw PluginError(registrar.origin() + ": " + title(*e) + " asks for the law " + quoted(law) +
                      " of a class of its own, expected a registered one (register the class by "
                      "that name: sub_mechanism<M>({.name = " +
                      quoted(law) + "}))");
  }
  entries_.reserve(entries_.size() + added.size());
  for (std::unique_ptr<Entry>& e : added) entries_.push_back(std::move(e));
  by_key_.swap(by_key);
  added.clear();
}

bool Registry::promise(Promise promise) {
  const std::lock_guard lock(mutex_);
  for (const Name& n : promise.names) {
    if (by_key_.contains(Key{n.kind, n.problem, n.name})) return false;
    for (const auto& other : promises_) {
      if (std::find(other->names.begin(), other->names.end(), n) != other->names.end())
        return false;
    }
  }
  promises_.push_back(std::make_shared<const Promise>(std::move(promise)));
  return true;
}

void Registry::forget(std::string_view origin) {
  const std::lock_guard lock(mutex_);
  std::erase_if(promises_, [&](const auto& p) { return p->origin == origin; });
}

std::vector<Registry::Name> Registry::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<Name> out;
  for (const auto& [key, e] : by_key_) {
    const auto& [kind, problem, name] = key;
    out.push_back({kind, std::string(problem), std::string(name)});
  }
  return out;
}

void Registry::open_promised(const std::function<bool(const Name&)>& asked) const {
  const auto has = [&](const std::shared_ptr<const Promise>& p) {
    return std::any_of(p->names.begin(), p->names.end(), asked);
  };
  for (;;) {
    std::shared_ptr<const Promise> next;
    {
      const std::lock_guard lock(mutex_);
      const auto it = std::find_if(promises_.begin(), promises_.end(), has);
      if (it == promises_.end()) return;
      next = *it;
    }
    next->open();  // another thread's call may have done it: then it does nothing
    const std::lock_guard lock(mutex_);
    std::erase(promises_, next);
  }
}

bool Registry::promised(Kind kind, std::string_view name) const {
  return std::any_of(promises_.begin(), promises_.end(), [&](const auto& p) {
    return std::any_of(p->names.begin(), p->names.end(),
                       [&](const Name& n) { return n.kind == kind && n.name == name; });
  });
}

const Entry* Registry::known(Kind kind, std::string_view problem, std::string_view name) const {
  const auto find = [&]() -> const Entry* {
    const std::lock_guard lock(mutex_);
    const auto it = by_key_.find(Key{kind, problem, name});
    return it == by_key_.end() ? nullptr : it->second;
  };
  if (const Entry* e = find()) return e;
  open_promised(
      [&](const Name& n) { return n.kind == kind && n.problem == problem && n.name == name; });
  return find();
}

std::vector<const Entry*> Registry::entries(Kind kind) const {
  open_promised([&](const Name& n) { return n.kind == kind; });
  const std::lock_guard lock(mutex_);
  std::vector<const Entry*> result;
  for (const auto& [key, e] : by_key_) {
    if (e->kind == kind) result.push_back(e);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Entry* a, const Entry* b) { return a->about.name < b->about.name; });
  return result;
}

std::vector<const Entry*> Registry::algorithms(std::string_view problem) const {
  open_promised([&](const Name& n) {
    return n.kind == Kind::algorithm && (problem.empty() || n.problem == problem);
  });
  const std::lock_guard lock(mutex_);
  std::vector<const Entry*> result;
  for (const auto& [key, e] : by_key_) {
    if (e->kind == Kind::algorithm && (problem.empty() || e->problem == problem)) {
      result.push_back(e);
    }
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Entry* a, const Entry* b) { return a->about.name < b->about.name; });
  return result;
}

std::vector<const Entry*> Registry::algorithm_named(std::string_view name) const {
  open_promised([&](const Name& n) { return n.kind == Kind::algorithm && n.name == name; });
  const std::lock_guard lock(mutex_);
  std::vector<const Entry*> result;
  for (const auto& e : entries_) {
    if (e->kind == Kind::algorithm && e->about.name == name) result.push_back(e.get());
  }
  return result;
}

std::vector<std::string> Registry::problems() const {
  std::set<std::string> result;
  for (const Entry* e : entries(Kind::algorithm)) result.insert(e->problem);
  return {result.begin(), result.end()};
}

const Entry& Registry::find(Kind kind, std::string_view name) const {
  if (kind != Kind::algorithm) {  // whose names are taken once for each problem
    if (const Entry* e = known(kind, "", name)) return *e;
  }
  std::vector<std::string> names;
  for (const Entry* e : entries(kind)) {
    if (e->about.name == name) return *e;
    if (names.empty() || names.back() != e->about.name) names.push_back(e->about.name);
  }
  throw UnknownName(std::string(to_string(kind)) + " " + quoted(name) + " is unknown" +
                    suggest(name, names) + std::string(plugin_hint));
}

const Entry& Registry::find_algorithm(std::string_view problem, std::string_view name) const {
  if (const Entry* e = known(Kind::algorithm, problem, name)) return *e;
  std::vector<std::string> names, other_problems;
  for (const Entry* e : algorithms(problem)) names.push_back(e->about.name);
  for (const Entry* e : algorithm_named(name)) other_problems.push_back(e->problem);
  std::string text = "algorithm " + quoted(name) + " for " + std::string(problem) + " is unknown" +
                     suggest(name, names);
  if (!other_problems.empty()) {
    text += "; " + quoted(name) + " solves " + joined(other_problems, " and ");
  }
  throw UnknownName(text + std::string(plugin_hint));
}

const JointType& Registry::joint_type(std::string_view name) const {
  return *find(Kind::joint, name).joint;
}

const LoopJoint& Registry::loop_joint(std::string_view name) const {
  if (const Entry* e = known(Kind::loop_joint, "", name)) return *e->loop_joint;
  if (const Entry* e = known(Kind::joint, "", name)) return *e->joint;
  std::vector<std::string> names;
  for (const Kind kind : {Kind::joint, Kind::loop_joint}) {
    for (const Entry* e : entries(kind)) names.push_back(e->about.name);
  }
  std::sort(names.begin(), names.end());
  throw UnknownName("loop joint " + quoted(name) + " is unknown" + suggest(name, names) +
                    std::string(plugin_hint));
}

std::shared_ptr<const PackCode> Registry::pack_code() const {
  const Entry* e = known(Kind::pack_code, "", "packs");
  return e == nullptr ? ModelTypes::pack_code() : e->pack_code;
}

const LawType& Registry::law(std::string_view name) const { return *find(Kind::law, name).law; }

const SubMechanism* Registry::find_sub_mechanism(std::string_view name) const {
  const Entry* e = known(Kind::sub_mechanism, "", name);
  return e == nullptr ? nullptr : e->sub_mechanism.get();
}

std::vector<std::string> Registry::sub_mechanism_names() const {
  std::vector<std::string> names;
  for (const Entry* e : entries(Kind::sub_mechanism)) names.push_back(e->about.name);
  return names;
}

const Format& Registry::format_for(std::string_view path) const {
  const std::string file = lower(path.substr(path.find_last_of('/') + 1));
  open_promised([](const Name& n) { return n.kind == Kind::format; });
  std::vector<const Format*> formats;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& e : entries_) {
      if (e->kind == Kind::format) formats.push_back(e->format.get());
    }
  }
  const Format* best = nullptr;
  std::size_t longest = 0;
  std::set<std::string> endings;
  for (const Format* format : formats) {
    for (const std::string& ending : format->extensions()) {
      endings.insert(ending);
      // The longest ending wins; of equals, the format that was registered first.
      if (ending.size() > longest && file.size() > ending.size() && file.ends_with(lower(ending))) {
        best = format;
        longest = ending.size();
      }
    }
  }
  if (best != nullptr) return *best;
  if (file.ends_with(".xacro")) {
    throw UnknownName(std::string(path) +
                      ": file is xacro, which makes URDF, expected URDF (run "
                      "xacro first: xacro " +
                      std::string(path) + " > robot.urdf)");
  }
  const std::size_t dot = file.find_last_of('.');
  const std::string ending = dot == std::string::npos ? "" : file.substr(dot);
  throw UnknownName(std::string(path) + ": format of file name ending " + quoted(ending) +
                    " is unknown" + suggest(ending, {endings.begin(), endings.end()}) +
                    std::string(plugin_hint));
}

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
    throw UnknownName(title(e) + ": option " + quoted(option) + " is unknown" +
                      (known.empty() ? ", expected none" : suggest(option, known)));
  }
  if (setup.model == nullptr) {
    throw InvalidModel(title(e) +
                       ": model is null, expected a compiled model (see Model::compile)");
  }
  return made_by(e, "an integrator", [&] { return e.integrator(setup, spec); });
}

std::unique_ptr<QuadraticProgramSolver> Registry::create_qp_solver(std::string_view name) const {
  const Entry& e = find(Kind::qp_solver, name);
  return made_by(e, "a solver", [&] { return e.qp_solver(); });
}

std::unique_ptr<Algorithm> Registry::make(const Entry& e, const Setup& setup, int scalar) const {
  const std::string& name = e.about.name;
  if (setup.model == nullptr) {
    throw InvalidModel(name + ": model is null, expected a compiled model (see Model::compile)");
  }
  // What stands in the way is asked first: alternatives may be in plugins that are not open.
  Tie tie = Tie::none;
  const bool able = obstacle(e.capabilities, *setup.model, tie).empty();
  if (able && e.algorithm[scalar]) {
    return made_by(e, "an algorithm bound to model " + quoted(setup.model->name()),
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
    advice += quoted(other);
  }
  if (advice.empty()) advice = "no known algorithm for " + e.problem + " can";
  if (tie == Tie::coupling) {
    advice += "; where the coupling is a mimic, read the model with --mimic ignore to free it";
  }
  throw Unsupported(name + ": " + verdict.obstacle + " (" + advice + ")");
}

void Registry::refuse_type(const Entry& e) {
  throw PluginError(e.origin + ": " + title(e) +
                    " is of another C++ type than the problem's interface, expected a class "
                    "derived from it (is another problem of the same name in use?)");
}

}  // namespace espalier
