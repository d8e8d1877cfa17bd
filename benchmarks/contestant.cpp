#include "benchmarks/contestant.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "benchmarks/batches.hpp"
#include "espalier/kernel/model/placements.hpp"
#include "espalier/kernel/problems/derivatives/forward_dynamics_derivatives.hpp"
#include "espalier/kernel/problems/derivatives/inverse_dynamics_derivatives.hpp"
#include "espalier/kernel/problems/dynamics/bias_force.hpp"
#include "espalier/kernel/problems/dynamics/inverse_mass_matrix.hpp"
#include "espalier/kernel/problems/kinematics/center_of_mass.hpp"
#include "espalier/kernel/problems/kinematics/energy.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"

namespace espalier::bench {

static_assert(state_count == espalier_peer_state_count);
static_assert(static_cast<int>(Work::forward) == espalier_peer_forward &&
              static_cast<int>(Work::inverse) == espalier_peer_inverse &&
              static_cast<int>(Work::mass_matrix) == espalier_peer_mass_matrix &&
              static_cast<int>(Work::inverse_osim) == espalier_peer_inverse_osim);

namespace {

/// Numbers in the result of a work.
std::size_t result_size(Work work, const Robot& robot) {
  const std::size_t nv = robot.model->nv(), m = 6 * robot.held.size();
  switch (work) {
    case Work::mass_matrix:
    case Work::inverse_mass_matrix:
      return nv * nv;
    case Work::inverse_derivatives:
    case Work::forward_derivatives:
      return 3 * nv * nv;
    case Work::inverse_osim:
      return m * m;
    case Work::jacobian:
      return 6 * nv;
    case Work::jacobians:
      return 6 * nv * robot.links.size();
    case Work::placements:
      return 12 * robot.links.size();
    case Work::center_of_mass:
      return 9;
    case Work::energy:
      return 2;
    default:
      return nv;
  }
}

/// Espalier's algorithm for problem P.
template <class P, Work what>
class Ours final : public Contestant {
 public:
  Ours(const Host& host, const Robot& robot, const std::string& name)
      : Contestant(what, "Espalier", name, rounding),
        robot_(robot),
        algorithm_(host.create<P>(name, setup(robot))),
        out_(result_size(what, robot)),
        vector_(robot.model->nv()) {}
  void call(int k) override {
    const RandomState& s = robot_.states[k];
    if constexpr (what == Work::inverse_derivatives) differentiate(s, s.vdot);
    if constexpr (what == Work::forward_derivatives) differentiate(s, s.tau);
    if constexpr (what == Work::forward) algorithm_->evaluate(s.q, s.v, s.tau, out_);
    if constexpr (what == Work::inverse) algorithm_->evaluate(s.q, s.v, s.vdot, out_);
    if constexpr (what == Work::mass_matrix) algorithm_->evaluate(s.q, out_);
    if constexpr (what == Work::inverse_osim) algorithm_->evaluate(s.q, out_);
    if constexpr (what == Work::inverse_mass_matrix) algorithm_->evaluate(s.q, out_);
  }
  std::vector<double> result(int) override { return out_; }

 private:
  /// By q, by v, and the mass matrix or its inverse, one behind the other.
  void differentiate(const RandomState& s, const std::vector<double>& third) {
    const long n = static_cast<long>(out_.size()) / 3;
    double* out = out_.data();
    const auto matrix = [&](int k) { return OutMatrix<double>{out + k * n, n}; };
    algorithm_->evaluate(s.q, s.v, third, vector_, matrix(0), matrix(1), matrix(2));
  }
  static Setup setup(const Robot& robot) {
    Setup setup{robot.model};
    for (const std::string& link : robot.held) {
      setup.end_effectors.push_back(EndEffector::weld(link));
    }
    return setup;
  }

  const Robot& robot_;
  std::unique_ptr<P> algorithm_;
  std::vector<double> out_, vector_;
};

/// Jacobians of the robot's links, or of the last one.
class OurJacobians final : public Contestant {
 public:
  OurJacobians(const Host& host, const Robot& robot, Work what)
      : Contestant(what, "Espalier", "body-jacobians", rounding),
        robot_(robot),
        algorithm_(host.create<BodyJacobians<double>>("body-jacobians", robot.model)),
        out_(result_size(Work::jacobian, robot)) {
    for (const std::string& link : robot.links) links_.push_back(&robot.model->link(link));
    if (what == Work::jacobian) links_ = {links_.back()};
  }
  void call(int k) override {
    if (links_.size() == 1) return algorithm_->evaluate(robot_.states[k].q, *links_[0], out_);
    algorithm_->evaluate(robot_.states[k].q);
    for (const Link* link : links_) algorithm_->jacobian(*link, out_);
  }
  std::vector<double> result(int k) override {
    std::vector<double> all;
    call(k);
    if (links_.size() == 1) return out_;
    for (const Link* link : links_) {
      algorithm_->jacobian(*link, out_);
      all.insert(all.end(), out_.begin(), out_.end());
    }
    return all;
  }

