// Times steps of robots that stand on rigid ground and are kicked: Espalier beside MuJoCo, same
// robot, contacts, control and length of step, on one thread. First all come to rest, and what they
// do there is compared. See docs/contact.md.
//
//   espalier_bench_contact [--markdown FILE] [--rounds N] [--only NAME]
//   espalier_bench_contact --lying FILE [...]
//   espalier_bench_contact --long STATES [--markdown FILE] [--only NAME]
//   espalier_bench_contact --ways [--markdown FILE]
//   espalier_bench_contact --parts [--markdown FILE] [--only NAME]
//
// With --lying a robot of a file lies on the plane in it, too, its own shapes touching each other;
// the one of the table is MuJoCo's own humanoid (model/humanoid/humanoid.xml of its sources).
// With --long ours alone: how many of so many states were not solved. With --ways steps of a
// humanoid on more and more points, by each way to solve Newton's systems. With --parts what the
// parts of a step take, and how much faster two threads are than one.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>
#include <set>

#include "benchmarks/contact/long_run.hpp"
#include "benchmarks/contact/newton_ways.hpp"
#include "benchmarks/contact/parts.hpp"
#include "benchmarks/contact/rollout.hpp"
#include "benchmarks/machine.hpp"
#include "benchmarks/markdown.hpp"
#include "benchmarks/program.hpp"

