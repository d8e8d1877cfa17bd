#include "espalier/simulation/contact/problems/step_derivatives.hpp"

#include "espalier/kernel/errors.hpp"

namespace espalier::contact {

std::string_view to_string(StepDerivatives::Verdict verdict) {
  switch (verdict) {
    case StepDerivatives::Verdict::smooth:
      return "smooth";
    case StepDerivatives::Verdict::near_switch:
      return "near_switch";
    case StepDerivatives::Verdict::indeterminate:
      return "indeterminate";
    case StepDerivatives::Verdict::mixed_impact:
      return "mixed_impact";
    case StepDerivatives::Verdict::unsolved:
      return "unsolved";
  }
  return "unknown";
}

template <class T>
void ContactStepDerivatives<T>::solve(const InputViews& /*in*/, Results& /*out*/) {
  throw Unsupported(
      "contact-step-derivatives: inputs are named ones, expected a world (make a ContactSimulation "
      "and ask it for derivatives())");
}

template class ContactStepDerivatives<double>;

}  // namespace espalier::contact
