#include <cxxabi.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <algorithm>
#include <boost/core/demangle.hpp>
#include <cctype>
#include <cstring>
#include <iostream>
#include <sstream>

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "cli/version.hpp"
#include "espalier/host/output_file.hpp"

namespace espalier::cli {

namespace {

constexpr const char* footer = R"(
Exit codes: 0 ok; 1 the model or an input cannot be used, or algorithms disagree;
2 wrong usage (unknown option, algorithm, problem, joint or link); 3 internal error; 130 Ctrl-C.
An output file appears when it is complete, and never replaces an input.
Results go to standard output, everything else to standard error.
'espalier COMMAND --help' explains each command.)";

struct Reported {
  int code;
  std::string type;
};

/// Exit code and name of an error.
Reported classify(const std::exception& error) {
  if (const auto* e = dynamic_cast<const Failure*>(&error)) return {e->code(), e->type()};
  if (dynamic_cast<const UnknownName*>(&error)) return {wrong_usage, "UnknownName"};
  if (dynamic_cast<const SizeMismatch*>(&error)) return {wrong_usage, "SizeMismatch"};
  if (dynamic_cast<const InvalidModel*>(&error)) return {unusable, "InvalidModel"};
  if (dynamic_cast<const SingularMechanism*>(&error)) return {unusable, "SingularMechanism"};
  if (dynamic_cast<const DuplicateName*>(&error)) return {unusable, "DuplicateName"};
  if (dynamic_cast<const PluginError*>(&error)) return {unusable, "PluginError"};
  if (dynamic_cast<const OutputError*>(&error)) return {unusable, "OutputError"};
  if (dynamic_cast<const Unsupported*>(&error)) return {unusable, "Unsupported"};
  return {internal_error, "InternalError"};
}

/// One line on standard error, and the same on standard output where JSON is wanted.
int report(Session& session, const std::exception& error) {
  const auto [code, type] = classify(error);
  std::string line = error.what();
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::cerr << "espalier: " << line << '\n';
  if (session.json) session.print(Json{{"error", {{"type", type}, {"message", line}}}});
  return code;
}

/// What CLI11 says of a value that does not fit, as other messages say it.
std::string in_our_words(const std::string& text) {
  constexpr std::string_view no_number = "Could not convert: ", no_word = " not in {";
  const std::size_t equals = text.find(" = "), set = text.find(no_word), colon = text.find(": ");
  if (text.starts_with(no_number) && equals != std::string::npos) {
    const std::string value = text.substr(equals + 3);
    const bool comma = value.find(',') != std::string::npos;
    const bool unit = !comma && !value.empty() && std::isdigit(value.front());
    return text.substr(no_number.size(), equals - no_number.size()) + " is '" + value +
           "', expected a number" +
           (comma  ? " (0.001 has a point, not a comma)"
            : unit ? " (without a unit)"
                   : "");
  }
  if (set != std::string::npos && colon < set && text.ends_with("}")) {
    const std::string value = text.substr(colon + 2, set - colon - 2);
    std::vector<std::string> known;
    std::istringstream words(text.substr(set + no_word.size()));
    for (std::string word; std::getline(words, word, ',');) known.push_back(word);
    known.back().pop_back();  // the brace
    return text.substr(0, colon) + " is '" + value + "'" + suggest(value, known);
  }
  return text;
}

/// Makes CLI11's complaint one that names what was meant.
Failure explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& active = chosen.empty() ? app : *chosen.front();
  std::vector<std::string> leftover = app.remaining(true);
  const std::string who = chosen.empty() ? "" : active.get_name() + ": ";
  const std::string advice =
      " (see 'espalier " + (chosen.empty() ? "" : active.get_name() + " ") + "--help')";
  for (const std::string& word : leftover) {
    if (word.size() > 1 && word.front() == '-') {
      std::vector<std::string> known;
      for (const CLI::App* a : {&active, &app}) {
        for (const CLI::Option* option : a->get_options()) {
          for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
        }
        if (&active == &app) break;
      }
      std::sort(known.begin(), known.end());
      known.erase(std::unique(known.begin(), known.end()), known.end());
      return usage_error(who + "option '" + word.substr(0, word.find('=')) + "' is unknown" +
                         suggest(word.substr(0, word.find('=')), known));
    }
    return usage_error(who + "argument '" + word + "' is one too many" + advice);
  }
  if (chosen.empty() && dynamic_cast<const CLI::RequiredError*>(&error)) {
    return usage_error("subcommand is missing, expected one of those in 'espalier --help'");
  }
  return usage_error(who + in_our_words(error.what()) + advice);
}

