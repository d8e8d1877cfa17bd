#include "espalier/kernel/problems/derivatives/design_derivatives.hpp"

#include <array>
#include <string>

#include "espalier/kernel/errors.hpp"

namespace espalier {

std::string_view to_string(DesignParameter::Kind kind) {
  switch (kind) {
    case DesignParameter::Kind::inertial:
      return "inertial";
    case DesignParameter::Kind::rotor:
      return "rotor";
    case DesignParameter::Kind::placement:
      return "placement";
    case DesignParameter::Kind::ratio:
      return "ratio";
    default:
      return "law";
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
  law_parameters_ = espalier::law_parameters(m);
  for (const LawParameter& p : law_parameters_) {
    parameters_.push_back(
        {Kind::law, p.name, p.law, p.cluster, static_cast<int>(&p - law_parameters_.data())});
  }
}

template <class T>
int DesignDerivatives<T>::number_of(std::string_view name) const {
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    if (parameters_[k].name == name) return static_cast<int>(k);
  }
  // All of them are too many to list.
  const std::string owner(name.substr(0, name.rfind('.')));
  std::string known, owners;
  for (const DesignParameter& p : parameters_) {
    if (p.owner == owner) known += (known.empty() ? "" : ", ") + p.name;
    const std::string o = "'" + p.owner + "'";
    if (owners.find(o) == std::string::npos) owners += (owners.empty() ? "" : ", ") + o;
  }
  throw UnknownName("design derivatives: parameter is '" + std::string(name) + "', expected " +
                    (known.empty() ? "<owner>.<what> of one of " + owners : "one of " + known));
}

template <class T>
void DesignDerivatives<T>::columns(In<T> q, In<T> v, In<T> vdot, const std::vector<int>& chosen,
                                   OutMatrix<T> columns, const Loads<T>* loads) {
  const int nv = model().nv();
  for (const int k : chosen) {
    if (k >= 0 && k < static_cast<int>(parameters_.size())) continue;
    throw UnknownName("design derivatives: chosen parameter is number " + std::to_string(k) +
                      ", expected one from 0 to " + std::to_string(parameters_.size() - 1) +
                      " (number_of() finds names)");
  }
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

#define ESPALIER_INSTANTIATE(T) template class DesignDerivatives<T>;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
