#pragma once

#include "algorithms/derivatives/step_derivatives.hpp"
#include "algorithms/differences/differences.hpp"
#include "espalier/kernel/problems/derivatives/step_derivatives.hpp"

namespace espalier {

/// A step's A and B by differences of the step itself, tangents on the right at both ends.
template <template <class> class Step>
struct DifferenceStepOf {
  template <class T>
  class Algorithm final : public StepDerivatives<T> {
   public:
    explicit Algorithm(ModelPtr model)
        : StepDerivatives<T>(model), step_(model), differences_(this->model()) {}

    T margin() override { return differences_.margin(); }

   private:
    void compute(const double* q, const double* v, const double* tau, double h, double* q_next,
                 double* v_next, double* A, double* B, const Loads<T>* loads) override {
      const Model& model = this->model();
      const int n = model.nv();
      differences_.start(q);
      step_.set_gravity(this->gravity());
      std::vector<double> spare_A(4UL * n * n), spare_B(2UL * n * n), q_end(model.nq()), v_end(n),
          apart(model.spanning_nv());
      step_.evaluate({q, model.nq()}, {v, n}, {tau, n}, h, Out<T>(q_next, model.nq()),
                     Out<T>(v_next, n), spare_A, spare_B, loads);
      // The end, seen from that of the step without variation.
      const auto end = [&](const double* position, const double* rates, const double* forces) {
        step_.evaluate({position, model.nq()}, {rates, n}, {forces, n}, h, q_end, v_end, spare_A,
                       spare_B, loads);
        model.difference(q_next, q_end.data(), apart.data());
        std::vector<double> out;
        for (const int rate : model.independent_rates()) out.push_back(apart[rate]);
        out.insert(out.end(), v_end.begin(), v_end.end());
        return out;
      };
      std::vector<double> columns(2UL * n * n);
      const auto put = [&](double* to, int first, int width) {
        for (int i = 0; i < 2 * n; ++i) {
          std::copy_n(columns.data() + static_cast<long>(i) * n, n,
                      to + static_cast<long>(i) * width + first);
        }
      };
      differences_.matrix(
          [&](double t, int k) { return end(differences_.moved(q, k, t).data(), v, tau); },
          columns.data(), 2 * n);
      put(A, 0, 2 * n);
      differences_.matrix(
          [&](double t, int k) {
            return end(q, ClosedDifferences::shifted(v, n, k, t).data(), tau);
          },
          columns.data(), 2 * n);
      put(A, n, 2 * n);
      differences_.matrix(
          [&](double t, int k) {
            return end(q, v, ClosedDifferences::shifted(tau, n, k, t).data());
          },
          columns.data(), 2 * n);
      put(B, 0, n);
    }

    Step<T> step_;
    ClosedDifferences differences_;
  };
};
template <class T>
using DifferenceEuler = DifferenceStepOf<SemiImplicitEulerDerivatives>::Algorithm<T>;
template <class T>
using DifferenceRk4 = DifferenceStepOf<Rk4Derivatives>::Algorithm<T>;

}  // namespace espalier
