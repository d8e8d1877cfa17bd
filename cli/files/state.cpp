#include "cli/files/state.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/command.hpp"
#include "cli/files/inputs.hpp"
#include "cli/files/subsystems.hpp"
#include "cli/output/table.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/motion/quaternions.hpp"
#include "espalier/kernel/uniform.hpp"

namespace espalier::cli {

namespace {

/// Quaternions written with three decimals are still meant to be unit ones.
constexpr double manifold_tolerance = 1e-3;
/// Positions written with seven decimals still agree with their couplings.
constexpr double coupling_tolerance = 1e-6;

/// What messages call a state file.
std::string label_of(const std::string& file) {
  return file == "-" ? "state on standard input" : file;
}

/// Reads one state file into a State.
class StateReader {
 public:
  StateReader(const ModelPtr& model, const std::string& file)
      : model_(*model),
        form_{label_of(file)},
        state_(neutral_state(model)),
        given_(model->joints().size(), false),
        wrenches_(std::make_shared<Wrenches<double>>(model)) {}

  State read(const Json& document, bool tied = true) {
    using Field = void (StateReader::*)(const Json&);
    static const std::vector<std::pair<std::string, Field>> fields{
        {"q", &StateReader::positions},
        {"v", &StateReader::velocities},
        {"tau", &StateReader::forces},
        {"vdot", &StateReader::accelerations},
        {"gravity", &StateReader::gravity},
        {"external_wrenches", &StateReader::external_wrenches},
        {"end_effectors", &StateReader::end_effectors},
        {"inputs", &StateReader::actuation},
        {"groups", &StateReader::groups}};
    std::vector<std::string> known;
    for (const auto& f : fields) known.push_back(f.first);
    form_.expect_keys(form_.object(document, "state"), "", known);
    for (const auto& item : document.items()) {
      for (const auto& [key, read] : fields) {
        if (key == item.key()) (this->*read)(item.value());
      }
    }
    if (tied) {
      couple();
      close_loops();
    }
    state_.wrenches = wrenches_;
    if (!state_.external_wrenches.empty()) state_.inputs.wrenches = wrenches_.get();
    return std::move(state_);
  }

 private:
  const Joint& joint(const std::string& key, const std::string& name) const {
    return form_.joint(model_, key, name);
  }

  void positions(const Json& value) {
    double* q = state_.inputs.q.data();
    for (const auto& [name, x] : form_.object(value, "'q'").items()) {
      const Joint& j = joint("q", name);
      form_.numbers(x, "q of joint '" + name + "'", j.nq, q + j.q);
      given_[&j - model_.joints().data()] = true;
    }
    std::vector<double> normalized = state_.inputs.q;
    model_.normalize(normalized.data());
    for (const Joint& j : model_.joints()) {
      if (j.nq == j.nv) continue;
      double farthest = 0.0;
      for (int k = j.q; k < j.q + j.nq; ++k) {
        const double off = std::abs(normalized[k] - q[k]);
        farthest = std::max(farthest, off);
        if (off <= manifold_tolerance) continue;  // not a number is not
        throw Failure(unusable, "InvalidState",
                      form_.file + ": q of joint '" + j.name + "' is off its manifold by " +
                          number(off) + ", expected at most " + number(manifold_tolerance) +
                          (quaternion_of(j) >= 0 ? " (a quaternion x y z w has length one)" : ""));
      }
      // What is on its manifold to rounding stays as it is, to the last bit.
      if (farthest > 4e-16) std::copy_n(normalized.begin() + j.q, j.nq, q + j.q);
    }
  }

