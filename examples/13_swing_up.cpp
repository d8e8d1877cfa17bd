// Tello hangs by its torso and swings both legs up: torques over time by iterative LQR, a
// Gauss-Newton method, with exact derivatives of the time step through the differentials, and the
// same by central differences. Writes how the cost falls over processor time: docs/derivatives.md.
//
//   13_swing_up robots/tello.yaml plot.svg
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "charts/chart.hpp"
#include "espalier/espalier.hpp"
#include "espalier/host/output_file.hpp"
#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/derivatives/derivatives.hpp"

using namespace espalier;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Numbers = std::vector<double>;

constexpr double step = 5e-3;  // [s]
constexpr int steps = 100;
constexpr double torque_weight = 300.0, position_weight = 200.0, rate_weight = 1.0;

double processor_time() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Spanning positions on closed loops, independent rates.
struct Point {
  Numbers q, v;
};
struct Linear {
  Matrix A, B;  // of x+ = A x + B u, x = (independent coordinates, rates)
};

/// The semi-implicit Euler step without derivatives.
class Step {
 public:
  Step(const Host& host, const ModelPtr& robot)
      : robot_(*robot),
        dynamics_(host.create<ForwardDynamics<double>>("c-aba", robot)),
        motion_(*robot),
        projector_(robot, {.tolerance = 1e-13}),
        vdot_(robot->nv()),
        moved_(robot->nv()),
        rates_(robot->spanning_nv()) {}

  Point operator()(const Point& from, const double* u) {
    const int n = robot_.nv();
    Point to = from;
    dynamics_->evaluate(from.q, from.v, {u, n}, vdot_);
    for (int i = 0; i < n; ++i) to.v[i] += step * vdot_[i], moved_[i] = step * to.v[i];
    to.q = shifted(from.q, moved_);
    return to;
  }
  /// Positions moved along independent coordinates, loops closed.
  Numbers shifted(const Numbers& q, const Numbers& by) {
    Numbers out(q.size());
    motion_.update(q.data(), nullptr);
    motion_.expand(by.data(), rates_.data());
    robot_.integrate(q.data(), rates_.data(), out.data());
    robot_.apply_couplings(out.data());
    projector_.restart();
    if (projector_.project(out.data()).verdict != Closure::Verdict::closed) {
      throw SingularMechanism("swing up: a step does not close the loops");
    }
    return out;
  }

 private:
  const Model& robot_;
  std::unique_ptr<ForwardDynamics<double>> dynamics_;
  SpanningMotion<double> motion_;
  LoopProjector projector_;
  Numbers vdot_, moved_, rates_;
};

/// A and B of the step.
class Derivatives {
 public:
  virtual ~Derivatives() = default;
  virtual void evaluate(const Point& at, const double* u, Linear& out) = 0;
};

class Exact final : public Derivatives {
 public:
  Exact(const Host& host, const ModelPtr& robot)
      : step_(host.create<StepDerivatives<double>>("semi-implicit-euler-step", robot)),
        next_{Numbers(robot->nq()), Numbers(robot->nv())} {}
  void evaluate(const Point& at, const double* u, Linear& out) override {
    const long n = static_cast<long>(at.v.size());
    step_->evaluate(at.q, at.v, {u, n}, step, next_.q, next_.v, {out.A.data(), 4 * n * n},
                    {out.B.data(), 2 * n * n});
  }

 private:
  std::unique_ptr<StepDerivatives<double>> step_;
  Point next_;
};

/// Two steps for each coordinate, rate and torque.
class Differences final : public Derivatives {
 public:
  Differences(Step& stepping, const Model& robot) : step_(stepping), robot_(robot) {}
  void evaluate(const Point& at, const double* u, Linear& out) override {
    constexpr double h = 1e-6;
    const int n = robot_.nv();
    for (int k = 0; k < 3 * n; ++k) {
      Point ends[2];
      for (int side = 0; side < 2; ++side) {
        const double t = side == 0 ? -h : h;
        Point from = at;
        Numbers torques(u, u + n), along(n, 0.0);
        if (k < n) {
          along[k] = t;
          from.q = step_.shifted(at.q, along);
        } else if (k < 2 * n) {
          from.v[k - n] += t;
        } else {
          torques[k - 2 * n] += t;
        }
        ends[side] = step_(from, torques.data());
      }
      Numbers dq(robot_.spanning_nv());
      robot_.difference(ends[0].q.data(), ends[1].q.data(), dq.data());
      Matrix& to = k < 2 * n ? out.A : out.B;
      const int column = k < 2 * n ? k : k - 2 * n;
      for (int i = 0; i < n; ++i) {
        to(i, column) = dq[robot_.independent_rates()[i]] / (2 * h);
        to(n + i, column) = (ends[1].v[i] - ends[0].v[i]) / (2 * h);
      }
    }
  }

