#include "espalier/kernel/problems/derivatives/design_derivatives.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"

namespace espalier {

namespace {

/// Numbers of a body's inertia, in the order of parameters.
std::array<double*, 10> numbers_of(RigidInertia<double>& I) {
  return {&I.m, &I.h.x, &I.h.y, &I.h.z, &I.I.xx, &I.I.yy, &I.I.zz, &I.I.xy, &I.I.xz, &I.I.yz};
}

}  // namespace

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
    add_turned(i, static_cast<int>(parameters_.size()));
    for (int k = 0; k < 10; ++k) add(Kind::inertial, m.body_names()[i], inertial[k], i, k);
  }
  for (std::size_t r = 0; r < m.rotors().size(); ++r) {
    add(Kind::rotor, m.body_names()[m.rotors()[r].body], "spin_inertia", static_cast<int>(r), 0);
  }
  for (int i = 1; i <= m.active_body_count(); ++i) {
    const Cluster& c = m.clusters()[m.body(i).cluster];
    if (c.constraint != nullptr && !c.constraint->loops.empty()) continue;  // it opens the loop
    for (Turned& t : turned_) {
      if (parameters_[t.inertial].body == i) t.placement = static_cast<int>(parameters_.size());
    }
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
void DesignDerivatives<T>::add_turned(int body, int inertial) {
  const Transform<double>& X = model().link(model().body_names()[body]).X;
  bool same = X.r.x == 0.0 && X.r.y == 0.0 && X.r.z == 0.0;
  for (int i = 0; i < 3; ++i) {
    const Vec3<double>& row = X.E.row[i];
    same = same && row.x == (i == 0) && row.y == (i == 1) && row.z == (i == 2);
  }
  if (same) return;
  Turned t;
  t.inertial = inertial;
  t.to_link = X;
  for (int k = 0; k < 10; ++k) {
    auto of_link = RigidInertia<double>::zero();
    *numbers_of(of_link)[k] = 1.0;
    RigidInertia<double> of_body = congruence(X, of_link);
    for (int i = 0; i < 10; ++i) t.inertia[10 * i + k] = *numbers_of(of_body)[i];
  }
  turned_.push_back(t);
}

/// The transposes of what makes numbers in frames of bodies of those in frames of links.
template <class T>
void DesignDerivatives<T>::to_link_frames(T* gradient) const {
  for (const Turned& t : turned_) {
    T* const g = gradient + t.inertial;
    std::array<T, 10> of_link;
    for (int k = 0; k < 10; ++k) {
      of_link[k] = T(0.0);
      for (int i = 0; i < 10; ++i) of_link[k] += t.inertia[10 * i + k] * g[i];
    }
    std::copy(of_link.begin(), of_link.end(), g);
    if (t.placement < 0) continue;
    T* const p = gradient + t.placement;
    const Force<T> of_body{{p[0], p[1], p[2]}, {p[3], p[4], p[5]}};
    const Force<T> f = t.to_link.force_to(of_body);
    for (int k = 0; k < 6; ++k) p[k] = f[k];
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
void DesignDerivatives<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
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
