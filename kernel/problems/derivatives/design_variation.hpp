#pragma once

#include <string>
#include <utility>
#include <vector>

#include "espalier/kernel/problems/derivatives/derivative_results.hpp"
#include "espalier/kernel/problems/loads.hpp"

namespace espalier {

/// Derivatives of dynamics along families of robots: a number of a robot's file (a bar's length, a
/// gear's ratio) moves placements, inertias and laws of its model together. A family is given by
/// two neighbours of the model; their numbers are differentiated, the dynamics are not differenced.
template <class T>
class ESPALIER_API DesignVariation : public AlgorithmAt<T>, public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "design-variation";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// A family of robots around the model.
  struct Family {
    std::string name;    ///< in messages
    ModelPtr less;       ///< compiled as the model was, with the number less
    ModelPtr more;       ///< likewise, with the number more
    double apart = 0.0;  ///< by how much the number of `more` exceeds that of `less`
  };
  /// How the spanning joints move along a family, v and vdot and the independent positions held;
  /// entries per spanning rate.
  struct Spanning {
    std::vector<T> q;    ///< positions
    std::vector<T> qd;   ///< rates
    std::vector<T> qdd;  ///< accelerations
  };

  /// Adds a family.
  /// @throws InvalidModel where a neighbour has other joints or constraints of other rows;
  ///         DuplicateName for a family of this name
  virtual void add(Family family) = 0;
  /// In the order of adding.
  virtual const std::vector<Family>& families() const = 0;

  /// Computes the derivative of lambda^T tau(q, v, vdot) along each family, the independent
  /// positions held and loops closed.
  /// @param q              spanning positions on closed loops, size nq
  /// @param v, vdot        independent rates and accelerations, size nv
  /// @param lambda         weights of tau, size nv
  /// @param[out] gradient  one number for each family
  /// @param loads          what acts besides tau and gravity, or nullptr; held
  /// Cost: O(n) once, and for each family what differs in it.
  /// @throws SizeMismatch
  void evaluate(In<T> q, In<T> v, In<T> vdot, In<T> lambda, Out<T> gradient,
                const Loads<T>* loads = nullptr) {
    const char* who = "design variation";
    const Model& m = model();
    expect_size(who, "q", q.size(), m.nq());
    expect_size(who, "v", v.size(), m.nv());
    expect_size(who, "vdot", vdot.size(), m.nv());
    expect_size(who, "lambda", lambda.size(), m.nv());
    expect_size(who, "gradient", gradient.size(), static_cast<long>(families().size()));
    detail::expect_loads(who, loads, m);
    compute(q.data(), v.data(), vdot.data(), lambda.data(), gradient.data(), loads);
  }
  /// Columns dtau/dp of chosen families.
  /// @param q, v, vdot    as in evaluate()
  /// @param chosen        names of families
  /// @param[out] columns  nv x chosen, row-major
  /// @param loads         what acts besides tau and gravity, or nullptr; held
  /// Cost: nv times evaluate().
  /// @throws SizeMismatch; UnknownName with the families there are
  void columns(In<T> q, In<T> v, In<T> vdot, const std::vector<std::string>& chosen,
               OutMatrix<T> columns, const Loads<T>* loads = nullptr);
  /// Of a family at the last evaluate().
  virtual const Spanning& spanning(std::size_t family) const = 0;

 protected:
  /// The gradient along the families added, at the inputs' multipliers; ones where there are none.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* vdot, const T* lambda, T* gradient,
                       const Loads<T>* loads) = 0;
};

// One copy of the interface, in the kernel.
#define ESPALIER_EXTERN(T) extern template class DesignVariation<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