/// Refuses a first word that names no subcommand; CLI11 would complain of a missing one.
void expect_subcommand(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--plugins") == 0) {
      ++i;
    } else if (argv[i][0] != '-') {
      std::vector<std::string> known;
      for (const CommandInfo& info : commands()) known.push_back(info.name);
      if (std::find(known.begin(), known.end(), argv[i]) != known.end()) return;
      throw usage_error("subcommand '" + std::string(argv[i]) + "' is unknown" +
                        suggest(argv[i], known));
    }
  }
}

/// Help of at most 100 columns: descriptions go on below where they begin.
class Help : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(CLI::Formatter::make_option_desc(option), column_width_);
  }
  /// Without CLI11's mark of a flag that says no.
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, positional);
    constexpr std::string_view mark = "{false}";
    if (const std::size_t at = name.find(mark); at != std::string::npos)
      name.erase(at, mark.size());
    return name;
  }
  std::string make_subcommand(const CLI::App* sub) const override {
    std::stringstream out;
    CLI::detail::format_help(out, sub->get_display_name(true),
                             wrapped(sub->get_description(), column_width_), column_width_);
    return out.str();
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), 0);
  }

 private:
  static std::string wrapped(const std::string& text, std::size_t indent) {
    constexpr std::size_t columns = 94;  // --help-all moves commands in by up to six
    const std::size_t width = columns - indent;
    std::string out;
    std::size_t line = 0;  // where it begins in `out`
    for (const char c : text) {
      out += c;
      if (c == '\n') line = out.size();
      if (out.size() - line <= width) continue;
      const std::size_t space = out.rfind(' ');
      if (space == std::string::npos || space <= line) continue;  // a word as long as the line
      out[space] = '\n';
      line = space + 1;
    }
    return out;
  }
};

int run(Session& session, int argc, char** argv) {
  CLI::App app("espalier " ESPALIER_VERSION
               ": exact dynamics of robots with gears, differentials, belts and four-bars",
               "espalier");
  app.formatter(std::make_shared<Help>());  // of all subcommands, which are made after this
  app.footer(footer);
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag(
      "--version", [&session] { return version_text(session.plugin_folders); },
      "version, commit, compiler, and plugins with their instruction sets");
  app.add_option(
         "--plugins", session.plugin_folders,
         "folder to search for plugins first, before ESPALIER_PLUGIN_PATH and Espalier's own; "
         "may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_flag("--verbose", session.verbose, "say on standard error what is loaded, and when");
  app.add_flag("--overwrite", input_files().may_be_replaced,
               "allow an output file to replace one of the inputs");
  constexpr const char* json = "print one JSON document; errors as {\"error\": ...}";
  app.add_flag("--json", session.json, json);
  app.require_subcommand(1);

  std::sort(commands().begin(), commands().end(),
            [](const CommandInfo& a, const CommandInfo& b) { return a.order < b.order; });
  std::vector<std::unique_ptr<Command>> made;
  for (const CommandInfo& info : commands()) {
    CLI::App* sub = app.add_subcommand(info.name, info.summary);
    sub->fallthrough();  // global options may follow the subcommand
    made.push_back(info.make());
    made.back()->add_options(*sub);
    sub->add_flag("--json", session.json, json);  // in the help of each
  }

  // The flag may stand behind what cannot be parsed.
  session.json = std::any_of(argv, argv + argc,
                             [](const char* word) { return std::strcmp(word, "--json") == 0; });
  app.set_help_all_flag("--help-all", "print the help of all commands");  // here alone
  try {
    expect_subcommand(argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::Success& asked_for) {  // --help, --version
    return app.exit(asked_for);
  } catch (const CLI::ParseError& error) {
    throw explain(app, error);
  }

  if (session.verbose) spdlog::set_level(spdlog::level::debug);
  const std::string chosen = app.get_subcommands().front()->get_name();
  for (std::size_t k = 0; k < made.size(); ++k) {
    if (commands()[k].name == chosen) return made[k]->run(session);
  }
  throw std::logic_error("subcommand '" + chosen + "' was parsed but is not registered");
}

}  // namespace

}  // namespace espalier::cli

int main(int argc, char** argv) {
  using namespace espalier::cli;
  // The library logs through the logger of this name; standard output belongs to results.
  const auto logger = spdlog::stderr_logger_st("espalier");
  logger->set_pattern("espalier: %l: %v");
  logger->set_level(spdlog::level::warn);
  spdlog::set_default_logger(logger);

  Session session;
  int code = ok;
  try {
    code = run(session, argc, argv);
  } catch (const std::exception& error) {
    code = report(session, error);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    const char* type = abi::__cxa_current_exception_type()->name();
    code =
        report(session,
               std::runtime_error("a value of type " + boost::core::demangle(type) +
                                  " was thrown, expected no exception (by a plugin's evaluation)"));
  }
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "espalier: standard output is not writable, expected an open one\n";
    return internal_error;
  }
  return code;
}
