#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/model/description.hpp"
#include "espalier/kernel/model/model_types.hpp"
#include "espalier/kernel/scalar/scalar.hpp"
#include "espalier/kernel/spatial/transform.hpp"

/// The joint interface. An author writes one class (see JointTraits below); registering it compiles
/// it for every scalar and wraps it into a JointType. The kernel hands runs of bodies that hang on
/// joints of the same type to one JointRun, so that a virtual call is paid per run, not per joint.

namespace espalier {

template <class T>
struct Dual;

/// Motion subspace whose columns are unit vectors of the body frame: k = 0, 1, 2 rotate about and
/// 3, 4, 5 translate along x, y, z. S is constant and never stored.
template <int... axis>
struct Axes {
  static constexpr int size = sizeof...(axis);                       ///< number of columns
  static constexpr std::array<int, sizeof...(axis)> index{axis...};  ///< k of each column
};
/// Motion subspace given by its columns, which may depend on the position.
template <int n>
struct Dense {
  static constexpr int size = n;  ///< number of columns
};

using RevoluteAxes = Axes<2>;             ///< rotation about z
using PrismaticAxes = Axes<5>;            ///< translation along z
using SphericalAxes = Axes<0, 1, 2>;      ///< all rotations
using FreeAxes = Axes<0, 1, 2, 3, 4, 5>;  ///< all motions

template <class Subspace>
constexpr SubspaceKind subspace_kind() {  ///< kind of a subspace that is known to the compiler
  if constexpr (std::is_same_v<Subspace, RevoluteAxes>) return SubspaceKind::revolute_z;
  if constexpr (std::is_same_v<Subspace, PrismaticAxes>) return SubspaceKind::prismatic_z;
  if constexpr (std::is_same_v<Subspace, SphericalAxes>) return SubspaceKind::spherical;
  if constexpr (std::is_same_v<Subspace, FreeAxes>) return SubspaceKind::free;
  return SubspaceKind::dense;
}

/// What the joints of a run produce for their bodies. Arrays start at the run's first body; S at
/// the run's first rate. S and bias are written for dense subspaces only.
template <class T>
struct JointKinematics {
  Transform<T>* X;            ///< from the parent body to the body, per body
  Motion<T>* S;               ///< columns of the motion subspace, body frame, per rate
  Motion<T>* bias;            ///< (dS/dt) qd with S seen from the body frame, per body
  const T* sine = nullptr;    ///< in: of turns() at the position, per body; null: not known
  const T* cosine = nullptr;  ///< likewise
};

/// The joints of a run of bodies of one Model: immutable, shared by threads.
/// Positions and velocities are contiguous: joint k starts at q + k nq, qd + k nv.
class ESPALIER_API JointRun {
 public:
  virtual ~JointRun();

