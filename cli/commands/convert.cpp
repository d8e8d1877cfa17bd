#include <spdlog/fmt/fmt.h>

#include "cli/command.hpp"
#include "cli/output/table.hpp"
#include "cli/session.hpp"
#include "espalier/host/output_file.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/graph/subsystem_graph.hpp"

namespace espalier::cli {

namespace {

/// From one file format to another.
class Convert final : public Command {
  void add_options(CLI::App& app) override {
    app.add_option("MODEL", file_, "robot file (see 'espalier list formats')")
        ->required()
        ->type_name("FILE");
    app.add_option("-o,--output,OUTPUT", output_, "file to write; its extension chooses the format")
        ->required()
        ->type_name("FILE");
    app.add_flag("--strict", strict_, "refuse to write if the format cannot express everything");
    app.add_flag("--lenient", lenient_,
                 "write even if the input has parts that Espalier does not support");
    add_read_options(app, reading_);
    app.footer(R"(
Lists what the output format cannot express before it writes. Subsystems of a YAML file are written
out as links and joints. The output may not be the input, unless --overwrite is given.
Example: espalier convert robot.xml -o robot.yaml)");
  }

  int run(Session& session) override {
    const Host& host = session.host();
    const Format& format = host.registry().format_for(output_);
    input_files().add(file_);
    const Description description = reading_model([&] { return host.read(file_, reading_); });
    input_files().add(description);
    std::vector<std::string> unread;
    for (const Finding& finding : description.findings) {
      if (finding.severity == Finding::Severity::error && !lenient_) {
        throw Failure(unusable, "InvalidModel", finding.text);
      }
      unread.push_back(finding.text);
    }
    const std::vector<std::string> losses = format.losses(description);
    OutputFile file(output_, input_files().kept());  // or nothing is told
    const std::string flat = flattened(description);
    if (!session.json) {
      if (!flat.empty()) session.print(flat);
      for (const std::string& text : unread) session.print("not read: " + text);
      for (const std::string& text : losses) session.print("not kept in " + output_ + ": " + text);
    }
    if (strict_ && !losses.empty()) {
      throw Failure(unusable, "Unsupported",
                    output_ + ": the format cannot say " + std::to_string(losses.size()) +
                        " things, the first is: " + losses.front() +
                        ", expected a format that keeps all (leave out --strict to write it)");
    }
    file.write(format.write(description));
    file.commit();
    if (session.json) {
      session.print(Json{{"model", description.name},
                         {"input", file_},
                         {"output", output_},
                         {"links", description.links.size()},
                         {"joints", description.joints.size()},
                         {"loops", description.loops.size()},
                         {"couplings", description.couplings.size()},
                         {"warnings", unread},
                         {"losses", losses},
                         {"flattened", !flat.empty()}});
    } else {
      session.print(fmt::format("{}: {} and {} written to {}", description.name,
                                counted(description.links.size(), "link", "links"),
                                counted(description.joints.size(), "joint", "joints"), output_));
    }
    return ok;
  }

  /// What is said of a robot that its file composes; "" of others.
  std::string flattened(const Description& robot) const {
    const int composed = robot.subsystems == nullptr ? 0 : robot.subsystems->unit_count() - 1;
    if (composed <= 0) return "";  // the first unit is the robot itself
    return fmt::format(
        "flattened: {} holds one robot of links and joints; its {} subsystem{}, with definitions, "
        "parameters and includes, stay in {}",
        output_, composed, composed == 1 ? "" : "s", file_);
  }

  std::string file_, output_;
  ReadOptions reading_;
  bool strict_ = false, lenient_ = false;
};

const Registered<Convert> registered_convert{
    {"convert", "write a model in another file format", 50}};

}  // namespace

}  // namespace espalier::cli
