#pragma once

#include <algorithm>

#include "espalier/host/batches/batch_loops.hpp"
#include "espalier/host/batches/batch_projector.hpp"
#include "espalier/host/batches/block_threads.hpp"
#include "espalier/host/batches/packed_numbers.hpp"
#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/simulation/contact/contact_batch.hpp"
#include "espalier/simulation/contact/gathered_robots.hpp"
#include "espalier/simulation/contact/kept_impulses.hpp"

/// What a batch keeps, and how its packs go through a step. Not for plugins.

namespace espalier::contact {

class ContactBatch::Impl {
 public:
  Impl(const Registry& registry, const ModelPtr& model, const World& world,
       const ContactBatchOptions& options);

  void start(int N, In<double> q, In<double> v, double t);
  void reset(int robot, In<double> q, In<double> v);
  void step(double h);
  void expect_robot(int robot) const;
  void set_masses(std::span<const std::string> links, In<double> factors);
  void set_ground(In<double> offsets);
  void write_state();
  void write_forces();
  void moved() { state_written_ = forces_written_ = false; }

  std::shared_ptr<const Plan> plan_;
  espalier::detail::BlockThreads threads_;
  bool closes_;
  double t_ = 0.0, last_step_ = 0.0;
  int N_ = 0;
  bool pushed_ = false;  ///< forces on independent rates have been set: else they are zero
  std::vector<double> friction_;
  detail::PackedNumbers q_, v_, tau_, target_;
  KeptImpulses memory_;
  detail::PackedNumbers loop_memory_;      ///< how loops lay when they were last closed
  detail::PackedNumbers margins_;          ///< of each loop, the last but one and the last
  std::vector<std::string> heavier_;       ///< links of masses_
  detail::PackedNumbers masses_, ground_;  ///< of no numbers: nobody has set them
  std::vector<double> residual_;
  std::vector<RobotStatus> status_;
  std::vector<unsigned char> stuck_;
  /// In rows over all robots, written when somebody asks for them.
  std::vector<double> q_rows_, v_rows_, force_rows_;
  bool state_written_ = false, forces_written_ = false;

  /// What one thread owns.
  struct alignas(64) Worker {
    Worker(const ModelPtr& model, const CloseOptions& closing)
        : loops(model),
          lanes(model, closing),
          projector(model, closing),
          one(model->nq()),
          loop_memory(projector.memory_size()),
          margins(2 * static_cast<std::size_t>(projector.loop_count())),
          one_memory(projector.memory_size()) {}
    std::unique_ptr<ContactStep<Pack>> step;
    std::unique_ptr<ContactImpulses<Pack>> solver;
    std::vector<StepState<Pack>> packs;
    GatheredRobots open;  ///< those that are not solved
    espalier::detail::BatchLoops loops;
    espalier::detail::BatchProjector lanes;  ///< closes loops of most robots
    LoopProjector projector;                 ///< of those that are left
    std::vector<double> one;                 ///< positions of one robot
    std::vector<Pack> loop_memory, margins;
    std::vector<double> one_memory;
    std::vector<Pack> force;  ///< on all solids
    double rounds = 0.0;
  };
  std::vector<std::unique_ptr<Worker>> workers_;

 private:
  /// Packs that one thread takes at once: states that need more work are gathered from them. A pack
  /// of a quadruped with dry friction takes 130 kB; more of them would leave the second cache.
  static constexpr int packs_at_once = 4;
  /// Newton rounds of a pack as it comes; what is then unsolved is gathered.
  static constexpr int first_rounds = 2, more_rounds = 10;

  /// Calls f(worker, first, last) for robots [first, last), packs_at_once packs of them at most.
  template <class F>
  void for_pieces(F&& f) {
    constexpr int piece = packs_at_once * Pack::size;
    threads_.run((N_ + piece - 1) / piece,
                 [&](int worker, int k) { f(worker, k * piece, std::min(N_, (k + 1) * piece)); });
  }
  void step_piece(Worker& w, int first, double h);
  void load(StepState<Pack>& s, int first) const;
  void save(const StepState<Pack>& s, int first);
  void judge(const StepState<Pack>& s, int first);
  bool collect(Worker& w, int pack, int first);
  void solve_open(Worker& w, const Effort& effort);
  void finish(Worker& w, StepState<Pack>& s, int first, double h);
  Pack margins_ahead(Worker& w, int first);
  void settle(Worker& w, StepState<Pack>& s, int first);
  bool close(Worker& w, double* q, int robot);
};

}  // namespace espalier::contact
