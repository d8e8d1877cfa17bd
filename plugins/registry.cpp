#include "espalier/plugins/registry.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <set>

#include "espalier/kernel/format.hpp"
#include "espalier/kernel/model/adapters/plugin_checks.hpp"
#include "espalier/kernel/model/packs/late_pack_code.hpp"
#include "espalier/kernel/model/packs/pack_code.hpp"
#include "espalier/kernel/sub_mechanism.hpp"
#include "espalier/kernel/suggest.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/plugins/registrar.hpp"
#include "registry_words.hpp"

namespace espalier {

namespace {

using detail::joined;
using detail::lower;
using detail::plugin_hint;
using detail::title;
using text::quoted;

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

using NameKey = std::tuple<Kind, std::string_view, std::string_view>;

/// By what a promised name is asked for: what stands for the problem of a format is the endings of
/// its files (plugins/plugin_index.hpp).
NameKey key_of(const Registry::Name& n) {
  return {n.kind, n.kind == Kind::algorithm ? std::string_view(n.problem) : "", n.name};
}

bool is_named(const Registry::Name& n, const NameKey& key) {
  return n.kind == std::get<0>(key) && n.name == std::get<2>(key) && key_of(n) == key;
}

/// Some of the promised names that are like another one. A program's start compares each with all
/// others: most are told apart by their length and last letter.
class LikelyNames {
 public:
  explicit LikelyNames(const std::vector<Registry::Name>& names) {
    for (const Registry::Name& n : names) likely_.set(sort_of(n));
  }
  bool contains(const Registry::Name& n) const { return likely_.test(sort_of(n)); }

 private:
  static constexpr std::size_t sorts = 1024;
  static std::size_t sort_of(const Registry::Name& n) {
    const auto last = n.name.empty() ? 0u : static_cast<unsigned char>(n.name.back());
    return (n.name.size() * 37 + last + static_cast<std::size_t>(n.kind) * 131) % sorts;
  }
  std::bitset<sorts> likely_;
};

/// Whether the index of the entry's plugin names it: an index is written once the plugin's joints
/// and laws have been compared with differences, which a program's start need not do again.
bool is_promised(const std::vector<std::shared_ptr<const Registry::Promise>>& promises,
                 const Entry& e) {
  const NameKey key{e.kind, e.kind == Kind::algorithm ? std::string_view(e.problem) : "",
                    e.about.name};
  return std::any_of(promises.begin(), promises.end(), [&](const auto& p) {
    return p->origin == e.origin &&
           std::any_of(p->names.begin(), p->names.end(),
                       [&](const Registry::Name& n) { return is_named(n, key); });
  });
}

/// Whether a promised format answers for a file name.
bool answers_for(const Registry::Name& n, std::string_view file) {
  if (n.kind != Kind::format) return false;
  std::string_view rest = n.problem;
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find(' '), rest.size());
    if (length > 0 && file.ends_with(lower(rest.substr(0, length)))) return true;
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return false;
}

/// Of some formats, the one for a file name in small letters, or null. The longest ending wins; of
/// equals, the format that comes first, with a warning that names both.
const Format* best_format(const std::vector<const Entry*>& formats, const std::string& file) {
  const Entry *best = nullptr, *other = nullptr;
  std::string longest;
  for (const Entry* e : formats) {
    for (const std::string& ending : e->format->extensions()) {
      if (ending.size() < longest.size() || file.size() <= ending.size()) continue;
      if (!file.ends_with(lower(ending)) || e == best) continue;
      const bool longer = ending.size() > longest.size();
      if (!longer && best != nullptr) {
        if (other == nullptr) other = e;
        continue;
      }
      best = e, other = nullptr, longest = ending;
    }
  }
  if (other != nullptr) detail::warn_of_two_formats(*best, *other, longest);
  return best == nullptr ? nullptr : best->format.get();
}

/// What other programs call joint types.
std::string_view own_name_of_joint(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> names{
      {{"hinge", "revolute"},
       {"pin", "revolute"},
       {"rotational", "revolute"},
       {"slide", "prismatic"},
       {"slider", "prismatic"},
       {"linear", "prismatic"},
       {"ball", "spherical"},
       {"free", "floating"},
       {"weld", "fixed"},
       {"screw", "helical"},
       {"cardan", "universal"},
       {"hooke", "universal"}}};
  const auto found =
      std::find_if(names.begin(), names.end(),
                   [wanted = lower(name)](const auto& n) { return n.first == wanted; });
  return found == names.end() ? std::string_view() : found->second;
}

/// suggest() for joint types.
std::string suggest_joint(std::string_view name, const std::vector<std::string>& known) {
  const std::string_view own = own_name_of_joint(name);
  const std::string text = suggest(name, known);
  if (std::find(known.begin(), known.end(), own) == known.end()) return text;
  return text.substr(0, text.find(" (did you mean")) + " (" + quoted(name) + " is called " +
         quoted(own) + " here)";
}

/// "arm" would answer for swarm, too. @throws PluginError
void expect_endings(const Entry& e, const std::string& origin) {
  if (e.kind != Kind::format || e.format == nullptr) return;
  for (const std::string& ending : e.format->extensions()) {
    if (ending.size() > 1 && ending.front() == '.') continue;
    throw PluginError(origin + ": " + title(e) + ": ending is " + quoted(ending) +
                      ", expected one that begins with a point, as '.arm'");
  }
}

}  // namespace

