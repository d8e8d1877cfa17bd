#include <cmath>
#include <limits>
#include <set>

#include "espalier/simulation/contact/contact_batch.hpp"
#include "tests/contact/robots.hpp"

/// Masses, ground and friction of each robot its own: every lane against a single robot whose
/// description has that mass, on a ground that stands there.

namespace espalier::test::randomised_batch_test {
namespace {

using contact::ContactBatch;
using contact::ContactBatchOptions;
using contact::NewtonWay;
using contact::RobotStatus;

constexpr double step_length = 2e-3;
constexpr int robots = 9;  // a pack, and one beside it

/// A robot on balls under its feet, each lane in a state of its own, every link of its own mass.
struct Kind {
  std::string file, foot;  ///< what links that have a ball have in their names
  Vec3<double> at;         ///< of the ball in the link
  double height;           ///< of the root at the start [m]
};
const Kind kinds[] = {{"solo12.urdf", "foot", {0, 0, 0}, 0.36},
                      {"mini_cheetah_geared.yaml", "knee.link", {0, 0, -0.195}, 0.42},
                      {"tello.yaml", "foot", {0.03, 0, -0.04}, 0.62}};

Description described(const Kind& kind) {
  return host().read(std::string(ESPALIER_SOURCE_DIR) + "/robots/" + kind.file);
}
ModelPtr compiled(const Description& robot) {
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  return host().compile(robot, options);
}
World world_of(const Kind& kind, const Model& model, const PlacedShape& ground) {
  World world;
  world.shapes = {ground};
  for (const Link& link : model.links()) {
    if (link.name.find(kind.foot) == std::string::npos) continue;
    PlacedShape ball;
    ball.link = link.name, ball.shape = Shape::sphere(0.02), ball.pose.xyz = kind.at;
    world.shapes.push_back(ball);
  }
  return world;
}

/// Stiff drives on half of the independent joints; limits and dry friction of the file act, too.
ContactBatchOptions options_of(const Model& model, NewtonWay way, int threads = 1) {
  ContactBatchOptions options;
  options.threads = threads;
  options.step.newton = way;
  options.step.tolerance = 1e-12;
  for (const Joint& joint : model.joints()) {
    if (joint.nv != 1 || joint.independent < 0 || joint.independent % 2 != 0) continue;
    options.step.drives.push_back({.joint = joint.name, .kp = 5.0, .kd = 0.3});
  }
  return options;
}

/// States of a batch, in columns.
struct Start {
  std::vector<double> q, v;
};
Start started(const Kind& kind, const Model& model, int N) {
  Start s{std::vector<double>(static_cast<std::size_t>(model.nq()) * N),
          std::vector<double>(static_cast<std::size_t>(model.nv()) * N)};
  for (int k = 0; k < N; ++k) {
    Rng random(40 + static_cast<unsigned long long>(k));
    std::vector<double> q(model.nq());
    model.neutral(q.data());
    q[2] = kind.height + random.uniform(-0.02, 0.02);
    for (int i = 0; i < model.nq(); ++i) s.q[static_cast<std::size_t>(i) * N + k] = q[i];
    for (int i = 0; i < model.nv(); ++i) {
      s.v[static_cast<std::size_t>(i) * N + k] = random.uniform(-1.0, 1.0);
    }
  }
  return s;
}
std::vector<double> column(const std::vector<double>& of, int N, int robot) {
  std::vector<double> out;
  for (std::size_t i = robot; i < of.size(); i += N) out.push_back(of[i]);
  return out;
}

/// One link of every rigid piece that has mass and moves.
std::vector<std::string> pieces(const Model& model) {
  std::vector<std::string> names;
  std::set<int> seen;
  for (const Link& link : model.links()) {
    if (link.body == 0 || !(model.body(link.body).inertia.m > 0.0)) continue;
    if (seen.insert(link.body).second) names.push_back(link.name);
  }
  return names;
}
/// From half to double.
std::vector<double> factors(std::size_t links, int N) {
  std::vector<double> out(links * N);
  for (std::size_t l = 0; l < links; ++l) {
    for (int k = 0; k < N; ++k) {
      Rng random(1000 * l + k + 7);
      out[l * N + k] = std::exp2(random.uniform(-1.0, 1.0));
    }
  }
  return out;
}
/// The description with masses and inertias of one robot of a batch.
Description scaled(Description robot, const Model& model, const std::vector<std::string>& links,
                   const std::vector<double>& factor, int N, int k) {
  for (std::size_t l = 0; l < links.size(); ++l) {
    const int body = model.link(links[l]).body;
    for (LinkDescription& link : robot.links) {
      if (!link.inertial || model.link(link.name).body != body) continue;
      link.inertial->mass *= factor[l * N + k];
      Sym3<double>& I = link.inertial->I;
      for (double* x : {&I.xx, &I.xy, &I.xz, &I.yy, &I.yz, &I.zz}) *x *= factor[l * N + k];
    }
  }
  return robot;
}

std::vector<double> own_ground(int N) {
  std::vector<double> out;
  for (int k = 0; k < N; ++k) out.push_back(-0.02 + 0.005 * (k % 8));
  return out;
}

/// Rates and forces of every robot of a batch after some steps, against robots alone.
/// @param ground_of  of one robot; the batch has that of robot -1
template <class Ground>
void expect_single_robots(const Kind& kind, NewtonWay way, bool heavier, int steps,
                          const Ground& ground_of, const std::vector<double>& offsets) {
  const Description robot = described(kind);
  const ModelPtr model = compiled(robot);
  const ContactBatchOptions options = options_of(*model, way);
  const std::vector<std::string> links = heavier ? pieces(*model) : std::vector<std::string>();
  const std::vector<double> factor = factors(links.size(), robots);
  const Start at = started(kind, *model, robots);
  const World world = world_of(kind, *model, ground_of(-1));
  ContactBatch batch(host().registry(), model, world, options);
  batch.start(robots, at.q, at.v);
  batch.set_masses(links, factor);
  if (!offsets.empty()) batch.set_ground(offsets);
  for (int k = 0; k < steps; ++k) batch.step(step_length);
  int pressed = 0;
  for (int k = 0; k < robots; ++k) {
    const ModelPtr own = compiled(scaled(robot, *model, links, factor, robots, k));
    ContactSimulation one(host().registry(), own, world_of(kind, *own, ground_of(k)), options.step);
    one.start(column(at.q, robots, k), column(at.v, robots, k));
    for (int i = 0; i < steps; ++i) (void)one.step(step_length);
    const auto now = batch.sample();
    for (int i = 0; i < model->nv(); ++i) {
      // Impulses to 1e-12 m/s in every step, and rotors that turn ten times as fast as feet move.
      EXPECT_NEAR(now.v[static_cast<std::size_t>(i) * robots + k], one.v()[i], 1e-7)
          << kind.file << " robot " << k << " rate " << i;
    }
    const auto forces = one.shape_forces();
    for (std::size_t s = 0; s < forces.size(); ++s) {
      const double up = batch.forces()[(3 * s + 2) * robots + k];
      EXPECT_NEAR(up, forces[s].z, 1e-4) << kind.file << " robot " << k << " shape " << s;
      pressed += s > 0 && up > 0.0;
    }
  }
  EXPECT_GT(pressed, 0) << kind.file << ": no foot is on the ground";
}

const auto flat = [](int) { return World::ground(); };

TEST(RandomisedBatchTest, MassesAreThoseOfADescriptionThatHasThem) {
  for (const Kind& kind : kinds) {
    // Two steps later one of Tello's knees would go over a dead point.
    expect_single_robots(kind, NewtonWay::cheapest, true, 36, flat, {});
  }
}

TEST(RandomisedBatchTest, MassesAreTheSameByAllWaysToSolveNewtonsSystems) {
  for (const Kind& kind : kinds) {
    for (const NewtonWay way :
         {NewtonWay::dense, NewtonWay::twist_space, NewtonWay::tree, NewtonWay::rate_space}) {
      expect_single_robots(kind, way, true, 20, flat, {});
    }
  }
}

TEST(RandomisedBatchTest, FreeRatesAreThoseOfTheMassesToRounding) {
  for (Kind kind : kinds) {
    kind.height = 3.0;  // in the air: nothing but M and h
    const Description robot = described(kind);
    const ModelPtr model = compiled(robot);
    const ContactBatchOptions options = options_of(*model, NewtonWay::cheapest);
    const auto links = pieces(*model);
    const std::vector<double> factor = factors(links.size(), robots);
    const Start at = started(kind, *model, robots);
    ContactBatch batch(host().registry(), model, world_of(kind, *model, World::ground()), options);
    batch.start(robots, at.q, at.v);
    batch.set_masses(links, factor);
    batch.set_gravity({1.0, -2.0, -5.0});
    batch.step(step_length);
    for (int k = 0; k < robots; ++k) {
      const ModelPtr own = compiled(scaled(robot, *model, links, factor, robots, k));
      ContactSimulation one(host().registry(), own, world_of(kind, *own, World::ground()),
                            options.step);
      one.start(column(at.q, robots, k), column(at.v, robots, k));
      one.set_gravity({1.0, -2.0, -5.0});
      (void)one.step(step_length);
      for (int i = 0; i < model->nv(); ++i) {
        const double v = one.v()[i];
        // A hundred roundings of rates, times what light links and ratios of 10 make of forces.
        EXPECT_NEAR(batch.sample().v[static_cast<std::size_t>(i) * robots + k], v,
                    1e-11 * (1.0 + std::abs(v)))
            << kind.file << " robot " << k << " rate " << i;
      }
    }
  }
}

TEST(RandomisedBatchTest, GroundStandsWhereEachRobotHasIt) {
  const std::vector<double> heights = own_ground(robots);
  const auto own = [&](int k) { return World::ground({}, k < 0 ? 0.0 : heights[k]); };
  for (const Kind& kind : kinds) {
    expect_single_robots(kind, NewtonWay::cheapest, false, 40, own, heights);
  }
  expect_single_robots(kinds[1], NewtonWay::cheapest, true, 40, own, heights);
}

TEST(RandomisedBatchTest, RobotsStandOnTheirOwnPartOfAHeightField) {
  std::vector<double> offsets(3 * robots);
  for (int k = 0; k < robots; ++k) {
    offsets[k] = -2.0 - 0.13 * k, offsets[robots + k] = -2.0 + 0.11 * k;
    offsets[2 * robots + k] = 0.004 * k;
  }
  std::vector<double> hills;
  for (int y = 0; y < 80; ++y) {
    for (int x = 0; x < 80; ++x) hills.push_back(0.01 * std::sin(1.3 * x) * std::cos(0.9 * y));
  }
  const auto own = [&](int k) {
    PlacedShape field;
    field.shape = Shape::height_field(80, 80, 0.05, hills);
    if (k >= 0) field.pose.xyz = {offsets[k], offsets[robots + k], offsets[2 * robots + k]};
    return field;
  };
  expect_single_robots(kinds[0], NewtonWay::cheapest, false, 40, own, offsets);
}

/// Solo12 that lands, kicked: some states are gathered from their packs.
struct Landing {
  ModelPtr model = compiled(described(kinds[0]));
  World world = world_of(kinds[0], *model, World::ground());
  std::vector<std::string> links = {"trunk", "hind_left_foot"};

