#include "formats/mjcf/pair_friction.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/text.hpp"
#include "formats/mjcf/geoms.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

using formats::in_quotes;

namespace {

/// Numbers that count where there are so many dimensions.
Friction counted(int condim, const Friction& f) {
  return {condim >= 3 ? f[0] : 0.0, condim >= 4 ? f[1] : 0.0, condim >= 6 ? f[2] : 0.0};
}
Friction larger(const Friction& a, const Friction& b) {
  return {std::max(a[0], b[0]), std::max(a[1], b[1]), std::max(a[2], b[2])};
}
std::string said(const Friction& f) {
  if (f[0] == 0.0) return "none";
  return "coefficient " + text::number(f[0]) + ", torsional " + text::number(f[1]) +
         " m and rolling " + text::number(f[2]) + " m";
}
bool alike(const Friction& a, const Friction& b) {
  return std::abs(a[0] - b[0]) <= 1e-9 * std::max(a[0], b[0]) && a[1] == b[1] && a[2] == b[2];
}
Finding warning(const std::string& whom, const SourceLocation& where, const std::string& there,
                const Friction& here, const std::string& more) {
  return {Finding::Severity::warning,
          whom + " (" + where.text() + "): friction in MuJoCo is " + there + ", here it is " +
              said(here) +
              ", since coefficients of two geoms make their geometric mean, and each geom's own "
              "condim says which of its lengths count" +
              more,
          where.text(), false};
}

}  // namespace

TouchingGeom touching_geom(const Element& e, const std::string& link, int body) {
  TouchingGeom g;
  if (e.has("name")) g.name = e.text("name");
  g.link = link, g.body = body, g.where = e.node().where;
  const auto whole = [&](const char* attribute, double usual) {
    constexpr double most = 0x1.0p31 - 1.0;  // as MuJoCo keeps them
    return static_cast<int>(std::clamp(e.number(attribute, usual), -most, most));
  };
  g.type = static_cast<unsigned>(whole("contype", 1.0));
  g.affinity = static_cast<unsigned>(whole("conaffinity", 1.0));
  g.condim = condim_of(e), g.priority = whole("priority", 0.0);
  g.friction = {usual_friction, usual_torsional_friction, usual_rolling_friction};
  if (e.has("friction")) {
    const std::vector<double> given = e.numbers("friction", 0);
    std::copy_n(given.begin(), std::min<std::size_t>(given.size(), 3), g.friction.begin());
  }
  return g;
}

std::string who(const TouchingGeom& g) {
  return g.name.empty() ? "a geom of " + in_quotes(g.link) : "geom " + in_quotes(g.name);
}

bool types_meet(const TouchingGeom& a, const TouchingGeom& b) {
  return (a.type & b.affinity) != 0 || (b.type & a.affinity) != 0;
}

Friction dynamic_friction(const TouchingGeom& a, const TouchingGeom& b) {
  if (a.priority > b.priority) return counted(a.condim, a.friction);
  if (b.priority > a.priority) return counted(b.condim, b.friction);
  return counted(std::max(a.condim, b.condim), larger(a.friction, b.friction));
}

Friction friction_here(const TouchingGeom& a, const TouchingGeom& b) {
  const Friction x = counted(std::max(a.condim, 3), a.friction),
                 y = counted(std::max(b.condim, 3), b.friction);
  return {std::sqrt(x[0] * y[0]), std::max(x[1], y[1]), std::max(x[2], y[2])};
}

Friction explicit_friction(const Element& pair) {
  Friction f{usual_friction, usual_torsional_friction, usual_rolling_friction};
  if (pair.has("friction")) {
    // Two along the surface, one about the normal, two across it.
    std::vector<double> given = pair.numbers("friction", 0);
    const std::vector<double> usual{f[0], f[0], f[1], f[2], f[2]};
    given.insert(given.end(), usual.begin() + std::min(given.size(), usual.size()), usual.end());
    f = {given[0], given[2], given[3]};
  }
  return counted(condim_of(pair), f);
}

std::optional<Finding> other_friction(
    const std::vector<TouchingGeom>& geoms,
    const std::function<bool(const TouchingGeom&, const TouchingGeom&)>& may_touch) {
  const TouchingGeom *first = nullptr, *second = nullptr;
  int count = 0;
  for (std::size_t i = 0; i < geoms.size(); ++i) {
    for (std::size_t j = i + 1; j < geoms.size(); ++j) {
      const TouchingGeom &a = geoms[i], &b = geoms[j];
      if (alike(dynamic_friction(a, b), friction_here(a, b))) continue;
      if (!types_meet(a, b) || !may_touch(a, b)) continue;
      if (count++ == 0) first = &a, second = &b;
    }
  }
  if (count == 0) return std::nullopt;
  const bool ranked = first->priority != second->priority;
  return warning(
      who(*first) + " on " + who(*second), first->where,
      said(dynamic_friction(*first, *second)) +
          (ranked ? " (of the higher priority)" : " (by the larger condim and numbers of both)"),
      friction_here(*first, *second),
      count > 1 ? "; pairs besides that differ: " + std::to_string(count - 1) : "");
}

std::optional<Finding> other_friction(const Element& pair, const TouchingGeom& a,
                                      const TouchingGeom& b) {
  const Friction there = explicit_friction(pair), here = friction_here(a, b);
  if (alike(there, here) && !pair.has("friction")) return std::nullopt;
  return warning("pair of " + who(a) + " and " + who(b), pair.node().where,
                 said(there) + " (the pair's own)", here, "");
}

}  // namespace espalier::mjcf
