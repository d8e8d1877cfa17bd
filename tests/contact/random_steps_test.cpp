#include <cmath>
#include <functional>

#include "espalier/kernel/model/placements.hpp"
#include "tests/contact/robots.hpp"
#include "tests/support/four_bar.hpp"

/// Ten thousand random steps of all kinds of robots: impulses are held against rates that come from
/// placements alone, energies of the dense mass matrix, and the momentum of the whole.

namespace espalier::test::random_steps_test {
namespace {

using contact::ContactSample;
using contact::Plan;

constexpr double friction = 0.7;

struct Kind {
  std::string name;
  ModelPtr model;
  World world;
  std::function<void(Rng&, std::vector<double>& q, std::vector<double>& v)> start;
  int starts = 100, steps = 20;
  bool floats = true;  ///< nothing but the ground carries it
};

ModelPtr floating(const std::string& name) {
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  return host().load(std::string(ESPALIER_SOURCE_DIR) + "/robots/" + name, options);
}

PlacedShape ball(const std::string& link, const Vec3<double>& at, double radius) {
  PlacedShape shape;
  shape.link = link, shape.shape = Shape::sphere(radius), shape.pose.xyz = at;
  shape.surface.friction = friction;
  shape.name = link + " ball " + std::to_string(at.x) + " " + std::to_string(at.y);
  return shape;
}

/// Height of the lowest point of all spheres and boxes.
double lowest(const Model& model, const Plan& plan, Placements& places, const double* q) {
  places.update(q);
  double z = 1e9;
  for (const Plan::Solid& solid : plan.solids()) {
    if (solid.body == 0) continue;
    const Transform<double> X = solid.X * places.body(solid.body);
    const Shape& s = solid.placed.shape;
    double below = s.radius;
    if (s.kind == Shape::Kind::box) {
      below = 0.0;
      for (int k = 0; k < 3; ++k) below += s.half[k] * std::abs(X.E(k, 2));
    }
    z = std::min(z, X.r.z - below);
  }
  EXPECT_LT(z, 1e9) << model.name();
  return z;
}

/// Just above the ground, turned at random, with random joints and rates.
auto thrown(ModelPtr model, double joints, double turn, double rates) {
  return [=](Rng& random, std::vector<double>& q, std::vector<double>& v) {
    model->neutral(q.data());
    const std::vector<double> neutral = q;
    for (const Joint& joint : model->joints()) {
      if (joint.type == "floating") {
        for (int k = 3; k < 6; ++k) q[joint.q + k] += random.uniform(-turn, turn);
      } else if (joint.nv == 1 && joint.independent >= 0) {
        q[joint.q] += random.uniform(-joints, joints);
      }
    }
    model->normalize(q.data());
    model->apply_couplings(q.data());
    if (model->has_variable_constraints()) {
      ASSERT_EQ(close(*model, neutral.data(), q.data()).verdict, Closure::Verdict::closed);
    }
    for (double& x : v) x = random.uniform(-rates, rates);
  };
}

Kind tumbling_box() {
  const Boxed b = box_on_plane({0.1, 0.15, 0.2}, 1.0, {.friction = friction});
  return {"box", b.model, b.world, thrown(b.model, 0.0, 2.0, 2.0), 150};
}
Kind falling_quadruped() {
  const ModelPtr model = floating("solo12.urdf");
  World world;
  world.shapes = {World::ground({.friction = friction})};
  for (const char* leg : {"front_left", "front_right", "hind_left", "hind_right"}) {
    world.shapes.push_back(ball(std::string(leg) + "_foot", {0, 0, 0}, 0.016));
  }
  PlacedShape trunk;
  trunk.link = "trunk", trunk.shape = Shape::box({0.2, 0.1, 0.05});
  trunk.surface.friction = friction;
  world.shapes.push_back(trunk);
  return {"quadruped", model, world, thrown(model, 0.8, 0.2, 1.0), 150};
}
Kind soles_of_sixteen_points() {
  const ModelPtr model = floating("humanoid.urdf");
  World world;
  world.shapes = {World::ground({.friction = friction})};
  for (const char* foot : {"left_foot", "right_foot"}) {
    for (int k = 0; k < 8; ++k) {
      world.shapes.push_back(
          ball(foot, {0.12 - 0.06 * (k / 2), k % 2 ? 0.04 : -0.04, -0.06}, 0.01));
    }
  }
  return {"soles", model, world, thrown(model, 0.02, 0.002, 0.1)};
}
Kind feet_of_tello() {
  const ModelPtr model = floating("tello.yaml");
  World world;
  world.shapes = {World::ground({.friction = friction})};
  for (const Link& link : model->links()) {
    if (link.name.find("foot") == std::string::npos) continue;
    for (const double x : {-0.06, 0.06}) {
      world.shapes.push_back(ball(link.name, {x, 0, -0.04}, 0.01));
    }
  }
  return {"Tello", model, world, thrown(model, 0.1, 0.05, 0.3)};
}
/// Cubes of 0.2 m on balls at their lower corners, which stand on plates that carry the next.
Kind stack(const std::vector<double>& masses) {
  Description robot = ground();
  World world;
  world.shapes = {World::ground({.friction = friction})};
  world.self_collision = true;
  std::vector<double> stand;
  for (std::size_t k = 0; k < masses.size(); ++k) {
    const std::string name = "cube" + std::to_string(k);
    add_flying(robot, name, masses[k], box_inertia(masses[k], {0.1, 0.1, 0.1}));
    PlacedShape top;
    top.link = name, top.shape = Shape::box({0.1, 0.1, 0.01}), top.pose.xyz = {0, 0, 0.09};
    top.surface.friction = friction, top.name = name + " top";
    top.type = 0, top.affinity = 2;  // balls alone stand on it
    if (k + 1 < masses.size()) world.shapes.push_back(top);
    for (int corner = 0; corner < 4; ++corner) {
      const double x = (corner & 1) != 0 ? 0.09 : -0.09, y = (corner & 2) != 0 ? 0.09 : -0.09;
      world.shapes.push_back(ball(name, {x, y, -0.09}, 0.01));
      world.shapes.back().type = 3, world.shapes.back().affinity = 0;
    }
    for (const double x : at({0, 0, 0.1 + 0.2 * static_cast<double>(k)})) stand.push_back(x);
    if (k >= 2) world.excluded.emplace_back("cube" + std::to_string(k - 2), name);
  }
  const auto pushed = [stand](Rng& random, std::vector<double>& q, std::vector<double>& v) {
    q = stand;
    for (double& x : v) x = random.uniform(-0.2, 0.2);
  };
  return {"stack of " + std::to_string(masses.size()), host().compile(robot), world, pushed, 60};
}
/// The ends of its crank and of its coupler fall on a plane; nothing moves across it.
Kind four_bar_on_the_ground() {
  const ModelPtr model = host().compile(four_bar());
  World world;
  world.shapes = {World::ground({.friction = friction})};
  world.shapes[0].pose.rpy = {-1.57079632679489662, 0, 0};
  world.shapes[0].pose.xyz = {0, -0.15, 0};
  world.shapes.push_back(ball("crank_link", {0.2, 0, 0}, 0.02));
  world.shapes.push_back(ball("coupler_link", {0.25, -0.1, 0}, 0.02));
  return {"four-bar", model, world, thrown(model, 0.5, 0.0, 5.0), 20, 200, false};
}

/// Rates of the world points of two solids against each other, by differences of placements.
class PointRates {
 public:
  explicit PointRates(const ModelPtr& model)
      : model_(*model), motion_(*model), now_(model), later_(model), earlier_(model) {}

