#include "tests/instructions/calls.hpp"

#include <memory>
#include <type_traits>

#include "espalier/kernel/model/placements.hpp"
#include "espalier/kernel/problems/derivatives/derivatives.hpp"
#include "espalier/kernel/problems/dynamics/bias_force.hpp"
#include "espalier/kernel/problems/kinematics/center_of_mass.hpp"
#include "espalier/kernel/problems/kinematics/energy.hpp"
#include "espalier/kernel/problems/kinematics/jacobian.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

namespace espalier::test {

namespace {

constexpr int state_count = 4;
constexpr int batch_size = 64;
constexpr int chain_length = 100;

/// A robot and what calls on it are given.
struct Subject {
  Subject(std::string given_name, ModelPtr compiled)
      : name(std::move(given_name)), model(std::move(compiled)), setup{model} {
    for (int k = 0; k < state_count; ++k) {
      states.push_back(model->is_tree() ? random_state(*model, k)
                                        : random_cluster_state(*model, k));
    }
  }
  std::string name;
  ModelPtr model;
  Setup setup;
  std::vector<State> states;
};
using SubjectPtr = std::shared_ptr<Subject>;

SubjectPtr of_file(const Host& host, const std::string& file, bool floating) {
  CompileOptions options;
  options.root = floating ? CompileOptions::Root::floating : CompileOptions::Root::fixed;
  options.mimic = CompileOptions::MimicRule::ignore;  // the fingers of the Panda
  const std::string name = file.substr(0, file.find('.'));
  return std::make_shared<Subject>(name, host.load(ESPALIER_SOURCE_DIR "/robots/" + file, options));
}

/// The robot of docs/input-matrix.md, with its rotors: a motor on each joint, four point contacts
/// at each sole.
SubjectPtr walker(const Host& host) {
  const SubjectPtr robot = of_file(host, "mit_humanoid.yaml", true);
  robot->setup.inputs = motors(*robot->model);
  for (const std::string side : {"right", "left"}) {
    int corner = 0;
    for (const double x : {-0.05, 0.1}) {
      for (const double y : {-0.03, 0.03}) {
        robot->setup.inputs.push_back(
            {.name = side + std::to_string(corner++),
             .contact = EndEffector::contact(side + "_leg.knee_ankle.link2", {x, y, -0.041})});
      }
    }
  }
  return robot;
}

/// JVRC-1 with rotors that stand on end whatever they turn about, as in the model of
/// generalized_rbda: those about x and y are not symmetric about their axis.
SubjectPtr rotors_on_end(const Host& host) {
  Description robot = host.read(ESPALIER_SOURCE_DIR "/robots/jvrc1_geared.yaml");
  for (LinkDescription& link : robot.links) {
    if (link.name.ends_with("rotor")) link.inertial->I = {2e-5, 0, 0, 2e-5, 0, 5e-5};
  }
  return std::make_shared<Subject>("jvrc1 with rotors on end", host.compile(robot));
}

SubjectPtr chain(const Host& host) {
  RobotOptions options;
  options.bodies = chain_length;
  options.shape = RobotOptions::Shape::chain;
  options.types = {"revolute"};
  options.welded = options.armature = 0.0;
  return std::make_shared<Subject>("chain of " + std::to_string(chain_length),
                                   host.compile(random_robot(host.registry(), options)));
}

/// One body that nothing holds.
SubjectPtr quadrotor(const Host& host) {
  RobotOptions options;
  options.bodies = 1;
  options.floating_base = true;
  options.welded = options.armature = 0.0;
  return std::make_shared<Subject>("one body",
                                   host.compile(random_robot(host.registry(), options)));
}

/// Of revolute bodies with two children each.
SubjectPtr binary_tree(const Host& host) {
  RobotOptions options;
  options.bodies = 60;
  options.shape = RobotOptions::Shape::binary;
  options.types = {"revolute"};
  options.welded = options.armature = 0.0;
  return std::make_shared<Subject>("binary tree of 60",
                                   host.compile(random_robot(host.registry(), options)));
}

class Set {
 public:
  explicit Set(const Host& host) : host_(host) {}
  std::vector<Call> take() { return std::move(calls_); }