  void rates(const std::string& key, const Json& value, std::vector<double>& out) {
    for (const auto& [name, x] : form_.object(value, "'" + key + "'").items()) {
      // In a loop, a part of a joint's rates may be independent: "joint[k]".
      const auto coordinates = model_.coordinates();
      const auto is_it = [&key = name](const Coordinate& c) {
        return c.name == key && c.name != c.joint;
      };
      const auto part = std::find_if(coordinates.begin(), coordinates.end(), is_it);
      if (part != coordinates.end()) {
        form_.numbers(x, key + " of '" + name + "'", 1, out.data() + part->start);
        continue;
      }
      const Joint& j = joint(key, name);
      std::string own;  // of a joint of several rates, those that are independent
      for (const Coordinate& c : coordinates) {
        if (c.joint == j.name && c.name != c.joint)
          own += (own.empty() ? "'" : ", '") + c.name + "'";
      }
      if (!own.empty()) {
        throw usage_error(form_.file + ": " + key + " of joint '" + name + "' is given, expected " +
                          key + " of its independent rates: " + own);
      }
      if (j.independent < 0) {
        const std::string leaders = followed_joints(model_, j);
        throw usage_error(form_.file + ": " + key + " of joint '" + name +
                          "' is given, expected none (the joint depends on " + leaders + ": give " +
                          key + " there" + other_ways(key, j) + ")");
      }
      form_.numbers(x, key + " of joint '" + name + "'", j.nv, out.data() + j.independent);
    }
  }
  /// What else can be done for a joint that depends on others.
  std::string other_ways(const std::string& key, const Joint& j) const {
    std::string ways;
    if (key == "tau") ways += ", or drive it as one of the \"inputs\"";
    const bool in_loop = model_.clusters()[model_.body(j.body).cluster].constraint != nullptr;
    return ways + (in_loop ? ", or set 'independent' of the joint in the robot's file"
                           : ", or free it with --mimic ignore where it is a mimic");
  }
  void velocities(const Json& value) { rates("v", value, state_.inputs.v); }
  void forces(const Json& value) { rates("tau", value, state_.inputs.tau); }
  void accelerations(const Json& value) { rates("vdot", value, state_.inputs.vdot); }

  void gravity(const Json& value) {
    double g[3];
    form_.numbers(value, "gravity", 3, g);
    state_.gravity = {g[0], g[1], g[2]};
  }

  void external_wrenches(const Json& value) {
    for (const auto& [name, x] : form_.object(value, "'external_wrenches'").items()) {
      form_.link(model_, "external_wrenches", name);
      std::array<double, 6> w{};
      form_.numbers(x, "external wrench on link '" + name + "'", 6, w.data());
      wrenches_->add(name, {{w[0], w[1], w[2]}, {w[3], w[4], w[5]}});
      state_.external_wrenches.emplace_back(name, w);
    }
  }

  void end_effectors(const Json& value) {
    EndEffectorList list = EndEffectorList::read(value, form_, model_);
    state_.end_effectors = std::move(list.end_effectors);
    state_.inputs.task_acceleration = std::move(list.acceleration);
  }

  void actuation(const Json& value) { state_.actuation = read_inputs(value, form_, model_); }
  void groups(const Json& value) { state_.groups = read_groups(value, form_); }

  /// Completes dependent positions and checks the ones that are given.
  void couple() {
    const std::vector<double> before = state_.inputs.q;
    std::vector<double>& q = state_.inputs.q;
    model_.apply_couplings(q.data());
    for (std::size_t i = 0; i < given_.size(); ++i) {
      const Joint& j = model_.joints()[i];
      if (!given_[i] || j.independent >= 0) continue;
      for (int k = j.q; k < j.q + j.nq; ++k) {
        if (std::abs(q[k] - before[k]) <= coupling_tolerance) continue;
        throw Failure(unusable, "InvalidState",
                      form_.file + ": q of joint '" + j.name + "' is " + number(before[k]) +
                          ", expected " + number(q[k]) + " (residual " +
                          number(std::abs(q[k] - before[k])) + "; it is coupled to " +
                          followed_joints(model_, j) + " and may be left out)");
      }
    }
  }

