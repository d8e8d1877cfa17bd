#include "espalier/plugins/registry.hpp"

#include "espalier/host/exact_algorithm.hpp"
#include "espalier/kernel/model/packs/compiled_pack_code.hpp"
#include "espalier/kernel/model/packs/late_pack_code.hpp"
#include "tests/plugins/entries.hpp"
#include "tests/plugins/helpers.hpp"

namespace espalier::registry_test {
namespace {

using namespace test;

/// Turns about its axis.
struct Hinge {
  static constexpr int nq = 1, nv = 1;
  using Subspace = RevoluteAxes;
  explicit Hinge(const JointSpec& /*joint*/) {}
  static std::vector<LoopRow> loop_rows(const JointSpec& joint) {
    std::vector<LoopRow> rows;
    const auto [u, w] = across(joint.axis);
    keep_offset(u, rows);
    keep_offset(w, rows);
    return rows;
  }
  template <class T>
  auto position(const T* q) const {
    return RotationZ<T>::by(q[0]);
  }
};

/// A format that answers for the endings that its type gives.
template <char first, char... rest>
class Endings final : public Format {
 public:
  std::vector<std::string> extensions() const override { return {{'.', first, rest...}}; }
  Description read(std::string_view /*text*/, const std::string& /*origin*/,
                   const SubMechanisms& /*parts*/) const override {
    return {};
  }
};

class RegistryTest : public ::testing::Test {
 protected:
  void add_algorithm(const std::string& name, const Capabilities& capabilities) {
    Registrar registrar(name + ".so");
    registrar.algorithm<DoublingByAddition>(named(name), capabilities);
    registry_.commit(std::move(registrar));
  }
  void add_hinge() {
    Registrar registrar("hinge.so");
    registrar.joint<Hinge>(named("hinge"));
    registry_.commit(std::move(registrar));
  }
  ModelPtr compile(const Description& robot) {
    add_hinge();
    return Model::compile(robot, registry_);
  }
  Verdict can(const std::string& name, const ModelPtr& model) const {
    return registry_.can(registry_.find_algorithm("test-doubling", name), *model);
  }
  auto create(const std::string& name, const ModelPtr& model) const {
    return registry_.create<Doubling<double>>(name, ::espalier::Setup{model});
  }

