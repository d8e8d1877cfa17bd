#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// Subcommands. A new one is one new file in commands/:
///
///   class Greet final : public Command {
///     void add_options(CLI::App& app) override { app.add_option("NAME", name_)->required(); }
///     int run(Session& session) override { ...; return ok; }
///     std::string name_;
///   };
///   const Registered<Greet> registered{{"greet", "says hello", 90}};

namespace espalier::cli {

class Session;

/// Exit codes, as documented in --help.
enum ExitCode { ok = 0, unusable = 1, wrong_usage = 2, internal_error = 3, interrupted = 130 };

class Command {
 public:
  virtual ~Command() = default;
  /// Declares options and positionals; `--json` is declared for every command.
  virtual void add_options(CLI::App& app) = 0;
  /// @return exit code @throws Error
  virtual int run(Session& session) = 0;
};

struct CommandInfo {
  const char* name;
  const char* summary;
  int order;  ///< place in --help
  std::function<std::unique_ptr<Command>()> make = nullptr;
};

/// All commands that were linked in, in no order yet.
std::vector<CommandInfo>& commands();

template <class C>
struct Registered {
  explicit Registered(CommandInfo info) {
    info.make = [] { return std::make_unique<C>(); };
    commands().push_back(std::move(info));
  }
};

}  // namespace espalier::cli