namespace espalier::bench {

namespace {

/// What is compared: our robot beside the one that MuJoCo gets.
struct Case {
  std::string name;
  Standing ours, theirs;
  bool flies = false;
  bool lies = false;  ///< as its own file says
};

StandingRobot make(const Host& host, const Case& test, const Standing& how) {
  return test.lies ? lie_down(host, how.file) : stand(host, how, test.flies);
}

std::string robot_file(const std::string& name) {
  return std::string(ESPALIER_SOURCE_DIR) + "/robots/" + name;
}

std::vector<Case> cases() {
  const Vec3<double> center{0, 0, 0};
  Standing solo{robot_file("solo12.urdf"), {{"foot", center}}, 0.016, 10.0, 0.3};
  solo.stance = {{"hip", 0.8}, {"knee", -1.6}};
  Standing cheetah{robot_file("mini_cheetah.urdf"), {{"foot", center}}, 0.02, 40.0, 1.0};
  cheetah.stance = {{"hip", -0.8}, {"knee", 1.6}};
  Standing geared = cheetah;  // feet are frames of the shank there
  geared.file = robot_file("mini_cheetah_geared.yaml");
  geared.feet = {{"knee.link", {0, 0, -0.195}}};
  geared.stance = {{"hip.link", -0.8}, {"knee.link", 1.6}};
  Standing humanoid{robot_file("humanoid.urdf"), {}, 0.01, 800.0, 40.0};
  for (const char* foot : {"left_foot", "right_foot"}) {
    for (const double x : {0.12, -0.06}) {
      for (const double y : {0.04, -0.04}) humanoid.feet.push_back({foot, {x, y, -0.06}});
    }
  }
  Standing rubbing = solo;
  rubbing.friction = 0.05;
  Standing creeping = rubbing;
  creeping.implicit_friction = true;
  Standing soles = humanoid;
  soles.feet.clear();
  for (const char* foot : {"left_foot", "right_foot"}) {
    for (const double x : {0.12, 0.06, 0.0, -0.06}) {
      for (const double y : {0.04, -0.04}) soles.feet.push_back({foot, {x, y, -0.06}});
    }
  }
  Standing linked{std::string(ESPALIER_SOURCE_DIR) + "/benchmarks/contact/four_bar_quadruped.yaml",
                  {{"shin", {0, 0, -0.22}}},
                  0.02,
                  80.0,
                  2.0};
  linked.stance = {{"thigh", 0.4}, {"crank", -0.4}};
  return {{"Solo12, 4 points", solo, solo},
          {"Solo12, dry friction in 12 joints by rows", rubbing, rubbing},
          {"Solo12, dry friction in 12 joints, implicit here", creeping, rubbing},
          {"Solo12, in the air", solo, solo, true},
          {"Mini Cheetah, 4 points; rotors exact here, none there", geared, cheetah},
          {"Mini Cheetah, rotors on both sides, `equality` there", geared, geared},
          {"quadruped, a four-bar in each leg, `connect` there", linked, linked},
          {"humanoid of 38 dof, 8 points", humanoid, humanoid},
          {"humanoid of 38 dof, 16 points", soles, soles},
          {"humanoid of 38 dof, in the air", humanoid, humanoid, true}};
}

double cpu_time() {  // of the process: all runs on one thread at a time
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// One contestant with its best time.
struct Contestant {
  std::unique_ptr<Rollout> rollout;
  Rest rest = {};     ///< after 2 s of standing
  double best = 0.0;  ///< steps of one robot per second
};

void settle(Contestant& c, bool flies) {
  c.rollout->start();
  for (int k = 0; k < (flies ? 1 : 1000); ++k) c.rollout->step();
  c.rest = c.rollout->rest();
}

/// From the stance: a second at rest, then ten kicks, each before a tenth of a second that is
/// timed. Every round is the same, so that the best one is the least disturbed one.
void round(Contestant& c, bool flies) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> speed(-0.3, 0.3);
  c.rollout->start();
  for (int k = 0; k < (flies ? 1 : 500); ++k) c.rollout->step();
  const int kicks = 10, steps = 50;
  double time = 0.0;
  for (int kick = 0; kick < kicks; ++kick) {
    c.rollout->kick({speed(random), speed(random), 0.0});
    const double begin = cpu_time();
    for (int k = 0; k < steps; ++k) c.rollout->step();
    time += cpu_time() - begin;
  }
  c.best = std::max(c.best, kicks * steps * c.rollout->robots() / time);
}

/// Whether what stands is carried by the ground, and ours with every loop closed. How far soft
/// contacts and couplings give way, the table says.
bool stands(const Contestant& c) {
  if (!c.rollout->exact()) return true;
  return std::abs(c.rest.normal_force - 1.0) < 1e-2 && c.rest.opening < 1e-10;
}

/// Standing robots alone, kicked gently and hard.
std::string long_runs(const Host& host, double states, const std::string& only, int robots) {
  Table table({"case", "kicks (m/s)", "states", "unsolved", "largest residual (m/s)",
               "otherwise not ok", "stood up again", "allocations"},
              1);
  std::set<std::pair<std::string, bool>> seen;  // ours is the same beside two of MuJoCo's
  for (const Case& test : cases()) {
    if (test.flies || test.name.find(only) == std::string::npos) continue;
    const bool rubs = test.ours.friction > 0.0;
    if (!seen.insert({test.ours.file, rubs}).second) continue;
    const StandingRobot robot = stand(host, test.ours, false);
    const std::string name = robot.model->name() + (rubs ? ", dry friction in its joints" : "");
    for (const double speed : {0.3, 1.0}) {
      const LongRun run = run_long(host, robot, states, speed, robots);
      table.add({name, format("%.1f", speed), format("%.1e", run.states),
                 format("%.0f", run.unsolved), run.unsolved > 0 ? format("%.1e", run.worst) : "",
                 format("%.0f", run.others), format("%.0f", run.falls),
                 format("%ld", run.allocations)});
    }
  }
  return table.text();
}

int run(int count, char** words) {
  CLI::App app("Times steps with rigid contact, beside MuJoCo");
  std::string markdown, only, lying;
  double states = 0.0;
  int rounds = 7, robots = 512;
  app.add_option("--markdown", markdown,
                 "file in which the table is written between <!-- contact:begin --> and "
                 "<!-- contact:end -->");
  app.add_option("--rounds", rounds, "timed rounds of 500 steps; the best counts")
      ->check(CLI::PositiveNumber);
  app.add_option("--robots", robots, "robots of a batch")->check(CLI::PositiveNumber);
  app.add_option("--only", only, "cases whose name has this text");
  app.add_option("--lying", lying, "besides: a robot of a file, lying on the plane in it");
  app.add_option("--long", states, "instead: states of each case whose residuals are counted")
      ->check(CLI::PositiveNumber);
  bool ways = false, parts = false;
  app.add_flag("--parts", parts, "instead: parts of a step, and two threads beside one");
  app.add_flag("--ways", ways, "instead: steps by each way to solve Newton's systems");
  if (const std::optional<int> code = parse(app, {words, words + count})) return *code;

  const Host host;
  if (ways) {
    const std::string text = newton_ways(host, std::min(robots, 16));
    std::printf("%s", text.c_str());
    if (!markdown.empty()) replace_section(markdown, "contact-ways", text);
    return 0;
  }
  if (parts) {
    std::vector<std::pair<std::string, StandingRobot>> robots_of_cases;
    for (const Case& test : cases()) {
      if (test.flies || test.name.find(only) == std::string::npos) continue;
      if (test.theirs.file != test.ours.file) continue;  // ours comes again
      robots_of_cases.emplace_back(test.name, stand(host, test.ours));
    }
    const std::string text = parts_of_steps(host, robots_of_cases, robots);
    std::printf("%s", text.c_str());
    if (!markdown.empty()) replace_section(markdown, "contact-parts", text);
    return 0;
  }
  if (states > 0.0) {
    const std::string text = long_runs(host, states, only, robots);
    std::printf("%s", text.c_str());
    if (!markdown.empty()) replace_section(markdown, "contact-long", text);
    return 0;
  }
  Table table({"case", "who", "thousand steps/s", "batch is faster by", "sinks (mm)",
               "is carried (weights)", "loops open by", "unsolved"},
              2);
  std::vector<Case> all_cases = cases();
  if (!lying.empty()) {
    const Standing of_file{lying, {}};
    all_cases.push_back({"", of_file, of_file, false, true});
  }
  for (const Case& test : all_cases) {
    if (!test.lies && test.name.find(only) == std::string::npos) continue;
    const StandingRobot ours = make(host, test, test.ours);
    const StandingRobot theirs = make(host, test, test.theirs);
    const std::string name =
        test.lies ? ours.model->name() + ", lying, links touch each other" : test.name;
    const bool stands_up = !test.flies && !test.lies;
    std::vector<Contestant> all;
    all.push_back({our_rollout(host, ours, robots), {}});
    all.push_back({our_rollout(host, ours, 1), {}});
    all.push_back({mujoco_rollout(host, theirs, false), {}});
    all.push_back({mujoco_rollout(host, theirs, true), {}});
    for (Contestant& c : all) settle(c, test.flies);
    if (!test.flies && !std::all_of(all.begin(), all.end(), stands)) {
      throw std::runtime_error(name + ": the robot does not stand");
    }
    for (int k = 0; k < rounds; ++k) {
      for (Contestant& c : all) round(c, test.flies);
    }
    for (const Contestant& c : all) {
      const bool first = &c == &all.front();
      table.add(
          {first ? name : "", c.rollout->name(), format("%.0f", 1e-3 * c.best),
           first ? "" : format("%.1f", all.front().best / c.best),
           !stands_up
               ? ""
               : format("%.1f", 1e3 * (ours.q[ours.model->joint("root").q + 2] - c.rest.height)),
           test.flies ? "" : format("%.3f", c.rest.normal_force), format("%.1e", c.rest.opening),
           c.rollout->exact() ? format("%.1e", c.rollout->unsolved()) : ""});
    }
  }
  const std::string text = "Measured on " + processor() +
                           ", one thread, steps of 2 ms, plugins as " +
                           instruction_set(host, "inverse-dynamics", "c-rnea") + " (" +
                           ESPALIER_BUILD_TYPE + ").\n\n" + table.text();
  std::printf("%s", text.c_str());
  if (!markdown.empty()) replace_section(markdown, "contact", text);
  return 0;
}

}  // namespace

}  // namespace espalier::bench

int main(int count, char** words) {
  return espalier::bench::run_guarded("espalier_bench_contact", espalier::bench::run, count, words);
}
