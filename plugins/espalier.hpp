#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/input_matrix.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/state.hpp"
#include "espalier/kernel/operational_space.hpp"
#include "espalier/kernel/problems.hpp"
#include "espalier/kernel/sensor_dynamics.hpp"
#include "espalier/kernel/sensor_hybrid.hpp"
#include "espalier/kernel/sensor_verdict.hpp"
#include "espalier/kernel/simulation.hpp"
#include "espalier/kernel/soft_contact.hpp"
#include "espalier/kernel/task_control.hpp"
#include "espalier/plugins/batch.hpp"
#include "espalier/plugins/batch_simulation.hpp"
#include "espalier/plugins/loader.hpp"
#include "espalier/plugins/registry.hpp"

/// All that a program includes which uses Espalier:
///
///   espalier::Host host;                                   // finds and loads the plugins
///   auto robot = host.load("robots/mini_cheetah.urdf");    // file -> Model
///   auto aba = host.create<espalier::ForwardDynamics<double>>("aba", robot);
///   aba->evaluate(q, v, tau, vdot);

namespace espalier {

/// What a simulation is made of, by name.
struct SimulationNames {
  std::string algorithm = "c-aba";  ///< for forward dynamics
  std::string integrator = "rk4";
  Parameters integrator_options{};
};

/// What task control is made of, by name.
struct TaskControlNames {
  std::string solver{};  ///< of quadratic programs; empty: least squares, which know no limits
  std::string input_matrix = "iim";
  std::string center_of_mass = "center-of-mass";
};

/// A registry with its plugins loaded, and the way from a file to a Model.
class ESPALIER_API Host {
 public:
  struct Options {
    std::vector<std::string> plugin_folders;  ///< searched first
    bool search = true;                       ///< whether the standard places are searched too
  };
  /// Loads all plugins found; ones that are refused are logged as warnings.
  Host();
  explicit Host(const Options& options);

  Registry& registry() { return registry_; }
  const Registry& registry() const { return registry_; }
  Loader& loader() { return loader_; }
  const Loader& loader() const { return loader_; }

  /// Reads a file by the format of its ending. @throws InvalidModel if it cannot be opened
  Description read(const std::string& path) const;
  /// Reads and compiles.
  ModelPtr load(const std::string& path, const CompileOptions& options = {}) const;
  ModelPtr compile(const Description& description, const CompileOptions& options = {}) const {
    return Model::compile(description, registry_, options);
  }
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
  template <template <class> class P>
  std::unique_ptr<Batch> batch(std::string_view name, ModelPtr model,
                               const BatchOptions& options = {}) const {
    return batch(P<double>::problem, name, Setup{std::move(model)}, options);
  }
  /// Solves N states in one call, by a batch that is made for it: who asks again keeps a batch(),
  /// which has its memory already. Arguments as in Batch::evaluate().
  /// @return what became of each state
  /// @throws as batch() and Batch::evaluate()
  template <template <class> class P>
  std::vector<BatchStatus> evaluate_batch(std::string_view name, const Setup& setup, int N,
                                          const BatchInputs& in,
                                          std::initializer_list<BatchOutput> out,
                                          const BatchOptions& options = {}) const {
    return evaluate_batch(P<double>::problem, name, setup, N, in, out, options);
  }
  template <template <class> class P>
  std::vector<BatchStatus> evaluate_batch(std::string_view name, ModelPtr model, int N,
                                          const BatchInputs& in,
                                          std::initializer_list<BatchOutput> out,
                                          const BatchOptions& options = {}) const {
    return evaluate_batch(P<double>::problem, name, Setup{std::move(model)}, N, in, out, options);
  }
  std::vector<BatchStatus> evaluate_batch(std::string_view problem, std::string_view name,
                                          const Setup& setup, int N, const BatchInputs& in,
                                          std::initializer_list<BatchOutput> out,
                                          const BatchOptions& options = {}) const;
  /// A simulation of a model; energies are computed if a loaded algorithm can.
  /// @throws UnknownName, Unsupported, as create(); InvalidModel for the value of an option
  std::unique_ptr<Simulation> simulation(
      const ModelPtr& model, const SimulationNames& names = {},
      const SimulationOptions& options = {},
      std::vector<std::unique_ptr<Controller>> controllers = {},
      std::vector<std::unique_ptr<Environment>> environments = {}) const;
  /// A simulation of many copies of a robot at once. @throws as BatchSimulation
  std::unique_ptr<BatchSimulation> batch_simulation(
      const ModelPtr& model, const BatchSimulationOptions& options = {}) const;
  /// Moves N robots for `duration` by steps of h [s] in one call, by a batch_simulation().
  /// @param[in,out] q    nq x N spanning positions
  /// @param[in,out] v    nv x N independent rates
  /// @param controller   as in BatchSimulation::set_controller()
  /// @return what became of each robot
  /// @throws as batch_simulation(), BatchSimulation::start() and run()
  std::vector<BatchStatus> simulate_batch(const ModelPtr& model, int N, Out<double> q,
                                          Out<double> v, double duration, double h,
                                          BatchController controller = {},
                                          const BatchSimulationOptions& options = {}) const;
  /// Task control of a model: see kernel/task_control.hpp.
  /// @throws UnknownName, Unsupported, as create(); what TaskControl throws
  std::unique_ptr<TaskControl> task_control(const ModelPtr& model, const TaskControlSetup& setup,
                                            const TaskControlNames& names = {}) const;

 private:
  Registry registry_;
  Loader loader_{registry_};
};

}  // namespace espalier