 private:
  Step& step_;
  const Model& robot_;
};

/// Cost: torques squared over time, and at the end distance from a pose at rest.
class SwingUp {
 public:
  SwingUp(const Host& host, const ModelPtr& robot, const State& start, const State& target)
      : robot_(*robot), step_(host, robot), target_(target.q()) {
    path_.assign(steps + 1, {start.q(), start.v()});
    u_.assign(steps, Numbers(robot->nv(), 0.0));
  }
  Step& stepping() { return step_; }
  const std::vector<Point>& path() const { return path_; }
  const std::vector<Numbers>& torques() const { return u_; }

  /// What an iteration left: cost and when.
  struct Record {
    std::vector<double> cost, time;
  };
  Record solve(Derivatives& derivatives) {
    const double start = processor_time();
    cost_ = roll_out(u_, {}, 0.0, path_);
    Record record{{cost_}, {processor_time() - start}};
    const int n = robot_.nv();
    lines_.assign(steps, {Matrix(2 * n, 2 * n), Matrix(2 * n, n)});
    for (bool better = true; better;) {
      for (int k = 0; k < steps; ++k) derivatives.evaluate(path_[k], u_[k].data(), lines_[k]);
      better = improve();
      record.cost.push_back(cost_), record.time.push_back(processor_time() - start);
    }
    return record;
  }
  const std::vector<Linear>& lines() const { return lines_; }

 private:
  struct Gain {
    Vector k;  // change of the torques
    Matrix K;  // and what of it follows the state
  };
  /// Of independent coordinates.
  Vector away(const Numbers& from, const Numbers& to) const {
    Numbers d(robot_.spanning_nv());
    robot_.difference(from.data(), to.data(), d.data());
    Vector out(robot_.nv());
    for (int i = 0; i < robot_.nv(); ++i) out[i] = d[robot_.independent_rates()[i]];
    return out;
  }
  /// Follows the torques, changed by `share` of the gains; returns the cost.
  double roll_out(std::vector<Numbers>& u, const std::vector<Gain>& gains, double share,
                  std::vector<Point>& path) {
    const int n = robot_.nv();
    double cost = 0.0;
    path[0] = path_[0];
    for (int k = 0; k < steps; ++k) {
      if (!gains.empty()) {
        Vector dx(2 * n);
        dx << away(path_[k].q, path[k].q),
            Vector::Map(path[k].v.data(), n) - Vector::Map(path_[k].v.data(), n);
        Vector::Map(u[k].data(), n) =
            Vector::Map(u_[k].data(), n) + share * gains[k].k + gains[k].K * dx;
      }
      cost += 0.5 * step * torque_weight * Vector::Map(u[k].data(), n).squaredNorm();
      path[k + 1] = step_(path[k], u[k].data());
    }
    cost += 0.5 * position_weight * away(target_, path[steps].q).squaredNorm();
    return cost + 0.5 * rate_weight * Vector::Map(path[steps].v.data(), n).squaredNorm();
  }
  /// One iteration. Returns whether the cost fell by more than a part in a million.
  bool improve() {
    const int n = robot_.nv();
    std::vector<Gain> gains(steps);
    Vector Vx(2 * n);
    Vx << position_weight * away(target_, path_[steps].q),
        rate_weight * Vector::Map(path_[steps].v.data(), n);
    Matrix Vxx = Matrix::Zero(2 * n, 2 * n);
    Vxx.diagonal() << Vector::Constant(n, position_weight), Vector::Constant(n, rate_weight);
    for (int k = steps - 1; k >= 0; --k) {
      const auto& [A, B] = lines_[k];
      const Vector Qu = step * torque_weight * Vector::Map(u_[k].data(), n) + B.transpose() * Vx;
      const Matrix VB = Vxx * B, VA = Vxx * A;
      Matrix Quu = B.transpose() * VB;
      Quu.diagonal().array() += step * torque_weight;
      const Eigen::LLT<Eigen::MatrixXd> factor(Quu);
      const Matrix Qux = B.transpose() * VA;
      gains[k] = {-factor.solve(Qu), -factor.solve(Qux)};
      Vx = A.transpose() * Vx + Qux.transpose() * gains[k].k;
      Vxx = A.transpose() * VA + Qux.transpose() * gains[k].K;
      Vxx = 0.5 * (Vxx + Vxx.transpose()).eval();
    }
    std::vector<Numbers> u = u_;
    std::vector<Point> path = path_;
    for (double share = 1.0; share > 1e-3; share *= 0.5) {
      const double cost = roll_out(u, gains, share, path);
      if (!(cost < cost_)) continue;
      const bool enough = cost < (1.0 - 1e-6) * cost_;
      u_ = u, path_ = path, cost_ = cost;
      return enough;
    }
    return false;
  }

