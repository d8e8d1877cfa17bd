#include "benchmarks/softness/softness.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "charts/chart.hpp"
#include "espalier/espalier.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"

namespace espalier::bench {

MujocoModel load_mujoco(const std::string& file) {
  char message[1000] = "";
  MujocoModel model(mj_loadXML(file.c_str(), nullptr, message, sizeof message));
  if (model == nullptr) throw std::runtime_error(message);
  return model;
}

namespace {

/// A model in MuJoCo at rest at its reference position, its constraints as stiff as is asked.
class Soft {
 public:
  explicit Soft(const std::string& file) : model_(load_mujoco(file)) {
    model_->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT;
    model_->opt.iterations = 10000;
    model_->opt.tolerance = 0.0;
    data_.reset(mj_makeData(model_.get()));
  }
  /// @param softness  1 - solimp: the part of the constraint's force that is missing
  void solve(double softness) {
    for (int e = 0; e < model_->neq; ++e) {
      for (int k = 0; k < 2; ++k) model_->eq_solimp[mjNIMP * e + k] = 1.0 - softness;
    }
    mj_resetData(model_.get(), data_.get());
    mj_forward(model_.get(), data_.get());
  }
  double acceleration(const std::string& joint) const {
    const int id = mj_name2id(model_.get(), mjOBJ_JOINT, joint.c_str());
    return data_->qacc[model_->jnt_dofadr[id]];
  }

 private:
  MujocoModel model_;
  MujocoData data_;
};

/// Exact accelerations of all joints at rest: those of the independent ones, and what follows.
std::vector<double> exact(const Host& host, const ModelPtr& robot) {
  std::vector<double> q(robot->nq()), v(robot->nv(), 0.0), tau(robot->nv(), 0.0), vdot(robot->nv());
  robot->neutral(q.data());
  host.create<ForwardDynamics<double>>("c-aba", robot)->evaluate(q, v, tau, vdot);
  SpanningMotion<double> motion(*robot);
  motion.update(q.data(), vdot.data());  // at rest, accelerations follow each other as rates do
  return {motion.qd(), motion.qd() + robot->spanning_nv()};
}

/// Differences of accelerations, relative to the largest, for each softness.
std::vector<double> differences(const Host& host, const std::string& file,
                                const std::vector<double>& softness) {
  const ModelPtr robot = host.load(file);
  const std::vector<double> wanted = exact(host, robot);
  Soft soft(file);
  std::vector<double> all;
  for (const double s : softness) {
    soft.solve(s);
    double worst = 0.0, size = 0.0;
    for (const Joint& joint : robot->joints()) {
      worst = std::max(worst, std::abs(soft.acceleration(joint.name) - wanted[joint.v]));
      size = std::max(size, std::abs(wanted[joint.v]));
    }
    all.push_back(worst / size);
  }
  return all;
}

}  // namespace

void draw_equality(const std::string& svg) {
  const Host host;
  const std::string folder = ESPALIER_SOURCE_DIR "/benchmarks/softness/";
  std::vector<double> softness, logarithms;
  for (int i = 0; i <= 12; ++i) {  // MuJoCo keeps solimp below 1 - 1e-4
    logarithms.push_back(-4.0 + 0.25 * i);
    softness.push_back(std::pow(10.0, logarithms.back()));
  }
  const auto connect = differences(host, folder + "four_bar.xml", softness);
  const auto joint = differences(host, folder + "geared.xml", softness);
  std::printf("| 1 - solimp | connect of a four-bar | joint |\n| --- | --- | --- |\n");
  for (std::size_t i = 0; i < softness.size(); ++i) {
    std::printf("| %.3g | %.3g | %.3g |\n", softness[i], connect[i], joint[i]);
  }
  const auto log = [](const std::vector<double>& values) {
    std::vector<double> all;
    for (const double value : values) all.push_back(std::log10(value));
    return all;
  };
  charts::Chart chart;
  chart.title = "MuJoCo's accelerations beside the exact ones, at rest";
  chart.label = "log10 of 1 - solimp";
  chart.x = logarithms;
  chart.panels = {{"log10 of the relative difference",
                   {{"connect of a four-bar", "#000000", "", log(connect)},
                    {"joint equality", "#d55e00", "6 3", log(joint)}}}};
  std::ofstream(svg) << chart.svg();
}

}  // namespace espalier::bench
