#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/host/batch.hpp"
#include "espalier/plugins/registry.hpp"

namespace espalier {

class Loader;
struct ReadOptions;

/// A registry with its plugins loaded, and the way from a file to a Model.
class ESPALIER_API Host {
 public:
  /// Where plugins are looked for.
  struct Options {
    std::vector<std::string> plugin_folders;  ///< searched first
    bool search = true;                       ///< whether the standard places are searched too
  };
  /// Loads all plugins found; ones that are refused are logged as warnings.
  Host();
  /// The same, from the given places.
  explicit Host(const Options& options);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// All that is known by name.
  Registry& registry() { return registry_; }
  /// All that is known by name.
  const Registry& registry() const { return registry_; }
  /// What plugins were loaded (include espalier/plugins/loader.hpp).
  Loader& loader() { return *loader_; }
  /// What plugins were loaded.
  const Loader& loader() const { return *loader_; }

  /// Reads a file by the format of its ending. @throws InvalidModel if it cannot be opened
  Description read(const std::string& path) const;
  /// The same, with folders in which included files and meshes are looked for.
  Description read(const std::string& path, const ReadOptions& options) const;
  /// Reads and compiles.
  ModelPtr load(const std::string& path, const CompileOptions& options = {}) const;
  /// Compiles what was read or written by hand.  @throws InvalidModel, UnknownName as
  /// Model::compile
  ModelPtr compile(const Description& description, const CompileOptions& options = {}) const {
    return Model::compile(description, registry_, options);
  }
  /// An algorithm for the problem P, as in host.create<ForwardDynamics<double>>("aba", robot).
  /// @throws UnknownName listing the known ones; Unsupported naming what stands in the way
  template <class P>
  std::unique_ptr<P> create(std::string_view name, ModelPtr model) const {
    return registry_.create<P>(name, Setup{std::move(model)});
  }
  /// The same for problems that need more than a model.
  template <class P>
  std::unique_ptr<P> create(std::string_view name, const Setup& setup) const {
    return registry_.create<P>(name, setup);
  }
  /// An algorithm for batches of states, on several threads.
  /// @throws as Batch; UnknownName for the problem or the algorithm
  std::unique_ptr<Batch> batch(std::string_view problem, std::string_view name, const Setup& setup,
                               const BatchOptions& options = {}) const;
  /// The same, as in host.batch<ForwardDynamics>("aba", robot, {.threads = 2}).
  template <template <class> class P>
  std::unique_ptr<Batch> batch(std::string_view name, const Setup& setup,
                               const BatchOptions& options = {}) const {
    return batch(P<double>::problem, name, setup, options);
  }
  /// The same for problems that need a model alone.
  template <template <class> class P>
  std::unique_ptr<Batch> batch(std::string_view name, ModelPtr model,
                               const BatchOptions& options = {}) const {
    return batch(P<double>::problem, name, Setup{std::move(model)}, options);
  }
  /// Solves N states in one call, by a batch that is made for it. Keep a batch() for repeated
  /// calls. Arguments as in Batch::evaluate().
  /// @return what became of each state
  /// @throws as batch() and Batch::evaluate()
  template <template <class> class P>
  std::vector<BatchStatus> evaluate_batch(std::string_view name, const Setup& setup, int N,
                                          const BatchInputs& in,
                                          std::initializer_list<BatchOutput> out,
                                          const BatchOptions& options = {}) const {
    return evaluate_batch(P<double>::problem, name, setup, N, in, out, options);
  }
  /// The same for problems that need a model alone.
  template <template <class> class P>
  std::vector<BatchStatus> evaluate_batch(std::string_view name, ModelPtr model, int N,
                                          const BatchInputs& in,
                                          std::initializer_list<BatchOutput> out,
                                          const BatchOptions& options = {}) const {
    return evaluate_batch(P<double>::problem, name, Setup{std::move(model)}, N, in, out, options);
  }
  /// The same for a problem by its name.
  std::vector<BatchStatus> evaluate_batch(std::string_view problem, std::string_view name,
                                          const Setup& setup, int N, const BatchInputs& in,
                                          std::initializer_list<BatchOutput> out,
                                          const BatchOptions& options = {}) const;

 private:
  Registry registry_;
  std::unique_ptr<Loader> loader_;
};

}  // namespace espalier
