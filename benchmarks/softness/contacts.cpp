#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>

#include "benchmarks/softness/softness.hpp"
#include "charts/chart.hpp"
#include "espalier/espalier.hpp"
#include "espalier/simulation/contact/contact_simulation.hpp"

namespace espalier::bench {

namespace {

constexpr double h = 2e-3;  // of both; MuJoCo's default [s]
constexpr int steps = 1000, every = 10;

using Numbers = std::vector<double>;

/// Something that happens in both, and a length that tells how it goes.
struct Scene {
  std::string file, what, panel;
  contact::World world;
  Numbers rates;                                                ///< at the start; empty: at rest
  std::function<double(const mjModel&, const mjData&)> theirs;  ///< [mm]
  std::function<double(contact::ContactSimulation&)> ours;      ///< [mm]
};

Numbers run_theirs(const Scene& scene, const std::string& folder) {
  const MujocoModel model = load_mujoco(folder + scene.file);
  const MujocoData data(mj_makeData(model.get()));
  model->opt.timestep = h;
  mj_forward(model.get(), data.get());
  for (std::size_t i = 0; i < scene.rates.size(); ++i) data->qvel[i] = scene.rates[i];
  Numbers all;
  for (int k = 0; k <= steps; ++k) {
    if (k % every == 0) {
      mj_kinematics(model.get(), data.get());
      all.push_back(scene.theirs(*model, *data));
    }
    mj_step(model.get(), data.get());
  }
  return all;
}

Numbers run_ours(const Scene& scene, const std::string& folder, const Host& host) {
  const ModelPtr robot = host.load(folder + scene.file);
  contact::ContactSimulation simulation(host.registry(), robot, scene.world);
  Numbers q(robot->nq()), v(robot->nv(), 0.0);
  robot->neutral(q.data());
  if (robot->nq() == 7) q[2] = 0.1;  // the neutral block is at the world's origin
  // Rates of a free joint: linear first in MuJoCo, angular first here.
  for (std::size_t i = 0; i < scene.rates.size(); ++i) v[(i + 3) % 6] = scene.rates[i];
  simulation.start(q, v);
  Numbers all;
  for (int k = 0; k <= steps; ++k) {
    if (k % every == 0) all.push_back(scene.ours(simulation));
    simulation.step(h);
  }
  if (simulation.unsolved_steps() > 0) {
    std::printf("%s: %lld of our steps are not solved\n", scene.file.c_str(),
                simulation.unsolved_steps());
  }
  return all;
}

/// Where a `connect` is open.
double gap(const mjModel& model, const mjData& data) {
  double ends[2][3];
  for (int side = 0; side < 2; ++side) {
    const int body = side == 0 ? model.eq_obj1id[0] : model.eq_obj2id[0];
    mju_mulMatVec(ends[side], data.xmat + 9 * body, model.eq_data + 3 * side, 3, 3);
    mju_addTo3(ends[side], data.xpos + 3 * body);
  }
  return 1e3 * mju_dist3(ends[0], ends[1]);
}

std::vector<Scene> scenes() {
  using namespace contact;
  const contact::Surface rough{.friction = 0.6};
  World block, stack;
  block.shapes = {
      World::ground(rough),
      {.link = "block", .shape = contact::Shape::box({0.1, 0.1, 0.1}), .surface = rough}};
  stack.shapes = {World::ground(),
                  {.link = "light", .shape = contact::Shape::sphere(0.1)},
                  {.link = "heavy", .shape = contact::Shape::sphere(0.1)}};
  stack.self_collision = true;
  const auto coordinate = [](int i, double scale, double rest) {
    return [=](const mjModel&, const mjData& data) { return scale * (data.qpos[i] - rest); };
  };
  const auto own = [](int i, double scale, double rest) {
    return [=](ContactSimulation& simulation) { return scale * (simulation.q()[i] - rest); };
  };
  return {
      {"slope.xml",
       "a block creeps down 20 degrees, friction 0.6",
       "creep (mm)",
       block,
       {},
       coordinate(0, 1e3, 0.0),
       own(0, 1e3, 0.0)},
      {"slide.xml",
       "a block that slides from 3 m/s lifts off",
       "lift (mm)",
       block,
       {3, 0, 0, 0, 0, 0},
       coordinate(2, 1e3, 0.1),
       own(2, 1e3, 0.1)},
      {"stack.xml",
       "1000 kg sink on a ball of 1 kg",
       "sinks (mm)",
       stack,
       {},
       coordinate(1, -1e3, 0.0),
       own(1, -1e3, 0.0)},
      {"four_bar.xml",
       "the pin of a swinging four-bar opens",
       "gap (mm)",
       {},
       {},
       gap,
       [](ContactSimulation& simulation) { return 1e3 * simulation.sample().residual; }},
  };
}

}  // namespace

void draw_contacts(const std::string& svg) {
  const Host host;
  const std::string folder = ESPALIER_SOURCE_DIR "/benchmarks/softness/";
  charts::Chart chart;
  chart.title = "Soft and rigid: MuJoCo's defaults beside Espalier, steps of 2 ms";
  chart.label = "time (s)";
  for (int k = 0; k <= steps; k += every) chart.x.push_back(k * h);
  std::printf("| by, in mm | MuJoCo, largest | after 2 s | Espalier, largest | after 2 s |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  for (const Scene& scene : scenes()) {
    const Numbers theirs = run_theirs(scene, folder), ours = run_ours(scene, folder, host);
    const auto largest = [](const Numbers& x) {
      double most = 0.0;
      for (const double value : x) most = std::max(most, std::abs(value));
      return most;
    };
    std::printf("| %s | %.3g | %.3g | %.2g | %.2g |\n", scene.what.c_str(), largest(theirs),
                theirs.back(), largest(ours), ours.back());
    chart.panels.push_back(
        {scene.panel, {{"MuJoCo", "#d55e00", "", theirs}, {"Espalier", "#0072b2", "6 3", ours}}});
  }
  std::ofstream(svg) << chart.svg();
}

}  // namespace espalier::bench
