#include "espalier/kernel/problems/derivatives.hpp"

#include <array>
#include <cmath>
#include <string>

namespace espalier {

void passive_joint_forces(const Model& model, const double* q, const double* qd,
                          double friction_rate, JointForces<double>& out) {
  out.force.assign(model.spanning_nv(), 0.0);
  out.by_position = out.by_rate = out.force;
  for (const Joint& joint : model.joints()) {
    const PassiveDynamics& p = joint.passive;
    for (int k = 0; k < joint.nv; ++k) {
      const double rate = qd[joint.v + k];
      double dry = 0.0, slope = 0.0;
      if (friction_rate > 0.0) {
        dry = std::tanh(rate / friction_rate);
        slope = (1.0 - dry * dry) / friction_rate;
      } else if (rate != 0.0) {
        dry = rate > 0.0 ? 1.0 : -1.0;
      }
      out.force[joint.v + k] = -p.damping * rate - p.friction * dry;
      out.by_rate[joint.v + k] = -p.damping - p.friction * slope;
    }
    if (joint.nv == 1 && joint.nq == 1) {
      out.force[joint.v] -= p.stiffness * (q[joint.q] - p.rest);
      out.by_position[joint.v] = -p.stiffness;
    }
  }
}


template <class T>
void StepDerivatives<T>::by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) {
  const Model& m = model();
  const int nv = m.nv();
  const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
  std::vector<T> q_next(m.nq()), v_next(nv), A(4UL * nv * nv), B(2UL * nv * nv);
  evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.tau),
           in.time_step, q_next, v_next, A, B, &loads);
  std::size_t k = 0;
  const auto put = [&](const char* name, ResultAxis r, int rows, ResultAxis c, int columns,
                       const std::vector<T>& x) {
    BasicResult<Value>& result = detail::result(out, k++, name);
    result.shape(r, rows, c, columns);
    for (std::size_t i = 0; i < x.size(); ++i) result.values[i] = detail::lowered<Value>(x[i]);
  };
  put("q_next", ResultAxis::components, m.nq(), ResultAxis::one, 1, q_next);
  put("v_next", ResultAxis::rates, nv, ResultAxis::one, 1, v_next);
  put("A", ResultAxis::components, 2 * nv, ResultAxis::components, 2 * nv, A);
  put("B", ResultAxis::components, 2 * nv, ResultAxis::rates, nv, B);
  this->add_margin(m, out, k);
}

template <class T>
void KinematicsDerivatives<T>::by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) {
  evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot));
  const int nv = model().nv();
  std::size_t k = 0;
  for (const Link& link : model().links()) {
    if (link.body > model().active_body_count()) continue;  // a folded rotor has no columns
    BasicResult<Value>& r = detail::result(out, k++, link.name.c_str());
    r.shape(ResultAxis::components, 30, ResultAxis::rates, nv);
    detail::answer<T>(r, [&](Out<T> x) {
      const long n = 6L * nv;
      T* p = x.data();
      write(link, {p, p + n, p + 2 * n, p + 3 * n, p + 4 * n});
    });
  }
  this->add_margin(model(), out, k);
}

template <class T>
void CentroidalDynamics<T>::by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) {
  const Answer& a =
      evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot));
  const int nv = model().nv();
  std::size_t k = 0;
  const auto put = [&](const char* name, int rows, int columns, const std::vector<T>& x) {
    BasicResult<Value>& r = detail::result(out, k++, name);
    r.shape(ResultAxis::components, rows, columns == 1 ? ResultAxis::one : ResultAxis::rates,
            columns);
    for (std::size_t i = 0; i < r.values.size(); ++i) r.values[i] = detail::lowered<Value>(x[i]);
  };
  put("centroidal_momentum", 6, 1, a.momentum);
  put("centroidal_momentum_rate", 6, 1, a.rate);
  put("centroidal_momentum_matrix", 6, nv, a.matrix);
  put("dmomentum_dq", 6, nv, a.momentum_by_q);
  put("drate_dq", 6, nv, a.rate_by_q);
  put("drate_dv", 6, nv, a.rate_by_v);
  put("center_of_mass", 3, 1, a.com);
  put("dcenter_of_mass_dq", 3, nv, a.com_by_q);
  this->add_margin(model(), out, k);
}

