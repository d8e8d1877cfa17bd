#include "espalier/simulation/contact/problems/contact_impulses.hpp"

#include "espalier/kernel/errors.hpp"
#include "simulation/contact/solvers/cones.hpp"

namespace espalier::contact {

template <class T>
void ImpulseProblem<T>::reserve(int contact_count, int scalar_count) {
  const std::size_t m = 3 * static_cast<std::size_t>(contact_count) + scalar_count;
  G.reserve(m * m);
  for (std::vector<T>* x : {&g, &lam}) x->reserve(m);
  for (std::vector<T>* x : {&mu, &slip}) x->reserve(contact_count);
  for (std::vector<T>* x : {&lower, &upper}) x->reserve(scalar_count);
}

template <class T>
void ImpulseProblem<T>::resize(int contact_count, int scalar_count) {
  contacts = contact_count, scalars = scalar_count, turning = 0;
  const std::size_t m = size();
  G.assign(m * m, T(0.0));
  g.assign(m, T(0.0));
  mu.assign(contacts, T(0.0));
  lower.assign(scalars, T(0.0));
  upper.assign(scalars, T(0.0));
  lam.assign(m, T(0.0));
  slip.assign(contacts, T(0.0));
}

template <class T>
void ImpulseProblem<T>::reshape(int contact_count, int scalar_count) {
  contacts = contact_count, scalars = scalar_count, turning = 0;
  const std::size_t m = size();
  G.resize(m * m), lam.resize(m);
  g.assign(m, T(0.0));
  mu.resize(contacts), slip.resize(contacts);
  lower.resize(scalars), upper.resize(scalars);
}

template <class T>
void ContactImpulses<T>::solve(const InputViews& /*in*/, Results& /*out*/) {
  throw Unsupported(
      "contact-impulses: inputs are named ones, expected rows of contacts (call solve_impulses(), "
      "or simulate with --ground)");
}

template <class T>
T natural_residual(const ImpulseProblem<T>& problem, const T* lam, T* u) {
  std::vector<T> d(problem.contacts + problem.scalars);
  row_scales(problem, d.data());
  rates(problem, lam, u);
  return residual(problem, d.data(), lam, u);
}

template <class T>
void row_scales(const ImpulseProblem<T>& problem, T* d) {
  scales(problem, d);
}

#define ESPALIER_INSTANTIATE(T)                                                         \
  template struct ImpulseProblem<T>;                                                    \
  template class ContactImpulses<T>;                                                    \
  template T natural_residual<T>(const ImpulseProblem<T>& problem, const T* lam, T* u); \
  template void row_scales<T>(const ImpulseProblem<T>& problem, T* d);
ESPALIER_INSTANTIATE(double)
ESPALIER_INSTANTIATE(Pack)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier::contact
