#include "benchmarks/loops/robots.hpp"

#include <algorithm>
#include <filesystem>

#include "benchmarks/loops/chains.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/model/closure.hpp"

namespace espalier::bench {

namespace {

/// The pins of a chain of four-bars: tips of coupler and rocker.
std::vector<SharedPoint> four_bar_tips(const Model& model, int four_bars) {
  std::vector<SharedPoint> points;
  for (int i = 1; i <= four_bars; ++i) {
    const std::string bar = "bar_" + std::to_string(i);
    const Link* links[] = {&model.link(bar + ".coupler"), &model.link(bar + ".rocker")};
    SharedPoint& pin = points.emplace_back();
    for (int s = 0; s < 2; ++s) {
      const Transform<double>& X = links[s]->X;
      const Vec3<double> tip{s == 0 ? four_bar_coupler : four_bar_rocker, 0, 0};
      pin.body[s] = links[s]->body;
      pin.point[s] = X.r + transpose_times(X.E, tip);
    }
  }
  return points;
}

}  // namespace

LoopRobot::LoopRobot(const Host& host, std::string given_name, const Description& description,
                     bool floats, std::vector<RandomState> (*draw)(const Model&))
    : name(std::move(given_name)), floating(floats) {
  CompileOptions options;
  if (floating) options.root = CompileOptions::Root::floating;
  model = host.compile(description, options);

  held = held_links(*model);
  states = draw(*model);
  for (int k = 0; k < state_count; ++k) {
    const Closure closure = examine(*model, states[k].q.data());
    if (closure.verdict == Closure::Verdict::out_of_reach) {
      throw InvalidModel(name + ": state " + std::to_string(k) + ": " + closure.text());
    }
  }

  if (model->rotors().empty()) return;
  options.rotors = CompileOptions::Rotors::keep;
  kept = host.compile(description, options);
  kept_rate.resize(model->nv());
  const std::vector<Coordinate> kept_coordinates = kept->coordinates();
  for (const Coordinate& c : model->coordinates()) {
    const auto same = std::find_if(
        kept_coordinates.begin(), kept_coordinates.end(),
        [&](const Coordinate& k) { return k.joint == c.joint && k.component == c.component; });
    if (same == kept_coordinates.end() || same->size != c.size) {
      throw InvalidModel(name + ": coordinate '" + c.name +
                         "' is not independent where rotors are kept, expected the same "
                         "independent coordinates as where they are folded");
    }
    for (int i = 0; i < c.size; ++i) kept_rate[c.start + i] = same->start + i;
  }
  for (const RandomState& state : states) {
    RandomState& other = kept_states.emplace_back();
    other.q.resize(kept->nq());
    for (const Joint& joint : model->joints()) {
      std::copy_n(state.q.begin() + joint.q, joint.nq, other.q.begin() + kept->joint(joint.name).q);
    }
    for (const auto vector : {&RandomState::v, &RandomState::tau, &RandomState::vdot}) {
      (other.*vector).resize(kept->nv());
      for (int i = 0; i < model->nv(); ++i) (other.*vector)[kept_rate[i]] = (state.*vector)[i];
    }
  }
}

std::vector<LoopRobot> paper_robots(const Host& host) {
  constexpr int links = 12, four_bars = 16;
  std::vector<LoopRobot> robots;
  robots.push_back(robot_of_yaml(host, "geared_chain_12", geared_chain_yaml(links)));
  robots.push_back(robot_of_yaml(host, "belt_chain_12", belt_chain_yaml(links)));
  for (const char* file : {"mini_cheetah_geared.yaml", "mit_humanoid.yaml", "tello_with_arms.yaml",
                           "tello.yaml", "jvrc1_geared.yaml"}) {
    robots.push_back(robot_of_collection(host, file));
  }
  const std::string name = "four_bar_chain_16", yaml = four_bar_chain_yaml(four_bars);
  robots.push_back(robot_of_yaml(host, name, yaml));
  robots.push_back(
      LoopRobot(host, name + "_by_pins", closed_by_pins(read_yaml(host, name, yaml)), false));
  for (const std::size_t last : {robots.size() - 2, robots.size() - 1}) {
    robots[last].points = four_bar_tips(*robots[last].model, four_bars);
  }
  return robots;
}

LoopRobot robot_of_collection(const Host& host, const std::string& file) {
  const std::string path = ESPALIER_SOURCE_DIR "/robots/" + file;
  return LoopRobot(host, std::filesystem::path(path).stem().string(), host.read(path), true);
}

Description read_yaml(const Host& host, const std::string& name, const std::string& yaml) {
  const std::string origin = name + ".yaml";
  return host.registry().format_for(origin).read(yaml, origin, host.registry());
}

LoopRobot robot_of_yaml(const Host& host, const std::string& name, const std::string& yaml) {
  return LoopRobot(host, name, read_yaml(host, name, yaml), false);
}

Description closed_by_pins(Description four_bars) {
  for (std::size_t i = 1; i <= four_bars.laws.size(); ++i) {
    const std::string bar = "bar_" + std::to_string(i);
    LoopDescription& pin = four_bars.loops.emplace_back();
    pin.name = bar + ".pin", pin.type = "revolute";
    pin.predecessor = bar + ".coupler", pin.successor = bar + ".rocker";
    pin.predecessor_origin.xyz = {four_bar_coupler, 0, 0};
    pin.successor_origin.xyz = {four_bar_rocker, 0, 0};
    pin.axis = {0, 0, 1};
  }
  four_bars.laws.clear();
  return four_bars;
}

}  // namespace espalier::bench
