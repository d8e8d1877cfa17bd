#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "cli/command.hpp"
#include "cli/files/state.hpp"
#include "cli/session.hpp"
#include "espalier/host/link_frames.hpp"
#include "espalier/kernel/model/law.hpp"
#include "espalier/kernel/model/mesh_files.hpp"

namespace espalier::cli {

namespace {

/// The model doctor.
class Check final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.footer(R"(
Reports everything that a model is refused for, and what to do about it: massless leaves, impossible
inertias, duplicate names, disconnected bodies, unknown joint types, missing meshes and more.
Named states are judged as --state of other commands does.
Warns of limits and angles that look like degrees, limits that leave no room, masses that nothing
moves, loops that hold their links as if welded, and couplings and laws that repeat what others say
(if there are at most 100).
Refuses what other commands only warn of (as --strict does there), unless --lenient is given.
Exit code 1 if there are errors, 0 if there are at most warnings.)");
  }

  int run(Session& session) override {
    std::string name;
    model_.options.strict = !model_.options.lenient;  // the doctor doubts what others compute
    const std::vector<Finding> findings = examine(session.host(), name);
    std::size_t errors = 0;
    for (const Finding& f : findings) errors += f.severity == Finding::Severity::error;
    const std::size_t warnings = findings.size() - errors;
    const auto word = [](const Finding& f) {
      return f.severity == Finding::Severity::error ? "error" : "warning";
    };

    if (session.json) {
      Json list = Json::array();
      for (const Finding& f : findings) {
        list.push_back({{"severity", word(f)}, {"text", f.text}, {"where", f.where}});
      }
      session.print(Json{{"model", name},
                         {"file", model_.file},
                         {"usable", errors == 0},
                         {"errors", errors},
                         {"warnings", warnings},
                         {"findings", std::move(list)}});
    } else {
      std::string out;
      for (const Finding& f : findings) {
        const bool told = f.where.empty() || f.text.find(f.where) != std::string::npos;
        out += fmt::format("{}: {}{}\n", word(f), told ? "" : f.where + ": ", f.text);
      }
      const char* verdict = errors == 0 ? "usable"
                            : is_computed(session.host())
                                ? "doubtful (other commands compute it as written)"
                                : "not usable";
      out +=
          fmt::format("{}: {}, {} error{}, {} warning{}\n", name.empty() ? model_.file : name,
                      verdict, errors, errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
      session.print(out);
    }
    return errors == 0 ? ok : unusable;
  }

  /// Whether other commands take the model, which are not strict unless asked to be.
  bool is_computed(const Host& host) const {
    CompileOptions options = model_.options;
    options.strict = false;
    try {
      host.compile(host.read(model_.file, model_.reading), options);
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  std::vector<Finding> examine(const Host& host, std::string& name) {
    std::vector<Finding> findings;
    try {
      const Description description = host.read(model_.file, model_.reading);
      name = description.name;
      findings = diagnose(description, host.registry(), model_.options);
      for (const Finding& f : findings) {
        if (f.severity == Finding::Severity::error) return findings;
      }
      const ModelPtr model = host.compile(description, model_.options);
      for (Finding& f : missing_meshes(description, model_.reading)) {
        findings.push_back(std::move(f));
      }
      judge_states(model, findings);
      doubt_limits(description, *model, findings);
      doubt_point_masses(description, *model, findings);
      doubt_loops(host, description, model, findings);
      doubt_ties(host, description, *model, findings);
    } catch (const Error& error) {
      findings.push_back({Finding::Severity::error, error.what(), ""});
    }
    return findings;
  }

  /// Named states that `--state` refuses: as errors those that no robot could be in, as warnings
  /// those off its couplings and loops, as pictures' often are.
  static void judge_states(const ModelPtr& model, std::vector<Finding>& findings) {
    using Severity = Finding::Severity;
    for (const NamedState& state : model->extras().states) {
      for (const bool tied : {false, true}) {
        try {
          read_named_state(model, state, tied);
        } catch (const Error& error) {
          findings.push_back(
              {tied ? Severity::warning : Severity::error, error.what(), state.where.text()});
          break;
        }
      }
    }
  }

  /// Limits that exclude the neutral position or leave no room; angles that look like degrees.
  static void doubt_limits(const Description& description, const Model& model,
                           std::vector<Finding>& findings) {
    constexpr double turns = 12.6;  // two turns [rad]: of limbs none turns so far, of winches some
    std::vector<double> q(model.nq());
    model.neutral(q.data());
    for (const JointDescription& joint : description.joints) {
      const auto doubt = [&](const std::string& text) {
        findings.push_back({Finding::Severity::warning,
                            fmt::format("joint '{}': {}", joint.name, text), joint.where.text()});
      };
      const Vec3<double>& rpy = joint.origin.rpy;
      if (std::max({std::abs(rpy.x), std::abs(rpy.y), std::abs(rpy.z)}) > turns) {
        doubt(
            fmt::format("its rpy is {:.6g} {:.6g} {:.6g} rad, expected less than two turns (are "
                        "these degrees?)",
                        rpy.x, rpy.y, rpy.z));
      }
      const Joint* moving = model.find_joint(joint.name);
      if (moving == nullptr || moving->nq != 1) continue;
      const double lower = joint.limits.lower.value_or(-HUGE_VAL);
      const double upper = joint.limits.upper.value_or(HUGE_VAL);
      // Rounding of the assembly is no distance.
      if (q[moving->q] < lower - 1e-9 || q[moving->q] > upper + 1e-9) {
        doubt(
            fmt::format("its neutral position is {:.6g}, expected one within its limits {:.6g} to "
                        "{:.6g} (start from a --state, or move the joint's origin)",
                        q[moving->q], lower, upper));
      }
      if (lower == upper) {
        doubt(
            fmt::format("its limits are both {:.6g}, so that it cannot move, expected room between "
                        "them (or none of the two, or a fixed joint)",
                        lower));
      }
      if (joint.limits.effort == 0.0 || joint.limits.velocity == 0.0) {
        doubt(
            fmt::format("its limit of {} is 0, so that nothing drives it, expected a positive one "
                        "(or none)",
                        joint.limits.effort == 0.0 ? "effort" : "velocity"));
      }
      const double widest = std::max(std::isfinite(lower) ? std::abs(lower) : 0.0,
                                     std::isfinite(upper) ? std::abs(upper) : 0.0);
      if (joint.type == "revolute" && widest > turns && widest <= 360.0) {
        doubt(
            fmt::format("its limits are {:.6g} to {:.6g} rad, expected less than two turns (are "
                        "these degrees?)",
                        lower, upper));
      }
    }
  }

  /// Masses on axes that stand still: no motion moves them, whatever they weigh.
  static void doubt_point_masses(const Description& description, const Model& model,
                                 std::vector<Finding>& findings) {
    for (const JointDescription& joint : description.joints) {
      if ((joint.type != "revolute" && joint.type != "continuous") ||
          model.link(joint.parent).body != 0) {
        continue;
      }
      const auto link =
          std::find_if(description.links.begin(), description.links.end(),
                       [&](const LinkDescription& l) { return l.name == joint.child; });
      if (!link->inertial || !(link->inertial->mass > 0.0)) continue;
      const double length = std::sqrt(dot(joint.axis, joint.axis));
      const Vec3<double> a = scale(1.0 / length, joint.axis);
      const double about = dot(a, link->inertial->about_link().I * a);
      if (about > 1e-12 * link->inertial->mass) continue;  // within a thousandth of a millimetre
      findings.push_back(
          {Finding::Severity::warning,
           fmt::format("link '{}': inertia about the axis of joint '{}' is {:.3g} kg·m², expected "
                       "some: its mass of {:.6g} kg is on the axis, which does not move (give its "
                       "centre of mass, or its moments of inertia)",
                       link->name, joint.name, about, link->inertial->mass),
           link->where.text()});
    }
  }

  /// Loop joints whose ends never move against each other: the others of the loop do not turn about
  /// its axis, so that it takes a freedom more than was meant.
  static void doubt_loops(const Host& host, const Description& description, const ModelPtr& model,
                          std::vector<Finding>& findings) {
    if (description.loops.empty()) return;
    constexpr int states = 3;          // at one alone ends may stand still
    constexpr double rounding = 1e-9;  // of rates for unit rates
    LinkFrames links(host, model);
    std::vector<double> q(model->nq()), most(description.loops.size(), 0.0);
    const std::vector<double> at_rest(model->nv(), 0.0);
    for (int seed = 1; seed <= states; ++seed) {
      model->random(seed, q.data());
      links.update(q, at_rest);
      for (std::size_t i = 0; i < most.size(); ++i) {
        const LoopDescription& loop = description.loops[i];
        const AngularLinearJacobian apart = links.jacobian(loop.successor, Frame::world) -
                                            links.jacobian(loop.predecessor, Frame::world);
        // What is not finite, as at a dead point, moves.
        if (apart.size() > 0) most[i] = std::fmax(most[i], apart.cwiseAbs().maxCoeff());
        if (!apart.allFinite()) most[i] = HUGE_VAL;
      }
    }
    for (std::size_t i = 0; i < most.size(); ++i) {
      const LoopDescription& loop = description.loops[i];
      if (loop.type == "fixed" || most[i] > rounding) continue;
      findings.push_back(
          {Finding::Severity::warning,
           fmt::format("loop '{}': motion of link '{}' on link '{}' is none, expected some: it "
                       "holds them as if welded (its axis points as those of the joints around it "
                       "do, and is 1 0 0 where the file gives none)",
                       loop.name, loop.successor, loop.predecessor),
           loop.where.text()});
    }
  }

  /// Couplings and laws without which the robot moves no more freely.
  void doubt_ties(const Host& host, const Description& description, const Model& model,
                  std::vector<Finding>& findings) const {
    constexpr std::size_t most = 100;  // the robot is compiled once without each
    if (description.couplings.size() + description.laws.size() > most) return;
    Description rest = description;
    int freedom = model.nv();
    const auto look = [&](auto& ties, std::size_t i, const std::string& kind, int equations) {
      const auto one = ties[i];
      ties.erase(ties.begin() + static_cast<long>(i));
      int without = freedom + equations;
      try {
        without = host.compile(rest, model_.options)->nv();
      } catch (const Error&) {  // nothing can be said where the rest is no robot
      }
      const int takes = without - freedom;
      if (takes >= equations) {
        ties.insert(ties.begin() + static_cast<long>(i), one);
        return;
      }
      if (takes == 0) {
        findings.push_back({Finding::Severity::warning,
                            fmt::format("{} '{}': number of degrees of freedom that it takes is 0, "
                                        "expected {} (others say the same: leave it out)",
                                        kind, one.name, equations),
                            one.where.text()});
        return;
      }
      ties.insert(ties.begin() + static_cast<long>(i), one);
      findings.push_back(
          {Finding::Severity::warning,
           fmt::format(
               "{} '{}': number of degrees of freedom that it takes is {}, expected {}, one "
               "for each equation (its equations say in part what others say)",
               kind, one.name, takes, equations),
           one.where.text()});
    };
    for (std::size_t i = rest.laws.size(); i-- > 0;) {
      const LawDescription& law = rest.laws[i];
      PartSpec spec;
      spec.what = "law", spec.name = law.name, spec.parameters = law.parameters;
      look(rest.laws, i, "law", host.registry().law(law.type).make(spec)->equations());
    }
    for (std::size_t i = rest.couplings.size(); i-- > 0;) look(rest.couplings, i, "coupling", 1);
  }

  ModelArguments model_;
};

const Registered<Check> registered_check{{"check", "find out what is wrong with a robot file", 30}};

}  // namespace

}  // namespace espalier::cli