  /// Whether X_J of every joint is a rotation about z and nothing else: then there are turns().
  virtual bool turns_about_z() const { return false; }
  /// Whether S depends on the position: then there is vary().
  virtual bool subspace_varies() const = 0;

#define ESPALIER_DECLARE(T)                                                                        \
  /** X_k = X_J(q_k) X_tree,k (and S, bias) for all joints of the run; qd may be null: no bias. */ \
  virtual void kinematics(const T* q, const T* qd, const JointKinematics<T>& out) const = 0;       \
  /** q_out = q moved by the constant velocity v for unit time. q_out may be q. */                 \
  virtual void integrate(const T* q, const T* v, T* q_out) const = 0;                              \
  /** The v with integrate(q0, v) = q1. */                                                         \
  virtual void difference(const T* q0, const T* q1, T* v) const = 0;                               \
  /** Brings q back onto its manifold. */                                                          \
  virtual void normalize(T* q) const = 0;                                                          \
  /** Equations of joint k's own (JointType::has_equations), at its q and qd and the angular       \
      velocity w of the parent body; M (lower triangle, row-major, size 6 + nv) and h in the       \
      parent body's frame. */                                                                      \
  virtual void equations(int k, const T* q, const T* qd, const Vec3<T>& w, T* M, T* h) const;      \
  /** Sine and cosine of the angle of every joint of the run, where turns_about_z(). */            \
  virtual void turns(const T* q, T* sine, T* cosine) const;                                        \
  /** How S and bias of joint k, of a dense subspace, vary where its position moves along the      \
      rates x and its rates along xd, body frame. */                                               \
  virtual void vary(int k, const T* q, const T* qd, const T* x, const T* xd, Motion<T>* dS,        \
                    Motion<T>& dbias) const = 0;                                                   \
  /** How the end of integrate(q, d) of joint k varies, along its rates there, where q moves along \
      the rates x and d by xd: x and xd where positions are numbers, else                          \
      Ad(exp(-d)) x + dexp(-d) xd. */                                                              \
  virtual void vary_integration(int k, const T* q, const T* d, const T* x, const T* xd, T* out)    \
      const = 0;
  ESPALIER_SCALARS(ESPALIER_DECLARE)
#undef ESPALIER_DECLARE
  /// The same along one more direction, for second derivatives of the dynamics.
  virtual void kinematics(const Dual<double>* q, const Dual<double>* qd,
                          const JointKinematics<Dual<double>>& out) const = 0;
  virtual void integrate(const Dual<double>* q, const Dual<double>* v,
                         Dual<double>* q_out) const = 0;  ///< likewise
  virtual void vary(int k, const Dual<double>* q, const Dual<double>* qd, const Dual<double>* x,
                    const Dual<double>* xd, Motion<Dual<double>>* dS,
                    Motion<Dual<double>>& dbias) const = 0;  ///< likewise

  virtual void neutral(double* q) const = 0;  ///< neutral positions of all joints of the run
};

/// A part of a Description with parameters, as its type sees it.
struct ESPALIER_API PartSpec {
  const char* what = "joint";  ///< what it is, for errors
  std::string name;            ///< of the part
  Parameters parameters;       ///< as in the file
  std::string where;           ///< file:line for errors

