#pragma once

#include <array>
#include <utility>
#include <vector>

#include "espalier/simulation/contact/problems/step.hpp"

/// What is not solved in its own pack goes on in packs that hold nothing else. Not for plugins.

namespace espalier::contact {

/// Robots of several packs whose impulses need more work.
class GatheredRobots {
 public:
  /// A robot: its pack, and its lane there.
  struct Place {
    int pack = 0, lane = 0;
  };
  /// Makes room for so many robots of the plan's usual contacts.
  /// @param pack  a pack of them, with room for as many
  void reserve(const Plan& plan, int robots, const StepState<Pack>& pack);
  void clear() { places_.clear(); }
  void add(const Place& place) { places_.push_back(place); }

  /// Solves their problems, each from the impulses that it has, eight robots at a time. Writes
  /// impulses, slips, residuals and rounds of these lanes alone.
  void solve(const Plan& plan, ContactStep<Pack>& step, ContactImpulses<Pack>& solver,
             const Effort& effort, std::vector<StepState<Pack>>& packs);

 private:
  int match_contacts(const Plan& plan, const std::vector<StepState<Pack>>& packs);
  void gather_problems(const Plan& plan, const std::vector<StepState<Pack>>& packs, int contacts);
  std::pair<int, int> columns(const Plan& plan, int row) const;
  void gather_factors(const Plan& plan, const std::vector<StepState<Pack>>& packs);
  void gather_links(const Plan& plan, const std::vector<StepState<Pack>>& packs);
  void scatter(const ImpulseReport<Pack>& report, std::vector<StepState<Pack>>& packs) const;
  int own_row(const StepState<Pack>& pack, int l, int row) const;

  std::vector<Place> places_;
  const Place* at_ = nullptr;  ///< of the lanes at work
  int count_ = 0;              ///< lanes at work
  ImpulseProblem<Pack> problem_;
  /// Contacts of each lane: numbers in its own pack, -1: absent.
  std::array<std::vector<int>, Pack::size> near_;
  LinkRows<Pack> links_;
  std::vector<int> points_;
  std::vector<const std::vector<int>*> support_;  ///< of the problem's rows
  std::vector<Pack> Y_, sums_;                    ///< as RowFactors has them
};

}  // namespace espalier::contact
