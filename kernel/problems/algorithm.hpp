#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/model/state.hpp"
#include "espalier/kernel/views.hpp"

/// What all algorithms of all problems have in common.

namespace espalier {

template <class T>
class JointTurns;

/// What an algorithm can do. Asked for more, it is refused with the cluster that stands in the way.
struct Capabilities {
  bool couplings = false;         ///< clusters with qd = G yd, G constant
  bool loops = false;             ///< clusters with configuration-dependent or implicit constraints
  bool several_supports = false;  ///< clusters with more than one supporting body
  bool joint_supplied_dynamics =
      false;          ///< joints that bring equations of their own (elastic beams)
  bool exact = true;  ///< false: approximates the model; the summary says how
  /// Robots whose spanning tree alone, loops being open, has joints that move no inertia.
  bool weightless_tree = true;
};

/// External wrenches, kept per body in body frames.
template <class T>
class Wrenches {
 public:
  /// None yet.
  explicit Wrenches(ModelPtr model)
      : model_(detail::expect_model("wrenches", model)),
        of_body_(model_->body_count() + 1, Force<T>::zero()) {}

  /// The model on whose links they act.
  const Model& model() const { return *model_; }

  /// Takes all wrenches off.
  void clear() { of_body_.assign(of_body_.size(), Force<T>::zero()); }
  /// Adds a wrench on a link: moment about the link's origin and force, link frame [N·m, N].
  /// @throws UnknownName
  void add(std::string_view link, const Force<T>& wrench) { add(model_->link(link), wrench); }
  /// The same for a link of this model.
  void add(const Link& link, const Force<T>& wrench) {
    of_body_[link.body] += link.X.transpose_times_force(wrench);
  }
  /// Wrench on body i in its own frame.
  const Force<T>& operator[](int body) const { return of_body_[body]; }
  /// Bodies, the ground included.
  int size() const { return static_cast<int>(of_body_.size()); }

 private:
  ModelPtr model_;
  std::vector<Force<T>> of_body_;
};

/// Everything that a problem may ask for, by role, where the caller has it.
template <class T>
struct BasicInputViews {
  In<T> q{nullptr, 0};                    ///< spanning positions, size nq
  In<T> v{nullptr, 0};                    ///< independent rates, size nv
  In<T> tau{nullptr, 0};                  ///< generalized forces, size nv
  In<T> vdot{nullptr, 0};                 ///< generalized accelerations, size nv
  const Wrenches<T>* wrenches = nullptr;  ///< external wrenches on bodies
  /// Wanted accelerations of a task's rows; zero where it is empty.
  In<T> task_acceleration{nullptr, 0};
  /// What sensors measure; where it is empty, torques and accelerations of joints are those of tau
  /// and vdot, and all else is zero.
  In<T> measurements{nullptr, 0};
  /// What adjoints weigh components with; ones where it is empty.
  In<T> multipliers{nullptr, 0};
  double time_step = 1e-3;  ///< of discrete steps [s]
};
using InputViews = BasicInputViews<double>;              ///< of one robot
using PackInputViews = BasicInputViews<Pack>;            ///< of eight robots
using FloatPackInputViews = BasicInputViews<FloatPack>;  ///< of sixteen

/// The same in vectors of its own; tools fill what they have.
template <class T>
struct BasicInputs {
  std::vector<T> q;                       ///< spanning positions
  std::vector<T> v;                       ///< independent rates
  std::vector<T> tau;                     ///< generalized forces
  std::vector<T> vdot;                    ///< generalized accelerations
  const Wrenches<T>* wrenches = nullptr;  ///< external wrenches on bodies
  std::vector<T> task_acceleration = {};  ///< wanted accelerations of a task's rows
  std::vector<T> measurements = {};       ///< what sensors measure
  std::vector<T> multipliers = {};        ///< what adjoints weigh components with
  double time_step = 1e-3;                ///< of discrete steps [s]

