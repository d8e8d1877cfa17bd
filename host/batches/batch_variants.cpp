#include "espalier/host/batches/batch_variants.hpp"

#include <algorithm>

#include "espalier/kernel/errors.hpp"

namespace espalier::detail {

void expect_alike(const std::string& who, const Model& robot, const Model& variant, int number) {
  const auto refuse = [&](const std::string& what, const std::string& got,
                          const std::string& wanted) {
    throw InvalidModel(who + ": " + what + " of variant " + std::to_string(number) + " ('" +
                       variant.name() + "') is " + got + ", expected " + wanted +
                       " (variants differ from the robot in their numbers alone)");
  };
  const auto same_count = [&](const std::string& what, std::size_t got, std::size_t wanted) {
    if (got != wanted) refuse(what, std::to_string(got), std::to_string(wanted));
  };
  same_count("number of joints", variant.joints().size(), robot.joints().size());
  same_count("number of links", variant.links().size(), robot.links().size());
  same_count("nv", variant.nv(), robot.nv());
  for (std::size_t k = 0; k < robot.joints().size(); ++k) {
    const Joint &a = robot.joints()[k], &b = variant.joints()[k];
    const std::string which = "joint " + std::to_string(k);
    if (b.name != a.name) refuse(which, "'" + b.name + "'", "'" + a.name + "'");
    if (b.type != a.type) refuse("type of joint '" + a.name + "'", b.type, a.type);
    if (b.independent != a.independent) {
      refuse("joint '" + a.name + "'", b.independent < 0 ? "dependent" : "independent",
             "as in the robot");
    }
  }
  for (std::size_t k = 0; k < robot.links().size(); ++k) {
    const Link &a = robot.links()[k], &b = variant.links()[k];
    if (b.name != a.name) {
      refuse("link " + std::to_string(k), "'" + b.name + "'", "'" + a.name + "'");
    }
  }
}

void BatchVariants::order(std::span<const int> variant_of, int variants, int lanes) {
  first_.assign(variants + 1, 0);
  for (const int v : variant_of) ++first_[v + 1];
  of_packs_.clear();
  for (int v = 0, slots = 0; v < variants; ++v) {
    const int packs = (first_[v + 1] + lanes - 1) / lanes;
    of_packs_.insert(of_packs_.end(), packs, v);
    first_[v] = slots;
    slots += packs * lanes;
  }
  slot_.resize(variant_of.size());
  state_.assign(of_packs_.size() * lanes, -1);
  for (std::size_t k = 0; k < variant_of.size(); ++k) {
    slot_[k] = first_[variant_of[k]]++;
    state_[slot_[k]] = static_cast<int>(k);
  }
  for (std::size_t s = 1; s < state_.size(); ++s) {
    if (state_[s] < 0) state_[s] = state_[s - 1];
  }
}

void BatchVariants::take(const double* from, const Strides& at, long rows,
                         std::vector<double>& to) const {
  to.resize(rows * slots());
  for (long i = 0; i < rows; ++i) {
    double* row = to.data() + i * slots();
    for (int s = 0; s < slots(); ++s) row[s] = from[i * at.number + state_[s] * at.state];
  }
}

}  // namespace espalier::detail
