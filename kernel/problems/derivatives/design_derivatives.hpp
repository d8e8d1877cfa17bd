#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/loops/law_parameters.hpp"
#include "espalier/kernel/problems/derivatives/derivative_results.hpp"
#include "espalier/kernel/problems/loads.hpp"
#include "espalier/kernel/spatial/transform.hpp"

namespace espalier {

/// A number of a robot's design.
struct DesignParameter {
  /// What it is a number of.
  enum class Kind {
    inertial,  ///< of a body with all that is welded to it: m, m c (3), J about the origin (xx, yy,
               ///< zz, xy, xz, yz), in the frame of its link [kg, kg·m, kg·m²]
    rotor,     ///< inertia of a folded rotor about its axis, its parent's other moments held
    placement,  ///< of a joint: twist by which it moves on its parent, in the frame that its link
                ///< has at position 0; not of joints in loops that a loop joint closes
    ratio,      ///< entry of a constant G: rate of a joint per rate of an independent one
    law         ///< number of a law of a loop: a bar's length. Bodies stay where they are: of a bar
                ///< that carries others the placement of these is another parameter
  };
  Kind kind = Kind::inertial;  ///< what it is a number of
  std::string name;            ///< "<owner>.<what>"
  std::string owner;           ///< body, rotor or joint
  int body = 0;                ///< of inertial and placement; rotor: which; ratio and law: cluster
  /// Of inertial (0 to 9) and placement (0 to 5); ratio: entry of G; law: which of
  /// law_parameters().
  int component = 0;
};
/// "inertial", "rotor", "placement", "ratio", "law".
ESPALIER_API std::string_view to_string(DesignParameter::Kind kind);

/// Derivatives of inverse and forward dynamics by numbers of the design.
template <class T>
class ESPALIER_API DesignDerivatives : public AlgorithmAt<T>, public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "design-derivatives";
  using typename AlgorithmAt<T>::Value;
  using AlgorithmAt<T>::model;

  /// Lists the parameters of a model.
  explicit DesignDerivatives(ModelPtr model);

  /// All parameters, in the order of gradients.
  const std::vector<DesignParameter>& parameters() const { return parameters_; }
  /// Where a parameter stands among parameters(). @throws UnknownName with what its owner has
  int number_of(std::string_view name) const;

  /// Gradient of lambda^T tau(q, v, vdot) by all parameters, in O(n) besides ratios and laws.
  /// @param q       spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v       independent rates, size nv [rad/s, m/s]
  /// @param vdot    accelerations, size nv [rad/s², m/s²]
  /// @param lambda  weights of tau, size nv
  /// @param[out] gradient  one number per parameter
  /// @param loads          what acts besides tau and gravity, or nullptr; wrenches are held in
  ///                       their frames
  void gradient(In<T> q, In<T> v, In<T> vdot, In<T> lambda, Out<T> gradient,
                const Loads<T>* loads = nullptr) {
    const Model& m = model();
    expect_size("design derivatives", "q", q.size(), m.nq());
    expect_size("design derivatives", "v", v.size(), m.nv());
    expect_size("design derivatives", "vdot", vdot.size(), m.nv());
    expect_size("design derivatives", "lambda", lambda.size(), m.nv());
    expect_size("design derivatives", "gradient", gradient.size(),
                static_cast<long>(parameters_.size()));
    detail::expect_loads("design derivatives", loads, m);
    compute(q.data(), v.data(), vdot.data(), lambda.data(), gradient.data(), loads);
    to_link_frames(gradient.data());
  }
  /// Columns dtau/dp of chosen parameters.
  /// @param q     spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v     independent rates, size nv [rad/s, m/s]
  /// @param vdot  accelerations, size nv [rad/s², m/s²]
  /// @param chosen  among parameters()
  /// @param[out] columns  nv x chosen, row-major
  /// @param loads   what acts besides tau and gravity, or nullptr
  /// @throws SizeMismatch; UnknownName for a number that is none of a parameter
  void columns(In<T> q, In<T> v, In<T> vdot, const std::vector<int>& chosen, OutMatrix<T> columns,
               const Loads<T>* loads = nullptr);

 protected:
  /// Those of kind law.
  const std::vector<LawParameter>& law_parameters() const { return law_parameters_; }
  /// The gradient at the inputs' multipliers; ones where there are none.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// gradient() once its arguments are checked: what an algorithm implements. Inertial numbers and
  /// placements are in the frames of bodies, which have the joint's axis on z.
  virtual void compute(const T* q, const T* v, const T* vdot, const T* lambda, T* gradient,
                       const Loads<T>* loads) = 0;

 private:
  /// A body whose frame is not that of its link.
  struct Turned {
    int inertial = 0, placement = -1;   ///< where its numbers start, -1: none
    std::array<double, 100> inertia{};  ///< to the body's ten numbers from the link's, row-major
    Transform<double> to_link;          ///< from the body's frame
  };

  void add_turned(int body, int inertial);
  void to_link_frames(T* gradient) const;

  std::vector<DesignParameter> parameters_;
  std::vector<Turned> turned_;
  std::vector<LawParameter> law_parameters_;
};

// One copy of the interface, in the kernel.
#define ESPALIER_EXTERN(T) extern template class DesignDerivatives<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
