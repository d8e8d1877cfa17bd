#include "cli/session.hpp"

#include <spdlog/spdlog.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "cli/command.hpp"
#include "cli/files/positions.hpp"
#include "espalier/host/output_file.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/plugins/loader.hpp"

namespace espalier::cli {

std::vector<CommandInfo>& commands() {
  static std::vector<CommandInfo> all;
  return all;
}

Failure usage_error(const std::string& message) { return {wrong_usage, "UsageError", message}; }

const Host& Session::host() {
  if (host_ == nullptr) {
    for (const std::string& folder : plugin_folders) {
      if (!std::filesystem::is_directory(folder)) {
        throw usage_error("--plugins: folder is '" + folder +
                          "', which is no folder, expected one with plugins (*.so)");
      }
    }
    host_ = std::make_unique<Host>(Host::Options{.plugin_folders = plugin_folders, .search = true});
    for (const LoadedPlugin& plugin : host_->loader().loaded()) {
      spdlog::debug("plugin {} {} ({}) from {}", plugin.name, plugin.version,
                    plugin.instruction_set, plugin.file);
    }
  }
  return *host_;
}

void Session::print(const std::string& text) {
  std::cout << text;
  if (!text.empty() && text.back() != '\n') std::cout << '\n';
}

void Session::print(const Json& document) {
  Json all = document;
  if (all.is_object() && !warnings_.empty() && !all.contains("warnings")) {
    all["warnings"] = warnings_;
  }
  // Shortest digits that read back as the same number; bytes that are no UTF-8 are replaced.
  std::cout << all.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void Session::warn(const Finding& finding) {
  const bool told = finding.where.empty() || finding.text.find(finding.where) != std::string::npos;
  const std::string text = (told ? "" : finding.where + ": ") + finding.text;
  if (std::find(warnings_.begin(), warnings_.end(), text) != warnings_.end()) return;
  warnings_.push_back(text);
  if (!json) std::cerr << "warning: " << text << '\n';
}

const char* to_string(CompileOptions::Root root) {
  return root == CompileOptions::Root::fixed ? "fixed" : "floating";
}
const char* to_string(CompileOptions::MimicRule rule) {
  return rule == CompileOptions::MimicRule::honour ? "honour" : "ignore";
}

namespace {

std::string default_of(const std::optional<CompileOptions::Root>&) { return ""; }
std::string default_of(CompileOptions::MimicRule rule) { return to_string(rule); }

/// An option whose values are words that stand for the values of an enumeration.
template <class V, class E>
void add_choice(CLI::App& app, const char* name, const char* help, V& value, E first, E second) {
  const std::map<std::string, E> choices{{to_string(first), first}, {to_string(second), second}};
  app.add_option_function<std::string>(
         name, [&value, choices](const std::string& word) { value = choices.at(word); }, help)
      ->check(CLI::IsMember({to_string(first), to_string(second)}).description(""))
      ->type_name(std::string(to_string(first)) + "|" + to_string(second))
      ->default_str(default_of(value));
}

}  // namespace

void add_compile_options(CLI::App& app, ModelArguments& model) {
  CompileOptions& options = model.options;
  using Root = CompileOptions::Root;
  using Mimic = CompileOptions::MimicRule;
  add_choice(
      app, "--root",
      "floating: the root link moves freely, on a joint named 'root'; default: what the file "
      "says, or fixed if it says nothing",
      options.root, Root::fixed, Root::floating);
  add_choice(app, "--mimic", "ignore: joints with <mimic> move independently", options.mimic,
             Mimic::honour, Mimic::ignore);
}

void add_read_options(CLI::App& app, ReadOptions& options) {
  app.add_option(
         "--search", options.search_paths,
         "folder to search for included files and meshes, after that of the robot file; may be "
         "repeated")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory.description(""))
      ->expected(1)
      ->take_all();
  app.add_flag("--outside", options.outside,
               "allow included files and meshes outside of these folders");
}

void ModelArguments::add_to(CLI::App& app) {
  app.add_option("MODEL", file, "robot file (see 'espalier list formats')")
      ->required()
      ->type_name("FILE");
  add_compile_options(app, *this);
  app.add_flag(
      "--strict", options.strict,
      "refuse what is doubtful, such as inertias that no body can have, instead of warning");
  app.add_flag("--lenient", options.lenient,
               "leave out what Espalier does not support, even if this changes the motion");
  add_read_options(app, reading);
}

void warn_of(Session& session, const Description& description,
             const std::vector<Finding>& findings) {
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].severity == Finding::Severity::error) continue;
    if (i < description.findings.size() || findings[i].negotiable) session.warn(findings[i]);
  }
}

