#include <algorithm>
#include <cmath>

#include "benchmarks/markdown.hpp"
#include "benchmarks/operations/report.hpp"

namespace espalier::bench {

namespace {

std::string number(std::int64_t n) { return format("%ld", static_cast<long>(n)); }
std::string number(double n) { return format("%.0f", n); }

const std::vector<std::string> split_head{"additions", "multiplications", "divisions",
                                          "square roots", "sin, cos"};

std::vector<std::string> split(const OperationCounts& c) {
  return {number(c.additions), number(c.multiplications), number(c.divisions),
          number(c.square_roots), number(c.trigonometry)};
}

/// Mechanism by mechanism, algorithm by algorithm.
std::string split_table(const std::vector<const Tally*>& tallies) {
  std::vector<std::string> head{"mechanism", "bodies", "dof", "rows", "algorithm"};
  head.insert(head.end(), split_head.begin(), split_head.end());
  head.insert(head.end(),
              {"total, folded", "beside `pv-osimr`", "total, all counted", "beside `pv-osimr`"});
  Table table(head);
  for (const Tally* tally : tallies) {
    std::vector<std::string> names;
    for (const auto& [name, counted] : tally->algorithms) names.push_back(name);
    std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
      return tally->total(a, true) < tally->total(b, true);
    });
    for (const std::string& name : names) {
      const bool first = &name == &names.front();
      std::vector<std::string> row{
          first ? tally->name : "", first ? number(std::int64_t{tally->bodies}) : "",
          first ? number(std::int64_t{tally->nv}) : "",
          first ? number(std::int64_t{tally->rows}) : "", "`" + name + "`"};
      const auto parts = split(tally->algorithms.at(name).folded);
      row.insert(row.end(), parts.begin(), parts.end());
      for (const bool folded : {true, false}) {
        row.push_back(number(tally->total(name, folded)));
        row.push_back(
            format("%.3f", tally->total(name, folded) / tally->total("pv-osimr", folded)));
      }
      table.add(row);
    }
  }
  return table.text();
}

/// a + b x + ... as it is printed.
std::string formula(const Fit& fit, const std::vector<std::string>& names) {
  std::string out = format("%.0f", fit.coefficients.front());
  for (std::size_t i = 1; i < fit.coefficients.size(); ++i) {
    const double c = fit.coefficients[i];
    // Rounding errors of the fit are no coefficients.
    if (std::abs(c) < 1e-6) continue;
    out += (c < 0 ? " - " : " + ") + format("%.4g ", std::abs(c)) + names[i];
  }
  return out;
}

/// Of a stem of some length; none is another shape: all branches on one link.
std::vector<double> totals(const Study::Stem& stem, const char* name, bool folded) {
  std::vector<double> out;
  for (std::size_t i = 1; i < stem.lengths.size(); ++i) {
    out.push_back(stem.lengths[i].total(name, folded));
  }
  return out;
}

/// A fit a + b m + c m^2 of counts on mechanisms that differ in their rows alone.
void add_rows_fit(Table& table, const std::string& what, const std::vector<Tally>& tallies) {
  std::vector<double> one(tallies.size(), 1.0), m, m2;
  for (const Tally& tally : tallies) {
    m.push_back(tally.rows), m2.push_back(static_cast<double>(tally.rows) * tally.rows);
  }
  for (const char* name : {"pv-osimr", "pv-osim", "efpa"}) {
    std::vector<std::string> row{what, format("`%s`", name)};
    for (const bool folded : {true, false}) {
      std::vector<double> y;
      for (const Tally& tally : tallies) y.push_back(tally.total(name, folded));
      const Fit f = fit({one, m, m2}, y);
      row.push_back(formula(f, {"", "m", "m²"}));
      row.push_back(format("%.2f", f.largest));
    }
    table.add(row);
  }
}

/// A link of a stem over the rows that pass it: a fit of what links cost in the longest ones.
std::string link_table(const Study& study) {
  Table table({"algorithm", "folded: operations of a link that r rows pass", "largest deviation, %",
               "all counted", "largest deviation, %"});
  for (const char* name : {"pv-osimr", "pv-osim", "efpa"}) {
    std::vector<std::string> row{format("`%s`", name)};
    for (const bool folded : {true, false}) {
      std::vector<double> ones, r, r2, slopes;
      for (const Study::Stem& stem : study.stems) {
        ones.push_back(1.0);
        r.push_back(0.5 * stem.lengths.front().rows);
        r2.push_back(r.back() * r.back());
        const Tally &longest = stem.lengths.back(), &before = stem.lengths.end()[-2];
        slopes.push_back((longest.total(name, folded) - before.total(name, folded)) / stem_step);
      }
      const Fit f = fit({ones, r, r2}, slopes);
      row.push_back(formula(f, {"", "r", "r²"}));
      row.push_back(format("%.2f", f.largest));
    }
    table.add(row);
  }
  return table.text();
}

}  // namespace