  /// The same for loops: where no dependent position of a cluster is given, they follow from the
  /// independent ones on the neutral position's branch.
  void close_loops() {
    if (!model_.has_variable_constraints()) return;
    std::vector<double>& q = state_.inputs.q;
    const std::vector<double> given = q;
    std::vector<double> neutral(q.size());
    model_.neutral(neutral.data());
    const auto refuse = [&](const Closure& closure, const std::string& expected) {
      throw Failure(unusable, "InvalidState",
                    form_.file + ": q: " + closure.text() + ", expected " + expected);
    };
    const Closure closure = close(model_, neutral.data(), q.data());
    for (const Cluster& c : model_.clusters()) {
      if (c.constraint == nullptr) continue;
      bool complete = false;
      for (int row = 0; row < c.rows(); ++row) {
        const Joint& j = model_.joint_of_rate(c.rate(row));
        complete = complete || (j.independent < 0 && given_[&j - model_.joints().data()]);
      }
      for (int row = 0; row < c.rows() && complete; ++row) {
        const Joint& j = model_.joint_of_rate(c.rate(row));
        std::copy_n(given.begin() + j.q, j.nq, q.begin() + j.q);
      }
      if (!complete && closure.cluster == c.name && closure.verdict != Closure::Verdict::closed) {
        refuse(closure,
               "independent positions that its loops reach from the neutral ones (give "
               "the positions of all its joints to start on another branch)");
      }
    }
    Closure now = examine(model_, q.data());
    // What is closed to rounding stays as it is, to the last bit.
    if (now.residual > 1e-11 && now.residual <= coupling_tolerance) now = project(model_, q.data());
    if (!(now.residual <= 1e-10)) {
      refuse(now, "loops that are closed to " + number(coupling_tolerance) + " (" +
                      advice_on(now.cluster) + ")");
    }
  }
  /// What to write instead: who gives dependent positions alone may not know that they are.
  std::string advice_on(const std::string& cluster) const {
    std::string given, missing, both;
    const auto add = [](std::string& list, const std::string& name) {
      list += (list.empty() ? "'" : ", '") + name + "'";
    };
    for (const Cluster& c : model_.clusters()) {
      if (c.name != cluster) continue;
      for (int row = 0; row < c.rows(); ++row) {
        const Joint& j = model_.joint_of_rate(c.rate(row));
        const bool is_given = given_[&j - model_.joints().data()];
        if (j.independent >= 0) add(is_given ? both : missing, j.name);
        if (j.independent < 0 && is_given) add(given, j.name);
      }
    }
    if (given.empty()) return "positions of dependent joints may be left out";
    const auto are = [](const std::string& list) {
      return list.find(',') == std::string::npos ? " is " : " are ";
    };
    if (missing.empty() || !both.empty()) {
      return "the positions given contradict each other: leave out " + given + ", which" +
             are(given) + "dependent" + (missing.empty() ? "" : ", and give " + missing + ", too") +
             ", or give all that close";
    }
    return given + are(given) + "dependent, " + missing + are(missing) +
           "independent: give that, or all positions; " +
           "'independent: true' in the robot's file chooses another";
  }

