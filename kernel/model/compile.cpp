#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/graph/mechanism_graphs.hpp"
#include "espalier/kernel/guard.hpp"
#include "espalier/kernel/model/cluster_compiler.hpp"
#include "espalier/kernel/model/ties.hpp"
#include "espalier/kernel/model/undrivable.hpp"
#include "espalier/kernel/model/validate.hpp"

namespace espalier {

/// Description -> Model, one function per pass. A pass that finds errors lets the following ones
/// not run; warnings are collected to the end.
class Compiler {
 public:
  Compiler(const Description& robot, const ModelTypes& types, const CompileOptions& options)
      : robot_(robot), types_(types), options_(options), model_(new Model) {
    model_->pack_code_ = types.pack_code();
    model_->extras_ = extras_;
    for (Finding finding : robot.findings) {
      const bool error = finding.severity == Finding::Severity::error;
      if (finding.negotiable && (error ? options.lenient : options.strict)) {
        finding.severity = error ? Finding::Severity::warning : Finding::Severity::error;
      }
      findings_.add(std::move(finding));
    }
  }

  void run() {
    try {
      run_passes();
    } catch (const Error& error) {  // of a joint type, or of the graph
      findings_.error(robot_.where, error.what());
    } catch (...) {  // of a plugin
      blame_plugin();
    }
  }

  detail::Findings& findings() { return findings_; }
  std::shared_ptr<const Model> take() {
    extras_->warnings = findings_.take();
    return std::move(model_);
  }

 private:
  /// What was thrown that is no error of ours.
  void blame_plugin() {
    try {
      detail::blame("robot '" + robot_.name + "'",
                    "code of the types of its joints, loops or laws");
    } catch (const Error& error) {
      findings_.error(robot_.where, error.what());
    }
  }

  void run_passes() {
    detail::validate(robot_, types_, options_, findings_);
    if (findings_.failed()) return;
    index_links();
    find_root();
    if (findings_.failed()) return;
    fold_fixed_joints();
    if (findings_.failed()) return;
    connect();
    if (findings_.failed()) return;
    cluster();
    if (findings_.failed()) return;
    place_bodies();
    lay_out_coordinates();
    make_runs();
    if (findings_.failed()) return;
    tie_clusters();
    if (findings_.failed()) return;
    index_names();
    check_masses();
    keep_graphs();
  }

  /// A set of links welded together; becomes a body.
  struct Group {
    std::vector<int> links;       ///< the first is the one that the others' frames are given in
    int joint = -1;               ///< tree joint it hangs on, index into joints_
    int body = 0;                 ///< number in the model
    RigidInertia<double> inertia = RigidInertia<double>::zero();  ///< in the body's frame
  };

  // --- pass: who is who ---------------------------------------------------------------------

  void index_links() {
    model_->name_ = robot_.name;
    model_->gravity_ = robot_.gravity;
    for (std::size_t i = 0; i < robot_.links.size(); ++i) link_number_[robot_.links[i].name] = i;
    for (const JointDescription& joint : robot_.joints) {
      joints_.push_back(joint);
      if (options_.mimic == CompileOptions::MimicRule::ignore) joints_.back().mimic.reset();
      joint_types_.push_back(&types_.joint_type(joint.type));
    }
  }