  void move(const std::vector<double>& q, const std::vector<double>& v) {
    motion_.update(q.data(), v.data());
    std::vector<double> step(model_.spanning_nv()), moved(q.size());
    const auto place = [&](double time, Placements& places) {
      for (std::size_t i = 0; i < step.size(); ++i) step[i] = time * motion_.qd()[i];
      model_.integrate(q.data(), step.data(), moved.data());
      places.update(moved.data());
    };
    now_.update(q.data()), place(dt, later_), place(-dt, earlier_);
  }
  Vec3<double> of(const Plan& plan, const ContactSample& c) const {
    return of(plan.solids()[c.first_shape].body, c.point) -
           of(plan.solids()[c.second_shape].body, c.point);
  }

 private:
  static constexpr double dt = 1e-6;  // [s]

  Vec3<double> of(int body, const Vec3<double>& point) const {
    if (body == 0) return {0, 0, 0};
    const Transform<double>& X = now_.body(body);
    const Vec3<double> in_body = X.E * (point - X.r);
    const auto at = [&](const Placements& places) {
      const Transform<double>& Y = places.body(body);
      return Y.r + transpose_times(Y.E, in_body);
    };
    return scale(0.5 / dt, at(later_) - at(earlier_));
  }

  const Model& model_;
  SpanningMotion<double> motion_;
  Placements now_, later_, earlier_;
};

class RandomSteps {
 public:
  RandomSteps(const Kind& kind, unsigned seed)
      : kind_(kind),
        with_(host().registry(), kind.model, kind.world, limp()),
        alone_(host().registry(), kind.model, {}, limp()),
        inertia_(host().create<MassMatrix<double>>("dense", kind.model)),
        center_(any<CenterOfMass<double>>(kind.model)),
        before_(kind.model),
        after_(kind.model),
        places_(kind.model),
        random_(seed) {}

