#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/problems/named_results.hpp"
#include "espalier/sensing/sensor_system.hpp"

namespace espalier {

/// Everything that moves and pushes a robot, from whatever is known or measured of it.
/// Source: Nori, "Inverse, forward and other dynamic computations computationally optimized with
/// sparse matrix factorizations" (2017); theory/sparse 6.
template <class T>
class ESPALIER_API SensorDynamics : public Algorithm {
 public:
  static constexpr std::string_view problem = "sensor-dynamics";  ///< its name in the registry
  static constexpr bool needs_sensors = true;                     ///< in its Setup

  /// What evaluate() found.
  struct Answer {
    /// By body, the ground first: spatial acceleration without gravity in the frame of the body's
    /// link, Model::body_names() [rad/s², m/s²].
    std::vector<Motion<T>> acceleration;
    /// By body: what its joint transmits to it, axes and origin of the body's link, as a sensor
    /// `joint_wrench` without a frame reads it [N·m, N].
    std::vector<Force<T>> joint_wrench;
    std::vector<T> vdot;           ///< by independent rates
    std::vector<T> qdd;            ///< of joints; by spanning rates [rad/s², m/s²]
    std::vector<T> tau;            ///< of their motors, likewise [N·m, N]
    std::vector<Force<T>> wrench;  ///< external, on the links of contacts(), link frame
    std::vector<T> multiplier;     ///< of all constraints
    /// On the successors of SensorSystem::loops(), in the loops' frames there.
    std::vector<Force<T>> loop_wrench;
    std::vector<T> residual;  ///< measured less explained; by rows of the sensors
    /// Sum of squares of the residual, weighted with the inverse covariance. Of consistent
    /// measurements it is about `redundancy`; far more means that they contradict one another.
    T chi_square = T(0.0);
    int redundancy = 0;  ///< rows that could be left out
    /// By SensorSystem's unknown_names(), after set_variances(true); else empty.
    std::vector<T> variance;
  };

  /// @param setup      robot and sensors
  /// @param variances  whether the algorithm can give them
  /// @throws as SensorSystem, and as the algorithm says
  explicit SensorDynamics(const Setup& setup, bool variances = false);

  const SensorSystem& system() const { return system_; }  ///< the equations that are solved
  /// The last one.
  const Answer& answer() const { return answer_; }

  /// Finds all unknowns of the system, in the sense of weighted least squares.
  /// @param q, v      as in ForwardDynamics
  /// @param y         measured values, by SensorSystem::measurement_names()
  /// @param wrenches  external wrenches that are known besides, or nullptr
  /// @returns an answer that is valid until the next call
  /// @throws SizeMismatch; SingularMechanism where the sensors do not determine it in this pose
  const Answer& evaluate(In<T> q, In<T> v, In<T> y, const Wrenches<T>* wrenches = nullptr);
  /// A number of the last answer by SensorSystem's name of the unknown: "torque of knee", "wrench
  /// on foot[fz]", "acceleration of shin[wx]". @throws UnknownName
  T value(std::string_view name) const;
  /// Its variance. @throws UnknownName; Unsupported without set_variances(true)
  T variance(std::string_view name) const;
  void solve(const InputViews& in, Results& out) override;

  /// Whether the following calls give variances of all unknowns, which costs a solution for each.
  /// @throws Unsupported from algorithms that cannot (map and dense can)
  void set_variances(bool wanted);

  /// What the algorithm found out about the matrix before it saw a number, to be saved and given
  /// to Setup::symbolic; empty where it has nothing of the kind.
  virtual std::string symbolic() const { return {}; }
  /// Of one evaluate() without refinement, entries of the matrix not counted; zero where the
  /// algorithm cannot tell.
  struct Operations {
    long multiplications = 0;  ///< scalar ones
    long additions = 0;        ///< and subtractions
    long divisions = 0;        ///< scalar ones
    long entries = 0;          ///< of the factors
  };
  virtual Operations operations() const { return {}; }  ///< of this algorithm

 protected:
  /// Solves the system, which is updated.
  /// @param[out] d       size unknowns()
  /// @param[out] answer  chi_square and residual, which are 0, redundancy and variance may be
  ///                     written
  virtual void compute(T* d, Answer& answer) = 0;
  /// Whether answer.variance is wanted; it has its size then.
  bool gives_variances() const { return !answer_.variance.empty(); }
  /// For analysis, which changes values.
  SensorSystem& equations() { return system_; }

 private:
  int index(std::string_view name) const;

  SensorSystem system_;
  bool can_give_variances_;
  std::vector<T> d_;
  Answer answer_;
};

/// What other sensors measure, without noise, of the motion that an answer describes: for simulated
/// data, and to find out what a further sensor would show.
/// @param sensors  whose values are wanted; updated. Links that it takes for touched and `truth`
///                 does not are pushed by nothing
/// @param truth    after evaluate()  @param q, v  of that call
/// @returns values by sensors.measurement_names()  @throws SizeMismatch for another model
ESPALIER_API std::vector<double> simulated_measurements(SensorSystem& sensors,
                                                        const SensorDynamics<double>& truth,
                                                        In<double> q, In<double> v);

extern template class SensorDynamics<double>;

}  // namespace espalier