  /// The one link that is no joint's child. With a floating root it hangs on a joint "root".
  void find_root() {
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

  // --- pass: fold fixed joints --------------------------------------------------------------

  /// Links that joints without rates weld together become one group; group 0 is the ground.
  void fold_fixed_joints() {
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

  void grow_group(int group, int first, const std::vector<std::vector<int>>& welds) {
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

  static bool same_frame(const Transform<double>& a, const Transform<double>& b) {
    const Vec3<double> d = a.r - b.r;
    double off = dot(d, d);
    for (int i = 0; i < 3; ++i) {
      const Vec3<double> e = a.E.row[i] - b.E.row[i];
      off += dot(e, e);
    }
    return off < 1e-12;
  }

  // --- pass: spanning tree, couplings, clusters -----------------------------------------------

  void connect() {
    std::string ground = "ground";
    while (link_number_.contains(ground)) ground += "'";
    graph_ = graph::ConnectivityGraph(ground);
    for (std::size_t g = 1; g < groups_.size(); ++g) {
      graph_.add_body(robot_.links[groups_[g].links.front()].name);
    }
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      if (joint_types_[j]->nv() == 0) continue;
      const int parent = joints_[j].parent.empty() ? 0 : group_of(joints_[j].parent);
      const int child = group_of(joints_[j].child);
      if (parent == child) {
        findings_.error(joints_[j].where,
                        "joint '" + joints_[j].name + "': its links '" + joints_[j].parent +
                            "' and '" + joints_[j].child +
                            "' are welded together, expected links that can move");
        return;
      }
      graph_.add_joint(joints_[j].name, parent, child);
      edge_joint_.push_back(static_cast<int>(j));
    }
    for (std::size_t l = 0; l < robot_.loops.size(); ++l) {
      const LoopDescription& loop = robot_.loops[l];
      const int p = group_of(loop.predecessor), s = group_of(loop.successor);
      if (p == s) {
        findings_.error(loop.where, "loop '" + loop.name + "': its links '" + loop.predecessor +
                                        "' and '" + loop.successor +
                                        "' belong to one body, expected two bodies");
        return;
      }
      std::string name = loop.name;
      if (graph_.find_joint(name) >= 0) name += " (loop)";
      graph_.add_loop(name, p, s);
      loop_of_edge_[static_cast<int>(edge_joint_.size())] = static_cast<int>(l);
      edge_joint_.push_back(-1);
    }
    try {
      tree_ = graph::spanning_tree(graph_);
    } catch (const Error& error) {
      findings_.error(robot_.where, error.what());
      return;
    }
    for (int b = 1; b < tree_.body_count(); ++b) {
      if (!tree_.reversed(b)) continue;
      const JointDescription& joint = joints_[edge_joint_[tree_.joint(b)]];
      findings_.error(joint.where, "joint '" + joint.name + "': leads towards the root, expected '" +
                                       joint.child + "' as its parent and '" + joint.parent +
                                       "' as its child (exchange them)");
    }
    ties_ = detail::find_ties({robot_, joints_, joint_types_, edge_joint_, tree_,
                               [this](const std::string& link) { return group_of(link); }},
                              graph_, findings_);
  }

  void cluster() {
    clusters_ = graph::cluster_tree(graph_, tree_);
    for (int number = 0; number < clusters_.size(); ++number) {
      const graph::Cluster& c = clusters_.cluster(number);
      for (int g : c.bodies) groups_[g].joint = edge_joint_[tree_.joint(g)];
    }
  }

  // --- pass: rotors whose attitude does not matter ----------------------------------------------

  /// A rotor is folded if it turns about its own axis of symmetry, carries nothing and no loop joint
  /// holds it. One body of each cluster stays.
  void fold_rotors() {
    folded_.assign(groups_.size(), false);
    if (options_.rotors == CompileOptions::Rotors::keep) return;
    std::vector<bool> holds(groups_.size(), false);
    for (int b = 1; b < tree_.body_count(); ++b) holds[tree_.parent(b)] = true;
    for (int e = 0; e < graph_.joint_count(); ++e) {
      if (tree_.child(e) >= 0) continue;
      holds[graph_.joint(e).predecessor] = holds[graph_.joint(e).successor] = true;
    }
    for (int number = 0; number < clusters_.size(); ++number) {
      const graph::Cluster& c = clusters_.cluster(number);
      if (c.couplings.empty()) continue;
      std::size_t left = c.bodies.size();
      for (auto g = c.bodies.rbegin(); g != c.bodies.rend() && left > 1; ++g) {
        const JointType& type = *joint_types_[groups_[*g].joint];
        if (holds[*g] || type.subspace() != SubspaceKind::revolute_z || type.nq() != 1 ||
            !is_axisymmetric(groups_[*g].inertia)) {
          continue;
        }
        folded_[*g] = true;
        --left;
      }
    }
  }

  /// About z, up to the rounding of its figures.
  static bool is_axisymmetric(const RigidInertia<double>& I) {
    const double size = std::abs(I.I.xx) + std::abs(I.I.yy) + std::abs(I.I.zz);
    const double small = 1e-12 * size, offset = 1e-12 * (std::abs(I.h.z) + I.m);
    return std::abs(I.I.xx - I.I.yy) <= small && std::abs(I.I.xy) <= small &&
           std::abs(I.I.xz) <= small && std::abs(I.I.yz) <= small && std::abs(I.h.x) <= offset &&
           std::abs(I.h.y) <= offset;
  }

  /// Regular numbering by clusters, then the folded rotors by clusters; the ground stays 0.
  void number_bodies() {
    int next = 1;
    for (const bool rotors : {false, true}) {
      for (int number = 0; number < clusters_.size(); ++number) {
        const graph::Cluster& c = clusters_.cluster(number);
        for (int g : c.bodies) {
          if (folded_[g] != rotors) continue;
          groups_[g].body = next++;
          order_.push_back(g);
        }
      }
    }
    active_ = static_cast<int>(std::count(folded_.begin() + 1, folded_.end(), false));
  }

  // --- pass: frames and inertias; joint axes onto z -------------------------------------------

  void place_bodies() {
    Model& m = *model_;
    m.links_.resize(robot_.links.size());
    m.bodies_.resize(groups_.size());
    m.body_names_.resize(groups_.size());
    m.body_names_[0] = options_.root == CompileOptions::Root::floating
                           ? "world"
                           : robot_.links[root_link_].name;
    const auto turn_of = [&](const Group& group) {
      return joint_types_[group.joint]->alignment(detail::spec_of(joints_[group.joint]));
    };
    place_links(0, Mat3<double>::identity());
    for (std::size_t g = 1; g < groups_.size(); ++g) place_links(static_cast<int>(g), turn_of(groups_[g]));
    fold_rotors();
    number_bodies();
    for (const Group& group : groups_) {
      for (int l : group.links) m.links_[l].body = group.body;
    }
    for (int g : order_) {
      const Group& group = groups_[g];
      const JointDescription& joint = joints_[group.joint];
      const Mat3<double> turn = turn_of(group);

      Body& body = m.bodies_[group.body];
      body.parent = groups_[tree_.parent(g)].body;
      const Transform<double> turned{turn, {0, 0, 0}};
      const Transform<double> from =
          joint.parent.empty() ? Transform<double>::identity()
                               : m.links_[link_number_.at(joint.parent)].X;
      body.placement = clean(turned * (joint.origin.transform() * from));
      m.body_names_[group.body] = robot_.links[group.links.front()].name;
      specs_.push_back(detail::spec_of(joint));
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      m.bodies_[groups_[g].body].inertia = groups_[g].inertia;
    }
    list_rotors();
    place_geometry();
  }

  /// Shapes and frames ride on the bodies that their links were welded into.
  void place_geometry() {
    for (std::size_t l = 0; l < robot_.links.size(); ++l) {
      const LinkDescription& from = robot_.links[l];
      const Link& link = model_->links_[l];
      const int number = static_cast<int>(l);
      using Role = PlacedShape::Role;
      for (const Role role : {Role::visual, Role::collision}) {
        for (const ShapeDescription& s : role == Role::visual ? from.visuals : from.collisions) {
          extras_->shapes.push_back({role, number, link.body, s.origin.transform() * link.X, s});
        }
      }
      for (const FrameDescription& f : from.frames) {
        extras_->frames.push_back({f.name, number, link.body, f.origin.transform() * link.X});
      }
    }
    extras_->states = robot_.states;
    extras_->actuators = robot_.actuators;
    extras_->excluded_contacts = robot_.excluded_contacts;
    extras_->contact_pairs = robot_.contact_pairs;
  }

  void list_rotors() {
    Model& m = *model_;
    for (const Body& body : m.bodies_) m.folded_inertia_.push_back(body.inertia);
    for (std::size_t i = active_ + 1; i < m.bodies_.size(); ++i) {
      const Body& body = m.bodies_[i];
      const JointDescription& joint = joints_[groups_[order_[i - 1]].joint];
      Rotor rotor;
      rotor.body = static_cast<int>(i);
      rotor.parent = body.parent;
      rotor.inertia = body.inertia.I.zz + joint.armature;
      rotor.momentum = scale(body.inertia.I.zz, body.placement.E.row[2]);
      m.rotors_.push_back(rotor);
      m.folded_inertia_[body.parent] += congruence(body.placement, body.inertia);
    }
  }

  /// The group's body frame is its joint frame turned by `turn`; the joint's child link is there.
  void place_links(int g, const Mat3<double>& turn) {
    Group& group = groups_[g];
    // A group may have been grown from another link than the child of the joint it now hangs on.
    Transform<double> anchor = Transform<double>::identity();
    if (group.joint >= 0) anchor = in_group_[link_number_.at(joints_[group.joint].child)];
    const Transform<double> body_to_first =
        anchor.inverse() * Transform<double>{turn.transposed(), {0, 0, 0}};
    for (int l : group.links) {
      Link& link = model_->links_[l];
      link.name = robot_.links[l].name;
      link.X = in_group_[l] * body_to_first;
      if (const auto& inertial = robot_.links[l].inertial) {
        link.mass = inertial->mass;
        group.inertia += congruence(link.X, inertial->about_link());
      }
    }
  }

  /// Entries that rounding left beside 0, 1 and -1 are set there, so that structure is seen.
  static Transform<double> clean(Transform<double> X) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        double& e = X.E(i, j);
        if (std::abs(e - std::round(e)) < 1e-15) e = std::round(e) + 0.0;
      }
    }
    return X;
  }

