#include "espalier/kernel/model/compile/compiler.hpp"

#include <deque>

#include "espalier/kernel/model/adapters/renamed_joint.hpp"

/// Who is who: links, the root, and what fixed joints weld together.

namespace espalier {

void Compiler::index_links() {
  model_->name_ = robot_.name;
  model_->gravity_ = robot_.gravity;
  for (std::size_t i = 0; i < robot_.links.size(); ++i) link_number_[robot_.links[i].name] = i;
  for (const JointDescription& joint : robot_.joints) {
    joints_.push_back(joint);
    if (options_.mimic == CompileOptions::MimicRule::ignore) joints_.back().mimic.reset();
    joint_types_.push_back(&RenamedJoint::computed_by(types_.joint_type(joint.type)));
  }
}

/// The one link that is no joint's child. With a floating root it hangs on a joint "root".
void Compiler::find_root() {
  std::vector<const JointDescription*> parent_joint(robot_.links.size(), nullptr);
  for (const JointDescription& joint : joints_) {
    const JointDescription*& first = parent_joint[link_number_.at(joint.child)];
    if (first == nullptr) first = &joint;
  }
  std::vector<std::string> roots;
  for (std::size_t i = 0; i < robot_.links.size(); ++i) {
    if (parent_joint[i] == nullptr) {
      if (roots.empty()) root_link_ = static_cast<int>(i);
      roots.push_back(robot_.links[i].name);
    }
  }
  if (roots.size() != 1) {
    findings_.error(
        robot_.where,
        roots.empty() ? "robot: every link is some joint's child, expected one root link (cut the "
                        "cycle with a <loop>)"
                      : "robot: links without parent are " + detail::list_of(roots) +
                            ", expected one root (join the others to it)");
    return;
  }
  if (options_.root == CompileOptions::Root::floating) {
    JointDescription root;
    root.name = "root";
    root.type = "floating";
    root.child = robot_.links[root_link_].name;
    root.where = robot_.links[root_link_].where;
    joints_.push_back(root);
    joint_types_.push_back(&types_.joint_type(root.type));
  }
}

/// Links that joints without rates weld together become one group; group 0 is the ground.
void Compiler::fold_fixed_joints() {
  const int links = static_cast<int>(robot_.links.size());
  std::vector<std::vector<int>> welds(links);  // joints at each link
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    if (joint_types_[j]->nv() > 0) continue;
    welds[link_number_.at(joints_[j].parent)].push_back(static_cast<int>(j));
    welds[link_number_.at(joints_[j].child)].push_back(static_cast<int>(j));
  }
  group_of_.assign(links, -1);
  in_group_.assign(links, Transform<double>::identity());
  groups_.emplace_back();  // the ground
  const bool floating = options_.root == CompileOptions::Root::floating;
  // Groups are grown from their first link: the root, or a moving joint's child.
  if (!floating) grow_group(0, root_link_, welds);
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    if (joint_types_[j]->nv() == 0) continue;
    const int child = link_number_.at(joints_[j].child);
    if (group_of_[child] >= 0) continue;
    groups_.emplace_back();
    grow_group(static_cast<int>(groups_.size()) - 1, child, welds);
  }
  std::vector<std::string> lost;
  for (int i = 0; i < links; ++i) {
    if (group_of_[i] < 0) lost.push_back(robot_.links[i].name);
  }
  if (!lost.empty()) {
    findings_.error(robot_.where, "robot: links " + detail::list_of(lost) +
                                      " are not connected to the root, expected a path of joints");
  }
}

void Compiler::grow_group(int group, int first, const std::vector<std::vector<int>>& welds) {
  std::deque<int> front{first};
  group_of_[first] = group;
  while (!front.empty()) {
    const int link = front.front();
    front.pop_front();
    groups_[group].links.push_back(link);
    for (int j : welds[link]) {
      const int parent = link_number_.at(joints_[j].parent);
      const int child = link_number_.at(joints_[j].child);
      const int other = parent == link ? child : parent;
      const Transform<double> X = joints_[j].origin.transform();
      const Transform<double> there = (parent == link ? X : X.inverse()) * in_group_[link];
      if (group_of_[other] < 0) {
        group_of_[other] = group;
        in_group_[other] = there;
        front.push_back(other);
      } else if (parent == link && !same_frame(there, in_group_[other])) {  // seen once
        findings_.error(joints_[j].where, "joint '" + joints_[j].name +
                                              "': fixed joints close a loop whose frames do not "
                                              "meet, expected them to (correct its origin)");
      }
    }
  }
}

bool Compiler::same_frame(const Transform<double>& a, const Transform<double>& b) {
  const Vec3<double> d = a.r - b.r;
  double off = dot(d, d);
  for (int i = 0; i < 3; ++i) {
    const Vec3<double> e = a.E.row[i] - b.E.row[i];
    off += dot(e, e);
  }
  return off < 1e-12;
}

}  // namespace espalier