  void run() {
    const Model& model = *kind_.model;
    std::vector<double> q(model.nq()), v(model.nv());
    for (int k = 0; k < kind_.starts; ++k) {
      kind_.start(random_, q, v);
      if (kind_.floats && kind_.name.find("stack") == std::string::npos) {
        // Shapes' lowest point a millimetre above the ground.
        q[model.joint(root()).q + 2] -= lowest(model, with_.plan(), places_, q.data()) - 1e-3;
      }
      with_.start(q, v);
      for (int i = 0; i < kind_.steps && !testing::Test::HasFailure(); ++i) step();
    }
  }
  int touching() const { return touching_; }
  int unsolved() const { return unsolved_; }

 private:
  static StepOptions limp() {
    StepOptions options;
    options.passive = options.limits = false, options.friction = StepOptions::Friction::none;
    options.correction = 0.0;
    return options;
  }
  std::string root() const {
    for (const Joint& joint : kind_.model->joints()) {
      if (joint.type == "floating") return joint.name;
    }
    return "";
  }
  /// Rates of floating bodies in the axes that they had before the step.
  std::vector<double> in_axes_before(const std::vector<double>& q0, const ContactSimulation& s) {
    std::vector<double> v = s.v();
    for (const Joint& joint : kind_.model->joints()) {
      if (joint.type != "floating") continue;
      double* x = v.data() + joint.independent + 3;
      const Vec3<double> world = transpose_times(quaternion_to_E(s.q().data() + joint.q + 3),
                                                 Vec3<double>{x[0], x[1], x[2]});
      const Vec3<double> turned = quaternion_to_E(q0.data() + joint.q + 3) * world;
      for (int k = 0; k < 3; ++k) x[k] = turned[k];
    }
    return v;
  }
  double kinetic(const std::vector<double>& q, const std::vector<double>& v) {
    const int n = kind_.model->nv();
    M_.resize(static_cast<std::size_t>(n) * n);
    inertia_->evaluate(q, M_);
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) sum += 0.5 * v[i] * M_[i * n + j] * v[j];
    }
    return sum;
  }

  void step() {
    const std::vector<double> q0 = with_.q(), v0 = with_.v();
    alone_.start(q0, v0);
    (void)alone_.step(h);
    const StepStatus status = with_.step(h);
    const double residual = with_.contact_residual();
    // A verdict, never silence.
    EXPECT_TRUE(std::isfinite(residual));
    EXPECT_EQ(status == StepStatus::contact_unsolved, !(residual <= 1e-6)) << residual;
    EXPECT_LE(with_.sample().residual, 1e-10);  // loops
    if (with_.contacts().empty()) return;
    ++touching_;
    unsolved_ += !(residual <= 1e-6);
    worst_ = std::max(worst_, residual);
    const std::vector<double> free = in_axes_before(q0, alone_), v = in_axes_before(q0, with_);
    before_.move(q0, free), after_.move(q0, v);
    double work = 0.0, size = 0.0;
    Vec3<double> of_ground{0, 0, 0};
    for (const ContactSample& c : with_.contacts()) {
      const Vec3<double> impulse = scale(h, c.force);
      const Vec3<double> u = after_.of(with_.plan(), c), u0 = before_.of(with_.plan(), c);
      work += 0.5 * dot(impulse, u + u0);
      size += std::sqrt(dot(impulse, impulse)) * (1.0 + std::sqrt(dot(u0, u0) + dot(u, u)));
      if (with_.plan().solids()[c.second_shape].body == 0) of_ground += impulse;
      if (residual <= 1e-6) hold_conditions(c, impulse, u);
    }
    const double T0 = kinetic(q0, free), T = kinetic(q0, v);
    // Rates by differences over a microsecond have seven digits; energies a rounding of their own.
    EXPECT_NEAR(T - T0, work, 1e-7 * size + 1e-12 * (T0 + T)) << kind_.name;
    // What a row may be off, times its impulse.
    EXPECT_LE(T, T0 + 2.0 * residual * size + 1e-12 * T0) << kind_.name;
    if (!kind_.floats) return;
    const std::vector<double> rest(kind_.model->nv(), 0.0);
    const auto momentum = [&](const std::vector<double>& rates) {
      return scale(kind_.model->mass(), center_->evaluate(q0, rates, rest).velocity);
    };
    const Vec3<double> error = momentum(v) - momentum(free) - of_ground;
    // Roundings of impulses between links of a thousandfold mass.
    EXPECT_LE(std::sqrt(dot(error, error)), 1e-10 * (1.0 + size)) << kind_.name;
  }

