#include "espalier/simulation/contact/problems/step.hpp"

#include "espalier/kernel/errors.hpp"

namespace espalier::contact {

template <class T>
void ContactStep<T>::solve(const InputViews& /*in*/, Results& /*out*/) {
  throw Unsupported(
      "contact-step: inputs are named ones, expected a world (make a ContactSimulation, or "
      "simulate with --ground)");
}

template class ContactStep<double>;
template class ContactStep<Pack>;

}  // namespace espalier::contact