  std::unique_ptr<ContactBatch> run(int N, int threads, bool randomised, bool spoilt = false,
                                    double neighbour = 1.0) const {
    ContactBatchOptions options = options_of(*model, NewtonWay::cheapest, threads);
    options.step.tolerance = 1e-6;
    auto batch = std::make_unique<ContactBatch>(host().registry(), model, world, options);
    Start at = started(kinds[0], *model, N);
    if (spoilt) {
      for (int i = 0; i < model->nq(); ++i) {
        at.q[static_cast<std::size_t>(i) * N + N - 1] = std::numeric_limits<double>::quiet_NaN();
      }
    }
    batch->start(N, at.q, at.v);
    if (randomised) {
      std::vector<double> factor = factors(links.size(), N), ground = own_ground(N);
      factor[N - 1] *= neighbour, ground[N - 1] *= neighbour;
      std::vector<double> friction;
      for (int k = 0; k < N; ++k) friction.push_back(0.4 + 0.1 * (k % 9));
      batch->set_masses(links, factor);
      batch->set_ground(ground);
      batch->set_friction(friction);
    }
    std::vector<double> saved(batch->saved_size());
    double rounds = 0.0;
    for (int k = 0; k < 200; ++k) {
      if (k % 40 == 39) {
        for (int r = 0; r < N; ++r) {
          batch->save(r, saved);
          saved[model->nq() + 3 + k / 40 % 2] += 0.3 * std::sin(r + k);
          batch->restore(r, saved);
        }
      }
      batch->step(step_length);
      rounds += batch->rounds();
    }
    EXPECT_GT(rounds, 10.0 * N);
    return batch;
  }
  /// Every number of the first robots.
  void expect_same(const ContactBatch& a, const ContactBatch& b, int count) const {
    const auto x = a.sample(), y = b.sample();
    for (int i = 0; i < model->nq() + model->nv(); ++i) {
      for (int k = 0; k < count; ++k) {
        const auto of = [&](const contact::ContactBatchSample& s) {
          return i < model->nq() ? s.q[static_cast<std::size_t>(i) * s.N + k]
                                 : s.v[static_cast<std::size_t>(i - model->nq()) * s.N + k];
        };
        EXPECT_EQ(of(x), of(y)) << "number " << i << " of robot " << k;
      }
    }
  }
};

TEST(RandomisedBatchTest, BitsDependNeitherOnNumberNorNeighboursNorThreads) {
  const Landing landing;
  const auto all = landing.run(70, 1, true);
  for (const int N : {1, 7, 8, 9}) landing.expect_same(*all, *landing.run(N, 1, true), N);
  landing.expect_same(*all, *landing.run(70, 2, true), 70);
  landing.expect_same(*all, *landing.run(9, 1, true, true), 8);  // beside NaN
  landing.expect_same(*all, *landing.run(9, 1, true, false, 1.7),
                      8);  // beside another mass, ground
}

TEST(RandomisedBatchTest, FactorsOfOneAndGroundAtZeroChangeNothing) {
  const Landing landing;
  const auto plain = landing.run(9, 1, false);
  ContactBatchOptions options = options_of(*landing.model, NewtonWay::cheapest);
  options.step.tolerance = 1e-6;
  ContactBatch batch(host().registry(), landing.model, landing.world, options);
  const Start at = started(kinds[0], *landing.model, 9);
  const auto fall = [&](ContactBatch& of) {
    for (int k = 0; k < 100; ++k) of.step(step_length);
    return std::vector<double>(of.sample().v.begin(), of.sample().v.end());
  };
  batch.start(9, at.q, at.v);
  const std::vector<double> before = fall(batch);
  batch.start(9, at.q, at.v);
  batch.set_masses(landing.links, std::vector<double>(18, 1.0));
  batch.set_ground(std::vector<double>(9, 0.0));
  EXPECT_EQ(fall(batch), before);
  // Heavier, and back again.
  batch.start(9, at.q, at.v);
  batch.set_masses(landing.links, std::vector<double>(18, 1.5));
  EXPECT_NE(fall(batch), before);
  batch.start(9, at.q, at.v);
  batch.set_masses({}, {nullptr, 0});
  EXPECT_EQ(fall(batch), before);
}

TEST(RandomisedBatchTest, AnotherNumberOfRobotsBeginsWithTheModelsOwn) {
  const Landing landing;
  const ContactBatchOptions options = options_of(*landing.model, NewtonWay::cheapest);
  const auto fall = [&](ContactBatch& of) {
    const Start at = started(kinds[0], *landing.model, 2);
    of.start(2, at.q, at.v);
    for (int k = 0; k < 100; ++k) of.step(step_length);
    return std::vector<double>(of.sample().q.begin(), of.sample().q.end());
  };
  ContactBatch fresh(host().registry(), landing.model, landing.world, options);
  ContactBatch used(host().registry(), landing.model, landing.world, options);
  const Start three = started(kinds[0], *landing.model, 3);
  used.start(3, three.q, three.v);
  used.set_masses(landing.links, std::vector<double>(6, 2.0));
  used.set_ground(std::vector<double>(3, 0.1));
  used.set_friction(std::vector<double>(3, 0.1));
  used.step(step_length);
  EXPECT_EQ(fall(used), fall(fresh));
}

/// The message of what it throws.
template <class Thrown, class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const Thrown& e) {
    return e.what();
  }
  return "nothing was refused";
}

