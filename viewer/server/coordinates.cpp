#include "viewer/server/coordinates.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/layout.hpp"

namespace espalier::viewer {

namespace {

// Of a position that is the same for both choices: rounding, and far below a pixel.
constexpr double same_residual = 1e-9;

std::vector<const Joint*> joints_of(const Model& model, const Cluster& cluster) {
  std::vector<const Joint*> out;
  for (const Joint& joint : model.joints()) {
    const bool member = joint.body >= cluster.first && joint.body < cluster.first + cluster.count;
    bool rotor = false;
    for (int k = 0; k < cluster.rotors; ++k) {
      rotor = rotor || model.rotors()[cluster.rotor + k].body == joint.body;
    }
    if (member || rotor) out.push_back(&joint);
  }
  return out;
}

void declare(Description& description, const std::vector<const Joint*>& joints,
             const std::set<std::string>& independent) {
  for (const Joint* joint : joints) {
    // Of a joint of several rates a part may be independent, which a flag cannot say.
    if (joint->nv != 1) continue;
    for (JointDescription& d : description.joints) {
      if (d.name == joint->name) d.independent = independent.contains(d.name);
    }
  }
}

}  // namespace

std::vector<double> carried_over(const Model& from, In<double> q, const Model& to) {
  expect_size("viewer", "q", q.size(), from.nq());
  std::vector<double> out(to.nq());
  to.neutral(out.data());
  for (const Joint& joint : to.joints()) {
    const Joint* same = from.find_joint(joint.name);
    if (same == nullptr || same->nq != joint.nq) continue;
    std::copy_n(q.data() + same->q, joint.nq, out.begin() + joint.q);
  }
  return out;
}

Description with_declared_coordinates(const Description& description, const Model& model) {
  Description out = description;
  for (const Cluster& cluster : model.clusters()) {
    if (!cluster.constrained) continue;
    const std::vector<const Joint*> joints = joints_of(model, cluster);
    std::set<std::string> independent;
    for (const Joint* joint : joints) {
      if (joint->independent >= 0) independent.insert(joint->name);
    }
    declare(out, joints, independent);
  }
  return out;
}

OtherCoordinates with_other_coordinates(const Host& host, const Description& description,
                                        const CompileOptions& options, const Model& model,
                                        In<double> q, int cluster, const std::string& joint) {
  expect_size("viewer", "q", q.size(), model.nq());
  if (cluster < 0 || static_cast<std::size_t>(cluster) >= model.clusters().size()) {
    throw SizeMismatch(fmt::format("viewer: number of the cluster is {}, expected one below {}",
                                   cluster, model.clusters().size()));
  }
  const Cluster& c = model.clusters()[cluster];
  const std::vector<const Joint*> joints = joints_of(model, c);
  std::set<std::string> now;
  for (const Joint* j : joints) {
    if (j->independent >= 0) now.insert(j->name);
  }
  std::vector<std::set<std::string>> choices;
  if (joint.empty()) {
    const std::vector<std::string> better = better_independents(model, q.data(), c.name);
    choices.emplace_back(better.begin(), better.end());
  } else {
    const auto it = std::find_if(joints.begin(), joints.end(),
                                 [&](const Joint* j) { return j->name == joint; });
    if (it == joints.end() || (*it)->nv != 1 || (*it)->independent >= 0) {
      std::string known;
      for (const Joint* j : joints) {
        if (j->nv == 1 && j->independent < 0) known += (known.empty() ? "" : ", ") + j->name;
      }
      throw UnknownName(
          fmt::format("viewer: joint is '{}', expected a dependent one of cluster "
                      "'{}' ({})",
                      joint.substr(0, 80), c.name, known));
    }
    for (const std::string& leaves : now) {
      std::set<std::string> choice = now;
      choice.erase(leaves);
      choice.insert(joint);
      choices.push_back(std::move(choice));
    }
  }
  std::optional<OtherCoordinates> best;
  double margin = -1.0;
  std::string why = "it has no independent joint";
  const Description declared = with_declared_coordinates(description, model);
  for (const std::set<std::string>& choice : choices) {
    OtherCoordinates other{declared, nullptr, {}};
    declare(other.description, joints, choice);
    try {
      other.model = host.compile(other.description, options);
    } catch (const Error& error) {
      why = error.what();
      continue;
    }
    other.q = carried_over(model, q, *other.model);
    project(*other.model, other.q.data());
    const Closure closure = examine(*other.model, other.q.data());
    if (closure.residual > same_residual) {
      why = closure.text();
      continue;
    }
    if (closure.margin <= margin) continue;
    margin = closure.margin;
    best = std::move(other);
  }
  if (best) return std::move(*best);
  if (joint.empty()) {
    throw InvalidModel(
        fmt::format("viewer: cluster '{}' has no independent joints that determine "
                    "the others here, expected a position that is not a dead point "
                    "of all ({})",
                    c.name, why));
  }
  throw InvalidModel(
      fmt::format("viewer: joint '{}' cannot be independent in cluster '{}', "
                  "expected one that determines the others ({})",
                  joint, c.name, why));
}

}  // namespace espalier::viewer
