#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/problems/setup.hpp"
#include "espalier/simulation/contact/placed_bodies.hpp"
#include "espalier/simulation/contact/problems/collision.hpp"
#include "espalier/simulation/contact/problems/link_rows.hpp"
#include "espalier/simulation/contact/shape.hpp"

/// What contact needs to know of a robot before it moves: which solids may touch at how many
/// points, which rates move them, and which joints have limits, friction and motors.

namespace espalier::contact {

/// A motor on a joint of one rate, any of the model: independent, dependent, or behind a gear.
struct JointDrive {
  std::string joint;
  double kp = 0.0;  ///< towards a target, implicitly [N·m/rad, N/m]
  double kd = 0.0;  ///< towards a rate, implicitly [N·m·s/rad, N·s/m]
  double most = std::numeric_limits<double>::infinity();  ///< torque or force [N·m, N]
  /// Torque at rest and rate without load: the torque-speed line; 0: none.
  double stall = 0.0, no_load_rate = 0.0;  ///< [N·m, N; rad/s, m/s]
};

/// How Newton's rounds solve their linear systems; to rounding the same answers.
enum class NewtonWay {
  cheapest,     ///< whichever takes the fewest multiplications with all points touching
  dense,        ///< elimination among all rows: O(m^3)
  twist_space,  ///< among the twists of links that touch and joints that have rows
  tree,         ///< a recursion over the clusters: O(n) for any number of rows
  rate_space    ///< among the independent rates, with the sparsity of the mass matrix
};
ESPALIER_API std::string_view to_string(NewtonWay way);

/// What a step does, for all robots of a simulation.
struct StepOptions {
  enum class Friction {
    rows,      ///< exact: dry friction of a joint holds it
    implicit,  ///< one factor more instead of a row: creeps below friction_rate
    none
  };
  bool passive = true;  ///< damping and springs of the joints act, implicitly
  Friction friction = Friction::rows;
  double friction_rate = 1e-3;  ///< of Friction::implicit [rad/s, m/s], above 0
  bool limits = true;           ///< joints stop at their limits
  double limit_margin = 0.05;   ///< limits nearer than this are looked at [rad, m]
  double correction = 0.2;      ///< part of a depth that one step takes away, at positions
  double slop = 1e-5;           ///< depth that is left [m, rad]
  double impact_rate = 0.05;    ///< slower impacts do not bounce [m/s]
  double too_deep = 0.05;       ///< depth beyond which a verdict says so [m]
  double tolerance = 1e-6;      ///< of the natural residual [m/s]
  NewtonWay newton = NewtonWay::cheapest;
  std::vector<JointDrive> drives = {};
  std::vector<EndEffector> held = {};  ///< links whose rates are prescribed, zero if nobody says
  CloseOptions closing{};
};

/// All that steps of a robot have in common; shared by threads.
class ESPALIER_API Plan {
 public:
  /// A shape where it is fixed.
  struct Solid {
    PlacedShape placed;
    int body = 0;         ///< 0: the ground
    int site = -1;        ///< among sites(); -1: the ground
    bool runs = false;    ///< its surface has a velocity
    Transform<double> X;  ///< from the body's frame to the shape's
    std::string name;
  };
  /// A moving body that may be touched or held.
  using Site = BodyWay;
  /// Two solids that may touch.
  struct Pair {
    int a = 0, b = 0;          ///< solids; the normal points from b to a
    int first = 0, count = 0;  ///< its points among all
    Surface surface;
    double reach = 0.0;     ///< sum of the radii of spheres around both [m]; infinite: terrain
    double too_deep = 0.0;  ///< [m]
    std::vector<int> support;
  };
  /// A row of one spanning rate.
  struct JointRow {
    std::string joint;
    int rate = 0, position = 0;
    int side = 0;        ///< +1: at its lower limit; -1: at its upper one; 0: friction
    double bound = 0.0;  ///< limit, or friction [N·m, N]
    std::vector<int> support;
  };
  struct HeldRow {
    int part = 0, site = -1;
    Force<double> row;
    Vec3<double> point;  ///< in the body's frame
    bool world = false;
  };
  /// Damping and a spring on one rate, for implicit steps.
  struct Passive {
    int rate = 0, position = -1;
    double damping = 0.0, stiffness = 0.0, rest = 0.0;
  };
  struct Drive {
    JointDrive is;
    int rate = 0, position = 0;
  };
  /// Dry friction that is not a row.
  struct Dry {
    int rate = 0;
    double force = 0.0;
  };

  /// @param collision  name of the collider that counts the points
  /// @param points     of a pair of shapes, as Collision::points(); 0: it cannot be computed on
  /// @throws InvalidModel for unusable shapes, options and rows; UnknownName for links and joints;
  ///         Unsupported for a pair that nothing computes, naming both, and for a way of the Newton
  ///         system that cannot
  Plan(ModelPtr model, World world, StepOptions options, std::string collision,
       const std::function<int(const Shape&, const Shape&)>& points);

  const Model& model() const { return *model_; }
  const ModelPtr& model_ptr() const { return model_; }
  const World& world() const { return world_; }
  const StepOptions& options() const { return options_; }
  const std::string& collision() const { return collision_; }