std::string stem_tables(const Study& study) {
  std::vector<std::string> head{"branches per side", "rows", "algorithm"};
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < study.stem_lengths.size(); i += 5) {
    shown.push_back(i);
    head.push_back(format("stem %.0f", study.stem_lengths[i]));
  }
  head.insert(head.end(), {"stem 100, all counted"});
  Table table(head);
  std::vector<const Tally*> longest;
  for (const Study::Stem& stem : study.stems) {
    longest.push_back(&stem.lengths.back());
    for (const char* name : {"pv-osimr", "pv-osim", "efpa"}) {
      std::vector<std::string> row{format("%d", stem.branches),
                                   format("%d", stem.lengths.front().rows), format("`%s`", name)};
      for (const std::size_t i : shown) row.push_back(number(stem.lengths[i].total(name, true)));
      row.push_back(number(stem.lengths.back().total(name, false)));
      table.add(row);
    }
  }
  return "Totals, constants folded but for the last column:\n\n" + table.text() +
         "\nThe stem of 100 links, split; constants folded but for the last two columns:\n\n" +
         split_table(longest);
}

std::string humanoid_tables(const Study& study) {
  return "Constants folded but for the last two columns:\n\n" + split_table(study.humanoids());
}

std::string asimo_tables(const Study& study) {
  const Sparsity &asimo = study.asimo, &more = study.asimo_more_chains;
  Table sizes({"mechanism", "bodies", "dof", "zeros in H, %", "zeros in J, %"});
  sizes.add({"ASIMO, hands and feet", format("%d", asimo.bodies), format("%d", asimo.nv),
             format("%.1f", asimo.inertia), format("%.1f", asimo.jacobian)});
  sizes.add({"the same with 2 more arms and 2 more legs", format("%d", more.bodies),
             format("%d", more.nv), format("%.1f", more.inertia), format("%.1f", more.jacobian)});
  return sizes.text() + "\nConstants folded but for the last two columns:\n\n" +
         split_table(study.asimos());
}

Phases phases(const Study& study, const std::string& algorithm, bool folded) {
  Phases out{study.on_torso.total(algorithm, folded), 0.0, 0.0};
  for (const Tally& one : study.one_by_one) {
    out.rows += one.total(algorithm, folded) - out.inertias;
  }
  out.pairs = study.base.total(algorithm, folded) - out.inertias - out.rows;
  return out;
}

std::string phase_table(const Study& study) {
  Table table({"algorithm", "folded: inertias, or H and its factor", "rows of each end-effector",
               "pairs of end-effectors", "all counted: inertias, or H and its factor",
               "rows of each end-effector", "pairs of end-effectors"});
  for (const char* name : {"pv-osimr", "pv-osim", "efpa", "kjr", "ltl-osim"}) {
    std::vector<std::string> row{format("`%s`", name)};
    for (const bool folded : {true, false}) {
      const Phases p = phases(study, name, folded);
      for (const double n : {p.inertias, p.rows, p.pairs}) row.push_back(format("%.0f", n));
    }
    table.add(row);
  }
  return table.text();
}

std::string growth_tables(const Study& study) {
  Table links({"branches per side", "rows m", "algorithm", "folded: operations of n stem links",
               "largest deviation, %", "all counted", "largest deviation, %"});
  const std::vector<double> n(study.stem_lengths.begin() + 1, study.stem_lengths.end());
  const std::vector<double> one(n.size(), 1.0);
  for (const char* name : {"pv-osimr", "pv-osim", "efpa"}) {
    for (const Study::Stem& stem : study.stems) {
      std::vector<std::string> row{format("%d", stem.branches),
                                   format("%d", stem.lengths.front().rows), format("`%s`", name)};
      for (const bool folded : {true, false}) {
        const Fit f = fit({one, n}, totals(stem, name, folded));
        row.push_back(formula(f, {"", "n"}));
        row.push_back(format("%.2f", f.largest));
      }
      links.add(row);
    }
  }
  Table rows({"mechanism", "algorithm", "folded: operations of m rows", "largest deviation, %",
              "all counted", "largest deviation, %"});
  add_rows_fit(rows,
               format("stem of %d links, %d branches per side, tips of 1 to %d held", growth_stem,
                      growth_branches, growth_branches),
               study.held_branches);
  add_rows_fit(rows, format("chain of %d links, 1 to %d of them held", growth_chain, growth_held),
               study.held_links);
  return format("Over the stem's links (%.0f to %.0f), rows fixed:\n\n", n.front(), n.back()) +
         links.text() + "\nWhat a link of the stem costs, over the rows r = m/2 that pass it:\n\n" +
         link_table(study) + "\nOver the rows, links fixed:\n\n" + rows.text();
}

std::string csv(const Study& study) {
  std::string out =
      "mechanism,bodies,dof,rows,algorithm,constants,additions,multiplications,divisions,"
      "square_roots,trigonometry,total\n";
  for (const Tally* tally : study.all()) {
    for (const auto& [name, counted] : tally->algorithms) {
      for (const bool folded : {true, false}) {
        out += format("\"%s\",%d,%d,%d,%s,%s", tally->name.c_str(), tally->bodies, tally->nv,
                      tally->rows, name.c_str(), folded ? "folded" : "counted");
        for (const std::string& part : split(folded ? counted.folded : counted.all)) {
          out += "," + part;
        }
        out += "," + number(tally->total(name, folded)) + "\n";
      }
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> operation_sections(const Study& study) {
  return {{"claims", claims_table(study)},       {"stem", stem_tables(study)},
          {"humanoids", humanoid_tables(study)}, {"asimo", asimo_tables(study)},
          {"phases", phase_table(study)},        {"growth", growth_tables(study)}};
}

}  // namespace espalier::bench