  // --- pass: coordinates ----------------------------------------------------------------------

  void lay_out_coordinates() {
    Model& m = *model_;
    std::vector<int> last_rate(groups_.size(), -1);  // of each body, for the expanded parents
    for (int g : order_) {
      const Group& group = groups_[g];
      const JointDescription& joint = joints_[group.joint];
      const JointType& type = *joint_types_[group.joint];
      Body& body = m.bodies_[group.body];
      body.joint = static_cast<int>(m.joints_.size());
      body.q = m.nq_, body.v = m.spanning_nv_;
      body.nq = type.nq(), body.nv = type.nv();
      m.joints_.push_back({joint.name, joint.type, group.body, body.q, body.v, body.nq, body.nv, -1,
                           joint.limits, joint.passive});
      m.nq_ += body.nq, m.spanning_nv_ += body.nv;
      for (int k = 0; k < body.nv; ++k) {
        m.joint_of_rate_.push_back(body.joint);
        m.rate_parents_.push_back(k == 0 ? last_rate[body.parent] : body.v + k - 1);
        if (joint.armature > 0.0) m.armature_.emplace_back(body.v + k, joint.armature);
      }
      last_rate[group.body] = body.v + body.nv - 1;
    }
    for (Rotor& rotor : m.rotors_) rotor.v = m.bodies_[rotor.body].v;
  }

