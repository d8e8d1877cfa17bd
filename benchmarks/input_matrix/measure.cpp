#include "benchmarks/input_matrix/measure.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "benchmarks/chain.hpp"
#include "benchmarks/robot.hpp"
#include "benchmarks/thread_time.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

namespace espalier::bench {

namespace {

double seconds_of(const std::function<void(int)>& call, int calls) {
  const double start = thread_time();
  for (int k = 0; k < calls; ++k) call(k % state_count);
  return 1e-9 * (thread_time() - start);
}

double difference(const std::vector<double>& x, const std::vector<double>& reference) {
  double worst = 0.0, size = 1.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = std::abs(x[i] - reference[i]);
    if (!(d <= worst)) worst = d;  // keeps what is not a number
    size = std::max(size, std::abs(reference[i]));
  }
  return worst / size;
}

}  // namespace

Times measure(const Host& host, const Setup& setup, const std::string& forward, double seconds) {
  const Model& model = *setup.model;
  const std::vector<RandomState> states = random_states(model);
  const std::unique_ptr<ForwardDynamics<double>> alone[] = {
      host.create<ForwardDynamics<double>>(forward, setup),
      host.create<ForwardDynamics<double>>("bremer-on", setup)};
  std::unique_ptr<InputMatrix<double>> algorithms[method_count];
  static const char* const names[] = {"", "", "iim", "iim-closed-form", "eufm", "dense"};
  for (int m = iim; m < method_count; ++m) {
    algorithms[m] = host.create<InputMatrix<double>>(names[m], setup);
  }
  std::vector<double> vdot(model.nv());
  const auto run = [&](int method, int k) {
    const RandomState& s = states[k];
    if (method < iim) {
      alone[method]->evaluate(s.q, s.v, s.tau, vdot);
    } else {
      algorithms[method]->evaluate(s.q, s.v, s.tau);
    }
  };

  Times out;
  out.nv = model.nv(), out.inputs = algorithms[iim]->inputs().size();
  for (const RandomState& s : states) {
    const auto& wanted = algorithms[dense]->evaluate(s.q, s.v, s.tau);
    for (int m = on; m < iim; ++m) {
      alone[m]->evaluate(s.q, s.v, s.tau, vdot);
      out.difference[m] = std::max(out.difference[m], difference(vdot, wanted.free_acceleration));
    }
    for (int m = iim; m < dense; ++m) {
      const auto& got = algorithms[m]->evaluate(s.q, s.v, s.tau);
      out.difference[m] =
          std::max({out.difference[m], difference(got.input_matrix, wanted.input_matrix),
                    difference(got.free_acceleration, wanted.free_acceleration)});
    }
  }

  // Methods take turns, so that all see the same machine; the best of the batches counts, since
  // whatever disturbs a batch makes it longer.
  constexpr int batches = 25;
  int calls[method_count];
  for (int m = 0; m < method_count; ++m) {
    const auto call = [&](int k) { run(m, k); };
    const double once = seconds_of(call, state_count) / state_count;
    calls[m] = std::max(1, static_cast<int>(seconds / (batches * method_count) / once));
    out.ns[m] = 1e9 * once;
  }
  for (int batch = 0; batch < batches; ++batch) {
    for (int m = 0; m < method_count; ++m) {
      const auto call = [&](int k) { run(m, k); };
      out.ns[m] = std::min(out.ns[m], 1e9 * seconds_of(call, calls[m]) / calls[m]);
    }
  }
  return out;
}

Setup pendulum(const Host& host, int bodies, int inputs) {
  const Description description =
      host.registry().format_for("chain.urdf").read(chain_urdf(bodies), "chain.urdf");
  Setup setup{host.compile(description)};
  const std::vector<Input> all = motors(*setup.model);
  setup.inputs.assign(all.end() - inputs, all.end());
  return setup;
}

Setup humanoid(const Host& host, bool rotors) {
  Description robot = host.read(ESPALIER_SOURCE_DIR "/robots/mit_humanoid.yaml");
  if (!rotors) {
    // In this file, what turns beside the links has these names, carries nothing, and is all that
    // couplings speak of.
    const auto is_rotor = [](const std::string& link) {
      return link.find("rotor") != std::string::npos || link.find("pulley") != std::string::npos;
    };
    std::erase_if(robot.joints, [&](const JointDescription& j) { return is_rotor(j.child); });
    std::erase_if(robot.links, [&](const LinkDescription& l) { return is_rotor(l.name); });
    robot.couplings.clear();
  }
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  Setup setup{host.compile(robot, options)};
  setup.inputs = motors(*setup.model);
  for (const std::string side : {"right", "left"}) {
    const std::string foot = side + "_leg.knee_ankle.link2";
    int corner = 0;
    for (const double x : {-0.05, 0.1}) {  // heel and toe in the file; the width is ours
      for (const double y : {-0.03, 0.03}) {
        setup.inputs.push_back({.name = side + "_sole" + std::to_string(corner++),
                                .contact = EndEffector::contact(foot, {x, y, -0.041})});
      }
    }
  }
  return setup;
}

}  // namespace espalier::bench
