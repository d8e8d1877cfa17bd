#include "espalier/simulation/contact/problems/collision.hpp"

#include "espalier/kernel/errors.hpp"

namespace espalier::contact {

template <class T>
void Collision<T>::solve(const InputViews& /*in*/, Results& /*out*/) {
  throw Unsupported(
      "collision: inputs are named ones, expected shapes and poses (call collide(), or simulate "
      "with --ground)");
}

template class Collision<double>;
template class Collision<Pack>;

}  // namespace espalier::contact
