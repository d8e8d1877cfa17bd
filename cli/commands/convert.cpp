#include <spdlog/fmt/fmt.h>

#include "cli/command.hpp"
#include "cli/session.hpp"

namespace espalier::cli {

namespace {

/// From one file format to another.
class Convert final : public Command {
  void add_options(CLI::App& app) override {
    app.add_option("MODEL", file_, "robot file (see 'espalier list formats')")
        ->required()
        ->type_name("FILE");
    app.add_option("-o,--output", output_, "file to write; its ending says the format")
        ->required()
        ->type_name("FILE");
    app.footer("\nExample: espalier convert robot.urdf -o robot.yaml");
  }

  int run(Session& session) override {
    const Host& host = session.host();
    const Format& format = host.registry().format_for(output_);
    const Description description = reading_model([&] { return host.read(file_); });
    write_file(output_, format.write(description));
    if (session.json) {
      session.print(Json{{"model", description.name},
                         {"input", file_},
                         {"output", output_},
                         {"links", description.links.size()},
                         {"joints", description.joints.size()},
                         {"loops", description.loops.size()},
                         {"couplings", description.couplings.size()}});
    } else {
      session.print(fmt::format("{}: {} links and {} joints written to {}", description.name,
                                description.links.size(), description.joints.size(), output_));
    }
    return ok;
  }

  std::string file_, output_;
};

const Registered<Convert> registered{{"convert", "write a model in another file format", 50}};

}  // namespace

}  // namespace espalier::cli