 private:
  const Robot& robot_;
  std::unique_ptr<BodyJacobians<double>> algorithm_;
  std::vector<const Link*> links_;
  std::vector<double> out_;
};

/// Where the links are, from positions alone.
class OurPlacements final : public Contestant {
 public:
  OurPlacements(const Robot& robot)
      : Contestant(Work::placements, "Espalier", "Placements", rounding),
        robot_(robot),
        placements_(robot.model) {}
  void call(int k) override { placements_.update(robot_.states[k].q.data()); }
  std::vector<double> result(int) override {
    std::vector<double> all;
    for (const std::string& name : robot_.links) {
      const auto& links = robot_.model->links();
      const Link& link = robot_.model->link(name);
      const Transform<double> X = placements_.link(static_cast<int>(&link - links.data()));
      for (int i = 0; i < 3; ++i) all.push_back(X.r[i]);
      for (int i = 0; i < 9; ++i) all.push_back(X.E(i % 3, i / 3));
    }
    return all;
  }

 private:
  const Robot& robot_;
  Placements placements_;
};

/// Bias forces, centre of mass or energy.
class OurBody final : public Contestant {
 public:
  OurBody(const Host& host, const Robot& robot, Work what, const std::string& name)
      : Contestant(what, "Espalier", name, rounding),
        robot_(robot),
        out_(result_size(what, robot)) {
    if (what == Work::bias_forces) bias_ = host.create<BiasForce<double>>(name, robot.model);
    if (what == Work::center_of_mass) {
      center_ = host.create<CenterOfMass<double>>(name, robot.model);
    }
    if (what == Work::energy) energy_ = host.create<Energy<double>>(name, robot.model);
  }
  void call(int k) override {
    const RandomState& s = robot_.states[k];
    if (bias_ != nullptr) bias_->evaluate(s.q, s.v, out_);
    if (center_ != nullptr) motion_ = center_->evaluate(s.q, s.v, s.vdot);
    if (energy_ != nullptr) energies_ = energy_->evaluate(s.q, s.v);
  }
  std::vector<double> result(int) override {
    if (energy_ != nullptr) out_ = {energies_.kinetic, energies_.potential};
    for (int i = 0; center_ != nullptr && i < 3; ++i) {
      out_[i] = motion_.position[i], out_[3 + i] = motion_.velocity[i];
      out_[6 + i] = motion_.acceleration[i];
    }
    return out_;
  }

 private:
  const Robot& robot_;
  std::unique_ptr<BiasForce<double>> bias_;
  std::unique_ptr<CenterOfMass<double>> center_;
  std::unique_ptr<Energy<double>> energy_;
  CenterOfMass<double>::Answer motion_{};
  Energy<double>::Answer energies_{};
  std::vector<double> out_;
};

/// A peer's own model of the robot, shared by its contestants.
struct PeerRobot {
  PeerRobot(const espalier_peer& t, const Robot& of) : table(t), robot(of) {
    std::vector<const char*> joints, links, held;
    for (const std::string& joint : robot.joints) joints.push_back(joint.c_str());
    for (const std::string& link : robot.links) links.push_back(link.c_str());
    for (const std::string& link : robot.held) held.push_back(link.c_str());
    const espalier_peer_robot plain{robot.urdf.c_str(), robot.root.c_str(),
                                    robot.floating,     joints.data(),
                                    links.data(),       static_cast<int>(joints.size()),
                                    held.data(),        static_cast<int>(held.size())};
    char message[500] = "";
    handle = table.open(&plain, message, sizeof message);
    if (handle == nullptr) throw std::runtime_error(message);
    for (int k = 0; k < state_count; ++k) {
      const RandomState& s = robot.states[k];
      table.set(handle, k, s.q.data(), s.v.data(), s.tau.data(), s.vdot.data());
    }
  }
  ~PeerRobot() { table.close(handle); }
  PeerRobot(const PeerRobot&) = delete;
  PeerRobot& operator=(const PeerRobot&) = delete;

  const espalier_peer& table;
  const Robot& robot;
  void* handle = nullptr;
};

bool is_batch(int way) {
  return way == espalier_peer_forward_batch || way == espalier_peer_inverse_batch;
}
Work work_of(int way) {
  if (way == espalier_peer_forward_batch) return Work::forward;
  if (way == espalier_peer_inverse_batch) return Work::inverse;
  if (way == espalier_peer_jacobian) return Work::jacobian;
  if (way == espalier_peer_jacobians) return Work::jacobians;
  if (way == espalier_peer_placements) return Work::placements;
  if (way == espalier_peer_inverse_derivatives) return Work::inverse_derivatives;
  if (way == espalier_peer_forward_derivatives) return Work::forward_derivatives;
  if (way == espalier_peer_inverse_mass_matrix) return Work::inverse_mass_matrix;
  if (way == espalier_peer_bias_forces) return Work::bias_forces;
  if (way == espalier_peer_center_of_mass) return Work::center_of_mass;
  if (way == espalier_peer_energy) return Work::energy;
  return static_cast<Work>(std::min(way, static_cast<int>(Work::inverse_osim)));
}

class Theirs final : public Contestant {
 public:
  Theirs(int way, std::shared_ptr<PeerRobot> robot)
      : Contestant(work_of(way), robot->table.library, robot->table.names[way],
                   robot->table.agreement),
        batch_(is_batch(way)),
        robot_(std::move(robot)),
        run_(robot_->table.run[way]),
        read_(robot_->table.read[way]) {}
  void call(int k) override { run_(robot_->handle, k); }
  std::vector<double> result(int k) override {
    std::vector<double> out(result_size(work, robot_->robot));
    read_(robot_->handle, k, out.data());
    return out;
  }
  int states() const override { return batch_ ? batch_size : 1; }