  // --- pass: clusters of the model, constraints and independent coordinates ---------------------

  void tie_clusters() {
    Model& m = *model_;
    int rotor = 0;
    for (int number = 0; number < clusters_.size(); ++number) {
      const graph::Cluster& c = clusters_.cluster(number);
      Cluster out;
      out.parent = c.parent;
      for (int o : c.supports) out.supports.push_back(groups_[o].body);
      out.constrained = !c.cut_joints.empty() || !c.couplings.empty();
      out.implicit = !c.cut_joints.empty();
      for (int e : c.cut_joints) out.constraints.push_back(graph_.joint(e).name);
      for (int k : c.couplings) {
        out.constraints.push_back(graph_.coupling(k).name);
        out.implicit = out.implicit || ties_[k].law;
        if (ties_[k].law) out.laws.push_back(ties_[k].law->law->type);
      }
      out.rotor = rotor;
      for (int g : c.bodies) {
        Body& body = m.bodies_[groups_[g].body];
        body.cluster = static_cast<int>(m.clusters_.size());
        out.name += (out.name.empty() ? "" : "+") + joints_[groups_[g].joint].name;
        if (folded_[g]) {
          ++out.rotors;
        } else {
          if (out.count++ == 0) out.first = groups_[g].body, out.spanning_v = body.v;
          out.spanning_nv += body.nv;
        }
      }
      if (out.rotors > 0) out.rotor_v = m.rotors_[rotor].v;
      rotor += out.rotors;
      m.clusters_.push_back(std::move(out));
    }
    ClusterCompiler::Source source{types_, clusters_, {}, ties_, {}, {}, robot_.where};
    source.joints.push_back(nullptr);
    for (int g : order_) source.joints.push_back(&joints_[groups_[g].joint]);
    for (const Group& group : groups_) source.body.push_back(group.body);
    for (int e = 0; e < graph_.joint_count(); ++e) source.loops.push_back(loop_source(e));
    if (findings_.failed()) return;
    ClusterCompiler(source, m, findings_).run();
  }

