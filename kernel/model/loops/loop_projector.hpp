#pragma once

#include <vector>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/compile/clusters/independent_choice.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"

namespace espalier {

/// project() with memory of its own, for use after every time step: takes nothing from the heap
/// where loops close, and does one evaluation of them where nothing is to be done. It remembers how
/// the loops lay when it last closed them, so that a dead point that was passed between two calls
/// does not go unseen. Belongs to one thread.
class ESPALIER_API LoopProjector {
 public:
  /// For loops of a model, closed as the options of close() say.
  explicit LoopProjector(ModelPtr model, const CloseOptions& options = {});

  /// Newton's method on the dependent positions from where they are.
  /// @param[in,out] q  spanning positions, size nq
  /// @return `closed`; `out_of_reach` where it does not converge; `singular` where the margin is
  ///         less than CloseOptions::least_margin; `branch_lost` where a dead point was passed
  ///         since the last position that it closed. The margin is a lower bound by Frobenius
  ///         norms, at most the number of the loop's joints too small; the cluster is named only
  ///         where the verdict is not `closed`.
  Closure project(double* q);
  /// The same, of which the verdict is all that is said: takes nothing from the heap however it
  /// ends.
  Closure::Verdict try_project(double* q);
  /// Forgets the last position: the next one may lie on any branch.
  void restart();
  /// What it remembers, memory_size() numbers: one projector can serve many robots in turn.
  std::size_t memory_size() const;
  void save(double* memory) const;     ///< writes it
  void restore(const double* memory);  ///< takes it over
  /// Largest |phi| at q [m, rad or cosine].
  double residual(const double* q);
  /// Smallest margin, as project() has it, where residual() was called last.
  double margin();

  /// Clusters whose G depends on the position, in the order of the model's.
  int loop_count() const { return static_cast<int>(loops_.size()); }
  /// Index of one of them among Model::clusters().
  int cluster_of(int loop) const;
  /// Its singularity margin where project() was called last.
  double margin_of(int loop) const { return loops_[loop].margin; }
  /// Its present and best independent joints there, or where residual() was called last.
  const IndependentChoice& look(int loop);

 private:
  /// What is kept for one cluster whose G depends on the position.
  struct Loop {
    const Cluster* cluster = nullptr;
    ConstraintWorkspace<double> work;
    std::vector<double> phi, kept;  ///< of all rows, and of those that K has
    /// Dependent columns now and when last closed, row-major; of a cluster in blocks nothing, and 1
    /// for each block whose determinant was negative.
    std::vector<double> K, last;
    std::vector<double> factor, beta;  ///< of K, or of last^T K
    bool has_last = false;
    double residual = 0.0, margin = 1.0;
    std::unique_ptr<IndependentChoice> choice;
  };

  /// How project() ends, without texts.
  struct End {
    Closure::Verdict verdict = Closure::Verdict::closed;
    double residual = 0.0, margin = 1.0;
    const Loop* open = nullptr;  ///< that stands in the way
  };

  End close(double* q);
  Closure::Verdict judge(Loop& loop);
  double evaluate(const double* q);
  SpanningView<double> view(const double* q) const;
  bool add_newton_step(const double* q, Loop& loop);
  bool turned_over(Loop& loop);
  bool add_block_step(const double* q, Loop& loop);
  static void remember(Loop& loop);

  ModelPtr model_;
  CloseOptions options_;
  TreeKinematics<double> joints_;
  bool places_ = false;  ///< whether some loop asks where bodies are
  std::vector<Loop> loops_;
  std::vector<double> step_, before_;
};

}  // namespace espalier