ModelPtr ModelArguments::load(Session& session) {
  const Host& host = session.host();
  return reading_model([&] {
    const auto start = std::chrono::steady_clock::now();
    input_files().add(file);
    const Description description = host.read(file, reading);
    input_files().add(description);
    options.root = root_of(description, options);
    const auto middle = std::chrono::steady_clock::now();
    ModelPtr model = host.compile(description, options);
    const auto ms = [](auto d) { return std::chrono::duration<double, std::milli>(d).count(); };
    spdlog::debug("{}: read in {:.3f} ms, compiled in {:.3f} ms", file, ms(middle - start),
                  ms(std::chrono::steady_clock::now() - middle));
    warn_of(session, description, model->extras().warnings);
    std::vector<double> neutral(model->nq());
    model->neutral(neutral.data());
    warn_near_dead_points(session, *model, neutral, "the neutral position");
    return model;
  });
}

std::vector<const Entry*> select_algorithm(const Registry& registry, const std::string& name,
                                           const std::string& problem) {
  std::vector<const Entry*> entries = registry.algorithm_named(name);
  if (entries.empty()) {
    std::vector<std::string> names;
    for (const Entry* e : registry.algorithms()) {
      if (names.empty() || names.back() != e->about.name) names.push_back(e->about.name);
    }
    throw UnknownName("algorithm '" + name + "' is unknown" + suggest(name, names) +
                      "; 'espalier list algorithms' explains them");
  }
  if (problem.empty()) {
    std::stable_partition(entries.begin(), entries.end(), [](const Entry* e) {
      return !e->needs_end_effectors && !e->needs_inputs && !e->needs_sensors;
    });
    return entries;
  }
  expect_problem(registry, problem);
  return {&registry.find_algorithm(problem, name)};
}

const Entry& best_algorithm(const Registry& registry, const std::string& problem,
                            const Model& model) {
  // By problem, those for trees before those for loops; other names follow in their order.
  static const std::vector<std::string> preferred{"aba",
                                                  "c-aba",
                                                  "rnea",
                                                  "c-rnea",
                                                  "crba",
                                                  "c-crba",
                                                  "c-efpa",
                                                  "aba-derivatives",
                                                  "c-aba-derivatives",
                                                  "rnea-derivatives",
                                                  "c-rnea-derivatives"};
  const auto rank = [](const Entry* e) {
    const std::string& name = e->about.name;
    const auto known = std::find(preferred.begin(), preferred.end(), name);
    if (known != preferred.end()) return static_cast<int>(known - preferred.begin());
    const bool oracle = e->about.summary.find("oracle") != std::string::npos;
    return 100 + (oracle || name.ends_with("-reference") ? 100 : 0) +
           (e->capabilities.exact ? 0 : 1000);
  };
  const Entry* best = nullptr;
  std::string obstacles;
  for (const Entry* e : registry.algorithms(problem)) {
    const Verdict verdict = registry.can(*e, model);
    if (!verdict.ok) obstacles += "; " + e->about.name + ": " + verdict.obstacle;
    if (verdict.ok && (best == nullptr || rank(e) < rank(best))) best = e;
  }
  if (best == nullptr) {
    throw Unsupported("number of algorithms that solve " + problem + " for '" + model.name() +
                      "' is 0, expected at least one" + obstacles);
  }
  return *best;
}

void expect_problem(const Registry& registry, const std::string& problem) {
  const std::vector<std::string> known = registry.problems();
  if (std::find(known.begin(), known.end(), problem) != known.end()) return;
  throw UnknownName("problem '" + problem + "' is unknown" + suggest(problem, known));
}

InputFiles& input_files() {
  static InputFiles files;
  return files;
}

void InputFiles::add(const Description& description) {
  std::set<std::string> seen(files.begin(), files.end());
  const auto take = [&](const auto& parts) {
    for (const auto& part : parts) {
      if (!part.where.file.empty() && seen.insert(part.where.file).second) add(part.where.file);
    }
  };
  take(description.links), take(description.joints), take(description.loops);
  take(description.couplings), take(description.laws);
}

void write_file(const std::string& path, const std::string& text) {
  espalier::write_file(path, text, input_files().kept());
}

}  // namespace espalier::cli
