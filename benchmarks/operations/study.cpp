#include "benchmarks/operations/study.hpp"

#include "benchmarks/markdown.hpp"

namespace espalier::bench {

namespace {

const std::vector<std::string> low_complexity{"pv-osimr", "pv-osim", "efpa"};
const std::vector<std::string> every{
    "pv-osimr", "pv-osimr-every-node", "pv-osim", "efpa", "ltl-osim", "kjr"};

void count_atlas(const Host& host, Study& out) {
  using Feet = AtlasTask::Feet;
  const auto counted = [&](const char* name, const AtlasTask& task) {
    return count(host, atlas(name, task), every);
  };
  out.feet_6 = counted("Atlas, feet 2 x 6D", {.feet = Feet::weld});
  out.feet_12 = counted("Atlas, feet 2 x 12D", {.feet = Feet::four_contacts});
  out.feet_12_link_axes =
      counted("Atlas, feet 2 x 12D, link axes", {.feet = Feet::four_contacts_link_axes});
  out.hand = count(host, shadow_hand(), every);
  out.one_hand = counted("Atlas, one hand", {.left_hand = true});
  out.two_hands = counted("Atlas, two hands", {.left_hand = true, .right_hand = true});
  out.hands_and_feet = counted("Atlas, two hands, feet 6D",
                               {.feet = Feet::weld, .left_hand = true, .right_hand = true});
  out.wrists_and_feet = counted("Atlas, wrists and feet 6D", {.feet = Feet::weld, .wrists = true});
}

void count_asimo(const Host& host, Study& out) {
  using Task = AsimoOptions::Task;
  const auto counted = [&](const std::string& name, const AsimoOptions& options) {
    return count(host, asimo(name, options), every);
  };
  const AsimoOptions more_chains{.arms = 4, .legs = 4};
  out.asimo = sparsity(host, asimo("ASIMO", {}));
  out.asimo_more_chains = sparsity(host, asimo("ASIMO", more_chains));
  out.base = counted("HF", {});
  Mechanism alone = asimo("HF, torso alone", {});
  const std::vector<EndEffector> hands_and_feet = alone.end_effectors;
  alone.end_effectors = {EndEffector::weld("torso")};
  out.on_torso = count(host, alone, every);
  for (const EndEffector& end_effector : hands_and_feet) {
    alone.name = "HF, " + end_effector.link + " alone";
    alone.end_effectors = {end_effector};
    out.one_by_one.push_back(count(host, alone, every));
  }
  out.head = counted("HFH", {.task = Task::hands_feet_head});
  out.fingers = counted("FTF", {.task = Task::fingers_feet});
  const std::string more = format("+%d ", more_joints);
  out.longer_arms = counted("HF, " + more + "per arm", {.more_arm_joints = more_joints});
  out.longer_legs = counted("HF, " + more + "per leg", {.more_leg_joints = more_joints});
  out.longer_fingers = counted("HF, " + more + "per finger", {.more_finger_joints = more_joints});
  out.four_fingers = counted("HF, 12-dof hands", {.four_fingers = true});
  out.more_chains = counted("HF, +2 arms, +2 legs", more_chains);
  out.one_foot = counted("HF, on one foot", {.on_right_foot = true});
  for (int k = 0; k <= most_more_joints; ++k) {
    out.longer_chains.push_back(counted(format("HF, +%d per arm and leg", k),
                                        {.more_arm_joints = k, .more_leg_joints = k}));
  }
}

}  // namespace

Study study(const Host& host, const std::function<void(const std::string&)>& progress) {
  Study out;
  for (int links = 0; links <= longest_stem; links += stem_step) out.stem_lengths.push_back(links);
  for (const int branches : branch_numbers) {
    progress(format("stems with %d branches on either side", branches));
    Study::Stem& stems = out.stems.emplace_back(Study::Stem{branches, {}});
    for (const double links : out.stem_lengths) {
      stems.lengths.push_back(
          count(host, stem(static_cast<int>(links), branches, branches), low_complexity));
    }
  }
  progress("Atlas and the Shadow hand");
  count_atlas(host, out);
  progress("ASIMO Next-Generation");
  count_asimo(host, out);
  progress("growth with the number of rows");
  for (int held = 1; held <= growth_branches; ++held) {
    Mechanism mechanism = stem(growth_stem, growth_branches, held);
    mechanism.name += format(", %d held", held);
    out.held_branches.push_back(count(host, mechanism, low_complexity));
  }
  for (int held = 1; held <= growth_held; ++held) {
    out.held_links.push_back(count(host, nested_chain(growth_chain, held), low_complexity));
  }
  return out;
}

std::vector<const Tally*> Study::humanoids() const {
  return {&feet_6,   &feet_12,   &feet_12_link_axes, &hand,
          &one_hand, &two_hands, &hands_and_feet,    &wrists_and_feet};
}

std::vector<const Tally*> Study::asimos() const {
  return {&base,           &head,         &fingers,     &longer_arms, &longer_legs,
          &longer_fingers, &four_fingers, &more_chains, &one_foot};
}

std::vector<const Tally*> Study::all() const {
  std::vector<const Tally*> out;
  const auto add = [&](const std::vector<Tally>& tallies) {
    for (const Tally& tally : tallies) out.push_back(&tally);
  };
  for (const Stem& stem : stems) add(stem.lengths);
  for (const auto& some : {humanoids(), asimos()}) out.insert(out.end(), some.begin(), some.end());
  for (const auto* some : {&longer_chains, &held_branches, &held_links}) add(*some);
  return out;
}

std::vector<std::string> where_dearer(const Study& study) {
  std::vector<std::string> out;
  for (const Tally* tally : study.all()) {
    for (const bool folded : {true, false}) {
      const double ours = tally->total("pv-osimr", folded);
      for (const char* other : {"pv-osim", "efpa"}) {
        const double theirs = tally->total(other, folded);
        if (ours <= theirs) continue;
        out.push_back(
            format("%s: pv-osimr needs %.0f operations (%s), expected at most the %.0f "
                   "of %s (%.0f or %.2f %% more)",
                   tally->name.c_str(), ours, folded ? "constants folded" : "all counted", theirs,
                   other, ours - theirs, 100.0 * (ours / theirs - 1.0)));
      }
    }
  }
  return out;
}

}  // namespace espalier::bench
