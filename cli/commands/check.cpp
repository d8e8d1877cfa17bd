#include <spdlog/fmt/fmt.h>

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "espalier/kernel/model/mesh_files.hpp"

namespace espalier::cli {

namespace {

/// The model doctor.
class Check final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.footer(R"(
Looks for massless leaves, inertias that no body can have, duplicate names, disconnected bodies,
unknown joint types, missing meshes and all else that a model is refused for, and says what to do.
Refuses what other commands compute as written with a warning (--strict), unless --lenient is given.
Exit code 1 if the model cannot be used, 0 if there are warnings at most.)");
  }

  int run(Session& session) override {
    std::string name;
    model_.options.strict = !model_.options.lenient;  // the doctor doubts what others compute
    const std::vector<Finding> findings = examine(session.host(), name);
    std::size_t errors = 0;
    for (const Finding& f : findings) errors += f.severity == Finding::Severity::error;
    const std::size_t warnings = findings.size() - errors;
    const auto word = [](const Finding& f) {
      return f.severity == Finding::Severity::error ? "error" : "warning";
    };

    if (session.json) {
      Json list = Json::array();
      for (const Finding& f : findings) {
        list.push_back({{"severity", word(f)}, {"text", f.text}, {"where", f.where}});
      }
      session.print(Json{{"model", name},
                         {"file", model_.file},
                         {"usable", errors == 0},
                         {"errors", errors},
                         {"warnings", warnings},
                         {"findings", std::move(list)}});
    } else {
      std::string out;
      for (const Finding& f : findings) {
        const bool told = f.where.empty() || f.text.find(f.where) != std::string::npos;
        out += fmt::format("{}: {}{}\n", word(f), told ? "" : f.where + ": ", f.text);
      }
      out += fmt::format("{}: {}, {} error{}, {} warning{}\n", name.empty() ? model_.file : name,
                         errors == 0 ? "usable" : "not usable", errors, errors == 1 ? "" : "s",
                         warnings, warnings == 1 ? "" : "s");
      session.print(out);
    }
    return errors == 0 ? ok : unusable;
  }

  std::vector<Finding> examine(const Host& host, std::string& name) {
    std::vector<Finding> findings;
    try {
      const Description description = host.read(model_.file, model_.reading);
      model_.honour(description);
      name = description.name;
      findings = diagnose(description, host.registry(), model_.options);
      for (const Finding& f : findings) {
        if (f.severity == Finding::Severity::error) return findings;
      }
      host.compile(description, model_.options);
      for (Finding& f : missing_meshes(description, model_.reading)) {
        findings.push_back(std::move(f));
      }
    } catch (const Error& error) {
      findings.push_back({Finding::Severity::error, error.what(), ""});
    }
    return findings;
  }

  ModelArguments model_;
};

const Registered<Check> registered_check{
    {"check", "the model doctor: what is wrong with a file", 30}};

}  // namespace

}  // namespace espalier::cli