  /// Views of them, as Algorithm::solve() takes them.
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator BasicInputViews<T>() const {
    return {q, v, tau, vdot, wrenches, task_acceleration, measurements, multipliers, time_step};
  }
};
using Inputs = BasicInputs<double>;              ///< of one robot
using PackInputs = BasicInputs<Pack>;            ///< of eight robots
using FloatPackInputs = BasicInputs<FloatPack>;  ///< of sixteen

/// What rows and columns of results stand for.
enum class ResultAxis { one, rates, links, components, task, inputs, named };

/// A named result: a matrix with what its rows and columns stand for.
template <class T>
struct BasicResult {
  using Axis = ResultAxis;              ///< what rows and columns stand for
  std::string name;                     ///< "vdot", "tau", "mass_matrix", ...
  Axis rows = Axis::one;                ///< what the rows stand for
  Axis columns = Axis::one;             ///< what the columns stand for
  int row_count = 1;                    ///< number of rows
  int column_count = 1;                 ///< number of columns
  std::vector<T> values;                ///< row-major
  std::vector<std::string> names = {};  ///< of rows, where these are `named`

  /// Sets shape; allocates on first use only.
  void shape(Axis r, int nr, Axis c, int nc) {
    rows = r, columns = c, row_count = nr, column_count = nc;
    values.resize(static_cast<std::size_t>(nr) * nc);
  }
};
/// All results of a problem, in its order.
template <class T>
using BasicResults = std::vector<BasicResult<T>>;
using Result = BasicResult<double>;                ///< of one robot
using Results = BasicResults<double>;              ///< of one robot
using PackResults = BasicResults<Pack>;            ///< of eight robots
using FloatPackResults = BasicResults<FloatPack>;  ///< of sixteen

/// Asks a call on vectors to look at them first, as calls on a State do:
/// `aba->evaluate(check_first, q, v, tau, vdot)`.
struct CheckFirst {};
inline constexpr CheckFirst check_first{};  ///< to write in a call

namespace detail {
class PositionGuard;

/// By its bits: programs compiled with -ffast-math hold every number for finite.
inline bool is_finite(double x) {
  constexpr std::uint64_t exponent = std::uint64_t{0x7ff} << 52;
  return (std::bit_cast<std::uint64_t>(x) & exponent) != exponent;
}

/// False where some number is not finite, or their sum overflows.
inline bool is_finite_sum(const double* x, long n) {
  using Two __attribute__((vector_size(16), aligned(8), may_alias)) = double;
  const auto two = [&](long at) { return *reinterpret_cast<const Two*>(x + at); };
  Two even{}, odd{};  // sums that do not wait for each other
  long i = 0;
  for (; i + 8 <= n; i += 8) {
    even += two(i), odd += two(i + 2);
    even += two(i + 4), odd += two(i + 6);
  }
  if ((n & 4) != 0) even += two(i), odd += two(i + 2), i += 4;
  if ((n & 2) != 0) even += two(i), i += 2;
  even += odd;
  const double sum = even[0] + even[1];
  return is_finite((n & 1) != 0 ? sum + x[i] : sum);
}

/// Wrenches of another model act where its bodies have the same names.
/// @throws SizeMismatch, Unsupported naming the first body that differs
ESPALIER_API void expect_same_bodies(const char* who, const Model& of_wrenches, const Model& model);

/// @throws SizeMismatch, Unsupported if the wrenches were made for a model with other bodies
template <class T>
void expect_wrenches(const char* who, const Wrenches<T>* wrenches, const Model& model) {
  if (wrenches == nullptr || &wrenches->model() == &model) return;
  expect_same_bodies(who, wrenches->model(), model);
}
}  // namespace detail

/// An algorithm bound to a Model: owns its workspace, belongs to one thread.
class ESPALIER_API Algorithm {
 public:
  /// Binds to a model, with its gravity.
  explicit Algorithm(ModelPtr model);
  virtual ~Algorithm();
  Algorithm(const Algorithm&) = delete;
  Algorithm& operator=(const Algorithm&) = delete;