  const Model& robot_;
  Step step_;
  Numbers target_;
  std::vector<Point> path_;
  std::vector<Numbers> u_;
  std::vector<Linear> lines_;
  double cost_ = 0.0;
};

/// Hip and knee motors turned so that the thigh points forward, the shin down.
State raised(const ModelPtr& robot) {
  constexpr double gear = 6.0;
  const State hanging(robot);
  State state(robot);
  for (const std::string leg : {"left.", "right."}) {
    for (const std::string motor : {"rotor1", "rotor2"}) {
      state.set_position(leg + "hip." + motor, -gear * 1.1);
      state.set_position(leg + "knee_ankle." + motor, gear * 1.0);
    }
  }
  const Closure closure = close(*robot, hanging.q().data(), state.q().data());
  if (closure.verdict != Closure::Verdict::closed) throw SingularMechanism(closure.text());
  return state;
}

/// Cost over processor time, as steps; both begin at the cost of no torque.
void plot(const SwingUp::Record& exact, const SwingUp::Record& differences, const char* file) {
  charts::Chart chart;
  chart.title = "Swing-up of Tello's legs: Gauss-Newton by derivatives of the step";
  chart.label = "processor time [s]";
  charts::Chart::Panel panel{
      "log10 of the cost",
      {{"exact derivatives", "#1f77b4", "", {}}, {"central differences", "#d62728", "4 2", {}}}};
  constexpr int points = 400;
  const double end = differences.time.back();
  for (int i = 0; i < points; ++i) {
    const double t = end * i / (points - 1);
    chart.x.push_back(t);
    int line = 0;
    for (const SwingUp::Record* r : {&exact, &differences}) {
      std::size_t k = 0;
      while (k + 1 < r->time.size() && r->time[k + 1] <= t) ++k;
      panel.lines[line++].y.push_back(std::log10(r->cost[k]));
    }
  }
  chart.panels.push_back(panel);
  write_file(file, chart.svg());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s robots/tello.yaml plot.svg\n", argv[0]);
    return 2;
  }
  const Host host;
  const ModelPtr robot = host.load(argv[1], {.root = espalier::Root::fixed});
  const State start(robot), target = raised(robot);
  Exact exact(host, robot);
  SwingUp by_exact(host, robot, start, target), by_differences(host, robot, start, target);
  Differences differences(by_differences.stepping(), *robot);

  SwingUp::Record records[2];
  const char* names[] = {"exact derivatives", "central differences"};
  for (int i = 0; i < 2; ++i) {
    records[i] = i == 0 ? by_exact.solve(exact) : by_differences.solve(differences);
    const double iterations = static_cast<double>(records[i].cost.size() - 1);
    std::printf("%-20s cost %.2f to %.4f in %.0f iterations, %.1f iterations per second\n",
                names[i], records[i].cost.front(), records[i].cost.back(), iterations,
                iterations / records[i].time.back());
  }
  plot(records[0], records[1], argv[2]);

  // Both have to be right about the same path.
  double largest = 0.0, apart = 0.0;
  Linear a = by_exact.lines().front(), b = a;
  for (int k = 0; k < steps; k += 10) {
    exact.evaluate(by_exact.path()[k], by_exact.torques()[k].data(), a);
    differences.evaluate(by_exact.path()[k], by_exact.torques()[k].data(), b);
    largest = std::max({largest, a.A.cwiseAbs().maxCoeff(), a.B.cwiseAbs().maxCoeff()});
    apart = std::max({apart, (a.A - b.A).cwiseAbs().maxCoeff(), (a.B - b.B).cwiseAbs().maxCoeff()});
  }
  const Point& end = by_exact.path().back();
  double missed = 0.0;
  for (const int rate : robot->independent_rates()) {
    const int q = robot->joint_of_rate(rate).q;
    missed = std::max(missed, std::abs(end.q[q] - target.q()[q]));
  }
  std::printf("A and B differ by %.1e of %.1e; motors end %.3f rad beside the target\n", apart,
              largest, missed);
  // Differences of step 1e-6 have rounding errors of about 1e-9 of the largest.
  const bool right =
      apart < 1e-6 * largest && missed < 0.3 &&
      std::abs(records[0].cost.back() - records[1].cost.back()) < 1e-3 * records[0].cost.back();
  return right ? 0 : 1;
}