TEST(RandomisedBatchTest, BadInputIsRefusedByName) {
  const Landing landing;
  ContactBatch batch(host().registry(), landing.model, landing.world,
                     options_of(*landing.model, NewtonWay::cheapest));
  const Start at = started(kinds[0], *landing.model, 2);
  batch.start(2, at.q, at.v);
  using Names = std::vector<std::string>;
  const auto masses = [&](const Names& links, const std::vector<double>& factor) {
    return [&batch, links, factor] { batch.set_masses(links, factor); };
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal<SizeMismatch>(masses({"trunk"}, {1.0, 1.0, 1.0})),
            "contact batch: size of mass factors is 3, expected 2");
  EXPECT_EQ(refusal<InvalidModel>(masses({"trunk", "hind_left_foot"}, {1.0, 1.0, 1.0, -1.0})),
            "contact batch: mass factor of link 'hind_left_foot' of robot 1 is -1, expected a "
            "positive number");
  EXPECT_EQ(
      refusal<InvalidModel>(masses({"trunk"}, {0.0, 1.0})),
      "contact batch: mass factor of link 'trunk' of robot 0 is 0, expected a positive number");
  EXPECT_NE(
      refusal<InvalidModel>(masses({"trunk"}, {nan, 1.0})).find("is nan, expected a positive"),
      std::string::npos);
  EXPECT_NE(refusal<UnknownName>(masses({"trunc"}, {1.0, 1.0})).find("(did you mean 'trunk'?)"),
            std::string::npos);
  EXPECT_EQ(refusal<InvalidModel>(masses({"trunk", "trunk"}, {1.0, 1.0, 1.0, 1.0})),
            "contact: mass factor of link 'trunk': link is named twice, expected each rigid piece "
            "once (a factor is that of a link and of all that is welded to it)");
  EXPECT_NE(
      refusal<InvalidModel>(masses({"hind_left_shank", "hind_left_foot"}, {1.0, 1.0, 1.0, 1.0}))
          .find("link is welded to 'hind_left_shank'"),
      std::string::npos);
  EXPECT_EQ(
      refusal<SizeMismatch>([&] { batch.set_ground(std::vector<double>(3)); }),
      "contact batch: size of ground offsets is 3, expected 2 heights or 6 offsets along x, y "
      "and z");
  EXPECT_EQ(refusal<InvalidModel>([&] {
              batch.set_ground(std::vector<double>{0.0, nan});
            }),
            "contact batch: ground offset of robot 1 is nan, expected a finite number");
  // Nothing of it was taken.
  batch.step(step_length);
  ContactBatch fresh(host().registry(), landing.model, landing.world,
                     options_of(*landing.model, NewtonWay::cheapest));
  fresh.start(2, at.q, at.v);
  fresh.step(step_length);
  landing.expect_same(batch, fresh, 2);
}

TEST(RandomisedBatchTest, LinksOfTheGroundAndWithoutMassAreRefused) {
  Description robot = ground();
  add_flying(robot, "ball", 1.0, {0.01, 0.01, 0.01});
  add_link(robot, "frame", 0.0, {0, 0, 0}, {0, 0, 0, 0, 0, 0});
  add_joint(robot, "slide", "prismatic", "ball", "frame");
  robot.joints.back().armature = 1.0;
  const ModelPtr model = host().compile(robot);
  World world;
  world.shapes = {World::ground()};
  ContactBatch batch(host().registry(), model, world, {});
  const std::vector<double> q{0, 0, 1, 0, 0, 0, 1, 0}, v(7, 0.0);
  batch.start(1, q, v);
  const auto masses = [&](const std::string& link) {
    return refusal<InvalidModel>([&] {
      const std::vector<std::string> links{link};
      batch.set_masses(links, std::vector<double>{1.0});
    });
  };
  EXPECT_NE(masses("base").find("link is welded to the ground"), std::string::npos);
  EXPECT_NE(masses("frame").find("mass is 0 kg"), std::string::npos);
}

}  // namespace
}  // namespace espalier::test::randomised_batch_test
