#include <algorithm>
#include <cmath>

#include "batch_simulation_impl.hpp"
#include "espalier/kernel/model/compile/clusters/independent_choice.hpp"
#include "espalier/plugins/registry.hpp"

// Robots of a batch on their loops: closed after each step, and computed in other independent
// joints near dead points (simulation/dead_points.cpp does so for one robot).

namespace espalier {

BatchSimulation::Impl::Form& BatchSimulation::Impl::form_in(Worker& w, int number) {
  std::unique_ptr<Form>& form = w.forms[number];
  if (form != nullptr) return *form;
  const std::lock_guard lock(mutex_);
  form = std::make_unique<Form>(models_[number], options_.closing);
  form->dynamics =
      registry_.create<ForwardDynamics<Pack>>(options_.algorithm, Setup{models_[number]});
  form->dynamics->set_gravity(gravity_);
  return *form;
}

void BatchSimulation::Impl::note(BatchEvent event) {
  const std::lock_guard lock(mutex_);
  if (events_.size() < detail::most_batch_events) events_.push_back(event);
}

/// The number of a form with the independent joints of another one, but for one cluster; -1 if
/// there are too many.
int BatchSimulation::Impl::number_of(const ModelPtr& form, int cluster,
                                     std::span<const int> columns) {
  const Cluster& c = form->clusters()[cluster];
  const std::span<const int> now = form->independent_rates();
  const std::lock_guard lock(mutex_);
  for (std::size_t number = 0; number < models_.size(); ++number) {
    const std::span<const int> other = models_[number]->independent_rates();
    bool same = true;
    for (int i = 0; i < static_cast<int>(now.size()) && same; ++i) {
      const bool here = i >= c.v && i < c.v + c.nv;
      same = other[i] == (here ? c.constraint->rate[columns[i - c.v]] : now[i]);
    }
    if (same) return static_cast<int>(number);
  }
  if (models_.size() == detail::most_forms) return -1;
  models_.push_back(alternatives_->with(*form, cluster, columns));
  return static_cast<int>(models_.size()) - 1;
}

/// Whether a robot of the worker's block has numbers alone.
bool BatchSimulation::Impl::finite(const Worker& w, int robot) {
  const int k = robot % Pack::size;
  const auto number = [k](const Pack& x) { return std::isfinite(x[k]); };
  return std::all_of(w.q.begin(), w.q.end(), number) && std::all_of(w.v.begin(), w.v.end(), number);
}

/// Puts a robot of the worker's block back on its loops; false if they cannot be closed on their
/// branch, then it is left as it is. @param from  the block at the step's start; null at the start
bool BatchSimulation::Impl::close(Worker& w, int robot, const Block* from) {
  const int k = robot % Pack::size;
  memory_.read(robot, w.one_memory.data());
  for (std::size_t i = 0; i < w.q.size(); ++i) w.one[i] = w.q[i][k];
  LoopProjector& projector = form_in(w, form_of_[robot]).projector;
  projector.restore(w.one_memory.data());
  if (from != nullptr && changes_) w.predicted = w.one;
  Closure::Verdict verdict = projector.try_project(w.one.data());
  if (verdict == Closure::Verdict::branch_lost && from != nullptr && changes_) {
    // A singular position was stepped over: on its branch the correction is small.
    for (std::size_t i = 0; i < w.q.size(); ++i) w.start[i] = from->q[i][k];
    const double motion = distance(w, w.start, w.predicted);
    if (!(distance(w, w.predicted, w.one) <= detail::same_branch * motion)) return false;
    projector.restart();
    verdict = projector.try_project(w.one.data());
    if (verdict == Closure::Verdict::closed) {
      note({BatchEvent::Kind::singularity, t_, robot, -1});
    }
  }
  if (verdict != Closure::Verdict::closed) return false;
  projector.save(w.one_memory.data());
  memory_.write(robot, w.one_memory.data());
  for (std::size_t i = 0; i < w.q.size(); ++i) w.q[i].set(k, w.one[i]);
  if (changes_) choose(w, robot);
  return true;
}

double BatchSimulation::Impl::distance(Worker& w, const std::vector<double>& a,
                                       const std::vector<double>& b) const {
  model_->difference(a.data(), b.data(), w.one_qd.data());
  double largest = 0.0;
  for (const double x : w.one_qd) largest = std::max(largest, std::abs(x));
  return largest;
}

/// Looks for other independent joints where a robot's come near a dead point, as
/// Simulation::change_forms(); w.one is where it is.
void BatchSimulation::Impl::choose(Worker& w, int robot) {
  double* const levels = levels_.data() + static_cast<std::size_t>(loop_count_) * robot;
  for (int loop = 0; loop < loop_count_; ++loop) {
    const double margin = form_in(w, form_of_[robot]).projector.margin_of(loop);
    if (levels[loop] == 0.0) {  // the start
      const IndependentChoice& choice = form_in(w, form_of_[robot]).projector.look(loop);
      const bool poor = choice.best() > detail::worthwhile * choice.present();
      levels[loop] = (poor ? detail::poor_start : detail::look_below) * margin;
      continue;
    }
    levels[loop] = std::max(levels[loop], detail::look_below * margin);
    if (margin < levels[loop]) change(w, robot, loop);
  }
}

void BatchSimulation::Impl::change(Worker& w, int robot, int loop) {
  double& level = levels_[static_cast<std::size_t>(loop_count_) * robot + loop];
  Form& form = form_in(w, form_of_[robot]);
  const double margin = form.projector.margin_of(loop);
  const IndependentChoice& choice = form.projector.look(loop);
  if (!(choice.best() > detail::worthwhile * choice.present())) {
    level = detail::look_again * margin;
    return;
  }
  const int cluster = form.projector.cluster_of(loop);
  const int number = number_of(form.model, cluster, choice.columns());
  Form* const next = number >= 0 ? &form_in(w, number) : nullptr;
  if (next == nullptr || next == &form || next->projector.memory_size() > memory_size_) {
    level = detail::look_again * margin;
    return;
  }
  const int k = robot % Pack::size;
  for (std::size_t i = 0; i < w.v.size(); ++i) w.one_v[i] = w.v[i][k];
  form.one_motion.update(w.one.data(), nullptr);
  form.one_motion.expand(w.one_v.data(), w.one_qd.data());
  rates_in(*next->model, w.one_qd.data(), w.one_v.data());
  for (std::size_t i = 0; i < w.v.size(); ++i) w.v[i].set(k, w.one_v[i]);
  form_of_[robot] = static_cast<unsigned char>(number);
  next->projector.restart();
  next->projector.project(w.one.data());
  next->projector.save(w.one_memory.data());
  memory_.write(robot, w.one_memory.data());
  level = detail::look_below * next->projector.margin_of(loop);
  note({BatchEvent::Kind::coordinates, t_, robot, cluster});
}

/// Whether a robot that its form's lanes have just closed has no reason to look for other
/// independent joints; choose() asks the same of one robot.
bool BatchSimulation::Impl::stays_in_form(const Form& form, int robot, int lane) {
  if (!changes_) return true;
  double* const levels = levels_.data() + static_cast<std::size_t>(loop_count_) * robot;
  for (int loop = 0; loop < loop_count_; ++loop) {
    const double margin = form.lanes.margin_of(loop)[lane];
    if (levels[loop] == 0.0 || !(margin >= levels[loop])) return false;
  }
  for (int loop = 0; loop < loop_count_; ++loop) {
    levels[loop] = std::max(levels[loop], detail::look_below * form.lanes.margin_of(loop)[lane]);
  }
  return true;
}

/// Puts the robots of a block back on their loops, those in the same form at once.
/// @return bits of the lanes that are done; the others are as they were
unsigned BatchSimulation::Impl::close_at_once(Worker& w, int first) {
  unsigned done = 0;
  const int robots = std::min(N_ - first, Pack::size);
  each_form(w, first, [&](Form& form, int, bool, const auto& in) {
    memory_.load(first, w.memory.data());
    w.closed = w.q;
    const Pack closed = form.lanes.project(w.closed.data(), w.memory.data());
    unsigned here = 0;
    for (int k = 0; k < robots; ++k) {
      const bool is_closed = in(k) && closed[k] != 0.0 && stuck_[first + k] == 0;
      if (is_closed && stays_in_form(form, first + k, k)) here |= 1u << k;
    }
    done |= here;
    if (here == (1u << Pack::size) - 1) {
      memory_.store(first, w.memory.data());
      return w.q.swap(w.closed);
    }
    for (int k = 0; k < robots; ++k) {
      if ((here >> k & 1u) == 0) continue;
      for (std::size_t i = 0; i < memory_size_; ++i) memory_.set(i, first + k, w.memory[i][k]);
      for (std::size_t i = 0; i < w.q.size(); ++i) w.q[i].set(k, w.closed[i][k]);
    }
  });
  return done;
}

/// At the end of a step loops are closed: of eight robots at once, then one by one those that are
/// left. Robots that cannot be closed stay where they were before it.
void BatchSimulation::Impl::settle(Worker& w, const Block& block, int first) {
  const unsigned done = close_at_once(w, first);
  for (int robot = first; robot < std::min(N_, first + Pack::size); ++robot) {
    const int k = robot - first;
    if ((done >> k & 1u) != 0) continue;
    if (stuck_[robot] == 0) stuck_[robot] = finite(w, robot) && !close(w, robot, &block);
    if (stuck_[robot] == 0) continue;
    for (std::size_t i = 0; i < w.q.size(); ++i) w.q[i].set(k, block.q[i][k]);
    for (std::size_t i = 0; i < w.v.size(); ++i) w.v[i].set(k, block.v[i][k]);
  }
}

}  // namespace espalier
