#pragma once

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "espalier/host/host.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"
#include "espalier/kernel/problems/kinematics/jacobian.hpp"
#include "viewer/server/scene/scene.hpp"

namespace espalier::viewer {

/// A position of a robot that is moved by hand and stays closed. Belongs to one thread.
class Mechanism {
 public:
  /// Neutral.
  /// @param usual_margins  of another one of the same model, whose search takes a while
  /// @throws as Host::create() where dragging needs an algorithm that is not there
  Mechanism(const Host& host, ModelPtr model, std::vector<double> usual_margins = {});

  const Model& model() const { return *model_; }
  const std::vector<Slider>& sliders() const { return sliders_; }
  const std::vector<double>& q() const { return q_; }
  const Closure& closure() const { return closure_; }
  /// The margin of each loop away from dead points.
  const std::vector<double>& usual_margins() const { return usual_; }

  /// Moves one independent coordinate, as far as the loops follow; the value is first brought
  /// between the slider's limits.
  /// @throws SizeMismatch for a slider that is none; InvalidModel for a number that is none
  void set(int slider, double value);
  /// The model's neutral position; sliders whose limits leave it out go to the nearer limit, as far
  /// as the loops follow.
  void neutral();
  /// A position from the neutral one on the same branch, inside limits and away from dead points;
  /// where none of many is, the first that closes. The same for the same seed.
  void random(unsigned long long seed);
  /// Goes on to another assembly of a cluster's loops at the same independent positions.
  /// @return whether there is one @throws SizeMismatch for a cluster that is none
  bool other_branch(int cluster);
  /// Draws a point of a link to a place by damped least squares on independent rates: near a dead
  /// point of the sliders' joints on those of others, so that it is drawn past it. Joints that
  /// carry the whole robot freely stay unless they are the link's own.
  /// @param link    among Model::links()
  /// @param point   on the link [m], link axes
  /// @param target  [m], world axes
  /// @throws SizeMismatch, InvalidModel as set()
  void drag(int link, const Vec3<double>& point, const Vec3<double>& target);
  /// Takes over a position that somebody wrote down: normalised, its loops closed again.
  /// @throws SizeMismatch; InvalidModel for a number that is none, or loops that do not close
  void resume(In<double> q);
  /// Takes over a closed position. @throws SizeMismatch
  void place(In<double> q);

  /// Names of joints of one position that are beyond their limits.
  std::vector<std::string> beyond_limits() const { return beyond_limits(q_); }

  /// Where each body is in its parent: seven numbers a body, the ground first.
  void local_placements(std::vector<double>& out);
  /// {"bodies", "q", "values", "residual", "margin", "ease", "verdict", "words", "cluster",
  /// "branch", "over"}; ease is the margin as a part of what is usual for the loop, 0 to 1.
  Json pose();

 private:
  /// The robot in one choice of independent joints.
  struct Form {
    Form(const Host& host, ModelPtr of);
    ModelPtr model;
    std::unique_ptr<BodyJacobians<double>> jacobians;
    SpanningMotion<double> motion;
    LoopProjector loops;
  };

  Form& form_for_dragging();
  std::vector<Vec3<double>> columns_of(Form& form, const Link& link, const Vec3<double>& point);
  bool keep_limits(std::vector<double>& q) const;
  bool step_towards(const Link& link, const Vec3<double>& point, const Vec3<double>& target);
  void find_usual_margins();
  std::optional<std::vector<double>> closed_near(const std::vector<double>& neutral, double part,
                                                 std::mt19937_64& numbers) const;
  /// Least part of its usual margin that a loop has.
  double ease(const std::vector<double>& q);
  void approach(const Model& in, std::vector<double>& wanted);
  void examine_now();
  std::vector<std::string> beyond_limits(const std::vector<double>& q) const;
  double clamped(const Slider& slider, double value) const;
  Vec3<double> point_of(int body, const Vec3<double>& on_body);

  ModelPtr model_;
  std::vector<Slider> sliders_;
  const Host& host_;
  std::vector<std::unique_ptr<Form>> forms_;  ///< the model's own first
  std::size_t form_ = 0;                      ///< that the last drag used
  std::vector<double> usual_;
  TreeKinematics<double> kinematics_;
  Closure closure_;  ///< of the last move; margin and residual are those of now
  std::vector<double> q_, placements_;
  std::string branch_;  ///< "2 of 3" since other_branch(), which sliders and pulls do not leave
};

}  // namespace espalier::viewer