  /// Edge e of the graph as a loop, if it is cut.
  detail::LoopSource loop_source(int e) {
    detail::LoopSource out;
    if (tree_.child(e) >= 0) return out;
    const auto place = [&](const std::string& link, const Pose& pose, int& body,
                           Transform<double>& at) {
      if (link.empty()) {  // the world under a floating root
        body = 0, at = pose.transform();
        return;
      }
      const Link& l = model_->links_[link_number_.at(link)];
      body = l.body, at = pose.transform() * l.X;
    };
    if (edge_joint_[e] >= 0) {
      const JointDescription& joint = joints_[edge_joint_[e]];
      out.name = joint.name, out.type = joint.type, out.axis = joint.axis;
      out.parameters = joint.parameters, out.where = joint.where;
      place(joint.parent, joint.origin, out.predecessor, out.at_predecessor);
      place(joint.child, Pose{}, out.successor, out.at_successor);
      const PassiveDynamics& p = joint.passive;
      if (joint.armature != 0.0 || p.damping != 0.0 || p.friction != 0.0 || p.stiffness != 0.0) {
        findings_.error(joint.where,
                        "joint '" + joint.name +
                            "': closes a loop and has armature or passive forces, expected none "
                            "there (put them on a joint of the spanning tree: list this joint "
                            "before the other one of link '" + joint.child + "')");
      }
      return out;
    }
    const LoopDescription& loop = robot_.loops[loop_of_edge_.at(e)];
    out.name = loop.name, out.type = loop.type, out.axis = loop.axis;
    out.parameters = loop.parameters, out.where = loop.where;
    place(loop.predecessor, loop.predecessor_origin, out.predecessor, out.at_predecessor);
    place(loop.successor, loop.successor_origin, out.successor, out.at_successor);
    return out;
  }

  // --- pass: runs of bodies on joints of one type -----------------------------------------------

  void make_runs() {
    Model& m = *model_;
    const int n = m.body_count();
    for (int first = 1; first <= n;) {
      if (first == active_ + 1) m.active_runs_ = static_cast<int>(m.runs_.size());
      const JointType* type = joint_types_[groups_[order_[first - 1]].joint];
      int end = first + 1;
      while (end <= n && end != active_ + 1 && joint_types_[groups_[order_[end - 1]].joint] == type) ++end;
      std::vector<Transform<double>> placements;
      for (int i = first; i < end; ++i) {
        placements.push_back(m.bodies_[i].placement);
        m.bodies_[i].run = static_cast<int>(m.runs_.size());
        if (type->has_equations()) m.bodies_with_equations_.push_back(i);
      }
      BodyRun run;
      run.first = first, run.count = end - first;
      run.q = m.bodies_[first].q, run.v = m.bodies_[first].v;
      run.nq = type->nq(), run.nv = type->nv();
      run.subspace = type->subspace();
      run.type = type;
      try {
        run.joints = type->make_run(
            std::span<const JointSpec>(specs_).subspan(first - 1, end - first), placements);
      } catch (const Error& error) {
        findings_.error(robot_.where, error.what());
        return;
      }
      m.runs_.push_back(std::move(run));
      first = end;
    }
    if (active_ == n) m.active_runs_ = static_cast<int>(m.runs_.size());
  }

  void index_names() {
    Model& m = *model_;
    for (std::size_t i = 0; i < m.links_.size(); ++i) m.link_order_.push_back(static_cast<int>(i));
    for (std::size_t i = 0; i < m.joints_.size(); ++i) {
      m.joint_order_.push_back(static_cast<int>(i));
    }
    std::sort(m.link_order_.begin(), m.link_order_.end(),
              [&](int a, int b) { return m.links_[a].name < m.links_[b].name; });
    std::sort(m.joint_order_.begin(), m.joint_order_.end(),
              [&](int a, int b) { return m.joints_[a].name < m.joints_[b].name; });
  }

  void keep_graphs() {
    auto graphs = std::make_shared<graph::MechanismGraphs>();
    graphs->composition = robot_.subsystems;
    graphs->connectivity = std::move(graph_);
    graphs->connectivity.finish();
    graphs->tree = std::move(tree_);
    graphs->clusters = std::move(clusters_);
    model_->graphs_ = std::move(graphs);
  }

  // --- pass: can every joint be driven? ---------------------------------------------------------

