#include <cmath>
#include <stdexcept>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/plugins/registrar.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/torture/agreement.hpp"

namespace espalier::torture {

namespace {

/// What a law's author got wrong, or right.
enum Flaw {
  sound,         ///< smooth and solvable near zero
  constant,      ///< depends on nothing
  without_root,  ///< is nowhere met
  double_root,   ///< is met where K vanishes
  not_a_number,  ///< of no position
  not_a_number_later,
  huge,    ///< 1e300 times a sound one
  tiny,    ///< 1e-300 times
  kinked,  ///< |x|
  throws,
  throws_a_number,
  throws_later,
  wrong_derivative,
  wrong_bias,
  wrong_solution,
  flaws
};

const char* const flaw_names[] = {"sound",
                                  "constant",
                                  "without root",
                                  "double root",
                                  "NaN",
                                  "NaN later",
                                  "huge",
                                  "tiny",
                                  "kinked",
                                  "throwing",
                                  "throwing a number",
                                  "throwing later",
                                  "with a wrong K",
                                  "with a wrong k",
                                  "with a wrong solution"};

/// k's position from j's, by three random coefficients: q_k = a q_j + b sin(c q_j).
struct LawNumbers {
  static constexpr int positions = 2, equations = 1;
  static constexpr std::array<std::string_view, 4> parameters{"flaw", "a", "b", "c"};
  static Parameters sample() { return {{"flaw", {0.0}}, {"a", {2.0}}, {"b", {0.3}}, {"c", {1.0}}}; }
  explicit LawNumbers(const PartSpec& spec)
      : flaw(static_cast<Flaw>(static_cast<int>(spec.number("flaw")))),
        a(spec.number("a")),
        b(spec.number("b")),
        c(spec.number("c")) {}

