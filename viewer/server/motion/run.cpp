#include "viewer/server/motion/run.hpp"

#include <algorithm>

#include "espalier/host/exact_algorithm.hpp"
#include "espalier/kernel/problems/dynamics/inverse_dynamics.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"
#include "espalier/simulation/controllers.hpp"

namespace espalier::viewer {

namespace {

// How a held joint swings back: critically damped, and slow beside a step of 5 ms.
constexpr double hold_frequency = 10.0;  // [rad/s]

/// The first exact algorithm for a problem that runs on a model.
template <class P>
std::unique_ptr<P> exact(const Host& host, const ModelPtr& model) {
  if (const Entry* found = exact_algorithm(host.registry(), P::problem, *model)) {
    return host.create<P>(found->about.name, model);
  }
  throw Unsupported("viewer: algorithm for " + std::string(P::problem) + " of '" + model->name() +
                    "' is missing, expected a plugin with one (another controller needs none)");
}

/// Independent rates of joints that a motor may drive: those of one rate.
std::vector<int> motors_of(const Model& model) {
  std::vector<int> out;
  for (int k = 0; k < model.nv(); ++k) {
    if (model.joint_of_rate(model.independent_rates()[k]).nv == 1) out.push_back(k);
  }
  return out;
}

/// Motors bear what gravity asks of them at rest.
class GravityCompensation final : public Controller {
 public:
  GravityCompensation(const Host& host, const ModelPtr& model)
      : inverse_(exact<InverseDynamics<double>>(host, model)),
        model_(model),
        motors_(motors_of(*model)),
        zero_(model->nv(), 0.0),
        tau_(model->nv()) {}
  void drive(double, const double* q, const double*, double* forces) override {
    inverse_->evaluate(In<double>(q, model_->nq()), zero_, zero_, tau_);
    for (const int k : motors_) forces[model_->independent_rates()[k]] += tau_[k];
  }

 private:
  std::unique_ptr<InverseDynamics<double>> inverse_;
  ModelPtr model_;
  std::vector<int> motors_;
  std::vector<double> zero_, tau_;
};

/// Springs and dampers that hold the motors where they are, in proportion to what they move.
std::unique_ptr<Controller> hold(const Host& host, const ModelPtr& model, In<double> q) {
  const int n = model->nv();
  std::vector<double> M(static_cast<std::size_t>(n) * n);
  exact<MassMatrix<double>>(host, model)->evaluate(q, M);
  std::vector<std::pair<std::string, PdControl::Gains>> joints;
  for (const int k : motors_of(*model)) {
    const Joint& joint = model->joint_of_rate(model->independent_rates()[k]);
    const double m = M[static_cast<std::size_t>(k) * n + k];
    joints.push_back(
        {joint.name,
         {m * hold_frequency * hold_frequency, 2.0 * m * hold_frequency, q.data()[joint.q], 0.0}});
  }
  return std::make_unique<PdControl>(*model, joints);
}

std::vector<std::unique_ptr<Controller>> controllers_of(const Host& host, const ModelPtr& model,
                                                        const std::string& name,
                                                        const ControllerSource& source,
                                                        In<double> q) {
  std::vector<std::unique_ptr<Controller>> out;
  if (name == "none") return out;
  if (name == "file" && source) return source(*model);
  if (name == "gravity" || name == "hold") {
    out.push_back(std::make_unique<GravityCompensation>(host, model));
    if (name == "hold") out.push_back(hold(host, model, q));
    return out;
  }
  std::string known;
  for (const std::string& n : controller_names(source)) known += (known.empty() ? "" : ", ") + n;
  throw UnknownName("viewer: controller is '" + name.substr(0, 40) + "', expected " + known);
}

}  // namespace

std::vector<std::string> controller_names(const ControllerSource& source) {
  std::vector<std::string> out{"none", "gravity", "hold"};
  if (source) out.emplace_back("file");
  return out;
}

Run::Run(const Host& host, const ModelPtr& model, const RunNames& names,
         const ControllerSource& source, In<double> q, In<double> v, double t)
    : model_(model),
      dynamics_(host.create<ForwardDynamics<double>>(names.simulation.algorithm, model)),
      passive_(model, SimulationOptions{}.friction_rate),
      motion_(*model),
      forces_(model->spanning_nv()),
      tau_(model->nv()) {
  auto controllers = controllers_of(host, model, names.controller, source, q);
  for (const auto& c : controllers) controllers_.push_back(c.get());
  simulation_ = make_simulation(host, model, names.simulation, {}, std::move(controllers));
  simulation_->start(q, v, t);
}
Run::~Run() = default;

const std::vector<double>& Run::reduced(bool passive) {
  motion_.update(q().data(), v().data());
  std::fill(forces_.begin(), forces_.end(), 0.0);
  if (passive) passive_.add(q().data(), motion_.qd(), forces_.data());
  for (Controller* c : controllers_) c->drive(time(), q().data(), motion_.qd(), forces_.data());
  motion_.reduce(forces_.data(), tau_.data());
  return tau_;
}

Json Run::sample() {
  const Sample now = simulation_->sample();
  return {{"t", now.t},
          {"kinetic", now.kinetic},
          {"gravity", now.gravity},
          {"springs", now.springs},
          {"energy", now.energy()},
          {"residual", now.residual},
          {"v", std::vector<double>(now.v.begin(), now.v.end())},
          {"tau", reduced(false)}};
}

void Run::accelerations(std::vector<double>& vdot) {
  vdot.resize(model_->nv());
  dynamics_->evaluate(q(), v(), reduced(true), vdot);
}

}  // namespace espalier::viewer
