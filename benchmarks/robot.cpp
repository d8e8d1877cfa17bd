#include "benchmarks/robot.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "espalier/kernel/format.hpp"
#include "espalier/kernel/uniform.hpp"

namespace espalier::bench {

const char* to_string(Work work) {
  switch (work) {
    case Work::forward:
      return "forward dynamics";
    case Work::inverse:
      return "inverse dynamics";
    case Work::mass_matrix:
      return "mass matrix";
    case Work::inverse_osim:
      return "inverse OSIM";
    case Work::jacobian:
      return "Jacobian of one link";
    case Work::jacobians:
      return "Jacobians of all links";
    case Work::placements:
      return "placements of all links";
    case Work::inverse_derivatives:
      return "inverse dynamics' derivatives";
    case Work::forward_derivatives:
      return "forward dynamics' derivatives";
    case Work::inverse_mass_matrix:
      return "inverse mass matrix";
    case Work::bias_forces:
      return "bias forces";
    case Work::center_of_mass:
      return "centre of mass";
    case Work::energy:
      return "energy";
  }
  return "";
}

std::vector<RandomState> random_states(const Model& model) {
  UniformNumbers uniform(11);
  std::vector<RandomState> states(state_count);
  for (int k = 0; k < state_count; ++k) {
    RandomState& state = states[k];
    state.q.resize(model.nq());
    model.random(k + 1, state.q.data());
    for (auto* rates : {&state.v, &state.tau, &state.vdot}) {
      rates->resize(model.nv());
      for (double& x : *rates) x = uniform();
    }
  }
  return states;
}

std::vector<std::string> held_links(const Model& model) {
  std::vector<std::string> all, feet;
  for (const EndEffector& tip : tips(model)) {
    all.push_back(tip.link);
    for (const char* word : {"foot", "toe", "ankle"}) {
      if (tip.link.find(word) == std::string::npos) continue;
      feet.push_back(tip.link);
      break;
    }
  }
  return feet.empty() ? all : feet;
}

Robot::Robot(const Host& host, std::string given_name, std::string text, bool floats)
    : name(std::move(given_name)), urdf(std::move(text)), floating(floats) {
  const std::string origin = name + ".urdf";
  const Description description = host.registry().format_for(origin).read(urdf, origin);
  model = host.compile(
      description, {.root = floating ? CompileOptions::Root::floating : CompileOptions::Root::fixed,
                    .mimic = CompileOptions::MimicRule::ignore});

  for (const LinkDescription& link : description.links) {
    const bool child = std::any_of(description.joints.begin(), description.joints.end(),
                                   [&](const auto& joint) { return joint.child == link.name; });
    if (!child) root = link.name;
  }
  std::vector<const Joint*> order;
  for (const Joint& joint : model->joints()) order.push_back(&joint);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->q < b->q; });
  int q = floating ? 7 : 0, v = floating ? 6 : 0;
  for (const Joint* joint : order) {
    if (floating && joint->q == 0) continue;  // the root
    if (joint->nq != 1 || joint->nv != 1 || joint->q != q++ || joint->independent != v++) {
      throw Unsupported(name + ": joint '" + joint->name + "' is of type " + joint->type +
                        ", expected one of one degree of freedom (peers are given no other)");
    }
    joints.push_back(joint->name);
    const auto hangs = [&](const auto& j) { return j.name == joint->name; };
    links.push_back(
        std::find_if(description.joints.begin(), description.joints.end(), hangs)->child);
  }

  held = held_links(*model);
  states = random_states(*model);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw InvalidModel(path + ": model file is missing or unreadable, expected a URDF");
  return text;
}

Robot robot_of_file(const Host& host, const std::string& path, bool floating) {
  return Robot(host, std::filesystem::path(path).stem().string(), text_of(path), floating);
}

}  // namespace espalier::bench
