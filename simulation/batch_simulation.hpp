#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/host/batch.hpp"
#include "espalier/host/host.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/views.hpp"

/// Many copies of one robot in time, eight at a time on every core.

namespace espalier {

/// All robots of a batch at one time. Structures of arrays: number i of robot k at [i * N + k].
struct BatchSample {
  double t = 0.0;             ///< [s]
  int N = 0;                  ///< robots
  std::span<const double> q;  ///< nq x N spanning positions [rad, m]
  std::span<const double> v;  ///< nv x N independent rates [rad/s, m/s]
};

/// Adds to the forces of all robots on their independent rates, nv x N [N·m, N]; called by one
/// thread, at every stage of a step.
using BatchController = std::function<void(const BatchSample& at, std::span<double> tau)>;

/// How a batch is simulated.
struct BatchSimulationOptions {
  int threads = 0;                  ///< 0: one for each core that the process may use
  std::string algorithm = "c-aba";  ///< for forward dynamics, at the scalar Pack
  std::string integrator = "rk4";   ///< or "semi-implicit-euler": those of simulations
  bool passive = true;              ///< damping, friction and springs of the joints act
  double friction_rate = 0.05;      ///< as SimulationOptions::friction_rate, above 0
  /// Goes on in other independent joints near dead points of the present ones, each robot by
  /// itself, and steps over singular positions of the mechanism where the branch is told.
  bool past_dead_points = true;
  CloseOptions closing{};  ///< how loops are closed after a step
};

/// What happened to one robot of a batch.
struct BatchEvent {
  /// What happened.
  enum class Kind {
    coordinates,  ///< other joints of a cluster are independent from here
    singularity   ///< the mechanism itself was singular within the step
  };
  Kind kind = Kind::coordinates;  ///< what happened
  double t = 0.0;                 ///< end of the step [s]
  int robot = 0;                  ///< of the batch
  int cluster = -1;               ///< among Model::clusters(), or -1
};

/// Integrates N robots in time with one fixed step, each as Simulation does it for one whose
/// loop_error is 0: steps are not taken in parts. Loops are closed after every step. A robot that
/// is no longer finite does not disturb the others. One whose loops cannot be closed on their
/// branch stands still from then on, where they were last closed. All that goes in and comes out is
/// in the coordinates of model(), whatever a robot is computed in. Belongs to one thread, which
/// calls it; make_batch_simulation() makes one.
class ESPALIER_API BatchSimulation {
 public:
  /// @throws as Registry::create(); UnknownName for the integrator; InvalidModel for friction_rate
  BatchSimulation(const Registry& registry, const ModelPtr& model,
                  const BatchSimulationOptions& options = {});
  ~BatchSimulation();
  BatchSimulation(const BatchSimulation&) = delete;
  BatchSimulation& operator=(const BatchSimulation&) = delete;

  const Model& model() const;  ///< the robot
  /// Drives the robots in what follows; empty: nothing does.
  void set_controller(BatchController controller);
  /// Gravity for what follows [m/s²], world axes; the model's if not called.
  void set_gravity(const Vec3<double>& gravity);
  /// Where the robots start.
  /// @param N  robots
  /// @param q  nq x N; quaternions are brought to unit length, coupled joints follow the others,
  ///           loops that are open by at most 1e-3 are closed. A robot whose loops are open by more
  ///           or are at a dead point does not move.
  /// @param v  nv x N [rad/s, m/s]
  /// @param t  time there [s]
  /// @throws SizeMismatch
  void start(int N, In<double> q, In<double> v, double t = 0.0);
  /// Puts one robot elsewhere, as start() does, and leaves all others as they are, to the bit.
  /// @param robot  number of it, from 0
  /// @param q      nq spanning positions, as in start()
  /// @param v      nv independent rates
  /// @throws SizeMismatch
  void reset(int robot, In<double> q, In<double> v);
  /// One step of length h > 0 [s]. Nothing is allocated after the first one.
  void step(double h);
  /// Steps of length h, the last one as short as it has to be, until `duration` from now; calls
  /// `output` first, after every `every` steps and at the end. It may return false to stop.
  /// @throws InvalidModel for numbers out of range
  void run(double duration, double h, int every,
           const std::function<bool(const BatchSample&)>& output);

  /// Valid until the robots move on.
  BatchSample sample() const;
  /// singular for a robot that has a number that is not finite; loop_open for one that stands still
  /// since its loops could not be closed on their branch; else ok.
  /// @param[out] status  size N
  void judge(std::span<BatchStatus> status) const;
  /// What happened since start(), resets included, in no order within a step; the first 4096.
  std::vector<BatchEvent> events() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// A batch simulation of plugins by their names. @throws as BatchSimulation
ESPALIER_API std::unique_ptr<BatchSimulation> make_batch_simulation(
    const Host& host, const ModelPtr& model, const BatchSimulationOptions& options = {});

/// Moves N robots for `duration` by steps of h [s] in one call.
/// @param host         registry of the plugins
/// @param model        of every robot
/// @param N            robots
/// @param[in,out] q    nq x N spanning positions
/// @param[in,out] v    nv x N independent rates
/// @param duration     [s]
/// @param h            length of a step [s]
/// @param controller   as in BatchSimulation::set_controller()
/// @param options      as of BatchSimulation
/// @return what became of each robot
/// @throws as BatchSimulation, BatchSimulation::start() and run()
ESPALIER_API std::vector<BatchStatus> simulate_batch(const Host& host, const ModelPtr& model, int N,
                                                     Out<double> q, Out<double> v, double duration,
                                                     double h, BatchController controller = {},
                                                     const BatchSimulationOptions& options = {});

}  // namespace espalier
