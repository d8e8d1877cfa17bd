#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "cli/allocations.hpp"
#include "espalier/kernel/problems/dynamics/constrained_dynamics.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "espalier/kernel/problems/operational_space/operational_space.hpp"
#include "tests/support/end_effectors.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/state.hpp"

// evaluate() takes all that it needs when it is bound. Algorithms that allocate say so.

namespace espalier::test::allocation_test {
namespace {

/// A call's arguments, at any scalar.
template <class T>
struct Case {
  explicit Case(const ModelPtr& model) : wrenches(model) {
    const State s = random_cluster_state(*model, 5);
    const auto convert = [](const std::vector<double>& in) {
      return std::vector<T>(in.begin(), in.end());
    };
    q = convert(s.q), v = convert(s.v), tau = convert(s.tau), vdot = convert(s.vdot);
    out.resize(v.size());
    matrix.resize(v.size() * v.size());
    jacobian.resize(6 * v.size());
    const std::size_t m = Task(*model, with_tips(model).end_effectors).size();
    task.resize(m);
    osim.resize(m * m);
    wrenches = s.wrenches<T>(model);
  }
  std::vector<T> q, v, tau, vdot, out, matrix, jacobian, task, osim;
  Wrenches<T> wrenches;
};

template <class T>
void call(ForwardDynamics<T>& a, Case<T>& c) {
  a.evaluate(c.q, c.v, c.tau, c.out, &c.wrenches);
}
template <class T>
void call(InverseDynamics<T>& a, Case<T>& c) {
  a.evaluate(c.q, c.v, c.vdot, c.out, &c.wrenches);
}
template <class T>
void call(BiasForce<T>& a, Case<T>& c) {
  a.evaluate(c.q, c.v, c.out, &c.wrenches);
}
template <class T>
void call(MassMatrix<T>& a, Case<T>& c) {
  a.evaluate(c.q, c.matrix);
}
template <class T>
void call(Kinematics<T>& a, Case<T>& c) {
  a.evaluate(c.q, c.v, c.vdot);
  a.acceleration(a.model().links().back());
}
template <class T>
void call(BodyJacobians<T>& a, Case<T>& c) {
  a.evaluate(c.q);
  a.jacobian(a.model().links().back(), c.jacobian);
}
template <class T>
void call(CenterOfMass<T>& a, Case<T>& c) {
  a.evaluate(c.q, c.v, c.vdot);
}
template <class T>
void call(Energy<T>& a, Case<T>& c) {
  a.evaluate(c.q, c.v);
}

template <class T>
void call(InverseOsim<T>& a, Case<T>& c) {
  a.evaluate(c.q, c.osim);
}
template <class T>
void call(OperationalSpace<T>& a, Case<T>& c) {
  a.evaluate(c.q, c.v, c.tau, &c.wrenches);
}
template <class T>
void call(ConstrainedDynamics<T>& a, Case<T>& c) {
  a.evaluate(c.q, c.v, c.tau, c.task, &c.wrenches);
}

/// Blocks taken by one call.
template <class T, class P>
long blocks(P& algorithm, Case<T>& c) {
  const long before = *cli::allocation_count();
  call(algorithm, c);
  return *cli::allocation_count() - before;
}

/// The first call counts, too: nothing is put off to it.
template <template <class> class P, class T>
int expect_no_allocation(const ModelPtr& model) {
  Case<T> c(model);
  int checked = 0;
  for (const Entry* e : host().registry().algorithms(P<T>::problem)) {  // approximate ones, too
    if (e->about.summary.find("allocates") != std::string::npos) continue;
    if (!e->algorithm[ScalarTraits<T>::index] || !host().registry().can(*e, *model).ok) continue;
    std::unique_ptr<P<T>> algorithm;
    try {
      algorithm = host().create<P<T>>(e->about.name, with_tips(model));
    } catch (const Unsupported& error) {  // approximations may know no rotors among the tips
      EXPECT_FALSE(e->capabilities.exact) << error.what();
      continue;
    }
    ++checked;
    const std::string call = e->about.name + " for " + e->problem + " on " + model->name();
    EXPECT_EQ(blocks(*algorithm, c), 0) << call << ", first call";
    EXPECT_EQ(blocks(*algorithm, c), 0) << call << ", second call";
  }
  return checked;
}

/// A tree, a robot with a dozen parts of every kind, and one with transmissions alone.
std::vector<ModelPtr> robots() {
  RobotOptions options;
  options.bodies = 40;
  options.floating_base = true;
  ClusterRobotOptions loops, transmissions;
  loops.parts = 12;
  transmissions.parts = 8;
  transmissions.kinds = {"geared", "train", "two_parents", "mimic", "across", "layers"};
  return {host().compile(random_robot(host().registry(), options)),
          host().compile(random_cluster_robot(host().registry(), loops)),
          host().compile(random_cluster_robot(host().registry(), transmissions))};
}

template <template <class> class P>
void expect_no_allocation_at_any_scalar() {
  if (!cli::allocation_count()) GTEST_SKIP() << "this C library gives no way to count allocations";
  for (const ModelPtr& model : robots()) {
#define ESPALIER_CHECK(T) EXPECT_GT((expect_no_allocation<P, T>(model)), 0) << #T;
    ESPALIER_SCALARS(ESPALIER_CHECK)
#undef ESPALIER_CHECK
  }
}
template <template <class> class P>
void expect_no_allocation_at_double() {
  if (!cli::allocation_count()) GTEST_SKIP() << "this C library gives no way to count allocations";
  for (const ModelPtr& model : robots()) EXPECT_GT((expect_no_allocation<P, double>(model)), 0);
}

TEST(AllocationTest, ForwardDynamicsTakeNoMemory) {
  expect_no_allocation_at_any_scalar<ForwardDynamics>();
}
TEST(AllocationTest, InverseDynamicsTakeNoMemory) {
  expect_no_allocation_at_any_scalar<InverseDynamics>();
}
TEST(AllocationTest, BiasForcesTakeNoMemory) { expect_no_allocation_at_any_scalar<BiasForce>(); }
TEST(AllocationTest, MassMatricesTakeNoMemory) { expect_no_allocation_at_any_scalar<MassMatrix>(); }
TEST(AllocationTest, KinematicsTakeNoMemory) { expect_no_allocation_at_any_scalar<Kinematics>(); }
TEST(AllocationTest, JacobiansTakeNoMemory) { expect_no_allocation_at_any_scalar<BodyJacobians>(); }
TEST(AllocationTest, CentresOfMassTakeNoMemory) {
  expect_no_allocation_at_any_scalar<CenterOfMass>();
}
TEST(AllocationTest, EnergiesTakeNoMemory) { expect_no_allocation_at_any_scalar<Energy>(); }
TEST(AllocationTest, InverseOsimsTakeNoMemory) {
  expect_no_allocation_at_any_scalar<InverseOsim>();
}
TEST(AllocationTest, OperationalSpaceTakesNoMemory) {
  expect_no_allocation_at_double<OperationalSpace>();
}
TEST(AllocationTest, ConstrainedDynamicsTakeNoMemory) {
  expect_no_allocation_at_double<ConstrainedDynamics>();
}

TEST(AllocationTest, CounterSeesNewAndMallocAndPlugins) {
  if (!cli::allocation_count()) GTEST_SKIP() << "this C library gives no way to count allocations";
  const long before = *cli::allocation_count();
  void* (*volatile take)(std::size_t) = &std::malloc;  // volatile: not optimized away
  std::free(take(10));
  EXPECT_EQ(*cli::allocation_count() - before, 1);
  void* (*volatile make)(std::size_t) = &::operator new;
  ::operator delete(make(10));
  EXPECT_EQ(*cli::allocation_count() - before, 2);

  RobotOptions options;
  const ModelPtr model = host().compile(random_robot(host().registry(), options));
  Case<double> c(model);
  int allocating = 0;
  for (const auto& [name, algorithm] : every<MassMatrix<double>>(model)) {
    const Entry& e = host().registry().find_algorithm("mass-matrix", name);
    if (e.about.summary.find("allocates") == std::string::npos) continue;
    ++allocating;
    EXPECT_GT(blocks(*algorithm, c), 0) << name << " says that it allocates";
  }
  EXPECT_GT(allocating, 0);
}

}  // namespace
}  // namespace espalier::test::allocation_test