  /// A joint that moves no inertia has no acceleration: an error if it is so at a random position,
  /// a warning if at neutral only, as in a wrist whose massless axes line up there.
  void check_masses() {
    const Model& m = *model_;
    std::vector<double> q(m.nq_);
    m.random(1, q.data());
    const std::vector<int> always = detail::undrivable_bodies(m, q.data());
    for (int i : always) findings_.error(joint_of(i).where, moves_no_inertia(i));
    if (!always.empty()) return;
    if (in_doubt()) {
      const int rate = detail::rate_without_inertia(m, q.data());
      if (rate >= 0) {
        const Joint& joint = m.joint_of_rate(m.independent_rates()[rate]);
        findings_.error(joint_of(joint.body).where,
                        "joint '" + joint.name +
                            "': the mass matrix has no positive inertia along a motion of it and "
                            "of what is tied to it, expected one (give the massless links there an "
                            "<inertial> or the joint an armature)");
        return;
      }
    }
    m.neutral(q.data());
    for (int i : detail::undrivable_bodies(m, q.data())) {
      findings_.warning(joint_of(i).where, "at the neutral position, " + moves_no_inertia(i));
    }
  }

  /// Whether a link's inertia is that of no body, or links in loops and couplings weigh nothing:
  /// then the recursion over plain bodies does not tell all.
  bool in_doubt() const {
    if (findings_.doubted()) return true;
    for (int b = 1; b <= model_->body_count(); ++b) {
      const Body& body = model_->body(b);
      const RigidInertia<double>& I = body.inertia;
      const bool weightless = I.m == 0.0 || I.I.xx + I.I.yy + I.I.zz <= 0.0;
      if (weightless && model_->clusters()[body.cluster].constrained) return true;
    }
    return false;
  }

  const JointDescription& joint_of(int body) const {
    return joints_[groups_[order_[body - 1]].joint];
  }

  std::string moves_no_inertia(int body) const {
    const Group& group = groups_[order_[body - 1]];
    std::vector<std::string> links;
    for (int l : group.links) links.push_back(robot_.links[l].name);
    const bool massless = group.inertia.m == 0.0;
    return "joint '" + joint_of(body).name + "': moves no inertia, expected mass on its link " +
           detail::list_of(links) + " or beyond (" +
           (massless ? "the link has no mass; give it an <inertial>, weld it by a fixed joint, or "
                       "give the joint an armature"
                     : "its mass lies on the joint's axis; give it a rotational inertia or the "
                       "joint an armature") +
           ")";
  }

  int group_of(const std::string& link) const { return group_of_[link_number_.at(link)]; }

  const Description& robot_;
  const ModelTypes& types_;
  const CompileOptions& options_;
  std::shared_ptr<Model> model_;
  std::shared_ptr<ModelExtras> extras_ = std::make_shared<ModelExtras>();
  detail::Findings findings_;

  std::map<std::string, int> link_number_;
  std::vector<JointDescription> joints_;  ///< of the file, and the floating root
  std::vector<const JointType*> joint_types_;
  int root_link_ = 0;
  std::vector<Group> groups_;
  std::vector<int> group_of_;                 ///< of each link
  std::vector<Transform<double>> in_group_;   ///< of each link: from the group's first link to it
  graph::ConnectivityGraph graph_;
  graph::SpanningTree tree_;
  graph::ClusterTree clusters_;
  std::vector<int> edge_joint_;               ///< edge of the graph -> joints_, -1 for loops
  std::map<int, int> loop_of_edge_;           ///< edge of the graph -> robot_.loops
  std::vector<detail::Tie> ties_;             ///< in the order of the graph's couplings
  std::vector<bool> folded_;                  ///< groups that are folded rotors
  int active_ = 0;                            ///< bodies that are not
  std::vector<int> order_;                    ///< groups in the order of the model's bodies 1..n
  std::vector<JointSpec> specs_;              ///< of bodies 1..n
};

std::shared_ptr<const Model> Model::compile(const Description& description, const ModelTypes& types,
                                            const CompileOptions& options) {
  Compiler compiler(description, types, options);
  compiler.run();
  compiler.findings().throw_if_failed(description.name);
  return compiler.take();
}

std::vector<Finding> diagnose(const Description& description, const ModelTypes& types,
                              const CompileOptions& options) {
  Compiler compiler(description, types, options);
  compiler.run();
  return compiler.findings().take();
}

}  // namespace espalier