Entry& Registrar::add(Kind kind, About about) {
  entries_.push_back(std::make_unique<Entry>());
  Entry& e = *entries_.back();
  e.kind = kind;
  e.about = std::move(about);
  e.origin = origin_;
  return e;
}

Registry::Registry()
    : late_pack_code_(std::make_shared<LatePackCode>([this] { return pack_code(); })) {}
Registry::~Registry() {
  // Models that outlive the registry have no other chance.
  if (late_pack_code_.use_count() > 1) late_pack_code_->find_last();
}

void Registry::commit(Registrar&& registrar) {
  std::vector<std::unique_ptr<Entry>>& added = registrar.entries();
  const auto promises = [&] {
    const std::lock_guard lock(mutex_);
    return promises_;
  }();
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
    expect_endings(*e, registrar.origin());
    if (is_promised(promises, *e)) continue;
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
      const auto by_other = [&](const std::shared_ptr<const Promise>& p) {
        return p->origin != e->origin &&
               std::any_of(p->names.begin(), p->names.end(),
                           [&](const Name& n) { return is_named(n, key); });
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
    if (by_key_.contains(key_of(n))) return false;
  }
  const LikelyNames likely(promise.names);
  for (const auto& other : promises_) {
    for (const Name& o : other->names) {
      if (!likely.contains(o)) continue;
      const auto same = [key = key_of(o)](const Name& n) { return is_named(n, key); };
      if (std::any_of(promise.names.begin(), promise.names.end(), same)) return false;
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
  const Key key{kind, problem, name};
  open_promised([&](const Name& n) { return is_named(n, key); });
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
  throw UnknownName(std::string(to_string(kind)) + (kind == Kind::joint ? " type " : " ") +
                    quoted(name) + " is unknown" +
                    (kind == Kind::joint ? suggest_joint(name, names) : suggest(name, names)) +
                    std::string(plugin_hint));
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
  throw UnknownName("loop joint type " + quoted(name) + " is unknown" + suggest_joint(name, names) +
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
  open_promised([&](const Name& n) { return answers_for(n, file); });
  std::vector<const Entry*> formats;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& e : entries_) {
      if (e->kind == Kind::format) formats.push_back(e.get());
    }
  }
  if (const Format* best = best_format(formats, file)) return *best;
  if (file.ends_with(".xacro")) {
    throw UnknownName(std::string(path) +
                      ": file is xacro, which makes URDF, expected URDF (run "
                      "xacro first: xacro " +
                      std::string(path) + " > robot.urdf)");
  }
  std::set<std::string> endings;
  for (const Entry* e : entries(Kind::format)) {
    for (const std::string& ending : e->format->extensions()) endings.insert(ending);
  }
  const std::size_t dot = file.find_last_of('.');
  const std::string ending = dot == std::string::npos ? "" : file.substr(dot);
  if (dot == 0 && endings.contains(ending)) {
    throw UnknownName(std::string(path) + ": format of file name " + quoted(file) +
                      " is unknown, expected a name before the ending");
  }
  throw UnknownName(std::string(path) + ": format of file name ending " + quoted(ending) +
                    " is unknown" + suggest(ending, {endings.begin(), endings.end()}) +
                    std::string(plugin_hint));
}

}  // namespace espalier
