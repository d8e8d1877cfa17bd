#include "espalier/kernel/model/adapters/plugin_checks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/kernel/uniform.hpp"

namespace espalier::detail {

namespace {

using Numbers = std::vector<double>;

/// Formulas of one thing differ by rounding, some 1e-13 of the terms that they are sums of; wrong
/// ones differ by more than this share of the largest.
constexpr double agreed = 1e-7;

std::string entry(const std::string& name, int row, int column) {
  return name + "(" + std::to_string(row) + (column < 0 ? "" : ", " + std::to_string(column)) + ")";
}
std::string is_not(const std::string& what, double got, double wanted, const std::string& why) {
  return what + " is " + text::number(got) + ", expected " + text::number(wanted) + " (" + why +
         ")";
}
bool differ(double got, double wanted, double size) {
  return std::isfinite(wanted) && !(std::abs(got - wanted) <= agreed * size);
}
std::string list_of(const double* x, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += (i == 0 ? "" : ", ") + text::number(x[i]);
  return "[" + text + "]";
}

/// What solve() writes has to meet phi = 0 on every assembly that it knows.
std::string fault_of_solution(const Law& law, const double* q, const Numbers& K) {
  const int n = law.positions(), m = law.equations();
  for (int branch = 0; branch < law.branches(); ++branch) {
    Numbers at(q, q + n), phi(m);
    if (!law.solve(at.data(), branch)) continue;
    law.phi(at.data(), phi.data());
    for (int i = 0; i < m; ++i) {
      double size = 1.0;
      for (int j = 0; j < n; ++j) size += std::abs(K[i * n + j]) * (1.0 + std::abs(at[j]));
      if (std::abs(phi[i]) <= agreed * size) continue;
      return is_not(
          "phi[" + std::to_string(i) + "] after solve() on branch " + std::to_string(branch),
          phi[i], 0.0, "positions are " + list_of(at.data(), n));
    }
  }
  return "";
}

/// Whether phi or gamma writes as many numbers as the class says, all of them, and reads no more:
/// both arrays are longer than that, and what lies behind them is told apart by its bits.
std::string fault_of_extent(const Law& law, const double* q) {
  const bool is_explicit = law.is_explicit();
  const int n = law.positions() - (is_explicit ? law.equations() : 0), m = law.equations();
  const std::string name = is_explicit ? "gamma" : "phi", count = std::to_string(m);
  const char* const extent = is_explicit ? "dependent" : "equations";
  constexpr int beyond = 16;
  const auto is_nan_of = [](double x, double nan) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(nan);
  };
  const double untouched = std::nan("0x5eed");
  Numbers out[2];
  for (int run = 0; run < 2; ++run) {
    Numbers in(q, q + n);
    in.resize(n + beyond, run == 0 ? 0.7 : -1.3);
    out[run].assign(m + beyond, untouched);
    law.as_written(in.data(), out[run].data());
    for (int i = 0; i < m + beyond; ++i) {
      if ((i < m) != is_nan_of(out[run][i], untouched)) continue;
      return name + "[" + std::to_string(i) + "] is " + (i < m ? "not written" : "written") +
             ", expected " + count + " numbers from " + name + "[0] on (as '" + extent + " = " +
             count + "' says)";
    }
  }
  for (int i = 0; i < m; ++i) {
    if (is_nan_of(out[0][i], out[1][i]) || (std::isnan(out[0][i]) && std::isnan(out[1][i]))) {
      continue;
    }
    return name + "[" + std::to_string(i) + "] depends on more than " + std::to_string(n) +
           " positions, expected q[0] to q[" + std::to_string(n - 1) + "] alone (as '" +
           (is_explicit ? "independent" : "positions") + " = " + std::to_string(n) + "' says)";
  }
  return "";
}

}  // namespace

