#include "espalier/simulation/contact/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/problems/task.hpp"
#include "espalier/kernel/text.hpp"
#include "simulation/contact/newton/choice.hpp"

namespace espalier::contact {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

[[noreturn]] void refuse(const std::string& what, const std::string& got,
                         const std::string& wanted) {
  throw InvalidModel("contact: " + what + " is " + got + ", expected " + wanted);
}

void expect(const char* what, double x, bool good, const char* wanted) {
  if (!good || !std::isfinite(x)) refuse(what, text::number(x), wanted);
}

/// Radius of a sphere about the shape's origin that holds it.
double radius(const Shape& s) {
  switch (s.kind) {
    case Shape::Kind::sphere:
      return s.radius;
    case Shape::Kind::capsule:
      return s.radius + s.half_length;
    case Shape::Kind::cylinder:
      return std::hypot(s.radius, s.half_length);
    case Shape::Kind::box:
      return std::sqrt(dot(s.half, s.half));
    case Shape::Kind::hull: {
      double most = 0.0;
      for (const auto& x : s.corners()) most = std::max(most, std::sqrt(dot(x, x)));
      return most;
    }
    default:
      return infinity;
  }
}

std::vector<int> merged(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

}  // namespace

Plan::Plan(ModelPtr model, World world, StepOptions options, std::string collision,
           const std::function<int(const Shape&, const Shape&)>& points)
    : model_(std::move(model)),
      world_(std::move(world)),
      options_(std::move(options)),
      collision_(std::move(collision)) {
  const StepOptions& o = options_;
  expect("friction_rate", o.friction_rate, o.friction_rate > 0.0, "a positive rate");
  expect("limit_margin", o.limit_margin, o.limit_margin >= 0.0, "a number not below zero");
  expect("correction", o.correction, o.correction >= 0.0 && o.correction <= 1.0,
         "a number from 0 to 1");
  expect("slop", o.slop, o.slop >= 0.0, "a number not below zero");
  expect("impact_rate", o.impact_rate, o.impact_rate >= 0.0, "a number not below zero");
  expect("too_deep", o.too_deep, o.too_deep > 0.0, "a positive number");
  expect("tolerance", o.tolerance, o.tolerance > 0.0, "a positive number");
  expect("margin", world_.margin, world_.margin >= 0.0, "a number not below zero");

  // A rate's ancestors: its cluster's lower ones, and all of the clusters that carry it.
  ancestors_.resize(model_->nv());
  for (const Cluster& c : model_->clusters()) {
    std::vector<int> above;
    for (const Cluster* p = &c; p->parent >= 0;) {
      p = &model_->clusters()[p->parent];
      for (int k = 0; k < p->nv; ++k) above.push_back(p->v + k);
    }
    std::sort(above.begin(), above.end());
    for (int k = 0; k < c.nv; ++k) {
      ancestors_[c.v + k] = above;
      above.push_back(c.v + k);
      std::sort(above.begin(), above.end());
    }
  }
  add_solids();
  add_pairs(points);
  add_joints();
  add_held();

  std::set<int> carried;
  for (const Site& site : sites_) {
    carried.insert(site.way.begin(), site.way.end());
    longest_support_ = std::max(longest_support_, static_cast<int>(site.support.size()));
  }
  for (const Pair& pair : pairs_) {
    longest_support_ = std::max(longest_support_, static_cast<int>(pair.support.size()));
  }
  newton_way_ = choose_newton_way(*this, options_.newton);
  if (newton_way_ == NewtonWay::tree) {
    for (int i = 1; i <= model_->active_body_count(); ++i) carried.insert(i);
  }
  placed_ = PlacedBodies(*model_, carried);
  places_rotors_ = !carried.empty() && *carried.rbegin() > model_->active_body_count();
  for (Site& site : sites_) site.find_columns(*model_, placed_);
}

std::vector<int> Plan::support_of_rate(int rate) const {
  const int body = model_->joint_of_rate(rate).body;
  const Cluster& c = model_->clusters()[model_->body(body).cluster];
  std::vector<int> support;
  for (int k = 0; k < c.nv; ++k) support = merged(support, merged(ancestors_[c.v + k], {c.v + k}));
  return support;
}

int Plan::site_of(int body) {
  for (std::size_t k = 0; k < sites_.size(); ++k) {
    if (sites_[k].body == body) return static_cast<int>(k);
  }
  sites_.push_back(way_of(body));
  return static_cast<int>(sites_.size()) - 1;
}

BodyWay Plan::way_of(int body) const {
  BodyWay out;
  out.body = body;
  for (int i = body; i != 0; i = model_->body(i).parent) {
    out.way.push_back(i);
    out.support = merged(out.support, support_of_rate(model_->body(i).v));
  }
  return out;
}

const std::vector<int>& Plan::support_of_scalar_row(int row) const {
  static const std::vector<int> nothing;
  if (row < joint_rows()) return joint_row(row).support;
  const int site = held_[row - joint_rows()].site;
  return site < 0 ? nothing : sites_[site].support;
}

void Plan::add_solids() {
  for (const PlacedShape& placed : world_.shapes) {
    Solid solid;
    solid.placed = placed;
    solid.name = !placed.name.empty() ? placed.name : placed.link.empty() ? "ground" : placed.link;
    const std::string who = "contact: shape " + text::quoted(solid.name);
    placed.shape.validate(who);
    placed.surface.validate(who);
    for (int k = 0; k < 3; ++k) {
      const double x = placed.velocity[k];
      if (!std::isfinite(x)) refuse(who + ": velocity", text::number(x), "finite numbers");
      const double place = placed.pose.xyz[k], angle = placed.pose.rpy[k];
      if (!std::isfinite(place)) refuse(who + ": place", text::number(place), "finite numbers");
      if (!std::isfinite(angle)) refuse(who + ": angle", text::number(angle), "finite numbers");
      solid.runs = solid.runs || x != 0.0;
    }
    solid.X = placed.pose.transform();
    if (!placed.link.empty()) {
      const Link& link = model_->link(placed.link);
      solid.body = link.body;
      solid.X = solid.X * link.X;
      if (link.body != 0) {
        if (radius(placed.shape) == infinity) {
          refuse("shape " + text::quoted(solid.name) + " of link " + text::quoted(placed.link),
                 std::string(to_string(placed.shape.kind)), "a solid (terrain does not move)");
        }
        solid.site = site_of(link.body);
      }
    }
    solids_.push_back(std::move(solid));
  }
}

/// Whether a body hangs on another, by joints with nothing but massless bodies between them.
bool Plan::carries(int body, int other) const {
  for (int p = model_->body(other).parent; p != 0; p = model_->body(p).parent) {
    if (p == body) return true;
    if (model_->body(p).inertia.m != 0.0) return false;
  }
  return false;
}

/// Whether a body hangs on the ground, by joints that hold it there with nothing but massless
/// bodies between them.
bool Plan::hangs_on_ground(int body) const {
  for (int i = body; i != 0; i = model_->body(i).parent) {
    if (model_->joints()[model_->body(i).joint].type == "floating") return false;
    if (i != body && model_->body(i).inertia.m != 0.0) return false;
  }
  return true;
}

/// Whether it is a solid of the robot that stands still, such as an arm's base: no terrain, and not
/// the ground itself.
bool Plan::is_base(const Solid& solid) const {
  return solid.body == 0 && !solid.placed.link.empty() && solid.placed.link != "world" &&
         radius(solid.placed.shape) != infinity;
}

bool Plan::touch(const Solid& a, const Solid& b) const {
  if (a.body == b.body) return false;
  if ((is_base(a) && hangs_on_ground(b.body)) || (is_base(b) && hangs_on_ground(a.body))) {
    return false;  // as neighbours of moving bodies, below
  }
  const PlacedShape &x_shape = a.placed, &y_shape = b.placed;
  if ((x_shape.type & y_shape.affinity) == 0 && (y_shape.type & x_shape.affinity) == 0)
    return false;
  if (a.body != 0 && b.body != 0) {
    if (!world_.self_collision) return false;
    // Neighbours through one joint overlap at it, those through several at one place as well.
    if (carries(a.body, b.body) || carries(b.body, a.body)) return false;
  }
  for (const auto& [x, y] : world_.excluded) {
    if ((x == a.placed.link && y == b.placed.link) || (y == a.placed.link && x == b.placed.link))
      return false;
  }
  return true;
}

void Plan::add_pairs(const std::function<int(const Shape&, const Shape&)>& points) {
  for (const auto& [x, y] : world_.excluded) {
    for (const std::string& name : {x, y}) {
      if (!name.empty()) (void)model_->link(name);
    }
  }
  for (std::size_t i = 0; i < solids_.size(); ++i) {
    for (std::size_t j = i + 1; j < solids_.size(); ++j) {
      // The ground, or the shape that comes first, is the second one: normals point away from it.
      const bool turned = solids_[i].body != 0 && solids_[j].body == 0;
      Pair pair;
      pair.a = static_cast<int>(turned ? i : j), pair.b = static_cast<int>(turned ? j : i);
      const Solid &a = solids_[pair.a], &b = solids_[pair.b];
      if (!touch(a, b)) continue;
      pair.count = points(a.placed.shape, b.placed.shape);
      if (pair.count == 0) {
        throw Unsupported(
            "contact: pair of shapes is " + text::quoted(a.name) + " (" +
            std::string(to_string(a.placed.shape.kind)) + ") and " + text::quoted(b.name) + " (" +
            std::string(to_string(b.placed.shape.kind)) + "), expected one that the collider '" +
            collision_ +
            "' knows (take the collider 'bullet', which is built where libbullet-dev is, exclude "
            "their links, or make one of them spheres or capsules)");
      }
      pair.first = points_;
      pair.surface = pair_surface(a.placed.surface, b.placed.surface);
      if (pair.surface.torsional_friction > 0.0 || pair.surface.rolling_friction > 0.0) {
        turning_rows_ = 3;
      }
      const double ra = radius(a.placed.shape), rb = radius(b.placed.shape);
      pair.reach = ra + rb;
      // A tenth of the smaller solid's diameter.
      pair.too_deep = std::min(options_.too_deep, 0.2 * std::min(ra, rb));
      if (a.site >= 0) pair.support = sites_[a.site].support;
      if (b.site >= 0) pair.support = merged(pair.support, sites_[b.site].support);
      forks_ = forks_ || (a.site >= 0 && b.site >= 0);
      points_ += pair.count;
      pair_of_.resize(points_, static_cast<int>(pairs_.size()));
      pairs_.push_back(std::move(pair));
    }
  }
}

void Plan::add_joints() {
  for (const Joint& joint : model_->joints()) {
    const bool one = joint.nv == 1 && joint.nq == 1;
    const PassiveDynamics& p = joint.passive;
    for (int k = 0; k < joint.nv; ++k) {
      const int rate = joint.v + k;
      if (options_.passive && (p.damping != 0.0 || (one && p.stiffness != 0.0))) {
        passive_.push_back({rate, one ? joint.q : -1, p.damping, one ? p.stiffness : 0.0, p.rest});
      }
      if (p.friction > 0.0 && options_.friction == StepOptions::Friction::rows) {
        frictions_.push_back({joint.name, rate, joint.q, 0, p.friction, support_of_rate(rate)});
      }
      if (p.friction > 0.0 && options_.friction == StepOptions::Friction::implicit) {
        dry_.push_back({rate, p.friction});
      }
    }
    if (!one || !options_.limits) continue;
    const auto limit = [&](const std::optional<double>& bound, int side) {
      if (!bound || !std::isfinite(*bound)) return;
      limits_.push_back({joint.name, joint.v, joint.q, side, *bound, support_of_rate(joint.v)});
    };
    limit(joint.limits.lower, 1);
    limit(joint.limits.upper, -1);
  }
  for (const JointDrive& drive : options_.drives) {
    const Joint& joint = model_->joint(drive.joint);
    const std::string who = "drive of joint " + text::quoted(drive.joint);
    if (joint.nv != 1 || joint.nq != 1) {
      throw Unsupported("contact: " + who + " has " + std::to_string(joint.nv) +
                        " rates, expected 1");
    }
    const auto positive = [&](const char* what, double x) {
      if (!(x >= 0.0)) refuse(who + ": " + what, text::number(x), "a number not below zero");
    };
    positive("kp", drive.kp), positive("kd", drive.kd), positive("most", drive.most);
    positive("stall", drive.stall), positive("no_load_rate", drive.no_load_rate);
    if ((drive.stall > 0.0) != (drive.no_load_rate > 0.0)) {
      refuse(who + ": torque-speed line",
             text::number(drive.stall) + " at rest and rate " + text::number(drive.no_load_rate),
             "both above zero, or none");
    }
    drives_.push_back({drive, joint.v, joint.q});
  }
}

void Plan::add_held() {
  if (options_.held.empty()) return;
  const Task task(*model_, options_.held);
  for (std::size_t k = 0; k < task.parts().size(); ++k) {
    const Task::Part& part = task.parts()[k];
    for (const Force<double>& row : part.rows) {
      HeldRow held;
      held.part = static_cast<int>(k);
      held.site = part.body == 0 ? -1 : site_of(part.body);
      held.row = row, held.world = part.world;
      held.point = part.world ? part.point : Vec3<double>{0, 0, 0};
      held_.push_back(held);
    }
  }
}

}  // namespace espalier::contact
