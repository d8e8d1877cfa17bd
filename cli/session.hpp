#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "espalier/host/espalier.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/model/layout.hpp"

/// What subcommands share: global options, the host with its plugins, the way to a Model, output.

namespace espalier::cli {

/// Keys keep the order in which they are written.
using Json = nlohmann::ordered_json;

/// An error with the exit code and type it is reported with; other errors of the library get theirs
/// from their class.
class Failure : public Error {
 public:
  Failure(int code, std::string type, const std::string& message)
      : Error(message), code_(code), type_(std::move(type)) {}
  int code() const { return code_; }
  const std::string& type() const { return type_; }

 private:
  int code_;
  std::string type_;
};
/// Wrong options, wrong form of a state file: exit code 2.
Failure usage_error(const std::string& message);

/// One run of the program.
class Session {
 public:
  std::vector<std::string> plugin_folders;
  bool verbose = false;
  bool json = false;

  /// The host, made with its plugins on first use.
  const Host& host();

  /// Writes the result to standard output: the JSON document if --json is given, else the text.
  void print(const std::string& text);
  /// Adds what was warned about, as a list "warnings", where there is something.
  void print(const Json& document);

  /// Tells a warning on standard error, or in the JSON document; each text once.
  void warn(const Finding& finding);
  void warn(const std::string& text) { warn({Finding::Severity::warning, text, ""}); }

 private:
  std::vector<std::string> warnings_;
  std::unique_ptr<Host> host_;
};

/// MODEL, --root, --mimic, --strict, --lenient, --search and --outside, shared by all commands that
/// compute on a model.
struct ModelArguments {
  std::string file;
  CompileOptions options;
  ReadOptions reading;

  void add_to(CLI::App& app);
  /// Reads and compiles; options.root is then that of the model. @throws Failure with exit code 1
  /// if the file is not a usable robot
  ModelPtr load(Session& session);
};
/// Tells what the reader left out, and what is computed as written; the doctor tells the rest.
/// @param findings  of compiling the description: those of the reader come first
void warn_of(Session& session, const Description& description,
             const std::vector<Finding>& findings);
/// --search and --outside: where included files and meshes are looked for.
void add_read_options(CLI::App& app, ReadOptions& options);
/// --root and --mimic, also for a model given by the option --model.
void add_compile_options(CLI::App& app, ModelArguments& model);

/// Runs what reads a model file: whatever is unknown in it makes the model unusable, not the usage
/// wrong. @throws Failure with exit code 1
template <class F>
auto reading_model(F&& read) {
  try {
    return read();
  } catch (const UnknownName& error) {
    throw Failure(1, "UnknownName", error.what());
  } catch (const DuplicateName& error) {
    throw Failure(1, "DuplicateName", error.what());
  } catch (const SizeMismatch& error) {
    throw Failure(1, "SizeMismatch", error.what());
  }
}

/// "fixed"/"floating" and "honour"/"ignore".
const char* to_string(CompileOptions::Root root);
const char* to_string(CompileOptions::MimicRule rule);

/// The entries of an algorithm: of all problems that it solves, or of the one asked for.
/// Problems that speak of end-effectors or inputs stand last, since they need more than a state.
/// @throws UnknownName with a suggestion
std::vector<const Entry*> select_algorithm(const Registry& registry, const std::string& name,
                                           const std::string& problem);
/// The algorithm for a problem that a model is computed by where nobody names one: an exact one, no
/// oracle and no reference if there are others, the one for trees if the model is a tree.
/// @throws Unsupported naming what stands in the way of each
const Entry& best_algorithm(const Registry& registry, const std::string& problem,
                            const Model& model);
/// @throws UnknownName with a suggestion
void expect_problem(const Registry& registry, const std::string& problem);

/// Files that were read in this run, and whether an output may replace one (--overwrite).
struct InputFiles {
  std::vector<std::string> files;
  bool may_be_replaced = false;

  void add(const std::string& file) { files.push_back(file); }
  /// The files that a model is written in: also those that it includes.
  void add(const Description& description);
  /// Those that no output may replace.
  std::vector<std::string> kept() const {
    return may_be_replaced ? std::vector<std::string>{} : files;
  }
};
InputFiles& input_files();

/// Writes a file whole or not at all. @throws OutputError; it is an input
void write_file(const std::string& path, const std::string& text);

}  // namespace espalier::cli