std::string fault_of(const Law& law, const double* q, const double* qd) {
  if (std::string fault = fault_of_extent(law, q); !fault.empty()) return fault;
  const int n = law.positions(), m = law.equations();
  const bool is_explicit = law.is_explicit();
  Numbers K(m * n), k(m), terms(law.terms()), derived(m * n), d(m), dd(m), none(n, 0.0);
  law.jacobian(q, K.data(), terms.data());
  law.bias(q, qd, terms.data(), k.data());
  const auto where = [&] { return "at positions " + list_of(q, n); };  // for messages alone
  // Taylor coefficients of phi: on a path that stands still and varies by e_j, K e_j.
  for (int j = 0; j < n; ++j) {
    Numbers along = none;
    along[j] = 1.0;
    law.vary(q, none.data(), none.data(), none.data(), along.data(), d.data(), dd.data());
    for (int i = 0; i < m; ++i) derived[i * n + j] = d[i];
  }
  const int columns = is_explicit ? n - m : n;
  const double sign = is_explicit ? -1.0 : 1.0;
  for (int i = 0; i < m; ++i) {
    double size = 0.0;
    for (int j = 0; j < n; ++j) size = std::max(size, std::abs(derived[i * n + j]));
    if (!std::isfinite(size)) continue;
    for (int j = 0; j < columns; ++j) {
      if (!differ(K[i * n + j], derived[i * n + j], size)) continue;
      return is_not(
          entry(is_explicit ? "G" : "K", i, j), sign * K[i * n + j], sign * derived[i * n + j],
          is_explicit ? "the derivative of gamma " + where() : "the derivative of phi " + where());
    }
  }
  // On a path of rates qd that vary along themselves the second coefficient is 2 phi''(qd, qd).
  law.vary(q, qd, none.data(), none.data(), qd, d.data(), dd.data());
  for (int i = 0; i < m; ++i) {
    double size = std::abs(dd[i]);
    for (int j = 0; j < n; ++j) size = std::max(size, std::abs(derived[i * n + j]) * qd[j] * qd[j]);
    if (!std::isfinite(size) || !differ(k[i], -0.5 * dd[i], size)) continue;
    return is_not(entry(is_explicit ? "g" : "k", i, -1), k[i], -0.5 * dd[i],
                  "the second derivative of " + std::string(is_explicit ? "gamma " : "-phi ") +
                      where() + " and rates " + list_of(qd, n));
  }
  return fault_of_solution(law, q, derived);
}

std::string fault_of(const Law& law, const Numbers& start) {
  UniformNumbers uniform(1);
  constexpr int positions = 3;
  for (int at = 0; at < positions; ++at) {
    Numbers q = start, qd(start.size());
    for (double& x : q) x += 0.3 * at * uniform();
    for (double& x : qd) x = uniform.between(0.5, 1.5);
    std::string fault;
    try {
      fault = fault_of(law, q.data(), qd.data());
    } catch (...) {
      return "";
    }
    if (!fault.empty()) return fault;
  }
  return "";
}

std::string fault_of(const LawType& type) {
  std::unique_ptr<Law> law;
  try {
    PartSpec spec;
    spec.what = "law", spec.name = "sample", spec.parameters = type.sample();
    law = type.make(spec);
  } catch (...) {
    return "";
  }
  return law == nullptr ? "" : fault_of(*law, Numbers(law->positions(), 0.1));
}

// --- joints
// ---------------------------------------------------------------------------------------

namespace {

/// One joint with an axis along z, as its sample describes it; nullptr where it describes none.
std::unique_ptr<JointRun> sample_of(const JointType& type) {
  JointSpec spec;
  spec.name = "sample", spec.axis = {0, 0, 1}, spec.parameters = type.sample();
  for (const std::string_view name : type.parameter_names()) {
    if (!type.sample().empty()) break;
    const bool axis = name.starts_with("axis");
    spec.parameters[std::string(name)] = axis ? Numbers{0.6, 0.0, 0.8} : Numbers{0.5};
  }
  const Transform<double> placement{type.alignment(spec), {0, 0, 0}};
  return type.make_run({&spec, 1}, {&placement, 1});
}

class JointProbe {
 public:
  JointProbe(const JointType& type, const JointRun& run)
      : run_(run), nq_(type.nq()), nv_(type.nv()), S_(nv_) {
    shape_.nq = nq_, shape_.nv = nv_, shape_.subspace = type.subspace();
  }

  Numbers moved(const Numbers& q, const Numbers& v, double t) const {
    Numbers step = v, out(nq_);
    for (double& x : step) x *= t;
    run_.integrate(q.data(), step.data(), out.data());
    return out;
  }
  Transform<double> place(const Numbers& q, const double* qd = nullptr) {
    Transform<double> X;
    run_.kinematics(q.data(), qd, {&X, S_.data(), &bias_});
    return X;
  }
  /// S v of the last place().
  Motion<double> rate(const Numbers& v) const {
    Motion<double> out = Motion<double>::zero();
    with_subspace(shape_, [&](auto ops) {
      for (int j = 0; j < nv_; ++j) out += scale(v[j], decltype(ops)::column(S_.data(), j));
    });
    return out;
  }
  const Motion<double>& bias() const { return bias_; }