  const std::vector<Solid>& solids() const { return solids_; }
  const std::vector<Site>& sites() const { return sites_; }
  const std::vector<Pair>& pairs() const { return pairs_; }
  int points() const { return points_; }  ///< of all pairs
  int pair_of(int point) const { return pair_of_[point]; }
  const std::vector<JointRow>& limits() const { return limits_; }
  const std::vector<JointRow>& frictions() const { return frictions_; }
  const std::vector<HeldRow>& held() const { return held_; }
  const std::vector<Passive>& passive() const { return passive_; }
  const std::vector<Drive>& drives() const { return drives_; }
  const std::vector<Dry>& dry() const { return dry_; }
  /// Bodies that carry sites, and all that carry them; all but folded rotors where Newton systems
  /// are solved through the tree.
  const PlacedBodies& placed_bodies() const { return placed_; }
  /// Any moving body's way from the ground and support, without columns.
  BodyWay way_of(int body) const;
  /// Rates that move a scalar row.
  const std::vector<int>& support_of_scalar_row(int row) const;
  /// How Newton systems are solved: a way of its own, never `cheapest`.
  NewtonWay newton_way() const { return newton_way_; }
  /// Whether problems have their rows as factors, RowFactors, instead of the matrix of all rows.
  bool factors_rows() const { return newton_way_ != NewtonWay::dense; }
  /// Moving links that a contact may have.
  int links_of_contact() const { return forks_ ? 2 : 1; }
  /// Most rates that move a contact or a held link.
  int longest_support() const { return longest_support_; }
  /// Numbers that LinkRows keeps of a contact and of a held row.
  int numbers_of_contact() const {
    return newton_way_ == NewtonWay::rate_space ? 3 * longest_support_ : 18 * links_of_contact();
  }
  int numbers_of_held() const {
    return newton_way_ == NewtonWay::rate_space ? longest_support_ : 6;
  }
  /// Whether some row is moved by two ways from the ground: else what moves two rows is where their
  /// ascending supports begin alike.
  bool forks() const { return forks_; }
  bool places_rotors() const { return places_rotors_; }

  /// Independent rates of a rate's cluster and of those that carry it, below it: the places of its
  /// row in the factor of the mass matrix.
  const std::vector<int>& ancestors(int rate) const { return ancestors_[rate]; }

  /// Rows of joints: limits, then friction.
  int joint_rows() const { return static_cast<int>(limits_.size() + frictions_.size()); }
  const JointRow& joint_row(int k) const {
    const int limits = static_cast<int>(limits_.size());
    return k < limits ? limits_[k] : frictions_[k - limits];
  }
  /// Scalar rows: those of joints, then held ones.
  int scalar_rows() const { return joint_rows() + static_cast<int>(held_.size()); }
  /// Rows of torsional and rolling friction of each contact, after the other scalar rows: 3, or 0
  /// where no pair has any.
  int turning_rows() const { return turning_rows_; }
  /// All scalar rows of a problem of so many contacts.
  int scalar_rows(int contacts) const { return scalar_rows() + turning_rows_ * contacts; }
  /// Contacts that memory is made ready for: where more points touch at once, a step allocates.
  int usual_contacts() const { return points_ < 32 ? points_ : 32; }
  /// Room for the rows of so many.
  template <class T>
  void reserve(LinkRows<T>& rows) const {
    std::size_t numbers = 0;
    for (int k = 0; k < joint_rows(); ++k) numbers += joint_row(k).support.size();
    rows.reserve(usual_contacts(), numbers_of_contact(), numbers_of_held() * held_.size(), numbers);
  }
  /// Numbers that a robot keeps from step to step: world impulse and slip of each point, impulse of
  /// each scalar row, and the moment's impulse of each point where there are turning rows.
  int memory_size() const { return 4 * points_ + scalar_rows(points_); }

 private:
  int site_of(int body);
  std::vector<int> support_of_rate(int rate) const;
  void add_solids();
  void add_pairs(const std::function<int(const Shape&, const Shape&)>& points);
  void add_joints();
  void add_held();
  bool hangs_on_ground(int body) const;
  bool is_base(const Solid& solid) const;
  bool carries(int body, int other) const;
  bool touch(const Solid& a, const Solid& b) const;

  ModelPtr model_;
  World world_;
  StepOptions options_;
  std::string collision_;
  std::vector<Solid> solids_;
  std::vector<Site> sites_;
  std::vector<Pair> pairs_;
  std::vector<int> pair_of_;
  PlacedBodies placed_;
  std::vector<JointRow> limits_, frictions_;
  std::vector<HeldRow> held_;
  std::vector<Passive> passive_;
  std::vector<Drive> drives_;
  std::vector<Dry> dry_;
  std::vector<std::vector<int>> ancestors_;
  int points_ = 0, longest_support_ = 0, turning_rows_ = 0;
  bool places_rotors_ = false, forks_ = false;
  NewtonWay newton_way_ = NewtonWay::dense;
};

}  // namespace espalier::contact