  /// The model that it is bound to.
  const Model& model() const { return *model_; }
  /// The same, to be shared.
  const ModelPtr& model_ptr() const { return model_; }

  /// Gravity of the next call [m/s²], world axes.
  Vec3<double> gravity() const { return gravity_; }
  /// Gravity for the following calls [m/s²], world axes.
  void set_gravity(const Vec3<double>& g) { gravity_ = g; }

  /// Solves the problem for named inputs: the entry for tools that do not know the problem.
  /// Results keep their storage between calls. At the scalar Count all inputs but the model are
  /// variables; external wrenches are left out there.
  /// @throws Unsupported at scalars of several robots
  virtual void solve(const InputViews& in, Results& out) = 0;
  /// The same for several robots at once, at the scalar of the inputs. A Batch (host/batch.hpp)
  /// runs on it.
  /// @throws Unsupported at the other scalars, and for problems that do not override it
  virtual void solve_packs(const PackInputViews& in, PackResults& out);
  /// The same for sixteen in floats.
  virtual void solve_packs(const FloatPackInputViews& in, FloatPackResults& out);

 protected:
  /// Sizes of the model. A call that checks its arguments by them need not read the Model.
  int nq() const { return nq_; }  ///< of positions
  int nv() const { return nv_; }  ///< of rates

  /// Looks at positions before a call that was asked to. @throws SingularMechanism where loops are
  /// open or a position is not finite
  void expect_closed(std::string_view who, In<double> q) const;
  /// The same of a state, which may be of another model with the same joints.
  /// @throws Unsupported naming a joint that differs
  void expect_state(std::string_view who, const State& state) const;
  /// Before evaluate(): in debug builds of Espalier, whatever the program's is, loops have to be
  /// closed; positions that are not finite are left to the answer.
  template <class T>
  void expect_closed_in_debug([[maybe_unused]] std::string_view who,
                              [[maybe_unused]] const T* q) const {
    if constexpr (std::is_same_v<T, double>) {
      if (debug_) [[unlikely]]
        debug_closed(who, q);
    }
  }
  /// Before evaluate() divides by inertia: 0, or NaN in the lanes whose positions leave some motion
  /// without any. @throws SingularMechanism at the scalar double, naming the joints
  template <class T>
  T expect_inertia(std::string_view who, const T* q) {
    expect_closed_in_debug(who, q);
    if (guard_ == nullptr) return T(0.0);
    return look_at_inertia(who, q);
  }
  /// After evaluate(): puts expect_inertia()'s NaN into an answer's lanes. At double, numbers that
  /// are not finite although all inputs are: @throws SingularMechanism naming the cluster
  /// `inputs` are views, the positions first.
  template <class T, class... Inputs>
  void expect_answer(std::string_view who, const std::type_identity_t<Wrenches<T>>* wrenches,
                     Out<T> answer, const T& doubt, const Inputs&... inputs) {
    if constexpr (std::is_same_v<T, double>) {
      if (!detail::is_finite_sum(answer.data(), answer.size())) [[unlikely]] {
        refuse_answer(who, {inputs...}, wrenches, answer);
      }
    } else {
      spoil(answer, doubt);
    }
  }
  /// The same for a symmetric positive semidefinite matrix, whose diagonal bounds all entries.
  template <class T, class... Inputs>
  void expect_semidefinite(std::string_view who, const OutMatrix<T>& answer, long size,
                           const T& doubt, const Inputs&... inputs) {
    if constexpr (std::is_same_v<T, double>) {
      double sum = 0.0;
      for (long i = 0; i < size; ++i) sum += answer.data()[i * (size + 1)];
      if (!detail::is_finite(sum)) [[unlikely]] {
        refuse_answer(who, {inputs...}, nullptr, Out<double>(answer.data(), answer.size()));
      }
    } else {
      spoil(Out<T>(answer.data(), answer.size()), doubt);
    }
  }
  /// Whether some G depends on the position, and has dead points.
  bool has_loops() const { return has_loops_; }
  /// Puts expect_inertia()'s NaN into the lanes of numbers that are finite wherever others are.
  template <class T>
  void spoil([[maybe_unused]] Out<T> answer, [[maybe_unused]] const T& doubt) {
    if constexpr (is_pack<T>) {
      for (long i = 0; guard_ != nullptr && i < answer.size(); ++i) answer[i] += doubt;
    }
  }