  const Model& model_;
  JsonForm form_;
  State state_;
  std::vector<bool> given_;  ///< joints whose positions stand in the file
  std::shared_ptr<Wrenches<double>> wrenches_;
};

}  // namespace

void State::replace(std::vector<EndEffector> others) {
  end_effectors = std::move(others);
  inputs.task_acceleration.clear();
  for (const EndEffector& e : end_effectors) {
    inputs.task_acceleration.resize(inputs.task_acceleration.size() + e.rows.size(), 0.0);
  }
}

State neutral_state(const ModelPtr& model) {
  State state;
  state.inputs.q.resize(model->nq());
  model->neutral(state.inputs.q.data());
  for (auto* rates : {&state.inputs.v, &state.inputs.tau, &state.inputs.vdot}) {
    rates->assign(model->nv(), 0.0);
  }
  state.gravity = model->gravity();
  // MJCF: a free body starts where the file places it.
  for (const NamedState& start : model->extras().states) {
    if (start.name != "qpos0") continue;
    for (const auto& [name, q] : start.positions) {
      const Joint* joint = model->find_joint(name);
      if (joint == nullptr || joint->nq != 7 || q.size() != 7) continue;
      std::copy(q.begin(), q.end(), state.inputs.q.begin() + joint->q);
    }
  }
  return state;
}

namespace {

/// A state that the robot's file names, as a state file says it.
Json document_of(const Model& model, const NamedState& state) {
  Json q = Json::object(), v = Json::object();
  const auto moves = [&](const std::string& name) { return model.find_joint(name) != nullptr; };
  for (const auto& [name, x] : state.positions) {
    if (moves(name)) q[name] = x;
  }
  for (const auto& [name, x] : state.velocities) {
    if (moves(name) && model.joint(name).independent >= 0) v[name] = x;
  }
  return Json{{"q", std::move(q)}, {"v", std::move(v)}};
}

}  // namespace

State read_named_state(const ModelPtr& model, const NamedState& state, bool tied) {
  return StateReader(model, "state '" + state.name + "'").read(document_of(*model, state), tied);
}

State read_state(const ModelPtr& model, const std::string& file) {
  if (file != "-" && !std::filesystem::exists(file)) {
    std::vector<std::string> names;
    for (const NamedState& state : model->extras().states) {
      if (state.name == file) return read_named_state(model, state);
      names.push_back(state.name);
    }
    if (!names.empty()) {
      throw usage_error(file +
                        ": state file is missing, and so is a state of that name in the "
                        "robot's file" +
                        suggest(file, names));
    }
  }
  return StateReader(model, file).read(parse_json(file, "state"));
}

State random_state(const ModelPtr& model, unsigned long long seed,
                   std::vector<EndEffector> end_effectors, bool with_wrenches) {
  State state = neutral_state(model);
  model->random(seed, state.inputs.q.data());
  UniformNumbers uniform(seed);
  for (auto* rates : {&state.inputs.v, &state.inputs.tau, &state.inputs.vdot}) {
    for (double& x : *rates) x = uniform();
  }
  if (with_wrenches) {
    const auto wrenches = std::make_shared<Wrenches<double>>(model);
    for (const Link& link : model->links()) {
      std::array<double, 6> w{};
      for (double& x : w) x = uniform();
      wrenches->add(link.name, {{w[0], w[1], w[2]}, {w[3], w[4], w[5]}});
      state.external_wrenches.emplace_back(link.name, w);
    }
    state.wrenches = wrenches;
    state.inputs.wrenches = wrenches.get();
  }
  state.replace(std::move(end_effectors));
  state.actuation = default_inputs(*model);
  for (double& x : state.inputs.task_acceleration) x = uniform();
  return state;
}

Json rates_by_joint(const Model& model, const double* rates) {
  Json out = Json::object();
  for (const Coordinate& c : model.coordinates()) {
    if (c.size == 1) {
      out[c.name] = rates[c.start];
    } else {
      out[c.name] = std::vector<double>(rates + c.start, rates + c.start + c.size);
    }
  }
  return out;
}

Json to_json(const Model& model, const State& state) {
  Json q = Json::object();
  for (const Joint& j : model.joints()) {
    const double* x = state.inputs.q.data() + j.q;
    if (j.nq == 1) {
      q[j.name] = *x;
    } else {
      q[j.name] = std::vector<double>(x, x + j.nq);
    }
  }
  Json out{{"q", std::move(q)},
           {"v", rates_by_joint(model, state.inputs.v.data())},
           {"tau", rates_by_joint(model, state.inputs.tau.data())},
           {"vdot", rates_by_joint(model, state.inputs.vdot.data())},
           {"gravity", {state.gravity.x, state.gravity.y, state.gravity.z}}};
  if (!state.external_wrenches.empty()) {
    for (const auto& [link, wrench] : state.external_wrenches) {
      out["external_wrenches"][link] = wrench;
    }
  }
  if (!state.end_effectors.empty()) {
    out["end_effectors"] =
        EndEffectorList{state.end_effectors, state.inputs.task_acceleration}.json();
  }
  if (!state.actuation.empty()) out["inputs"] = inputs_json(state.actuation);
  if (!state.groups.empty()) out["groups"] = to_json(state.groups);
  return out;
}

std::string followed_joints(const Model& model, const Joint& dependent) {
  const Cluster& c = model.clusters()[model.body(dependent.body).cluster];
  std::vector<std::string> names;
  for (int j = 0; j < c.nv; ++j) {
    if (!c.G.empty() && c.G[c.row(dependent.v) * c.nv + j] == 0.0) continue;
    names.push_back("'" + model.joint_of_rate(model.independent_rates()[c.v + j]).name + "'");
    if (names.size() > 1 && names[names.size() - 2] == names.back()) names.pop_back();
  }
  return names.empty() ? "no joint" : joined(names);
}

}  // namespace espalier::cli
