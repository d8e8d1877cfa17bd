#include "espalier/simulation/contact/gathered_robots.hpp"

#include <algorithm>

namespace espalier::contact {

namespace {

/// A lane of a pack that stands in memory. Pack::set() takes all lanes to the stack and back where
/// the compiler does not know which one is meant.
double& lane_of(Pack& x, int k) { return reinterpret_cast<double*>(&x)[k]; }

}  // namespace

void GatheredRobots::reserve(const Plan& plan, int robots, const StepState<Pack>& pack) {
  const std::size_t contacts = plan.usual_contacts();
  places_.reserve(robots);
  problem_.reserve(plan.usual_contacts(), plan.scalar_rows(plan.usual_contacts()));
  for (std::vector<int>& near : near_) near.reserve(contacts);
  points_.reserve(Pack::size * contacts);  // of eight robots, each its own
  plan.reserve(links_);
  links_.state.reserve(pack.links.state.capacity());
  sums_.resize(plan.model().nv());
  if (!plan.factors_rows()) return;
  const std::size_t rows = 3 * contacts + plan.scalar_rows();
  support_.reserve(rows), Y_.reserve(rows * sums_.size());
}

void GatheredRobots::solve(const Plan& plan, ContactStep<Pack>& step, ContactImpulses<Pack>& solver,
                           const Effort& effort, std::vector<StepState<Pack>>& packs) {
  for (std::size_t begin = 0; begin < places_.size(); begin += Pack::size) {
    at_ = places_.data() + begin;
    count_ = static_cast<int>(std::min<std::size_t>(Pack::size, places_.size() - begin));
    gather_problems(plan, packs, match_contacts(plan, packs));
    if (plan.factors_rows()) {
      gather_links(plan, packs);
      gather_factors(plan, packs);
    }
    problem_.system = step.newton_system(links_);
    scatter(solver.solve_impulses(problem_, effort), packs);
  }
}

/// Which contact of its own pack is contact c of each lane: all that it has, one after the other,
/// but where rows are kept by links the same points in all lanes.
/// @return the number of contacts
int GatheredRobots::match_contacts(const Plan& plan, const std::vector<StepState<Pack>>& packs) {
  const auto is_near = [&](int l, int point) {
    return packs[at_[l].pack].near[point].lane(at_[l].lane);
  };
  const bool links = plan.factors_rows();
  points_.clear();
  for (int l = 0; l < count_ && links; ++l) {
    for (const int point : packs[at_[l].pack].contacts) {
      if (is_near(l, point)) points_.push_back(point);
    }
  }
  std::sort(points_.begin(), points_.end());
  points_.erase(std::unique(points_.begin(), points_.end()), points_.end());
  std::size_t most = points_.size();
  for (int l = 0; l < count_; ++l) {
    const std::vector<int>& own = packs[at_[l].pack].contacts;
    near_[l].assign(links ? most : 0, -1);
    for (std::size_t c = 0; c < own.size(); ++c) {
      if (!is_near(l, own[c])) continue;
      if (links) {
        const auto at = std::lower_bound(points_.begin(), points_.end(), own[c]);
        near_[l][at - points_.begin()] = static_cast<int>(c);
      } else {
        near_[l].push_back(static_cast<int>(c));
      }
    }
    most = std::max(most, near_[l].size());
  }
  for (int l = 0; l < count_; ++l) near_[l].resize(most, -1);
  return static_cast<int>(most);
}

/// Row of a lane's own problem; -1: the lane has no such contact.
int GatheredRobots::own_row(const StepState<Pack>& pack, int l, int row) const {
  const int contacts = problem_.contacts;
  if (const int scalar = row - 3 * contacts; scalar >= 0) {
    int own = scalar;
    if (scalar >= problem_.first_turning()) {
      const int c = near_[l][problem_.contact_of_turning(scalar)];
      if (c < 0) return -1;
      own = pack.problem.first_turning() + problem_.turning * c +
            (scalar - problem_.first_turning()) % problem_.turning;
    }
    return own + 3 * pack.problem.contacts;
  }
  const int c = near_[l][row / 3];
  return c < 0 ? -1 : 3 * c + row % 3;
}

/// Which columns of a row of G are written: all, or with factors those of its block.
std::pair<int, int> GatheredRobots::columns(const Plan& plan, int row) const {
  if (!plan.factors_rows()) return {0, problem_.size()};
  if (row >= 3 * problem_.contacts) return {row, row + 1};
  return {row / 3 * 3, row / 3 * 3 + 3};
}

/// Rows that a lane does not have are those of a unit matrix, and push nothing.
void GatheredRobots::gather_problems(const Plan& plan, const std::vector<StepState<Pack>>& packs,
                                     int contacts) {
  ImpulseProblem<Pack>& p = problem_;
  const int scalars = plan.scalar_rows(contacts);
  p.reshape(contacts, scalars);
  p.turning = plan.turning_rows();
  for (std::vector<Pack>* x : {&p.lam, &p.mu, &p.slip, &p.lower, &p.upper}) {
    std::fill(x->begin(), x->end(), Pack(0.0));
  }
  const int m = p.size();
  for (int i = 0; i < m; ++i) {
    const auto [first, last] = columns(plan, i);
    Pack* row = p.G.data() + static_cast<std::size_t>(i) * m;
    std::fill(row + first, row + last, Pack(0.0));
    row[i] = Pack(1.0);
    p.g[i] = Pack(1.0);
  }
  for (int l = 0; l < count_; ++l) {
    const StepState<Pack>& pack = packs[at_[l].pack];
    const ImpulseProblem<Pack>& own = pack.problem;
    const int k = at_[l].lane, size = own.size();
    for (int i = 0; i < m; ++i) {
      const int from = own_row(pack, l, i);
      if (from < 0) continue;
      const auto [first, last] = columns(plan, i);
      for (int j = first; j < last; ++j) {
        const int with = own_row(pack, l, j);
        if (with < 0) continue;
        lane_of(p.G[static_cast<std::size_t>(i) * m + j], l) =
            own.G[static_cast<std::size_t>(from) * size + with][k];
      }
      lane_of(p.g[i], l) = own.g[from][k];
      lane_of(p.lam[i], l) = own.lam[from][k];
    }
    for (int c = 0; c < contacts; ++c) {
      if (near_[l][c] < 0) continue;
      lane_of(p.mu[c], l) = own.mu[near_[l][c]][k];
      lane_of(p.slip[c], l) = own.slip[near_[l][c]][k];
    }
    for (int i = 0; i < scalars; ++i) {
      const int from = own_row(pack, l, 3 * contacts + i);
      if (from < 0) continue;
      lane_of(p.lower[i], l) = own.lower[from - 3 * own.contacts][k];
      lane_of(p.upper[i], l) = own.upper[from - 3 * own.contacts][k];
    }
  }
}

/// Rows by links. Lanes beyond those at work are copies of the first.
void GatheredRobots::gather_links(const Plan& plan, const std::vector<StepState<Pack>>& packs) {
  LinkRows<Pack>& to = links_;
  const std::size_t contacts = points_.size(), size = plan.numbers_of_contact();
  const LinkRows<Pack>& first = packs[at_[0].pack].links;
  to.points = points_;
  to.contact.assign(contacts * size, Pack(0.0)), to.compliance.assign(contacts, Pack(0.0));
  to.held.resize(first.held.size()), to.joint.resize(first.joint.size());
  to.state.resize(first.state.size());
  for (int l = 0; l < Pack::size; ++l) {
    const Place& place = at_[l < count_ ? l : 0];
    const LinkRows<Pack>& from = packs[place.pack].links;
    const auto copy = [&](const Pack* x, std::size_t numbers, Pack* y) {
      for (std::size_t i = 0; i < numbers; ++i) lane_of(y[i], l) = x[i][place.lane];
    };
    copy(from.held.data(), to.held.size(), to.held.data());
    copy(from.joint.data(), to.joint.size(), to.joint.data());
    copy(from.state.data(), to.state.size(), to.state.data());
    for (std::size_t c = 0; c < contacts && l < count_; ++c) {
      const int own = near_[l][c];
      if (own < 0) continue;
      copy(from.contact.data() + size * own, size, to.contact.data() + size * c);
      copy(from.compliance.data() + own, 1, to.compliance.data() + c);
    }
  }
}

/// Rows of Y. Those that a lane does not have are zero.
void GatheredRobots::gather_factors(const Plan& plan, const std::vector<StepState<Pack>>& packs) {
  const int m = problem_.size(), contacts = 3 * problem_.contacts;
  const std::size_t rates = sums_.size();
  support_.resize(m), Y_.resize(m * rates);
  for (int i = 0; i < m; ++i) {
    support_[i] = i < contacts ? &plan.pairs()[plan.pair_of(points_[i / 3])].support
                               : &plan.support_of_scalar_row(i - contacts);
    Pack* to = Y_.data() + i * rates;
    std::fill_n(to, support_[i]->size(), Pack(0.0));
    for (int l = 0; l < count_; ++l) {
      const StepState<Pack>& s = packs[at_[l].pack];
      const int own = own_row(s, l, i);
      if (own < 0) continue;
      const Pack* from = s.Y.data() + own * rates;
      for (std::size_t e = 0; e < s.support[own]->size(); ++e) {  // none of a limit that is far
        lane_of(to[e], l) = from[e][at_[l].lane];
      }
    }
  }
  problem_.factors = {Y_.data(),       rates,
                      support_.data(), links_.compliance.data(),
                      sums_.data(),    static_cast<int>(rates)};
}

void GatheredRobots::scatter(const ImpulseReport<Pack>& report,
                             std::vector<StepState<Pack>>& packs) const {
  const ImpulseProblem<Pack>& p = problem_;
  for (int l = 0; l < count_; ++l) {
    StepState<Pack>& s = packs[at_[l].pack];
    const int k = at_[l].lane;
    for (int i = 0; i < p.size(); ++i) {
      const int to = own_row(s, l, i);
      if (to >= 0) lane_of(s.problem.lam[to], k) = p.lam[i][l];
    }
    for (int c = 0; c < p.contacts; ++c) {
      if (near_[l][c] >= 0) lane_of(s.problem.slip[near_[l][c]], k) = p.slip[c][l];
    }
    s.report.residual.set(k, report.residual[l]);
    s.report.rounds.set(k, s.report.rounds[k] + report.rounds[l]);
  }
}

}  // namespace espalier::contact
