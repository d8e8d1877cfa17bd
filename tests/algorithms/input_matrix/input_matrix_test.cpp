#include "espalier/kernel/problems/operational_space/input_matrix.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "espalier/kernel/problems/operational_space/operational_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "cli/allocations.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "tests/support/task_robots.hpp"

// M^-1 B by every registered method, on random trees and on random robots with transmissions and
// loops.

namespace espalier::test::input_matrix_test {
namespace {

// Agreed in the project's specification, relative to the largest entry. Rounding is amplified by
// gear ratios of 100 and positions a hundredth away from dead points: by some 1e5.
constexpr double agreed = 1e-9;

using Values = std::vector<double>;
using Double = InputMatrix<double>;

/// Motors and contacts of every kind that algorithms treat differently, 1 to 42 columns.
std::vector<Input> random_inputs(const Model& model, unsigned long long seed) {
  Rng rng(9000 + seed);
  const int columns = 1 + rng.below(42);
  std::vector<Input> all;
  const auto named = [&](Input input) {
    input.name = "in" + std::to_string(all.size());
    all.push_back(std::move(input));
  };
  for (int have = 0; have < columns;) {
    const int joints = static_cast<int>(model.joints().size());
    if (joints > 0 && rng.chance(0.5)) {
      const Joint& joint = model.joints()[rng.below(joints)];
      if (have + joint.nv > columns) continue;
      named({.joint = joint.name});
      have += joint.nv;
      continue;
    }
    Input input;
    EndEffector& contact = input.contact;
    contact.link = model.links()[rng.below(static_cast<int>(model.links().size()))].name;
    if (!model.rotors().empty() && rng.chance(0.2)) {
      const int rotor = rng.below(static_cast<int>(model.rotors().size()));
      contact.link = model.body_names()[model.rotors()[rotor].body];
    }
    contact.offset = rng.vec3(0.3);
    contact.axes = rng.chance(0.5) ? EndEffector::Axes::link : EndEffector::Axes::world;
    contact.rows.resize(std::min(columns - have, 1 + rng.below(6)));
    for (EndEffector::Row& row : contact.rows) {
      for (double& x : row) x = rng.uniform();
    }
    have += static_cast<int>(contact.rows.size());
    named(std::move(input));
  }
  return all;
}

/// Every second robot has end-effectors, too.
TaskCase with_inputs(TaskCase c, unsigned long long seed) {
  c.setup.inputs = random_inputs(c.model(), seed);
  if (seed % 2 == 1) c.setup.end_effectors.clear();
  return c;
}
TaskCase case_of(unsigned long long seed) {
  return with_inputs(seed % 2 == 0 ? on_tree(seed / 2) : on_clusters(seed / 2), seed / 2);
}
void for_each_case(const std::function<void(const TaskCase&)>& f, int step = 1) {
  for (int seed = 0; seed < 2 * task_robots; seed += step) {
    SCOPED_TRACE((seed % 2 == 0 ? "tree of seed " : "cluster robot of seed ") +
                 std::to_string(seed / 2));
    f(case_of(seed));
  }
}

template <class T>
const typename InputMatrix<T>::Answer& answer(InputMatrix<T>& a, const TaskCase& c,
                                              const State& s) {
  const Wrenches<T> wrenches = s.wrenches<T>(c.setup.model);
  const auto convert = [](const Values& x) { return std::vector<T>(x.begin(), x.end()); };
  return a.evaluate(convert(s.q), convert(s.v), convert(s.tau), &wrenches);
}
Double::Answer answer(const std::string& name, const TaskCase& c) {
  return answer(*host().create<Double>(name, c.setup), c, c.state);
}
double difference(const Double::Answer& a, const Double::Answer& wanted) {
  return std::max({relative_difference(a.input_matrix, wanted.input_matrix),
                   relative_difference(a.free_acceleration, wanted.free_acceleration),
                   relative_difference(a.task_input_matrix, wanted.task_input_matrix),
                   relative_difference(a.task_free_acceleration, wanted.task_free_acceleration)});
}

TEST(InputMatrixTest, RobotsHaveEveryKindOfInput) {
  std::set<int> sizes;
  int independent = 0, dependent = 0, rotors = 0, on_ground = 0, on_rotors = 0, world = 0,
      in_clusters = 0, several_rates = 0;
  for_each_case([&](const TaskCase& c) {
    const Model& model = c.model();
    const InputColumns inputs(model, c.setup.inputs);
    sizes.insert(inputs.size());
    for (const InputColumns::Motor& motor : inputs.motors()) {
      const Joint& joint = model.joint_of_rate(motor.rate);
      (joint.independent >= 0 ? independent : dependent) += 1;
      rotors += joint.body > model.active_body_count();
      several_rates += joint.nv > 1;
    }
    for (const Task::Part& part : inputs.contacts()) {
      world += part.world;
      on_ground += part.body == 0;
      on_rotors += part.body > model.active_body_count();
      if (part.body != 0)
        in_clusters += model.clusters()[model.body(part.body).cluster].constrained;
    }
  });
  EXPECT_EQ(*sizes.begin(), 1);
  EXPECT_EQ(*sizes.rbegin(), 42);
  EXPECT_EQ(sizes.size(), 42u);
  for (const int count :
       {independent, dependent, rotors, on_ground, on_rotors, world, in_clusters, several_rates}) {
    EXPECT_GT(count, 50);
  }
}

TEST(InputMatrixTest, AllAlgorithmsAgree) {
  int closed_forms = 0;
  for_each_case([&](const TaskCase& c) {
    const Double::Answer wanted = answer("dense", c);
    const auto all = every<Double>(c.setup);
    EXPECT_GE(all.size(), c.model().is_tree() ? 5u : 4u);  // one can but one output body
    for (const auto& [name, algorithm] : all) {
      closed_forms += name == "iim-closed-form";
      EXPECT_LE(difference(answer(*algorithm, c, c.state), wanted), agreed) << name;
    }
  });
  EXPECT_GT(closed_forms, task_robots + 50);
}

TEST(InputMatrixTest, PowerOfInputsIsThatOfMotorsAndContacts) {
  for_each_case(
      [](const TaskCase& c) {
        // v^T M (M^-1 B) = v^T B: by columns, how fast each input moves.
        const Model& model = c.model();
        const std::size_t nv = model.nv();
        const InputColumns inputs(model, c.setup.inputs);
        Values wanted(inputs.size(), 0.0);
        SpanningMotion<double> motion(model);
        motion.update(c.state.q.data(), c.state.v.data());
        for (const auto& motor : inputs.motors()) wanted[motor.column] = motion.qd()[motor.rate];
        const auto kinematics = any<Kinematics<double>>(c.setup.model);
        kinematics->evaluate(c.state.q, c.state.v, c.state.v);
        std::size_t part = 0;
        for (const Input& input : c.setup.inputs) {
          if (!input.joint.empty()) continue;
          const Link& link = model.link(input.contact.link);
          Motion<double> twist = kinematics->velocity(link);
          twist.v += cross(twist.w, input.contact.offset);
          if (input.contact.axes == EndEffector::Axes::world) {
            const Mat3<double> E = kinematics->placement(link).E;
            twist = {transpose_times(E, twist.w), transpose_times(E, twist.v)};
          }
          const int first = inputs.contacts()[part++].first;
          for (std::size_t k = 0; k < input.contact.rows.size(); ++k) {
            for (int i = 0; i < 6; ++i) wanted[first + k] += input.contact.rows[k][i] * twist[i];
          }
        }
        Values M(nv * nv), momentum(nv, 0.0), got(inputs.size(), 0.0);
        host().create<MassMatrix<double>>("c-crba", c.setup.model)->evaluate(c.state.q, M);
        for (std::size_t i = 0; i < nv * nv; ++i) momentum[i / nv] += M[i] * c.state.v[i % nv];
        const Values Bhat = answer("iim", c).input_matrix;
        double size = 1.0;  // of what is summed
        for (std::size_t i = 0; i < nv; ++i) {
          for (std::size_t k = 0; k < got.size(); ++k) {
            const double term = momentum[i] * Bhat[i * got.size() + k];
            got[k] += term;
            size = std::max(size, std::abs(term));
          }
        }
        EXPECT_LE(largest_difference(got, wanted), agreed * size);
      },
      3);
}

TEST(InputMatrixTest, FreeAccelerationIsForwardDynamicsWithoutInputs) {
  for_each_case(
      [](const TaskCase& c) {
        const Wrenches<double> wrenches = c.state.wrenches<double>(c.setup.model);
        const auto forward = host().create<ForwardDynamics<double>>("c-aba", c.setup.model);
        forward->set_gravity({1.0, -2.0, -7.0});
        const Values zero(c.model().nv(), 0.0);
        for (const auto& [name, algorithm] : every<Double>(c.setup)) {
          algorithm->set_gravity({1.0, -2.0, -7.0});
          for (const Values& tau : {zero, c.state.tau}) {
            Values wanted(c.model().nv());
            forward->evaluate(c.state.q, c.state.v, tau, wanted, &wrenches);
            const auto& got = algorithm->evaluate(c.state.q, c.state.v, tau, &wrenches);
            EXPECT_LE(relative_difference(got.free_acceleration, wanted), agreed) << name;
          }
        }
      },
      2);
}

TEST(InputMatrixTest, AccelerationsAreFreeOnesAndInputMatrixTimesInputs) {
  for_each_case(
      [](const TaskCase& c) {
        // Motors on independent joints, driven through the input matrix and through tau.
        TaskCase motors_only = c;
        motors_only.setup.inputs = motors(c.model());
        if (motors_only.setup.inputs.empty()) return;
        const auto iim = host().create<Double>("iim", motors_only.setup);
        const Values zero(c.model().nv(), 0.0);
        Values tau = zero, wanted(c.model().nv());
        Rng rng(3);
        const Values u = rng.vector(iim->inputs().size());
        Values got = iim->evaluate(c.state.q, c.state.v, zero).free_acceleration;
        const Values Bhat = iim->evaluate(c.state.q, c.state.v, zero).input_matrix;
        for (std::size_t i = 0; i < got.size(); ++i) {
          for (std::size_t k = 0; k < u.size(); ++k) got[i] += Bhat[i * u.size() + k] * u[k];
        }
        SpanningMotion<double> motion(c.model());
        motion.update(c.state.q.data(), nullptr);
        Values spanning(c.model().spanning_nv(), 0.0);
        for (const auto& m : iim->inputs().motors()) spanning[m.rate] += u[m.column];
        motion.reduce(spanning.data(), tau.data());
        host()
            .create<ForwardDynamics<double>>("c-aba", c.setup.model)
            ->evaluate(c.state.q, c.state.v, tau, wanted);
        EXPECT_LE(relative_difference(got, wanted), agreed);
      },
      4);
}

TEST(InputMatrixTest, TaskBlockIsTheOffDiagonalOneOfTheDelassusMatrix) {
  for_each_case(
      [](const TaskCase& c) {
        TaskCase task = c;
        task.setup.end_effectors = random_end_effectors(c.model(), 77);
        std::erase_if(task.setup.inputs, [](const Input& i) { return !i.joint.empty(); });
        if (task.setup.inputs.empty()) return;
        espalier::Setup both = task.setup;
        both.inputs.clear();
        for (const Input& i : task.setup.inputs) both.end_effectors.push_back(i.contact);
        const auto delassus = host().create<InverseOsim<double>>("c-pv-osimr", both);
        const std::size_t all = delassus->task().size();
        Values A(all * all);
        delassus->evaluate(c.state.q, A);
        for (const auto& [name, algorithm] : every<Double>(task.setup)) {
          const auto& got = answer(*algorithm, task, task.state);
          const std::size_t m = algorithm->inputs().size(), t = algorithm->task_size();
          Values wanted(t * m);
          for (std::size_t i = 0; i < t; ++i) {
            std::copy_n(A.begin() + i * all + t, m, wanted.begin() + i * m);
          }
          EXPECT_LE(relative_difference(got.task_input_matrix, wanted), agreed) << name;
        }
      },
      4);
}

TEST(InputMatrixTest, TaskAccelerationIsThatOfOperationalSpace) {
  for_each_case(
      [](const TaskCase& c) {
        if (c.setup.end_effectors.empty()) return;
        const Wrenches<double> wrenches = c.state.wrenches<double>(c.setup.model);
        const auto task = host().create<OperationalSpace<double>>("dense", c.setup);
        const Values wanted =
            task->evaluate(c.state.q, c.state.v, c.state.tau, &wrenches).free_acceleration;
        EXPECT_LE(relative_difference(answer("iim", c).task_free_acceleration, wanted), agreed);
      },
      2);
}

TEST(InputMatrixTest, EachLaneOfAPackIsWhatDoubleGives) {
  for (int seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    const TaskCase c = case_of(seed);
    State states[Pack::size];
    const std::size_t nq = c.model().nq(), nv = c.model().nv();
    std::vector<Pack> q(nq), v(nv), tau(nv);
    for (int k = 0; k < Pack::size; ++k) {
      State& s = states[k] = random_cluster_state(c.model(), 100 * seed + k);
      s.wrenches_on = c.state.wrenches_on;  // the same in all lanes
      for (std::size_t i = 0; i < nq; ++i) q[i].set(k, s.q[i]);
      for (std::size_t i = 0; i < nv; ++i) v[i].set(k, s.v[i]), tau[i].set(k, s.tau[i]);
    }
    const Wrenches<Pack> wrenches = c.state.wrenches<Pack>(c.setup.model);
    const auto together = host().create<InputMatrix<Pack>>("iim", c.setup);
    const InputMatrix<Pack>::Answer all = together->evaluate(q, v, tau, &wrenches);
    const auto of_lane = [](const std::vector<Pack>& x, int k) {
      Values out;
      for (const Pack& p : x) out.push_back(lane(p, k));
      return out;
    };
    const auto alone = host().create<Double>("iim", c.setup);
    for (int k = 0; k < Pack::size; ++k) {
      const Double::Answer got{of_lane(all.input_matrix, k), of_lane(all.free_acceleration, k),
                               of_lane(all.task_input_matrix, k),
                               of_lane(all.task_free_acceleration, k)};
      EXPECT_LE(difference(got, answer(*alone, c, states[k])), agreed);
    }
  }
}

TEST(InputMatrixTest, CountingGivesTheValuesUnderTheirNames) {
  for (int seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    const TaskCase c = case_of(seed);
    Inputs inputs{c.state.q, c.state.v, c.state.tau, {}};
    Results wanted, results;
    host().create<Double>("dense", c.setup)->solve(inputs, wanted);
    const auto counting = host().create<InputMatrix<Count>>("iim", c.setup);
    for (const bool fold : {false, true}) {
      fold_constants() = fold;
      operation_counts() = {};
      counting->solve(inputs, results);
      fold_constants() = false;
      ASSERT_EQ(results.size(), c.setup.end_effectors.empty() ? 2u : 4u);
      for (std::size_t k = 0; k < results.size(); ++k) {
        EXPECT_EQ(results[k].name, wanted[k].name);
        EXPECT_EQ(results[k].rows, wanted[k].rows);
        EXPECT_EQ(results[k].column_count, wanted[k].column_count);
        EXPECT_LE(relative_difference(results[k].values, wanted[k].values), agreed)
            << results[k].name;
      }
      if (c.model().nv() > 0) EXPECT_GT(operation_counts().multiplications, 0);
    }
  }
}

TEST(InputMatrixTest, ASecondCallDoesNotDependOnTheFirst) {
  for (int seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    const TaskCase c = case_of(seed);
    const State other = random_cluster_state(c.model(), 7000 + seed);
    for (const auto& [name, algorithm] : every<Double>(c.setup)) {
      const Double::Answer first = answer(*algorithm, c, c.state);
      answer(*algorithm, c, other);
      const Double::Answer again = answer(*algorithm, c, c.state);
      EXPECT_EQ(again.input_matrix, first.input_matrix) << name;
      EXPECT_EQ(again.free_acceleration, first.free_acceleration) << name;
      EXPECT_EQ(again.task_input_matrix, first.task_input_matrix) << name;
      EXPECT_EQ(again.task_free_acceleration, first.task_free_acceleration) << name;
    }
  }
}

template <class T>
int expect_no_allocation(const TaskCase& c) {
  int checked = 0;
  const Wrenches<T> wrenches = c.state.wrenches<T>(c.setup.model);
  const auto convert = [](const Values& x) { return std::vector<T>(x.begin(), x.end()); };
  const auto q = convert(c.state.q), v = convert(c.state.v), tau = convert(c.state.tau);
  for (const auto& [name, algorithm] : every<InputMatrix<T>>(c.setup)) {
    const Entry& e = host().registry().find_algorithm("input-matrix", name);
    if (e.about.summary.find("allocates") != std::string::npos) continue;
    const long before = *cli::allocation_count();
    algorithm->evaluate(q, v, tau, &wrenches);  // the first call counts, too
    EXPECT_EQ(*cli::allocation_count() - before, 0) << name;
    ++checked;
  }
  return checked;
}

TEST(InputMatrixTest, TakesNoMemoryWhereItDoesNotSaySo) {
  if (!cli::allocation_count()) GTEST_SKIP() << "this C library gives no way to count allocations";
  for (int seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    const TaskCase c = case_of(seed);
    EXPECT_EQ(expect_no_allocation<double>(c), 2);  // iim, eufm
    EXPECT_EQ(expect_no_allocation<Pack>(c), 1);
    EXPECT_EQ(expect_no_allocation<Count>(c), 1);
  }
}

TEST(InputMatrixTest, PositionsThatAreNoneGiveResultsThatAreNone) {
  const TaskCase c = with_inputs(on_tree(20), 0);
  State s = c.state;
  for (int k = 0; k < c.model().joints()[0].nq; ++k) {
    s.q[k] = std::numeric_limits<double>::quiet_NaN();
  }
  for (const auto& [name, algorithm] : every<Double>(c.setup)) {
    const Double::Answer& got = answer(*algorithm, c, s);
    EXPECT_TRUE(std::isnan(got.free_acceleration.back())) << name;
    // What it leaves behind does not reach the next call.
    EXPECT_LE(difference(answer(*algorithm, c, c.state), answer("dense", c)), agreed) << name;
  }
}

TEST(InputMatrixTest, ClosedFormRefusesSeveralOutputBodiesAndPointsToOthers) {
  int refused = 0;
  for (int seed = 0; seed < task_robots; ++seed) {
    const TaskCase c = with_inputs(on_clusters(seed), seed);
    const auto clusters = c.model().clusters();
    const bool several = std::any_of(clusters.begin(), clusters.end(),
                                     [](const Cluster& k) { return k.supports.size() > 1; });
    if (!several) continue;
    ++refused;
    try {
      host().create<Double>("iim-closed-form", c.setup);
      ADD_FAILURE() << "took a cluster with several output bodies, seed " << seed;
    } catch (const Unsupported& error) {
      EXPECT_NE(std::string(error.what()).find("'iim'"), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, 20);
}

// --- inputs -----------------------------------------------------------------------------------

ModelPtr a_robot() {
  RobotOptions options;
  options.seed = 6;
  options.bodies = 8;
  options.floating_base = true;
  return host().compile(random_robot(host().registry(), options));
}

std::string refusal_of(const std::vector<Input>& inputs) {
  try {
    InputColumns(*a_robot(), inputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}
void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' is missing in: " << text;
  }
}

TEST(InputColumnsTest, NamesAreThoseOfJointsAndLinksOrGivenOnes) {
  const ModelPtr model = a_robot();
  const auto joints = model->joints();
  const auto of_one = std::find_if(joints.begin(), joints.end(), [](auto& j) { return j.nv == 1; });
  const auto of_six = std::find_if(joints.begin(), joints.end(), [](auto& j) { return j.nv == 6; });
  ASSERT_NE(of_one, joints.end());
  ASSERT_NE(of_six, joints.end());
  const std::string link = model->links().back().name;
  const InputColumns inputs(*model, {{.joint = of_one->name},
                                     {.joint = of_six->name},
                                     {.contact = EndEffector::contact(link)},
                                     {.name = "foot", .contact = EndEffector::weld(link)},
                                     {.name = "motor", .joint = of_one->name}});
  std::vector<std::string> wanted{of_one->name};
  for (int k = 0; k < 6; ++k) wanted.push_back(of_six->name + "[" + std::to_string(k) + "]");
  for (int k = 0; k < 3; ++k) wanted.push_back(link + "[" + std::to_string(k) + "]");
  for (int k = 0; k < 6; ++k) wanted.push_back("foot[" + std::to_string(k) + "]");
  wanted.push_back("motor");
  EXPECT_EQ(inputs.names(), wanted);
  EXPECT_EQ(inputs.size(), 17);
  EXPECT_EQ(inputs.contacts()[1].first, 10);
  EXPECT_EQ(inputs.motors().back().column, 16);
}

TEST(InputColumnsTest, MotorsAreOnAllIndependentJointsButFreeOnes) {
  for_each_case(
      [](const TaskCase& c) {
        std::set<std::string> wanted, got;
        for (const Coordinate& x : c.model().coordinates()) {
          const Joint& joint = c.model().joint(x.joint);
          const bool free = joint.nv == 6;
          if (!free) wanted.insert(x.joint);
        }
        for (const Input& input : motors(c.model())) {
          EXPECT_TRUE(got.insert(input.joint).second) << input.joint << " is there twice";
        }
        EXPECT_EQ(got, wanted);
      },
      4);
}

TEST(InputColumnsTest, BadInputsAreNamed) {
  const ModelPtr model = a_robot();
  const std::string joint = model->joints().back().name, link = model->links().back().name;
  expect_words(refusal_of({}), {"number of inputs is 0", "\"inputs\""});
  expect_words(refusal_of({{}}), {"inputs[0]", "joint and link are empty"});
  expect_words(refusal_of({{.joint = "kneee"}}), {"joint 'kneee' is unknown", "'" + joint + "'"});
  expect_words(refusal_of({{.contact = EndEffector::contact("hand")}}),
               {"link 'hand' is unknown", "'" + model->links().front().name + "'"});
  expect_words(refusal_of({{.joint = joint, .contact = EndEffector::contact(link)}}),
               {"inputs[0] on joint '" + joint + "'", "expected none"});
  EndEffector empty;
  empty.link = link;
  expect_words(refusal_of({{.joint = joint}, {.contact = empty}}),
               {"inputs[1] on link '" + link + "'", "number of rows is 0"});
  EndEffector bad = EndEffector::contact(link);
  bad.rows[1][4] = std::numeric_limits<double>::quiet_NaN();
  expect_words(refusal_of({{.contact = bad}}), {link, "row holds nan"});
  expect_words(refusal_of({{.joint = joint}, {.joint = joint}}),
               {"inputs[1]", "inputs[0]", "column '" + joint, "\"name\""});
  expect_words(refusal_of({{.name = "a[1]", .joint = joint},
                           {.name = "a", .contact = EndEffector::contact(link)}}),
               model->joints().back().nv == 1
                   ? std::vector<std::string>{"column 'a[1]'", "inputs[0] on joint"}
                   : std::vector<std::string>{"none"});
}

TEST(InputColumnsTest, SizesAreChecked) {
  const ModelPtr model = a_robot();
  const espalier::Setup setup{.model = model, .inputs = default_inputs(*model)};
  const State s = random_state(*model, 1);
  for (const auto& [name, a] : every<Double>(setup)) {
    EXPECT_EQ(a->task(), nullptr);
    EXPECT_THROW(a->evaluate(Values(1), s.v, s.tau), SizeMismatch) << name;
    EXPECT_THROW(a->evaluate(s.q, Values(1), s.tau), SizeMismatch) << name;
    EXPECT_THROW(a->evaluate(s.q, s.v, Values(1)), SizeMismatch) << name;
    const Wrenches<double> others(case_of(41).setup.model);
    EXPECT_THROW(a->evaluate(s.q, s.v, s.tau, &others), SizeMismatch) << name;
    EXPECT_TRUE(a->evaluate(s.q, s.v, s.tau).task_input_matrix.empty()) << name;
  }
}

}  // namespace
}  // namespace espalier::test::input_matrix_test