  Registry registry_;
};

/// j2 follows j1.
Description coupled_chain() {
  Description robot = chain(3, "hinge");
  robot.joints[1].mimic = Mimic{"j1", 2.0, 0.0};
  return robot;
}

/// Two branches of two links, tied at both levels: the second tie stands on both first links.
Description coupled_branches() {
  Description robot = chain(4, "hinge");
  robot.joints[2].parent = "l0";
  robot.joints[2].mimic = Mimic{"j1", -1.0, 0.0};
  robot.joints[3].mimic = Mimic{"j2", -1.0, 0.0};
  return robot;
}

/// A closed chain of four bars in the plane.
Description closed_chain() {
  Description robot = chain(3, "hinge");
  for (JointDescription& joint : robot.joints) {
    joint.axis = {0, 0, 1};
    joint.origin.xyz = {0.3, 0, 0};
  }
  robot.joints[0].independent = false;
  robot.joints[1].independent = false;
  LoopDescription loop;
  loop.name = "pin";
  loop.type = "hinge";
  loop.predecessor = "l0";
  loop.successor = "l3";
  loop.axis = {0, 0, 1};
  robot.loops.push_back(loop);
  return robot;
}

TEST_F(RegistryTest, EntriesAreInTheOrderOfTheirNames) {
  Registrar registrar("a.so");
  for (const char* name : {"c", "a", "b"}) registrar.format<EmptyFormat>(named(name));
  registry_.commit(std::move(registrar));
  std::vector<std::string> names;
  for (const Entry* e : registry_.entries(Kind::format)) names.push_back(e->about.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(RegistryTest, EntriesStayWhereTheyAre) {
  add_hinge();
  const Entry& entry = registry_.find(Kind::joint, "hinge");
  for (int i = 0; i < 200; ++i) add_algorithm("a" + std::to_string(i), {});
  EXPECT_EQ(&registry_.find(Kind::joint, "hinge"), &entry);
  EXPECT_EQ(entry.about.name, "hinge");
}

TEST_F(RegistryTest, ReferencesIntoARegistrarStayValid) {
  Registrar registrar("a.so");
  Entry& first = registrar.add(Kind::format, named("first"));
  for (int i = 0; i < 100; ++i) registrar.format<EmptyFormat>(named("f" + std::to_string(i)));
  EXPECT_EQ(&first, registrar.entries().front().get());
}

TEST_F(RegistryTest, OneNameMayBeOfSeveralKinds) {
  Registrar registrar("a.so");
  registrar.format<EmptyFormat>(named("x"));
  registrar.joint<Hinge>(named("x"));
  registrar.algorithm<DoublingByAddition>(named("x"), {});
  registry_.commit(std::move(registrar));
  EXPECT_EQ(inventory(registry_).size(), 3u);
}

TEST_F(RegistryTest, OneAlgorithmMaySolveSeveralProblems) {
  Registrar registrar("a.so");
  registrar.algorithm<DoublingByAddition>(named("x"), {});
  registrar.algorithm<DoublingByAddition>(named("x"), {});
  registrar.entries().back()->problem = "another-problem";
  registry_.commit(std::move(registrar));
  ASSERT_EQ(registry_.algorithm_named("x").size(), 2u);
  EXPECT_EQ(registry_.algorithm_named("x")[0]->problem, "test-doubling");
  EXPECT_EQ(registry_.problems(), (std::vector<std::string>{"another-problem", "test-doubling"}));
  EXPECT_EQ(registry_.algorithms("another-problem").size(), 1u);
  EXPECT_EQ(registry_.algorithms().size(), 2u);
}

TEST_F(RegistryTest, DuplicateLeavesTheRegistryAsItWas) {
  add_algorithm("x", {});
  const std::vector<std::string> before = inventory(registry_);
  Registrar registrar("late.so");
  registrar.format<EmptyFormat>(named("new"));
  registrar.algorithm<DoublingByAddition>(named("x"), {});
  registrar.format<EmptyFormat>(named("newer"));
  EXPECT_EQ(error_of<DuplicateName>([&] { registry_.commit(std::move(registrar)); }),
            "late.so: algorithm 'x' for test-doubling is registered by x.so already, expected a "
            "name of its own");
  EXPECT_EQ(inventory(registry_), before);
}

TEST_F(RegistryTest, NullContentIsRefusedForEveryKind) {
  for (const Kind kind : {Kind::joint, Kind::sub_mechanism, Kind::format, Kind::algorithm,
                          Kind::integrator, Kind::qp_solver, Kind::pack_code}) {
    Registrar registrar("hollow.so");
    registrar.add(kind, named("hollow"));
    const std::string text = error_of<PluginError>([&] { registry_.commit(std::move(registrar)); });
    expect_contains(text, "hollow.so: " + std::string(to_string(kind)) + " 'hollow'");
    expect_contains(text, " has no ");
  }
  EXPECT_TRUE(inventory(registry_).empty());
}

/// A knob that turns another, by a law of its own class.
struct Knob {
  static constexpr int positions = 2, equations = 1;
  static constexpr std::array<std::string_view, 1> inputs{"base"};
  static constexpr std::array<std::string_view, 0> parameters{}, outputs{};
  explicit Knob(const PartSpec& /*spec*/) {}
  template <class T>
  void phi(const T* q, T* phi) const {
    phi[0] = std::sin(q[0]) + std::pow(q[1], 3) - std::atan2(q[1], std::cos(q[0]));
  }
  void build(Assembly& a) const {
    a.body("first", "revolute", "base", std::nullopt);
    a.body("second", "revolute", "base", std::nullopt);
    a.law<Knob>("nkob", {"first", "second"}, {});
  }
};

TEST_F(RegistryTest, LawOfAClassThatIsRegisteredByAnotherNameIsRefused) {
  Registrar registrar("knobs.so");
  registrar.sub_mechanism<Knob>(named("knob"));
  EXPECT_EQ(
      error_of<PluginError>([&] { registry_.commit(std::move(registrar)); }),
      "knobs.so: sub-mechanism 'knob' asks for the law 'nkob' of a class of its own, expected "
      "a registered one (register the class by that name: sub_mechanism<M>({.name = 'nkob'}))");
  EXPECT_TRUE(inventory(registry_).empty());
}

TEST_F(RegistryTest, LawsMayCallTheStandardLibrarysFunctionsAtEveryScalar) {
  Registrar registrar("knobs.so");
  registrar.sub_mechanism<Knob>(named("nkob"));
  registry_.commit(std::move(registrar));
  const auto law = registry_.law("nkob").make({});
  const double q[]{0.3, 0.2};
  double phi = 0.0, K[2], terms[64];
  law->phi(q, &phi);
  EXPECT_DOUBLE_EQ(phi, std::sin(0.3) + 0.2 * 0.2 * 0.2 - std::atan2(0.2, std::cos(0.3)));
  Pack qs[]{Pack(0.3), Pack(0.2)}, phis;
  law->phi(qs, &phis);
  EXPECT_NEAR(phis[0], phi, 1e-14);  // sines of packs have a few roundings more
  // d/dq0 [sin - atan2(y, cos)] = cos - y sin / (cos^2 + y^2); d/dq1 = 3 y^2 - cos / (cos^2 + y^2).
  const double c = std::cos(0.3), s = std::sin(0.3), r2 = c * c + 0.04;
  ASSERT_LE(law->terms(), 64);
  law->jacobian(q, K, terms);
  EXPECT_NEAR(K[0], c - 0.2 * s / r2, 1e-14);  // a few roundings of numbers near one
  EXPECT_NEAR(K[1], 3 * 0.04 - c / r2, 1e-14);
}

TEST_F(RegistryTest, CodeOfPacksIsThatForAnyProcessorUntilAPluginBringsAnother) {
  EXPECT_EQ(registry_.pack_code().get(), &PackCode::plain());
  Registrar registrar("packs.so");
  registrar.pack_code<espalier::detail::CompiledPackCode>(named("packs"));
  registry_.commit(std::move(registrar));
  EXPECT_EQ(registry_.pack_code(), registry_.find(Kind::pack_code, "packs").pack_code);
  EXPECT_NE(registry_.pack_code().get(), &PackCode::plain());
}

TEST_F(RegistryTest, CodeOfPacksIsLookedForWhenAModelAsksOrTheRegistryEnds) {
  const auto packs = [] {
    Registrar registrar("packs.so");
    registrar.pack_code<espalier::detail::CompiledPackCode>(named("packs"));
    return registrar;
  };
  auto registry = std::make_unique<Registry>();
  int opened = 0;
  registry->promise(
      {"packs.so", {{Kind::pack_code, "", "packs"}}, [&opened, &packs, to = registry.get()] {
         ++opened;
         to->commit(packs());
       }});
  const std::shared_ptr<LatePackCode> late = registry->late_pack_code();
  EXPECT_EQ(opened, 0);
  registry.reset();
  EXPECT_EQ(opened, 1);
  EXPECT_NE(&late->get(), &PackCode::plain());
  EXPECT_EQ(&late->get(), &late->get());
  EXPECT_EQ(opened, 1);
}

TEST_F(RegistryTest, CodeOfPacksWhosePluginIsGoneWhenTheRegistryEndsIsThatForAnyProcessor) {
  auto registry = std::make_unique<Registry>();
  registry->promise({"packs.so", {{Kind::pack_code, "", "packs"}}, [] {
                       throw PluginError("packs.so: file is missing, expected a library");
                     }});
  const std::shared_ptr<LatePackCode> late = registry->late_pack_code();
  EXPECT_THROW(late->get(), PluginError);
  registry.reset();
  EXPECT_EQ(&late->get(), &PackCode::plain());
}

TEST_F(RegistryTest, CodeOfPacksThatNoModelWaitsForIsNotLookedFor) {
  int opened = 0;
  {
    Registry registry;
    registry.promise({"packs.so", {{Kind::pack_code, "", "packs"}}, [&] { ++opened; }});
  }
  EXPECT_EQ(opened, 0);
}

TEST_F(RegistryTest, UnknownNameListsTheKnownOnesAndWhereMoreComeFrom) {
  add_hinge();
  EXPECT_EQ(
      error_of<UnknownName>([&] { registry_.joint_type("hinged"); }),
      "joint type 'hinged' is unknown, expected hinge (did you mean 'hinge'?); more come from "
      "plugins, see `espalier list plugins` and ESPALIER_PLUGIN_PATH");
}

TEST_F(RegistryTest, EndingsOfFormatsBeginWithAPoint) {
  class Arms final : public Format {
   public:
    std::vector<std::string> extensions() const override { return {"arm"}; }
    using Format::read;
    Description read(std::string_view, const std::string&, const SubMechanisms&) const override {
      return {};
    }
  };
  Registrar registrar("arms.so");
  registrar.format<Arms>(named("arms"));
  expect_contains(error_of<PluginError>([&] { registry_.commit(std::move(registrar)); }),
                  "arms.so: format 'arms': ending is 'arm', expected one that begins with a point");
}

TEST_F(RegistryTest, UnknownAlgorithmNamesTheProblemsThatItsNamesakeSolves) {
  add_algorithm("x", {});
  expect_contains(
      error_of<UnknownName>([&] { registry_.find_algorithm("forward-dynamics", "x"); }),
      "algorithm 'x' for forward-dynamics is unknown, expected none (none is known); 'x' solves "
      "test-doubling;");
}

TEST_F(RegistryTest, FormatIsFoundByTheLongestEndingInAnyCase) {
  Registrar registrar("formats.so");
  registrar.format<Endings<'r', 'b'>>(named("short"));
  registrar.format<Endings<'a', '.', 'r', 'b'>>(named("long"));
  registrar.format<Endings<'r', 'b'>>(named("late"));
  registry_.commit(std::move(registrar));
  const auto format = [&](const char* name) { return registry_.find(Kind::format, name).format; };
  EXPECT_EQ(&registry_.format_for("robots/x.rb"), format("short").get());
  EXPECT_EQ(&registry_.format_for("robots/x.RB"), format("short").get());
  EXPECT_EQ(&registry_.format_for("robots/x.a.rb"), format("long").get());
}

TEST_F(RegistryTest, TwoFormatsOfOneEndingAreToldOnceWithBothNames) {
  for (const char* name : {"first", "second"}) {
    Registrar registrar(std::string(name) + ".so");
    registrar.format<Endings<'t', 'w', 'o'>>(named(name));
    if (std::string_view(name) == "first") registrar.format<Endings<'o', 'n', 'e'>>(named("one"));
    registry_.commit(std::move(registrar));
  }
  const auto log_of = [&](const char* file) {
    ::testing::internal::CaptureStderr();
    EXPECT_NE(&registry_.format_for(file), registry_.find(Kind::format, "second").format.get());
    return ::testing::internal::GetCapturedStderr();
  };
  expect_contains(log_of("x.two"),
                  "format of file name ending '.two' is 'first' of first.so and 'second' of "
                  "second.so, expected one (the first is taken");
  EXPECT_EQ(log_of("y.two"), "");
  EXPECT_EQ(log_of("x.one"), "");
}

TEST_F(RegistryTest, UnknownFormatListsTheKnownEndings) {
  Registrar registrar("formats.so");
  registrar.format<Endings<'u', 'r', 'd', 'f'>>(named("urdf"));
  registry_.commit(std::move(registrar));
  expect_contains(error_of<UnknownName>([&] { registry_.format_for("robots.d/x.udf"); }),
                  "robots.d/x.udf: format of file name ending '.udf' is unknown, expected .urdf "
                  "(did you mean '.urdf'?)");
  expect_contains(error_of<UnknownName>([&] { registry_.format_for("robots.urdf/x"); }),
                  "ending '' is unknown");
  expect_contains(error_of<UnknownName>([&] { registry_.format_for("robots/.urdf"); }),
                  "format of file name '.urdf' is unknown, expected a name before the ending");
}

TEST_F(RegistryTest, AlgorithmIsMadeAtEveryScalarThatItIsRegisteredAt) {
  add_algorithm("x", {});
  const ModelPtr model = compile(chain(1, "hinge"));
  EXPECT_NE(registry_.create<Doubling<double>>("x", {model}), nullptr);
  EXPECT_NE(registry_.create<Doubling<Pack>>("x", {model}), nullptr);
  EXPECT_NE(registry_.create<Doubling<Count>>("x", {model}), nullptr);
  EXPECT_EQ(can("x", model).scalars.size(), static_cast<std::size_t>(scalar_count));
}

TEST_F(RegistryTest, ScalarThatAnAlgorithmLacksIsRefused) {
  Registrar registrar("x.so");
  registrar.algorithm_at_double<DoublingByAddition>(named("x"), {});
  registry_.commit(std::move(registrar));
  const ModelPtr model = compile(chain(1, "hinge"));
  EXPECT_NE(create("x", model), nullptr);
  expect_contains(
      error_of<Unsupported>([&] { (void)registry_.create<Doubling<Pack>>("x", {model}); }),
      "x: scalar is pack, expected double (algorithm 'x' for test-doubling of x.so");
}

TEST_F(RegistryTest, NullModelIsRefused) {
  add_algorithm("x", {});
  expect_contains(error_of<InvalidModel>([&] { (void)create("x", nullptr); }), "x: model is null");
}

TEST_F(RegistryTest, TreeNeedsNoCapability) {
  add_algorithm("x", {});
  const Verdict verdict = can("x", compile(chain(3, "hinge")));
  EXPECT_TRUE(verdict.ok);
  EXPECT_TRUE(verdict.exact);
  EXPECT_EQ(verdict.obstacle, "");
}

TEST_F(RegistryTest, CouplingIsRefusedWithClusterConstraintAndAlternativesExactOnesFirst) {
  add_algorithm("x", {});
  add_algorithm("approximate", {.couplings = true, .exact = false});
  add_algorithm("exact", {.couplings = true});
  add_algorithm("useless", {.loops = true});
  const ModelPtr model = compile(coupled_chain());
  const Verdict verdict = can("x", model);
  EXPECT_FALSE(verdict.ok);
  EXPECT_EQ(verdict.alternatives, (std::vector<std::string>{"exact", "approximate"}));
  const std::string text = error_of<Unsupported>([&] { (void)create("x", model); });
  expect_contains(text, "x: cluster 'j1+j2' is tied by a coupling (");
  expect_contains(text, ", expected a tree (use 'exact' or the approximate 'approximate'; ");
  expect_contains(text, "--mimic ignore");
  EXPECT_NE(create("exact", model), nullptr);
  EXPECT_FALSE(can("approximate", model).exact);
}

TEST_F(RegistryTest, ExactAlgorithmIsTheFirstThatCanAtTheScalar) {
  const ModelPtr model = compile(coupled_chain());
  const auto found = [&](int scalar) {
    const Entry* entry = exact_algorithm(registry_, "test-doubling", *model, scalar);
    return entry == nullptr ? std::string("none") : entry->about.name;
  };
  constexpr int at_double = ScalarTraits<double>::index, at_pack = ScalarTraits<Pack>::index;
  add_algorithm("refuses", {});
  add_algorithm("approximate", {.couplings = true, .exact = false});
  EXPECT_EQ(found(at_double), "none");
  Registrar registrar("at double.so");
  registrar.algorithm_at_double<DoublingByAddition>(named("at double"), {.couplings = true});
  registry_.commit(std::move(registrar));
  EXPECT_EQ(found(at_pack), "none");
  add_algorithm("everywhere", {.couplings = true});
  EXPECT_EQ(found(at_double), "at double");
  EXPECT_EQ(found(at_pack), "everywhere");
}

TEST_F(RegistryTest, LoopIsMoreThanACoupling) {
  add_algorithm("x", {.couplings = true});
  add_algorithm("y", {.couplings = true, .loops = true});
  const ModelPtr model = compile(closed_chain());
  EXPECT_TRUE(can("y", model).ok);
  const std::string text = error_of<Unsupported>([&] { (void)create("x", model); });
  expect_contains(text,
                  "is tied by a loop ('pin'), expected a tree or constant couplings (use "
                  "'y')");
}

TEST_F(RegistryTest, SeveralOutputBodiesAreACapabilityOfTheirOwn) {
  add_algorithm("x", {.couplings = true, .loops = true});
  add_algorithm("y", {.couplings = true, .several_supports = true});
  const ModelPtr model = compile(coupled_branches());
  const Verdict verdict = can("x", model);
  expect_contains(verdict.obstacle, "hangs on 2 supporting bodies, expected one");
  EXPECT_EQ(verdict.alternatives, (std::vector<std::string>{"y"}));
}

TEST_F(RegistryTest, NoAlternativeIsSaid) {
  add_algorithm("x", {});
  const ModelPtr model = compile(closed_chain());
  expect_contains(error_of<Unsupported>([&] { (void)create("x", model); }),
                  "(no known algorithm for test-doubling can)");
}

TEST(SuggestTest, NearestNameIsAsked) {
  EXPECT_EQ(suggest("revolut", {"prismatic", "revolute"}),
            ", expected one of prismatic, revolute (did you mean 'revolute'?)");
  // Hyphens are no letters: 'caba' is 'c-aba' before it is 'aba'.
  EXPECT_EQ(suggest("caba", {"aba", "c-aba"}),
            ", expected one of aba, c-aba (did you mean 'c-aba'?)");
  EXPECT_EQ(suggest("ABBA", {"aba", "rnea"}), ", expected one of aba, rnea (did you mean 'aba'?)");
}

TEST(SuggestTest, NothingNearIsNotAsked) {
  EXPECT_EQ(suggest("helical", {"aba", "rnea"}), ", expected one of aba, rnea");
  EXPECT_EQ(suggest("x", {"y"}), ", expected y");
  EXPECT_EQ(suggest("", {"y"}), ", expected y");
}

TEST(SuggestTest, NothingKnownIsSaid) {
  EXPECT_EQ(suggest("x", {}), ", expected none (none is known)");
}

}  // namespace
}  // namespace espalier::registry_test
