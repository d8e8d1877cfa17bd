#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "tests/support/composed_robot.hpp"
#include "tests/support/host.hpp"
#include "tests/support/state.hpp"

/// Sub-mechanisms and laws under test.

namespace espalier::test {

inline const Registry& registry() { return host().registry(); }

inline std::vector<std::string> names_of(Kind kind) {
  std::vector<std::string> names;
  for (const Entry* e : registry().entries(kind)) names.push_back(e->about.name);
  return names;
}

/// Of an instance of a test for one name.
inline std::string name_of(const ::testing::TestParamInfo<std::string>& tested) {
  return tested.param;
}

inline const SubMechanism& mechanism(const std::string& name) {
  return *registry().find(Kind::sub_mechanism, name).sub_mechanism;
}

inline PartSpec spec_of(const std::string& name, const Parameters& parameters) {
  PartSpec spec;
  spec.what = "sub-mechanism";
  spec.name = name;
  spec.parameters = parameters;
  return spec;
}

inline std::unique_ptr<Law> make_law(const std::string& name, const Parameters& parameters) {
  return registry().law(name).make(spec_of(name, parameters));
}

inline ModelPtr compile(const std::string& name, const Parameters& parameters,
                        CompileOptions options = {}) {
  return Model::compile(on_base(mechanism(name), parameters), registry(), options);
}

/// The sample with some parameters changed.
inline Parameters changed(const std::string& name, const Parameters& changes) {
  Parameters p = mechanism(name).sample();
  for (const auto& [key, value] : changes) p[key] = value;
  return p;
}

/// A closed position: the neutral one, moved in its independent coordinates by up to `size`, in
/// sliding joints by a tenth of it (lengths of the samples are about 0.1 m).
inline std::vector<double> closed_position(const Model& model, Rng& rng, double size) {
  std::vector<double> start(model.nq()), q, step(model.spanning_nv(), 0.0);
  model.neutral(start.data());
  for (const int rate : model.independent_rates()) {
    const bool slides = model.joint_of_rate(rate).type == "prismatic";
    step[rate] = size * (slides ? 0.1 : 1.0) * rng.uniform();
  }
  q.resize(start.size());
  model.integrate(start.data(), step.data(), q.data());
  const Closure closure = close(model, start.data(), q.data());
  EXPECT_EQ(closure.verdict, Closure::Verdict::closed) << closure.text();
  return q;
}

/// Where the model is after the independent rates v have acted for time t, starting from a closed
/// q.
inline std::vector<double> closed_motion(const Model& model, const std::vector<double>& q,
                                         const std::vector<double>& v, double t) {
  std::vector<double> step(model.spanning_nv(), 0.0), out(q.size());
  for (int k = 0; k < model.nv(); ++k) step[model.independent_rates()[k]] = t * v[k];
  model.integrate(q.data(), step.data(), out.data());
  CloseOptions options;
  options.tolerance = 1e-15;  // differences of these positions are divided by 1e-3
  close(model, q.data(), out.data(), options);
  return out;
}

/// Rates of all joints by name.
inline double rate_of(const Model& model, const SpanningMotion<double>& motion,
                      const std::string& joint) {
  return motion.qd()[model.joint(joint).v];
}

}  // namespace espalier::test