 private:
  const JointRun& run_;
  int nq_, nv_;
  BodyRun shape_;
  std::vector<Motion<double>> S_;
  Motion<double> bias_ = Motion<double>::zero();
};

/// The derivative of numbers by t at t = 0, by central differences of eighth order.
template <std::size_t n>
std::array<double, n> derivative(const std::function<std::array<double, n>(double)>& f) {
  constexpr double h = 0.02, weights[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  std::array<double, n> sum{};
  for (int k = 1; k <= 4; ++k) {
    const std::array<double, n> ahead = f(k * h), behind = f(-k * h);
    for (std::size_t i = 0; i < n; ++i) sum[i] += weights[k - 1] * (ahead[i] - behind[i]) / h;
  }
  return sum;
}

/// The body's twist while it moves along v, from its placements alone: dE/dt = -w× E, dr/dt = E^T
/// v.
Motion<double> twist(JointProbe& joint, const Numbers& q, const Numbers& v) {
  const Mat3<double> E = joint.place(q).E;
  const auto d = derivative<12>([&](double t) {
    const Transform<double> X = joint.place(joint.moved(q, v, t));
    std::array<double, 12> all;
    for (int i = 0; i < 9; ++i) all[i] = X.E(i / 3, i % 3);
    for (int i = 0; i < 3; ++i) all[9 + i] = X.r[i];
    return all;
  });
  const auto spin = [&](int a, int b) {  // (dE E^T)(a, b)
    return d[3 * a] * E(b, 0) + d[3 * a + 1] * E(b, 1) + d[3 * a + 2] * E(b, 2);
  };
  return {{spin(1, 2), spin(2, 0), spin(0, 1)}, E * Vec3<double>{d[9], d[10], d[11]}};
}

std::string fault_between(const std::string& what, const Motion<double>& got,
                          const Motion<double>& wanted, const Numbers& q) {
  double size = 1.0;
  for (int i = 0; i < 6; ++i) size = std::max(size, std::abs(wanted[i]));
  for (int i = 0; i < 6; ++i) {
    if (!differ(got[i], wanted[i], size)) continue;
    return is_not("component " + std::to_string(i) + " of " + what, got[i], wanted[i],
                  "the derivative of its placement at position " +
                      list_of(q.data(), static_cast<int>(q.size())));
  }
  return "";
}

std::string fault_at(const JointType& type, const JointRun& run, UniformNumbers& uniform) {
  const int nv = type.nv();
  JointProbe joint(type, run);
  Numbers neutral(type.nq()), away(nv), qd(nv);
  run.neutral(neutral.data());
  for (double& x : away) x = 0.5 * uniform();
  for (double& x : qd) x = uniform.between(0.5, 1.0);
  const Numbers q = joint.moved(neutral, away, 1.0);
  for (int k = 0; k < nv; ++k) {
    Numbers unit(nv, 0.0);
    unit[k] = 1.0;
    const Motion<double> wanted = twist(joint, q, unit);
    joint.place(q);
    const std::string fault =
        fault_between("column " + std::to_string(k) + " of S", joint.rate(unit), wanted, q);
    if (!fault.empty()) return fault;
  }
  if (type.subspace() != SubspaceKind::dense) return "";
  const auto d = derivative<6>([&](double t) {
    joint.place(joint.moved(q, qd, t));
    const Motion<double> Sqd = joint.rate(qd);
    return std::array<double, 6>{Sqd[0], Sqd[1], Sqd[2], Sqd[3], Sqd[4], Sqd[5]};
  });
  joint.place(q, qd.data());
  return fault_between("the bias (dS/dt) qd", joint.bias(),
                       {{d[0], d[1], d[2]}, {d[3], d[4], d[5]}}, q);
}

}  // namespace

std::string fault_of(const JointType& type) {
  if (type.nv() < 1 || type.nv() > 6) return "";
  UniformNumbers uniform(1);
  try {
    const std::unique_ptr<JointRun> run = sample_of(type);
    for (int k = 0; run != nullptr && k < 2; ++k) {
      const std::string fault = fault_at(type, *run, uniform);
      if (!fault.empty()) return fault;
    }
  } catch (...) {
    return "";
  }
  return "";
}

}  // namespace espalier::detail