  bool has(std::string_view key) const;  ///< whether the file gives the parameter
  /// The single number `key`. @throws InvalidModel if it is missing without default, or a list.
  double number(std::string_view key, std::optional<double> fallback = std::nullopt) const;
  /// A number that is greater than zero. @throws InvalidModel
  double positive(std::string_view key, std::optional<double> fallback = std::nullopt) const;
  /// A number other than zero. @throws InvalidModel
  double nonzero(std::string_view key, std::optional<double> fallback = std::nullopt) const;
  /// `size` numbers. @throws InvalidModel if they are missing without default, or not as many
  std::vector<double> numbers(std::string_view key, std::size_t size,
                              std::optional<std::vector<double>> fallback = std::nullopt) const;
  /// A vector of three numbers. @throws InvalidModel
  Vec3<double> vector(std::string_view key,
                      std::optional<Vec3<double>> fallback = std::nullopt) const;
  /// The vector `key` of three numbers, as a unit vector. @throws InvalidModel
  Vec3<double> direction(std::string_view key, std::optional<Vec3<double>> fallback) const;
  /// A frame from PREFIX_xyz [m] and PREFIX_rpy [rad]. @throws InvalidModel
  Pose pose(const std::string& prefix, const Pose& fallback = {}) const;
  /// A body from PREFIX_mass [kg], PREFIX_com [m] and PREFIX_inertia, which is [ixx, iyy,
  /// izz, ixy, ixz, iyz] about the centre of mass, link axes [kg·m²]. Without any of them the
  /// fallback; with a mass alone a point mass at the origin. @throws InvalidModel
  std::optional<Inertial> inertial(const std::string& prefix,
                                   const std::optional<Inertial>& fallback = std::nullopt) const;
  /// Refuses a parameter: "<who>: parameter '<key>' is <got>, expected <wanted>".
  [[noreturn]] void refuse(std::string_view key, const std::string& got,
                           const std::string& wanted) const;
  [[noreturn]] void refuse(std::string_view key, double got, const std::string& wanted) const;
};

/// One joint of a Description.
struct ESPALIER_API JointSpec : PartSpec {
  Vec3<double> axis;  ///< unit vector, joint frame
};

/// One equation (or, for `facing`, inequality) between the two frames that a loop joint connects:
/// p on the predecessor with origin x_p, s on the successor with origin x_s.
struct LoopRow {
  enum class Kind {
    along,     ///< a · (x_s - x_p) = value, a fixed in p
    aligned,   ///< a · b = value, a fixed in p, b fixed in s
    distance,  ///< |x_s - x_p| = value
    facing     ///< a · b > 0: tells the closed loop from its mirror images
  };
  Kind kind = Kind::along;  ///< what it says
  Vec3<double> a{0, 0, 0};  ///< unit vector in p
  Vec3<double> b{0, 0, 0};  ///< unit vector in s
  double value = 0.0;       ///< [m] or cosine
};

/// Something that can close a loop between two frames.
class ESPALIER_API LoopJoint {
 public:
  virtual ~LoopJoint();
  /// Names of the parameters it reads; others are refused.
  virtual std::vector<std::string_view> parameter_names() const = 0;
  /// What it demands of the two frames; empty if it can close no loop. `axis` is in p's frame, and
  /// in s's where both must agree.
  virtual std::vector<LoopRow> loop_rows(const JointSpec& joint) const = 0;
};

/// A registered type of joint.
class ESPALIER_API JointType : public LoopJoint {
 public:
  ~JointType() override;
  virtual std::string_view name() const = 0;  ///< under which it is registered
  virtual int nq() const = 0;                 ///< size of the position
  virtual int nv() const = 0;                 ///< size of the velocity
  virtual SubspaceKind subspace() const = 0;  ///< kind of its motion subspace
  /// Whether it brings equations of motion besides those of the bodies, as an elastic beam does:
  ///   dy^T (M yd + h) is its part of the virtual power, y = (twist of the parent body, rates),
  /// where yd holds the parent's angular acceleration, the acceleration of the point at its
  /// origin, which is the derivative of that point's velocity in space, and the rates' own.
  /// h is all that it takes at yd = 0: velocity terms, springs. Gravity is not in it: it is felt
  /// as an acceleration of everything.
  virtual bool has_equations() const { return false; }
  /// Its inputs, where these are not forces on its rates, and their columns: nv x inputs,
  /// row-major.
  virtual std::vector<std::string_view> inputs() const { return {}; }
  virtual std::span<const double> B() const { return {}; }  ///< nv x inputs, row-major
  /// Parameters of a working joint; empty where any positive numbers do.
  virtual Parameters sample() const { return {}; }
  /// Rotation from the joint frame to the frame in which the type computes (its axis on z), or
  /// identity. The body frame of the child is the link's frame turned by it.
  virtual Mat3<double> alignment(const JointSpec& joint) const = 0;
  /// Joints and, for each, the placement from the parent body's frame to the joint's.
  virtual std::unique_ptr<JointRun> make_run(
      std::span<const JointSpec> joints, std::span<const Transform<double>> placements) const = 0;
};

/// The rows of common loop joints: an axis that stays parallel (two rows and a facing), and the
/// offsets of the origins along a direction.
ESPALIER_API void keep_axis(const Vec3<double>& axis, std::vector<LoopRow>& rows);
ESPALIER_API void keep_offset(const Vec3<double>& direction, std::vector<LoopRow>& rows);
/// Two unit vectors that complete `axis` to a right-handed frame.
ESPALIER_API std::pair<Vec3<double>, Vec3<double>> across(const Vec3<double>& axis);

/// The proper rotation that takes `axis` to z: a permutation with signs where axis is a coordinate
/// axis, so that placements keep their zeros.
ESPALIER_API Mat3<double> turn_onto_z(const Vec3<double>& axis);

}  // namespace espalier