  /// Signorini and Coulomb with maximum dissipation, to the tolerance of a microm/s of the step:
  /// what is larger than it by orders of magnitude is decided.
  void hold_conditions(const ContactSample& c, const Vec3<double>& impulse, const Vec3<double>& u) {
    const double n = dot(impulse, c.normal), u_n = dot(u, c.normal) + std::max(c.gap, 0.0) / h;
    const Vec3<double> t = impulse - scale(n, c.normal);
    const Vec3<double> u_t = u - scale(dot(u, c.normal), c.normal);
    const double push = std::sqrt(dot(t, t)), slip = std::sqrt(dot(u_t, u_t));
    EXPECT_GE(n, 0.0);
    EXPECT_LE(push, friction * n * (1.0 + 1e-12) + 1e-15);
    EXPECT_GE(u_n, -3e-6) << kind_.name;
    // By its mass at least an impulse changes the rate of its point, unless something else holds
    // the robot.
    const double change = n / kind_.model->mass();
    if (!kind_.floats || change < 1e-3) return;
    EXPECT_LE(u_n, 3e-6) << kind_.name;
    if (push < 0.99 * friction * n) EXPECT_LE(slip, 5e-6) << kind_.name;
    // The impulse of one that slips is against the slip; it may be off by the tolerance over what
    // it changes.
    EXPECT_LE(dot(t, u_t), -push * slip * (1.0 - 1e-4) + 5e-6 * push) << kind_.name;
    ++pressed_;
  }

  const Kind& kind_;
  ContactSimulation with_, alone_;
  std::unique_ptr<MassMatrix<double>> inertia_;
  std::unique_ptr<CenterOfMass<double>> center_;
  PointRates before_, after_;
  Placements places_;
  Rng random_;
  std::vector<double> M_;
  int touching_ = 0, unsolved_ = 0;

 public:
  int pressed_ = 0;     ///< points whose conditions are decided
  double worst_ = 0.0;  ///< residual [m/s]
};

TEST(ContactPropertyTest, TenThousandRandomStepsHoldMomentumEnergyConesAndTheirVerdict) {
  const std::vector<Kind> kinds = {
      tumbling_box(),      stack({1, 1000}),          stack({1, 1000, 1}),
      falling_quadruped(), soles_of_sixteen_points(), four_bar_on_the_ground(),
      feet_of_tello()};
  int touching = 0, unsolved = 0;
  for (const Kind& kind : kinds) {
    RandomSteps steps(kind, 7);
    steps.run();
    std::printf("%-12s touching in %d steps, %d points pressed, %d unsolved, residual %.1e m/s\n",
                kind.name.c_str(), steps.touching(), steps.pressed_, steps.unsolved(),
                steps.worst_);
    EXPECT_GT(steps.touching(), 500) << kind.name;
    EXPECT_LE(steps.worst_, 1e-4) << kind.name;
    touching += steps.touching(), unsolved += steps.unsolved();
  }
  EXPECT_GE(touching, 10000);
  // One in a thousand: cubes thrown onto one of a thousandth of their mass, each time without a
  // warm start. Each is said, and near.
  EXPECT_LE(unsolved, touching / 1000);
}

}  // namespace
}  // namespace espalier::test::random_steps_test
