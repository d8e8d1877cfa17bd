#include "viewer/server/motion/forces.hpp"

#include <spdlog/fmt/fmt.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "espalier/kernel/linear_algebra/decompositions.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "viewer/server/coordinates.hpp"
#include "viewer/server/motion/pins.hpp"

namespace espalier::viewer {

namespace {

// Vertices of a polytope are met by trying all triples of planes; beyond this an ellipsoid is
// shown.
constexpr int most_motors = 14;
// Of the singularity margin: reactions are in proportion to its inverse.
constexpr double least_margin = 1e-5;

Json vector(const Vec3<double>& v) { return {v.x, v.y, v.z}; }
double length(const Vec3<double>& v) { return std::sqrt(dot(v, v)); }

/// Points on which a force on a body's origin and at other places acts.
struct Attachments {
  std::vector<Vec3<double>> points;
  void add(const Vec3<double>& p) {
    const auto same = [&](const Vec3<double>& x) { return length(x - p) < 1e-6; };
    if (length(p) > 1e-6 && std::none_of(points.begin(), points.end(), same)) points.push_back(p);
  }
};

/// Vertices of {f in R^r: |a_k . f| <= 1 for all k}, r up to 3.
std::vector<Eigen::VectorXd> vertices(const Eigen::MatrixXd& a) {
  const int r = static_cast<int>(a.rows()), n = static_cast<int>(a.cols());
  std::vector<Eigen::VectorXd> out;
  std::vector<int> chosen(r);
  const auto visit = [&] {
    Eigen::MatrixXd A(r, r);
    for (int i = 0; i < r; ++i) A.row(i) = a.col(chosen[i]).transpose();
    const Eigen::FullPivLU<Eigen::MatrixXd> lu(A);
    if (lu.rank() < r) return;
    for (int signs = 0; signs < (1 << r); ++signs) {
      Eigen::VectorXd b(r);
      for (int i = 0; i < r; ++i) b[i] = (signs >> i & 1) != 0 ? 1.0 : -1.0;
      const Eigen::VectorXd f = lu.solve(b);
      // Planes that meet in a vertex meet there up to rounding.
      if ((a.transpose() * f).cwiseAbs().maxCoeff() > 1.0 + 1e-9) continue;
      const auto same = [&](const Eigen::VectorXd& g) { return (f - g).norm() < 1e-9 * f.norm(); };
      if (std::none_of(out.begin(), out.end(), same)) out.push_back(f);
    }
  };
  const std::function<void(int, int)> choose = [&](int place, int from) {
    if (place == r) return visit();
    for (int k = from; k < n; ++k) chosen[place] = k, choose(place + 1, k + 1);
  };
  choose(0, 0);
  return out;
}

/// Points of the ellipsoid {f: sum (a_k . f)^2 <= 1} inside that polytope.
std::vector<Eigen::VectorXd> ellipsoid(const Eigen::MatrixXd& a) {
  const auto principal = detail::eigen_of_symmetric(Eigen::MatrixXd(a * a.transpose()));
  const Eigen::MatrixXd axes =
      principal.vectors * principal.values.cwiseSqrt().cwiseInverse().asDiagonal();
  std::vector<Eigen::VectorXd> out;
  constexpr int count = 200;
  for (int i = 0; i < count; ++i) {  // a spiral from pole to pole
    const double z = 1.0 - 2.0 * (i + 0.5) / count, s = std::sqrt(1.0 - z * z), turn = 2.399963 * i;
    const Eigen::Vector3d on_sphere{s * std::cos(turn), s * std::sin(turn), z};
    out.emplace_back(axes * on_sphere.head(a.rows()));
  }
  return out;
}

}  // namespace

Forces::Forces(const Host& host, const Description& description, const CompileOptions& options,
               ModelPtr model)
    : model_(std::move(model)),
      pinned_description_(with_pins(with_declared_coordinates(description, *model_))),
      jacobians_(host.create<BodyJacobians<double>>("body-jacobians", model_)),
      kinematics_(*model_) {
  pinned_ = host.compile(pinned_description_, options);
  rates_ = rates_of_pinned();
  wrenches_ = host.create<JointWrenches<double>>("joint-reactions", pinned_);
}

/// Where the independent rates of the robot with pins are among the model's.
std::vector<int> Forces::rates_of_pinned() const {
  std::map<std::string, int> start;
  const auto name = [](const Coordinate& c, int k) {
    return c.joint + "/" + std::to_string(c.component + k);
  };
  for (const Coordinate& c : model_->coordinates()) {
    for (int k = 0; k < c.size; ++k) start[name(c, k)] = c.start + k;
  }
  std::vector<int> out(pinned_->nv());
  for (const Coordinate& c : pinned_->coordinates()) {
    for (int k = 0; k < c.size; ++k) {
      const auto it = start.find(name(c, k));
      if (it == start.end()) {
        throw InvalidModel("viewer: joint '" + c.joint +
                           "' is independent with pins for laws, expected the same coordinates");
      }
      out[c.start + k] = it->second;
    }
  }
  return out;
}

Json Forces::reactions(In<double> q, In<double> v, In<double> vdot) {
  const std::vector<double> q_pinned = carried_over(*model_, q, *pinned_);
  std::vector<double> v_pinned, vdot_pinned;
  for (const int rate : rates_) v_pinned.push_back(v[rate]), vdot_pinned.push_back(vdot[rate]);
  const Closure closure = examine(*pinned_, q_pinned.data());
  if (!(closure.margin > least_margin)) {
    throw InvalidModel(
        fmt::format("viewer: singularity margin is {:.1g}, expected {:.1g} or more for "
                    "joint reactions (at a dead point they grow without bound)",
                    closure.margin, least_margin));
  }
  Json joints = Json::array(), rods = Json::array();
  for (const auto& reaction : wrenches_->evaluate(q_pinned, v_pinned, vdot_pinned)) {
    const std::optional<Place> place = place_of(reaction.joint);
    if (!place) continue;
    joints.push_back({{"name", reaction.joint},
                      {"determined", reaction.determined},
                      {"body", place->body},
                      {"at", vector(place->at)},
                      {"force", vector(transpose_times(place->E, reaction.wrench.f))},
                      {"moment", vector(transpose_times(place->E, reaction.wrench.n))}});
  }
  kinematics_.update(*model_, q.data(), nullptr);
  add_bars(joints, rods);
  add_rods(joints, rods);
  return {{"joints", std::move(joints)}, {"rods", std::move(rods)}};
}

/// Where a joint's wrench acts; nothing for free joints, which bear none.
std::optional<Forces::Place> Forces::place_of(const std::string& name) const {
  if (const Joint* joint = model_->find_joint(name)) {
    if (joint->nv == 6) return std::nullopt;
    const Link* best = nullptr;  // the link whose axes the wrench is in (joint_reactions.hpp)
    for (const Link& link : model_->links()) {
      if (link.body != joint->body) continue;
      if (best == nullptr || dot(link.X.r, link.X.r) < dot(best->X.r, best->X.r)) best = &link;
    }
    return Place{joint->body, {0, 0, 0}, best->X.E};
  }
  const auto on = [](const Link& link, const Pose& origin) {
    return Place{link.body, link.X.r + transpose_times(link.X.E, origin.xyz),
                 origin.transform().E * link.X.E};
  };
  for (const LoopDescription& l : pinned_description_.loops) {
    if (l.name == name) return on(model_->link(l.successor), l.successor_origin);
  }
  for (const JointDescription& j : pinned_description_.joints) {  // one that was cut
    if (j.name == name) return on(model_->link(j.child), Pose{});
  }
  return std::nullopt;
}

Vec3<double> Forces::in_world(int body, Vec3<double> p, bool direction) const {
  for (int i = body; i != 0; i = model_->body(i).parent) {
    p = transpose_times(kinematics_.X[i].E, p);
    if (!direction) p = p + kinematics_.X[i].r;
  }
  return p;
}

/// Bars between two joints: the force on their own joint along the line to the other end.
void Forces::add_bars(const Json& joints, Json& rods) const {
  std::map<int, Attachments> at;
  for (const Tie& tie : ties_of(pinned_description_)) {
    for (const BarEnd& end : tie.ends) {
      const Link& link = model_->link(end.link);
      at[link.body].add(link.X.r + transpose_times(link.X.E, end.at));
    }
  }
  for (int i = 1; i <= model_->body_count(); ++i) {
    const bool rotor = i > model_->active_body_count();
    if (!rotor) at[model_->body(i).parent].add(model_->body(i).placement.r);
  }
  for (const Json& joint : joints) {
    const int body = joint["body"].get<int>();
    if (model_->find_joint(joint["name"].get<std::string>()) == nullptr) continue;
    const auto it = at.find(body);
    if (body == 0 || it == at.end() || it->second.points.size() != 1) continue;
    const Cluster& cluster = model_->clusters()[model_->body(body).cluster];
    if (!cluster.constrained || !cluster.G.empty()) continue;
    const Vec3<double> along = it->second.points.front();
    const Json& f = joint["force"];
    const Vec3<double> force{f[0].get<double>(), f[1].get<double>(), f[2].get<double>()};
    rods.push_back({{"body", body},
                    {"from", {0, 0, 0}},
                    {"to", vector(along)},
                    {"tension", -dot(force, along) / length(along)}});
  }
}

/// Massless rods of a given length between two bodies.
void Forces::add_rods(const Json& joints, Json& rods) const {
  const std::vector<Tie> ties = ties_of(pinned_description_);
  for (std::size_t k = 0; k < pinned_description_.loops.size(); ++k) {
    const LoopDescription& loop = pinned_description_.loops[k];
    if (!loop.parameters.contains("length")) continue;
    const auto point = [&](const BarEnd& end) {
      const Link& link = model_->link(end.link);
      return in_world(link.body, link.X.r + transpose_times(link.X.E, end.at), false);
    };
    const Vec3<double> from = point(ties[k].ends[1]), to = point(ties[k].ends[0]);
    for (const Json& joint : joints) {
      if (joint["name"] != loop.name) continue;
      const Json& f = joint["force"];
      const Vec3<double> force =
          in_world(joint["body"].get<int>(),
                   {f[0].get<double>(), f[1].get<double>(), f[2].get<double>()}, true);
      rods.push_back({{"loop", loop.name},
                      {"body", 0},
                      {"from", vector(from)},
                      {"to", vector(to)},
                      {"tension", dot(force, to - from) / length(to - from)}});
    }
  }
}

std::vector<double> Forces::limits(std::vector<double>& q, bool& known) const {
  const Model& m = *model_;
  std::vector<double> out(m.nv(), 0.0);
  known = false;
  const auto take = [&](int k, double limit) {
    if (out[k] == 0.0 || limit < out[k]) out[k] = limit;
    known = true;
  };
  std::vector<double> unit(m.nv(), 0.0), column(m.spanning_nv());
  SpanningMotion<double> motion(m);
  motion.update(q.data(), nullptr);
  std::vector<int> sources(m.spanning_nv(), 0);  // independent rates that move a spanning one
  std::vector<std::vector<double>> G;
  for (int k = 0; k < m.nv(); ++k) {
    unit[k] = 1.0;
    motion.expand(unit.data(), column.data());
    unit[k] = 0.0;
    for (std::size_t i = 0; i < column.size(); ++i) sources[i] += column[i] != 0.0;
    G.push_back(column);
  }
  for (const Joint& joint : m.joints()) {
    if (joint.nv != 1 || !joint.limits.effort || !(*joint.limits.effort > 0.0)) continue;
    for (int k = 0; k < m.nv(); ++k) {
      // What is behind a gear of one motor is that motor's: tau = G^T tau_joint.
      if (G[k][joint.v] == 0.0 || sources[joint.v] != 1) continue;
      take(k, std::abs(G[k][joint.v]) * *joint.limits.effort);
    }
  }
  for (const ActuatorDescription& actuator : m.extras().actuators) {
    if (actuator.gear.size() != 1 || !actuator.lower || !actuator.upper) continue;
    const auto& [name, gear] = *actuator.gear.begin();
    const Joint* joint = m.find_joint(name);
    if (joint == nullptr || joint->nv != 1 || joint->independent < 0 || gear.size() != 1) continue;
    const double limit =
        std::abs(gear[0]) * std::max(std::abs(*actuator.lower), std::abs(*actuator.upper));
    if (limit > 0.0) take(joint->independent, limit);
  }
  return out;
}

Json Forces::strength(In<double> q_in, int number) {
  const Model& m = *model_;
  expect_size("viewer", "q", q_in.size(), m.nq());
  if (number < 0 || static_cast<std::size_t>(number) >= m.links().size()) {
    throw SizeMismatch(fmt::format("viewer: number of the link is {}, expected one below {}",
                                   number, m.links().size()));
  }
  std::vector<double> q(q_in.data(), q_in.data() + q_in.size());
  const Link& link = m.links()[number];
  bool known = false;
  std::vector<double> limit = limits(q, known);
  kinematics_.update(m, q.data(), nullptr);
  const int n = m.nv();
  std::vector<double> J(6 * static_cast<std::size_t>(n));
  jacobians_->evaluate(q);
  jacobians_->jacobian(link, J);
  std::vector<Vec3<double>> columns;
  double largest = 0.0;
  bool all_limited = true;
  for (int k = 0; k < n; ++k) {
    if (m.joint_of_rate(m.independent_rates()[k]).nv != 1) continue;
    const Vec3<double> on_link{J[3 * n + k], J[4 * n + k], J[5 * n + k]};
    const Vec3<double> v = in_world(link.body, transpose_times(link.X.E, on_link), true);
    if (length(v) < 1e-9) continue;
    if (limit[k] == 0.0) limit[k] = 1.0, all_limited = false;
    columns.push_back(scale(1.0 / limit[k], v));
    largest = std::max(largest, length(columns.back()));
  }
  Json out{
      {"link", number}, {"body", link.body}, {"at", vector(link.X.r)}, {"points", Json::array()}};
  out["kind"] = static_cast<int>(columns.size()) > most_motors ? "ellipsoid" : "polytope";
  Eigen::MatrixXd A(3, columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k)
    A.col(k) << columns[k].x, columns[k].y, columns[k].z;
  // Squares of lever arms along their principal directions, in ascending order; none without
  // motors.
  const auto arms = detail::eigen_of_symmetric(Eigen::Matrix3d(A * A.transpose()));
  int rank = 0;
  // Directions in which motors have a thousandth of their best lever arm are the linkage's.
  while (rank < 3 && arms.values[2 - rank] > 1e-6 * largest * largest) ++rank;
  out["rank"] = rank;
  double strongest = 0.0;
  if (rank > 0) {
    const Eigen::MatrixXd U = arms.vectors.rightCols(rank), a = U.transpose() * A;
    for (const Eigen::VectorXd& f : out["kind"] == "polytope" ? vertices(a) : ellipsoid(a)) {
      const Eigen::Vector3d in_world = U * f;
      strongest = std::max(strongest, in_world.norm());
      out["points"].push_back({in_world.x(), in_world.y(), in_world.z()});
    }
  }
  out["words"] =
      rank == 0 ? fmt::format("No motor moves the origin of '{}' here.", link.name)
                : fmt::format("{} of {} motor{} at '{}': up to {:.3g} N{}.",
                              rank == 3   ? "All directions"
                              : rank == 2 ? "A plane of directions"
                                          : "One direction",
                              columns.size(), columns.size() == 1 ? "" : "s", link.name, strongest,
                              all_limited ? ""
                              : known     ? ", with 1 N·m or N where the file limits no effort"
                                      : " with 1 N·m or N each, since the file limits no effort");
  return out;
}

}  // namespace espalier::viewer
