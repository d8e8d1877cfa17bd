#include "espalier/sensing/sensor_dynamics.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/text.hpp"

namespace espalier {

template <class T>
SensorDynamics<T>::SensorDynamics(const Setup& setup, bool variances)
    : Algorithm(setup.model),
      system_(*setup.model, setup.sensors),
      can_give_variances_(variances),
      d_(system_.unknowns()) {
  const Model& m = model();
  answer_.acceleration.assign(m.body_count() + 1, Motion<T>::zero());
  answer_.joint_wrench.assign(m.body_count() + 1, Force<T>::zero());
  answer_.vdot.resize(m.nv());
  answer_.qdd.resize(m.spanning_nv());
  answer_.tau.resize(m.spanning_nv());
  answer_.wrench.resize(system_.contacts().size());
  answer_.multiplier.resize(system_.unknowns() - system_.multipliers());
  answer_.loop_wrench.assign(system_.loops().size(), Force<T>::zero());
  answer_.residual.assign(system_.sensor_rows(), T(0.0));
  answer_.redundancy = system_.rows() - system_.unknowns();
}

template <class T>
auto SensorDynamics<T>::evaluate(In<T> q, In<T> v, In<T> y, const Wrenches<T>* wrenches)
    -> const Answer& {
  const Model& m = model();
  expect_size("sensor dynamics", "q", q.size(), m.nq());
  expect_size("sensor dynamics", "v", v.size(), m.nv());
  expect_size("sensor dynamics", "y", y.size(), system_.measurements());
  detail::expect_wrenches("sensor dynamics", wrenches, m);
  system_.update(q.data(), v.data(), y.data(), gravity(), wrenches);
  std::fill(answer_.residual.begin(), answer_.residual.end(), T(0.0));  // of exact solvers
  answer_.chi_square = T(0.0);
  if (!d_.empty()) compute(d_.data(), answer_);
  if (!d_.empty() && std::isnan(d_[0])) {  // NaN: then none of the answer is
    std::fill(answer_.variance.begin(), answer_.variance.end(), d_[0]);
    std::fill(answer_.residual.begin(), answer_.residual.end(), d_[0]);
    answer_.chi_square = d_[0];
  }
  for (int i = 1; i <= m.body_count(); ++i) {
    T* a = &d_[system_.acceleration(i)];
    for (int k = 0; k < 3; ++k) a[3 + k] += system_.gravity_on(i)[k];
    for (int k = 0; k < 6; ++k) {
      answer_.acceleration[i][k] = system_.told(system_.acceleration(i) + k, d_.data());
      answer_.joint_wrench[i][k] = system_.told(system_.joint_wrench(i) + k, d_.data());
    }
  }
  for (int r = 0; r < m.spanning_nv(); ++r) {
    answer_.qdd[r] = d_[system_.qdd(r)];
    answer_.tau[r] = system_.torque(r) < 0 ? T(0.0) : d_[system_.torque(r)];
  }
  const auto independent = m.independent_rates();
  for (int j = 0; j < m.nv(); ++j) answer_.vdot[j] = answer_.qdd[independent[j]];
  for (std::size_t c = 0; c < answer_.wrench.size(); ++c) {
    for (int k = 0; k < 6; ++k) answer_.wrench[c][k] = d_[system_.contacts()[c].first + k];
  }
  std::copy(d_.begin() + system_.multipliers(), d_.end(), answer_.multiplier.begin());
  for (std::size_t l = 0; l < answer_.loop_wrench.size(); ++l) {
    const SensorSystem::Loop& loop = system_.loops()[l];
    answer_.loop_wrench[l] = Force<T>::zero();
    for (std::size_t k = 0; k < loop.unit.size(); ++k) {
      if (loop.multiplier[k] < 0) continue;
      answer_.loop_wrench[l] += scale(answer_.multiplier[loop.multiplier[k]], loop.unit[k]);
    }
  }
  return answer_;
}

template <class T>
void SensorDynamics<T>::set_variances(bool wanted) {
  if (wanted && !can_give_variances_) {
    throw Unsupported("sensor dynamics of '" + model().name() +
                      "': this algorithm gives no variances, expected one that does (map, dense)");
  }
  answer_.variance.assign(wanted ? system_.unknowns() : 0, T(0.0));
}

template <class T>
int SensorDynamics<T>::index(std::string_view name) const {
  const std::vector<std::string>& names = system_.unknown_names();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<int>(at - names.begin());
  throw UnknownName("sensor dynamics of '" + model().name() + "': unknown " + text::quoted(name) +
                    " is unknown, expected a name like " + text::quoted(names.front()) + " or " +
                    text::quoted(names.back()) + " (SensorSystem::unknown_names() lists them)");
}

template <class T>
T SensorDynamics<T>::value(std::string_view name) const {
  return system_.told(index(name), d_.data());
}

template <class T>
T SensorDynamics<T>::variance(std::string_view name) const {
  const int i = index(name);
  if (answer_.variance.empty()) {
    throw Unsupported("sensor dynamics of '" + model().name() +
                      "': variances are not computed, expected set_variances(true) before");
  }
  return answer_.variance[i];
}

template <class T>
void SensorDynamics<T>::solve(const InputViews& in, Results& out) {
  using Axis = Result::Axis;
  std::vector<double> of_state;
  if (in.measurements.empty()) of_state = system_.measurements_of(in.tau, in.vdot);
  const Answer& a = evaluate(
      in.q, in.v, in.measurements.empty() ? In<double>(of_state) : in.measurements, in.wrenches);
  const Model& m = model();
  std::size_t k = 0;
  const auto put = [&](const char* name, int rows, Axis axis, int columns) -> Result& {
    Result& r = detail::result(out, k++, name);
    r.shape(axis, rows, columns == 1 ? Axis::one : Axis::components, columns);
    return r;
  };
  Result& vdot = put("vdot", m.nv(), Axis::rates, 1);
  vdot.values = a.vdot;
  const auto by_rate = [&](const char* name, const std::vector<T>& values) {
    Result& r = put(name, m.spanning_nv(), Axis::named, 1);
    r.values = values;
    if (!r.names.empty()) return;
    for (int i = 0; i < m.spanning_nv(); ++i) {
      const Joint& joint = m.joint_of_rate(i);
      r.names.push_back(joint.nv == 1 ? joint.name
                                      : joint.name + "[" + std::to_string(i - joint.v) + "]");
    }
  };
  by_rate("joint_acceleration", a.qdd);
  by_rate("joint_torque", a.tau);
  const auto six = [&](const char* name, const auto& list, std::size_t first, auto&& name_of) {
    Result& r = put(name, static_cast<int>(list.size() - first), Axis::named, 6);
    if (r.names.empty()) {
      for (std::size_t i = first; i < list.size(); ++i) r.names.push_back(name_of(i));
    }
    for (std::size_t i = first; i < list.size(); ++i) {
      for (int c = 0; c < 6; ++c) r.values[6 * (i - first) + c] = list[i][c];
    }
  };
  six("body_acceleration", a.acceleration, 1, [&](std::size_t i) { return m.body_names()[i]; });
  six("joint_wrench", a.joint_wrench, 1,
      [&](std::size_t i) { return m.joints()[m.body(static_cast<int>(i)).joint].name; });
  if (!a.wrench.empty()) {
    six("external_wrench", a.wrench, 0, [&](std::size_t i) { return system_.contacts()[i].link; });
  }
  if (!a.loop_wrench.empty()) {
    six("loop_wrench", a.loop_wrench, 0, [&](std::size_t i) { return system_.loops()[i].name; });
  }
  const auto named = [&](const char* name, const std::vector<T>& values, auto&& name_of) {
    Result& r = put(name, static_cast<int>(values.size()), Axis::named, 1);
    if (r.names.empty()) {
      for (std::size_t i = 0; i < values.size(); ++i) r.names.push_back(name_of(i));
    }
    r.values = values;
  };
  if (!a.multiplier.empty()) {
    named("constraint_force", a.multiplier,
          [&](std::size_t i) { return system_.unknown_names()[system_.multipliers() + i]; });
  }
  named("residual", a.residual,
        [&](std::size_t i) { return system_.sensor_row_name(static_cast<int>(i)); });
  put("chi_square", 1, Axis::one, 1).values[0] = a.chi_square;
  put("redundancy", 1, Axis::one, 1).values[0] = a.redundancy;
  if (!a.variance.empty()) {
    named("variance", a.variance, [&](std::size_t i) { return system_.unknown_names()[i]; });
  }
}

std::vector<double> simulated_measurements(SensorSystem& sensors,
                                           const SensorDynamics<double>& truth, In<double> q,
                                           In<double> v) {
  const Model& m = sensors.model();
  const auto& answer = truth.answer();
  expect_size("simulated measurements", "q", q.size(), m.nq());
  expect_size("simulated measurements", "v", v.size(), m.nv());
  expect_size("simulated measurements", "joint torques", static_cast<long>(answer.tau.size()),
              m.spanning_nv());
  expect_size("simulated measurements", "constraints", static_cast<long>(answer.multiplier.size()),
              sensors.unknowns() - sensors.multipliers());
  // A gyroscope is to show the velocity, not to change it: y is not there.
  sensors.update(q.data(), v.data(), nullptr, truth.gravity(), nullptr);
  std::vector<double> d(sensors.unknowns(), 0.0);
  for (int i = 1; i <= m.body_count(); ++i) {
    const Transform<double>& X = sensors.to_link(i);
    const Motion<double> a = X.inverse_times(answer.acceleration[i]);
    const Force<double> f = X.transpose_times_force(answer.joint_wrench[i]);
    for (int k = 0; k < 6; ++k) {
      d[sensors.acceleration(i) + k] = a[k];
      d[sensors.joint_wrench(i) + k] = f[k];
    }
    for (int k = 0; k < 3; ++k) d[sensors.acceleration(i) + 3 + k] -= sensors.gravity_on(i)[k];
  }
  for (int r = 0; r < m.spanning_nv(); ++r) {
    d[sensors.qdd(r)] = answer.qdd[r];
    if (sensors.torque(r) >= 0) d[sensors.torque(r)] = answer.tau[r];
  }
  for (const SensorSystem::Contact& to : sensors.contacts()) {
    for (std::size_t c = 0; c < answer.wrench.size(); ++c) {
      if (truth.system().contacts()[c].link != to.link) continue;
      for (int k = 0; k < 6; ++k) d[to.first + k] = answer.wrench[c][k];
    }
  }
  std::copy(answer.multiplier.begin(), answer.multiplier.end(), d.begin() + sensors.multipliers());
  return sensors.predict(d.data());
}

template class SensorDynamics<double>;

}  // namespace espalier
