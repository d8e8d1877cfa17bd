#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "espalier/espalier.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/problems/kinematics/center_of_mass.hpp"
#include "espalier/kernel/problems/kinematics/energy.hpp"

/// The plugins of the build, and every registered algorithm for a problem.

namespace espalier::test {

inline const Host& host() {
  static const Host host(Host::Options{{ESPALIER_PLUGIN_DIR}, false});
  return host;
}

/// All algorithms that tools can call without knowing the problem. Those of contact ask for shapes
/// and rows, which have no place among named inputs; they refuse by name.
inline std::vector<const Entry*> named_algorithms(const Registry& registry = host().registry()) {
  std::vector<const Entry*> all = registry.algorithms();
  std::erase_if(all, [](const Entry* e) {
    return e->problem == "collision" || e->problem == "design-variation" ||
           e->problem.starts_with("contact-");
  });
  return all;
}

template <class P>
struct Named {
  std::string name;
  std::unique_ptr<P> algorithm;
};

namespace detail {
template <template <class> class P, class T>
constexpr int scalar_index(const P<T>*) {
  return ScalarTraits<T>::index;
}
}  // namespace detail

/// Every exact algorithm for the problem and scalar of P that can run on the setup's model; the
/// test fails if there is none.
template <class P>
std::vector<Named<P>> every(const espalier::Setup& setup) {
  const ModelPtr& model = setup.model;
  const int scalar = detail::scalar_index(static_cast<const P*>(nullptr));
  std::vector<Named<P>> all;
  for (const Entry* e : host().registry().algorithms(P::problem)) {
    const Verdict verdict = host().registry().can(*e, *model);
    if (!verdict.ok || !verdict.exact || !e->algorithm[scalar]) continue;
    all.push_back({e->about.name, host().create<P>(e->about.name, setup)});
  }
  if (all.empty()) {
    ADD_FAILURE() << "no algorithm for " << P::problem << " can run on " << model->name();
  }
  return all;
}
template <class P>
std::vector<Named<P>> every(const ModelPtr& model) {
  return every<P>(espalier::Setup{model});
}

/// The first of them.
template <class P>
std::unique_ptr<P> any(const ModelPtr& model) {
  std::vector<Named<P>> all = every<P>(model);
  return all.empty() ? nullptr : std::move(all.front().algorithm);
}

}  // namespace espalier::test
