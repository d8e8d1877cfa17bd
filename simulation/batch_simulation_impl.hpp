#pragma once

#include <array>
#include <mutex>

#include "espalier/host/batches/batch_loops.hpp"
#include "espalier/host/batches/batch_projector.hpp"
#include "espalier/host/batches/block_threads.hpp"
#include "espalier/host/batches/packed_numbers.hpp"
#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"
#include "espalier/simulation/batch_simulation.hpp"
#include "espalier/simulation/reselection.hpp"

namespace espalier {

namespace detail {
constexpr std::size_t most_batch_events = 4096;
}

/// An explicit method of up to four stages: where and when forces are asked for, and how the
/// robots get there. Positions move by flows of weighted sums of the stages' rates.
struct BatchStages {
  std::string_view name;
  int count;
  std::array<double, 4> at;  ///< in steps
};
/// Damping, dry friction and a spring on one rate.
struct BatchPassive {
  int rate = 0, position = -1;
  PassiveDynamics is{};
};

/// Steps are in batch_simulation.cpp, loops and changes of coordinates in batch_dead_points.cpp.
class BatchSimulation::Impl {
  using Packs = std::vector<Pack>;

 public:
  Impl(const Registry& registry, const ModelPtr& model, const BatchSimulationOptions& options);

  void start(int N, In<double> q, In<double> v, double t);
  void reset(int robot, In<double> q, In<double> v);
  void step(double h);

  ModelPtr model_;
  detail::BlockThreads threads_;
  BatchController controller_;
  double t_ = 0.0;
  int N_ = 0;
  std::vector<double> q_, v_;         ///< structures of arrays, at the stage that is under way
  std::vector<double> own_v_;         ///< rates in the model's coordinates; empty: v_ are
  std::vector<unsigned char> stuck_;  ///< robots whose loops could not be closed
  std::vector<BatchEvent> events_;

  const std::vector<double>& own_v() const { return own_v_.empty() ? v_ : own_v_; }
  void set_gravity(const Vec3<double>& gravity);

  /// The robot in one choice of independent joints, for one thread.
  struct Form {
    Form(const ModelPtr& of, const CloseOptions& closing)
        : model(of),
          motion(*of, SpanningMotion<Pack>::Rotors::skip),
          one_motion(*of, SpanningMotion<double>::Rotors::skip),
          lanes(of, closing),
          projector(of, closing) {}
    ModelPtr model;
    std::unique_ptr<ForwardDynamics<Pack>> dynamics;
    SpanningMotion<Pack> motion;
    SpanningMotion<double> one_motion;
    detail::BatchProjector lanes;
    LoopProjector projector;  ///< of robots that are left
  };
  /// What one thread owns.
  struct alignas(64) Worker {
    explicit Worker(const ModelPtr& model)
        : loops(model),
          one(model->nq()),
          one_v(model->nv()),
          predicted(model->nq()),
          start(model->nq()),
          one_qd(model->spanning_nv()),
          q(model->nq()),
          closed(model->nq()),
          v(model->nv()),
          tau(model->nv()),
          applied(model->nv()),
          driven(model->nv()),
          vdot(model->nv()),
          forces(model->spanning_nv()),
          move(model->spanning_nv()) {}
    std::vector<std::unique_ptr<Form>> forms;  ///< by number; null where not made yet
    detail::BatchLoops loops;
    std::vector<double> one, one_v, predicted, start, one_qd;  ///< of one robot
    Packs q, closed, v, tau, applied, driven, vdot, forces, move;
    std::vector<double> one_memory;  ///< of a projector, and of lanes
    Packs memory;
  };
  std::vector<std::unique_ptr<Worker>> workers_;

 private:
  /// A pack of robots in the middle of a step.
  struct Block {
    Packs q, v;  ///< at its start
    Packs q2;    ///< at the second stage
    std::array<Packs, 4> qd, vdot;
  };
  using Weights = std::array<double, 4>;
  static constexpr int blocks_at_once = 8;

  void add_passive(Worker& w, const Pack* qd);
  void evaluate(Worker& w, Form& form, bool own, Pack* qd, Pack* vdot);
  template <class F>
  void each_form(Worker& w, int first, F&& f);
  void advance(Worker& w, Block& block, int first, int stage, double h);
  void flow(Worker& w, const Block& block, const Pack* from, const Weights& weights, Pack* to);
  void rates(Worker& w, const Block& block, const Weights& weights);
  void put_on_loops(Worker& w, int begin, int end);
  void settle(Worker& w, const Block& block, int first);
  unsigned close_at_once(Worker& w, int first);
  bool stays_in_form(const Form& form, int robot, int lane);
  static bool finite(const Worker& w, int robot);
  bool close(Worker& w, int robot, const Block* from);
  void choose(Worker& w, int robot);
  void change(Worker& w, int robot, int loop);
  double distance(Worker& w, const std::vector<double>& a, const std::vector<double>& b) const;
  int number_of(const ModelPtr& form, int cluster, std::span<const int> columns);
  Form& form_in(Worker& w, int number);
  void note(BatchEvent event);
  void load(Worker& w, int first) const;
  void save(Worker& w, int first);

  const BatchStages& method_;
  double friction_rate_;
  std::vector<BatchPassive> passive_;
  std::vector<double> tau_;
  std::vector<Block> blocks_;
  bool closes_;   ///< some coupling depends on the position
  bool changes_;  ///< robots may be computed in other coordinates
  const Registry& registry_;
  BatchSimulationOptions options_;
  Vec3<double> gravity_;
  std::shared_ptr<Alternatives> alternatives_;
  mutable std::mutex mutex_;            ///< of the forms' models and of events
  std::vector<ModelPtr> models_;        ///< of the forms, by number; the model itself first
  std::vector<unsigned char> form_of_;  ///< of each robot
  std::vector<double> levels_;          ///< margins at which others are looked for, robot by robot
  int loop_count_ = 0;
  detail::PackedNumbers memory_;  ///< of the projectors
  std::size_t memory_size_ = 0;
};

/// Calls f(form, number, whether it is the only one, whether lane k is in it) for the forms that
/// the robots of a block are in.
template <class F>
void BatchSimulation::Impl::each_form(Worker& w, int first, F&& f) {
  const auto number_in = [&](int k) {
    return changes_ ? static_cast<int>(form_of_[std::min(first + k, N_ - 1)]) : 0;
  };
  for (int lane = 0; lane < Pack::size; ++lane) {
    const int number = number_in(lane);
    bool seen = false, alone = true;
    for (int k = 0; k < lane; ++k) seen = seen || number_in(k) == number;
    for (int k = 0; k < Pack::size; ++k) alone = alone && number_in(k) == number;
    if (!seen) f(form_in(w, number), number, alone, [&](int k) { return number_in(k) == number; });
  }
}

}  // namespace espalier