  /// A call of the algorithm `name` for the problem P at double.
  template <template <class> class P>
  void add(const std::string& name, const SubjectPtr& on) {
    const std::shared_ptr<P<double>> algorithm = host_.create<P<double>>(name, on->setup);
    const std::size_t nv = on->model->nv();
    auto out = std::make_shared<std::vector<double>>();
    if constexpr (std::is_same_v<P<double>, ForwardDynamics<double>>) {
      out->resize(nv);
      put(name, on, [=](const State& s) { algorithm->evaluate(s.q, s.v, s.tau, *out); });
    } else if constexpr (std::is_same_v<P<double>, InverseDynamics<double>>) {
      out->resize(nv);
      put(name, on, [=](const State& s) { algorithm->evaluate(s.q, s.v, s.vdot, *out); });
    } else if constexpr (std::is_same_v<P<double>, MassMatrix<double>>) {
      out->resize(nv * nv);
      put(name, on, [=](const State& s) { algorithm->evaluate(s.q, *out); });
    } else if constexpr (std::is_same_v<P<double>, BodyJacobians<double>>) {
      out->resize(6 * nv);
      const Link& last = on->model->links().back();
      put(name, on, [=, &last](const State& s) { algorithm->evaluate(s.q, last, *out); });
    } else if constexpr (std::is_same_v<P<double>, BiasForce<double>>) {
      out->resize(nv);
      put("bias by " + name, on, [=](const State& s) { algorithm->evaluate(s.q, s.v, *out); });
    } else if constexpr (std::is_same_v<P<double>, CenterOfMass<double>>) {
      put(name, on, [=](const State& s) { algorithm->evaluate(s.q, s.v, s.vdot); });
    } else if constexpr (std::is_same_v<P<double>, Energy<double>>) {
      put(name, on, [=](const State& s) { algorithm->evaluate(s.q, s.v); });
    } else if constexpr (std::is_same_v<P<double>, InverseOsim<double>>) {
      const std::size_t rows = Task(*on->model, on->setup.end_effectors).size();
      out->resize(rows * rows);
      put(name, on, [=](const State& s) { algorithm->evaluate(s.q, *out); });
    } else if constexpr (std::is_same_v<P<double>, InverseMassMatrix<double>>) {
      out->resize(nv * nv);
      put(name, on, [=](const State& s) { algorithm->evaluate(s.q, *out); });
    } else if constexpr (std::is_same_v<P<double>, InverseDynamicsDerivatives<double>>) {
      const auto m = matrices(nv);
      put(name, on, [=](const State& s) {
        algorithm->evaluate(s.q, s.v, s.vdot, m->vector, m->of[0], m->of[1], m->of[2]);
      });
    } else if constexpr (std::is_same_v<P<double>, ForwardDynamicsDerivatives<double>>) {
      const auto m = matrices(nv);
      put(name, on, [=](const State& s) {
        algorithm->evaluate(s.q, s.v, s.tau, m->vector, m->of[0], m->of[1], m->of[2]);
      });
    } else if constexpr (std::is_same_v<P<double>, InverseDynamicsAdjoint<double>>) {
      const auto m = matrices(nv);
      put(name, on, [=](const State& s) {
        algorithm->evaluate(s.q, s.v, s.vdot, s.tau, m->vector, m->by_v, m->by_vdot);
      });
    } else {
      static_assert(std::is_same_v<P<double>, InputMatrix<double>>);
      put(name, on, [=](const State& s) { algorithm->evaluate(s.q, s.v, s.tau); });
    }
  }

  /// Jacobians of all links, one after the other into one matrix.
  void add_all_jacobians(const SubjectPtr& on) {
    const std::shared_ptr<BodyJacobians<double>> algorithm =
        host_.create<BodyJacobians<double>>("body-jacobians", on->setup);
    const auto out = std::make_shared<std::vector<double>>(6 * on->model->nv());
    put("body-jacobians of all links", on, [=](const State& s) {
      algorithm->evaluate(s.q);
      for (const Link& link : on->model->links()) algorithm->jacobian(link, *out);
    });
  }

  void add_placements(const SubjectPtr& on) {
    const auto placements = std::make_shared<Placements>(on->model);
    put("placements", on, [=](const State& s) { placements->update(s.q.data()); });
  }

  /// A batch of forward dynamics, on one thread; one call solves the whole batch.
  void add_batch(const std::string& name, const SubjectPtr& on) {
    const std::shared_ptr<Batch> batch =
        host_.batch<ForwardDynamics>(name, on->setup, {.threads = 1});
    const auto arrays = std::make_shared<Arrays>(*on);
    const auto out = std::make_shared<std::vector<double>>(on->model->nv() * batch_size);
    put(name + " x " + std::to_string(batch_size), on, [=](const State&) {
      batch->evaluate(batch_size, {.q = arrays->q, .v = arrays->v, .tau = arrays->tau},
                      {{"vdot", *out}});
    });
  }

  /// Model::compile; the file was read before.
  void add_compile(const std::string& file) {
    const auto description =
        std::make_shared<const Description>(host_.read(ESPALIER_SOURCE_DIR "/robots/" + file));
    calls_.push_back(
        {"compile, " + file.substr(0, file.find('.')), [&host = host_, description](int) {
           host.compile(*description, {.root = CompileOptions::Root::fixed});
         }});
  }

 private:
  /// Structures of arrays: number i of state k at [i * batch_size + k].
  struct Arrays {
    explicit Arrays(const Subject& on)
        : q(gathered(on, &State::q)), v(gathered(on, &State::v)), tau(gathered(on, &State::tau)) {}