 private:
  void debug_closed(std::string_view who, const double* q) const;
  double look_at_inertia(std::string_view who, const double* q);
  Pack look_at_inertia(std::string_view who, const Pack* q);
  Count look_at_inertia(std::string_view who, const Count* q);
  FloatPack look_at_inertia(std::string_view who, const FloatPack* q);
  /// First of the inputs are the positions. Returns where some input is not finite, or the answer
  /// is.
  void refuse_answer(std::string_view who, std::initializer_list<In<double>> inputs,
                     const Wrenches<double>* wrenches, In<double> answer) const;

  ModelPtr model_;
  int nq_, nv_;
  Vec3<double> gravity_;
  std::unique_ptr<detail::PositionGuard> guard_;  ///< of models whose inertia may vanish
  bool has_loops_;
  bool debug_;  ///< a debug build
};

/// Calls of a problem beside evaluate(q, v, ...), for its class.
#define ESPALIER_CHECKED_CALL                                                                     \
  /** evaluate() after a look at the positions. @throws SingularMechanism where loops are open */ \
  template <class... Rest>                                                                        \
  decltype(auto) evaluate(CheckFirst, In<double> q, Rest&&... rest) {                             \
    this->expect_closed(problem, q);                                                              \
    return evaluate(q, std::forward<Rest>(rest)...);                                              \
  }
#define ESPALIER_CALLS_AT_STATES                                                                \
  ESPALIER_CHECKED_CALL                                                                         \
  /** evaluate() at a state. @throws SingularMechanism where its loops are open */              \
  template <class... Rest>                                                                      \
  decltype(auto) evaluate(const State& state, Rest&&... rest) {                                 \
    this->expect_state(problem, state);                                                         \
    return evaluate(In<double>(state.q()), In<double>(state.v()), std::forward<Rest>(rest)...); \
  }
#define ESPALIER_CALLS_AT_POSITIONS                                                            \
  ESPALIER_CHECKED_CALL                                                                        \
  /** evaluate() at a state's positions. @throws SingularMechanism where its loops are open */ \
  template <class... Rest>                                                                     \
  decltype(auto) evaluate(const State& state, Rest&&... rest) {                                \
    this->expect_state(problem, state);                                                        \
    return evaluate(In<double>(state.q()), std::forward<Rest>(rest)...);                       \
  }

/// An algorithm at one scalar, of a problem that is solved for named inputs by one template.
template <class T>
class ESPALIER_API AlgorithmAt : public Algorithm {
 public:
  using Algorithm::Algorithm;
  /// What named inputs and results are made of.
  using Value = std::conditional_t<is_pack<T>, T, double>;

  void solve(const InputViews& in, Results& out) final;
  void solve_packs(const PackInputViews& in, PackResults& out) final;
  /// The same for sixteen in floats.
  void solve_packs(const FloatPackInputViews& in, FloatPackResults& out) final;

  /// Takes sines and cosines of joints from `turns`, which the caller updates to the positions of
  /// each of the following calls; nullptr: evaluates them itself again. For several algorithms at
  /// one state; those without a use for it do nothing.
  virtual void share_turns(const JointTurns<T>* /*turns*/) {}

 protected:
  /// solve() at this scalar: named inputs in, named results out.
  virtual void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) = 0;
};
#define ESPALIER_EXTERN(T) extern template class AlgorithmAt<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
