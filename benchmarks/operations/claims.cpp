#include <algorithm>
#include <cmath>
#include <limits>

#include "benchmarks/markdown.hpp"
#include "benchmarks/operations/report.hpp"

namespace espalier::bench {

namespace {

/// A measure and whether it is what was published.
struct Finding {
  std::string text;
  bool same;
};

class Claims {
 public:
  /// @param find  of counts with constants folded (true) or all counted (false)
  template <class F>
  void add(const std::string& where, const std::string& claim, const std::string& published,
           F&& find) {
    const Finding folded = find(true), all = find(false);
    std::string verdict = folded.same && all.same ? "yes"
                          : folded.same           ? "folded: yes; all counted: no"
                          : all.same              ? "folded: no; all counted: yes"
                                                  : "no";
    table_.add({where, claim, published, folded.text, all.text, verdict});
  }
  /// One that has nothing to do with folding.
  void add_fact(const std::string& where, const std::string& claim, const std::string& published,
                const Finding& finding) {
    table_.add({where, claim, published, finding.text, "", finding.same ? "yes" : "no"});
  }
  std::string text() const { return table_.text(); }

 private:
  Table table_{
      {"where", "claim", "published", "here, constants folded", "here, all counted", "comes out?"},
      6};
};

/// How many percent more a has than b.
double more(double a, double b) { return 100.0 * (a / b - 1.0); }
double more(const Tally& tally, const char* a, const char* b, bool folded) {
  return more(tally.total(a, folded), tally.total(b, folded));
}
double ratio(const Tally& tally, const char* a, const char* b, bool folded) {
  return tally.total(a, folded) / tally.total(b, folded);
}

/// Operations of one more link in a stem, over its second half, where all is linear.
double slope(const Study& study, const Study::Stem& stem, const char* name, bool folded) {
  const std::size_t last = stem.lengths.size() - 1, middle = last / 2;
  return (stem.lengths[last].total(name, folded) - stem.lengths[middle].total(name, folded)) /
         (study.stem_lengths[last] - study.stem_lengths[middle]);
}

std::string listed(const std::vector<double>& numbers, const char* pattern) {
  std::string out;
  for (const double x : numbers) {
    char text[32];
    std::snprintf(text, sizeof text, pattern, x);
    out += (out.empty() ? "" : ", ") + std::string(text);
  }
  return out;
}

bool within(double x, double wanted, double tolerance) { return std::abs(x - wanted) <= tolerance; }

/// Shares are called the same up to so many points of percent.
constexpr double points = 5.0;
/// No difference, in percent.
constexpr double no_difference = 1.0;

/// PV-OSIMr by its rule for nodes: where they are cheaper, or as published wherever rows meet.
struct Rule {
  const char* algorithm;
  const char* addition;
  std::string says(const std::string& claim) const { return claim + addition; }
};
constexpr Rule rules[]{{"pv-osimr", ""}, {"pv-osimr-every-node", " (published rule)"}};

void add_stems(Claims& claims, const Study& study) {
  const char* const figure = "PV-OSIMr, fig. 3";
  claims.add(
      figure, "one branch per side: PV-OSIM and PV-OSIMr do not differ", "0 %",
      [&](bool folded) -> Finding {
        double largest = 0.0;
        for (const Tally& t : study.stems.front().lengths) {
          const double x = more(t, "pv-osim", "pv-osimr", folded);
          if (std::abs(x) > std::abs(largest)) largest = x;
        }
        return {format("PV-OSIM %+.1f %% at most", largest), std::abs(largest) <= no_difference};
      });
  claims.add(
      figure,
      "two and more branches: PV-OSIMr grows more gently with the stem than PV-OSIM (a "
      "link's cost, PV-OSIM's over PV-OSIMr's, 1, 2, 4, 7, 10 branches)",
      "\"significantly\"", [&](bool folded) -> Finding {
        std::vector<double> ratios;
        for (const Study::Stem& stem : study.stems) {
          ratios.push_back(slope(study, stem, "pv-osim", folded) /
                           slope(study, stem, "pv-osimr", folded));
        }
        return {listed(ratios, "%.2f"), *std::min_element(ratios.begin() + 1, ratios.end()) > 1.1};
      });
  claims.add(figure,
             "PV-OSIMr's cost of a link of the stem does not depend on the rows (O(n + m²))",
             "constant", [&](bool folded) -> Finding {
               std::vector<double> slopes;
               for (const Study::Stem& stem : study.stems) {
                 slopes.push_back(slope(study, stem, "pv-osimr", folded));
               }
               const auto [low, high] = std::minmax_element(slopes.begin() + 1, slopes.end());
               return {listed(slopes, "%.0f"), more(*high, *low) <= no_difference};
             });
  claims.add(figure, "EFPA is dearer than PV-OSIM and PV-OSIMr on nearly all mechanisms",
             "\"nearly all\"", [&](bool folded) -> Finding {
               int dearer = 0, all = 0;
               for (const Study::Stem& stem : study.stems) {
                 for (const Tally& t : stem.lengths) {
                   ++all;
                   dearer += t.total("efpa", folded) > t.total("pv-osim", folded) &&
                             t.total("efpa", folded) > t.total("pv-osimr", folded);
                 }
               }
               return {format("%d of %d", dearer, all), dearer >= 0.8 * all};
             });
  claims.add(figure, "10 branches per side: EFPA becomes cheaper than PV-OSIM on long stems",
             "before 100 links", [&](bool folded) -> Finding {
               const std::vector<Tally>& all = study.stems.back().lengths;
               for (std::size_t i = 0; i < all.size(); ++i) {
                 if (all[i].total("efpa", folded) < all[i].total("pv-osim", folded)) {
                   return {format("from %.0f links", study.stem_lengths[i]), true};
                 }
               }
               return {"never", false};
             });
  claims.add(figure,
             "operations at 100 links, largest of the three, 1000 (read from the axes' labels: "
             "within a half of them)",
             "100, 150, 300, 500, 800", [&](bool folded) -> Finding {
               const std::array<double, 5> published{100, 150, 300, 500, 800};
               std::vector<double> here;
               bool same = true;
               for (const Study::Stem& stem : study.stems) {
                 double largest = 0.0;
                 for (const char* name : {"pv-osim", "efpa", "pv-osimr"}) {
                   largest = std::max(largest, stem.lengths.back().total(name, folded) / 1000.0);
                 }
                 const double over = largest / published[here.size()];
                 same = same && over > 2.0 / 3.0 && over < 1.5;
                 here.push_back(largest);
               }
               return {listed(here, "%.0f"), same};
             });
  claims.add("PV-OSIMr, figs. 3 to 5", "PV-OSIMr needs no more than PV-OSIM and EFPA", "everywhere",
             [&](bool folded) -> Finding {
               int dearer = 0, all = 0;
               for (const Tally* t : study.all()) {
                 ++all;
                 dearer += t->total("pv-osimr", folded) >
                           std::min(t->total("pv-osim", folded), t->total("efpa", folded));
               }
               return {format("%d of %d", all - dearer, all), dearer == 0};
             });
}

void add_humanoids(Claims& claims, const Study& study) {
  for (const Rule& rule : rules) {
    claims.add("PV-OSIMr, fig. 4a",
               rule.says("Atlas on 6D feet: PV-OSIM and PV-OSIMr do not differ"), "0 %",
               [&](bool folded) -> Finding {
                 const double x = more(study.feet_6, "pv-osim", rule.algorithm, folded);
                 return {format("PV-OSIM %+.1f %%", x), std::abs(x) <= no_difference};
               });
  }
  for (const auto& [axes, tally] :
       {std::pair{"world", &study.feet_12}, std::pair{"link", &study.feet_12_link_axes}}) {
    for (const Rule& rule : rules) {
      claims.add("PV-OSIMr, fig. 4b",
                 rule.says(format("Atlas on 12D feet, rows in %s axes: PV-OSIM needs more than "
                                  "PV-OSIMr",
                                  axes)),
                 "+19.9 %", [&, tally = tally](bool folded) -> Finding {
                   const double x = more(*tally, "pv-osim", rule.algorithm, folded);
                   return {format("%+.1f %%", x), within(x, 19.9, points)};
                 });
    }
  }
  claims.add(
      "PV-OSIMr, fig. 4",
      "both need significantly less than EFPA and LTL (6D, 12D: the better of these over the "
      "worse of those)",
      "\"significantly\"", [&](bool folded) -> Finding {
        std::vector<double> over;
        for (const Tally* t : {&study.feet_6, &study.feet_12}) {
          over.push_back(more(std::min(t->total("efpa", folded), t->total("ltl-osim", folded)),
                              std::max(t->total("pv-osim", folded), t->total("pv-osimr", folded))));
        }
        return {listed(over, "%+.0f %%"), *std::min_element(over.begin(), over.end()) > 10.0};
      });
  claims.add("PV-OSIMr, fig. 5a", "Shadow hand alone: LTL is cheaper than EFPA", "yes",
             [&](bool folded) -> Finding {
               const double x = more(study.hand, "ltl-osim", "efpa", folded);
               return {format("LTL %+.0f %%", x), x < 0.0};
             });
  const std::vector<const Tally*> with_hands{&study.one_hand, &study.two_hands,
                                             &study.hands_and_feet};
  claims.add(
      "PV-OSIMr, fig. 5b-d",
      "Atlas with hands: LTL is dearest of the four (over the dearest of the others)", "yes",
      [&](bool folded) -> Finding {
        std::vector<double> over;
        for (const Tally* t : with_hands) {
          over.push_back(more(t->total("ltl-osim", folded),
                              std::max({t->total("efpa", folded), t->total("pv-osim", folded),
                                        t->total("pv-osimr", folded)})));
        }
        return {listed(over, "%+.0f %%"), *std::min_element(over.begin(), over.end()) > 0.0};
      });
  for (const Rule& rule : rules) {
    const auto saved = [&](bool folded) {
      double most = 0.0;
      for (const Tally* t : with_hands) {
        most = std::min(most, more(*t, rule.algorithm, "pv-osim", folded));
      }
      return -most;
    };
    claims.add("PV-OSIMr, IV-D",
               rule.says("Atlas with hands: PV-OSIMr saves of PV-OSIM's operations"), "up to 34 %",
               [&](bool folded) -> Finding {
                 return {format("up to %.1f %%", saved(folded)), within(saved(folded), 34, points)};
               });
    claims.add("PV-OSIMr, V", rule.says("the same, as the conclusions have it"), "up to 24 %",
               [&](bool folded) -> Finding {
                 return {format("up to %.1f %% (PV-OSIM needs %.1f %% more)", saved(folded),
                                100.0 * saved(folded) / (100.0 - saved(folded))),
                         within(saved(folded), 24, points)};
               });
  }
  for (const Rule& rule : rules) {
    claims.add("PV-OSIMr, IV-E",
               rule.says("Atlas, wrists and feet 6D: PV-OSIM is cheaper than PV-OSIMr"), "-1.5 %",
               [&](bool folded) -> Finding {
                 const double x = more(study.wrists_and_feet, "pv-osim", rule.algorithm, folded);
                 return {format("PV-OSIM %+.1f %%", x), x < 0.0};
               });
  }
}

void add_asimo(Claims& claims, const Study& study) {
  const Sparsity &asimo = study.asimo, &more_chains = study.asimo_more_chains;
  const char* const text = "EFPA, V-C";
  claims.add_fact(text, "ASIMO Next-Generation: bodies, degrees of freedom", "35, 40",
                  {format("%d, %d", asimo.bodies, asimo.nv), asimo.bodies == 35 && asimo.nv == 40});
  // Published without decimals.
  claims.add_fact(text, "zeros in H", "56 %",
                  {format("%.1f %%", asimo.inertia), within(asimo.inertia, 56, 0.5)});
  claims.add_fact(text, "zeros in J, hands and feet", "about 67 %",
                  {format("%.1f %%", asimo.jacobian), within(asimo.jacobian, 67, 1.0)});
  claims.add_fact(text, "zeros in H, 2 more arms and 2 more legs", "73 %",
                  {format("%.1f %%", more_chains.inertia), within(more_chains.inertia, 73, 0.5)});
  claims.add("EFPA, fig. 5", "hands and feet: SFA's operations of EFPA's", "78 %",
             [&](bool folded) -> Finding {
               const double x = 100.0 * ratio(study.base, "ltl-osim", "efpa", folded);
               return {format("%.0f %%", x), within(x, 78, points)};
             });
  claims.add(
      "EFPA, fig. 6", "EFPA is cheaper than RJKA in every case (RJKA over EFPA)", "> 1",
      [&](bool folded) -> Finding {
        std::vector<double> ratios;
        for (const Tally* t : study.asimos()) {
          if (t != &study.one_foot) ratios.push_back(ratio(*t, "kjr", "efpa", folded));
        }
        return {listed(ratios, "%.2f"), *std::min_element(ratios.begin(), ratios.end()) > 1.0};
      });
  claims.add("EFPA, V-C", "but on one foot, where the rows share a long way (RJKA over EFPA)",
             "\"advantage\" of RJKA", [&](bool folded) -> Finding {
               const double x = ratio(study.one_foot, "kjr", "efpa", folded);
               return {format("%.2f", x), x < 1.0};
             });
  claims.add("EFPA, fig. 6",
             "further joints in arms, legs, fingers cost SFA more than EFPA (SFA over EFPA, base "
             "first)",
             "rises", [&](bool folded) -> Finding {
               std::vector<double> ratios;
               for (const Tally* t : {&study.base, &study.longer_arms, &study.longer_legs,
                                      &study.longer_fingers, &study.four_fingers}) {
                 ratios.push_back(ratio(*t, "ltl-osim", "efpa", folded));
               }
               return {listed(ratios, "%.2f"),
                       *std::min_element(ratios.begin() + 1, ratios.end()) > ratios.front()};
             });
  claims.add("EFPA, fig. 6",
             "with further joints EFPA overtakes SFA (in each arm and leg as many as)", "yes",
             [&](bool folded) -> Finding {
               for (std::size_t k = 0; k < study.longer_chains.size(); ++k) {
                 if (ratio(study.longer_chains[k], "ltl-osim", "efpa", folded) > 1.0) {
                   return {format("%zu", k), true};
                 }
               }
               return {format("not up to %d", most_more_joints), false};
             });
  claims.add("EFPA, fig. 6", "2 more arms and legs: SFA still beats EFPA", "yes",
             [&](bool folded) -> Finding {
               const double x = ratio(study.more_chains, "ltl-osim", "efpa", folded);
               return {format("SFA over EFPA %.2f", x), x < 1.0};
             });
  claims.add("EFPA, fig. 6", "2 more arms and legs: SFA over EFPA changes little",
             "\"nearly the same\"", [&](bool folded) -> Finding {
               const double x = 100.0 * (ratio(study.more_chains, "ltl-osim", "efpa", folded) /
                                             ratio(study.base, "ltl-osim", "efpa", folded) -
                                         1.0);
               return {format("%+.0f %%", x), std::abs(x) <= 2.0 * points};
             });
  claims.add("EFPA, fig. 6", "2 more arms and legs: RJKA over SFA rises", "by over 50 %",
             [&](bool folded) -> Finding {
               const double x = 100.0 * (ratio(study.more_chains, "kjr", "ltl-osim", folded) /
                                             ratio(study.base, "kjr", "ltl-osim", folded) -
                                         1.0);
               return {format("%+.0f %%", x), x > 50.0};
             });
}

}  // namespace

std::string claims_table(const Study& study) {
  Claims claims;
  add_stems(claims, study);
  add_humanoids(claims, study);
  add_asimo(claims, study);
  return claims.text();
}

}  // namespace espalier::bench