    static std::vector<double> gathered(const Subject& on, std::vector<double> State::*of) {
      const std::size_t rows = (on.states[0].*of).size();
      std::vector<double> all(rows * batch_size);
      for (std::size_t i = 0; i < rows; ++i) {
        for (int k = 0; k < batch_size; ++k) {
          all[i * batch_size + k] = (on.states[k % state_count].*of)[i];
        }
      }
      return all;
    }
    std::vector<double> q, v, tau;
  };

  /// Where derivatives are written.
  struct Matrices {
    std::vector<double> vector, by_v, by_vdot, of[3];
  };
  static std::shared_ptr<Matrices> matrices(std::size_t nv) {
    const auto m = std::make_shared<Matrices>();
    for (std::vector<double>* x : {&m->vector, &m->by_v, &m->by_vdot}) x->resize(nv);
    for (std::vector<double>& x : m->of) x.resize(nv * nv);
    return m;
  }

  template <class F>
  void put(const std::string& name, const SubjectPtr& on, F&& f) {
    calls_.push_back({name + ", " + on->name, [on, f](int k) { f(on->states[k % state_count]); }});
  }

  const Host& host_;
  std::vector<Call> calls_;
};

}  // namespace

std::vector<Call> fixed_calls(const Host& host) {
  Set set(host);
  const SubjectPtr humanoid = of_file(host, "humanoid.urdf", true);
  for (const char* foot : {"left_foot", "right_foot"}) {
    humanoid->setup.end_effectors.push_back(EndEffector::weld(foot));
  }
  humanoid->setup.inputs = motors(*humanoid->model);
  for (const SubjectPtr& tree : {humanoid, of_file(host, "panda.urdf", false), chain(host)}) {
    set.add<ForwardDynamics>("aba", tree);
    set.add<InverseDynamics>("rnea", tree);
    set.add<MassMatrix>("crba", tree);
  }
  const SubjectPtr ur5 = of_file(host, "ur5.urdf", false);
  set.add<MassMatrix>("crba", ur5);
  const SubjectPtr bushy = binary_tree(host);
  set.add<ForwardDynamics>("aba", bushy);
  set.add<MassMatrix>("crba", bushy);
  for (const SubjectPtr& tree : {humanoid, bushy}) set.add<BodyJacobians>("body-jacobians", tree);
  const SubjectPtr arm = of_file(host, "panda.urdf", false);
  for (const SubjectPtr& tree : {humanoid, of_file(host, "solo12.urdf", true), arm, ur5, bushy}) {
    set.add_all_jacobians(tree);
  }
  for (const SubjectPtr& tree : {humanoid, arm, bushy}) set.add_placements(tree);
  const SubjectPtr alone = quadrotor(host);
  set.add<BiasForce>("rnea", alone);
  for (const SubjectPtr& tree : {alone, humanoid}) {
    set.add<CenterOfMass>("center-of-mass", tree);
    set.add<Energy>("energy", tree);
  }
  set.add<InverseOsim>("pv-osim", humanoid);
  set.add<InputMatrix>("iim", humanoid);
  set.add_batch("aba", humanoid);
  const SubjectPtr with_contacts = walker(host);
  set.add<ForwardDynamics>("c-aba", with_contacts);
  set.add<InputMatrix>("iim", with_contacts);
  set.add<InputMatrix>("eufm", with_contacts);

  for (const SubjectPtr& tree : {humanoid, ur5}) {
    set.add<InverseDynamicsDerivatives>("rnea-derivatives", tree);
    set.add<ForwardDynamicsDerivatives>("aba-derivatives", tree);
    set.add<InverseMassMatrix>("ltl-inverse-mass-matrix", tree);
    set.add<InverseDynamicsAdjoint>("c-rnea-adjoint", tree);
  }

  const SubjectPtr tello = of_file(host, "tello.yaml", true);
  const SubjectPtr cheetah = of_file(host, "mini_cheetah_geared.yaml", true);
  for (const SubjectPtr& with_loops : {tello, cheetah}) {
    set.add<ForwardDynamics>("c-aba", with_loops);
    set.add<InverseDynamics>("c-rnea", with_loops);
    set.add<MassMatrix>("c-crba", with_loops);
  }
  const SubjectPtr on_end = rotors_on_end(host);
  set.add<ForwardDynamics>("c-aba", on_end);
  set.add<InverseDynamics>("c-rnea", on_end);
  set.add<InverseDynamicsDerivatives>("c-rnea-derivatives", tello);
  set.add<ForwardDynamicsDerivatives>("c-aba-derivatives", tello);
  // What exactness costs: both run on the same chains.
  set.add<ForwardDynamics>("approximate-aba", cheetah);
  set.add<InverseDynamics>("approximate-rnea", cheetah);
  tello->setup.end_effectors = tips(*tello->model);
  set.add<InverseOsim>("c-pv-osimr", tello);
  set.add<ForwardDynamics>("bremer-on", tello);
  set.add_batch("c-aba", tello);
  set.add_batch("c-aba", cheetah);

  set.add_compile("humanoid.urdf");
  set.add_compile("tello.yaml");
  return set.take();
}

}  // namespace espalier::test