 private:
  bool batch_;
  std::shared_ptr<PeerRobot> robot_;
  void (*run_)(void*, int);
  void (*read_)(void*, int, double*);
};

}  // namespace

Contestants our_contestants(const Host& host, const Robot& robot, Works works) {
  Contestants all;
  if (works == Works::one_body) {
    all.push_back(std::make_unique<OurBody>(host, robot, Work::bias_forces, "rnea"));
    all.push_back(std::make_unique<OurBody>(host, robot, Work::center_of_mass, "center-of-mass"));
    all.push_back(std::make_unique<OurBody>(host, robot, Work::energy, "energy"));
    return all;
  }
  using Forward = Ours<ForwardDynamics<double>, Work::forward>;
  using Inverse = Ours<InverseDynamics<double>, Work::inverse>;
  using Matrix = Ours<MassMatrix<double>, Work::mass_matrix>;
  using Osim = Ours<InverseOsim<double>, Work::inverse_osim>;
  all.push_back(std::make_unique<Forward>(host, robot, "aba"));
  all.push_back(std::make_unique<Inverse>(host, robot, "rnea"));
  all.push_back(std::make_unique<Matrix>(host, robot, "crba"));
  for (const Work what : {Work::jacobian, Work::jacobians}) {
    all.push_back(std::make_unique<OurJacobians>(host, robot, what));
  }
  all.push_back(std::make_unique<OurPlacements>(robot));
  if (works == Works::calls) return all;
  all.push_back(std::make_unique<Forward>(host, robot, "crba-ltl"));
  for (const char* name : {"pv-osimr", "pv-osim", "efpa", "ltl-osim"}) {
    all.push_back(std::make_unique<Osim>(host, robot, name));
  }
  using InverseBy = Ours<InverseDynamicsDerivatives<double>, Work::inverse_derivatives>;
  using ForwardBy = Ours<ForwardDynamicsDerivatives<double>, Work::forward_derivatives>;
  using Inverted = Ours<InverseMassMatrix<double>, Work::inverse_mass_matrix>;
  all.push_back(std::make_unique<InverseBy>(host, robot, "rnea-derivatives"));
  all.push_back(std::make_unique<ForwardBy>(host, robot, "aba-derivatives"));
  all.push_back(std::make_unique<Inverted>(host, robot, "ltl-inverse-mass-matrix"));
  add_batches(host, robot.model, robot.states, Work::forward, "aba", all);
  add_batches(host, robot.model, robot.states, Work::inverse, "rnea", all);
  return all;
}

Peer::Peer(const std::string& name) {
  const std::string file = ESPALIER_PEER_FOLDER "/peer_" + name + ".so";
  // Local: libraries of peers that are compiled differently do not see each other's symbols.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  void* entry = dlsym(library, "espalier_peer_table");
  if (entry == nullptr) throw std::runtime_error(dlerror());
  table_ = reinterpret_cast<espalier_peer_entry>(entry)();
}

Contestants Peer::contestants(const Robot& robot, Works works) const {
  const auto shared = std::make_shared<PeerRobot>(*table_, robot);
  Contestants all;
  for (int way = 0; way < espalier_peer_way_count; ++way) {
    const bool more = (way >= espalier_peer_inverse_osim && way <= espalier_peer_inverse_batch) ||
                      way >= espalier_peer_inverse_derivatives;
    if (works == Works::calls && more) continue;
    if ((works == Works::one_body) != (way >= espalier_peer_bias_forces)) continue;
    if (table_->names[way] != nullptr) all.push_back(std::make_unique<Theirs>(way, shared));
  }
  return all;
}

const std::vector<std::string>& Peer::known() {
  static const std::vector<std::string> names{"pinocchio", "rbdl", "mujoco", "dart"};
  return names;
}

double largest_difference(Contestant& reference, Contestant& other) {
  double largest = 0.0;
  for (int k = 0; k < state_count; ++k) {
    // A batch has all states.
    if (k == 0 || reference.states() == 1) reference.call(k);
    if (k == 0 || other.states() == 1) other.call(k);
    const std::vector<double> a = reference.result(k), b = other.result(k);
    double scale = 0.0, difference = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      scale = std::max(scale, std::abs(a[i]));
      const double d = std::abs(a[i] - b[i]);
      if (!std::isfinite(d)) return std::numeric_limits<double>::infinity();
      difference = std::max(difference, d);
    }
    largest = std::max(largest, difference / scale);
  }
  return largest;
}

}  // namespace espalier::bench
