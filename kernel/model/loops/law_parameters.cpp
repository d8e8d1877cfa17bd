#include "espalier/kernel/model/loops/law_parameters.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"

namespace espalier {

namespace {

/// phi at positions that are nowhere special.
std::vector<double> samples(const Law& law) {
  std::vector<double> q(law.positions()), phi(law.equations()), out;
  for (int sample = 1; sample <= 3; ++sample) {
    for (std::size_t l = 0; l < q.size(); ++l) {
      q[l] = 0.37 * sample - 0.21 * static_cast<double>(l);
    }
    law.phi(q.data(), phi.data());
    out.insert(out.end(), phi.begin(), phi.end());
  }
  return out;
}

/// Whether phi changes in proportion to small steps: a number that selects makes it jump. Slopes at
/// steps h and h/4 differ by h² of what is smooth, and by a factor of 4 where something jumps.
bool is_smooth(const Model& model, const LawParameter& p) {
  const auto slope = [&](double h) {
    std::vector<double> more = samples(*changed_law(model, p, h));
    const std::vector<double> less = samples(*changed_law(model, p, -h));
    for (std::size_t i = 0; i < more.size(); ++i) more[i] = (more[i] - less[i]) / (2.0 * h);
    return more;
  };
  const std::vector<double> coarse = slope(p.step), fine = slope(0.25 * p.step);
  double size = 0.0, apart = 0.0;
  for (std::size_t i = 0; i < fine.size(); ++i) {
    if (!std::isfinite(fine[i]) || !std::isfinite(coarse[i])) continue;
    size = std::max(size, std::abs(fine[i]));
    apart = std::max(apart, std::abs(fine[i] - coarse[i]));
  }
  return apart <= 0.1 * size;
}

/// Whether the law can be made up to four steps to either side.
bool reaches(const Model& model, const LawParameter& p) {
  try {
    for (const int k : {-4, 4, -1, 1}) changed_law(model, p, k * p.step);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool find_step(const Model& model, LawParameter& p) {
  const double size = p.value == 0.0 ? 0.1 : std::abs(p.value);
  for (const double part : {1e-2, 1e-3, 1e-4}) {
    p.step = part * size;
    if (reaches(model, p)) return is_smooth(model, p);
  }
  return false;
}

void expect_unchanged(const ClusterConstraint::LawUse& use) {
  if (samples(*use.type->make(use.spec)) == samples(*use.law)) return;
  throw Unsupported("law '" + use.name +
                    "': its type makes another law than the model has, expected the same (compile "
                    "the model anew after defining a law anew)");
}

}  // namespace

std::unique_ptr<Law> changed_law(const Model& model, const LawParameter& p, double by) {
  const ClusterConstraint::LawUse& use = model.clusters()[p.cluster].constraint->laws[p.use];
  PartSpec spec = use.spec;
  spec.parameters[p.key][p.entry] += by;
  return use.type->make(spec);
}

std::vector<LawParameter> law_parameters(const Model& model) {
  std::vector<LawParameter> out;
  for (std::size_t c = 0; c < model.clusters().size(); ++c) {
    const Cluster& cluster = model.clusters()[c];
    if (cluster.constraint == nullptr) continue;
    const auto& laws = cluster.constraint->laws;
    for (std::size_t l = 0; l < laws.size(); ++l) {
      if (laws[l].type == nullptr) continue;
      expect_unchanged(laws[l]);
      for (const auto& [key, values] : laws[l].spec.parameters) {
        for (std::size_t k = 0; k < values.size(); ++k) {
          const std::string entry = values.size() == 1 ? "" : "[" + std::to_string(k) + "]";
          LawParameter p{laws[l].name + "." + key + entry,
                         laws[l].name,
                         static_cast<int>(c),
                         static_cast<int>(l),
                         key,
                         static_cast<int>(k),
                         values[k]};
          if (find_step(model, p)) out.push_back(std::move(p));
        }
      }
    }
  }
  return out;
}

}  // namespace espalier