  template <class T>
  T sound_phi(const T* q) const {
    return q[1] - a * q[0] - b * sin(c * q[0]);
  }
  template <class T>
  void phi(const T* q, T* phi) const {
    using std::sqrt;
    const T x = sound_phi(q);
    switch (flaw) {
      case constant:
        phi[0] = T(1.0) + 0.0 * q[0];
        break;
      case without_root:
        phi[0] = x * x + T(1.0);
        break;
      case double_root:
        phi[0] = x * x;
        break;
      case not_a_number:
        phi[0] = x + sqrt(T(-1.0) + 0.0 * q[0]);
        break;
      case not_a_number_later:
        phi[0] = x + 0.0 * sqrt(T(0.2) - q[0]);
        break;
      case huge:
        phi[0] = 1e300 * x;
        break;
      case tiny:
        phi[0] = 1e-300 * x;
        break;
      case kinked:
        phi[0] = x + 0.1 * sqrt(q[0] * q[0]);
        break;
      case throws:
        throw std::runtime_error("phi threw");
      case throws_a_number:
        throw 42;
      case throws_later:
        if (++calls > 40) throw std::runtime_error("late");
        phi[0] = x;
        break;
      default:
        phi[0] = x;
    }
  }
  Flaw flaw;
  double a, b, c;
  mutable int calls = 0;
};

struct TorturedLaw : LawNumbers {
  using LawNumbers::LawNumbers;
};

/// The same with derivatives and a solution by hand, which may be wrong.
struct HandMadeLaw : LawNumbers {
  using LawNumbers::LawNumbers;
  static constexpr int branches = 1;
  template <class T>
  void K(const T* q, T* K) const {
    const double factor = flaw == wrong_derivative ? 1.001 : 1.0;
    K[0] = -factor * (a + b * c * cos(c * q[0]));
    K[1] = T(1.0);
  }
  template <class T>
  void k(const T* q, const T* qd, T* k) const {
    k[0] = -(b * c * c) * sin(c * q[0]) * qd[0] * qd[0] + (flaw == wrong_bias ? 0.1 : 0.0);
  }
  bool solve(double* q, int) const {
    q[1] = flaw == wrong_solution ? 77.0 : a * q[0] + b * std::sin(c * q[0]);
    return true;
  }
};

const Host& host() {
  static const std::unique_ptr<Host> made = [] {
    auto fresh = std::make_unique<Host>(Host::Options{{ESPALIER_PLUGIN_DIR}, false});
    Registrar registrar("torture");
    registrar.sub_mechanism<TorturedLaw>({.name = "tortured", .summary = "any law"});
    registrar.sub_mechanism<HandMadeLaw>(
        {.name = "hand_made", .summary = "a law with derivatives"});
    fresh->registry().commit(std::move(registrar));
    return fresh;
  }();
  return *made;
}

Description robot_with(Rng& rng, Flaw flaw, bool by_hand) {
  test::RobotOptions options;
  options.seed = static_cast<unsigned long long>(rng.below(1'000'000'000));
  options.bodies = 2 + rng.below(5);
  options.types = {"revolute"};
  Description robot = test::random_robot(host().registry(), options);
  std::vector<std::string> moving;
  for (const JointDescription& joint : robot.joints) {
    if (joint.type == "revolute") moving.push_back(joint.name);
  }
  rng.shuffle(moving);
  LawDescription law;
  law.name = "law";
  law.type = by_hand ? "hand_made" : "tortured";
  law.joints = {moving[0], moving[1]};
  law.parameters = {{"flaw", {static_cast<double>(flaw)}},
                    {"a", {rng.uniform(-3.0, 3.0)}},
                    {"b", {rng.uniform(-0.5, 0.5)}},
                    {"c", {rng.uniform(-2.0, 2.0)}}};
  robot.laws.push_back(law);
  return robot;
}

/// What a model of a law with this flaw may be: found out, or harmless.
bool must_be_refused(Flaw flaw) {
  switch (flaw) {
    case constant:
    case without_root:
    case not_a_number:
    case throws:
    case throws_a_number:
    case wrong_derivative:
    case wrong_bias:
      return true;
    default:
      return false;
  }
}

Outcome run(std::uint64_t number) {
  Rng rng(number);
  const Flaw flaw = rng.chance(0.3) ? sound : static_cast<Flaw>(rng.below(flaws));
  const bool by_hand = flaw >= wrong_derivative || (flaw == sound && rng.chance(0.5));
  Outcome out;
  try {
    const ModelPtr model = Model::compile(robot_with(rng, flaw, by_hand), host().registry());
    if (must_be_refused(flaw)) {
      return defect(std::string("a law that is ") + flaw_names[flaw] + " compiles");
    }
    std::vector<double> q(model->nq());
    model->random(number, q.data());
    const Closure closure = examine(*model, q.data());
    if (!(closure.residual <= 1e-9)) {
      if (flaw == huge && closure.residual <= 1e-14 * 1e300) {
        // Met to a rounding of the position, which is 1e284 of this law: checked calls refuse it.
        out.verdict = Outcome::Verdict::refused;
        return out;
      }
      return defect(std::string("random positions do not meet a law that is ") + flaw_names[flaw],
                    closure.text());
    }
    out = agree(model, rng, 1);
  } catch (const PluginError& error) {  // what the law threw, by its name
    const std::string text = error.what();
    if (text.find("'law'") == text.npos) return defect("an error does not name the law", text);
    out.verdict = Outcome::Verdict::refused;
  } catch (const Error& error) {
    const std::string text = error.what();
    const bool thrown = flaw == throws || flaw == throws_a_number || flaw == throws_later;
    if (!thrown) {
      out = refusal(text);
    } else {
      out.verdict = Outcome::Verdict::refused;
      if (text.find("'law'") == text.npos) return defect("an error does not name the law", text);
    }
    if (flaw == sound && out.verdict == Outcome::Verdict::refused)
      ++out.counts["sound ones refused"];
  } catch (const std::runtime_error& error) {
    // In evaluate() nothing stands between a law and its caller.
    if (flaw != throws_later) throw;
    out.verdict = Outcome::Verdict::refused;
    ++out.counts["thrown through evaluate()"];
  }
  ++out.counts[std::string("laws that are ") + flaw_names[flaw]];
  return out;
}

}  // namespace

Kind laws() {
  host();
  return {"laws", "laws as plugins have them, sound and flawed: refused by name, or exact", 0.15,
          30.0, run};
}

}  // namespace espalier::torture