std::string_view to_string(DesignParameter::Kind kind) {
  switch (kind) {
    case DesignParameter::Kind::inertial: return "inertial";
    case DesignParameter::Kind::rotor: return "rotor";
    case DesignParameter::Kind::placement: return "placement";
    default: return "ratio";
  }
}

template <class T>
DesignDerivatives<T>::DesignDerivatives(ModelPtr model) : AlgorithmAt<T>(std::move(model)) {
  static constexpr std::array<const char*, 10> inertial{"m",   "hx",  "hy",  "hz",  "Jxx",
                                                        "Jyy", "Jzz", "Jxy", "Jxz", "Jyz"};
  static constexpr std::array<const char*, 6> twist{"rx", "ry", "rz", "x", "y", "z"};
  using Kind = DesignParameter::Kind;
  const Model& m = this->model();
  const auto add = [&](Kind kind, const std::string& owner, const std::string& what, int body,
                       int component) {
    parameters_.push_back({kind, owner + "." + what, owner, body, component});
  };
  for (int i = 1; i <= m.active_body_count(); ++i) {
    for (int k = 0; k < 10; ++k) add(Kind::inertial, m.body_names()[i], inertial[k], i, k);
  }
  for (std::size_t r = 0; r < m.rotors().size(); ++r) {
    add(Kind::rotor, m.body_names()[m.rotors()[r].body], "spin_inertia", static_cast<int>(r), 0);
  }
  for (int i = 1; i <= m.active_body_count(); ++i) {
    const Cluster& c = m.clusters()[m.body(i).cluster];
    if (c.constraint != nullptr && !c.constraint->loops.empty()) continue;  // it opens the loop
    for (int k = 0; k < 6; ++k) {
      add(Kind::placement, m.joints()[m.body(i).joint].name, twist[k], i, k);
    }
  }
  for (std::size_t k = 0; k < m.clusters().size(); ++k) {
    const Cluster& c = m.clusters()[k];
    if (!c.constrained || c.constraint != nullptr) continue;
    for (int i = 0; i < c.rows(); ++i) {
      for (int j = 0; j < c.nv; ++j) {
        const double entry = c.G[static_cast<std::size_t>(i) * c.nv + j];
        if (c.rate(i) == m.independent_rates()[c.v + j] || entry == 0.0) continue;
        add(Kind::ratio, m.joint_of_rate(c.rate(i)).name,
            "per_" + m.joint_of_rate(m.independent_rates()[c.v + j]).name, static_cast<int>(k),
            i * c.nv + j);
      }
    }
  }
}

template <class T>
void DesignDerivatives<T>::columns(In<T> q, In<T> v, In<T> vdot, const std::vector<int>& chosen,
                                   OutMatrix<T> columns, const Loads<T>* loads) {
  const int nv = model().nv();
  columns.expect("design derivatives", "columns", nv, static_cast<long>(chosen.size()));
  std::vector<T> lambda(nv, T(0.0)), all(parameters_.size());
  for (int i = 0; i < nv; ++i) {
    lambda[i] = T(1.0);
    gradient(q, v, vdot, lambda, all, loads);
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      columns.data()[i * chosen.size() + k] = all[chosen[k]];
    }
    lambda[i] = T(0.0);
  }
  columns.finish();
}

template <class T>
void DesignDerivatives<T>::by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) {
  const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
  BasicResult<Value>& r = detail::result(out, 0, "design_gradient");
  const int n = static_cast<int>(parameters_.size());
  r.shape(ResultAxis::named, n, ResultAxis::one, 1);
  if (static_cast<int>(r.names.size()) != n) {
    r.names.clear();
    for (const DesignParameter& p : parameters_) r.names.push_back(p.name);
  }
  detail::answer<T>(r, [&](Out<T> x) {
    gradient(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot),
             detail::multipliers<T>(in, model().nv()), x, &loads);
  });
  this->add_margin(model(), out, 1);
}

#define ESPALIER_INSTANTIATE(T)                  \
  template class InverseDynamicsDerivatives<T>; \
  template class ForwardDynamicsDerivatives<T>; \
  template class InverseMassMatrix<T>;           \
  template class InverseDynamicsAdjoint<T>;      \
  template class ForwardDynamicsAdjoint<T>;      \
  template class CoriolisMatrix<T>;              \
  template class StepDerivatives<T>;             \
  template class KinematicsDerivatives<T>;       \
  template class CentroidalDynamics<T>;          \
  template class DesignDerivatives<T>;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
