#include "espalier/simulation/damping/stiff_joints.hpp"

#include "espalier/kernel/text.hpp"
#include "espalier/plugins/registry.hpp"
#include "espalier/simulation/damping/joint_damping.hpp"

namespace espalier {

std::vector<std::string> stiff_joints(const Host& host, const ModelPtr& model,
                                      const BatchSimulationOptions& options, double h) {
  using text::number;
  std::vector<std::string> out;
  if (!options.passive || model->nv() == 0) return out;
  const Registry& registry = host.registry();
  const MakeDynamics make = [&](const ModelPtr& robot) {
    return registry.create<ForwardDynamics<double>>(options.algorithm, Setup{robot});
  };
  std::vector<double> q(model->nq());
  model->neutral(q.data());
  SpanningMotion<double> motion(*model, SpanningMotion<double>::Rotors::skip);
  motion.update(q.data(), nullptr);
  const auto look = [&](std::vector<double> dampers, const char* what, const auto& remedy) {
    JointDamping damping(model, make, std::move(dampers));
    if (!damping.any()) return;
    const double bears =
        stability_limit(*registry.create_integrator(options.integrator, Setup{model}, {}));
    const double decay = damping.decay(q.data(), motion, 20);
    if (!(decay * h > bears)) return;
    out.push_back("joint " + text::quoted(model->joints()[damping.joint()].name) + ": " + what +
                  " decays with " + number(decay, 3) + " 1/s, which '" + options.integrator +
                  "' does not bear at steps of " + number(h) + " s, expected steps below " +
                  number(bears / decay, 2) + " s (or " + remedy(decay * h / bears) + ")");
  };
  look(viscous_damping(*model), "damping",
       [](double) { return std::string("rigid contact's steps, which take it implicitly"); });
  look(friction_slopes(*model, options.friction_rate), "dry friction, which drives it about rest,",
       [&](double factor) {
         return "a friction_rate above " + number(options.friction_rate * factor, 2) +
                ", or rigid contact's steps, where friction is exact";
       });
  return out;
}

}  // namespace espalier
